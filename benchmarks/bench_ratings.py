"""How fast is LBGAlgo beside Surprise's SVD, and does its cost grow in proportion to the data?

Ratios of CPU seconds taken in one run on one core, after compilation; the same trainset on both sides.
The growth and the memory are measured on generated ratings, each size in a process of its own.

    python -m benchmarks.bench_ratings
"""

import json
import subprocess
import sys
import time
import tracemalloc

import numpy as np

from benchmarks.common import RESULTS, best_seconds, movielens_checksum
from lbg_recsys.datasets import load_movielens_100k
from lbg_recsys.evaluation.report import record, write_json

SIZES = (10**5, 10**6, 10**7)
TOPICS = (5, 10, 20)
GROWTH_ITERATIONS = 10


def beside_svd():
    """Fit, test() and predict_batch of 20,000 pairs, as ratios to SVD's with its default options."""
    from surprise import SVD, Dataset, Reader
    from surprise.model_selection import KFold

    from lbg_recsys import LBGAlgo

    frame = load_movielens_100k().ratings[["user", "item", "rating"]]
    data = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5)))
    trainset, testset = next(KFold(n_splits=5, random_state=0).split(data))
    pairs = np.array([pair[:2] for pair in testset])
    svd, lbg = SVD(random_state=0), LBGAlgo(n_topics=10, random_state=0)
    started = time.perf_counter()
    lbg.fit(trainset).test(testset[:10])
    first = time.perf_counter() - started  # loads or makes the compiled kernels
    rows = {}
    for name, ours, rival in (
        ("fit, n_topics=10", lambda: lbg.fit(trainset), lambda: svd.fit(trainset)),
        ("test() of 20,000 pairs", lambda: lbg.test(testset), lambda: svd.test(testset)),
        ("predict_batch of 20,000 pairs", lambda: lbg.predict_batch(pairs), lambda: svd.test(testset)),
    ):
        mine, theirs = best_seconds(ours, rival, repeats=15)
        rows[name] = {"lbg_seconds": mine, "svd_seconds": theirs, "svd_over_lbg": theirs / mine}
    return {"first_fit_wall_seconds": first, "rows": rows}


def generated(n_ratings):
    """Ratings of made-up users: 100 each, of a tenth as many items, some items far more often than others."""
    generator = np.random.default_rng(0)
    n_users, n_items = max(n_ratings // 100, 1), max(n_ratings // 1000, 200)
    users = np.repeat(np.arange(n_users, dtype=np.int32), 100)
    items = (n_items * generator.beta(0.6, 2.0, n_ratings)).astype(np.int32)
    ratings = generator.integers(1, 6, n_ratings).astype(np.int8)
    return users, items, ratings


def one_size(n_ratings, n_topics):
    """Seconds an iteration, and the peak memory beyond the input arrays and the parameters, a rating."""
    import warnings

    import sklearn.exceptions  # noqa: F401  # what warns of too few iterations is loaded before the clock runs

    warnings.simplefilter("ignore")  # repeated pairs and too few iterations: both on purpose
    from lbg_recsys.ratings import LBGModel, as_matrix

    options = {"n_topics": n_topics, "max_iter": GROWTH_ITERATIONS, "tol": 0.0, "random_state": 0}
    LBGModel(**options).fit(([1, 2], [1, 1], [1, 5]))  # compiles
    users, items, ratings = generated(n_ratings)
    tracemalloc.start()
    started = time.process_time()
    matrix = as_matrix((users, items, ratings))
    read = time.process_time() - started
    started = time.process_time()
    model = LBGModel(**options).fit(matrix)
    fitted = time.process_time() - started
    # p, c, var, their statistics and the table of an E-step belong to the parameters: they grow with the items
    tables = 8 * n_topics * (16 * matrix.n_items + 4 * matrix.n_users)
    kept = model.matrix.n_ratings
    _, peak = tracemalloc.get_traced_memory()
    return {
        "ratings": kept,
        "topics": n_topics,
        "matrix_seconds": read,
        "seconds_per_iteration": fitted / GROWTH_ITERATIONS,
        "nanoseconds_per_rating_and_topic": 1e9 * fitted / GROWTH_ITERATIONS / kept / n_topics,
        "peak_bytes_per_rating_beyond_parameters": max(peak - tables, 0) / n_ratings,
    }


def growth():
    """Each size in a fresh process, so that one peak does not hide another."""
    rows = []
    for n_ratings, n_topics in [(n, 10) for n in SIZES] + [(10**6, k) for k in TOPICS if k != 10]:
        command = [sys.executable, "-m", "benchmarks.bench_ratings", str(n_ratings), str(n_topics)]
        rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return rows


def main():
    """Measure, print, write benchmarks/results/ratings.json."""
    if len(sys.argv) == 3:
        print(json.dumps(one_size(int(sys.argv[1]), int(sys.argv[2]))))
        return
    results = {"beside_svd": beside_svd(), "growth": growth()}
    path = RESULTS / "ratings.json"
    write_json(
        path,
        record(
            "Speed of LBGAlgo", "python -m benchmarks.bench_ratings", results, data=movielens_checksum(), seeds=[0]
        ),
    )
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
