"""Who predicts ratings best, and at what cost? MovieLens-100K, Surprise's five random folds and the official u1..u5.

Every model (`benchmarks.rating_models`) sees the same folds on one core; points are clipped to the scale. CPU seconds
are those of the process, after a small fit that compiles and loads what is needed (the part ``compilation`` measures
what that costs). Times are reported for the random folds only, so the official ones may run beside other work.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks import rating_models as models
from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import installed, measure_models
from lbg_recsys import presets
from lbg_recsys.core import levels
from lbg_recsys.evaluation import metrics

MEASURES = ("rmse", "mae", "mae_median", "log_score", "fit_s", "predict_s")


def contestants(work):
    """All models; ours and myFM's next to each other."""
    rivals = models.tuned_rivals() | models.cornac_models() | models.surprise_models()
    return models.our_models(work) | models.myfm_models(work) | rivals


def evaluate(model, train, test, scale=models.LEVELS):
    """All measures of one model on one fold, whose ratings have the levels of ``scale``."""
    np.random.seed(models.SEED)  # NormalPredictor has no random_state  # noqa: NPY002
    predict, spent = model.fit(train)
    started = time.process_time()
    said = predict(test)
    seconds = time.process_time() - started
    truth = test.rating.to_numpy(float)
    points = said.points.clip(scale[0], scale[-1])
    row = dict.fromkeys(MEASURES) | {"rmse": metrics.rmse(truth, points), "mae": metrics.mae(truth, points)}
    if said.distribution is not None:
        row["mae_median"] = metrics.mae(truth, levels.median(said.distribution, scale))
        row["log_score"] = metrics.log_score(np.searchsorted(scale, truth - 1e-9), said.distribution)
    return row | {"fit_s": spent, "predict_s": seconds}


def warm_up(train):
    """Compile (or load from the cache on disk) and import everything once, so that no model's time contains it."""
    some = train.head(3000)
    small, _ = installed(
        {
            "Bayesian LBG": models.ours(models.BayesianLBGModel, n_sweeps=15, burn_in=5),
            "LBG": models.lbg(),
            "LBG on biases": models.lbg(**presets.LBG),
            "myFM": models.myfm_model(ordinal=True, n_iter=2),
            "cornac": models.cornac_model("MF", max_iter=1),
        }
    )
    for model in small.values():
        evaluate(model, some, some.head(50))


def folds(name, splits):
    """A part: all models on some folds."""

    def measure(record, work):
        trials = splits(work)
        warm_up(next(iter(trials.values()))[0])
        measure_models(record, name, contestants(work), trials, evaluate)

    return measure


SMALL_FIT = (
    "import numpy as np; from lbg_recsys.ratings import BayesianLBGModel as B;"
    "r = np.random.default_rng(0); k = r.permutation(900)[:400];"
    "B(n_sweeps=12, burn_in=2).fit((k // 30, k % 30, r.integers(1, 6, 400))).predict_batch([(0, 0)])"
)


def compilation(record, work):
    """CPU seconds of a new process's first small fit: with nothing compiled, and with numba's cache on disk."""
    with tempfile.TemporaryDirectory() as cache:
        # a quick run uses the compiled kernels that there are
        changed = work.size({"NUMBA_CACHE_DIR": cache}, {})

        def first_fit():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-W", "ignore", "-c", SMALL_FIT], check=True, env=os.environ | changed)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        # one row, so that the second fit finds what the first one compiled
        record.row(
            "compilation",
            "first small fit",
            "",
            lambda: {name: first_fit() for name in work.size(("nothing compiled", "cached"), ("cached",))},
        )


BENCHMARK = Benchmark(
    name="accuracy",
    what="Rating prediction on MovieLens-100K",
    module="benchmarks.bench_accuracy",
    data=("ml-100k",),
    seeds=(models.SEED,),
    libraries=("myfm", "cornac"),
    parts={
        "compilation": Part(compilation, timed=True),
        "random": Part(folds("random", lambda work: work.random_folds()), timed=True),
        "official": Part(folds("official", lambda work: work.official_folds())),
    },
)

if __name__ == "__main__":
    BENCHMARK.main()
