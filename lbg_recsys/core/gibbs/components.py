"""One Gibbs pass over the components of Bayesian LBG: class means, class shares and classes.

Rows have one class per component, columns one mean per component and class; entries are the ratings sorted by row.
Arrays with one number per column have the columns last: loops over columns then vectorise, and the entries of a row,
which all have the class of the row, read memory that is close together.
"""

import math
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.arrays import Gamma, Residuals, Weights
from lbg_recsys.core.gibbs.normal import draw_gamma
from lbg_recsys.core.gibbs.ridge import cross_product, predict, ridge_draw
from lbg_recsys.core.gibbs.simd import WIDTH, sum_blocks
from lbg_recsys.core.types import Array

PRIOR_ROWS = 20.0  # pseudo-rows with the rates of all rows, which are added to the rows of every class
_BLOCK = 64  # factors (1 - p) >= 1e-3 per logarithm: the product of this many does not underflow


class Classes(NamedTuple):
    """The classes of the rows and what belongs to a class; `sweep_components` redraws all of it in place."""

    z: Array  # (rows, H) int8: the class of each row in each component
    c: Array  # (H, K, columns) float32: class means
    lam: Array  # (H, K): shares of the classes among the rows
    tau: Array  # (H,): precisions of the class means
    eta: Array  # (H, K, D) float32: the expected mean of class s in column i is eta[h, s] . phi_i
    shrinkage: Array  # (D,): prior precisions of the entries of eta; not redrawn here


class Profiles(NamedTuple):
    """How many rows of each class every column has entries with, as features of the columns."""

    phi: Array  # (D, columns) float32: H * K profiles (see `refresh_profile`) and further features
    gram: Array  # (D, D): phi phi'
    counts: Array  # (H, K, columns) int32: rows of each class that the column has an entry with
    n_col: Array  # (columns,) float32: entries of each column


class ComponentSettings(NamedTuple):
    """The prior of tau; the weight of the indicator evidence; whether profiles follow the classes."""

    of_tau: Gamma
    indicator_weight: float
    follow_profiles: bool


@kernel(inline="always")
def table_width(k: int) -> int:
    """The width of the table that `draw_class` reads: three numbers per class after the first, 2 classes in 8."""
    return WIDTH * (k // 2)


@kernel(inline="always")
def table_column(s: int) -> int:
    """The column of the table where class s >= 1 begins; its second and third numbers are 2 and 4 columns further."""
    return WIDTH * ((s - 1) // 2) + (s - 1) % 2


def count_classes(rows: Array, cols: Array, z: Array, counts: Array) -> None:
    """counts[h, s, i] = number of rows of class s (component h) that column i has an entry with.

    ``rows`` and ``cols`` (entries,) are those of the entries.
    """
    _, k, n = counts.shape
    for h, count in enumerate(counts):
        cell = z[:, h].astype(np.int64)[rows] * n + cols
        count[:] = np.bincount(cell, minlength=k * n).reshape(k, n)


@kernel(fastmath=FAST)
def refresh_profile(h: int, profiles: Profiles) -> None:
    """Rewrite component h's block of the columns' indicator profiles, and of their Gram matrix.

    phi[(h, s), i] = (N[h,s,i] - n_i q[h,s]) / sqrt(n_i), with q[h, s] the share of class s among all entries.
    """
    phi, gram, counts, n_col = profiles
    k, n = counts.shape[1], counts.shape[2]
    total = 0.0
    for i in range(n):
        total += n_col[i]
    for s in range(k):
        count, profile = counts[h, s], phi[h * k + s]
        held = 0
        for i in range(n):
            held += count[i]
        share = np.float32(held / total)
        for i in range(n):
            profile[i] = (np.float32(count[i]) - n_col[i] * share) / np.sqrt(max(n_col[i], np.float32(1.0)))
    block = np.empty((k, phi.shape[0]))
    cross_product(phi, phi[h * k : (h + 1) * k], block)
    for s in range(k):
        for d in range(phi.shape[0]):
            gram[h * k + s, d] = block[s, d]
            gram[d, h * k + s] = block[s, d]


@kernel(fastmath=FAST)
def draw_means(
    rng: np.random.Generator,
    phi: Array,
    eta: Array,
    tau: float,
    settings: ComponentSettings,
    stat: Array,
    weight: Array,
    noise: Array,
    c: Array,
) -> float:
    """c[s, i] ~ N((S1 + tau m0) / (A + tau), 1 / (A + tau)), by standard normal ``noise``; returns the new tau.

    ``stat`` (2, classes, columns) holds A and S1, both without the column's factor ``weight``; it is reset to zero.
    """
    k, n = c.shape
    prior = np.empty(n, np.float32)
    strength = np.float32(tau)
    squares = 0.0
    for s in range(k):
        predict(phi, eta[s], prior)
        a, s1, mean = stat[0, s], stat[1, s], c[s]
        for i in range(n):
            precision = weight[i] * a[i] + strength
            x = (weight[i] * s1[i] + strength * prior[i]) / precision + noise[s, i] / np.sqrt(precision)
            mean[i] = x
            squares += np.float64((x - prior[i]) * (x - prior[i]))
    stat[:] = 0.0
    return float(draw_gamma(rng, settings.of_tau.shape + 0.5 * n * k) / (settings.of_tau.rate + 0.5 * squares))


@kernel()
def _normalise(lam: Array) -> None:
    """Divide by the sum; exactly, which ``fastmath`` is not."""
    total = 0.0
    for s in range(lam.shape[0]):
        total += lam[s]
    lam /= total


@kernel(fastmath=FAST)
def draw_shares(rng: np.random.Generator, z: Array, h: int, lam: Array, size: Array) -> None:
    """lam ~ Dirichlet(1 + W), W the number of rows of each class (left in ``size``)."""
    for s in range(lam.shape[0]):
        rows = 0
        for j in range(z.shape[0]):
            rows += z[j, h] == s
        size[s] = rows
        lam[s] = draw_gamma(rng, 1.0 + rows)
    _normalise(lam)


@kernel()
def class_rate(count: float, total: float, size: float, rows: int) -> float:
    """p = (N + 20 n_i / rows) / (W_s + 20): the rate at which rows of a class have an entry in a column.

    ``count`` is N, how many rows of the class have one, ``total`` n_i, how many of all rows do, ``size`` W_s.
    """
    return min((count + PRIOR_ROWS * total / rows) / (size + PRIOR_ROWS), 0.999)


@kernel(fastmath=FAST)
def absence_evidence(counts: Array, n_col: Array, size: Array, rows: int, power: float, base: Array) -> None:
    """Add power * sum_i log(1 - p[s, i]), the evidence of a row without entries for each class, to ``base`` (K,)."""
    k, n = counts.shape
    for s in range(k):
        for first in range(0, n, _BLOCK):
            product = 1.0
            for i in range(first, min(first + _BLOCK, n)):
                product *= 1.0 - class_rate(counts[s, i], n_col[i], size[s], rows)
            base[s] += power * math.log(product)


@kernel(fastmath=FAST)
def logarithm(x: Array) -> None:
    """x = log(x) for positive normal numbers in single precision, in a loop that vectorises.

    x = 2^e m with m in [2/3, 4/3), log m = 2 artanh y with y = (m - 1) / (m + 1), whose series needs five terms.
    """
    bits = x.view(np.int32)
    for i in range(x.shape[0]):
        e = (bits[i] - np.int32(0x3F2AAAAB)) >> np.int32(23)
        bits[i] -= e << np.int32(23)
        y = (x[i] - np.float32(1.0)) / (x[i] + np.float32(1.0))
        q = y * y
        series = np.float32(1 / 7) + q * np.float32(1 / 9)
        series = np.float32(1 / 3) + q * (np.float32(1 / 5) + q * series)
        x[i] = np.float32(e) * np.float32(math.log(2.0)) + np.float32(2.0) * (y + y * q * series)


@kernel(fastmath=FAST)
def presence_evidence(counts: Array, n_col: Array, size: Array, rows: int, power: float, table: Array) -> None:
    """Tabulate power * (logit p[s, i] - logit p[0, i]), the evidence of an entry in column i for class s."""
    k, n = counts.shape
    evidence = np.empty(n, np.float32)
    for s in range(1, k):
        for i in range(n):
            p = class_rate(counts[s, i], n_col[i], size[s], rows)
            q = class_rate(counts[0, i], n_col[i], size[0], rows)
            evidence[i] = p * (1.0 - q) / ((1.0 - p) * q)
        logarithm(evidence)
        at = table_column(s) + 4
        for i in range(n):
            table[i, at] = power * evidence[i]


@kernel(fastmath=FAST)
def tabulate_means(c: Array, weight: Array, table: Array) -> None:
    """Tabulate a_i (c[s, i] - c[0, i]) and a_i (c[s, i]^2 - c[0, i]^2) / 2."""
    k, n = c.shape
    for s in range(1, k):
        at = table_column(s)
        for i in range(n):
            step = weight[i] * (c[s, i] - c[0, i])
            table[i, at] = step
            table[i, at + 2] = np.float32(0.5) * step * (c[s, i] + c[0, i])


@kernel(fastmath=FAST)
def pick(score: Array, u: float) -> int:
    """An index with the probabilities exp(score), up to their sum, by ``u`` uniform in [0, 1).

    ``score`` is overwritten.
    """
    k = score.shape[0]
    top = -np.inf
    for s in range(k):
        top = max(top, score[s])
    total = 0.0
    for s in range(k):
        total += math.exp(np.float32(score[s] - top))
        score[s] = total
    s = 0
    while s < k - 1 and u * total >= score[s]:
        s += 1
    return s


@kernel(fastmath=FAST)
def draw_class(col: Array, res: Array, weight: float, table: Array, u: float, score: Array) -> int:
    """Draw one row's class, by ``u`` uniform in [0, 1).

    Its log-odds are ``score`` + sum over its entries of weight * a_i (c r - c^2 / 2) + the indicator evidence,
    of which only the differences to class 0 matter.
    """
    k = score.shape[0]
    for s in range(1, k, 2):
        product, second_product, square, second_square, evidence, second_evidence = sum_blocks(
            col, res, table, table_column(s)
        )
        score[s] += weight * (product - square) + evidence
        if s + 1 < k:
            score[s + 1] += weight * (second_product - second_square) + second_evidence
    return pick(score, u)


@kernel(fastmath=FAST)
def exchange(col: Array, res: Array, gone: Array, come: Array, weight: float, a: Array, s1: Array) -> None:
    """Subtract the means ``gone`` from what is explained of a row, add ``come``, and add to the sums for new means.

    ``col`` and ``res`` are those of the row's entries; ``a`` and ``s1`` (columns,) are as in `draw_means`.
    """
    for e in range(col.shape[0]):
        i = np.uint32(col[e])  # unsigned: numba need not check for a negative index
        r = res[e] - gone[i] + come[i]
        res[e] = r
        a[i] += weight
        s1[i] += weight * r


@kernel()
def move(col: Array, old: Array, new: Array) -> None:
    """Count the entries of a row in the class ``new`` instead of ``old``, (columns,) each."""
    for e in range(col.shape[0]):
        i = np.uint32(col[e])
        old[i] -= 1
        new[i] += 1


@kernel(fastmath=FAST)
def sweep_components(
    rng: np.random.Generator,
    entries: Residuals,
    classes: Classes,
    profiles: Profiles,
    weights: Weights,
    settings: ComponentSettings,
    noise: Array,
    uniform: Array,
    begin: int,
    end: int,
) -> None:
    """Redraw eta, c, tau, lam and z of the components from ``begin`` to ``end``; ``entries.res`` follows.

    Taking component h out of the residuals and putting component h + 1 back in, with the sums that its means need, is
    one pass over each row while the row is in the cache. The random numbers of the means are given as ``noise``
    (H, K, columns), those of the classes as ``uniform`` (H, rows): a loop that draws does not vectorise.
    """
    ptr, col, res = entries
    z, c, lam, tau, eta, shrinkage = classes
    phi, gram, counts, n_col = profiles
    row_weight, col_weight = weights
    power = settings.indicator_weight
    _, k, n = c.shape
    rows = ptr.shape[0] - 1
    stat = np.zeros((2, k, n), np.float32)
    nothing = np.zeros(n, np.float32)
    table = np.zeros((n, table_width(k)), np.float32)
    base, score, size = np.empty(k), np.empty(k), np.empty(k)
    cross = np.empty((k, phi.shape[0]))
    for j in range(rows):
        own = slice(ptr[j], ptr[j + 1])
        t = z[j, begin]
        exchange(col[own], res[own], nothing, c[begin, t], row_weight[j], stat[0, t], stat[1, t])
    for h in range(begin, end):
        cross_product(phi, c[h], cross)
        ridge_draw(rng, gram, cross, tau[h], shrinkage, eta[h])
        tau[h] = draw_means(rng, phi, eta[h], tau[h], settings, stat, col_weight, noise[h], c[h])
        tabulate_means(c[h], col_weight, table)
        draw_shares(rng, z, h, lam[h], size)
        for s in range(k):
            base[s] = math.log(lam[h, s])
        if power > 0.0:
            absence_evidence(counts[h], n_col, size, rows, power, base)
            presence_evidence(counts[h], n_col, size, rows, power, table)
        for j in range(rows):
            own = slice(ptr[j], ptr[j + 1])
            for s in range(k):
                score[s] = base[s]
            s = draw_class(col[own], res[own], row_weight[j], table, uniform[h, j], score)
            if s != z[j, h]:
                move(col[own], counts[h, z[j, h]], counts[h, s])
                z[j, h] = s
            if h + 1 < end:
                t = z[j, h + 1]
                exchange(col[own], res[own], c[h, s], c[h + 1, t], row_weight[j], stat[0, t], stat[1, t])
            else:
                for e in range(ptr[j], ptr[j + 1]):
                    res[e] -= c[h, s, col[e]]
        if settings.follow_profiles:
            refresh_profile(h, profiles)
