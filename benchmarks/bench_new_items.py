"""Ratings of unknown items and by unknown users: a fifth of the items (users) of MovieLens-100K held out, five folds.

The part "unseen" has the ratings of random folds whose item is in no rating of the training part: these items are
rated seldom, and held-out items are not. Beside the models: the mean and the shares of the levels of the known user
(item), and of all ratings.
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
        "bayesian (Bayesian LBG, 4 chains)": bayesian_lbg(work),
        "lbg (LBG, 10 topics on biases)": lbg(**presets.LBG),
        "histogram of the user": histogram(True, False),
        "histogram of the item": histogram(False, True),
        "histogram overall": histogram(False, False),
    }


def evaluate(model, train, test):
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
        "ratings": len(test),
    }


def items(record, work):
    """Held-out items."""
    measure_models(record, "items", contestants(work), folds(work, "item"), evaluate)


def users(record, work):
    """Held-out users."""
    measure_models(record, "users", contestants(work), folds(work, "user"), evaluate)


def unseen(record, work):
    """Items that random folds miss."""
    trials = {name: (train, test[~test.item.isin(train.item)]) for name, (train, test) in work.random_folds().items()}
    known = {name: (train, test) for name, (train, test) in trials.items() if len(test)}
    measure_models(record, "unseen", contestants(work), known or folds(work, "item"), evaluate)


BENCHMARK = Benchmark(
    name="new_items",
    what="Ratings of unknown items and by unknown users",
    module="benchmarks.bench_new_items",
    data=("ml-100k",),
    seeds=(0,),
    parts={"items": Part(items), "users": Part(users), "unseen": Part(unseen)},
)

if __name__ == "__main__":
    BENCHMARK.main()
