"""Which settings of LBGModel to recommend for lists, chosen without looking at a test fold.

The training parts of three random folds, each split 80/20 once more: the recommended settings
(lbg_recsys/presets.py) are those whose lists by "liked" have the best NDCG there, the mean over splits and seeds.
All are in benchmarks/results/tune_lists.json.
"""

import itertools

import numpy as np

from benchmarks.bench_topn import judge
from benchmarks.benchmark import Benchmark, Part
from benchmarks.ranking_models import ours
from lbg_recsys.ratings import LBGModel, as_matrix

GRID = {"n_topics": (10, 20, 30, 50), "temperature": (0.1, 0.15, 0.2, 0.3, 1.0)}
SPLITS = (0, 1, 2)
SEEDS = (100, 101)


def inner_split(train, number):
    """The ratings to learn from, as a matrix, and those to judge by."""
    train = train.sample(frac=1.0, random_state=number, ignore_index=True)
    test, rest = train.iloc[: len(train) // 5], train.iloc[len(train) // 5 :]
    return as_matrix(rest, scale=(1, 5)), test


def settings(record, work):
    """A row per combination of settings."""
    folds = work.random_folds()
    splits = [inner_split(folds[str(number)][0], number) for number in SPLITS[: work.size(3, 1)]]

    def measure(options):
        found = [
            judge(ours(LBGModel, seed=seed, **options).fit(matrix)("liked"), matrix, test)
            for matrix, test in splits
            for seed in SEEDS
        ]
        return {name: float(np.mean([one[name] for one in found])) for name in ("ndcg", "recall")}

    grid = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    names = {str(options): options for options in work.size(grid, grid[:2])}
    rows = {
        name: record.row("settings", name, "", lambda o=options: measure(o), settings=options)
        for name, options in names.items()
    }
    record.finish("settings", names)
    print(*sorted((item for item in rows.items() if item[1]), key=lambda item: -item[1]["ndcg"]), sep="\n")


BENCHMARK = Benchmark(
    name="tune_lists",
    what="Settings of LBGModel for lists, chosen on inner splits of training data",
    module="benchmarks.tune_lists",
    data=("ml-100k",),
    seeds=SEEDS,
    parts={"settings": Part(settings)},
)

if __name__ == "__main__":
    BENCHMARK.main()
