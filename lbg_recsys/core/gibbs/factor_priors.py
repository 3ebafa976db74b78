"""The prior of continuous factors, given which entries exist: lines, pushes and precisions, and their draws.

See `lbg_recsys.core.gibbs.factors` for the model.
"""

import math

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.gibbs.factors import Factors, Partners
from lbg_recsys.core.gibbs.normal import draw_gamma
from lbg_recsys.core.gibbs.ridge import SHRINKAGE
from lbg_recsys.core.types import Array


@kernel(fastmath=FAST)
def expect_factors(own: Factors, entries: Partners) -> None:
    """Compute the expected factors from the line and the pushes."""
    ptr, partner, _ = entries
    n, rank = own.mean.shape
    for j in range(n):
        mean, root = own.mean[j], np.float32(1.0 / math.sqrt(max(ptr[j + 1] - ptr[j], 1)))
        mean[:] = 0
        for e in range(ptr[j], ptr[j + 1]):
            push = own.push[np.uint32(partner[e])]
            for r in range(rank):
                mean[r] += push[r]
        for r in range(rank):
            mean[r] = own.line[0, r] + own.line[1, r] * own.amount[j] + root * mean[r]


@kernel(fastmath=FAST)
def _draw_line(own: Factors, apart: Array, noise: Array) -> None:
    """Redraw the line of every factor, N(0, 1 / SHRINKAGE) a priori; ``apart`` (n, R), value less mean, follows."""
    n, rank = apart.shape
    amounts = squares = 0.0
    for j in range(n):
        amounts += own.amount[j]
        squares += np.float64(own.amount[j]) * own.amount[j]
    for r in range(rank):
        p, old, slope = np.float64(own.precision[r]), own.line[0, r], own.line[1, r]
        one = two = 0.0
        for j in range(n):
            x = np.float64(apart[j, r]) + old + slope * own.amount[j]
            one += x
            two += x * own.amount[j]
        a, b, c = SHRINKAGE + p * n, p * amounts, SHRINKAGE + p * squares
        det = a * c - b * b
        # the Cholesky factor of the precision [[a, b], [b, c]] is [[sa, 0], [b / sa, sd]]
        sa = math.sqrt(a)
        sd = math.sqrt(det / a)
        second = noise[1, r] / sd
        own.line[0, r] = p * (c * one - b * two) / det + (noise[0, r] - b / sa * second) / sa
        own.line[1, r] = p * (a * two - b * one) / det + second
        old, slope = own.line[0, r] - old, own.line[1, r] - slope
        for j in range(n):
            apart[j, r] -= old + slope * own.amount[j]


@kernel(fastmath=FAST)
def _draw_pushes(own: Factors, apart: Array, back: Partners, root: Array, noise: Array) -> None:
    """Redraw what each partner adds to the expected factors, one partner after another; ``apart`` follows.

    ``back`` are the entries of every partner, ``root`` (n,) is 1 / sqrt(number of entries).
    """
    ptr, rows, _ = back
    n_partners, rank = own.push.shape
    total = np.empty(rank, np.float32)
    for i in range(n_partners):
        amount = np.float32(0.0)
        total[:] = 0
        for e in range(ptr[i], ptr[i + 1]):
            j = np.uint32(rows[e])
            amount += root[j] * root[j]
            for r in range(rank):
                total[r] += root[j] * apart[j, r]
        for r in range(rank):
            sharp = own.push_precision[r] + own.precision[r] * amount
            centre = own.precision[r] * (total[r] + amount * own.push[i, r]) / sharp
            new = np.float32(centre + noise[i, r] / math.sqrt(sharp))
            total[r] = new - own.push[i, r]
            own.push[i, r] = new
        for e in range(ptr[i], ptr[i + 1]):
            j = np.uint32(rows[e])
            for r in range(rank):
                apart[j, r] -= root[j] * total[r]


@kernel(fastmath=FAST)
def _draw_precision(rng: np.random.Generator, prior: Gamma, apart: Array, squares: Array, out: Array) -> None:
    """Redraw the precision of each column of ``apart`` (n, R) ~ N(0, 1/precision).

    ``squares`` (m, R) are the squares of further numbers with this distribution.
    """
    n, rank = apart.shape
    for r in range(rank):
        total = 0.0
        for j in range(n):
            total += np.float64(apart[j, r]) * apart[j, r]
        for j in range(squares.shape[0]):
            total += squares[j, r]
        out[r] = draw_gamma(rng, prior.shape + 0.5 * (n + squares.shape[0])) / (prior.rate + 0.5 * total)


def draw_expected_factors(
    rng: np.random.Generator,
    own: Factors,
    back: Partners,
    n_entries: Array,
    prior: Gamma,
    noise: Array,
    squares: Array,
) -> None:
    """Redraw the line, the pushes and the precisions of factors, and compute the expected factors again.

    ``back`` are the entries of every partner, ``n_entries`` (n,) how many each row (column) has, ``noise``
    (partners + 2, R) standard normal numbers, ``prior`` that of the precisions, ``squares`` (E, R) those of the
    coefficients of features in units of the prior.
    """
    root = (1.0 / np.sqrt(np.maximum(n_entries, 1))).astype(np.float32)
    apart = own.value - own.mean
    _draw_line(own, apart, noise[:2])
    _draw_pushes(own, apart, back, root, noise[2:])
    _draw_precision(rng, prior, own.push, squares[:0], own.push_precision)
    _draw_precision(rng, prior, apart, squares, own.precision)
    own.mean[:] = own.value - apart
