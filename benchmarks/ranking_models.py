"""The models that make top-N lists, ours and the rivals', behind one function each: fit once, then score.

A model's ``fit(matrix)`` returns ``scores(criterion)``, which gives a table of users x items, the best item highest.
``CRITERIA`` are those of our models; the others know one only, and take no notice of it.

Where the settings come from: ours are the defaults unless the name says otherwise; EASE's and implicit's come from an
earlier survey on the same folds, which did not record how it chose them; cornac's BPR runs with its defaults and with
those of implicit's BPR (100 factors, rate and regularisation 0.01, 100 epochs).
"""

from importlib import import_module

import numpy as np
import scipy.sparse as sp

from benchmarks.common import Model
from benchmarks.records import OURS
from lbg_recsys.ratings import BayesianLBGModel, LBGModel

LENGTH = 10
LIKED = 4.0
SEED = 0
CRITERIA = ("liked", "rated")


def indicator(matrix, least=0.0):
    """Users x items, 1 where a rating of at least ``least`` stands."""
    keep = matrix.values >= least
    shape = (matrix.n_users, matrix.n_items)
    return sp.csr_matrix((np.ones(keep.sum()), (matrix.user_codes[keep], matrix.item_codes[keep])), shape)


def popularity():
    """Everybody gets what most people rated."""

    def fit(matrix):
        counts = np.asarray(indicator(matrix).sum(axis=0))
        return lambda _: np.tile(counts, (matrix.n_users, 1))

    return Model("numpy", {}, fit)


def ease(ridge, least):
    """Steck (2019): the item-item regression with a zero diagonal, in closed form."""

    def fit(matrix):
        x = indicator(matrix, least)
        precision = np.linalg.inv((x.T @ x).toarray() + ridge * np.eye(matrix.n_items))
        weights = precision / -np.diag(precision)
        np.fill_diagonal(weights, 0.0)
        return lambda _: x @ weights

    return Model("numpy", {"ridge": ridge, "least": least}, fit)


def implicit_model(module, kind, **settings):
    """A model of the implicit library, trained on who rated what."""

    def fit(matrix):
        model = getattr(import_module(f"implicit.{module}"), kind)(**settings)
        x = indicator(matrix)
        model.fit(x, show_progress=False)
        if hasattr(model, "user_factors"):
            return lambda _: np.asarray(model.user_factors @ model.item_factors.T)
        return lambda _: np.asarray((x @ model.similarity).todense())

    return Model("implicit", {"model": kind, **settings}, fit)


def cornac_model(kind, **settings):
    """A ranking model of cornac, trained on who rated what."""

    def fit(matrix):
        import cornac

        users, items = matrix.user_codes.tolist(), matrix.item_codes.tolist()
        data = cornac.data.Dataset.from_uir(list(zip(users, items, [1.0] * len(users), strict=True)))
        model = getattr(cornac.models, kind)(seed=SEED, verbose=False, **settings).fit(data)
        known = np.array(list(data.iid_map))  # our codes in cornac's order: all of them, a matrix has no empty item

        def scores(_):
            table = np.empty((matrix.n_users, matrix.n_items))
            for user, place in data.uid_map.items():
                table[user, known] = model.score(place)
            return table

        return scores

    return Model("cornac", {"model": kind, "seed": SEED, **settings}, fit)


def ours(make, seed=SEED, **settings):
    """A model of ours: its own lists, by each of its criteria, from one fit."""

    def fit(matrix):
        model = make(random_state=seed, **settings).fit(matrix)

        def scores(criterion):
            table = np.full((matrix.n_users, matrix.n_items), -np.inf)
            for block in model.recommend_blocks(list(matrix.users), LENGTH, by=criterion):
                users, items = matrix.users.codes(block["user"]), matrix.items.codes(block["item"])
                table[users, items] = -block["rank"].to_numpy(dtype=float)
            return table

        return scores

    return Model(OURS, {"model": make.__name__, "random_state": seed, **settings}, fit)


def all_models(work):
    """Every model by its name."""
    short = work.size({}, {"n_sweeps": 15, "burn_in": 5})
    return {
        "popularity": popularity(),
        "EASE, lambda 200, ratings >= 4": ease(200.0, LIKED),
        "EASE, lambda 500, all ratings": ease(500.0, 0.0),
        "LBG, 20 topics": ours(LBGModel, n_topics=20),
        "LBG, 20 topics, best of 10": ours(LBGModel, n_topics=20, n_init=10),
        "Bayesian LBG, 2 chains (ordinal)": ours(BayesianLBGModel, likelihood="ordinal", **short),
        "implicit ALS, 64 factors": implicit_model(
            "als", "AlternatingLeastSquares", factors=64, regularization=10.0, random_state=SEED, num_threads=1
        ),
        "implicit BM25, K 500": implicit_model("nearest_neighbours", "BM25Recommender", K=500, num_threads=1),
        "cornac BPR": cornac_model("BPR"),
        "cornac BPR, 100 factors": cornac_model("BPR", k=100, learning_rate=0.01, lambda_reg=0.01, max_iter=100),
    }
