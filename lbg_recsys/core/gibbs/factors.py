"""Continuous factors for what the classes leave: a product a_j . b_i of R numbers of the row and of the column.

    a_j ~ N(m_j, 1 / precision),   m_j = line_0 + line_1 amount_j + sum over its entries of push_i / sqrt(n_j)

and the same for the columns with rows and columns exchanged. A push is what having an entry with a column says of the
factors of a row before the value of any entry is known: a low-rank map of the history, as the indicator profiles are
one by classes. One sweep draws each row's factors as a block, then the parameters of their expected values one
partner at a time: O(entries R^2 + (rows + columns) R^3).
"""

import math
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.gibbs.ridge import FAST, SHRINKAGE, cholesky
from lbg_recsys.core.types import Array

# The spread of all factors before the first sweep, and their first precisions.
_FIRST_SPREAD, _FIRST_PRECISION, _FIRST_PUSH_PRECISION = 0.1, 10.0, 100.0


class Partners(NamedTuple):
    """The entries of each row (or column): with which columns (rows), and where among the residuals they are."""

    indptr: Array  # (n + 1,) int64
    partner: Array  # (entries,) int32
    place: Array  # (entries,) int32


class Factors(NamedTuple):
    """The factors of all rows, or of all columns, and the parameters of their prior; kernels redraw them in place."""

    value: Array  # (n, R) float32
    mean: Array  # (n, R) float32: the expected factors; follows from the fields below
    push: Array  # (partners, R) float32
    line: Array  # (2, R) float32
    precision: Array  # (R,) float32: of the factors around their expected values
    push_precision: Array  # (R,) float32: of the pushes around 0
    amount: Array  # (n,) float32: the logarithm of the number of entries, standardised

    @property
    def drawn(self) -> tuple[Array, ...]:
        """What a chain must hold on to: all that does not follow from the rest."""
        return self.value, self.push, self.line, self.precision, self.push_precision


def first_factors(rng: np.random.Generator, rank: int, n_partners: int, amount: Array) -> Factors:
    """Small random factors, of which nothing is expected."""
    n, zeros = len(amount), np.zeros
    value = (_FIRST_SPREAD * rng.standard_normal((n, rank))).astype(np.float32)
    return Factors(
        value,
        zeros((n, rank), np.float32),
        zeros((n_partners, rank), np.float32),
        zeros((2, rank), np.float32),
        np.full(rank, _FIRST_PRECISION, np.float32),
        np.full(rank, _FIRST_PUSH_PRECISION, np.float32),
        amount.astype(np.float32),
    )


@kernel(fastmath=FAST)
def add_product(factor: Array, others: Array, sign: float, res: Array) -> None:
    """res[e] += sign * factor . others[e]."""
    for e in range(res.shape[0]):
        product = np.float32(0.0)
        other = others[e]
        for r in range(factor.shape[0]):
            product += factor[r] * other[r]
        res[e] += np.float32(sign) * product


@kernel(fastmath=FAST)
def weighted_squares(others: Array, weight: Array, out: Array) -> None:
    """out = sum_e weight[e] others[e] others[e]', its lower triangle (R, R), four entries at a time."""
    n, rank = others.shape
    out[:] = 0
    for e in range(0, n - 3, 4):
        v0, v1, v2, v3 = others[e], others[e + 1], others[e + 2], others[e + 3]
        for r in range(rank):
            x0, x1 = weight[e] * v0[r], weight[e + 1] * v1[r]
            x2, x3 = weight[e + 2] * v2[r], weight[e + 3] * v3[r]
            line = out[r]
            for t in range(r + 1):
                line[t] += x0 * v0[t] + x1 * v1[t] + x2 * v2[t] + x3 * v3[t]
    for e in range(n - n % 4, n):
        v0 = others[e]
        for r in range(rank):
            x0 = weight[e] * v0[r]
            line = out[r]
            for t in range(r + 1):
                line[t] += x0 * v0[t]


class NearFactors(NamedTuple):
    """What the factors of one row with n entries depend on: those of its columns, and what is expected of them."""

    others: Array  # (n, R) float32
    weight: Array  # (n,) float32: noise precisions of the entries, without the factor of the row
    squares: Array  # (R, R) float32: their `weighted_squares`
    mean: Array  # (R,) float32: the expected factors of the row
    precision: Array  # (R,) float32


@kernel(fastmath=FAST)
def draw_factor(near: NearFactors, own_weight: float, noise: Array, res: Array, out: Array) -> None:
    """Redraw the factors ``out`` (R,) of one row by standard normal ``noise`` (R,); ``res`` (n,) follows.

    ``own_weight`` is the row's factor of the noise precisions.
    """
    others, weight, squares, mean, precision = near
    n, rank = others.shape
    first = np.zeros(rank, np.float32)
    add_product(out, others, 1.0, res)
    for e in range(n):
        left, other = weight[e] * res[e], others[e]
        for r in range(rank):
            first[r] += left * other[r]
    factor, x = np.empty((rank, rank)), np.empty(rank)
    for r in range(rank):
        for t in range(r + 1):
            factor[r, t] = own_weight * squares[r, t]
        factor[r, r] += precision[r]
        x[r] = own_weight * first[r] + precision[r] * mean[r]
    cholesky(factor)
    for r in range(rank):
        v = x[r]
        for t in range(r):
            v -= factor[r, t] * x[t]
        x[r] = v / factor[r, r]
    for r in range(rank):  # L'(x - mean) ~ N(0, I): noise joins between the two triangular solves
        x[r] += noise[r]
    for r in range(rank - 1, -1, -1):
        v = x[r] / factor[r, r]
        out[r] = v
        for t in range(r):
            x[t] -= factor[r, t] * v
    add_product(out, others, -1.0, res)


@kernel(fastmath=FAST)
def draw_factors(
    own: Factors, others: Array, entries: Partners, own_weight: Array, weight: Array, noise: Array, res: Array
) -> None:
    """Redraw the factors of all rows (or columns); ``res`` (entries,) follows.

    ``others`` (partners, R) are the factors of the columns (rows), ``weight`` (partners,) their noise weights, and
    ``noise`` (n, R) standard normal numbers.
    """
    ptr, partner, place = entries
    n, rank = own.value.shape
    longest = 0
    for j in range(n):
        longest = max(longest, ptr[j + 1] - ptr[j])
    near, squares = np.empty((longest, rank), np.float32), np.empty((rank, rank), np.float32)
    left, sharp = np.empty(longest, np.float32), np.empty(longest, np.float32)
    for j in range(n):
        first, length = ptr[j], ptr[j + 1] - ptr[j]
        for e in range(length):
            i = np.uint32(partner[first + e])  # unsigned: numba need not check for a negative index
            left[e] = res[np.uint32(place[first + e])]
            sharp[e] = weight[i]
            for r in range(rank):
                near[e, r] = others[i, r]
        weighted_squares(near[:length], sharp[:length], squares)
        given = NearFactors(near[:length], sharp[:length], squares, own.mean[j], own.precision)
        draw_factor(given, own_weight[j], noise[j], left[:length], own.value[j])
        for e in range(length):
            res[np.uint32(place[first + e])] = left[e]


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
def _draw_precision(rng: np.random.Generator, prior: Gamma, apart: Array, out: Array) -> None:
    """Redraw the precision of each column of ``apart`` (n, R) ~ N(0, 1/precision)."""
    n, rank = apart.shape
    for r in range(rank):
        squares = 0.0
        for j in range(n):
            squares += np.float64(apart[j, r]) * apart[j, r]
        out[r] = rng.standard_gamma(prior.shape + 0.5 * n) / (prior.rate + 0.5 * squares)


@kernel(fastmath=FAST)
def draw_expected_factors(
    rng: np.random.Generator, own: Factors, back: Partners, n_entries: Array, prior: Gamma, noise: Array
) -> None:
    """Redraw the line, the pushes and the precisions of factors, and compute the expected factors again.

    ``back`` are the entries of every partner, ``n_entries`` (n,) how many each row (column) has, ``noise``
    (partners + 2, R) standard normal numbers, ``prior`` that of the precisions.
    """
    n, rank = own.value.shape
    apart, root = np.empty((n, rank), np.float32), np.empty(n, np.float32)
    for j in range(n):
        root[j] = 1.0 / math.sqrt(max(n_entries[j], 1))
        for r in range(rank):
            apart[j, r] = own.value[j, r] - own.mean[j, r]
    _draw_line(own, apart, noise[:2])
    _draw_pushes(own, apart, back, root, noise[2:])
    _draw_precision(rng, prior, own.push, own.push_precision)
    _draw_precision(rng, prior, apart, own.precision)
    for j in range(n):
        for r in range(rank):
            own.mean[j, r] = own.value[j, r] - apart[j, r]
