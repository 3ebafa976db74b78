"""Gibbs draws of the biases and noise precisions of rows and columns.

The noise of entry (j, i) has precision row_weight[j] * col_weight[i].
"""

import math

import numpy as np
from numba import njit

from lbg_recsys.core.gibbs.ridge import FAST, cross_product, predict, ridge_draw
from lbg_recsys.core.types import Array


@njit(nogil=True, cache=True, fastmath=FAST)
def draw_row_effects(
    rng: np.random.Generator,
    ptr: Array,
    col: Array,
    res: Array,
    bias: Array,
    tau: float,
    spread: tuple[float, float],
    weight: Array,
    noise: tuple[float, float],
    col_weight: Array,
    stat: Array,
) -> float:
    """Redraw each row's noise precision and bias; returns the new precision of the biases.

    weight[j] ~ Gamma(*noise) a priori, bias[j] ~ N(0, 1/tau). ``stat`` (3, columns) gets, per column,
    the sums of the row weights, of weight * res and of weight * res^2, for `draw_col_effects`.
    """
    stat[:] = 0
    amount, first, second = stat
    squares = 0.0
    for j in range(ptr.shape[0] - 1):
        a = s1 = s2 = np.float32(0.0)
        for e in range(ptr[j], ptr[j + 1]):
            r = res[e]
            v = col_weight[np.uint32(col[e])]  # unsigned: a negative index would have to be looked for
            a += v
            s1 += v * r
            s2 += v * r * r
        w = rng.standard_gamma(noise[0] + 0.5 * (ptr[j + 1] - ptr[j])) / (noise[1] + 0.5 * s2)
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
    return float(rng.standard_gamma(spread[0] + 0.5 * bias.shape[0]) / (spread[1] + 0.5 * squares))


@njit(nogil=True, cache=True, fastmath=FAST)
def draw_col_effects(
    rng: np.random.Generator,
    col: Array,
    res: Array,
    bias: Array,
    tau: float,
    spread: tuple[float, float],
    weight: Array,
    noise: tuple[float, float],
    n_col: Array,
    phi: Array,
    gram: Array,
    omega: Array,
    stat: Array,
) -> float:
    """Redraw omega and each column's noise precision and bias; returns the new precision of the biases.

    weight[i] ~ Gamma(*noise) a priori, bias[i] ~ N(phi_i . omega, 1/tau).
    """
    n = bias.shape[0]
    cross = np.empty((1, phi.shape[0]))
    cross_product(phi, bias.reshape(1, n), cross)
    ridge_draw(rng, gram, cross, tau, omega.reshape(1, phi.shape[0]))
    squares = 0.0
    step = np.empty(n, np.float32)
    expected = np.empty(n, np.float32)
    predict(phi, omega, expected)
    for i in range(n):
        prior = expected[i]
        w = rng.standard_gamma(noise[0] + 0.5 * n_col[i]) / (noise[1] + 0.5 * stat[2, i])
        weight[i] = w
        precision = w * stat[0, i] + tau
        mean = (w * (stat[1, i] + stat[0, i] * bias[i]) + tau * prior) / precision
        new = mean + rng.standard_normal() / math.sqrt(precision)
        step[i] = new - bias[i]
        bias[i] = new
        squares += (new - prior) * (new - prior)
    for e in range(col.shape[0]):
        res[e] -= step[np.uint32(col[e])]
    return float(rng.standard_gamma(spread[0] + 0.5 * n) / (spread[1] + 0.5 * squares))


@njit(nogil=True, cache=True)
def draw_noise_rate(rng: np.random.Generator, weight: Array, shape: float, spread: tuple[float, float]) -> float:
    """The rate of weight ~ Gamma(shape, rate), itself ~ Gamma(*spread) a priori."""
    total = 0.0
    for j in range(weight.shape[0]):
        total += weight[j]
    return float(rng.standard_gamma(spread[0] + shape * weight.shape[0]) / (spread[1] + total))


@njit(nogil=True, cache=True, fastmath=FAST)
def mean_square(res: Array) -> float:
    """The mean of res^2, in double precision."""
    total = 0.0
    for e in range(res.shape[0]):
        total += np.float64(res[e]) * np.float64(res[e])
    return float(total / max(res.shape[0], 1))
