"""The probability that the next rating is of an item without ratings: Good and Turing's estimate, by a regression.

The probability that the next rating is of an item without ratings is about the share of ratings that are the only
ones of their items (Good and Turing). One user has few such ratings, so their number is regressed on how often the
items that the user rates are rated at all:

    n1_u ~ Poisson(n_u exp(a + b x_u)),   b ~ N(0, 10)

n1_u of the n_u ratings of user u are the only ones of their items, and x_u is the mean of log(ratings of the item).
The same holds with the sides exchanged.
"""

from typing import NamedTuple

import numpy as np

from lbg_recsys.core.types import Floats

_PRECISION = 0.1  # of b
_STEPS, _LONGEST = 100, 1.0
_NEVER = -50.0
_HALF = 0.5  # a rating: shares are never 0


class MissedShare(NamedTuple):
    """The share exp(a + b (x - centre)), at most 1."""

    a: float
    b: float
    centre: float

    def of(self, x: Floats) -> Floats:
        """The probability that the next rating is of a missed item, for each mean logarithm ``x``."""
        return np.asarray(np.exp(np.minimum(self.a + self.b * (x - self.centre), 0.0)))


def missed_share(only: Floats, amount: Floats, x: Floats) -> MissedShare:
    """Fit the regression above by Newton's method to the ``only`` ones of an ``amount`` of ratings, (n,) each.

    >>> popular, obscure = np.repeat([4.0, 1.0], 50), np.repeat([0.0, 5.0], 50)
    >>> share = missed_share(obscure, np.full(100, 50.0), popular)
    >>> share.of(np.array([4.0, 1.0])).round(2)
    array([0. , 0.1])
    """
    if not amount.sum():  # a model without its users has no ratings to learn from: the share of missed items is 0
        return MissedShare(_NEVER, 0.0, 0.0)
    centre = float(np.average(x, weights=amount))
    x = x - centre
    a, b = float(np.log((only.sum() + _HALF) / (amount.sum() + 1.0))), 0.0
    for _ in range(_STEPS):
        expected = amount * np.exp(np.minimum(a + b * x, 0.0))
        off = only - expected
        gradient = np.array([off.sum() + _HALF - np.exp(min(a, 0.0)), (off * x).sum() - _PRECISION * b])
        cross = (expected * x).sum()
        curvature = [[expected.sum() + np.exp(min(a, 0.0)), cross], [cross, (expected * x * x).sum() + _PRECISION]]
        step = np.clip(np.linalg.solve(curvature, gradient), -_LONGEST, _LONGEST)
        a, b = a + float(step[0]), b + float(step[1])
        if np.abs(step).max() < 1e-9:
            break
    return MissedShare(a, b, centre)
