"""Arrays that are evaluated: each error names the array, the value, its place and what to give instead."""

from typing import Any

import numpy as np

from lbg_recsys.checks import check_integer
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import DataError, ParameterError

# Probabilities that are sums in single precision may be above 1 by as much.
_ROUNDING = 1e-5
_MOST_BINS = 1_000_000


def numbers(name: str, values: Any, n_dims: int = 1, *, finite: bool = True) -> Floats:
    """Values as float64 numbers in an array of so many dimensions.

    >>> numbers("truth", [3, 4]).tolist()
    [3.0, 4.0]
    >>> numbers("truth", [3, float("nan")])
    Traceback (most recent call last):
    lbg_recsys.errors.DataError: truth has nan at position 1: leave it out or give it a value
    """
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name} must be numbers: {error}") from error
    _check_dimensions(name, found, n_dims)
    if finite and not np.isfinite(found).all():
        at = _first(~np.isfinite(found))
        raise DataError(f"{name} has {found[at]} at position {_place(at)}: leave it out or give it a value")
    return found


def integers(name: str, values: Any, low: int, end: int, n_dims: int = 1) -> Ints:
    """Values as int64 numbers from ``low`` to below ``end``, in an array of so many dimensions.

    >>> integers("users", [0, 7], 0, 5)
    Traceback (most recent call last):
    lbg_recsys.errors.DataError: users has 7 at position 1: give integers from 0 to 4
    """
    found = _array(name, values)
    if found.dtype.kind not in "iu" and found.size:
        raise DataError(f"{name} has values such as {found.flat[0]!r:.60}: give integers from {low} to {end - 1}")
    _check_dimensions(name, found, n_dims)
    outside = (found < low) | (found >= end)
    if outside.any():
        at = _first(outside)
        raise DataError(f"{name} has {found[at]} at position {_place(at)}: give integers from {low} to {end - 1}")
    return found.astype(np.int64, copy=False)


def times(values: Any) -> Floats | Ints:
    """When ratings were given, as finite numbers; integers stay as exact as they are."""
    found = _array("times", values)
    return found if found.dtype.kind in "iu" and found.ndim == 1 else numbers("times", found)


def labels(name: str, values: Any) -> Ints:
    """Values that can be sorted, as codes from 0 in their order.

    >>> labels("truth", ["spam", "ham", "spam"]).tolist()
    [1, 0, 1]
    """
    found = _array(name, values)
    _check_dimensions(name, found, 1)
    try:
        return np.unique(found, return_inverse=True)[1]
    except TypeError as error:
        raise DataError(f"{name} cannot be sorted: {error}; give values of one type") from error


def points(truth: Any, predicted: Any) -> tuple[Floats, Floats]:
    """True and predicted ratings: as many of each, and at least one."""
    known, guessed = numbers("truth", truth), numbers("predicted", predicted)
    same_length("truth", known, "predicted", guessed)
    return known, guessed


def distributions(truth_level: Any, probability: Any) -> tuple[Ints, Floats]:
    """Positions of the true ratings on the scale, and the predicted distributions, a row for each."""
    stated = probabilities(probability)
    level = integers("truth_level", truth_level, 0, stated.shape[1])
    same_length("truth_level", level, "probability", stated)
    return level, stated


def probabilities(probability: Any) -> Floats:
    """Predicted distributions: rows of at least one probability."""
    stated = numbers("probability", probability, 2)
    if not stated.shape[1]:
        raise DataError("probability has no columns: give a column per level of the scale")
    outside = (stated < 0.0) | (stated > 1.0 + _ROUNDING)
    if outside.any():
        at = _first(outside)
        raise DataError(f"probability has {stated[at]} at position {_place(at)}: give numbers from 0 to 1")
    return stated


def same_length(name: str, one: np.ndarray, other_name: str, other: np.ndarray) -> None:
    """Two arrays of as many rows, of which there is at least one."""
    if len(one) != len(other):
        raise DataError(f"{name} has {len(one):,} rows and {other_name} {len(other):,}: give as many of both")
    if not len(one):
        raise DataError(f"{name} and {other_name} are empty: at least one row is needed")


def check_bins(n_bins: Any) -> None:
    """A number of bins, at least one and not too many for memory."""
    check_integer("n_bins", n_bins, 1)
    if n_bins > _MOST_BINS:
        raise ParameterError(f"n_bins is {n_bins}: give at most {_MOST_BINS:,}")


def _array(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name} is no array of values: {error}") from error


def _check_dimensions(name: str, found: np.ndarray, n_dims: int) -> None:
    if found.ndim != n_dims:
        wanted = "a list of values" if n_dims == 1 else "a table of rows and columns"
        raise DataError(f"{name} has the shape {found.shape}: give {wanted}")


def _first(where: np.ndarray) -> tuple[int, ...]:
    return tuple(int(at) for at in np.unravel_index(int(where.argmax()), where.shape))


def _place(at: tuple[int, ...]) -> str:
    return ", ".join(map(str, at))
