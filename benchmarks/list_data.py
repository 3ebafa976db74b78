"""The data sets of list benchmarks, their outer folds and inner splits, and Bayesian LBG's probabilities on them."""

import tempfile
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold

from lbg_recsys.core import levels
from lbg_recsys.datasets.by_name import load_rating_data
from lbg_recsys.ratings import BayesianLBGModel, as_matrix

SCALES = {"ml-100k": (1, 5), "ml-1m": (1, 5), "filmtrust": (0.5, 4), "ciao": (1, 5)}
CACHE = Path(tempfile.gettempdir()) / "lbg-recsys-lists"
SEED = 0
# Users of Ciao that are evaluated: a table of all 17,615 x 16,121 probabilities would take minutes and gigabytes.
MOST_USERS = {"ciao": 1500}
# Constants are chosen with fewer sweeps on the largest data set; lists are evaluated with the defaults.
INNER_SETTINGS = {"ml-1m": {"n_sweeps": 60, "burn_in": 20}}


def scale_of(work, name):
    """The ends of the rating scale."""
    return work.size(SCALES[name], (1, 5))


def ratings_of(work, name):
    """All ratings of a data set, each pair once; the shipped sample in a quick run."""
    if name == "ml-100k" or work.quick:
        return work.ratings
    table = load_rating_data(name).ratings[["user", "item", "rating"]]
    return table.drop_duplicates(["user", "item"], keep="last").sort_values(["user", "item"], ignore_index=True)


def fold(work, name, number):
    """(train, test) of one of five outer folds; independent of the order of the rows in a file."""
    if name == "ml-100k" or work.quick:
        return work.random_folds()[str(number)]
    table = ratings_of(work, name)
    train, test = list(KFold(5, shuffle=True, random_state=0).split(table))[number]
    return table.iloc[train].reset_index(drop=True), table.iloc[test].reset_index(drop=True)


def split(work, name, kind, number):
    """(train, test) of an "outer" fold, or of its training part split 80/20 once more ("inner")."""
    train, test = fold(work, name, number)
    if kind == "inner":
        train = train.sample(frac=1.0, random_state=number, ignore_index=True)
        test, train = train.iloc[: len(train) // 5], train.iloc[len(train) // 5 :]
    return train, test


class Split:
    """Training ratings, evaluated users with their liked test items, and the probabilities that items are liked."""

    def __init__(self, work, name, kind, number):
        train, test = split(work, name, kind, number)
        self.matrix = as_matrix(train, scale=scale_of(work, name))
        liked = test[test["rating"] >= self.matrix.scale.liked - 1e-9]
        users, items = self.matrix.users.codes(liked["user"]), self.matrix.items.codes(liked["item"])
        relevant = {}
        for user, item in zip(users.tolist(), items.tolist(), strict=True):
            if user >= 0:
                relevant.setdefault(user, set()).add(item)  # an item unknown to training (-1) counts as missed
        self.users = np.array(sorted(relevant))[: MOST_USERS.get(name)]
        self.relevant = [relevant[user] for user in self.users.tolist()]
        self.settings = INNER_SETTINGS.get(name, {}) if kind == "inner" else {}
        if work.quick:
            self.settings = {"n_sweeps": 6, "burn_in": 2, "n_components": 2}
        self.place = None if work.quick else CACHE / f"{name}_{kind}_{number}.npz"

    @cached_property
    def probability(self):
        """P(rating >= liked) of the evaluated users (users, items) by Bayesian LBG, fitted once and then cached."""
        if self.place is not None and self.place.exists():
            return np.load(self.place)["P"].astype(np.float32)
        model = BayesianLBGModel(random_state=SEED, **self.settings).fit(self.matrix)
        table = np.empty((len(self.users), self.matrix.n_items), np.float16)
        every, size = np.arange(self.matrix.n_items), max(1, (1 << 21) // (self.matrix.n_items * 8))
        for first in range(0, len(self.users), size):
            found = model.distribution_of_items(self.users[first : first + size], every)
            flat = levels.at_least(found.reshape(-1, found.shape[2]), model.levels, self.matrix.scale.liked)
            table[first : first + size] = flat.reshape(found.shape[:2])
        if self.place is not None:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self.place, P=table, users=self.users)
        return table.astype(np.float32)

    def evaluate(self, scores, length=10):
        """Mean NDCG and recall of the lists by scores (evaluated users, items)."""
        scores = np.array(scores, dtype=np.float32)
        for row, user in enumerate(self.users):
            scores[row, self.matrix.seen(user)] = -np.inf
        best = np.argpartition(-scores, length, axis=1)[:, :length]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(best, order, axis=1)
        discount = 1.0 / np.log2(np.arange(2, length + 2))
        found = []
        for row, items in zip(best.tolist(), self.relevant, strict=True):
            hit = np.isin(row, list(items))
            found.append(((hit * discount).sum() / discount[: len(items)].sum(), hit.sum() / len(items)))
        ndcg, recall = np.mean(found, axis=0)
        return {"ndcg": float(ndcg), "recall": float(recall)}
