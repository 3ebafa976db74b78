"""Are the distributions right? Log score, ranked probability score, calibration error, coverage, PIT histogram.

Five random folds of MovieLens-100K; beside myFM's ordered probit and three histograms.

    python -m benchmarks.bench_calibration
"""

import warnings

import numpy as np

from benchmarks.common import RESULTS, entrants, movielens_checksum, progress_bar, random_folds
from benchmarks.rating_models import LEVELS, bayesian_lbg, lbg, myfm_model
from lbg_recsys.core import levels
from lbg_recsys.evaluation import metrics
from lbg_recsys.evaluation.report import record, write_json
from lbg_recsys.presets import LBG_FOR_RATINGS
from lbg_recsys.ratings import as_matrix


def fitted_by(fit):
    """The distributions of a model of `rating_models`, as a function of (train, test)."""

    def predict(train, test):
        predictor, _ = fit(train)
        return predictor(test).distribution

    return predict


def histogram(by_user, by_item):
    """Shares of the levels: overall, of the user, of the item, or user x item / overall (one pseudo-rating each)."""

    def predict(train, test):
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

    return predict


def contestants():
    """Name -> function of (train, test) tables; rivals that are not installed are named."""
    ours = {
        "Bayesian LBG": fitted_by(bayesian_lbg()),
        "LBG, the paper's": fitted_by(lbg()),
        "LBG on biases, tempered": fitted_by(lbg(**LBG_FOR_RATINGS)),
    }
    histograms = {
        "histogram of user x item": histogram(True, True),
        "histogram of the user": histogram(True, False),
        "histogram of the item": histogram(False, True),
        "histogram overall": histogram(False, False),
    }
    return entrants(
        ours | histograms,
        myfm=lambda: {"myFM ordered probit": fitted_by(myfm_model(ordinal=True, n_iter=200))},
    )


def judge(probability, test, generator):
    """All measures of one fold."""
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
        "pit": metrics.pit_histogram(level, probability, generator).tolist(),
    }


def main():
    """Measure over the five random folds and write benchmarks/results/calibration.json."""
    warnings.simplefilter("ignore")
    table, missing = contestants()
    folds = random_folds()
    rows = {name: [] for name in table}
    with progress_bar("calibration") as progress:
        for number, (train, test) in enumerate(folds):
            for place, (name, predict) in enumerate(table.items(), 1):
                rows[name].append(judge(predict(train, test), test, np.random.default_rng(number)))
                progress(number * len(table) + place, len(folds) * len(table), name)
    results = {
        name: {key: np.mean([one[key] for one in measured], axis=0).tolist() for key in measured[0]}
        for name, measured in rows.items()
    }
    write_json(
        RESULTS / "calibration.json",
        record(
            "Calibration on MovieLens-100K",
            "python -m benchmarks.bench_calibration",
            {"models": results, "missing": missing},
            data=movielens_checksum(),
            seeds=[0],
            rivals=["myfm"],
        ),
    )
    for name, figures in sorted(results.items(), key=lambda item: -item[1]["log_score"]):
        words = "  ".join(f"{key} {value:.4f}" for key, value in figures.items() if key != "pit")
        print(f"{name:26s} {words}")


if __name__ == "__main__":
    main()
