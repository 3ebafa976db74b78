"""A fit that is kept between iterations, so that another process can finish it with the same bits."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lbg_recsys.errors import DataError
from lbg_recsys.files import atomic_write
from lbg_recsys.persistence.container import read_container, write_container
from lbg_recsys.persistence.lbg import PARAMETERS, SUMS

if TYPE_CHECKING:
    from lbg_recsys.core.em.statistics import SufficientStatistics
    from lbg_recsys.ratings.lbg_fit import Result, Resumable

_CLASS = "checkpoint"
# Settings that do not change what EM computes.
_FREE = ("point", "lists", "n_jobs", "verbose")


@dataclass(frozen=True)
class FitCheckpoint:
    """Keeps a fit of `LBGModel` in a file every few iterations; a kill at any moment leaves the old file or the new.

    Parameters
    ----------
    path : path-like
        The file.
    every : int, default=10
        Iterations between two writes.
    resume : bool, default=False
        Continue the fit that the file has. It must be one of the same ratings with the same settings. Without a file
        the fit starts at the beginning.

    Examples
    --------
    >>> import tempfile
    >>> from lbg_recsys import LBGModel
    >>> ratings = (["ann", "ann", "bob", "cid"], ["x", "y", "x", "y"], [5, 4, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keep = FitCheckpoint(Path(folder, "fit"), every=1)
    ...     whole = LBGModel(n_topics=2, random_state=0).fit(ratings, checkpoint=keep)
    ...     again = FitCheckpoint(Path(folder, "fit"), resume=True)
    ...     rest = LBGModel(n_topics=2, random_state=0).fit(ratings, checkpoint=again)
    >>> rest.history_ == whole.history_
    True
    """

    path: Path
    every: int = 10
    resume: bool = False

    def save(self, state: "Resumable", facts: dict[str, Any]) -> None:
        """Replace the file."""
        header = {
            "class": _CLASS,
            "facts": _settled(facts),
            "number": state.number,
            "history": list(state.history),
            "statistics": _numbers(state.statistics),
            "best": None,
        }
        arrays = {name: getattr(state.statistics, name) for name in SUMS}
        if state.best is not None:
            best = state.best
            history = list(best.history)
            header["best"] = {
                "converged": best.converged,
                "history": history,
                "statistics": _numbers(best.statistics),
            }
            arrays |= {f"best_{name}": getattr(best.parameters, name) for name in PARAMETERS}
            arrays |= {f"best_{name}": getattr(best.statistics, name) for name in SUMS}
        with atomic_write(self.path) as stream:
            write_container(stream, header, arrays)

    def load(self, facts: dict[str, Any]) -> "Resumable | None":
        """What the file has, if a fit is to be continued and there is one."""
        if not self.resume or not self.path.exists():
            return None
        from lbg_recsys.core.em.statistics import SufficientStatistics
        from lbg_recsys.ratings.lbg_fit import Resumable

        header, arrays = read_container(self.path)
        if header.get("class") != _CLASS:
            raise DataError(f"{os.fspath(self.path)} is a model, not a checkpoint: it cannot be continued")
        self._refuse_other(header["facts"], _settled(facts))
        statistics = SufficientStatistics(*header["statistics"], *(arrays[name] for name in SUMS))
        best = None if header["best"] is None else _best(header["best"], arrays)
        return Resumable(header["number"], statistics, tuple(header["history"]), best)

    def _refuse_other(self, kept: dict[str, Any], now: dict[str, Any]) -> None:
        for name in now:
            if kept.get(name) != now[name]:
                what = "other ratings" if name in ("rows", "columns", "checksum") else f"{name}={kept.get(name)}"
                raise DataError(
                    f"{os.fspath(self.path)} was made by a fit with {what}, which cannot be continued with "
                    f"{'these' if what == 'other ratings' else now[name]}: fit without resuming, or as it was"
                )


def _settled(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in _FREE}


def _numbers(statistics: "SufficientStatistics") -> list[float]:
    return [statistics.n_rows, statistics.evidence]


def _best(facts: dict[str, Any], arrays: dict[str, Any]) -> "Result":
    from lbg_recsys.core.em.loop import EMResult
    from lbg_recsys.core.em.parameters import Parameters
    from lbg_recsys.core.em.statistics import SufficientStatistics

    history = tuple(facts["history"])
    parameters = Parameters(*(arrays[f"best_{name}"] for name in PARAMETERS))
    statistics = SufficientStatistics(*facts["statistics"], *(arrays[f"best_{name}"] for name in SUMS))
    return EMResult(parameters, statistics, history[-1], len(history), facts["converged"], history)
