"""Summaries of a distribution over rating levels: mean, median, mode, spread, intervals.

All functions take probabilities (n, L), whose rows sum to one, and the L levels in ascending order.
"""

import numpy as np
import numpy.typing as npt

from lbg_recsys.checks import check_number
from lbg_recsys.core.types import Floats

POINTS = ("mode", "mean", "median")
# A prediction has a probability per level; this bounds its memory and is far above the levels of any real scale.
MOST_LEVELS = 10_000
# Models square levels and the steps between them; beyond these limits the squares overflow or underflow.
LARGEST_LEVEL, SMALLEST_STEP = 1e100, 1e-100

# Keeps a sum such as 0.1 + 0.4 = 0.5000000000000001 on the level that reaches a half exactly.
_SLACK = 1e-12


def mean(probability: Floats, levels: Floats) -> Floats:
    """The expected rating: the point with the least squared error."""
    return _expect(probability, levels)


def std(probability: Floats, levels: Floats) -> Floats:
    """The standard deviation around the mean."""
    centre = levels.mean()  # subtracting it keeps the difference of squares accurate on any scale
    first, second = _expect(probability, levels - centre), _expect(probability, (levels - centre) ** 2)
    return np.asarray(np.sqrt(np.maximum(second - first**2, 0.0)))


def mode(probability: Floats, levels: Floats) -> Floats:
    """The most probable level, the paper's prediction t*; the lowest of equally probable ones."""
    return np.asarray(levels[probability.argmax(axis=1)])


def median(probability: Floats, levels: Floats) -> Floats:
    """The lowest level with at least half of the mass at or below it: the level with the least absolute error."""
    return np.asarray(levels[_level_reaching(probability, 0.5)])


def point(probability: Floats, levels: Floats, kind: str) -> Floats:
    """One of `POINTS`."""
    return {"mode": mode, "mean": mean, "median": median}[kind](probability, levels)


def interval(probability: Floats, levels: Floats, mass: float) -> tuple[Floats, Floats]:
    """The shortest central interval: at most (1 - mass)/2 on either side of it; its ends are levels."""
    check_number("mass", mass, 0.0, 1.0, low_too=False, high_too=False)
    tail = (1.0 - mass) / 2.0
    low = _level_reaching(probability, tail + 2.0 * _SLACK)
    high = len(levels) - 1 - _level_reaching(probability[:, ::-1], tail + 2.0 * _SLACK)
    return np.asarray(levels[low]), np.asarray(levels[np.maximum(high, low)])


def at_least(probability: Floats, levels: Floats, threshold: float) -> Floats:
    """The probability of a level at or above the threshold."""
    return np.asarray(probability[:, levels >= threshold - _SLACK].sum(axis=1))


def certain(value: float, levels: Floats) -> Floats:
    """The distribution (L,) with this mean on the one or two levels next to it.

    >>> certain(3.0, np.arange(1.0, 5.0)).tolist(), certain(1.25, np.arange(1.0, 4.0)).tolist()
    ([0.0, 0.0, 1.0, 0.0], [0.75, 0.25, 0.0])
    """
    place = float(np.interp(value, levels, np.arange(len(levels))))
    return np.asarray(np.maximum(1.0 - np.abs(np.arange(len(levels)) - place), 0.0))


def _expect(probability: Floats, values: Floats) -> Floats:
    """Level by level rather than by a matrix product, whose rounding depends on how many rows come together."""
    out = np.zeros(len(probability))
    for level, value in enumerate(values):
        out += probability[:, level] * value
    return out


def _level_reaching(probability: Floats, share: float) -> npt.NDArray[np.intp]:
    """The first level at which the cumulative probability is at least ``share``."""
    cumulative = np.cumsum(probability, axis=1)
    return np.asarray((cumulative < share - _SLACK).sum(axis=1).clip(max=probability.shape[1] - 1))
