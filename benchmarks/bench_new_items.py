"""Ratings of unknown items and by unknown users: a fifth of the items (users) of MovieLens-100K held out, five folds.

Beside the models: the mean and the shares of the levels of the known user (item), and of all ratings.
"""

import numpy as np
import pandas as pd

from benchmarks.bench_calibration import histogram
from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import measure_models
from benchmarks.rating_models import LEVELS, bayesian_lbg, lbg
from lbg_recsys import presets
from lbg_recsys.core import levels
from lbg_recsys.evaluation import metrics

N_FOLDS = 5


def folds(work, side):
    """(train, test) tables by the number of the fold; no id of ``side`` is in both parts of one."""
    ratings = work.ratings
    ids = np.sort(ratings[side].unique())
    group = pd.Series(np.random.default_rng(0).permutation(len(ids)) % N_FOLDS, index=ids)
    fold = ratings[side].map(group)
    return {str(k): (ratings[fold != k], ratings[fold == k]) for k in range(work.size(N_FOLDS, 2))}


def contestants(work):
    """The models and the histograms."""
    return {
        "Bayesian LBG, defaults": bayesian_lbg(work),
        "LBG, recommended (10 topics on biases)": lbg(**presets.LBG),
        "histogram of the user": histogram(True, False),
        "histogram of the item": histogram(False, True),
        "histogram overall": histogram(False, False),
    }


def judge(model, train, test):
    """Accuracy, log score and bias of one model on one fold."""
    predict, _ = model.fit(train)
    probability = predict(test).distribution
    truth = test["rating"].to_numpy(dtype=float)
    mean = levels.mean(probability, LEVELS)
    return {
        "rmse": metrics.rmse(truth, mean),
        "log_score": metrics.log_score(truth.astype(np.int64) - 1, probability),
        "mean": float(mean.mean()),
        "truth": float(truth.mean()),
    }


def items(record, work):
    """Held-out items."""
    measure_models(record, "items", contestants(work), folds(work, "item"), judge)


def users(record, work):
    """Held-out users."""
    measure_models(record, "users", contestants(work), folds(work, "user"), judge)


BENCHMARK = Benchmark(
    name="new_items",
    what="Ratings of unknown items and by unknown users",
    module="benchmarks.bench_new_items",
    data=("ml-100k",),
    seeds=(0,),
    parts={"items": Part(items), "users": Part(users)},
)

if __name__ == "__main__":
    BENCHMARK.main()
