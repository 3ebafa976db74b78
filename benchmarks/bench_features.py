"""Features of items and users on random folds and held-out items, columns of noise, and myFM with the same features.

MovieLens-100K has genres and year of films, and age, sex and occupation of users; InstEval has the department of
lecturers and the semester of students. Noise is ten columns of random numbers and a random category per side. The
outside score is the score, votes and length of films in the data set film-facts, matched by title and year. Two of
five folds each: a fit with all features takes three times as long as one without.
"""

import time

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks.bench_new_items import evaluate
from benchmarks.bench_new_items import folds as held_out
from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import Model, measure_models
from benchmarks.rating_models import LEVELS, SEED, Predicted
from benchmarks.records import OURS
from lbg_recsys.core import levels
from lbg_recsys.datasets import load_film_facts, load_insteval
from lbg_recsys.ratings import BayesianLBGModel, RatingMatrix
from lbg_recsys.ratings.features import FeatureTable
from lbg_recsys.ratings.ids import IdIndex

N_FOLDS, MEASURED = 5, 2


def ours(work, **features):
    """Bayesian LBG with its defaults and some features."""
    sizes = work.size({}, {"n_sweeps": 15, "burn_in": 5})

    def fit(train):
        model = BayesianLBGModel(random_state=SEED, **sizes)
        matrix = RatingMatrix.from_arrays(train.user, train.item, train.rating, scale=(1, 5))
        started = time.process_time()
        model.fit(matrix, **features)
        spent = time.process_time() - started

        def predict(test):
            distribution = model.predict_distribution(test)
            return Predicted(levels.mean(distribution, LEVELS), distribution)

        return predict, spent

    return Model(OURS, {"model": "BayesianLBGModel", "random_state": SEED, **sizes, **_columns(features)}, fit)


def myfm(work, item_features, user_features=None, *, sets=True):
    """myFM's ordered probit: users, items, their implicit sets and their features, one group per family, rank 10.

    Without ``sets`` there are none: an item without ratings has an empty one, which myFM takes for that of the least
    rated items.
    """
    n_iter = work.size(200, 3)

    def fit(train):
        import myfm

        sides = [
            _block(train.user, train.item, user_features, "user", sets),
            _block(train.item, train.user, item_features, "item", sets),
        ]
        groups = [width for _, _, widths in sides for width in widths]

        def blocks(table):
            ids = (table.user, table.item)
            return [
                myfm.RelationBlock(index.codes(list(own)).tolist(), rows)
                for own, (index, rows, _) in zip(ids, sides, strict=True)
            ]

        model = myfm.MyFMOrderedProbit(rank=10, random_seed=SEED)
        nothing = sp.csr_matrix((len(train), 0))
        started = time.process_time()
        target = (train.rating.to_numpy() - 1).astype(int)
        model.fit(
            nothing,
            target,
            X_rel=blocks(train),
            n_iter=n_iter,
            group_shapes=groups,
            callback=lambda *_: (False, None),
        )
        spent = time.process_time() - started

        def predict(test):
            distribution = model.predict_proba(sp.csr_matrix((len(test), 0)), blocks(test))
            return Predicted(levels.mean(distribution, LEVELS), distribution)

        return predict, spent

    given = {"item_features": item_features, "user_features": user_features}
    return Model(
        "myfm", {"model": "ordered probit", "rank": 10, "n_iter": n_iter, "sets": sets, **_columns(given)}, fit
    )


def _block(own, other, features, role, sets):
    """Ids, rows of one-hot id, implicit set and features, and the widths of these groups; new ids have rows too."""
    known, partners = IdIndex(np.unique(own).tolist()), IdIndex(np.unique(other).tolist())
    index = known.extended([] if features is None else features.index)
    shape = len(index), len(partners)
    taken = sp.csr_matrix((np.ones(len(own)), (index.codes(list(own)), partners.codes(list(other)))), shape)
    taken = sp.diags(1.0 / np.sqrt(np.maximum(np.diff(taken.indptr), 1))) @ taken
    one_hot = sp.eye(len(index), len(known))
    parts = [one_hot, taken] if sets else [one_hot]
    if features is not None:
        parts.append(sp.csr_matrix(FeatureTable.of(features, known, role).rows(index)))
    return index, sp.hstack(parts).tocsr(), [part.shape[1] for part in parts]


def _columns(features):
    """The names of the columns, for the record."""
    return {name: list(map(str, table.columns)) for name, table in features.items() if table is not None}


def noise(ids, seed):
    """Ten columns of random numbers and a random category of 20 values."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(len(ids), 10)), index=ids).add_prefix("noise")
    return table.assign(category=rng.choice([f"c{n}" for n in range(20)], len(ids)))


def films(work):
    """Year and genres of films; in a quick run made up."""
    items = work.movielens.items
    if "genres" in items and not work.quick:
        return items[["year", "genres"]]
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"year": rng.integers(1950, 2000, len(items)), "genres": [("A", "B")] * len(items)}, items.index
    )


def people(work):
    """Age, sex and occupation of users; in a quick run made up."""
    if not work.quick:
        return work.movielens.users
    ids = np.unique(work.ratings.user)
    rng = np.random.default_rng(1)
    return pd.DataFrame({"age": rng.integers(10, 70, len(ids)), "sex": rng.choice(["F", "M"], len(ids))}, ids)


def outside(work):
    """Score, votes and length of films, matched by title and year; made up in a quick run."""
    if work.quick:
        rng = np.random.default_rng(2)
        return films(work).assign(score=rng.normal(size=len(films(work))))
    items = work.movielens.items.reset_index().astype({"year": float})
    found = items.merge(load_film_facts().astype({"year": float}), how="left", on=["title", "year"]).set_index("item")
    return films(work).assign(score=found["score"], votes=np.log(found["votes"]), length=found["length"])


def contestants(work, sets):
    """Without features, with more and more of them, and with noise; myFM with those of films and with all."""
    item, user = films(work), people(work)
    noisy_items = item.join(noise(item.index, 0))
    noisy_users = user.join(noise(user.index, 1))
    models = {
        "Bayesian LBG": ours(work),
        "Bayesian LBG, films": ours(work, item_features=item),
        "myFM ordered probit, films": myfm(work, item, sets=sets),
        "Bayesian LBG, films and users": ours(work, item_features=item, user_features=user),
        "myFM ordered probit, films and users": myfm(work, item, user, sets=sets),
        "Bayesian LBG, noise alone": ours(
            work, item_features=noise(item.index, 0), user_features=noise(user.index, 1)
        ),
        "Bayesian LBG, films, users and noise": ours(work, item_features=noisy_items, user_features=noisy_users),
    }
    facts = outside(work)
    models["Bayesian LBG, films with outside score"] = ours(work, item_features=facts)
    models["myFM ordered probit, films with outside score"] = myfm(work, facts, sets=sets)
    return models


def _some(folds):
    """The first of all folds."""
    return dict(list(folds.items())[:MEASURED])


def items(record, work):
    """Held-out films."""
    measure_models(record, "items", contestants(work, sets=False), _some(held_out(work, "item")), evaluate)


def random(record, work):
    """Random folds."""
    measure_models(record, "random", contestants(work, sets=True), _some(work.random_folds()), evaluate)


def insteval(record, work):
    """InstEval: random folds, and held-out lecturers."""
    if work.quick:
        data = work.movielens
        features = {"item_features": films(work), "user_features": people(work)}
    else:
        data = load_insteval()
        features = {"item_features": data.items, "user_features": data.users}
    ratings = data.ratings[["user", "item", "rating"]].drop_duplicates(["user", "item"], keep="last")
    rng = np.random.default_rng(0)
    ids = np.sort(ratings["item"].unique())
    group = {
        "random": rng.permutation(len(ratings)) % N_FOLDS,
        "items": ratings["item"].map(pd.Series(rng.permutation(len(ids)) % N_FOLDS, index=ids)).to_numpy(),
    }
    models = {
        "Bayesian LBG": ours(work),
        "Bayesian LBG, department and semester": ours(work, **features),
        "myFM ordered probit, department and semester": myfm(work, *features.values()),
        "myFM ordered probit, department and semester, no sets": myfm(work, *features.values(), sets=False),
    }
    trials = {
        f"{kind} {k}": (ratings[own != k], ratings[own == k])
        for k in range(work.size(MEASURED, 1))
        for kind, own in group.items()
    }
    measure_models(record, "insteval", models, trials, evaluate)


BENCHMARK = Benchmark(
    name="features",
    what="Features of items and users",
    module="benchmarks.bench_features",
    data=("ml-100k", "insteval", "film-facts"),
    seeds=(0,),
    parts={"items": Part(items), "random": Part(random), "insteval": Part(insteval)},
    libraries=("myfm",),
)

if __name__ == "__main__":
    BENCHMARK.main()
