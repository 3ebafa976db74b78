"""Times of ratings on MovieLens-100K: the first random fold, and the last tenth of the ratings as test part.

One fold: a fit with everything takes three times as long as one with the defaults.
"""

import time

from benchmarks.bench_features import films, people
from benchmarks.bench_new_items import evaluate
from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import Model, measure_models
from benchmarks.rating_models import LEVELS, SEED, Predicted
from benchmarks.records import OURS
from lbg_recsys import presets
from lbg_recsys.core import levels
from lbg_recsys.ratings import BayesianLBGModel


def ours(work, timed, settings=None, **features):
    """Bayesian LBG with or without times; tables have a column timestamp."""
    sizes = work.size(settings or {}, {"n_sweeps": 15, "burn_in": 5})

    def fit(train):
        model = BayesianLBGModel(random_state=SEED, **sizes)
        started = time.process_time()
        model.fit(train, scale=(1, 5), time=timed, **features)
        spent = time.process_time() - started

        def predict(test):
            distribution = model.predict_distribution(test)
            return Predicted(levels.mean(distribution, LEVELS), distribution)

        return predict, spent

    known = {name: list(map(str, table.columns)) for name, table in features.items()}
    return Model(OURS, {"model": "BayesianLBGModel", "random_state": SEED, "time": timed, **sizes, **known}, fit)


def contestants(work):
    """With and without times, with features too, and with more chains."""
    known = {"item_features": films(work), "user_features": people(work)}
    return {
        "Bayesian LBG": ours(work, False),
        "Bayesian LBG, time": ours(work, True),
        "Bayesian LBG, strong, time": ours(work, True, presets.BAYESIAN_STRONG),
        "Bayesian LBG, time and features": ours(work, True, **known),
    }


def random(record, work):
    """The first random fold."""
    train, test = work.random_folds()["0"]
    times = work.movielens.ratings[["user", "item", "timestamp"]].drop_duplicates(["user", "item"], keep="last")
    fold = {"0": (train.merge(times), test.merge(times))}
    measure_models(record, "random", contestants(work), fold, evaluate)


def tomorrow(record, work):
    """The last tenth of the ratings, of users that are known by then."""
    ratings = work.movielens.ratings.sort_values("timestamp", kind="stable")
    train, test = ratings[: len(ratings) * 9 // 10], ratings[len(ratings) * 9 // 10 :]
    known = test["user"].isin(train["user"]) if not work.quick else slice(None)
    models = {
        name: model for name, model in contestants(work).items() if name in ("Bayesian LBG", "Bayesian LBG, time")
    }
    measure_models(record, "tomorrow", models, {"last tenth": (train, test[known])}, evaluate)


BENCHMARK = Benchmark(
    name="time",
    what="Times of ratings",
    module="benchmarks.bench_time",
    data=("ml-100k",),
    seeds=(0,),
    parts={"random": Part(random), "tomorrow": Part(tomorrow)},
)

if __name__ == "__main__":
    BENCHMARK.main()
