"""What does a fit cost as ratings grow, and what does it take of memory: in memory, from disk, on Dask workers?

Ratings are generated from the model itself (`benchmarks.generate`), so that the groups are known. Each fit has a
process of its own; its memory is the most that the process had. LBG with 10 topics, 20 iterations, one thread.

The generated ratings are kept in the folder that LBG_SCALE_DATA names, or in that of temporary files: 10^8 ratings
take 0.6 GB there, and about as much again when they are sorted.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.benchmark import Benchmark, Part
from benchmarks.generate import generate
from benchmarks.scale_fit import ITERATIONS


def folder_of(n_ratings):
    """The folder with so many generated ratings; they are generated where it is not there."""
    home = Path(os.environ.get("LBG_SCALE_DATA", tempfile.gettempdir())) / "lbg-scale"
    folder = home / f"{n_ratings}"
    if not (folder / "_complete").exists():
        generate(folder, n_ratings)
        (folder / "_complete").touch()
    return folder


def fitted(way, n_ratings):
    """The row of a fit."""
    command = [sys.executable, "-m", "benchmarks.scale_fit", way, str(folder_of(n_ratings)), str(n_ratings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)


def rows(record, part, ways, sizes):
    """A row per way and size."""
    for way in ways:
        for size in sizes:
            record.row(part, way, f"{size}", lambda w=way, s=size: fitted(w, s), settings={"iterations": ITERATIONS})
    record.finish(part, ways)


def memory(record, work):
    rows(record, "memory", ["memory"], work.size([10**5, 10**6, 10**7], [20_000]))


def disk(record, work):
    rows(record, "disk", ["disk"], work.size([10**5, 10**6, 10**7], [20_000]))


def largest(record, work):
    rows(record, "largest", ["disk"], work.size([10**8], [20_000]))


def workers(record, work):
    rows(record, "workers", ["dask-1", "dask-2"], work.size([10**7], [20_000]))


BENCHMARK = Benchmark(
    name="scale",
    what="Time and memory of LBG by the number of ratings",
    module="benchmarks.bench_scale",
    data=("sample",),
    seeds=(0,),
    parts={
        "memory": Part(memory, timed=True),
        "disk": Part(disk, timed=True),
        "largest": Part(largest, timed=True),
        "workers": Part(workers, timed=True),
    },
    libraries=("dask", "pyarrow"),
)

if __name__ == "__main__":
    BENCHMARK.main()
