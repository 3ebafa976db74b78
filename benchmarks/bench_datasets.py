"""Do the defaults travel? Ratings of five data sets, beside myFM at its best and two tuned factorisations.

Five random folds of the two smallest data sets, where one says little, the first of five of MovieLens-100K (see
`benchmarks.bench_accuracy` for all) and of Ciao; of MovieLens-1M one tenth at random (seed 0). myFM has users, items
and implicit sets, and as its rank the best of several on a tenth of the training part (regression, 100 iterations).
Each data set is a process; CPU seconds are those of the process, after small fits that compile and load what is
needed.
"""

from functools import partial

import numpy as np

from benchmarks import list_data
from benchmarks.bench_accuracy import evaluate, warm_up
from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import has, measure_models
from benchmarks.rating_models import SEED, bayesian_lbg, lbg, myfm_model, tuned_rivals
from lbg_recsys import presets
from lbg_recsys.datasets.by_name import load_rating_data

LARGE = "ml-1m"
RANKS = {LARGE: (32, 64)}
RANKS_OF_OTHERS = (8, 16, 32)
SMALL = ("filmtrust", "insteval")
NAMES = ("ml-100k", "filmtrust", "ciao", "insteval", LARGE)


def folds(work, name):
    """(train, test) tables by the number of the fold."""
    if name == LARGE and not work.quick:
        table = load_rating_data(name).ratings
        held_out = np.random.default_rng(SEED).random(len(table)) < 0.1
        return {"0": (table[~held_out], table[held_out])}
    numbers = range(5) if name in SMALL and not work.quick else range(1)
    return {f"{number}": list_data.fold(work, name, number) for number in numbers}


def best_rank(work, name, train, scale):
    """The rank of myFM with the lowest error on a tenth of the training part."""
    ranks = RANKS.get(name, RANKS_OF_OTHERS)
    if not has("myfm"):
        return ranks[0]
    train = train.sample(frac=1.0, random_state=SEED, ignore_index=True)
    cut = len(train) // 10
    test, train = train.iloc[:cut], train.iloc[cut:]
    errors = {
        rank: evaluate(myfm_model(False, work.size(100, 3), rank, scale), train, test, scale)["rmse"]
        for rank in ranks
    }
    return min(errors, key=errors.__getitem__)


def measure(name, record, work):
    """All models on one data set."""
    trials = folds(work, name)
    warm_up(work.ratings)
    ratings = [table.rating for pair in trials.values() for table in pair]
    scale = np.unique(np.concatenate(ratings)).astype(float)
    rank = best_rank(work, name, trials["0"][0], scale)
    n_iter = work.size(500, 3)
    models = {
        "bayesian": bayesian_lbg(work, scale),
        "myFM regression": myfm_model(False, n_iter, rank, scale),
        "myFM ordered probit": myfm_model(True, n_iter, rank, scale),
        "bayesian-strong": bayesian_lbg(work, scale, **presets.BAYESIAN_STRONG),
        "lbg": lbg(scale=scale, **presets.LBG),
        **tuned_rivals(scale),
    }
    measure_models(record, name, models, {fold: (*pair, scale) for fold, pair in trials.items()}, evaluate)


BENCHMARK = Benchmark(
    name="datasets",
    what="Ratings of five data sets",
    module="benchmarks.bench_datasets",
    data=("ml-100k",),
    seeds=(SEED,),
    parts={name: Part(partial(measure, name), timed=True) for name in NAMES},
    libraries=("myfm", "cornac", "scikit-surprise"),
)

if __name__ == "__main__":
    BENCHMARK.main()
