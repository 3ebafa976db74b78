"""Are the distributions right? Log score, ranked probability score, calibration error, coverage, PIT histogram.

Five random folds of MovieLens-100K; beside myFM's ordered probit and four histograms.
"""

import numpy as np

from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import Model, measure_models
from benchmarks.rating_models import LEVELS, Predicted, bayesian_lbg, lbg, myfm_model
from lbg_recsys import presets
from lbg_recsys.core import levels
from lbg_recsys.evaluation import metrics
from lbg_recsys.ratings import as_matrix


def histogram(by_user, by_item):
    """Shares of the levels: overall, of the user, of the item, or user x item / overall (one pseudo-rating each)."""

    def shares(train, test):
        matrix = as_matrix(train, scale=(1, 5))
        level = matrix.scale.nearest(matrix.values)
        overall = np.bincount(level, minlength=5) / len(level)
        found = np.tile(overall, (len(test), 1))
        for wanted, owners, codes, size in (
            (by_user, matrix.user_codes, matrix.users.codes(test["user"]), matrix.n_users),
            (by_item, matrix.item_codes, matrix.items.codes(test["item"]), matrix.n_items),
        ):
            if wanted:
                counts = np.zeros((size + 1, 5))  # the last row is the unknown
                np.add.at(counts, (owners, level), 1.0)
                share = (counts + overall) / (counts.sum(axis=1, keepdims=True) + 1.0)
                found = found * share[codes] / overall
        return found / found.sum(axis=1, keepdims=True)

    def fit(train):
        return lambda test: Predicted(levels.mean(found := shares(train, test), LEVELS), found), 0.0

    return Model("numpy", {"by_user": by_user, "by_item": by_item}, fit)


def contestants(work):
    """Ours, myFM's ordered probit, and histograms."""
    return {
        "bayesian (Bayesian LBG, 4 chains)": bayesian_lbg(work),
        "paper (LBG, 5 topics, mode)": lbg(),
        "lbg (LBG, 10 topics on biases)": lbg(**presets.LBG),
        "myFM ordered probit": myfm_model(ordinal=True, n_iter=work.size(200, 3)),
        "histogram of user x item": histogram(True, True),
        "histogram of the user": histogram(True, False),
        "histogram of the item": histogram(False, True),
        "histogram overall": histogram(False, False),
    }


def evaluate(model, train, test):
    """All measures of one model on one fold."""
    predict, _ = model.fit(train)
    probability = predict(test).distribution
    truth = test["rating"].to_numpy(dtype=float)
    level = truth.astype(np.int64) - 1
    held, width = metrics.coverage(truth, probability, LEVELS, 0.9)
    return {
        "log_score": metrics.log_score(level, probability),
        "rps": metrics.ranked_probability_score(level, probability),
        "ece": metrics.expected_calibration_error(level, probability),
        "coverage_90": held,
        "width_90": width,
        "rmse": metrics.rmse(truth, levels.mean(probability, LEVELS)),
        "pit": metrics.pit_histogram(level, probability, np.random.default_rng(0)).tolist(),
    }


def random(record, work):
    """All models on the random folds."""
    measure_models(record, "random", contestants(work), work.random_folds(), evaluate)


BENCHMARK = Benchmark(
    name="calibration",
    what="Calibration on MovieLens-100K",
    module="benchmarks.bench_calibration",
    data=("ml-100k",),
    seeds=(0,),
    libraries=("myfm",),
    parts={"random": Part(random)},
)

if __name__ == "__main__":
    BENCHMARK.main()
