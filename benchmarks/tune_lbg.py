"""Which settings of LBGAlgo to recommend, chosen without looking at anything that a benchmark reports on.

The forced-prediction protocol is run among half of the users only; the recommended settings
(lbg_recsys/presets.py) are those with the best log score there, because one distribution serves the mean, the
median and the intervals. Other settings have a slightly lower error of the mean or of the median; all are in
benchmarks/results/tune_lbg.json.

    python -m benchmarks.tune_lbg
"""

import itertools
import warnings

import numpy as np

from benchmarks.common import RESULTS, movielens_checksum, progress_bar
from lbg_recsys import LBGAlgo
from lbg_recsys.datasets import load_movielens_100k
from lbg_recsys.evaluation.forced import forced_prediction
from lbg_recsys.evaluation.report import record, write_json
from lbg_recsys.ratings import as_matrix

GRID = {
    "baseline": (False, True),
    "n_topics": (2, 3, 5, 10),
    "temperature": (0.1, 0.2, 0.4, 1.0),
    "indicator_weight": (0.0, 0.03, 1.0),
}
SEEDS = (100, 101)
N_DRAWS = 5


def main():
    """Try every combination and print the best by MAE of the median, RMSE of the mean and log score."""
    warnings.simplefilter("ignore")
    matrix = as_matrix(load_movielens_100k().ratings)
    inner = matrix.subset(np.sort(np.random.default_rng(99).permutation(matrix.n_users)[: matrix.n_users // 2]))
    settings = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    rows = []
    with progress_bar("settings") as progress:
        for number, options in enumerate(settings, 1):
            makers = {
                point: lambda seed, point=point, options=options: LBGAlgo(point=point, random_state=seed, **options)
                for point in ("median", "mean")
            }
            median, mean = forced_prediction(inner, makers, seeds=SEEDS, n_draws=N_DRAWS)
            rows.append(options | {"mae": median.mae, "rmse": mean.rmse, "log_score": mean.log_score})
            progress(number, len(settings), "")
    results = {"recommended": max(rows, key=lambda row: row["log_score"]), "all": rows}
    write_json(
        RESULTS / "tune_lbg.json",
        record(
            "Settings of LBGAlgo, chosen among half of the users",
            "python -m benchmarks.tune_lbg",
            results,
            data=movielens_checksum(),
            seeds=SEEDS,
        ),
    )
    for name, key in (("MAE", "mae"), ("RMSE", "rmse"), ("log score", "log_score")):
        best = sorted(rows, key=lambda row: row[key] if key != "log_score" else -row[key])[:3]
        print(name, *best, sep="\n  ")


if __name__ == "__main__":
    main()
