"""What plain values and arrays must look like before they are used: for model files and for ``--param``."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np
import numpy.typing as npt

from lbg_recsys.errors import DataError

AnyArray = npt.NDArray[Any]

_LISTS = (list, Sequence)


@dataclass(frozen=True)
class Array:
    """An array: its dtype, the names of its sizes, the bounds of its values (inclusive).

    ``distribution``: the last axis sums to one. ``optional``: the model may do without.
    Floating-point values are finite always.
    """

    dtype: str
    shape: tuple[str, ...]
    low: float = -math.inf
    high: float = math.inf
    distribution: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Schema:
    """All that a model of some class keeps besides its ratings and its constructor's arguments.

    ``facts`` are plain values by type, ``arrays`` are arrays; ``sizes`` says which constructor argument a size is
    (``users`` and ``items`` are known). A size named by neither takes the length that it meets first.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    sizes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """A fitted model taken apart: constructor arguments, plain facts, arrays."""

    parameters: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, AnyArray]


def fits(value: Any, kind: Any) -> bool:
    """Whether a plain value is of an annotated type: int, float (finite), bool, str, None, ``|`` and list of these.

    >>> fits(3, float), fits(True, int), fits(None, int | None), fits([1.5, 2], list[float]), fits("3", int)
    (True, False, True, True, False)
    """
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in get_args(kind))
    if origin in _LISTS:
        return isinstance(value, list) and all(fits(one, get_args(kind)[0]) for one in value)
    if kind is Any:
        return True
    if kind in (None, NoneType):
        return value is None
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is float:
        return isinstance(value, float | int) and abs(value) <= 1.7e308  # comparing never overflows; NaN fails too
    return isinstance(value, kind)


def signature_of(cls: type) -> dict[str, Any]:
    """The names of a class's constructor arguments with their annotated types, in order.

    >>> from lbg_recsys import LBGModel
    >>> signature_of(LBGModel)["random_state"]
    int | None
    """
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    return {p.name: p.annotation for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def defaults_of(cls: type) -> dict[str, Any]:
    """The constructor arguments of a class that have a default, with it."""
    parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def kind_name(kind: Any) -> str:
    """An annotation in words.

    >>> kind_name(int | None), kind_name(list[float])
    ('int or none', 'list of float')
    """
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(kind_name(one) for one in get_args(kind))
    if get_origin(kind) in _LISTS:
        return f"list of {kind_name(get_args(kind)[0])}"
    return "none" if kind in (None, NoneType) else str(getattr(kind, "__name__", kind))


def check_values(values: Any, kinds: Mapping[str, Any], what: str) -> None:
    """Exactly these names, each with a value of its type."""
    if not isinstance(values, dict):
        raise DataError(f"{what} is {_shown(values)} where named values are needed")
    if set(values) != set(kinds):
        raise DataError(f"{what} has {_names(values)} where {_names(kinds)} are needed")
    for name, kind in kinds.items():
        if not fits(values[name], kind):
            raise DataError(f"{what}: {name} is {_shown(values[name])}, not {kind_name(kind)}")


def check_arrays(arrays: Mapping[str, AnyArray], expected: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
    """Exactly these arrays (the optional ones may be missing), each of its dtype, shape and range."""
    needed = {name for name, array in expected.items() if not array.optional}
    if not needed <= set(arrays) <= set(expected):
        raise DataError(f"the arrays are {_names(arrays)} where {_names(expected)} are needed")
    known = dict(sizes)
    for name in expected:
        if name in arrays:
            _check_array(name, arrays[name], expected[name], known)


def _check_array(name: str, array: AnyArray, expected: Array, sizes: dict[str, int]) -> None:
    if array.dtype != np.dtype(expected.dtype) or array.ndim != len(expected.shape):
        raise DataError(
            f"the array {name} is {array.ndim}-dimensional {array.dtype}, not {len(expected.shape)}-dimensional "
            f"{np.dtype(expected.dtype)}"
        )
    shape = tuple(sizes.setdefault(size, length) for size, length in zip(expected.shape, array.shape, strict=True))
    if shape != array.shape:
        raise DataError(f"the array {name} has the shape {array.shape}, not {shape} ({', '.join(expected.shape)})")
    if not array.size:
        return
    # a NaN is neither inside nor outside of bounds: asking for "all inside" refuses it
    low, high = array.min(), array.max()
    if not (low >= expected.low and high <= expected.high and np.isfinite([low, high]).all()):
        raise DataError(f"the array {name} has values from {low} to {high}, outside of its range")
    if expected.distribution and not np.allclose(array.sum(axis=-1, dtype=np.float64), 1.0, atol=1e-6):
        raise DataError(f"the array {name} does not sum to one")


def _names(values: Mapping[str, Any]) -> str:
    return ", ".join(sorted(map(str, values)))[:200] or "nothing"


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a very large number"
    return text if len(text) <= 60 else text[:57] + "..."
