"""Predictions of kept sweeps for (user, item) pairs in any order; `predict_grid` predicts all items of some users."""

import math
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.gibbs.draws import Draws, single
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.normal import normal_cdf
from lbg_recsys.core.gibbs.ridge import FAST
from lbg_recsys.core.types import Array


class _Pairs(NamedTuple):
    """Row, column and owner of the cut points of every pair, (n,) each; they index the arrays of `_Sweeps`."""

    row: Array
    col: Array
    owner: Array


class _Sweeps(NamedTuple):
    """The parts of `Draws` that some pairs need, in precisions that kernels can read."""

    z: Array  # (S, rows, H) int8
    c: Array  # (S, columns, H, K) int8
    c_step: Array  # (S, H)
    row_bias: Array  # (S, rows)
    col_bias: Array  # (S, columns)
    row_weight: Array  # (S, rows)
    col_weight: Array  # (S, columns)
    cuts: Array  # (S, owners, levels - 1)
    ordinal: Array  # (S,) bool
    shaping: Array  # (S,) bool


@kernel(fastmath=FAST)
def _add_sweeps(pairs: _Pairs, sweeps: _Sweeps, values: Array, probability: Array, mean: Array) -> None:
    """Add every sweep's expected value of each pair to ``mean``, and a shaping one's distribution to ``probability``.

    ``values`` (levels,) are the levels, ``probability`` is (pairs, levels), ``mean`` (pairs,).
    """
    row, col, owner = pairs
    z, c, c_step, row_bias, col_bias, row_weight, col_weight, cuts, ordinal, shaping = sweeps
    last = cuts.shape[2]
    for s in range(z.shape[0]):
        for e in range(row.shape[0]):
            j, i = row[e], col[e]
            m = np.float32(row_bias[s, j] + col_bias[s, i])
            for h in range(z.shape[2]):
                m += c_step[s, h] * c[s, i, h, z[s, j, h]]
            if not ordinal[s]:
                mean[e] += m
            if not shaping[s]:
                continue
            root = math.sqrt(row_weight[s, j] * col_weight[s, i])
            before = 0.0
            expected = 0.0
            for b in range(last + 1):
                upto = normal_cdf((cuts[s, owner[e], b] - m) * root) if b < last else 1.0
                probability[e, b] += upto - before
                expected += values[b] * (upto - before)
                before = upto
            if ordinal[s]:
                mean[e] += expected


def predict(draws: Draws, users: Array, items: Array, side: Side, values: Array) -> tuple[Array, Array]:
    """Sums over kept sweeps of the level distributions (n, levels) and of the expected ratings (n,) of n pairs.

    Distributions are those of the `Draws.shaping` sweeps, ratings those of all. ``side`` are the rows of the draws.
    ``values`` are the levels, standardised as the chain's ratings were. The expected rating of a Gaussian sweep is
    the mean of its Gaussian, that of an ordinal sweep the mean of its distribution.
    """
    probability = np.zeros((len(users), len(values)))
    mean = np.zeros(len(users))
    rows, cols = side.rows_and_columns(users, items)
    # take only what the pairs need: a single pair must not cost a pass over all kept sweeps
    known_rows, rows = np.unique(np.where(rows < 0, draws.z.shape[1] - 1, rows), return_inverse=True)
    known_cols, cols = np.unique(np.where(cols < 0, draws.c.shape[1] - 1, cols), return_inverse=True)
    cuts, owner = draws.cuts_of(users)
    sweeps = _Sweeps(
        draws.z.take(known_rows, axis=1),
        draws.c.take(known_cols, axis=1),
        draws.c_step,
        single(draws.row_bias, known_rows),
        single(draws.col_bias, known_cols),
        single(draws.row_weight, known_rows),
        single(draws.col_weight, known_cols),
        cuts,
        draws.ordinal,
        draws.shaping,
    )
    _add_sweeps(_Pairs(rows, cols, owner), sweeps, values, probability, mean)
    return probability, mean
