"""Which settings of LBGModel to recommend for lists, chosen without looking at a test fold.

The training parts of three random folds, each split 80/20 once more: the recommended settings
(lbg_recsys/presets.py) are those whose lists by "liked" have the best NDCG there, the mean over splits and seeds.
All are in benchmarks/results/tune_lists.json.

    python -m benchmarks.tune_lists
"""

import itertools
import warnings

import numpy as np

from benchmarks.bench_topn import judge
from benchmarks.common import RESULTS, movielens_checksum, progress_bar, random_folds
from benchmarks.ranking_models import ours
from lbg_recsys.evaluation.report import record, write_json
from lbg_recsys.ratings import LBGModel, RatingMatrix

GRID = {"n_topics": (10, 20, 30, 50), "temperature": (0.1, 0.15, 0.2, 0.3, 1.0)}
SPLITS = (0, 1, 2)
SEEDS = (100, 101)


def inner_split(number):
    """The ratings to learn from, as a matrix, and those to judge by."""
    train = random_folds()[number][0].sample(frac=1.0, random_state=number, ignore_index=True)
    test, rest = train.iloc[: len(train) // 5], train.iloc[len(train) // 5 :]
    return RatingMatrix.from_arrays(rest.user, rest.item, rest.rating, scale=(1, 5)), test


def main():
    """Try every combination and print them, the best first."""
    warnings.simplefilter("ignore")
    splits = [inner_split(number) for number in SPLITS]
    settings = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    rows = []
    with progress_bar("settings") as progress:
        for number, options in enumerate(settings, 1):
            found = [
                judge(ours(LBGModel, seed=seed, **options)(matrix)("liked"), matrix, test)
                for matrix, test in splits
                for seed in SEEDS
            ]
            rows.append(options | {name: float(np.mean([one[name] for one in found])) for name in ("ndcg", "recall")})
            progress(number, len(settings), "")
    rows.sort(key=lambda row: -row["ndcg"])
    write_json(
        RESULTS / "tune_lists.json",
        record(
            "Settings of LBGModel for lists, chosen on inner splits of training data",
            "python -m benchmarks.tune_lists",
            {"recommended": rows[0], "all": rows},
            data=movielens_checksum(),
            seeds=SEEDS,
        ),
    )
    print(*rows, sep="\n")


if __name__ == "__main__":
    main()
