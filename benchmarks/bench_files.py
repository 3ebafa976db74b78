"""What does a user wait for? Loading a model and listing ten items for everybody, beside Surprise's own ways.

MovieLens-100K in full, CPU seconds on one core. Surprise's ways: `dump.load` of a fitted SVD, and its documented
recipe for lists, which predicts every pair that is not in the training set.
"""

import tempfile
from collections import defaultdict
from functools import cached_property
from pathlib import Path

import lbg_recsys
from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import best_seconds
from lbg_recsys.algorithms import to_surprise

LENGTH = 10


def surprise_lists(svd, trainset):
    """Ten items for every user: all missing pairs predicted, then sorted user by user."""
    lists = defaultdict(list)
    for prediction in svd.test(trainset.build_anti_testset()):
        lists[prediction.uid].append((prediction.est, prediction.iid))
    return {user: sorted(found, reverse=True)[:LENGTH] for user, found in lists.items()}


class Fitted:
    """Both models, fitted when a row asks for them."""

    def __init__(self, work):
        self.work = work

    @cached_property
    def trainset(self):
        return to_surprise(self.work.movielens).build_full_trainset()

    @cached_property
    def svd(self):
        from surprise import SVD

        return SVD(random_state=0).fit(self.trainset)

    @cached_property
    def lbg(self):
        return lbg_recsys.LBGModel(n_topics=10, random_state=0).fit(self.work.ratings)


def compared(mine, theirs):
    return {"lbg_seconds": mine, "svd_seconds": theirs, "svd_over_lbg": theirs / mine}


def beside_svd(record, work):
    """Loading a fitted model, and lists for everybody."""
    from surprise import dump

    fitted = Fitted(work)

    def loading():
        with tempfile.TemporaryDirectory() as folder:
            titles = work.movielens.items["title"].to_dict()
            ours = lbg_recsys.save(fitted.lbg, Path(folder) / "model.lbg", titles=titles)
            theirs = Path(folder) / "svd.dump"
            dump.dump(theirs, algo=fitted.svd)
            row = compared(*best_seconds(lambda: lbg_recsys.load(ours), lambda: dump.load(theirs)))
            return row | {"lbg_bytes": ours.stat().st_size, "svd_bytes": theirs.stat().st_size}

    def listing():
        everybody = list(fitted.lbg.matrix.users)
        return compared(
            *best_seconds(
                lambda: list(fitted.lbg.recommend_blocks(everybody, LENGTH)),
                lambda: surprise_lists(fitted.svd, fitted.trainset),
                repeats=2,
            )
        )

    rows = {"load a fitted model": loading, "ten items for all users": listing}
    for name, measure in rows.items():
        record.row("beside_svd", name, "", measure)
    record.finish("beside_svd", rows)


BENCHMARK = Benchmark(
    name="files",
    what="Loading and listing",
    module="benchmarks.bench_files",
    data=("ml-100k",),
    seeds=(0,),
    parts={"beside_svd": Part(beside_svd, timed=True)},
)

if __name__ == "__main__":
    BENCHMARK.main()
