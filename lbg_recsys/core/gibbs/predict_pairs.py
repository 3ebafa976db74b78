"""Predictions of kept sweeps for (user, item) pairs in any order; `predict_grid` predicts all items of some users.

`predict` is exact. `predict_closely` is several times as fast and as accurate as `predict_grid`: it chooses the
candidates of lists, which `predict` then orders.
"""

import math
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.draws import Draws, distinct, part, single
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.normal import normal_cdf, smooth_cdf
from lbg_recsys.core.interrupts import if_many
from lbg_recsys.core.types import Array

# The kinds of occasions come in this order: a user's day, a user's moment, and an item's month, the drift.
DRIFT = 2
_LEAST_NOISE = 0.01  # the least share of the noise that remains when the occasion is known, against rounding


class _Pairs(NamedTuple):
    """Row, column and owner of the cut points of every pair, (n,) each; they index the arrays of `_Sweeps`."""

    row: Array
    col: Array
    owner: Array
    when: Array  # (n, kinds) the occasions of every pair, -1 where they are unknown; (n, 0) without times


class _Sweeps(NamedTuple):
    """The parts of `Draws` that some pairs need, in precisions that kernels can read."""

    z: Array  # (S, rows, H) int8
    c: Array  # (S, columns, H, K) int8
    c_step: Array  # (S, H)
    row_factor: Array  # (S, rows, R) int8
    col_factor: Array  # (S, columns, R) int8
    product_step: Array  # (S, R)
    row_bias: Array  # (S, rows)
    col_bias: Array  # (S, columns)
    row_weight: Array  # (S, rows)
    col_weight: Array  # (S, columns)
    cuts: Array  # (S, owners, levels - 1)
    ordinal: Array  # (S,) bool
    shaping: Array  # (S,) bool
    occasion: Array  # (S, occasions)
    spread: Array  # (S, kinds): the variance of the effects of each kind that the weights of users include
    user_rows: bool


@kernel(fastmath=FAST)
def dot(one: Array, other: Array, step: Array) -> np.float32:
    """The product of factors in whole steps, (R,) int8 each; ``step`` (R,) is the unit of their products."""
    total = np.float32(0.0)
    for r in range(step.shape[0]):
        total += step[r] * np.float32(one[r]) * np.float32(other[r])
    return total


@kernel(fastmath=FAST)
def _add_sweeps(pairs: _Pairs, sweeps: _Sweeps, values: Array, probability: Array, mean: Array) -> None:
    """Add every sweep's expected value of each pair to ``mean``, and a shaping one's distribution to ``probability``.

    ``values`` (levels,) are the levels, ``probability`` is (pairs, levels), ``mean`` (pairs,).
    """
    row, col, owner, when = pairs
    z, c, c_step, row_factor, col_factor, product_step = sweeps[:6]
    row_bias, col_bias, row_weight, col_weight, cuts, ordinal, shaping, occasion, spread, user_rows = sweeps[6:]
    last = cuts.shape[2]
    for s in range(z.shape[0]):
        for e in range(row.shape[0]):
            j, i = row[e], col[e]
            m = np.float32(row_bias[s, j] + col_bias[s, i])
            for h in range(z.shape[2]):
                m += c_step[s, h] * c[s, i, h, z[s, j, h]]
            if product_step.shape[1]:
                m += dot(row_factor[s, j], col_factor[s, i], product_step[s])
            known = 0.0  # variance to subtract, because the effect of the occasion is known
            for g in range(when.shape[1]):
                if when[e, g] >= 0:
                    m += occasion[s, when[e, g]]
                    known += spread[s, g]
            if not ordinal[s]:
                mean[e] += m
            if not shaping[s]:
                continue
            root = math.sqrt(row_weight[s, j] * col_weight[s, i])
            if known > 0.0:
                known *= row_weight[s, j] if user_rows else col_weight[s, i]
                root /= math.sqrt(max(1.0 - known, _LEAST_NOISE))
            before = 0.0
            expected = 0.0
            for b in range(last + 1):
                upto = normal_cdf((cuts[s, owner[e], b] - m) * root) if b < last else 1.0
                probability[e, b] += upto - before
                expected += values[b] * (upto - before)
                before = upto
            if ordinal[s]:
                mean[e] += expected


@kernel(fastmath=FAST)
def _add_closely(pairs: _Pairs, sweeps: _Sweeps, below: Array, mean: Array) -> None:
    """Add P(level <= b) of shaping sweeps to ``below`` (b, pairs), and means of Gaussian ones to ``mean`` (pairs,).

    In single precision and without branches over pairs, so that the loops over these vectorise.
    """
    row, col, owner, _ = pairs
    z, c, c_step, row_factor, col_factor, product_step = sweeps[:6]
    row_bias, col_bias, row_weight, col_weight, cuts, ordinal, shaping, _, _, _ = sweeps[6:]
    n = row.shape[0]
    m, root = np.empty(n, np.float32), np.empty(n, np.float32)
    for s in range(z.shape[0]):
        for e in range(n):
            j, i = row[e], col[e]
            own, means = z[s, j], c[s, i]
            total = row_bias[s, j] + col_bias[s, i]
            for h in range(own.shape[0]):
                total += c_step[s, h] * np.float32(means[h, own[h]])
            if product_step.shape[1]:
                total += dot(row_factor[s, j], col_factor[s, i], product_step[s])
            m[e] = total
        if not ordinal[s]:
            for e in range(n):
                mean[e] += m[e]
        if shaping[s]:
            for e in range(n):
                root[e] = math.sqrt(row_weight[s, row[e]] * col_weight[s, col[e]])
            for b in range(below.shape[0]):
                line = below[b]
                for e in range(n):
                    line[e] += smooth_cdf((cuts[s, owner[e], b] - m[e]) * root[e])[0]


def predict(
    draws: Draws, users: Array, items: Array, side: Side, values: Array, when: Array | None = None
) -> tuple[Array, Array]:
    """Sums over kept sweeps of the level distributions (n, levels) and of the expected ratings (n,) of n pairs.

    Distributions are those of the `Draws.shaping` sweeps, ratings those of all. ``side`` are the rows of the draws.
    ``values`` are the levels, standardised as the chain's ratings were. The expected rating of a Gaussian sweep is
    the mean of its Gaussian, that of an ordinal sweep the mean of its distribution. ``when`` (n, kinds) are the
    occasions of the pairs, -1 where they are unknown.
    """
    probability = np.zeros((len(users), len(values)))
    mean = np.zeros(len(users))
    pairs, sweeps = _prepared(draws, users, items, side, when)
    if_many(len(users), _add_sweeps, pairs, sweeps, values, probability, mean)
    return probability, mean


def predict_closely(draws: Draws, users: Array, items: Array, side: Side, values: Array) -> tuple[Array, Array]:
    """What `predict` returns, to within 1e-6 per sweep."""
    below, mean = sums_closely(draws, users, items, side, values)
    return levels_from(draws, below), expected_from(draws, below, mean, values)


def sums_closely(draws: Draws, users: Array, items: Array, side: Side, values: Array) -> tuple[Array, Array]:
    """Sums of P(level <= b) over shaping sweeps (levels - 1, n), and of means of Gaussian ones (n,), of n pairs."""
    below = np.zeros((len(values) - 1, len(users)), np.float32)
    mean = np.zeros(len(users), np.float32)
    if_many(len(users), _add_closely, *_prepared(draws, users, items, side), below, mean)
    return below, mean


def levels_from(draws: Draws, below: Array) -> Array:
    """Sums of level distributions (..., levels) from those of P(level <= b) of shaping sweeps, (levels - 1, ...)."""
    probability = np.empty((*below.shape[1:], len(below) + 1))
    before = np.float64(0.0)
    for b in range(len(below)):
        upto = np.maximum(below[b], before)  # rounding may have put Phi slightly out of order
        probability[..., b] = upto - before
        before = upto
    probability[..., -1] = np.maximum(draws.shaping.sum() - before, 0.0)
    return probability


def expected_from(draws: Draws, below: Array, mean: Array, values: Array) -> Array:
    """Sums of expected values (...) from those of P(level <= b) and, of Gaussian sweeps, of their means (...)."""
    total = mean.astype(np.float64)
    if ordinal := draws.ordinal.sum():
        # the mean is the highest level less every gap between levels times the probability of a level below the gap
        total += ordinal * values[-1]
        for gap, upto in zip(np.diff(values), below, strict=True):
            total -= gap * upto
    return total


def _prepared(
    draws: Draws, users: Array, items: Array, side: Side, when: Array | None = None
) -> tuple[_Pairs, _Sweeps]:
    """The pairs, and the parts of the sweeps that they need: one pair must not need a pass over all sweeps."""
    rows, cols = side.rows_and_columns(users, items)
    known_rows, rows = distinct(np.where(rows < 0, draws.z.shape[1] - 1, rows))
    known_cols, cols = distinct(np.where(cols < 0, draws.c.shape[1] - 1, cols))
    cuts, owner = draws.cuts_of(users)
    if when is None:
        when = np.empty((len(users), 0), np.int64)
    met, place = np.unique(when[when >= 0], return_inverse=True)
    when = when.copy()
    when[when >= 0] = place
    spread = 1.0 / draws.occasion_tau
    spread[:, DRIFT:] = 0.0  # the weights of users do not include the drift of items
    sweeps = _Sweeps(
        part(draws.z, known_rows),
        part(draws.c, known_cols),
        draws.c_step,
        part(draws.row_factor, known_rows),
        part(draws.col_factor, known_cols),
        draws.product_step,
        single(draws.row_bias, known_rows),
        single(draws.col_bias, known_cols),
        single(draws.row_weight, known_rows),
        single(draws.col_weight, known_cols),
        cuts,
        draws.ordinal,
        draws.shaping,
        part(draws.occasion, met) * draws.occasion_step[:, np.newaxis],
        spread,
        side is Side.USERS,
    )
    return _Pairs(rows, cols, owner, when), sweeps
