"""`make bench`: all benchmarks one after the other, then the tables in README and docs from their results.

python -m benchmarks.run [name ...]
"""

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def names():
    """The benchmarks, by their files."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def main():
    """Run the chosen benchmarks, each in a process of its own, and regenerate the results in README and docs."""
    chosen = sys.argv[1:] or names()
    unknown = sorted(set(chosen) - set(names()))
    if unknown:
        sys.exit(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(names())}")
    for name in chosen:
        print(f"== {name}", flush=True)
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", f"benchmarks.bench_{name}"], check=True)
        print(f"== {name} took {time.perf_counter() - started:.0f} s", flush=True)
    subprocess.run([sys.executable, "-m", "benchmarks.write_docs"], check=True)


if __name__ == "__main__":
    main()
