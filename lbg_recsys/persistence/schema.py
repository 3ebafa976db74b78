"""What a model file may hold: plain values by type, arrays by dtype, shape and range, checked before they are used.

Sizes and dtypes of arrays are compared with what the header allows before memory is allocated for them
(`check_shapes`); their numbers are checked once they are read (`check_contents`).
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lbg_recsys.errors import DataError
from lbg_recsys.schema import fits, kind_name

AnyArray = npt.NDArray[Any]

_SUM = re.compile(r"(.+) ([+-]) (\d+)")
_MOST_NAMES = 100  # names of a file that an error lists at most


class Listed(NamedTuple):
    """An array in the directory of a file: its dtype, little-endian, and its shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Array:
    """An array: its dtype (or several, separated by spaces), the names of its sizes, the bounds of its values.

    A size is a name or a sum such as ``"users + 1"``. The bounds are inclusive, and floating-point values are always
    finite. ``distribution``: the last axis sums to one. ``optional``: the array may be missing.
    """

    dtype: str
    shape: tuple[str, ...]
    low: float = -math.inf
    high: float = math.inf
    distribution: bool = False
    optional: bool = False


@dataclass(frozen=True)
class State:
    """A fitted model taken apart: constructor arguments, plain facts, arrays."""

    parameters: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, AnyArray]


@dataclass(frozen=True)
class Layout:
    """The arrays that a header announces: how each looks, the sizes that are known, the largest of the others."""

    arrays: Mapping[str, Array]
    sizes: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)


def listed(arrays: Mapping[str, AnyArray]) -> dict[str, Listed]:
    """The directory of arrays that are in memory."""
    return {name: Listed(array.dtype.newbyteorder("<").str, array.shape) for name, array in arrays.items()}


def check_values(values: Any, kinds: Mapping[str, Any], what: str) -> None:
    """Raise `DataError` unless ``values`` has exactly these names, each with a value of its type."""
    if not isinstance(values, dict):
        raise DataError(f"{what} is {shown(values)} where named values are needed")
    if set(values) != set(kinds):
        raise DataError(f"{what} has {_names(values)} where {_names(kinds)} are needed")
    for name, kind in kinds.items():
        if not fits(values[name], kind):
            raise DataError(f"{what}: {name} is {shown(values[name])}, not {kind_name(kind)}")


def check_shapes(directory: Mapping[str, Listed], layout: Layout) -> dict[str, int]:
    """Raise `DataError` unless these are the arrays of the layout (optional ones may be missing); return all sizes.

    A size that is not known is that of the first array that has it.

    >>> layout = Layout({"mu": Array("f8", ("users", "topics"))}, {"users": 3}, {"topics": 10})
    >>> check_shapes({"mu": Listed("<f8", (3, 2))}, layout)
    {'users': 3, 'topics': 2}
    """
    needed = {name for name, array in layout.arrays.items() if not array.optional}
    if not needed <= set(directory) <= set(layout.arrays):
        raise DataError(f"the arrays are {_names(directory)} where {_names(layout.arrays)} are needed")
    known = dict(layout.sizes)
    for name, expected in layout.arrays.items():
        if name in directory:
            _check_shape(name, directory[name], expected, known, layout.limits)
    return known


def _check_shape(name: str, found: Listed, expected: Array, known: dict[str, int], limits: Mapping[str, int]) -> None:
    dtypes = [np.dtype(one) for one in expected.dtype.split()]
    if np.dtype(found.dtype) not in dtypes or len(found.shape) != len(expected.shape):
        raise DataError(
            f"the array {name} is {len(found.shape)}-dimensional {np.dtype(found.dtype)}, not "
            f"{len(expected.shape)}-dimensional {' or '.join(map(str, dtypes))}"
        )
    shape = tuple(_length(size, met, known) for size, met in zip(expected.shape, found.shape, strict=True))
    if shape != found.shape:
        raise DataError(f"the array {name} has the shape {found.shape}, not {shape} ({', '.join(expected.shape)})")
    for size, length in zip(expected.shape, shape, strict=True):
        if length > limits.get(size, length):
            raise DataError(f"the array {name} has {length:,} {size} where at most {limits[size]:,} are possible")


def _length(size: str, met: int, known: dict[str, int]) -> int:
    """The value of a size; a size that is not known yet becomes the value that was found."""
    parts = _SUM.fullmatch(size)
    base, offset = (parts[1], int(parts[2] + parts[3])) if parts else (size, 0)
    return known.setdefault(base, met - offset) + offset


def check_contents(arrays: Mapping[str, AnyArray], expected: Mapping[str, Array]) -> None:
    """Raise `DataError` unless the values of all arrays are in their ranges."""
    for name, array in arrays.items():
        if array.size:
            _check_content(name, array, expected[name])


def _check_content(name: str, array: AnyArray, expected: Array) -> None:
    # a NaN is neither inside nor outside of bounds: asking for "all inside" refuses it
    low, high = array.min().item(), array.max().item()  # compared in double precision, which holds all bounds
    if not (low >= expected.low and high <= expected.high and np.isfinite([low, high]).all()):
        raise DataError(f"the array {name} has values from {low} to {high}, outside of its range")
    if expected.distribution and not np.allclose(array.sum(axis=-1, dtype=np.float64), 1.0, atol=1e-6):
        raise DataError(f"the array {name} does not sum to one")


def _names(values: Mapping[str, Any]) -> str:
    """Names in quotes, because those of a file may have control characters; only the first of many or long names."""
    return cut(", ".join(f"{cut(name, 40)!r}" for name in sorted(values)[:_MOST_NAMES]), 200) or "nothing"


def shown(value: Any) -> str:
    """A value of a file in an error: without control characters, and short."""
    return cut(repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a very large number", 60)


def cut(text: str, length: int) -> str:
    """A text, with dots for its end if it has more characters than this."""
    return text if len(text) <= length else text[: length - 3] + "..."
