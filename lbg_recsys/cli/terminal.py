"""What goes to a terminal: text without control characters, and small pictures."""

import math
from collections.abc import Collection, Mapping

import click

from lbg_recsys.words import visible

_EIGHTHS = " ▏▎▍▌▋▊▉"


def echo(message: object = "", *, err: bool = False, nl: bool = True) -> None:
    """`click.echo` of the `visible` text; all commands write by it."""
    click.echo(visible(str(message)), err=err, nl=nl)


def decimals(levels: Collection[float], digits: int) -> int:
    """The decimal places with which differences of ratings on this scale are shown.

    >>> decimals([1, 5], 2), decimals([0, 100], 2), decimals([0, 0.5], 2), decimals([3], 2)
    (2, 0, 3, 2)
    """
    span = max(levels) - min(levels)
    return max(digits - math.floor(math.log10(span)), 0) if span > 0 else digits


def bars(values: Mapping[str, float], *, width: int = 40) -> str:
    """A bar for each share, with its label before and its per cent after.

    >>> print(bars({"1": 0.25, "2": 0.75}, width=8))
    1 ██▋       25.0%
    2 ████████  75.0%
    """
    longest = max(values.values(), default=0.0) or 1.0
    margin = max(map(len, values), default=0)
    lines = []
    for label, share in values.items():
        eighths = round(8 * width * share / longest)
        drawn = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
        lines.append(f"{label:>{margin}} {drawn:<{width}} {share:6.1%}")
    return "\n".join(lines)
