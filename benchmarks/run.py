"""`make bench`: all benchmarks, then the tables in README and docs from their results.

    python -m benchmarks.run [NAME ...] [--quick] [--fresh] [--jobs N]

Every part of a benchmark runs in a process of its own. Parts that report no times run first, side by side; parts that
report times run after them, one at a time. A part that fails stops nothing: failures are named at the end, and the
exit code is 1. A call after an interruption continues where the last one stopped.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class Job(NamedTuple):
    """One part of one benchmark."""

    name: str
    part: str
    timed: bool

    def run(self, options):
        """Run it in a process of its own; return what to call it if it failed, or None."""
        print(f"== {self.name}: {self.part}", flush=True)
        started = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", f"benchmarks.bench_{self.name}", self.part, *options])
        print(f"== {self.name}: {self.part} took {time.perf_counter() - started:.0f} s", flush=True)
        return f"{self.name}: {self.part} (exit code {done.returncode})" if done.returncode else None


def names():
    """The benchmarks, by their files."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def all_jobs(chosen):
    """The parts of the chosen benchmarks."""
    for name in chosen:
        parts = import_module(f"benchmarks.bench_{name}").BENCHMARK.parts
        yield from (Job(name, part, found.timed) for part, found in parts.items())


def run_all(jobs, options, n_jobs):
    """Run all jobs; return the failures."""
    failures = []
    for timed, at_once in ((False, n_jobs), (True, 1)):
        with ThreadPoolExecutor(at_once) as pool:
            failures += pool.map(lambda job: job.run(options), [job for job in jobs if job.timed == timed])
    return [failure for failure in failures if failure]


def main(argv=None):
    """Run the chosen benchmarks and write the tables again."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(names())} (all by default)")
    parser.add_argument("--quick", action="store_true", help="small generated data: minutes, and no result")
    parser.add_argument("--fresh", action="store_true", help="measure again what could be kept")
    parser.add_argument("--jobs", type=int, default=2, help="parts side by side where no times are reported (2)")
    chosen = parser.parse_args(argv)
    unknown = sorted(set(chosen.names) - set(names()))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(names())}")
    options = ["--fresh"] if chosen.fresh else []
    if chosen.quick:
        options += ["--quick", "--output", tempfile.mkdtemp(prefix="quick-")]
    failures = run_all(list(all_jobs(chosen.names or names())), options, chosen.jobs)
    if not chosen.quick:
        written = subprocess.run([sys.executable, "-m", "benchmarks.write_docs"])
        failures += ["write_docs"] if written.returncode else []
    if failures:
        sys.exit(f"failed: {'; '.join(failures)}")


if __name__ == "__main__":
    main()
