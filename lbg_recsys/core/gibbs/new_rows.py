"""New rows and new columns under kept sweeps, without touching the chain that made them.

Given a kept sweep a new row needs its classes, bias and noise, a new column its class means, bias and noise: a few
Gibbs rounds per kept sweep, each starting where the last one ended. Whatever a round only reads - the means or the
classes of the other side, in the order in which it reads them - is laid out once per kept sweep.
"""

import math

import numpy as np
from numba import njit

from lbg_recsys.core.gibbs.components import pick
from lbg_recsys.core.gibbs.effects import draw_row_effects
from lbg_recsys.core.gibbs.ordinal import count_beside, draw_utilities, move_own_cuts
from lbg_recsys.core.gibbs.ridge import FAST
from lbg_recsys.core.types import Array

_FIRST_ROUNDS, _ROUNDS = 30, 3
_UNUSED = (0.5, 0.5)  # the prior of a precision that is not redrawn here


@njit(nogil=True, cache=True)
def _draw_levels(
    rng: np.random.Generator,
    ptr: Array,
    col: Array,
    level: Array,
    owner: Array,
    cuts: Array,
    added: Array,
    beside: Array,
    cut_tau: Array,
    weight: Array,
    precision: Array,
    utility: Array,
    res: Array,
) -> None:
    """The cut points of the one who is new, where there are such, and then the utilities between them.

    What it adds to the cut points comes from another kept sweep, whose common ones may lie elsewhere: it begins again
    where they would be out of order.
    """
    for b in range(2, cuts.shape[0] - 1):
        if cuts[b] + added[b, 0] <= cuts[b - 1] + added[b - 1, 0]:
            added[:] = 0
    for b in range(cut_tau.shape[0]):
        move_own_cuts(
            rng,
            b + 1,
            ptr,
            col,
            level,
            owner,
            cuts,
            added,
            beside,
            cut_tau[b],
            weight,
            precision,
            weight,
            utility,
            res,
        )
    draw_utilities(rng, ptr, col, level, owner, cuts, added, weight, precision, utility, res)


@njit(nogil=True, cache=True, fastmath=FAST)
def half_squares(mean: Array, precision: Array, halves: Array) -> None:
    """halves[h, t] = sum_e precision[e] mean[h, t, e]^2 / 2."""
    for h in range(mean.shape[0]):
        for t in range(mean.shape[1]):
            x = mean[h, t]
            squares = np.float32(0.0)
            for e in range(x.shape[0]):
                squares += precision[e] * x[e] * x[e]
            halves[h, t] = 0.5 * squares


@njit(nogil=True, cache=True, fastmath=FAST)
def redraw_classes(
    rng: np.random.Generator,
    mean: Array,
    halves: Array,
    fixed: Array,
    precision: Array,
    weight: float,
    now: Array,
    res: Array,
) -> None:
    """Redraw the classes ``now`` (H,) of one row, component by component; ``res`` (n,) follows.

    ``mean`` (H, K, n) are the class means in the row's columns, ``halves`` their `half_squares`, ``fixed`` (H, K)
    the log-odds but for the values of the entries.
    """
    n_components, k, n = mean.shape
    target, score = np.empty(n, np.float32), np.empty(k)
    for h in range(n_components):
        old = mean[h, now[h]]
        for e in range(n):
            target[e] = precision[e] * (res[e] + old[e])
        for t in range(k):
            x = mean[h, t]
            product = np.float32(0.0)
            for e in range(n):
                product += target[e] * x[e]
            score[t] = fixed[h, t] + weight * (product - halves[h, t])
        t = pick(score, rng.random())
        if t != now[h]:
            now[h] = t
            new = mean[h, t]
            for e in range(n):
                res[e] += old[e] - new[e]


@njit(nogil=True, cache=True, fastmath=FAST)
def fold_row(
    rng: np.random.Generator,
    cols: Array,
    value: Array,
    level: Array,
    c: Array,
    c_step: Array,
    evidence: Array,
    evidence_step: Array,
    base: Array,
    col_bias: Array,
    col_weight: Array,
    row_tau: Array,
    noise: Array,
    cuts: Array,
    cut_tau: Array,
    ordinal: Array,
    z: Array,
    bias: Array,
    weight: Array,
    own_cuts: Array,
) -> None:
    """Draw ``z`` (S, H), ``bias``, ``weight`` (S,) and ``own_cuts`` of one new row, from its entries with ``cols``.

    The kept sweeps have, of all columns, the means ``c`` (S, columns, H, K) and the indicator ``evidence`` for the
    classes after the first (S, columns, H, K - 1), both in steps (S, H); ``col_bias``, ``col_weight`` (S, columns).
    ``base`` (S, H, K) is what the log-odds of the classes are without entries, ``noise`` (S, 2) the Gamma prior of
    the row's noise precision. ``own_cuts`` (S, levels - 1) and the precisions of what makes them differ from ``cuts``
    (S, levels + 1), ``cut_tau`` (S, levels - 1), have no columns where nobody's differ.
    """
    kept, _, n_components, k = c.shape
    n = cols.shape[0]
    ptr, own, stat = np.array([0, n]), np.arange(n), np.empty((3, n), np.float32)
    owner, added = np.zeros(n, np.int32), np.zeros((cuts.shape[1], 1), np.float32)
    beside = np.empty(added.shape, np.int32)
    count_beside(level, owner, beside)
    now = np.zeros(n_components, np.int64)
    b, w = np.zeros(1, np.float32), np.ones(1, np.float32)
    utility = value.astype(np.float32)
    mean = np.empty((n_components, k, n), np.float32)
    fixed = np.empty((n_components, k))
    halves = np.empty((n_components, k))
    precision, res = np.empty(n, np.float32), np.empty(n, np.float32)
    for s in range(kept):
        if s == 0:
            w[0] = noise[s, 0] / noise[s, 1]
        for e in range(n):
            precision[e] = col_weight[s, cols[e]]
            res[e] = utility[e] - b[0] - col_bias[s, cols[e]]
        for h in range(n_components):
            for t in range(k):
                x = mean[h, t]
                steps = 0
                for e in range(n):
                    x[e] = c_step[s, h] * np.float32(c[s, cols[e], h, t])
                    steps += evidence[s, cols[e], h, t - 1] if t > 0 else 0
                fixed[h, t] = base[s, h, t] + evidence_step[s, h] * steps
            res -= mean[h, now[h]]
        half_squares(mean, precision, halves)
        for _ in range(_FIRST_ROUNDS if s == 0 else _ROUNDS):
            redraw_classes(rng, mean, halves, fixed, precision, w[0], now, res)
            draw_row_effects(
                rng, ptr, own, res, b, row_tau[s], _UNUSED, w, (noise[s, 0], noise[s, 1]), precision, stat
            )
            if ordinal[s]:
                _draw_levels(
                    rng, ptr, own, level, owner, cuts[s], added, beside, cut_tau[s], w, precision, utility, res
                )
        z[s] = now
        bias[s] = b[0]
        weight[s] = w[0]
        for t in range(own_cuts.shape[1]):
            own_cuts[s, t] = cuts[s, t + 1] + (added[t + 1, 0] if ordinal[s] else 0.0)


@njit(nogil=True, cache=True, fastmath=FAST)
def _expect_column(own: Array, features: Array, share: Array, eta: Array, omega: Array, prior: Array) -> float:
    """The prior means (H, K) of a new column's class means; returns that of its bias.

    ``own`` (H, n) are the classes of the rows that it has entries with.
    """
    n_components, n = own.shape
    k = share.shape[1]
    phi = np.empty(omega.shape[0], np.float32)
    root = math.sqrt(max(n, 1))
    for h in range(n_components):
        for t in range(k):
            count = 0
            for e in range(n):
                count += own[h, e] == t
            phi[h * k + t] = (count - n * share[h, t]) / root
    phi[n_components * k :] = features
    for h in range(n_components):
        for t in range(k):
            total = np.float32(0.0)
            for d in range(phi.shape[0]):
                total += phi[d] * eta[h, t, d]
            prior[h, t] = total
    expected = np.float32(0.0)
    for d in range(phi.shape[0]):
        expected += phi[d] * omega[d]
    return float(expected)


@njit(nogil=True, cache=True, fastmath=FAST)
def fold_col(
    rng: np.random.Generator,
    rows: Array,
    value: Array,
    level: Array,
    features: Array,
    z: Array,
    share: Array,
    eta: Array,
    omega: Array,
    tau: Array,
    row_bias: Array,
    row_weight: Array,
    col_tau: Array,
    noise: Array,
    cuts: Array,
    cut_tau: Array,
    ordinal: Array,
    c: Array,
    bias: Array,
    weight: Array,
    own_cuts: Array,
) -> None:
    """Draw ``c`` (S, H, K), ``bias``, ``weight`` (S,) and ``own_cuts`` of one new column, from its ``rows``.

    The kept sweeps have, of all rows, the classes ``z`` (S, rows, H), ``row_bias`` and ``row_weight`` (S, rows).
    ``features`` are the column's own besides its profile; the cut points are as in `fold_row`.
    """
    kept, _, n_components = z.shape
    k = share.shape[2]
    n = rows.shape[0]
    ptr, entry, stat = np.array([0, n]), np.arange(n), np.empty((3, n), np.float32)
    owner, added = np.zeros(n, np.int32), np.zeros((cuts.shape[1], 1), np.float32)
    beside = np.empty(added.shape, np.int32)
    count_beside(level, owner, beside)
    now, prior = np.zeros((n_components, k), np.float32), np.zeros((n_components, k), np.float32)
    b, w = np.zeros(1, np.float32), np.ones(1, np.float32)
    utility = value.astype(np.float32)
    own = np.empty((n_components, n), np.int8)
    amount = np.empty((n_components, k), np.float32)
    precision, res = np.empty(n, np.float32), np.empty(n, np.float32)
    step = np.empty(k, np.float32)
    for s in range(kept):
        if s == 0:
            w[0] = noise[s, 0] / noise[s, 1]
        for h in range(n_components):
            for e in range(n):
                own[h, e] = z[s, rows[e], h]
        # the bias is held as what it has beyond its expected value, so that its prior is that of a row
        expected = np.float32(_expect_column(own, features, share[s], eta[s], omega[s], prior))
        for e in range(n):
            precision[e] = row_weight[s, rows[e]]
            res[e] = utility[e] - expected - b[0] - row_bias[s, rows[e]]
        for h in range(n_components):
            for t in range(k):
                total = np.float32(0.0)
                for e in range(n):
                    total += precision[e] if own[h, e] == t else np.float32(0.0)
                amount[h, t] = total
            for e in range(n):
                res[e] -= now[h, own[h, e]]
        for _ in range(_FIRST_ROUNDS if s == 0 else _ROUNDS):
            for h in range(n_components):
                mine = own[h]
                for t in range(k):
                    left = np.float32(0.0)
                    for e in range(n):
                        left += precision[e] * res[e] if mine[e] == t else np.float32(0.0)
                    sharp = w[0] * amount[h, t] + tau[s, h]
                    centre = (w[0] * (left + amount[h, t] * now[h, t]) + tau[s, h] * prior[h, t]) / sharp
                    new = np.float32(centre + rng.standard_normal() / math.sqrt(sharp))
                    step[t] = new - now[h, t]
                    now[h, t] = new
                for e in range(n):
                    res[e] -= step[mine[e]]
            draw_row_effects(
                rng, ptr, entry, res, b, col_tau[s], _UNUSED, w, (noise[s, 0], noise[s, 1]), precision, stat
            )
            if ordinal[s]:
                _draw_levels(
                    rng, ptr, entry, level, owner, cuts[s], added, beside, cut_tau[s], w, precision, utility, res
                )
        c[s] = now
        bias[s] = expected + b[0]
        weight[s] = w[0]
        for t in range(own_cuts.shape[1]):
            own_cuts[s, t] = cuts[s, t + 1] + (added[t + 1, 0] if ordinal[s] else 0.0)
