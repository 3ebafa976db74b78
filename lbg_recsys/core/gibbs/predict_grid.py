"""Predictions of kept sweeps for all pairs of some users and items, as lists of items need them.

`predict_pairs` takes pairs in any order. For all pairs of some users and items the means of a sweep are one matrix
product, the rows' classes times the columns' means, which is much faster. The bits of such a product depend on its
shape and on the number of threads: they are good enough to choose candidates for a list, not to order them.
"""

from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.draws import Draws, part, single
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.normal import smooth_cdf
from lbg_recsys.core.gibbs.predict_pairs import expected_from, levels_from, sums_closely
from lbg_recsys.core.types import Array


def class_sums(z: Array, table: Array) -> Array:
    """sum_h table[i, h, z[j, h]] of all rows j (rows, H) and columns i (columns, H, K): (rows, columns)."""
    chosen = (z[:, :, np.newaxis] == np.arange(table.shape[2])).reshape(len(z), -1)
    return np.asarray(chosen.astype(table.dtype) @ table.reshape(len(table), -1).T)


@kernel(fastmath=FAST)
def _add(what: Array, total: Array) -> None:
    for i in range(total.shape[0]):
        total[i] += what[i]


@kernel(fastmath=FAST)
def _add_biases(own: float, others: Array, m: Array) -> None:
    for i in range(m.shape[0]):
        m[i] += own + others[i]


@kernel(fastmath=FAST)
def _standardise(own: float, others: Array, m: Array, root: Array) -> None:
    """root = own * others, and m in units of 1 / root."""
    for i in range(m.shape[0]):
        root[i] = own * others[i]
        m[i] *= root[i]


@kernel(fastmath=FAST)
def _add_phi(cut: Array, standard: Array, root: Array, total: Array) -> None:
    """total += Phi(cut root - standard)."""
    for i in range(total.shape[0]):
        total[i] += smooth_cdf(cut[i] * root[i] - standard[i])[0]


class _Sweeps(NamedTuple):
    """The parts of `Draws` that some rows and columns need; a ``root`` is the square root of a weight."""

    z: Array  # (S, rows, H) int8
    c: Array  # (S, columns, H, K) int8
    c_step: Array  # (S, H)
    row_factor: Array  # (S, rows, R) int8
    col_factor: Array  # (S, columns, R) int8
    product_step: Array  # (S, R)
    row_bias: Array  # (S, rows)
    row_root: Array  # (S, rows)
    col_bias: Array  # (S, columns)
    col_root: Array  # (S, columns)
    cuts: Array  # (S, levels - 1, users)
    ordinal: Array  # (S,) bool
    shaping: Array  # (S,) bool


@kernel(fastmath=FAST)
def _add_sweeps(sweeps: _Sweeps, user_rows: bool, below: Array, mean: Array) -> None:
    """Add P(level <= b) of shaping sweeps to ``below`` (b, rows, columns), and means of Gaussian ones to ``mean``.

    The users are the rows if ``user_rows``, the columns otherwise.
    """
    z, c, c_step, row_factor, col_factor, product_step = sweeps[:6]
    row_bias, row_root, col_bias, col_root, cuts, ordinal, shaping = sweeps[6:]
    kept, n_cols, n_components, k = c.shape
    n_rows, rank = z.shape[1], product_step.shape[1]
    means = np.empty((n_components * k + rank, n_cols), np.float32)
    chosen = np.empty((n_rows, n_components * k + rank), np.float32)
    m = np.empty((n_rows, n_cols), np.float32)
    root, cut = np.empty(n_cols, np.float32), np.empty(n_cols, np.float32)
    for s in range(kept):
        chosen[:] = 0
        for h in range(n_components):
            for j in range(n_rows):
                chosen[j, h * k + z[s, j, h]] = 1
            for t in range(k):
                line = means[h * k + t]
                for i in range(n_cols):
                    line[i] = c_step[s, h] * np.float32(c[s, i, h, t])
        for r in range(rank):
            at = n_components * k + r
            for j in range(n_rows):
                chosen[j, at] = product_step[s, r] * np.float32(row_factor[s, j, r])
            for i in range(n_cols):
                means[at, i] = col_factor[s, i, r]
        np.dot(chosen, means, m)
        for j in range(n_rows):
            _add_biases(row_bias[s, j], col_bias[s], m[j])
            if not ordinal[s]:
                _add(m[j], mean[j])
            if shaping[s]:
                _standardise(row_root[s, j], col_root[s], m[j], root)
                for b in range(cuts.shape[1]):
                    for i in range(n_cols):
                        cut[i] = cuts[s, b, j if user_rows else i]
                    _add_phi(cut, m[j], root, below[b, j])


def predict_items(draws: Draws, users: Array, items: Array, side: Side, values: Array) -> tuple[Array, Array]:
    """What `predict_pairs.predict` returns, to within 1e-6 per sweep, for all pairs of some (known) users and items.

    Sums over kept sweeps of the level distributions (users, items, levels) and of expected ratings (users, items).
    """
    below, mean = _sums(draws, users, items, side, values)
    return levels_from(draws, below), expected_from(draws, below, mean, values)


def expect_items(draws: Draws, users: Array, items: Array, side: Side, values: Array) -> Array:
    """The sums of the expected ratings alone, (users, items)."""
    return expected_from(draws, *_sums(draws, users, items, side, values), values)


def _sums(draws: Draws, users: Array, items: Array, side: Side, values: Array) -> tuple[Array, Array]:
    """Sums of P(level <= b) over shaping sweeps (b, users, items), and of means of Gaussian ones (users, items)."""
    if len(users) == 1:  # a product with a single row or column costs more than its pairs
        below, mean = sums_closely(draws, np.repeat(users, len(items)), items, side, values)
        return below[:, np.newaxis], mean[np.newaxis]
    rows, cols = side.rows_and_columns(users, items)
    row_weight, col_weight = single(draws.row_weight, rows), single(draws.col_weight, cols)
    cuts, owner = draws.cuts_of(users)
    below = np.zeros((len(values) - 1, len(rows), len(cols)), np.float32)
    mean = np.zeros((len(rows), len(cols)), np.float32)
    sweeps = _Sweeps(
        part(draws.z, rows),
        part(draws.c, cols),
        draws.c_step,
        part(draws.row_factor, rows),
        part(draws.col_factor, cols),
        draws.product_step,
        single(draws.row_bias, rows),
        np.sqrt(row_weight),
        single(draws.col_bias, cols),
        np.sqrt(col_weight),
        np.ascontiguousarray(cuts.take(owner, axis=1).swapaxes(1, 2)),
        draws.ordinal,
        draws.shaping,
    )
    _add_sweeps(sweeps, side is Side.USERS, below, mean)
    return (below, mean) if side is Side.USERS else (below.swapaxes(1, 2), mean.T)
