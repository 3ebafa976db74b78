"""Arguments checked where they are used: each error names the argument, its value and what to give instead."""

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from lbg_recsys.errors import ParameterError


def check_integer(name: str, value: Any, low: int) -> None:
    """An integer, Python's or numpy's, of at least ``low``.

    >>> check_integer("n_topics", True, 1)
    Traceback (most recent call last):
    lbg_recsys.errors.ParameterError: n_topics is True: give an integer of at least 1
    """
    if not is_integer(value) or value < low:
        raise ParameterError(f"{name} is {value!r}: give an integer of at least {low}")


def check_number(
    name: str, value: Any, low: float, high: float = math.inf, *, low_too: bool = True, high_too: bool = True
) -> None:
    """A finite number from ``low`` (or above it) up to ``high`` (or below it).

    >>> check_number("temperature", None, 0, 1, low_too=False)
    Traceback (most recent call last):
    lbg_recsys.errors.ParameterError: temperature is None: give a number above 0 and up to 1
    """
    inside = is_number(value) and is_finite(value) and low <= value <= high
    if not inside or (value == low and not low_too) or (value == high and not high_too):
        at_least = f"of at least {low:g}" if low_too else f"above {low:g}"
        at_most = f" and {'up to' if high_too else 'below'} {high:g}" if high < math.inf else ""
        raise ParameterError(f"{name} is {value!r}: give a number {at_least}{at_most}")


def check_share(name: str, value: Any) -> None:
    """A share that leaves something: at least 0 and below 1."""
    check_number(name, value, 0.0, 1.0, high_too=False)


def check_flag(name: str, value: Any) -> None:
    """True or False."""
    if not is_flag(value):
        raise ParameterError(f"{name} is {value!r}: give True or False")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """One of some names."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} is {value!r}: choose one of {', '.join(map(repr, choices))}")


def check_seed(name: str, value: Any) -> None:
    """None or an integer of at least 0."""
    if value is not None and not (is_integer(value) and value >= 0):
        raise ParameterError(f"{name} is {value!r}: give None or an integer of at least 0")


def is_flag(value: Any) -> bool:
    """Whether a value is True or False, Python's or numpy's."""
    # by its dtype: checks are light to import, and numpy is not
    return isinstance(value, bool) or (getattr(value, "shape", None) == () and value.dtype.kind == "b")


def is_number(value: Any) -> bool:
    """Whether a value is an integer or a floating-point number, Python's or numpy's."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: float) -> bool:
    """Whether a number is finite and not beyond what floating-point numbers hold."""
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer
        return False


def is_integer(value: Any) -> bool:
    """Whether a value is an integer, Python's or NumPy's; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)
