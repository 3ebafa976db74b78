"""Who predicts ratings best, and at what cost? MovieLens-100K, Surprise's five random folds and the official u1..u5.

Every model (`benchmarks.rating_models`) sees the same folds in one process on one core; points are clipped to the
scale. CPU seconds are those of the process, after a small fit that compiles and loads what there is to
(``first_fit_cpu_s`` says what that costs). Results are written after every model and fold, and a further call takes
up where the last one ended; a library that is not installed is left out with a note.

    python -m benchmarks.bench_accuracy [--folds random|official|all] [--fresh]
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks import rating_models as models
from benchmarks.common import OFFICIAL, RESULTS, entrants, official_folds, random_folds
from benchmarks.records import FoldRecord, means
from lbg_recsys.core import levels
from lbg_recsys.evaluation import metrics
from lbg_recsys.evaluation.report import markdown_table
from lbg_recsys.presets import LBG_FOR_RATINGS

MEASURES = ("rmse", "mae", "mae_median", "log_score", "fit_s", "predict_s")


def contestants():
    """Name -> fit, and notes of what is not installed; ours and myFM's next to each other."""
    return entrants(
        models.our_models(), myfm=models.myfm_models, cornac=models.cornac_models, surprise=models.surprise_models
    )


def judge(fit, train, test):
    """All measures of one model on one fold."""
    np.random.seed(models.SEED)  # NormalPredictor has no random_state  # noqa: NPY002
    predict, spent = fit(train)
    started = time.process_time()
    said = predict(test)
    seconds = time.process_time() - started
    truth = test.rating.to_numpy(float)
    points = said.points.clip(1.0, 5.0)
    row = dict.fromkeys(MEASURES) | {"rmse": metrics.rmse(truth, points), "mae": metrics.mae(truth, points)}
    if said.distribution is not None:
        row["mae_median"] = metrics.mae(truth, levels.median(said.distribution, models.LEVELS))
        row["log_score"] = metrics.log_score(np.searchsorted(models.LEVELS, truth), said.distribution)
    return row | {"fit_s": spent, "predict_s": seconds}


def warm_up(train):
    """Compile (or load from the cache on disk) and import everything once, so that no model's time contains it."""
    some = train.head(3000)
    small, _ = entrants(
        {
            "Bayesian LBG": models.bayesian_lbg(n_sweeps=15, burn_in=5),
            "LBG": models.lbg(),
            "LBG on biases": models.lbg(**LBG_FOR_RATINGS),
        },
        myfm=lambda: {"myFM": models.myfm_model(ordinal=True, n_iter=2)},
        cornac=models.cornac_models,
    )
    return {name: judge(fit, some, some.head(50)) for name, fit in small.items()}


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


def table(folds):
    """What people read, one line a model and kind of split."""
    lines = []
    for split, prefix in (("random", "random"), ("official", "u")):
        for name, measured in folds.items():
            rows = [row for fold, row in measured.items() if fold.startswith(prefix)]
            if rows:
                lines.append([split, len(rows), name, *means(rows).values()])
    return markdown_table(["folds", "n", "model", *MEASURES], lines)


def main():
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folds", choices=("random", "official", "all"), default="all")
    parser.add_argument("--fresh", action="store_true", help="start over instead of keeping what was measured")
    options = parser.parse_args()

    splits = {}
    if options.folds != "official":
        splits |= {f"random {n}": fold for n, fold in enumerate(random_folds())}
    if options.folds != "random":
        splits |= dict(zip(OFFICIAL, official_folds(), strict=True))
    fits, missing = contestants()
    found = FoldRecord(
        RESULTS / "accuracy.json",
        "rating prediction on MovieLens-100K",
        "python -m benchmarks.bench_accuracy",
        seeds=[models.SEED],
        rivals=("myfm", "cornac"),
        missing=missing,
        fresh=options.fresh,
    )
    print(found.greeting(), flush=True)
    if "first_fit_cpu_s" not in found.results:
        found.results["first_fit_cpu_s"] = compilation()
    warm_up(next(iter(splits.values()))[0])
    for fold, (train, test) in splits.items():
        for name, fit in fits.items():
            if not found.has(name, fold):
                row = judge(fit, train, test)
                found.add(name, fold, row)
                print(fold, name, {key: value and round(value, 4) for key, value in row.items()}, flush=True)
    print(table(found.results["folds"]))


if __name__ == "__main__":
    main()
