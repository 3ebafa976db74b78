"""Which settings of LBGAlgo to recommend, chosen without looking at anything that a benchmark reports on.

The forced-prediction protocol is run among half of the users only; the recommended settings
(lbg_recsys/presets.py) are those with the best log score there, because one distribution serves the mean, the
median and the intervals. Other settings have a slightly lower error of the mean or of the median; all are in
benchmarks/results/tune_lbg.json.
"""

import itertools

import numpy as np

from benchmarks.benchmark import Benchmark, Part
from lbg_recsys import LBGAlgo
from lbg_recsys.evaluation.forced import forced_prediction
from lbg_recsys.ratings import as_matrix

GRID = {
    "baseline": (False, True),
    "n_topics": (2, 3, 5, 10),
    "temperature": (0.1, 0.2, 0.4, 1.0),
    "indicator_weight": (0.0, 0.03, 1.0),
}
SEEDS = (100, 101)
N_DRAWS = 5


def settings(record, work):
    """A row per combination of settings."""
    matrix = as_matrix(work.ratings)
    inner = matrix.subset(np.sort(np.random.default_rng(99).permutation(matrix.n_users)[: matrix.n_users // 2]))

    def measure(options):
        makers = {
            point: lambda seed, point=point: LBGAlgo(point=point, random_state=seed, **options)
            for point in ("median", "mean")
        }
        median, mean = forced_prediction(inner, makers, seeds=SEEDS, n_draws=work.size(N_DRAWS, 1))
        return {"mae": median.mae, "rmse": mean.rmse, "log_score": mean.log_score}

    grid = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    names = {str(options): options for options in work.size(grid, grid[::40])}
    rows = {
        name: record.row("settings", name, "", lambda o=options: measure(o), settings=options)
        for name, options in names.items()
    }
    record.finish("settings", names)
    found = {name: row for name, row in rows.items() if row}
    for key, sign in (("mae", 1), ("rmse", 1), ("log_score", -1)):
        print(key, *sorted(found.items(), key=lambda item: sign * item[1][key])[:3], sep="\n  ")


BENCHMARK = Benchmark(
    name="tune_lbg",
    what="Settings of LBGAlgo, chosen among half of the users",
    module="benchmarks.tune_lbg",
    data=("ml-100k",),
    seeds=SEEDS,
    parts={"settings": Part(settings)},
)

if __name__ == "__main__":
    BENCHMARK.main()
