"""Annotated types of constructor arguments, and whether plain values fit them: for model files and ``--param``."""

import inspect
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

_LISTS = (list, Sequence)


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
    return isinstance(value, origin or kind)


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
