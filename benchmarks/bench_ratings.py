"""How fast is LBGAlgo beside Surprise's SVD, and does its cost grow in proportion to the data?

Ratios of CPU seconds taken in one run on one core, after compilation; the same trainset on both sides.
The growth and the memory are measured on generated ratings, each size in a process of its own.
"""

import json
import subprocess
import sys
import time
import tracemalloc

import numpy as np

from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import best_seconds

GROWTH_ITERATIONS = 10
# ratings, topics
SIZES = ((10**5, 10), (10**6, 10), (10**7, 10), (10**6, 5), (10**6, 20))
QUICK_SIZES = ((2000, 3),)


def beside_svd(record, work):
    """Fit, test() and predict_batch of 20,000 pairs, as ratios to SVD's with its default options."""
    from surprise import SVD

    from lbg_recsys import LBGAlgo

    trainset, testset = work.surprise_folds[0]
    pairs = np.array([pair[:2] for pair in testset])
    svd, lbg = SVD(random_state=0).fit(trainset), LBGAlgo(n_topics=10, random_state=0)
    started = time.perf_counter()
    lbg.fit(trainset).test(testset[:10])
    first = time.perf_counter() - started  # loads or compiles the kernels

    def compared(ours, rival):
        mine, theirs = best_seconds(ours, rival, repeats=work.size(15, 2))
        return {"lbg_seconds": mine, "svd_seconds": theirs, "svd_over_lbg": theirs / mine}

    rows = {
        "fit, n_topics=10": (lambda: lbg.fit(trainset), lambda: svd.fit(trainset)),
        "test() of 20,000 pairs": (lambda: lbg.test(testset), lambda: svd.test(testset)),
        "predict_batch of 20,000 pairs": (lambda: lbg.predict_batch(pairs), lambda: svd.test(testset)),
    }
    for name, actions in rows.items():
        record.row("beside_svd", name, "", lambda a=actions: compared(*a) | {"first_fit_wall_seconds": first})
    record.finish("beside_svd", rows)


def generated(n_ratings):
    """Ratings of made-up users: 100 each, of a tenth as many items, some items far more often than others."""
    generator = np.random.default_rng(0)
    n_users, n_items = max(n_ratings // 100, 1), max(n_ratings // 1000, 200)
    users = np.repeat(np.arange(n_users, dtype=np.int32), 100)
    items = (n_items * generator.beta(0.6, 2.0, n_ratings)).astype(np.int32)
    ratings = generator.integers(1, 6, n_ratings).astype(np.int8)
    return users, items, ratings


def one_size(n_ratings, n_topics):
    """Seconds per iteration, and the peak memory per rating beyond the input arrays and the parameters."""
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


def growth(record, work):
    """Each size in a fresh process, so that one peak does not hide another."""
    names = {f"{n_ratings:,} ratings, {k} topics": (n_ratings, k) for n_ratings, k in work.size(SIZES, QUICK_SIZES)}
    for name, size in names.items():
        command = [sys.executable, "-m", "benchmarks.bench_ratings", "--size", *map(str, size)]
        record.row(
            "growth",
            name,
            "",
            lambda c=command: json.loads(subprocess.run(c, check=True, capture_output=True, text=True).stdout),
        )
    record.finish("growth", names)


BENCHMARK = Benchmark(
    name="ratings",
    what="Speed of LBGAlgo",
    module="benchmarks.bench_ratings",
    data=("ml-100k",),
    seeds=(0,),
    parts={"beside_svd": Part(beside_svd, timed=True), "growth": Part(growth, timed=True)},
)

if __name__ == "__main__":
    if sys.argv[1:2] == ["--size"]:  # the process of one size
        print(json.dumps(one_size(*map(int, sys.argv[2:]))))
    else:
        BENCHMARK.main()
