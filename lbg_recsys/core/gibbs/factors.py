"""Continuous factors for what the classes do not explain: products a_j . b_i of R numbers per row and column.

    a_j ~ N(m_j, 1 / precision),   m_j = line_0 + line_1 amount_j + sum over its entries of push_i / sqrt(n_j)

and the same for the columns with rows and columns exchanged. A push is what an entry with a column adds to the
expected factors of a row, whatever its value: a low-rank map of the history, as the indicator profiles are a map by
classes. One sweep draws each row's factors as a block, then the parameters of their expected values one partner at a
time (`lbg_recsys.core.gibbs.factor_priors`): O(entries R^2 + (rows + columns) R^3).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from lbg_recsys.core.cholesky import cholesky
from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.vectors import LANES, TILE, add_line, add_squares, subtract_products
from lbg_recsys.core.types import Array

# The spread of all factors before the first sweep, and their first precisions.
_FIRST_SPREAD, _FIRST_PRECISION, _FIRST_PUSH_PRECISION = 0.1, 10.0, 100.0
# Of single precision, in sums of millions of squares.
_ROUNDING = 4e-6


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
        """What a chain must keep: all that does not follow from the rest."""
        return self.value, self.push, self.line, self.precision, self.push_precision


def first_factors(rng: np.random.Generator, rank: int, n_partners: int, amount: Array) -> Factors:
    """Small random factors with expected values of 0."""
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
def _scaled(table: Array, weight: Array) -> Array:
    """The lines of a table (n, R) times the roots of weights (n,), followed by zeros up to a multiple of `TILE`."""
    n, rank = table.shape
    out = np.zeros((n, (rank + TILE - 1) // TILE * TILE), np.float32)
    for i in range(n):
        root = math.sqrt(weight[i])
        for r in range(rank):
            out[i, r] = root * table[i, r]
    return out


@kernel()
def fill_squares(near: Array, at: Array, out: Array) -> None:
    """out[r, t] = sum_e near[at[e], r] near[at[e], t] for t <= r, and for some t above; both are `_scaled` wide."""
    for row in range(0, out.shape[0], TILE):
        for column in range(0, row + 1, TILE):
            add_squares(near, at, near, at, out, row, column)


@kernel()
def weighted_squares(others: Array, weight: Array, out: Array) -> None:
    """The lower triangle of out = sum_e weight[e] others[e] others[e]', (R, R)."""
    n, rank = others.shape
    near = _scaled(others, weight)
    squares, each = np.empty((near.shape[1], near.shape[1]), np.float32), np.empty(n, np.int32)
    for e in range(n):
        each[e] = e
    fill_squares(near, each, squares)
    for r in range(rank):
        for t in range(r + 1):
            out[r, t] = squares[r, t]


class NearFactors(NamedTuple):
    """What the factors of one row with n entries depend on: those of its columns, and what is expected of them."""

    others: Array  # (n, R) float32
    weight: Array  # (n,) float32: noise precisions of the entries, without the factor of the row
    squares: Array  # (R, R) float32: their `weighted_squares`
    mean: Array  # (R,) float32: the expected factors of the row
    precision: Array  # (R,) float32


@kernel(inline="always")
def rounding_of(own_weight: float, squares: Array, rank: int) -> float:
    """A safe upper bound of the rounding error in the precision of factors, from sums of squares.

    It is far below the precision of the prior unless the noise weight of a row is around a million. Then the prior
    is given this precision instead: otherwise the sum of both might not be positive definite.
    """
    trace = np.float64(0.0)
    for r in range(rank):
        trace += squares[r, r]
    return own_weight * trace * _ROUNDING


@kernel(fastmath=FAST)
def draw_factor(near: NearFactors, own_weight: float, noise: Array, res: Array, out: Array) -> None:
    """Redraw the factors ``out`` (R,) of one row by standard normal ``noise`` (R,); ``res`` (n,) follows.

    ``own_weight`` is the row's factor of the noise precisions.
    """
    others, weight, squares, mean, precision = near
    n, rank = others.shape
    blur = rounding_of(own_weight, squares, rank)
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
        factor[r, r] += max(precision[r], blur)
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
def factorise(a: Array, rank: int) -> None:
    """Factorise LANES precisions P = LL' of R numbers together, and compute L^-1 b.

    ``a`` ((R + 1) R + 1, LANES) has in each lane the lower triangle of P line by line, b, and a one. It is
    overwritten by L, with the inverse of its diagonal in place of this, and by L^-1 b.
    """
    ones = rank * rank + rank
    for i in range(rank + 1):  # b is one more line of the factor
        for j in range(min(i, rank)):
            subtract_products(a, i * rank + j, i * rank, 1, j * rank, 1, j, j * rank + j)
        if i < rank:
            diagonal = i * rank + i
            subtract_products(a, diagonal, i * rank, 1, i * rank, 1, i, ones)
            for lane in range(LANES):
                a[diagonal, lane] = 1.0 / math.sqrt(a[diagonal, lane])


@kernel(fastmath=FAST)
def solve(a: Array, out: Array) -> None:
    """out = L'^-1 y, (LANES, R), with L and y as `factorise` left them; y is overwritten."""
    rank = out.shape[1]
    y = rank * rank
    for r in range(rank - 1, -1, -1):
        subtract_products(a, y + r, (r + 1) * rank + r, rank, y + r + 1, 1, rank - 1 - r, r * rank + r)
        for lane in range(LANES):
            out[lane, r] = a[y + r, lane]


@kernel(fastmath=FAST)
def _ask_for(own: Factors, j: int, own_weight: float, squares: Array, pull: Array, lane: int, a: Array) -> None:
    """Write precision and linear term of the factors of row j into a lane of ``a``, as `factorise` takes them.

    ``squares`` and ``pull`` (1, R) are the sums over its entries of weight x x' and weight x res, x being the factors
    of the partner. What the current factors explain is not in the residuals: squares . value is added.
    """
    rank, b = own.value.shape[1], own.value.shape[1] ** 2
    blur = rounding_of(own_weight, squares, rank)
    value, linear = own.value[j], pull[0]
    for r in range(rank):
        line, total = squares[r], squares[r, r] * value[r]
        for t in range(r):
            total += line[t] * value[t]
            linear[t] += line[t] * value[r]
        linear[r] += total
        for t in range(r + 1):
            a[r * rank + t, lane] = own_weight * line[t]
        a[r * rank + r, lane] += max(own.precision[r], blur)
    for r in range(rank):
        a[b + r, lane] = own_weight * linear[r] + own.precision[r] * own.mean[j, r]


class Near(NamedTuple):
    """What the factors of rows depend on, and memory to sum it up in."""

    entries: Partners
    others: Array  # (partners, width) float32: the `_scaled` factors of the columns
    root: Array  # (partners,) float32: the roots of their noise weights
    own_weight: Array  # (n,) float32: the noise weights of the rows
    left: Array  # (longest, 1) float32
    each: Array  # (longest,) int32: 0, 1, ...
    squares: Array  # (width, width) float32
    pull: Array  # (1, width) float32


def _near(entries: Partners, others: Array, own_weight: Array, weight: Array) -> Near:
    """Not compiled: all of it is done once per sweep."""
    root = np.sqrt(weight)
    n, rank = others.shape
    width = -(-rank // TILE) * TILE
    scaled = np.zeros((n, width), np.float32)
    scaled[:, :rank] = root[:, np.newaxis] * others
    longest = int(np.diff(entries.indptr).max(initial=0))
    return Near(
        entries,
        scaled,
        root,
        own_weight,
        np.empty((longest, 1), np.float32),
        np.arange(longest, dtype=np.int32),
        np.empty((width, width), np.float32),
        np.empty((1, width), np.float32),
    )


@kernel(fastmath=FAST)
def factorise_rows(own: Factors, near: Near, res: Array, first: int, a: Array) -> Any:
    """`factorise` what the factors of the next LANES rows are drawn from; the number of these rows."""
    ptr, partner, place = near.entries
    some = min(LANES, own.value.shape[0] - first)
    for lane in range(some):  # the results of the other lanes are never read
        j = first + lane
        at, where = partner[ptr[j] : ptr[j + 1]], place[ptr[j] : ptr[j + 1]]
        for e in range(at.shape[0]):  # unsigned: numba need not check for negative indices
            near.left[e, 0] = near.root[np.uint32(at[e])] * res[np.uint32(where[e])]
        fill_squares(near.others, at, near.squares)
        for column in range(0, near.pull.shape[1], TILE):
            add_line(near.left, near.each, near.others, at, near.pull, 0, column)
        _ask_for(own, j, near.own_weight[j], near.squares, near.pull, lane, a)
    factorise(a, own.value.shape[1])
    return some


class Conditional(NamedTuple):
    """The means that factors are drawn from, and how far they would be drawn from these; (0, R) if they are drawn."""

    mean: Array  # (n, R) float32
    apart: Array  # (n, R) float32


@kernel(fastmath=FAST)
def solve_rows(
    own: Factors, others: Array, near: Near, noise: Array, res: Array, begin: int, end: int, out: Conditional
) -> None:
    """The loop of `draw_factors` and of `conditional_factors`: most of it is the same."""
    ptr, partner, place = near.entries
    rank = own.value.shape[1]
    a, drawn = np.ones((rank * (rank + 1) + 1, LANES)), np.empty((LANES, rank), np.float32)
    change = np.empty(rank, np.float32)
    reading = out.mean.shape[0] > 0
    for first in range(begin, end, LANES):
        some = factorise_rows(own, near, res, first, a)
        if reading:
            solve(a, drawn)
        for lane in range(some):  # L'(x - mean) ~ N(0, I): noise joins between the two triangular solves
            for r in range(rank):
                if reading:
                    out.mean[first + lane, r] = drawn[lane, r]
                    a[rank * rank + r, lane] = noise[first + lane, r]
                else:
                    a[rank * rank + r, lane] += noise[first + lane, r]
        solve(a, drawn)
        for lane in range(some):
            j = first + lane
            if reading:
                for r in range(rank):
                    out.apart[j, r] = drawn[lane, r]
                continue
            for r in range(rank):
                change[r] = drawn[lane, r] - own.value[j, r]
                own.value[j, r] = drawn[lane, r]
            for e in range(ptr[j], ptr[j + 1]):
                other = others[np.uint32(partner[e])]
                product = np.float32(0.0)
                for r in range(rank):
                    product += change[r] * other[r]
                res[np.uint32(place[e])] -= product


def draw_factors(
    own: Factors,
    others: Array,
    entries: Partners,
    own_weight: Array,
    weight: Array,
    noise: Array,
    res: Array,
    begin: int,
    end: int,
) -> None:
    """Redraw the factors of the rows (or columns) from ``begin`` to ``end``; ``res`` (entries,) follows.

    ``others`` (partners, R) are the factors of the columns (rows), ``weight`` (partners,) their noise weights, and
    ``noise`` (n, R) standard normal numbers. Given the columns, rows do not depend on each other: LANES of them are
    drawn together, and threads may draw different ones. Both ends are multiples of LANES or the last row's.
    """
    nothing = np.empty((0, own.value.shape[1]), np.float32)
    near = _near(entries, others, own_weight, weight)
    solve_rows(own, others, near, noise, res, begin, end, Conditional(nothing, nothing))


def conditional_factors(
    own: Factors, others: Array, entries: Partners, own_weight: Array, weight: Array, noise: Array, res: Array
) -> Conditional:
    """The means of what `draw_factors` draws from, and how far it would draw from them."""
    out = Conditional(np.empty_like(own.value), np.empty_like(own.value))
    near = _near(entries, others, own_weight, weight)
    solve_rows(own, others, near, noise, res, 0, len(own.value), out)
    return out
