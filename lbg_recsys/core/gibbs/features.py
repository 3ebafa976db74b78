"""Features of rows and columns, which are known besides the entries, as design matrices of regressions.

The features of a column are further entries of its phi. The features of a row are expected of its bias,
b_j ~ N(f_j . beta, 1/row_tau). Coefficients of features of the same group have the same prior, N(0, 1/kappa_g) with
kappa_g ~ Gamma: the precision of a group that does not help is drawn large, and its coefficients are then near zero.
"""

from dataclasses import dataclass

import numpy as np

from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.gibbs.ridge import cross_product, predict, ridge_draw
from lbg_recsys.core.types import Array

# The precision of coefficients before the first draw of it.
_FIRST_PRECISION = 10.0


@dataclass(frozen=True, eq=False)
class Design:
    """The features of rows or columns, centred: zeros stand for what is not known."""

    values: Array  # (n, E) float32
    groups: Array  # (E,) int64: the group of each feature, from 0

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.groups)

    def values_of(self, n: int) -> Array:
        """The features of all n rows or columns, (n, E), where a design without features has no rows."""
        return self.values if self.width else np.empty((n, 0), np.float32)


NO_FEATURES = Design(np.empty((0, 0), np.float32), np.empty(0, np.int64))


def draw_precisions(rng: np.random.Generator, coefficients: Array, groups: Array, prior: Gamma) -> Array:
    """Draw the precision of each group of coefficients (..., E) ~ N(0, 1/precision), as the precision of each, (E,).

    ``prior`` is that of the precision.
    """
    square = np.square(coefficients, dtype=np.float64).reshape(-1, len(groups))
    amount = len(square) * np.bincount(groups)
    precision = rng.standard_gamma(prior.shape + 0.5 * amount)
    precision /= prior.rate + 0.5 * np.bincount(groups, square.sum(axis=0))
    return np.asarray(precision[groups])


class RowFeatures:
    """The features of the rows, their coefficients ``beta`` (E,) and the prior precisions ``kappa`` of these (E,).

    Without features nothing is drawn, and the expected bias of every row is 0.
    """

    def __init__(self, design: Design) -> None:
        self.design = design
        self.beta = np.zeros(design.width, np.float32)
        self.kappa = np.full(design.width, _FIRST_PRECISION)
        self._columns = np.ascontiguousarray(design.values.T)
        self._gram = np.zeros((design.width, design.width))
        if design.width:
            cross_product(self._columns, self._columns, self._gram)

    def draw(self, rng: np.random.Generator, bias: Array, tau: float, prior: Gamma) -> Array:
        """Redraw ``beta`` given biases ~ N(expected, 1/tau), then ``kappa``; returns the expected biases, (rows,)."""
        expected = np.zeros(len(bias), np.float32)
        if not self.design.width:
            return expected
        cross = np.empty((1, self.design.width))
        cross_product(self._columns, bias[np.newaxis], cross)
        ridge_draw(rng, self._gram, cross, float(tau), self.kappa, self.beta[np.newaxis])
        self.kappa = draw_precisions(rng, self.beta, self.design.groups, prior)
        predict(self._columns, self.beta, expected)
        return expected
