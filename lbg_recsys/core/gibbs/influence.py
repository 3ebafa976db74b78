"""The effect of each entry of a row or column on an expected rating, given one kept sweep.

The effect of an entry is the expected value with it less the expected value without it, with all other rows and
columns fixed. For a column this has a closed form: its class means are Gaussian, and leaving out an entry is a change
of rank one. For a row, draws of its classes are reweighted to those without the entry.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.arrays import Intervals, Residuals, Weights
from lbg_recsys.core.gibbs.factors import NearFactors, add_product, weighted_squares
from lbg_recsys.core.gibbs.new_factors import redraw_factor
from lbg_recsys.core.gibbs.new_rows import ClassOdds, half_squares, redraw_classes
from lbg_recsys.core.gibbs.ordinal import draw_utilities
from lbg_recsys.core.types import Array

# The least prior precision, as a share of the information of the entries: with less, the sum of both is singular.
_FLATTEST = 1e-9
_NEWTON_STEPS, _SETTLED = 30, 1e-8
_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class EntryLikelihood:
    """The likelihood of n entries as a function of their means: of a value, or of an interval from low to high.

    ``precision`` (n,) is that of the noise. Entries of Gaussian sweeps have a ``value``, those of ordinal sweeps an
    interval from ``low`` to ``high``.
    """

    precision: Array
    value: Array | None = None
    low: Array | None = None
    high: Array | None = None

    def log(self, mean: Array) -> Array:
        """The log-likelihood of every entry, up to a constant each."""
        if self.value is not None:
            return np.asarray(-0.5 * self.precision * (self.value - mean) ** 2)
        return _log_interval(*self._ends(mean))

    def slopes(self, mean: Array) -> tuple[Array, Array]:
        """The first derivatives by the means, and the negative second ones."""
        if self.value is not None:
            return self.precision * (self.value - mean), self.precision
        low, high = self._ends(mean)
        inside = _log_interval(low, high)
        at_low, at_high = np.exp(_log_density(low) - inside), np.exp(_log_density(high) - inside)
        score = at_low - at_high
        # an end at infinity has no density
        bend = np.where(np.isfinite(high), high, 0.0) * at_high - np.where(np.isfinite(low), low, 0.0) * at_low
        return np.sqrt(self.precision) * score, self.precision * np.clip(score**2 + bend, 0.0, 1.0)

    def _ends(self, mean: Array) -> tuple[Array, Array]:
        root = np.sqrt(self.precision)
        return (self.low - mean) * root, (self.high - mean) * root


def _log_density(x: Array) -> Array:
    return -0.5 * x**2 - _LOG_ROOT_TWO_PI


def _log_interval(low: Array, high: Array) -> Array:
    """log(Phi(high) - Phi(low)), accurate in both tails: the upper one is mirrored to the lower."""
    mirrored = low > 0.0
    near, far = np.where(mirrored, -low, high), np.where(mirrored, -high, low)
    top = log_ndtr(near)
    return np.asarray(top + np.log(np.maximum(-np.expm1(log_ndtr(far) - top), 1e-300)))


@dataclass(frozen=True)
class Expectation:
    """The expected value of an entry as a function of its mean: the mean, or with ``cuts`` that of its levels."""

    precision: float
    cuts: Array | None
    values: Array

    def of(self, mean: Array) -> Array:
        """The expected value at some means."""
        if self.cuts is None:
            return mean
        above = np.exp(log_ndtr((mean[..., None] - self.cuts) * math.sqrt(self.precision)))
        return np.asarray(self.values[0] + above @ np.diff(self.values))

    def slope(self, mean: float, variance: float) -> float:
        """Its derivative by the mean of a Gaussian ``mean``."""
        if self.cuts is None:
            return 1.0
        spread = math.sqrt(1.0 / self.precision + variance)
        return float(np.exp(_log_density((mean - self.cuts) / spread)) @ np.diff(self.values) / spread)


# -- columns ---------------------------------------------------------------------------------------------------------


def column_influence(
    design: Array,
    target: Array,
    offset: float,
    likelihood: EntryLikelihood,
    expectation: Expectation,
    prior_mean: Array,
    prior_precision: Array,
    moved: Array,
) -> tuple[Array, Array]:
    """The effects of n entries of a column on the expected value of another: of their presence, and of their values.

    The entries' means are ``design`` (n, D) times the column's parameters, that of the other ``target`` (D,) times
    them plus ``offset``. A priori the parameters are independent Gaussians; ``moved`` (n, D) is what each entry adds
    to their prior mean by being there. Exact for a Gaussian likelihood; an ordinal one is taken as the Gaussian that
    touches it at the posterior mode.
    """
    centre, covariance, score, information = _posterior(design, likelihood, prior_mean, prior_precision)
    spread = design @ covariance
    reach = spread @ target
    # without an entry its mean varies at most as it does a priori, which bounds 1 - leverage against rounding
    least = 1.0 / (1.0 + information * (design**2 @ (1.0 / prior_precision)))
    left = np.maximum(1.0 - information * np.einsum("nd,nd->n", spread, design), least)
    valued = reach * score / left
    # the change of the prior applies to the posterior without the entry
    pulled = moved * prior_precision
    given = pulled @ covariance @ target + information * reach * np.einsum("nd,nd->n", spread, pulled) / left
    slope = expectation.slope(float(target @ centre) + offset, float(target @ covariance @ target))
    # a linear change is not valid beyond the ends of the scale
    width = expectation.values[-1] - expectation.values[0]
    return np.clip(slope * given, -width, width), np.clip(slope * valued, -width, width)


def _posterior(design: Array, likelihood: EntryLikelihood, mean: Array, precision: Array) -> tuple[Array, ...]:
    """The mode and covariance of a column's parameters, and there the entries' scores and information."""
    centre = mean
    for _ in range(_NEWTON_STEPS):
        score, information = likelihood.slopes(design @ centre)
        squares = (design * information[:, None]).T @ design
        flattest = _FLATTEST * max(squares.diagonal().max(initial=0.0), 1e-30)
        covariance = np.linalg.inv(squares + np.diag(np.maximum(precision, flattest)))
        step = covariance @ (design.T @ score + precision * (mean - centre))
        centre = centre + step
        if np.abs(step).max() <= _SETTLED:
            break
    return centre, covariance, *likelihood.slopes(design @ centre)


# -- rows ------------------------------------------------------------------------------------------------------------


class RowGiven(NamedTuple):
    """What the classes, the factors and the bias of a row with n entries depend on, in one kept sweep."""

    value: Array  # (n,) float64, standardised
    level: Array  # (n,) int16
    mean: Array  # (H, K, n) float32: the class means in the columns of the entries
    fixed: Array  # (H, K): log-odds of the classes, without the values of the entries
    col_bias: Array  # (n,) float32
    precision: Array  # (n,) float32: noise precisions of the entries
    tau: float  # precision of the row's bias
    cuts: Array  # (levels + 1,) float64: the cut points of the row's user
    ordinal: bool
    others: Array  # (n, R) float32: the factors of the columns of the entries
    factor_mean: Array  # (R,) float32: what is expected of the row's factors
    factor_precision: Array  # (R,) float32


class RowSample(NamedTuple):
    """Draws of a row, and the means of its n entries under each."""

    classes: Array  # (draws, H)
    factors: Array  # (draws, R)
    biases: Array  # (draws,)
    fitted: Array  # (draws, n)


@kernel(fastmath=FAST)
def sample_row(
    rng: np.random.Generator, given: RowGiven, z: Array, bias: float, skipped: int, out: RowSample
) -> None:
    """Draw the classes, the factors and the bias of one row many times, into ``out``.

    The first state are the classes ``z`` (H,) and ``bias``; ``skipped`` draws are made before the first that is used.
    """
    value, level, mean, fixed, col_bias, precision, tau, cuts, ordinal, others, factor_mean, factor_precision = given
    n_components, k, n = mean.shape
    ptr, entry, one = np.zeros(2, np.int64), np.empty(n, np.int32), np.ones(1, np.float32)
    owner, added = np.zeros(n, np.int32), np.zeros((cuts.shape[0], 1), np.float32)
    utility, res = np.empty(n, np.float32), np.empty(n, np.float32)
    halves = np.empty((n_components, k))
    half_squares(mean, precision, halves)
    ptr[1] = n
    for e in range(n):
        entry[e] = e
        utility[e] = value[e]
        res[e] = utility[e] - col_bias[e] - np.float32(bias)
    for h in range(n_components):
        for e in range(n):
            res[e] -= mean[h, z[h], e]
    squares, factor = np.empty((others.shape[1], others.shape[1]), np.float32), factor_mean.copy()
    weighted_squares(others, precision, squares)
    add_product(factor, others, -1.0, res)
    near = NearFactors(others, precision, squares, factor_mean, factor_precision)
    amount = np.float64(tau)
    for e in range(n):
        amount += precision[e]
    entries, intervals = Residuals(ptr, entry, res), Intervals(level, owner, cuts, added)
    odds, weights = ClassOdds(mean, halves, fixed, precision), Weights(one, precision)
    for r in range(-skipped, out.classes.shape[0]):
        if ordinal:
            draw_utilities(rng, entries, intervals, weights, utility)
        redraw_factor(rng, near, 1.0, factor, res)
        redraw_classes(rng, odds, 1.0, z, res)
        total = 0.0
        for e in range(n):
            total += precision[e] * (res[e] + bias)
        new = total / amount + rng.standard_normal() / math.sqrt(amount)
        for e in range(n):
            res[e] -= np.float32(new - bias)
        bias = new
        if r >= 0:
            for h in range(n_components):
                out.classes[r, h] = z[h]
            for t in range(factor.shape[0]):  # assigning the array would compile numba's messages about its shape
                out.factors[r, t] = factor[t]
            out.biases[r] = bias
            for e in range(n):
                out.fitted[r, e] = utility[e] - res[e]


def lost_without(expected: Array, log_likelihood: Array) -> Array:
    """The decrease of an expected value when an entry is left out, (n,), from draws with all entries.

    Two independent runs of R draws have the values ``expected`` (2, R) and the entries' likelihoods (2, R, n). Draws
    without an entry are those with it, each weighted by 1 / its likelihood: the loss is
    -Cov(expected, weight) / E(weight). No weight is more than sqrt(2 R) times the average one.
    """
    weight = np.exp(log_likelihood.min(axis=(0, 1)) - log_likelihood)
    weight = np.minimum(weight, weight.mean(axis=(0, 1)) * math.sqrt(expected.size))
    return np.asarray(-cross_covariance(expected, weight) / weight.mean(axis=(0, 1)))


def cross_covariance(one: Array, other: Array) -> Array:
    """The covariance of (2, R) with (2, R, ...), from two independent runs of R draws that depend on each other.

    Products of means take one from each run: within a run they would be as alike as its draws, and the covariance
    too small.
    """
    product = np.tensordot(one, other, 2) / one.size
    means, others = one.mean(axis=1), other.mean(axis=1)
    return np.asarray(product - 0.5 * (means[0] * others[1] + means[1] * others[0]))
