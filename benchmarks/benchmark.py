"""A benchmark: its parts, and the command line that all benchmarks share.

    python -m benchmarks.bench_NAME [PART ...] [--quick] [--fresh] [--ours] [--output FOLDER]

Rows that are in the file of results already, measured under the same circumstances, are kept (`benchmarks.records`):
a call after an interruption continues where the last one stopped. With ``--ours`` the rows of rivals are kept on
another machine too: for a look at what a change of ours does, where times are not compared.
"""

import argparse
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.records import Record
from benchmarks.workload import Workload

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Part:
    """A function of a `Record` and a `Workload`; ``timed`` if its times are reported, so that it must run alone."""

    measure: Callable[[Record, Workload], None]
    timed: bool = False


@dataclass(frozen=True)
class Benchmark:
    """What is measured, on which data sets, in which parts; results go to ``{name}.json``."""

    name: str
    what: str
    module: str
    data: Sequence[str]
    seeds: Sequence[int]
    parts: dict[str, Part]
    libraries: Sequence[str] = ()

    def run(self, parts=(), *, quick=False, fresh=False, ours=False, output=RESULTS):
        """Measure what is missing of some parts (all by default); return the record."""
        if quick and Path(output) == RESULTS:
            raise ValueError("a quick run is no result: name another folder than benchmarks/results")
        chosen = list(parts or self.parts)
        work = Workload(quick)
        head = {
            "what": self.what + (" (quick: generated data)" if quick else ""),
            "command": f"python -m {self.module}" + (" --quick" if quick else ""),
            "seeds": list(self.seeds),
            "data": work.checksums(self.data),
        }
        path = Path(output) / f"{self.name}.json"
        record = Record(path, head, libraries=self.libraries, fresh=chosen if fresh else (), ours=ours)
        for part in chosen:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter(
                        "ignore"
                    )  # fits that did not converge, and repeated pairs in generated data
                    self.parts[part].measure(record, work)
            except Exception:
                record.failures.append(part)
                print(f"FAILED: {part}\n{traceback.format_exc()}", flush=True)
        print(f"{path}: {record.measured} rows measured, {record.kept} kept", flush=True)
        return record

    def main(self, argv=None):
        """The command line; exits with 1 if a row or a part failed."""
        parser = argparse.ArgumentParser(prog=f"python -m {self.module}", description=self.what)
        parser.add_argument(
            "parts", nargs="*", metavar="PART", help=f"any of: {', '.join(self.parts)} (all by default)"
        )
        parser.add_argument("--quick", action="store_true", help="small generated data: seconds, and no result")
        parser.add_argument("--fresh", action="store_true", help="measure again what could be kept")
        parser.add_argument(
            "--ours", action="store_true", help="keep the rivals' rows of another processor or version"
        )
        parser.add_argument("--output", type=Path, help="folder for the results (benchmarks/results by default)")
        options = parser.parse_args(argv)
        unknown = sorted(set(options.parts) - set(self.parts))
        if unknown:
            parser.error(f"{self.name} has no part {', '.join(unknown)}; it has {', '.join(self.parts)}")
        output = options.output or (Path(tempfile.mkdtemp(prefix="quick-")) if options.quick else RESULTS)
        record = self.run(options.parts, quick=options.quick, fresh=options.fresh, ours=options.ours, output=output)
        if record.failures:
            sys.exit(f"{self.name}: {len(record.failures)} failed: {'; '.join(record.failures)}")
