"""Features of rows and columns, which are known besides the entries, as design matrices of regressions.

The features of a column are further entries of its phi. The features of a row predict its bias,
b_j ~ N(f_j . beta, 1/row_tau), and those of rows and columns predict their factors in the same way.
Coefficients of features of the same group have the same prior, N(0, 1/kappa_g) with kappa_g ~ Gamma: the precision of
a group that does not help is drawn large, and its coefficients are then near zero.
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
    """The features of rows or columns, centred; a missing value is 0."""

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


class Regressions:
    """Regressions of several targets on the same features.

    Target t of row j ~ N(f_j . beta_t, 1/tau_t), with the coefficients ``beta`` (T, E) ~ N(0, 1 / (kappa tau_t)) and
    their relative prior precisions ``kappa`` (E,): targets of any scale have the same share of noise. Without
    features nothing is drawn, and everything expected is 0.
    """

    def __init__(self, design: Design, n_targets: int) -> None:
        self.design = design
        self.beta = np.zeros((n_targets, design.width), np.float32)
        self.kappa = np.full(design.width, _FIRST_PRECISION)
        self._columns = np.ascontiguousarray(design.values.T)
        self._gram = np.zeros((design.width, design.width))
        if design.width:
            cross_product(self._columns, self._columns, self._gram)

    @property
    def squares(self) -> Array:
        """kappa beta^2, (E, T): a priori squares of numbers with the precision tau of the target."""
        return np.ascontiguousarray((np.square(self.beta, dtype=np.float64) * self.kappa).T)

    def prior_with_coefficients(self, prior: Gamma) -> Gamma:
        """The distribution of tau given the coefficients of one target, ``prior`` being that without them."""
        return Gamma(prior.shape + 0.5 * self.design.width, prior.rate + 0.5 * float(self.squares.sum()))

    def expected(self, n: int) -> Array:
        """The expected targets of all n rows, (T, n)."""
        out = np.zeros((len(self.beta), n), np.float32)
        if self.design.width:
            for own, one in zip(self.beta, out, strict=True):
                predict(self._columns, own, one)
        return out

    def draw(self, rng: np.random.Generator, targets: Array, tau: Array, prior: Gamma) -> Array:
        """Redraw ``beta`` given targets (T, n) with precisions ``tau`` (T,), then ``kappa``; returns `expected`."""
        if self.design.width and len(targets):
            cross = np.empty((len(targets), self.design.width))
            cross_product(self._columns, targets, cross)
            for t, precision in enumerate(tau):
                own = slice(t, t + 1)
                ridge_draw(rng, self._gram, cross[own], float(precision), self.kappa * precision, self.beta[own])
            relative = self.beta * np.sqrt(tau)[:, np.newaxis]
            self.kappa = draw_precisions(rng, relative, self.design.groups, prior)
        return self.expected(targets.shape[1])
