"""What does a fit cost as ratings grow, and what does it take of memory: in memory, from disk, on Dask workers?

Ratings are generated from the model itself (`benchmarks.generate`), so that the groups are known; MovieLens-1M is the
real data set. Each fit has a process of its own; its memory is the most that the process had. LBG with 10 topics, 20
iterations, one thread, and with the best of fifty starts of as many topics as groups; rivals with 10 factors and 20
iterations, one thread; one chain of Bayesian LBG with 100 sweeps, and two chains of 30 as tasks of Dask workers. A
rival that has not finished in five minutes of processor time is stopped, and larger data is not tried.

The generated ratings are kept in the folder that LBG_SCALE_DATA names, or in that of temporary files: 10^8 ratings
take 0.6 GB there, and about as much again when they are sorted.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import has, missing
from benchmarks.generate import generate
from benchmarks.scale_fit import CHAINS, ITERATIONS, KEPT, SHORT, STARTS, SWEEPS
from benchmarks.scale_rivals import RIVALS

LIMIT = 300


def folder_of(n_ratings):
    """The folder with this many generated ratings, or with MovieLens-1M; it is made if it does not exist."""
    home = Path(os.environ.get("LBG_SCALE_DATA", tempfile.gettempdir())) / "lbg-scale"
    folder = home / f"{n_ratings}"
    if not (folder / "_complete").exists():
        if n_ratings == "ml-1m":
            from lbg_recsys.datasets import load_movielens_1m

            folder.mkdir(parents=True, exist_ok=True)
            load_movielens_1m().ratings[["user", "item", "rating"]].to_parquet(folder / "ratings.parquet")
        else:
            generate(folder, n_ratings)
        (folder / "_complete").touch()
    return folder


def fitted(way, n_ratings, limit=None):
    """The row of a fit; one that was stopped has nothing but the limit, in seconds of processor time."""
    size = "0" if n_ratings == "ml-1m" else str(n_ratings)
    command = [sys.executable, "-m", "benchmarks.scale_fit", way, str(folder_of(n_ratings)), size]
    if limit is not None:
        command = ["sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", *command]
    home = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home)
    if limit is not None and done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"stopped_after_seconds": limit}
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)


def rows(record, part, ways, sizes, **settings):
    """A row per way and size."""
    rivals = [way for way in ways if way in RIVALS]
    for way in (way for way in ways if way not in rivals or has(way)):
        by = {"by": way} if way in rivals else {}
        for size in sizes:
            limit = LIMIT if by else None
            row = record.row(
                part, way, f"{size}", lambda w=way, s=size, m=limit: fitted(w, s, m), settings=settings, **by
            )
            if row is not None and "stopped_after_seconds" in row:
                break
    record.finish(part, ways, missing(rivals))


def memory(record, work):
    rows(record, "memory", ["memory"], work.size([10**5, 10**6, 10**7], [20_000]), iterations=ITERATIONS)


def groups(record, work):
    rows(record, "groups", ["groups"], work.size([10**5, 10**6, 10**7], [20_000]), starts=STARTS)


def disk(record, work):
    rows(record, "disk", ["disk"], work.size([10**5, 10**6, 10**7], [20_000]), iterations=ITERATIONS)


def largest(record, work):
    rows(record, "largest", ["disk"], work.size([10**8], [20_000]), iterations=ITERATIONS)


def pairs_of_runs(record, work, part, ways, number, **settings):
    """One worker and two, in turns: what else this machine does then meets both alike."""
    (size,) = work.size([10**7], [20_000])
    for pair in work.size(range(number), range(1)):
        for way in ways:
            record.row(part, way, f"{pair}", lambda w=way: fitted(w, size), settings={"ratings": size, **settings})
    record.finish(part, ways)


def workers(record, work):
    pairs_of_runs(record, work, "workers", ["dask-1", "dask-2"], 5, iterations=ITERATIONS)


def chains(record, work):
    pairs_of_runs(record, work, "chains", ["chains-1", "chains-2"], 1, chains=CHAINS, sweeps=SHORT)


def rivals(record, work):
    rows(record, "rivals", list(RIVALS), work.size([10**5, 10**6, 10**7], [20_000]), iterations=ITERATIONS)


def real(record, work):
    rows(record, "real", ["memory", "disk", *RIVALS], work.size(["ml-1m"], [20_000]), iterations=ITERATIONS)


def bayesian(record, work):
    rows(record, "bayesian", ["bayesian"], work.size([10**7], [20_000]), sweeps=SWEEPS, kept=KEPT)


BENCHMARK = Benchmark(
    name="scale",
    what="Time and memory of LBG by the number of ratings",
    module="benchmarks.bench_scale",
    data=("sample",),
    seeds=(0,),
    parts={
        "memory": Part(memory, timed=True),
        "groups": Part(groups, timed=True),
        "disk": Part(disk, timed=True),
        "largest": Part(largest, timed=True),
        "workers": Part(workers, timed=True),
        "chains": Part(chains, timed=True),
        "rivals": Part(rivals, timed=True),
        "real": Part(real, timed=True),
        "bayesian": Part(bayesian, timed=True),
    },
    libraries=("dask", "pyarrow", *RIVALS),
)

if __name__ == "__main__":
    BENCHMARK.main()
