"""One fit of `benchmarks.bench_scale` in a process of its own, whose peak memory is then its own; prints JSON.

python -m benchmarks.scale_fit WAY FOLDER RATINGS

WAY is memory, disk or dask-N (workers) for LBG, groups for LBG in memory with as many topics as there are planted
groups and the best of fifty starts, bayesian for a chain of Bayesian LBG, chains-N for two short ones on
N Dask workers, or one of `benchmarks.scale_rivals`. RATINGS is how many ratings were generated, or 0 for
data that was not.
"""

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.generate import N_GROUPS, Truth
from benchmarks.scale_rivals import RIVALS

TOPICS, ITERATIONS, STARTS = 10, 20, 50
SWEEPS, KEPT = 100, 16
# Two chains on Dask workers, which run at a time or one after the other.
CHAINS, SHORT = 2, 30
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


def busy_seconds():
    """Seconds that the cores of this machine have worked, for anybody."""
    line = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()
    user, nice, system, _, _, irq, soft = map(int, line[1:8])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def seconds_of_workers(data):
    """Processor seconds of each Dask worker, if there are any."""
    return sorted(data.client.run(cpu).values()) if hasattr(data, "client") else []


def local_bytes():
    """Bytes that processes of this machine have sent each other."""
    lines = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()
    return next((int(line.split()[1]) for line in lines if line.split()[0] == "lo:"), 0)


def stored(folder):
    """The store beside a folder of generated ratings; made where it is not there."""
    from lbg_recsys.ratings import RatingStore
    from lbg_recsys.readers import CodedRatings

    store = folder.with_name(f"{folder.name}-store")
    if (store / "store.json").exists():
        return RatingStore.open(store, memory=MEMORY)
    return RatingStore.create(store, CodedRatings(folder), memory=MEMORY)


def read(way, folder):
    """The ratings as a fit takes them."""
    if way in ("memory", "groups") or way in RIVALS:
        import pandas as pd

        from lbg_recsys import RatingMatrix
        from lbg_recsys.readers import read_ratings

        return RatingMatrix.from_frame(pd.concat(map(read_ratings, sorted(folder.glob("*.parquet")))))
    store = stored(folder)
    if way == "bayesian":
        return store.whole()
    if way == "disk":
        return store
    from lbg_recsys.distributed import connected, on_dask

    client = connected(None, int(way.partition("-")[2]))
    client.run(compile_first, way)
    return on_dask(store, client)


def purity(planted, found):
    """The share of users in a topic of which their planted group is the largest part."""
    largest = (np.bincount(planted[found == topic]).max() for topic in np.unique(found))
    return float(sum(largest) / len(planted))


def is_bayesian(way):
    """Whether Bayesian LBG is fitted."""
    return way.startswith(("bayesian", "chains"))


def bayesian(**settings):
    """One chain of Bayesian LBG."""
    from lbg_recsys import BayesianLBGModel

    return BayesianLBGModel(orientation="users", likelihood="gaussian", random_state=0, **settings)


def fit_ours(way, data):
    """The fitted model, and the number of iterations or sweeps."""
    from lbg_recsys import LBGModel

    if way == "bayesian":
        return bayesian(n_sweeps=SWEEPS, burn_in=SWEEPS // 2, max_kept=KEPT).fit(data), SWEEPS
    if way.startswith("chains"):
        from lbg_recsys.distributed import fit_chains

        model = bayesian(n_chains=CHAINS, n_sweeps=SHORT, burn_in=SHORT // 2, max_kept=KEPT)
        return fit_chains(model, data.store, data.client), CHAINS * SHORT
    if way == "groups":
        model = LBGModel(n_topics=N_GROUPS, n_init=STARTS, random_state=0).fit(data)
        return model, STARTS * model.n_iter_
    return LBGModel(n_topics=TOPICS, max_iter=ITERATIONS, tol=0.0, random_state=0).fit(data), ITERATIONS


def compile_first(way):
    """Run what will be timed on little data, with few items and with many."""
    from lbg_recsys import LBGModel

    tiny = (["a", "b"] * 2, ["x", "x", "y", "y"], [1, 2, 2, 1])
    many = np.arange(20_000)
    for ratings in (tiny, (many // 10_000, many % 10_000, many % 5)):
        LBGModel(n_topics=TOPICS, max_iter=1).fit(ratings)
    if is_bayesian(way):
        bayesian(n_sweeps=4, burn_in=2, n_factors=8).fit(tiny)


def main(way, folder, n_ratings):
    warnings.simplefilter("ignore")
    compile_first(way)
    begun = cpu()
    data = read(way, folder)
    workers = sum(seconds_of_workers(data))
    after_reading, clock, sent, busy = cpu(), time.perf_counter(), local_bytes(), busy_seconds()
    if way in RIVALS:
        iterations = RIVALS[way](data, TOPICS, ITERATIONS)
        matrix, groups = data, None
    else:
        model, iterations = fit_ours(way, data)
        matrix, groups = model.matrix, None if is_bayesian(way) else model.posterior().argmax(axis=1)
    seconds, wall, n = cpu() - after_reading, time.perf_counter() - clock, matrix.n_ratings
    own = seconds + sum(seconds_of_workers(data)) - workers
    found = {
        "ratings": n,
        "users": matrix.n_users,
        "items": matrix.n_items,
        "iterations": iterations,
        "reading_seconds": after_reading - begun,
        "fit_seconds": seconds,
        "fit_wall_seconds": wall,
        "nanoseconds_per_rating": seconds / n / iterations * 1e9,
        "peak_megabytes": peak_megabytes(),
        "purity": None,
        "adjusted_rand": None,
        "cores_of_others": (busy_seconds() - busy - own) / wall,
    }
    if n_ratings and groups is not None:
        from sklearn.metrics import adjusted_rand_score

        planted = Truth.of_size(n_ratings, 0).group[np.array(list(matrix.users))]
        found["purity"], found["adjusted_rand"] = purity(planted, groups), adjusted_rand_score(planted, groups)
    if is_bayesian(way):
        found["training_error"] = model.training_error_[-1]
        found["factors"] = model.size_.n_factors
    if hasattr(data, "client"):
        found["network_megabytes"] = (local_bytes() - sent) / iterations / 1e6
        found["worker_megabytes"] = sorted(data.client.run(peak_megabytes).values())
        found["worker_seconds"] = seconds_of_workers(data)
        data.client.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
