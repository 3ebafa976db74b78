"""New rows and new columns under kept sweeps, without touching the chain that made them.

Given a kept sweep a new row needs its classes, bias and noise, a new column its class means, bias and noise: a few
Gibbs rounds per kept sweep, each starting where the last one ended.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lbg_recsys.core.classes import LANES, class_rate, draw_class, draw_means, place, table_width
from lbg_recsys.core.effects import draw_row_effects
from lbg_recsys.core.ordinal import draw_utilities

Array = NDArray[Any]
_FIRST_ROUNDS, _ROUNDS = 30, 3


@njit(nogil=True, cache=True)
def class_rates(col_ptr: Array, col_rows: Array, z: Array, n_classes: int, cols: Array, rates: Array) -> None:
    """rates[e, h, s] = p[h, cols[e], s], the `class_rate` of some columns."""
    rows = z.shape[0]
    size = np.zeros((z.shape[1], n_classes))
    for j in range(rows):
        for h in range(z.shape[1]):
            size[h, z[j, h]] += 1.0
    rates[:] = 0
    for e in range(cols.shape[0]):
        begin, end = col_ptr[cols[e]], col_ptr[cols[e] + 1]
        for at in range(begin, end):
            for h in range(z.shape[1]):
                rates[e, h, z[col_rows[at], h]] += 1
        for h in range(z.shape[1]):
            for s in range(n_classes):
                rates[e, h, s] = class_rate(rates[e, h, s], end - begin, size[h, s], rows)


@njit(nogil=True, cache=True)
def _draw_own_effects(
    rng: np.random.Generator,
    level: Array,
    cuts: Array,
    ordinal: bool,
    other_weight: Array,
    tau: float,
    noise: tuple[float, float],
    bias: Array,
    weight: Array,
    utility: Array,
    res: Array,
) -> None:
    """Noise precision and bias of one new row or column, then the utilities of its entries."""
    n = res.shape[0]
    ptr = np.array([0, n])
    own = np.arange(n)
    draw_row_effects(
        rng, ptr, own, res, bias, tau, (0.5, 0.5), weight, noise, other_weight, np.zeros((n, 3), np.float32)
    )
    if ordinal:
        draw_utilities(rng, ptr, own, level, cuts, weight, other_weight, utility, res)


@njit(nogil=True, cache=True)
def fold_row(
    rng: np.random.Generator,
    value: Array,
    level: Array,
    c: Array,
    evidence: Array,
    lam: Array,
    base: Array,
    col_bias: Array,
    col_weight: Array,
    row_tau: Array,
    noise: Array,
    cuts: Array,
    ordinal: Array,
    z: Array,
    bias: Array,
    weight: Array,
) -> None:
    """Draw ``z`` (S, H), ``bias`` and ``weight`` (S,) of one new row.

    Its n entries are given per kept sweep: means ``c`` and indicator ``evidence`` (S, n, H, K), ``col_bias`` and
    ``col_weight`` (S, n). ``noise`` (S, 2) are the Gamma priors of the row's noise precision.
    """
    kept, n, n_components, k = c.shape
    own = np.arange(n)
    now = np.zeros(n_components, np.int64)
    b = np.zeros(1, np.float32)
    w = np.ones(1, np.float32)
    utility = value.astype(np.float32)
    table = np.zeros((n, table_width(k)), np.float32)
    score = np.zeros(table_width(k) // 3)
    for s in range(kept):
        if s == 0:
            w[0] = noise[s, 0] / noise[s, 1]
        res = np.empty(n, np.float32)
        for e in range(n):
            res[e] = utility[e] - b[0] - col_bias[s, e]
            for h in range(n_components):
                res[e] -= c[s, e, h, now[h]]
        for _ in range(_FIRST_ROUNDS if s == 0 else _ROUNDS):
            for h in range(n_components):
                for e in range(n):
                    res[e] += c[s, e, h, now[h]]
                    for t in range(k):
                        at = place(t)
                        mean = c[s, e, h, t]
                        table[e, at] = col_weight[s, e] * mean
                        table[e, at + LANES] = 0.5 * col_weight[s, e] * mean * mean
                        table[e, at + 2 * LANES] = evidence[s, e, h, t]
                for t in range(k):
                    score[t] = math.log(lam[s, h, t]) + base[s, h, t]
                now[h] = draw_class(rng, own, res, w[0], table, k, score)
                for e in range(n):
                    res[e] -= c[s, e, h, now[h]]
            _draw_own_effects(
                rng,
                level,
                cuts[s],
                ordinal[s],
                col_weight[s],
                row_tau[s],
                (noise[s, 0], noise[s, 1]),
                b,
                w,
                utility,
                res,
            )
        z[s] = now
        bias[s] = b[0]
        weight[s] = w[0]


@njit(nogil=True, cache=True)
def fold_col(
    rng: np.random.Generator,
    value: Array,
    level: Array,
    z: Array,
    share: Array,
    features: Array,
    eta: Array,
    omega: Array,
    tau: Array,
    row_bias: Array,
    row_weight: Array,
    col_tau: Array,
    noise: Array,
    cuts: Array,
    ordinal: Array,
    c: Array,
    bias: Array,
    weight: Array,
) -> None:
    """Draw ``c`` (S, H, K), ``bias`` and ``weight`` (S,) of one new column.

    Its n entries are given per kept sweep: the classes ``z`` (S, n, H), ``row_bias`` and ``row_weight`` (S, n) of
    their rows. ``features`` are the column's own besides its profile.
    """
    kept, n, n_components = z.shape
    k = share.shape[2]
    d = n_components * k + features.shape[0]
    phi = np.zeros((1, d), np.float32)
    phi[0, n_components * k :] = features
    now = np.zeros((n_components, 1, k), np.float32)
    b = np.zeros(1, np.float32)
    w = np.ones(1, np.float32)
    utility = value.astype(np.float32)
    stat = np.zeros((1, k, 2), np.float32)
    table = np.zeros((1, table_width(k)), np.float32)
    root = math.sqrt(max(n, 1))
    for s in range(kept):
        if s == 0:
            w[0] = noise[s, 0] / noise[s, 1]
        for h in range(n_components):
            for t in range(k):
                phi[0, h * k + t] = -n * share[s, h, t] / root
            for e in range(n):
                phi[0, h * k + z[s, e, h]] += 1.0 / root
        expected = np.float32(0.0)
        for i in range(d):
            expected += phi[0, i] * omega[s, i]
        res = np.empty(n, np.float32)
        # the bias is held as what it has beyond its expected value, so that its prior is that of a row
        for e in range(n):
            res[e] = utility[e] - expected - b[0] - row_bias[s, e]
            for h in range(n_components):
                res[e] -= now[h, 0, z[s, e, h]]
        for _ in range(_FIRST_ROUNDS if s == 0 else _ROUNDS):
            for h in range(n_components):
                for e in range(n):
                    t = z[s, e, h]
                    res[e] += now[h, 0, t]
                    stat[0, t, 0] += row_weight[s, e]
                    stat[0, t, 1] += row_weight[s, e] * res[e]
                draw_means(rng, phi, eta[s, h], tau[s, h], (0.5, 0.5), stat, w, now[h], table)
                for e in range(n):
                    res[e] -= now[h, 0, z[s, e, h]]
            _draw_own_effects(
                rng,
                level,
                cuts[s],
                ordinal[s],
                row_weight[s],
                col_tau[s],
                (noise[s, 0], noise[s, 1]),
                b,
                w,
                utility,
                res,
            )
        c[s] = now[:, 0]
        bias[s] = expected + b[0]
        weight[s] = w[0]
