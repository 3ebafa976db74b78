"""A fit that is kept between iterations, so that another process can finish it with the same bits."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lbg_recsys.core.levels import LARGEST_LEVEL
from lbg_recsys.errors import DataError
from lbg_recsys.files import atomic_write
from lbg_recsys.persistence.container import open_container, write_container
from lbg_recsys.persistence.lbg import PARAMETERS, SUMS, LBGFile, check_statistics, check_tables
from lbg_recsys.persistence.schema import (
    AnyArray,
    Layout,
    check_contents,
    check_shapes,
    check_values,
    cut,
    shown,
)

if TYPE_CHECKING:
    from lbg_recsys.core.em.statistics import SufficientStatistics
    from lbg_recsys.ratings.lbg_fit import Result, Resumable

_CLASS = "checkpoint"
_HEADER = {
    "class": str,
    "facts": dict,
    "number": int,
    "history": list[float],
    "statistics": list[float],
    "best": dict | None,
}
_BEST = {"converged": bool, "history": list[float], "statistics": list[float]}
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

    Attributes
    ----------
    path, every, resume
        The parameters.

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
        """Replace the file.

        Parameters
        ----------
        state : Resumable
            Where the fit is.
        facts : dict
            What it is a fit of: settings and a digest of the ratings.
        """
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
        """What the file has, if a fit is to be continued and there is one.

        Nothing in the file is trusted: it is checked as `lbg_recsys.load` checks a model.

        Parameters
        ----------
        facts : dict
            As in `save`, of the fit that is to be continued.

        Returns
        -------
        Resumable or None
            Where that fit was.

        Raises
        ------
        ModelFileError
            If the file is damaged.
        DataError
            If it is a model, or has another fit.
        """
        if not self.resume or not self.path.exists():
            return None
        now = _settled(facts)
        with open_container(self.path) as file:
            kept = _checked(file.header)["facts"] if file.header.get("class") == _CLASS else None
            if kept == now:
                layout = _layout(file.header, now)
                check_shapes(file.directory, layout)
                arrays = file.read()
                check_contents(arrays, layout.arrays)
                return _put_together(file.header, arrays, now)
            file.read(())  # a file with a wrong checksum is damaged, whatever it says
        if kept is None:
            raise DataError(f"{os.fspath(self.path)} is a model, not a checkpoint: it cannot be continued")
        raise DataError(f"{os.fspath(self.path)} {_difference(kept, now)}")


def _difference(kept: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What is not the same in a fit that was kept and the one that would continue it."""
    name = next(name for name in (*now, *kept) if name not in kept or name not in now or kept[name] != now[name])
    ratings = name in ("rows", "columns", "checksum")
    what = "other ratings" if ratings else f"{name if name in now else repr(cut(name, 40))}={shown(kept.get(name))}"
    return (
        f"was made by a fit with {what}, which cannot be continued with "
        f"{'these' if ratings else shown(now.get(name))}: fit without resuming, or as it was"
    )


def _settled(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in _FREE}


def _numbers(statistics: "SufficientStatistics") -> list[float]:
    return [statistics.n_rows, statistics.evidence]


def _checked(header: dict[str, Any]) -> dict[str, Any]:
    """The header of a checkpoint, if its values are plain ones of their types; else `DataError`."""
    check_values(header, _HEADER, "the checkpoint")
    if header["best"] is not None:
        check_values(header["best"], _BEST, "the best run of the checkpoint")
    return header


def _layout(header: Mapping[str, Any], facts: Mapping[str, Any]) -> Layout:
    """The arrays of a checkpoint of a fit with these facts."""
    arrays = {name: LBGFile.arrays[name] for name in SUMS}
    if header["best"] is not None:
        arrays |= {f"best_{name}": LBGFile.arrays[name] for name in (*PARAMETERS, *SUMS)}
    return Layout(arrays, {"topics": facts["n_topics"], "items": facts["columns"]})


def _put_together(header: Mapping[str, Any], arrays: Mapping[str, AnyArray], facts: Mapping[str, Any]) -> "Resumable":
    """Where the fit is; `DataError` if a fit with these facts is never there."""
    from lbg_recsys.ratings.lbg_fit import Resumable

    number, history, best = header["number"], header["history"], header["best"]
    if not 0 <= number < facts["n_init"] or (number > 0) != (best is not None):
        raise DataError(f"it is in run {shown(number)} of {facts['n_init']}, which the best run does not agree with")
    if not 1 <= len(history) < facts["max_iter"]:
        raise DataError(f"it is after {len(history)} of {facts['max_iter']} iterations")
    statistics = _statistics(header["statistics"], arrays, "", facts["rows"])
    return Resumable(number, statistics, tuple(history), best and _best(best, arrays, facts))


def _statistics(
    numbers: list[float], arrays: Mapping[str, AnyArray], prefix: str, n_rows: int
) -> "SufficientStatistics":
    from lbg_recsys.core.em.statistics import SufficientStatistics

    if len(numbers) != 2:
        raise DataError(f"the statistics are {len(numbers)} numbers, not 2")
    statistics = SufficientStatistics(numbers[0], numbers[1], *(arrays[prefix + name] for name in SUMS))
    check_statistics(statistics, LARGEST_LEVEL)
    for amount in (statistics.n_rows, float(statistics.mass.sum())):
        if abs(amount - n_rows) > 1e-6 * n_rows:
            raise DataError(f"the statistics are of {amount:g} users, and there are {n_rows}")
    return statistics


def _best(kept: Mapping[str, Any], arrays: Mapping[str, AnyArray], facts: Mapping[str, Any]) -> "Result":
    from lbg_recsys.core.em.loop import EMResult
    from lbg_recsys.core.em.parameters import Parameters

    history = tuple(kept["history"])
    if not 1 <= len(history) <= facts["max_iter"]:
        raise DataError(f"the best run has {len(history)} iterations where {facts['max_iter']} are possible")
    found = {name: arrays[f"best_{name}"] for name in PARAMETERS}
    check_tables(found, LARGEST_LEVEL, 0.0)
    statistics = _statistics(kept["statistics"], arrays, "best_", facts["rows"])
    return EMResult(Parameters(**found), statistics, history[-1], len(history), kept["converged"], history)
