"""What does a user wait for? Loading a model and listing ten items for everybody, beside Surprise's own ways.

MovieLens-100K in full, CPU seconds on one core. Surprise's ways: `dump.load` of a fitted SVD, and its documented
recipe for lists, which predicts every pair that is not in the training set.

    python -m benchmarks.bench_files
"""

import tempfile
from collections import defaultdict
from pathlib import Path

import lbg_recsys
from benchmarks.common import RESULTS, best_seconds, movielens_checksum
from lbg_recsys.datasets import load_movielens_100k
from lbg_recsys.evaluation.report import record, write_json

LENGTH = 10


def surprise_lists(svd, trainset):
    """Ten items for every user: all missing pairs predicted, then sorted user by user."""
    lists = defaultdict(list)
    for prediction in svd.test(trainset.build_anti_testset()):
        lists[prediction.uid].append((prediction.est, prediction.iid))
    return {user: sorted(found, reverse=True)[:LENGTH] for user, found in lists.items()}


def main():
    """Measure, print, write benchmarks/results/files.json."""
    from surprise import SVD, Dataset, Reader, dump

    data = load_movielens_100k()
    frame = data.ratings[["user", "item", "rating"]]
    trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    svd = SVD(random_state=0).fit(trainset)
    model = lbg_recsys.LBGModel(n_topics=10, random_state=0).fit(frame)
    everybody = list(model.matrix.users)
    with tempfile.TemporaryDirectory() as folder:
        ours = lbg_recsys.save(model, Path(folder) / "model.lbg", titles=data.items["title"].to_dict())
        theirs = Path(folder) / "svd.dump"
        dump.dump(theirs, algo=svd)
        sizes = {"lbg_bytes": ours.stat().st_size, "svd_bytes": theirs.stat().st_size}
        loading = best_seconds(lambda: lbg_recsys.load(ours), lambda: dump.load(theirs))
        listing = best_seconds(
            lambda: list(model.recommend_blocks(everybody, LENGTH)), lambda: surprise_lists(svd, trainset), repeats=2
        )
    rows = {
        name: {"lbg_seconds": mine, "svd_seconds": rivals}
        for name, (mine, rivals) in (("load a fitted model", loading), ("ten items for all 943 users", listing))
    }
    for row in rows.values():
        row["svd_over_lbg"] = row["svd_seconds"] / row["lbg_seconds"]
    results = {"rows": rows, "file_sizes": sizes}
    command = "python -m benchmarks.bench_files"
    write_json(
        RESULTS / "files.json",
        record("Loading and listing", command, results, data=movielens_checksum(), seeds=[0]),
    )
    print(results)


if __name__ == "__main__":
    main()
