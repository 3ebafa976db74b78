"""Who predicts ratings best, and at what cost? MovieLens-100K, Surprise's five random folds and the official u1..u5.

Every model sees the same folds in one process on one core; points are clipped to the scale. CPU seconds are those of
the process, after a small fit that compiles and loads what there is to (``first_fit_cpu_s`` says what that costs).
Results are written after every model and fold, and a further call takes up where the last one ended.

    python -m benchmarks.bench_accuracy [--fresh]
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp

from benchmarks.common import OFFICIAL, RESULTS, movielens_checksum, official_folds, random_folds
from lbg_recsys.core import predictive
from lbg_recsys.evaluation import metrics
from lbg_recsys.evaluation.report import markdown_table, record, write_json
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.bayesian import STRONG, BayesianLBGModel

OUTPUT = RESULTS / "accuracy.json"
LEVELS = np.arange(1.0, 6.0)
SEED = 0
MEASURES = ("rmse", "mae_mean", "mae_median", "log_score", "fit_s", "predict_s")


def ours(**settings):
    """Bayesian LBG: a distribution."""

    def fit(train):
        model = BayesianLBGModel(random_state=SEED, **settings)
        matrix = RatingMatrix.from_arrays(train.user, train.item, train.rating, scale=(1, 5))
        started = time.process_time()
        model.fit(matrix)
        return (lambda test: model.predict_distribution(test)), time.process_time() - started

    return fit


def surprise_algorithm(make):
    """An algorithm of Surprise: points, on a trainset with the order of the data."""

    def fit(train):
        from surprise import Dataset, Reader

        data = Dataset.load_from_df(train[["user", "item", "rating"]], Reader(rating_scale=(1, 5)))
        trainset = data.build_full_trainset()
        algorithm = make()
        started = time.process_time()
        algorithm.fit(trainset)
        spent = time.process_time() - started

        def predict(test):
            predictions = algorithm.test(list(test[["user", "item", "rating"]].itertuples(index=False, name=None)))
            return np.array([prediction.est for prediction in predictions])

        return predict, spent

    return fit


def myfm_model(ordinal, n_iter):
    """myFM with users, items and their implicit sets, as relation blocks (its fast form): rank 10."""

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
        model = kind(rank=10, random_seed=SEED)
        target = (train.rating.to_numpy() - 1).astype(int) if ordinal else train.rating.to_numpy(float)
        nothing = sp.csr_matrix((len(u), 0))
        started = time.process_time()
        model.fit(
            nothing, target, X_rel=blocks(u, i), n_iter=n_iter, group_shapes=groups, callback=lambda *_: (False, None)
        )
        spent = time.process_time() - started

        def predict(test):
            at = [_codes(users, test.user), _codes(items, test.item)]
            empty = sp.csr_matrix((len(test), 0))
            return (model.predict_proba if ordinal else model.predict)(empty, blocks(*at))

        return predict, spent

    return fit


def _rows_scaled(x):
    """Each row divided by the square root of its number of entries."""
    return sp.diags(1.0 / np.sqrt(np.maximum(np.diff(x.tocsr().indptr), 1))) @ x


def _codes(known, ids):
    place = np.searchsorted(known, ids).clip(max=len(known) - 1)
    return np.where(known[place] == ids, place, len(known))


def models():
    """Name -> fit(train) -> (predict(test) -> points (n,) or distributions (n, levels), CPU seconds of the fit)."""
    import surprise as s

    item_knn = {"name": "pearson_baseline", "user_based": False}
    return {
        "Bayesian LBG, 2 chains (gaussian)": ours(likelihood="gaussian"),
        "Bayesian LBG, defaults (4 chains)": ours(),
        "Bayesian LBG, strong": ours(**STRONG),
        "myFM ordered probit, implicit sets": myfm_model(ordinal=True, n_iter=200),
        "myFM regression, implicit sets": myfm_model(ordinal=False, n_iter=300),
        "Surprise SVD, 100 epochs, reg .1": surprise_algorithm(
            lambda: s.SVD(n_epochs=100, reg_all=0.1, random_state=SEED)
        ),
        "Surprise SVD": surprise_algorithm(lambda: s.SVD(random_state=SEED)),
        "Surprise SVDpp": surprise_algorithm(lambda: s.SVDpp(random_state=SEED)),
        "Surprise KNNBaseline (item)": surprise_algorithm(lambda: s.KNNBaseline(sim_options=item_knn, verbose=False)),
        "Surprise KNNBasic": surprise_algorithm(lambda: s.KNNBasic(verbose=False)),
        "Surprise BaselineOnly": surprise_algorithm(lambda: s.BaselineOnly(verbose=False)),
        "Surprise SlopeOne": surprise_algorithm(lambda: s.SlopeOne()),
        "Surprise CoClustering": surprise_algorithm(lambda: s.CoClustering(random_state=SEED)),
        "Surprise NMF": surprise_algorithm(lambda: s.NMF(random_state=SEED)),
        "Surprise NormalPredictor": surprise_algorithm(lambda: s.NormalPredictor()),
    }


def judge(fit, train, test):
    """All measures of one model on one fold."""
    np.random.seed(SEED)  # NormalPredictor has no random_state  # noqa: NPY002
    predict, spent = fit(train)
    started = time.process_time()
    said = np.asarray(predict(test))
    seconds = time.process_time() - started
    truth = test.rating.to_numpy(float)
    row = dict.fromkeys(MEASURES)
    points = said
    if said.ndim == 2:
        points = predictive.mean(said, LEVELS)
        row["mae_median"] = metrics.mae(truth, predictive.median(said, LEVELS))
        row["log_score"] = metrics.log_score(np.searchsorted(LEVELS, truth), said)
    points = points.clip(1.0, 5.0)
    row |= {"rmse": metrics.rmse(truth, points), "mae_mean": metrics.mae(truth, points)}
    return row | {"fit_s": spent, "predict_s": seconds}


def warm_up(train):
    """Compile (or load from the cache on disk) and import everything once, so that no model's time contains it."""
    some = train.head(3000)
    judge(ours(n_sweeps=15, burn_in=5), some, some.head(50))
    judge(myfm_model(ordinal=True, n_iter=2), some, some.head(50))


def compilation():
    """CPU seconds of a new process's first small fit: with nothing compiled, and with numba's cache on disk."""
    small = (
        "import numpy as np; from lbg_recsys.ratings import BayesianLBGModel as B;"
        "r = np.random.default_rng(0); k = r.permutation(900)[:400];"
        "B(n_sweeps=12, burn_in=2).fit((k // 30, k % 30, r.integers(1, 6, 400))).predict_batch([(0, 0)])"
    )
    spent = {}
    with tempfile.TemporaryDirectory() as cache:
        for name in ("nothing compiled", "cached"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, "-W", "ignore", "-c", small], check=True, env=os.environ | {"NUMBA_CACHE_DIR": cache}
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent[name] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent


def summary(rows):
    """Means over the folds of one model, None where a measure does not apply."""
    return {name: None if rows[0][name] is None else float(np.mean([row[name] for row in rows])) for name in MEASURES}


def table(results):
    """What people read, one line a model and kind of split."""
    lines = []
    for split, prefix in (("random", "random"), ("official", "u")):
        for name, folds in results["folds"].items():
            rows = [row for fold, row in folds.items() if fold.startswith(prefix)]
            if rows:
                lines.append([split, len(rows), name, *summary(rows).values()])
    return markdown_table(["folds", "n", "model", *MEASURES], lines)


def main():
    """Run what is missing."""
    results = {"folds": {}}
    if OUTPUT.exists() and "--fresh" not in sys.argv:
        results = json.loads(OUTPUT.read_text())["results"]
    splits = {f"random {n}": fold for n, fold in enumerate(random_folds())}
    splits |= dict(zip(OFFICIAL, official_folds(), strict=True))
    results.setdefault("first_fit_cpu_s", compilation())
    warm_up(splits["random 0"][0])
    for fold, (train, test) in splits.items():
        for name, fit in models().items():
            done = results["folds"].setdefault(name, {})
            if fold in done:
                continue
            done[fold] = judge(fit, train, test)
            print(fold, name, {key: value and round(value, 4) for key, value in done[fold].items()}, flush=True)
            write_json(
                OUTPUT,
                record(
                    "rating prediction on MovieLens-100K",
                    "python -m benchmarks.bench_accuracy",
                    results | {"table": table(results).splitlines()},
                    data=movielens_checksum(),
                    seeds=[SEED],
                    rivals=("myfm",),
                ),
            )
    print(table(results))


if __name__ == "__main__":
    main()
