"""One fit of `benchmarks.bench_scale` in a process of its own, whose peak memory is then its own; prints JSON.

python -m benchmarks.scale_fit memory|disk|dask-N FOLDER RATINGS
"""

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.generate import Truth

TOPICS, ITERATIONS = 10, 20
# Bytes for sorting ratings.
MEMORY = 1_000_000_000


def cpu():
    """Seconds of processor time of this process and of its children that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def peak_megabytes():
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def stored(folder):
    """The store beside a folder of generated ratings; made where it is not there."""
    from lbg_recsys.ratings import RatingStore
    from lbg_recsys.readers import CodedRatings

    store = folder.with_name(f"{folder.name}-store")
    if (store / "store.json").exists():
        return RatingStore.open(store, memory=4 * MEMORY)
    return RatingStore.create(store, CodedRatings(folder), memory=MEMORY)


def read(way, folder):
    """The ratings as a fit takes them."""
    if way == "memory":
        import pandas as pd

        from lbg_recsys import RatingMatrix
        from lbg_recsys.readers import read_ratings

        return RatingMatrix.from_frame(pd.concat(map(read_ratings, sorted(folder.glob("*.parquet")))))
    store = stored(folder)
    if way == "disk":
        return store
    from dask.distributed import Client

    from lbg_recsys.distributed import on_dask

    workers = int(way.removeprefix("dask-"))
    return on_dask(store, Client(n_workers=workers, threads_per_worker=1, dashboard_address=None))


def purity(planted, found):
    """The share of users in a topic of which their planted group is the largest part."""
    largest = (np.bincount(planted[found == topic]).max() for topic in np.unique(found))
    return float(sum(largest) / len(planted))


def main(way, folder, n_ratings):
    from lbg_recsys import LBGModel

    warnings.simplefilter("ignore")
    LBGModel(n_topics=2, max_iter=1).fit((["a", "b"], ["x", "x"], [1, 2]))  # compile
    begun = cpu()
    data = read(way, folder)
    after_reading, clock = cpu(), time.perf_counter()
    model = LBGModel(n_topics=TOPICS, max_iter=ITERATIONS, tol=0.0, random_state=0).fit(data)
    planted = Truth.of_size(n_ratings, 0).group[np.array(list(model.matrix.users))]
    n = model.matrix.n_ratings
    found = {
        "ratings": n,
        "users": model.matrix.n_users,
        "items": model.matrix.n_items,
        "reading_seconds": after_reading - begun,
        "fit_seconds": cpu() - after_reading,
        "fit_wall_seconds": time.perf_counter() - clock,
        "nanoseconds_per_rating": (cpu() - after_reading) / n / ITERATIONS * 1e9,
        "peak_megabytes": peak_megabytes(),
        "purity": purity(planted, model.posterior().argmax(axis=1)),
    }
    if way.startswith("dask"):
        found["worker_megabytes"] = max(data.client.run(peak_megabytes).values())
        found["worker_seconds"] = sum(data.client.run(cpu).values())
        data.client.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
