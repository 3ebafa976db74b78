"""Measure cells in parallel, store each as soon as it is measured, and continue where an earlier run stopped."""

import hashlib
import json
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lbg_recsys.evaluation.report import write_json
from lbg_recsys.paper.experiment import Cell, Figures
from lbg_recsys.paper.workers import spread
from lbg_recsys.progress import Progress, silent
from lbg_recsys.provenance import library_versions

_SECOND = 1.0


def run_cells(
    cells: Sequence[Cell], folder: Path, *, n_jobs: int = 2, progress: Progress = silent
) -> dict[Cell, Figures]:
    """The figures of all cells. ``folder`` has a file of each; those of the same versions are not repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    versions = library_versions()
    found: dict[Cell, Figures] = {}
    for cell in cells:
        if (kept := _kept(cell, folder, versions)) is not None:
            found[cell] = kept
    waiting = [cell for cell in cells if cell not in found]
    progress(len(found), len(cells), "already measured" if found else "")

    def keep(cell: Cell, figures: Figures) -> None:
        found[cell] = figures
        write_json(_place(cell, folder), {"cell": asdict(cell), "versions": versions, "figures": figures})
        progress(len(found), len(cells), cell.label)

    if n_jobs <= 1 or len(waiting) <= 1:
        for cell in waiting:
            keep(cell, measure(cell))
        return found
    with spread(measure, waiting, n_jobs) as running:
        begun, pending = time.monotonic(), set(running)
        while pending:
            ready, pending = wait(pending, timeout=_SECOND, return_when=FIRST_COMPLETED)
            for future in ready:
                keep(running[future], future.result())
            if not ready:  # a cell may take minutes: the bar shows at least the time
                progress(len(found), len(cells), f"{len(pending)} to do, after {time.monotonic() - begun:.0f} s")
    return found


def measure(cell: Cell) -> dict[str, float]:
    """Measure one cell, in this process."""
    from lbg_recsys.paper import EXPERIMENTS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the literal algorithm does not converge, and says so every time
        figures = EXPERIMENTS[cell.experiment].measure(cell.row, cell.setting, cell.seed, cell.quick)
    return {name: float(value) for name, value in figures.items()}


def _place(cell: Cell, folder: Path) -> Path:
    text = json.dumps(asdict(cell), sort_keys=True)
    return folder / f"{cell.experiment}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def _kept(cell: Cell, folder: Path, versions: dict[str, str]) -> dict[str, float] | None:
    try:
        kept: dict[str, Any] = json.loads(_place(cell, folder).read_text(encoding="utf-8"))
        if kept["cell"] == asdict(cell) and kept["versions"] == versions:
            return {str(name): float(value) for name, value in kept["figures"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # not there, or not ours: measure it
    return None
