"""The models that predict ratings, ours and the rivals', behind one function each: fit, then predict.

A model's ``fit(train)`` returns ``(predict, CPU seconds of the fit)`` with ``predict(test) -> Predicted``; tables
have the columns user, item and rating. implicit and EASE are not among them: their scores rank items and are on no
rating scale (`benchmarks.bench_topn` has them).

Where the settings come from: ours are the defaults, or were chosen by `benchmarks.tune_lbg` and on inner splits of
training data (docs/bayesian-lbg.md says how far that held); a rival runs with its library's defaults unless its name
says otherwise. What the names add - SVD of 100 epochs, MF of 200 factors, myFM's implicit sets - comes from an
earlier survey of these libraries on the same folds. How that chose them is not recorded: if anything it favours the
rivals.
"""

import time
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.common import Model
from benchmarks.records import OURS
from lbg_recsys import presets
from lbg_recsys.core import levels
from lbg_recsys.ratings import BayesianLBGModel, LBGModel, RatingMatrix

LEVELS = np.arange(1.0, 6.0)
SEED = 0


class Predicted(NamedTuple):
    """Points, and where the model has one the probability of every level."""

    points: np.ndarray
    distribution: np.ndarray | None = None


def ours(make, scale=LEVELS, **settings):
    """A model of ours: a distribution over the levels of the scale, and the point that the model makes of it."""

    def fit(train):
        model = make(random_state=SEED, **settings)
        matrix = RatingMatrix.from_arrays(train.user, train.item, train.rating, levels=scale)
        started = time.process_time()
        model.fit(matrix)
        spent = time.process_time() - started

        def predict(test):
            distribution = model.predict_distribution(test)
            return Predicted(getattr(levels, model.point)(distribution, scale), distribution)

        return predict, spent

    return Model(OURS, {"model": make.__name__, "random_state": SEED, **settings}, fit)


def bayesian_lbg(work, scale=LEVELS, **settings):
    quick = work.size({}, {"n_sweeps": 15, "burn_in": 5})
    return ours(BayesianLBGModel, scale, **(settings | quick))


def lbg(**settings):
    return ours(LBGModel, **settings)


def surprise_model(kind, scale=LEVELS, **settings):
    """An algorithm of Surprise, on a trainset with the order of the data."""
    bounds = (scale[0], scale[-1])

    def fit(train):
        import surprise

        data = surprise.Dataset.load_from_df(train[["user", "item", "rating"]], surprise.Reader(rating_scale=bounds))
        trainset = data.build_full_trainset()
        algorithm = getattr(surprise, kind)(**settings)
        started = time.process_time()
        algorithm.fit(trainset)
        spent = time.process_time() - started

        def predict(test):
            predictions = algorithm.test(list(test[["user", "item", "rating"]].itertuples(index=False, name=None)))
            return Predicted(np.array([prediction.est for prediction in predictions]))

        return predict, spent

    return Model("scikit-surprise", {"model": kind, **settings}, fit)


def cornac_model(kind, **settings):
    """A rating predictor of cornac; users and items it does not know get what its ``rate`` says of them."""

    def fit(train):
        import cornac

        data = cornac.data.Dataset.from_uir(
            list(train[["user", "item", "rating"]].itertuples(index=False, name=None))
        )
        model = getattr(cornac.models, kind)(seed=SEED, verbose=False, **settings)
        started = time.process_time()
        model.fit(data)
        spent = time.process_time() - started

        def predict(test):
            users = [data.uid_map.get(user, data.num_users) for user in test.user]
            items = [data.iid_map.get(item, data.num_items) for item in test.item]
            return Predicted(np.array([model.rate(*pair) for pair in zip(users, items, strict=True)], dtype=float))

        return predict, spent

    return Model("cornac", {"model": kind, "seed": SEED, **settings}, fit)


def myfm_model(ordinal, n_iter, rank=10, scale=LEVELS):
    """myFM with users, items and their implicit sets, as relation blocks (its fast form)."""

    def fit(train):
        import myfm

        users, items = (np.unique(train[name]) for name in ("user", "item"))
        u, i = np.searchsorted(users, train.user), np.searchsorted(items, train.item)
        x = sp.csr_matrix((np.ones(len(u)), (u, i)), shape=(len(users), len(items)))
        groups = [len(users), len(items), len(items), len(users)]
        # one row more of zeros on either side stands for the unknown
        user_rows = sp.vstack([sp.hstack([sp.eye(len(users)), _rows_scaled(x)]), sp.csr_matrix((1, sum(groups[:2])))])
        item_rows = sp.vstack(
            [sp.hstack([sp.eye(len(items)), _rows_scaled(x.T)]), sp.csr_matrix((1, sum(groups[2:])))]
        )

        def blocks(u, i):
            return [
                myfm.RelationBlock(u.tolist(), user_rows.tocsr()),
                myfm.RelationBlock(i.tolist(), item_rows.tocsr()),
            ]

        kind = myfm.MyFMOrderedProbit if ordinal else myfm.MyFMRegressor
        model = kind(rank=rank, random_seed=SEED)
        rating = train.rating.to_numpy(float)
        target = np.searchsorted(scale, rating - 1e-9) if ordinal else rating
        nothing = sp.csr_matrix((len(u), 0))
        started = time.process_time()
        model.fit(
            nothing, target, X_rel=blocks(u, i), n_iter=n_iter, group_shapes=groups, callback=lambda *_: (False, None)
        )
        spent = time.process_time() - started

        def predict(test):
            at = [_codes(users, test.user), _codes(items, test.item)]
            empty = sp.csr_matrix((len(test), 0))
            if not ordinal:
                return Predicted(model.predict(empty, blocks(*at)))
            distribution = model.predict_proba(empty, blocks(*at))
            return Predicted(levels.mean(distribution, scale), distribution)

        return predict, spent

    return Model(
        "myfm", {"model": "ordered probit" if ordinal else "regression", "rank": rank, "n_iter": n_iter}, fit
    )


def _rows_scaled(x):
    """Each row divided by the square root of its number of entries."""
    return sp.diags(1.0 / np.sqrt(np.maximum(np.diff(x.tocsr().indptr), 1))) @ x


def _codes(known, ids):
    place = np.searchsorted(known, ids).clip(max=len(known) - 1)
    return np.where(known[place] == ids, place, len(known))


def our_models(work):
    """Cheap ones first, so that Bayesian LBG and myFM, whose times are compared, run one after the other."""
    return {
        "paper (LBG, 5 topics, mode)": lbg(),
        "lbg (LBG, 10 topics on biases)": lbg(**presets.LBG),
        "bayesian-strong (Bayesian LBG, 8 long chains)": bayesian_lbg(work, **presets.BAYESIAN_STRONG),
        "bayesian (Bayesian LBG, 4 chains)": bayesian_lbg(work),
        "Bayesian LBG, 2 chains (gaussian)": bayesian_lbg(work, likelihood="gaussian"),
    }


def myfm_models(work):
    return {
        "myFM ordered probit, implicit sets": myfm_model(ordinal=True, n_iter=work.size(200, 3)),
        "myFM regression, implicit sets": myfm_model(ordinal=False, n_iter=work.size(300, 3)),
    }


def tuned_rivals(scale=LEVELS):
    """Surprise's SVD and cornac's MF with the settings that were best on MovieLens-100K."""
    factors = {"k": 200, "max_iter": 100, "learning_rate": 0.005, "lambda_reg": 0.1}
    return {
        "Surprise SVD, 100 epochs, reg .1": surprise_model(
            "SVD", scale, n_epochs=100, reg_all=0.1, random_state=SEED
        ),
        "cornac MF, 200 factors, 100 epochs, reg .1": cornac_model("MF", **factors),
    }


def surprise_models():
    """All algorithms of Surprise with their defaults, but for the similarity of KNNBaseline."""
    item_knn = {"name": "pearson_baseline", "user_based": False}
    models = {
        "SVD": surprise_model("SVD", random_state=SEED),
        "SVDpp": surprise_model("SVDpp", random_state=SEED),
        "KNNBaseline (item)": surprise_model("KNNBaseline", sim_options=item_knn, verbose=False),
        "KNNBasic": surprise_model("KNNBasic", verbose=False),
        "KNNWithMeans": surprise_model("KNNWithMeans", verbose=False),
        "KNNWithZScore": surprise_model("KNNWithZScore", verbose=False),
        "BaselineOnly": surprise_model("BaselineOnly", verbose=False),
        "SlopeOne": surprise_model("SlopeOne"),
        "CoClustering": surprise_model("CoClustering", random_state=SEED),
        "NMF": surprise_model("NMF", random_state=SEED),
        "NormalPredictor": surprise_model("NormalPredictor"),
    }
    return {f"Surprise {name}": model for name, model in models.items()}


def cornac_models():
    """What cornac has that needs ratings only and predicts on their scale."""
    models = {
        "MF": cornac_model("MF"),
        "PMF": cornac_model("PMF"),
        "NMF, biases": cornac_model("NMF", use_bias=True),
        "BaselineOnly": cornac_model("BaselineOnly"),
        "UserKNN": cornac_model("UserKNN", num_threads=1),
        "UserKNN, pearson, centred": cornac_model("UserKNN", similarity="pearson", mean_centered=True, num_threads=1),
        "ItemKNN": cornac_model("ItemKNN", num_threads=1),
    }
    return {f"cornac {name}": model for name, model in models.items()}
