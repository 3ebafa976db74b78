"""One Gibbs pass over the components of Bayesian LBG: class means, class shares and classes.

Rows carry one class per component, columns one mean per component and class; entries are the
ratings sorted by row. ``res`` holds what of each entry's utility nothing explains yet.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lbg_recsys.core.ridge import FAST, cross_product, ridge_draw

Array = NDArray[Any]
LANES = 4  # classes are scored four at a time, in as many registers


@njit(nogil=True, cache=True)
def table_width(k: int) -> int:
    """The width of the table that `draw_class` reads: by fours of classes a_i c, a_i c^2 / 2 and the evidence."""
    return 3 * LANES * ((k + LANES - 1) // LANES)


@njit(nogil=True, cache=True)
def place(s: int) -> int:
    """Where in the table class s begins; its other numbers follow at distances of `LANES`."""
    return 3 * LANES * (s // LANES) + s % LANES


@njit(nogil=True, cache=True)
def count_classes(ptr: Array, col: Array, z: Array, counts: Array) -> None:
    """counts[h, i, s] = number of rows of class s (component h) that column i has an entry with."""
    counts[:] = 0
    for j in range(ptr.shape[0] - 1):
        for e in range(ptr[j], ptr[j + 1]):
            for h in range(z.shape[1]):
                counts[h, col[e], z[j, h]] += 1


@njit(nogil=True, cache=True, fastmath=FAST)
def refresh_profile(h: int, counts: Array, n_col: Array, phi: Array, gram: Array) -> None:
    """Rewrite component h's block of the columns' indicator profiles, and of their Gram matrix.

    phi[i, (h, s)] = (N[h,i,s] - n_i q[h,s]) / sqrt(n_i), with q[h, s] the share of class s among all entries.
    """
    n, k = counts.shape[1], counts.shape[2]
    total = 0.0
    for i in range(n):
        total += n_col[i]
    for s in range(k):
        share = 0.0
        for i in range(n):
            share += counts[h, i, s]
        share /= total
        for i in range(n):
            phi[i, h * k + s] = (counts[h, i, s] - n_col[i] * share) / math.sqrt(max(n_col[i], 1.0))
    block = np.empty((k, phi.shape[1]))
    cross_product(phi, phi[:, h * k : (h + 1) * k], block)
    for s in range(k):
        for d in range(phi.shape[1]):
            gram[h * k + s, d] = block[s, d]
            gram[d, h * k + s] = block[s, d]


@njit(nogil=True, cache=True, fastmath=FAST)
def draw_means(
    rng: np.random.Generator,
    phi: Array,
    eta: Array,
    tau: float,
    spread: tuple[float, float],
    stat: Array,
    weight: Array,
    c: Array,
    table: Array,
) -> float:
    """c[i, s] ~ N((S1 + tau m0) / (A + tau), 1 / (A + tau)); returns the new precision tau.

    ``stat`` (columns, classes, 2) holds A and S1 but for the column's own factor ``weight``;
    it is left at zero. ``table`` gets what `draw_class` needs of each mean.
    """
    n, k = c.shape
    squares = 0.0
    for i in range(n):
        for s in range(k):
            prior = np.float32(0.0)
            for d in range(phi.shape[1]):
                prior += phi[i, d] * eta[s, d]
            precision = weight[i] * stat[i, s, 0] + tau
            mean = (weight[i] * stat[i, s, 1] + tau * prior) / precision
            x = mean + rng.standard_normal() / math.sqrt(precision)
            c[i, s] = x
            squares += (x - prior) * (x - prior)
            at = place(s)
            table[i, at] = weight[i] * x
            table[i, at + LANES] = 0.5 * weight[i] * x * x
            stat[i, s, 0] = 0.0
            stat[i, s, 1] = 0.0
    return float(rng.standard_gamma(spread[0] + 0.5 * n * k) / (spread[1] + 0.5 * squares))


@njit(nogil=True, cache=True)
def draw_shares(rng: np.random.Generator, z: Array, h: int, lam: Array, size: Array) -> None:
    """lam ~ Dirichlet(1 + W), W the number of rows of each class (left in ``size``)."""
    size[:] = 0
    for j in range(z.shape[0]):
        size[z[j, h]] += 1
    total = 0.0
    for s in range(lam.shape[0]):
        lam[s] = rng.standard_gamma(1.0 + size[s])
        total += lam[s]
    lam /= total


@njit(nogil=True, cache=True)
def class_rate(count: float, total: float, size: float, rows: int) -> float:
    """p = (N + 20 n_i / rows) / (W_s + 20): the rate at which rows of a class hold a column.

    ``count`` is N, how many rows of the class hold it, ``total`` n_i, how many do at all, ``size`` W_s.
    """
    return min((count + 20.0 * total / rows) / (size + 20.0), 0.999)


@njit(nogil=True, cache=True)
def indicator_evidence(
    counts: Array, n_col: Array, size: Array, rows: int, power: float, table: Array, base: Array
) -> None:
    """Tabulate power * logit p[i, s], and add power * sum_i log(1 - p[i, s]) to ``base``."""
    for i in range(counts.shape[0]):
        for s in range(counts.shape[1]):
            p = class_rate(counts[i, s], n_col[i], size[s], rows)
            against = math.log(1.0 - p)
            table[i, place(s) + 2 * LANES] = power * (math.log(p) - against)
            base[s] += power * against


@njit(nogil=True, cache=True, fastmath=FAST)
def draw_class(
    rng: np.random.Generator, col: Array, res: Array, weight: float, table: Array, k: int, score: Array
) -> int:
    """Draw one row's class.

    Its log-odds are ``score`` + sum over its entries of weight * a_i (c r - c^2 / 2) + the indicator evidence.
    """
    inverse = np.float32(
        1.0 / weight
    )  # the evidence has no weight: it gets the inverse of what all are multiplied by
    for first in range(0, k, LANES):
        at = 3 * first
        a0 = a1 = a2 = a3 = np.float32(0.0)
        for e in range(col.shape[0]):
            i = col[e]
            r = res[e]
            a0 += r * table[i, at] - table[i, at + 4] + inverse * table[i, at + 8]
            a1 += r * table[i, at + 1] - table[i, at + 5] + inverse * table[i, at + 9]
            a2 += r * table[i, at + 2] - table[i, at + 6] + inverse * table[i, at + 10]
            a3 += r * table[i, at + 3] - table[i, at + 7] + inverse * table[i, at + 11]
        score[first] += weight * a0
        score[first + 1] += weight * a1
        score[first + 2] += weight * a2
        score[first + 3] += weight * a3
    top = -np.inf
    for s in range(k):
        top = max(top, score[s])
    total = 0.0
    for s in range(k):
        total += math.exp(score[s] - top)
        score[s] = total
    u = rng.random() * total
    s = 0
    while s < k - 1 and u >= score[s]:
        s += 1
    return s


@njit(nogil=True, cache=True, fastmath=FAST)
def sweep_components(
    rng: np.random.Generator,
    ptr: Array,
    col: Array,
    res: Array,
    z: Array,
    c: Array,
    lam: Array,
    tau: Array,
    eta: Array,
    phi: Array,
    gram: Array,
    counts: Array,
    n_col: Array,
    row_weight: Array,
    col_weight: Array,
    spread: tuple[float, float],
    power: float,
    follow: bool,
) -> None:
    """Redraw, component by component, eta, c, tau, lam and z; ``res`` follows.

    Taking component h out of ``res`` and putting component h + 1 back in, with the sums that its
    means need, is one pass over each row while the row is in the cache.
    """
    n_components, n, k = c.shape
    rows = ptr.shape[0] - 1
    stat = np.zeros((n, k, 2), np.float32)
    table = np.zeros((n, table_width(k)), np.float32)
    score = np.zeros(table_width(k) // 3)
    base = np.empty(k)
    size = np.empty(k)
    cross = np.empty((k, phi.shape[1]))
    for j in range(rows):
        s = z[j, 0]
        a = row_weight[j]
        for e in range(ptr[j], ptr[j + 1]):
            i = col[e]
            r = res[e] + c[0, i, s]
            res[e] = r
            stat[i, s, 0] += a
            stat[i, s, 1] += a * r
    for h in range(n_components):
        cross_product(phi, c[h], cross)
        ridge_draw(rng, gram, cross, tau[h], eta[h])
        tau[h] = draw_means(rng, phi, eta[h], tau[h], spread, stat, col_weight, c[h], table)
        draw_shares(rng, z, h, lam[h], size)
        for s in range(k):
            base[s] = math.log(lam[h, s])
        if power > 0.0:
            indicator_evidence(counts[h], n_col, size, rows, power, table, base)
        here = c[h]
        following = c[(h + 1) % n_components]
        for j in range(rows):
            begin, end = ptr[j], ptr[j + 1]
            for s in range(k):
                score[s] = base[s]
            s = draw_class(rng, col[begin:end], res[begin:end], row_weight[j], table, k, score)
            old = z[j, h]
            if s != old:
                z[j, h] = s
                for e in range(begin, end):
                    counts[h, col[e], old] -= 1
                    counts[h, col[e], s] += 1
            if h == n_components - 1:
                for e in range(begin, end):
                    res[e] -= here[col[e], s]
            else:
                a = row_weight[j]
                t = z[j, h + 1]
                for e in range(begin, end):
                    i = col[e]
                    r = res[e] - here[i, s] + following[i, t]
                    res[e] = r
                    stat[i, t, 0] += a
                    stat[i, t, 1] += a * r
        if follow:
            refresh_profile(h, counts, n_col, phi, gram)
