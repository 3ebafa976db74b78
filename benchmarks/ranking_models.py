"""The models that make top-N lists, ours and the rivals', behind one function each: fit once, then score.

A model is ``fit(matrix) -> scores(criterion)``, which gives a table of users x items, the best item highest; most
know one criterion, and their scores take no notice of it.

Where the settings come from: ours are the defaults unless the name says otherwise, and those recommended for lists
were chosen on inner splits of training data (`benchmarks.tune_lists`); EASE's and implicit's come from an earlier
survey on the same folds, which did not record how it chose them; cornac's BPR runs with its defaults and with those
of implicit's BPR (100 factors, rate and regularisation 0.01, 100 epochs).
"""

import numpy as np
import scipy.sparse as sp

from lbg_recsys.presets import LBG_FOR_LISTS
from lbg_recsys.ratings import BayesianLBGModel, LBGModel

LENGTH = 10
LIKED = 4.0
SEED = 0


def indicator(matrix, least=0.0):
    """Users x items, 1 where a rating of at least ``least`` stands."""
    keep = matrix.values >= least
    shape = (matrix.n_users, matrix.n_items)
    return sp.csr_matrix((np.ones(keep.sum()), (matrix.user_codes[keep], matrix.item_codes[keep])), shape)


def popularity(matrix):
    """Everybody gets what most people rated."""
    counts = np.asarray(indicator(matrix).sum(axis=0))
    return lambda _: np.tile(counts, (matrix.n_users, 1))


def ease(ridge, least):
    """Steck (2019): the item-item regression with a zero diagonal, in closed form."""

    def fit(matrix):
        x = indicator(matrix, least)
        precision = np.linalg.inv((x.T @ x).toarray() + ridge * np.eye(matrix.n_items))
        weights = precision / -np.diag(precision)
        np.fill_diagonal(weights, 0.0)
        return lambda _: x @ weights

    return fit


def implicit_model(make):
    """A model of the implicit library, trained on who rated what."""

    def fit(matrix):
        model = make()
        x = indicator(matrix)
        model.fit(x, show_progress=False)
        if hasattr(model, "user_factors"):
            return lambda _: np.asarray(model.user_factors @ model.item_factors.T)
        return lambda _: np.asarray((x @ model.similarity).todense())

    return fit


def cornac_model(make):
    """A ranking model of cornac, trained on who rated what."""

    def fit(matrix):
        from cornac.data import Dataset

        users, items = matrix.user_codes.tolist(), matrix.item_codes.tolist()
        data = Dataset.from_uir(list(zip(users, items, [1.0] * len(users), strict=True)))
        model = make().fit(data)
        known = np.array(
            list(data.iid_map)
        )  # our codes in cornac's order: all of them, for a matrix has no empty item

        def scores(_):
            table = np.empty((matrix.n_users, matrix.n_items))
            for user, place in data.uid_map.items():
                table[user, known] = model.score(place)
            return table

        return scores

    return fit


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

    return fit


def always():
    """(name, criteria) -> fit, of all that needs no further library."""
    lists = ("liked", "rated")
    return {
        ("popularity", ("",)): popularity,
        ("EASE, lambda 200, ratings >= 4", ("",)): ease(200.0, LIKED),
        ("EASE, lambda 500, all ratings", ("",)): ease(500.0, 0.0),
        ("LBG, recommended for lists (30 topics, tempered)", lists): ours(LBGModel, **LBG_FOR_LISTS),
        ("LBG, 20 topics", lists): ours(LBGModel, n_topics=20),
        ("LBG, 20 topics, best of 10", lists): ours(LBGModel, n_topics=20, n_init=10),
        ("Bayesian LBG, 2 chains (ordinal)", lists): ours(BayesianLBGModel, likelihood="ordinal"),
    }


def implicit_models():
    from implicit.als import AlternatingLeastSquares
    from implicit.nearest_neighbours import BM25Recommender

    return {
        ("implicit ALS, 64 factors", ("",)): implicit_model(
            lambda: AlternatingLeastSquares(factors=64, regularization=10.0, random_state=SEED, num_threads=1)
        ),
        ("implicit BM25, K 500", ("",)): implicit_model(lambda: BM25Recommender(K=500, num_threads=1)),
    }


def cornac_models():
    from cornac.models import BPR

    tuned = {"k": 100, "learning_rate": 0.01, "lambda_reg": 0.01, "max_iter": 100}
    return {
        ("cornac BPR", ("",)): cornac_model(lambda: BPR(seed=SEED, verbose=False)),
        ("cornac BPR, 100 factors", ("",)): cornac_model(lambda: BPR(seed=SEED, verbose=False, **tuned)),
    }
