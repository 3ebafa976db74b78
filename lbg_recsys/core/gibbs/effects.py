"""Gibbs draws of the biases and noise precisions of rows and columns.

The noise of entry (j, i) has precision row_weight[j] * col_weight[i].
"""

import math
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.arrays import Gamma, Residuals
from lbg_recsys.core.gibbs.components import Profiles
from lbg_recsys.core.gibbs.normal import draw_gamma
from lbg_recsys.core.gibbs.ridge import cross_product, predict, ridge_draw
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array


class Effects(NamedTuple):
    """The biases and noise weights of the rows or of the columns, (n,) float32 each; kernels redraw them in place."""

    bias: Array
    weight: Array


class EffectPrior(NamedTuple):
    """bias ~ N(expected, 1/tau), tau ~ ``of_tau`` and weight ~ ``of_weight`` a priori."""

    tau: float
    of_tau: Gamma
    of_weight: Gamma


@kernel(fastmath=FAST)
def draw_row_effects(
    rng: np.random.Generator, entries: Residuals, rows: Effects, prior: EffectPrior, col_weight: Array, stat: Array
) -> float:
    """Redraw each row's noise weight and bias, whose expected value is 0; returns the new tau of the biases.

    ``stat`` (3, columns) gets, per column, the sums of the row weights, of weight * res and of weight * res^2, for
    `draw_col_effects`.
    """
    ptr, col, res = entries
    bias, weight = rows
    tau, of_tau, of_weight = prior
    stat[:] = 0
    amount, first, second = stat[0], stat[1], stat[2]
    squares = 0.0
    for j in range(ptr.shape[0] - 1):
        a = s1 = s2 = np.float32(0.0)
        for e in range(ptr[j], ptr[j + 1]):
            r = res[e]
            v = col_weight[np.uint32(col[e])]  # unsigned: numba need not check for a negative index
            a += v
            s1 += v * r
            s2 += v * r * r
        w = draw_gamma(rng, of_weight.shape + 0.5 * (ptr[j + 1] - ptr[j])) / (of_weight.rate + 0.5 * s2)
        weight[j] = w
        precision = w * a + tau
        new = w * (s1 + a * bias[j]) / precision + rng.standard_normal() / math.sqrt(precision)
        step = np.float32(new - bias[j])
        bias[j] = new
        squares += new * new
        v = weight[j]
        for e in range(ptr[j], ptr[j + 1]):
            i = np.uint32(col[e])
            r = res[e] - step
            res[e] = r
            amount[i] += v
            first[i] += v * r
            second[i] += v * r * r
    return float(draw_gamma(rng, of_tau.shape + 0.5 * bias.shape[0]) / (of_tau.rate + 0.5 * squares))


@kernel(fastmath=FAST)
def _draw_col_effects(
    rng: np.random.Generator,
    entries: Residuals,
    cols: Effects,
    prior: EffectPrior,
    n_col: Array,
    expected: Array,
    stat: Array,
) -> float:
    _, col, res = entries
    bias, weight = cols
    tau, of_tau, of_weight = prior
    n = bias.shape[0]
    squares = 0.0
    step = np.empty(n, np.float32)
    for i in range(n):
        prior_mean = expected[i]
        w = draw_gamma(rng, of_weight.shape + 0.5 * n_col[i]) / (of_weight.rate + 0.5 * stat[2, i])
        weight[i] = w
        precision = w * stat[0, i] + tau
        mean = (w * (stat[1, i] + stat[0, i] * bias[i]) + tau * prior_mean) / precision
        new = mean + rng.standard_normal() / math.sqrt(precision)
        step[i] = new - bias[i]
        bias[i] = new
        squares += (new - prior_mean) * (new - prior_mean)
    for e in range(col.shape[0]):
        res[e] -= step[np.uint32(col[e])]
    return float(draw_gamma(rng, of_tau.shape + 0.5 * n) / (of_tau.rate + 0.5 * squares))


def draw_col_effects(
    rng: np.random.Generator,
    entries: Residuals,
    cols: Effects,
    prior: EffectPrior,
    profiles: Profiles,
    omega: Array,
    shrinkage: Array,
    stat: Array,
) -> float:
    """Redraw omega and each column's noise weight and bias; returns the new tau of the biases.

    The expected bias of column i is phi_i . omega, and ``shrinkage`` (D,) are the prior precisions of omega.
    ``stat`` (3, columns) comes from `draw_row_effects`.
    """
    phi, gram, _, n_col = profiles
    cross, expected = np.empty((1, len(phi))), np.empty(len(n_col), np.float32)
    cross_product(phi, cols.bias[np.newaxis], cross)
    ridge_draw(rng, gram, cross, prior.tau, shrinkage, omega[np.newaxis])
    predict(phi, omega, expected)
    return float(_draw_col_effects(rng, entries, cols, prior, n_col, expected, stat))


def draw_noise_rate(rng: np.random.Generator, weight: Array, shape: float, prior: Gamma) -> float:
    """The rate of weight ~ Gamma(shape, rate), itself ~ ``prior`` a priori."""
    total = weight.cumsum(dtype=np.float64)[-1]  # one by one: the bits of `sum` differ between processors
    return float(rng.standard_gamma(prior.shape + shape * len(weight)) / (prior.rate + total))


@kernel(fastmath=FAST)
def mean_square(res: Array) -> float:
    """The mean of res^2, in double precision."""
    total = 0.0
    for e in range(res.shape[0]):
        total += np.float64(res[e]) * np.float64(res[e])
    return float(total / max(res.shape[0], 1))


def ridge_biases(entries: SparseRows, ridge: float = 5.0, rounds: int = 10) -> tuple[Array, Array]:
    """Initial row and column biases, by alternating ridge regression."""
    rows, n_row = entries.row_of_entry(), entries.lengths
    n_col = entries.column_counts()
    row_bias, col_bias = np.zeros(len(entries)), np.zeros(entries.n_columns)
    for _ in range(rounds):
        row_bias = np.bincount(rows, entries.values - col_bias[entries.columns], minlength=len(row_bias)) / (
            n_row + ridge
        )
        col_bias = np.bincount(entries.columns, entries.values - row_bias[rows], minlength=len(col_bias)) / (
            n_col + ridge
        )
    return row_bias.astype(np.float32), col_bias.astype(np.float32)
