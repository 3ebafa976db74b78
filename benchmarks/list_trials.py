"""What list benchmarks evaluate on: a fold of known users, or users that training did not see."""

import time
from functools import cached_property

import numpy as np

from benchmarks.list_data import MOST_USERS, SEED, ratings_of, scale_of, split
from lbg_recsys.evaluation import lists
from lbg_recsys.ratings import BayesianLBGModel, RatingMatrix, as_matrix
from lbg_recsys.ratings.ids import IdIndex

LENGTH = 10
# New users are evaluated at all lengths of history: those who have more ratings than the longest one.
HISTORIES = (1, 2, 5, 10, 20)
N_PARTS = 5
MOST_NEW = 1000  # new users that constants are chosen with
N_BINS = 10


class Trial:
    """Training ratings and the Bayesian model of them, which all of its rows share."""

    def __init__(self, work, train, scale):
        self.train = as_matrix(train, scale=scale)
        self.settings = work.size({}, {"n_sweeps": 15, "burn_in": 5})

    @cached_property
    def bayesian(self):
        """Bayesian LBG with its defaults, and the CPU seconds of its fit."""
        started = time.process_time()
        model = BayesianLBGModel(random_state=SEED, **self.settings).fit(self.train)
        return model, time.process_time() - started


class KnownUsers(Trial):
    """An outer fold of a data set: lists for users with other ratings in training."""

    def __init__(self, work, name, number):
        train, test = split(work, name, "outer", number)
        super().__init__(work, train, scale_of(work, name))
        self.entries = self.train.users.codes(test["user"]), self.train.items.codes(test["item"])
        self.ratings = test["rating"].to_numpy(dtype=float)
        self.relevant = lists.Relevant.find(self.train, *self.entries, self.ratings, self.train.scale.liked)
        self.users = self.relevant.users(at_most=MOST_USERS.get(name))

    def evaluate(self, lister):
        """The figures of the lists, and how many CPU seconds they took."""
        started = time.process_time()
        found = lister(self.users, LENGTH)
        seconds = time.process_time() - started
        report = lists.evaluate_lists(found, self.users, self.train, self.relevant).to_dict()
        report["coverage"] = report["catalogue"]  # as it is called in the records
        wanted = ("ndcg", "ndcg_error", "recall", "map", "coverage", "novelty", "similarity", "popular", "n_users")
        return {name: report[name] for name in wanted} | {"list_s": seconds}

    def reliability(self):
        """How far the probability that a rating is a liked one is from the share of liked test ratings."""
        model, _ = self.bayesian
        levels = model.distribution_of(*self.entries).probability
        probability = levels[:, model.levels >= self.train.scale.liked].sum(axis=1)
        return reliability(probability, self.ratings >= self.train.scale.liked)


def reliability(probability, happened):
    """Mean probability, share and number in ten bins of equal width; the calibration error is their mean distance."""
    bin_of = np.minimum((probability * N_BINS).astype(int), N_BINS - 1)
    number = np.bincount(bin_of, minlength=N_BINS)
    sums = (np.bincount(bin_of, values, N_BINS) for values in (probability, happened.astype(float)))
    mean, share = (total / np.maximum(number, 1) for total in sums)
    return {
        "liked_error": float(np.abs(mean - share) @ number / number.sum()),
        "bins": {"mean": mean.tolist(), "share": share.tolist(), "number": number.tolist()},
    }


class NewUsers(Trial):
    """A fifth of the users is left out of training; each is known by its first ratings in a random order."""

    def __init__(self, work, name, number):
        table = ratings_of(work, name)
        users = np.sort(table["user"].unique())
        parts = np.array_split(np.random.default_rng(SEED).permutation(users), N_PARTS)
        new, gone = self._chosen(parts, number)
        is_new = table["user"].isin(new)
        super().__init__(work, table[~is_new & ~table["user"].isin(gone)], scale_of(work, name))
        self._place(table[is_new], np.random.default_rng([SEED, number]))

    def _chosen(self, parts, number):
        """The new users, and those who are not used at all."""
        return parts[number], []

    def _place(self, held_out, rng):
        """Order the ratings of each new user at random; keep users with a liked item after the longest history."""
        shuffled = held_out.iloc[rng.permutation(len(held_out))].sort_values("user", kind="stable")
        place = shuffled.groupby("user").cumcount().to_numpy()
        is_liked = shuffled["rating"].to_numpy() >= self.train.scale.liked
        evaluated = shuffled["user"][(place >= max(HISTORIES)) & is_liked].unique()
        keep = shuffled["user"].isin(evaluated).to_numpy()
        self.table, self.place = shuffled[keep], place[keep]
        self.index = IdIndex(evaluated.tolist())

    def histories(self, n):
        """The first n ratings of each new user, as a matrix over the items of training."""
        return self._matrix(self.table[self.place < n])

    def _matrix(self, table):
        users, items = self.index.codes(table["user"]), self.train.items.codes(table["item"])
        known = items >= 0
        ratings = table["rating"].to_numpy(dtype=float)
        return RatingMatrix.from_codes(
            self.index, self.train.items, users[known], items[known], ratings[known], scale=self.train.scale
        )

    def evaluate(self, lister_of, lengths=HISTORIES):
        """NDCG@10 by the length of the history: ``lister_of(histories)`` makes the lists."""
        found = {}
        for n in lengths:
            histories, rest = self.histories(n), self.table[self.place >= n]
            entries = self.index.codes(rest["user"]), self.train.items.codes(rest["item"])
            liked = self.train.scale.liked
            relevant = lists.Relevant.find(histories, *entries, rest["rating"].to_numpy(dtype=float), liked)
            users = relevant.users()
            made = lister_of(histories)(users, LENGTH)
            gain = lists.ndcg(lists.hits(made, users, relevant), relevant.counts[users])
            found[str(n)] = {"ndcg": float(gain.mean()), "error": float(gain.std(ddof=1) / np.sqrt(len(gain)))}
        return found | {"n_users": len(self.index)}


class InnerNewUsers(NewUsers):
    """The same with new users from the training part of a trial of `NewUsers`, whose own new users are not used."""

    def _chosen(self, parts, number):
        return parts[number + 2][:MOST_NEW], parts[number]
