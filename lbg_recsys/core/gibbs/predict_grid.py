"""Predictions of kept sweeps for many items of many users, as lists need them.

`draws.predict` takes pairs in any order; where every item of some users is wanted, the means of a sweep are one
matrix product, the rows' classes times the columns' means, and several of them fit into one instruction. The bits of
such a product depend on its shape and threads: good enough to find what may be in a list, not to order it.
"""

import numpy as np
from numba import njit

from lbg_recsys.core.gibbs.draws import Draws, single
from lbg_recsys.core.gibbs.normal import smooth_cdf
from lbg_recsys.core.gibbs.ridge import FAST
from lbg_recsys.core.types import Array


def class_sums(z: Array, table: Array) -> Array:
    """sum_h table[i, h, z[j, h]] of all rows j (rows, H) and columns i (columns, H, K): (rows, columns)."""
    chosen = (z[:, :, np.newaxis] == np.arange(table.shape[2])).reshape(len(z), -1)
    return np.asarray(chosen.astype(table.dtype) @ table.reshape(len(table), -1).T)


@njit(nogil=True, cache=True, fastmath=FAST)
def _add(what: Array, total: Array) -> None:
    for i in range(total.shape[0]):
        total[i] += what[i]


@njit(nogil=True, cache=True, fastmath=FAST)
def _add_biases(own: float, others: Array, m: Array) -> None:
    for i in range(m.shape[0]):
        m[i] += own + others[i]


@njit(nogil=True, cache=True, fastmath=FAST)
def _standardise(own: float, others: Array, m: Array, root: Array) -> None:
    """root = own * others, and m in units of 1 / root."""
    for i in range(m.shape[0]):
        root[i] = own * others[i]
        m[i] *= root[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _add_phi(cut: Array, standard: Array, root: Array, total: Array) -> None:
    """total += Phi(cut root - standard)."""
    for i in range(total.shape[0]):
        total[i] += smooth_cdf(cut[i] * root[i] - standard[i])[0]


@njit(nogil=True, cache=True, fastmath=FAST)
def _add_sweeps(
    z: Array,
    c: Array,
    c_step: Array,
    row_bias: Array,
    row_root: Array,
    col_bias: Array,
    col_root: Array,
    cuts: Array,
    user_rows: bool,
    ordinal: Array,
    shaping: Array,
    below: Array,
    mean: Array,
) -> None:
    """Add P(level <= b) of shaping sweeps to ``below`` (b, rows, columns), and means of Gaussian ones to ``mean``.

    ``cuts`` (S, b, users) are those of the rows or those of the columns.
    """
    kept, n_cols, n_components, k = c.shape
    n_rows = z.shape[1]
    means = np.empty((n_components * k, n_cols), np.float32)
    chosen = np.empty((n_rows, n_components * k), np.float32)
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
        np.dot(chosen, means, m)
        for j in range(n_rows):
            _add_biases(row_bias[s, j], col_bias[s], m[j])
            if not ordinal[s]:
                _add(m[j], mean[j])
            if shaping[s]:
                _standardise(row_root[s, j], col_root[s], m[j], root)
                for b in range(cuts.shape[1]):
                    if user_rows:
                        cut[:] = cuts[s, b, j]
                    else:
                        cut[:] = cuts[s, b]
                    _add_phi(cut, m[j], root, below[b, j])


def predict_items(draws: Draws, users: Array, items: Array, user_rows: bool, values: Array) -> tuple[Array, Array]:
    """What `draws.predict` gives, to within 1e-6 a sweep, for all pairs of some (known) users and items.

    Sums over kept sweeps of the level distributions (users, items, levels) and of the expected ratings.
    """
    below, mean = _sums(draws, users, items, user_rows, values)
    probability = np.empty((*mean.shape, len(values)))
    before = np.float64(0.0)
    for b in range(len(below)):
        upto = np.maximum(below[b], before)  # rounding may have put Phi out of order by a hair
        probability[..., b] = upto - before
        before = upto
    probability[..., -1] = np.maximum(draws.shaping.sum() - before, 0.0)
    return probability, mean


def expect_items(draws: Draws, users: Array, items: Array, user_rows: bool, values: Array) -> Array:
    """The expected ratings alone."""
    return _sums(draws, users, items, user_rows, values)[1]


def _sums(draws: Draws, users: Array, items: Array, user_rows: bool, values: Array) -> tuple[Array, Array]:
    """Sums over kept sweeps: P(level <= b) of the shaping ones (b, users, items), expected ratings (users, items)."""
    rows, cols = (users, items) if user_rows else (items, users)
    row_weight, col_weight = single(draws.row_weight, rows), single(draws.col_weight, cols)
    cuts, owner = draws.cuts_of(users)
    below = np.zeros((len(values) - 1, len(rows), len(cols)), np.float32)
    mean = np.zeros((len(rows), len(cols)), np.float32)
    _add_sweeps(
        draws.z.take(rows, axis=1),
        draws.c.take(cols, axis=1),
        draws.c_step,
        single(draws.row_bias, rows),
        np.sqrt(row_weight),
        single(draws.col_bias, cols),
        np.sqrt(col_weight),
        np.ascontiguousarray(cuts.take(owner, axis=1).swapaxes(1, 2)),
        user_rows,
        draws.ordinal,
        draws.shaping,
        below,
        mean,
    )
    total = mean.astype(np.float64)
    if ordinal := draws.ordinal.sum():
        # to the highest level they lack the gaps between levels, each times the probability of staying below it
        total += ordinal * values[-1]
        for gap, upto in zip(np.diff(values), below, strict=True):
            total -= gap * upto
    return (below, total) if user_rows else (below.swapaxes(1, 2), total.T)
