"""New rows and new columns under kept sweeps; the chains that made the sweeps are not needed.

Given a kept sweep, a new row needs classes, a bias and a noise weight, a new column class means, a bias and a noise
weight: a few Gibbs rounds per kept sweep, which start where the rounds of the previous sweep ended. What a round only
reads (the means or the classes of the other side, in the order in which it reads them) is copied once per kept sweep.
"""

import math
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.arrays import Gamma, Intervals, RatedLevels, Residuals, Weights
from lbg_recsys.core.gibbs.components import pick
from lbg_recsys.core.gibbs.effects import EffectPrior, Effects, draw_row_effects
from lbg_recsys.core.gibbs.new_factors import KeptFactors, begin_factor, come_near, expect_factor, redraw_factor
from lbg_recsys.core.gibbs.ordinal import count_neighbours, draw_utilities, move_own_cuts
from lbg_recsys.core.types import Array

_FIRST_ROUNDS, _ROUNDS = 10, 2
_UNUSED = Gamma(0.5, 0.5)  # the prior of a precision that is not redrawn here


class NewRatings(NamedTuple):
    """The n ratings of one new user (or item): codes of the items (users) in the kept sweeps, values, levels."""

    items: Array  # (n,) int64
    value: Array  # (n,) float64, standardised
    level: Array  # (n,) int16
    neighbours: Array  # (levels + 1, 1) int32, from `count_neighbours`


def new_ratings(items: Array, value: Array, level: Array, n_levels: int) -> NewRatings:
    """The `NewRatings` of one user or item on a scale of ``n_levels`` levels."""
    return NewRatings(items, value, level, count_neighbours(level, np.zeros_like(level), (n_levels + 1, 1)))


class KeptColumns(NamedTuple):
    """What a new row needs of kept sweeps: the columns, and its class probabilities without entries.

    ``evidence`` is that of an entry for each class after the first, in units of ``evidence_step``; ``base`` are the
    log-odds of the classes of a row without entries.
    """

    c: Array  # (S, columns, H, K) int8
    c_step: Array  # (S, H) float32
    evidence: Array  # (S, columns, H, K - 1) int8
    evidence_step: Array  # (S, H) float32
    base: Array  # (S, H, K)
    bias: Array  # (S, columns) float32
    weight: Array  # (S, columns) float32


class KeptRows(NamedTuple):
    """What a new column needs of kept sweeps: the rows, and what its class means and bias are expected to be."""

    z: Array  # (S, rows, H) int8
    share: Array  # (S, H, K) float32
    eta: Array  # (S, H, K, D) float32
    omega: Array  # (S, D) float32
    tau: Array  # (S, H) float32
    bias: Array  # (S, rows) float32
    weight: Array  # (S, rows) float32


class NewPrior(NamedTuple):
    """The priors of a new user or item in kept sweeps: of bias, noise weight and cut points.

    ``cut_tau`` are the precisions of what users add to the common ``cuts``; (S, 0) if they add nothing. A new item
    has no cut points: ``rater_cuts`` are those of the users who rated it, and empty for a new user.
    """

    tau: Array  # (S,): the precision of biases
    weight_shape: Array  # (S,)
    weight_rate: Array  # (S,)
    cuts: Array  # (S, levels + 1)
    cut_tau: Array  # (S, levels - 1)
    ordinal: Array  # (S,) bool
    rater_cuts: Array = np.empty((0, 0, 0), np.float32)  # (S, levels + 1, n)


# In place of the rows that a new row does not need, and of the columns that a new column does not.
_NO_COLUMNS = KeptColumns(
    np.empty((0, 0, 0, 0), np.int8),
    np.empty((0, 0), np.float32),
    np.empty((0, 0, 0, 0), np.int8),
    np.empty((0, 0), np.float32),
    np.empty((0, 0, 0)),
    np.empty((0, 0), np.float32),
    np.empty((0, 0), np.float32),
)
_NO_ROWS = KeptRows(
    np.empty((0, 0, 0), np.int8),
    np.empty((0, 0, 0), np.float32),
    np.empty((0, 0, 0, 0), np.float32),
    np.empty((0, 0), np.float32),
    np.empty((0, 0), np.float32),
    np.empty((0, 0), np.float32),
    np.empty((0, 0), np.float32),
)


class NewRow(NamedTuple):
    """The draws of a new row, in the same order as the kept sweeps; ``own_cuts`` is (S, 0) if users have none."""

    z: Array  # (S, H) int8
    factor: Array  # (S, R) float32
    bias: Array  # (S,) float32
    weight: Array  # (S,) float32
    own_cuts: Array  # (S, levels - 1) float32


class NewColumn(NamedTuple):
    """The draws of a new column, in the same order as the kept sweeps; ``own_cuts`` is (S, 0) if users have none."""

    c: Array  # (S, H, K) float32
    factor: Array  # (S, R) float32
    bias: Array  # (S,) float32
    weight: Array  # (S,) float32
    own_cuts: Array  # (S, levels - 1) float32


class _NewDraws(NamedTuple):
    """Those of a row, with a ``c`` of (S, 0, 0), or of a column, with a ``z`` of (S, 0)."""

    z: Array
    c: Array
    factor: Array
    bias: Array
    weight: Array
    own_cuts: Array


@kernel()
def _draw_own_cuts(rng: np.random.Generator, rated: RatedLevels, cut_tau: Array) -> None:
    """Redraw the cut points of a new user, where users have their own.

    What the user adds to the cut points comes from the previous kept sweep, whose common cut points may be others: it
    is reset to zero where the sums are not in order.
    """
    cuts, added = rated.intervals.cuts, rated.intervals.added
    for b in range(2, cuts.shape[0] - 1):
        if cuts[b] + added[b, 0] <= cuts[b - 1] + added[b - 1, 0]:
            added[:] = 0
    for b in range(cut_tau.shape[0]):
        move_own_cuts(rng, b + 1, rated, np.float64(cut_tau[b]))


@kernel(fastmath=FAST)
def half_squares(mean: Array, precision: Array, halves: Array) -> None:
    """halves[h, t] = sum_e precision[e] mean[h, t, e]^2 / 2."""
    for h in range(mean.shape[0]):
        for t in range(mean.shape[1]):
            x = mean[h, t]
            squares = np.float32(0.0)
            for e in range(x.shape[0]):
                squares += precision[e] * x[e] * x[e]
            halves[h, t] = 0.5 * squares


class ClassOdds(NamedTuple):
    """What the class of a row depends on, besides its residuals."""

    mean: Array  # (H, K, n) float32: the class means in the columns of the row's entries
    halves: Array  # (H, K): their `half_squares`
    fixed: Array  # (H, K): log-odds of the classes, without the values of the entries
    precision: Array  # (n,) float32: noise precisions of the entries, without the factor of the row


@kernel(fastmath=FAST)
def redraw_classes(rng: np.random.Generator, odds: ClassOdds, weight: float, z: Array, res: Array) -> None:
    """Redraw the classes ``z`` (H,) of one row, component by component; ``res`` (n,) follows.

    ``weight`` is the row's factor of the noise precisions.
    """
    mean, halves, fixed, precision = odds
    n_components, k, n = mean.shape
    target, score = np.empty(n, np.float32), np.empty(k)
    for h in range(n_components):
        old = mean[h, z[h]]
        for e in range(n):
            target[e] = precision[e] * (res[e] + old[e])
        for t in range(k):
            x = mean[h, t]
            product = np.float32(0.0)
            for e in range(n):
                product += target[e] * x[e]
            score[t] = fixed[h, t] + weight * (product - halves[h, t])
        t = pick(score, rng.random())
        if t != z[h]:
            z[h] = t
            new = mean[h, t]
            for e in range(n):
                res[e] += old[e] - new[e]


@kernel(fastmath=FAST)
def _begin_row(
    sweep: int, cols: Array, columns: KeptColumns, utility: Array, bias: float, z: Array, odds: ClassOdds, res: Array
) -> None:
    """Copy what a new row with entries in ``cols`` (n,) needs of a sweep into ``odds``, and compute ``res`` (n,)."""
    c, c_step, evidence, evidence_step, base, col_bias, col_weight = columns
    mean, halves, fixed, precision = odds
    n_components, k, n = mean.shape
    for e in range(n):
        precision[e] = col_weight[sweep, cols[e]]
        res[e] = utility[e] - bias - col_bias[sweep, cols[e]]
    for h in range(n_components):
        for t in range(k):
            x = mean[h, t]
            steps = 0
            for e in range(n):
                x[e] = c_step[sweep, h] * np.float32(c[sweep, cols[e], h, t])
                steps += evidence[sweep, cols[e], h, t - 1] if t > 0 else 0
            fixed[h, t] = base[sweep, h, t] + evidence_step[sweep, h] * steps
        x = mean[h, z[h]]
        for e in range(n):
            res[e] -= x[e]
    half_squares(mean, precision, halves)


class _Expected(NamedTuple):
    """What is expected of a new column in every kept sweep; empty for a new row."""

    means: Array  # (S, H, K) float32: its class means
    bias: Array  # (S,) float32


_NO_EXPECTED = _Expected(np.empty((0, 0, 0), np.float32), np.empty(0, np.float32))


@kernel(fastmath=FAST)
def _expect_column(row_of: Array, features: Array, rows: KeptRows, out: _Expected) -> None:
    """Compute ``out`` from the classes of the rows ``row_of`` (n,) that a new column has entries with."""
    classes, n, n_components, k = rows.z, row_of.shape[0], rows.share.shape[1], rows.share.shape[2]
    phi, own = np.empty(rows.omega.shape[1], np.float32), np.empty(n, np.int8)
    root = math.sqrt(max(n, 1))
    for d in range(features.shape[0]):
        phi[n_components * k + d] = features[d]
    for s in range(classes.shape[0]):
        share, eta, omega = rows.share[s], rows.eta[s], rows.omega[s]
        for h in range(n_components):
            for e in range(n):
                own[e] = classes[s, row_of[e], h]
            for t in range(k):
                count = 0
                for e in range(n):
                    count += own[e] == t
                phi[h * k + t] = (count - n * share[h, t]) / root
        for h in range(n_components):
            for t in range(k):
                total = np.float32(0.0)
                for d in range(phi.shape[0]):
                    total += phi[d] * eta[h, t, d]
                out.means[s, h, t] = total
        expected = np.float32(0.0)
        for d in range(phi.shape[0]):
            expected += phi[d] * omega[d]
        out.bias[s] = expected


class _ClassMeans(NamedTuple):
    """The class means of a new column in one sweep, and what they depend on besides its residuals."""

    mean: Array  # (H, K) float32
    own: Array  # (H, n) int8: the classes of the rows that the column has entries with
    amount: Array  # (H, K) float32: the sum of the noise precisions of the entries of each class
    precision: Array  # (n,) float32: noise precisions of the entries, without the factor of the column


@kernel(fastmath=FAST)
def _begin_column(
    sweep: int,
    row_of: Array,
    rows: KeptRows,
    expected: float,
    utility: Array,
    bias: float,
    means: _ClassMeans,
    res: Array,
) -> None:
    """Copy what a new column with entries in ``row_of`` (n,) needs of a sweep into ``means``, and compute ``res``.

    ``bias`` is the bias less its ``expected`` value.
    """
    classes, _, _, _, _, row_bias, row_weight = rows
    mean, own, amount, precision = means
    n_components, n = own.shape
    for h in range(n_components):
        for e in range(n):
            own[h, e] = classes[sweep, row_of[e], h]
    for e in range(n):
        precision[e] = row_weight[sweep, row_of[e]]
        res[e] = utility[e] - expected - bias - row_bias[sweep, row_of[e]]
    for h in range(n_components):
        for t in range(mean.shape[1]):
            total = np.float32(0.0)
            for e in range(n):
                total += precision[e] if own[h, e] == t else np.float32(0.0)
            amount[h, t] = total
        for e in range(n):
            res[e] -= mean[h, own[h, e]]


@kernel(fastmath=FAST)
def _redraw_means(
    rng: np.random.Generator, means: _ClassMeans, weight: float, prior_mean: Array, tau: Array, res: Array
) -> None:
    """Redraw the class means of one column; ``res`` (n,) follows.

    A priori their means are ``prior_mean`` (H, K) and their precisions ``tau`` (H,).
    """
    mean, own, amount, precision = means
    n_components, n = own.shape
    step = np.empty(mean.shape[1], np.float32)
    for h in range(n_components):
        mine = own[h]
        for t in range(mean.shape[1]):
            left = np.float32(0.0)
            for e in range(n):
                left += precision[e] * res[e] if mine[e] == t else np.float32(0.0)
            sharp = weight * amount[h, t] + tau[h]
            centre = (weight * (left + amount[h, t] * mean[h, t]) + tau[h] * prior_mean[h, t]) / sharp
            new = np.float32(centre + rng.standard_normal() / math.sqrt(sharp))
            step[t] = new - mean[h, t]
            mean[h, t] = new
        for e in range(n):
            res[e] -= step[mine[e]]


@kernel(fastmath=FAST)
def _draw_new(
    rng: np.random.Generator,
    as_row: bool,
    ratings: NewRatings,
    columns: KeptColumns,
    rows: KeptRows,
    column: _Expected,
    factors: KeptFactors,
    prior: NewPrior,
    out: _NewDraws,
) -> None:
    """The loop of `draw_new_row` and `draw_new_column`: most of it is the same, and was compiled for each of them.

    Factors are rotated differently in each chain, so those of a sweep start from their expected values.
    """
    partners, value, level, neighbours = ratings
    tau, weight_shape, weight_rate, cuts, cut_tau, ordinal, rater_cuts = prior
    n, kept, rank = partners.shape[0], *out.factor.shape
    n_components = out.z.shape[1] if as_row else out.c.shape[1]
    k = columns.base.shape[2] if as_row else out.c.shape[2]
    entry, stat = np.empty(n, np.int32), np.empty((3, n), np.float32)
    entry64 = np.empty(n, np.int64)  # the order of the vectorised sums in `draw_row_effects` depends on the dtype
    ptr, owner, added = np.zeros(2, np.int64), np.zeros(n, np.int32), np.zeros((cuts.shape[1], 1), np.float32)
    no_cuts = np.zeros(cuts.shape[1])
    z = np.zeros(n_components, np.int64)
    bias, weight = np.zeros(1, np.float32), np.ones(1, np.float32)
    utility, precision, res = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
    others, factor = np.empty((n, rank), np.float32), np.zeros(rank, np.float32)
    odds = ClassOdds(
        np.empty((n_components, k, n if as_row else 0), np.float32),
        np.empty((n_components, k)),
        np.empty((n_components, k)),
        precision,
    )
    means = _ClassMeans(
        np.zeros((n_components, k), np.float32),
        np.empty((n_components, n), np.int8),
        np.empty((n_components, k), np.float32),
        precision,
    )
    ptr[1] = n
    for e in range(n):
        entry[e] = entry64[e] = e
        utility[e] = value[e]
    for s in range(kept):
        if s == 0:
            weight[0] = weight_shape[s] / weight_rate[s]
        expected = np.float32(0.0)  # a column's ``bias`` is less its expected value, with the prior of a row's bias
        if as_row:
            _begin_row(s, partners, columns, utility, bias[0], z, odds, res)
        else:
            expected = column.bias[s]
            _begin_column(s, partners, rows, expected, utility, bias[0], means, res)
        near = come_near(factors, s, partners, precision, others)
        begin_factor(near, factor, res)
        weights, effects = Weights(weight, precision), Effects(bias, weight)
        intervals = Intervals(level, owner, cuts[s], added)
        if rater_cuts.shape[1] > 0:
            intervals = Intervals(level, entry, no_cuts, rater_cuts[s])
        entries = Residuals(ptr, entry, res)
        effect_prior = EffectPrior(np.float64(tau[s]), _UNUSED, Gamma(weight_shape[s], weight_rate[s]))
        for _ in range(_FIRST_ROUNDS if s == 0 else _ROUNDS):
            redraw_factor(rng, near, np.float64(weight[0]), factor, res)
            if as_row:
                redraw_classes(rng, odds, np.float64(weight[0]), z, res)
            else:
                _redraw_means(rng, means, weight[0], column.means[s], rows.tau[s], res)
            draw_row_effects(rng, Residuals(ptr, entry64, res), effects, effect_prior, precision, stat)
            if ordinal[s]:
                if rater_cuts.shape[1] == 0:
                    rated = RatedLevels(entries, intervals, weights, weight, utility, neighbours)
                    _draw_own_cuts(rng, rated, cut_tau[s])
                draw_utilities(rng, entries, intervals, weights, utility)
        for h in range(out.z.shape[1]):
            out.z[s, h] = z[h]
        for h in range(out.c.shape[1]):
            for t in range(k):
                out.c[s, h, t] = means.mean[h, t]
        out.weight[s] = expect_factor(rng, near, np.float64(weight[0]), factor, res)
        for r in range(rank):
            out.factor[s, r] = factor[r]
        out.bias[s] = expected + bias[0]
        for t in range(out.own_cuts.shape[1]):
            out.own_cuts[s, t] = cuts[s, t + 1] + (added[t + 1, 0] if ordinal[s] else 0.0)


def draw_new_row(
    rng: np.random.Generator,
    ratings: NewRatings,
    columns: KeptColumns,
    factors: KeptFactors,
    prior: NewPrior,
    out: NewRow,
) -> None:
    """Draw classes, factors, bias, noise weight and cut points of one new row given all kept sweeps, into ``out``."""
    found = _contiguous(out)
    no_means = np.empty((len(out.z), 0, 0), np.float32)
    draws = _NewDraws(found[0], no_means, *found[1:])
    _draw_new(rng, True, ratings, columns, _NO_ROWS, _NO_EXPECTED, factors, prior, draws)
    _fill(out, found)


def draw_new_column(
    rng: np.random.Generator,
    ratings: NewRatings,
    features: Array,
    rows: KeptRows,
    factors: KeptFactors,
    prior: NewPrior,
    out: NewColumn,
) -> None:
    """Draw class means, factors, bias, noise weight and cut points of one new column given all sweeps, into ``out``.

    ``features`` are those of the column besides its profile, as from `column_features`.
    """
    found = _contiguous(out)
    draws = _NewDraws(np.empty((len(out.c), 0), np.int8), *found)
    column = _Expected(np.empty_like(draws.c), np.empty_like(draws.bias))
    _expect_column(ratings.items, features, rows, column)
    _draw_new(rng, False, ratings, _NO_COLUMNS, rows, column, factors, prior, draws)
    _fill(out, found)


def _contiguous(out: tuple[Array, ...]) -> list[Array]:
    """Contiguous arrays of these shapes: for parts of other arrays the kernel would be compiled again."""
    return [np.empty(each.shape, each.dtype) for each in out]


def _fill(out: tuple[Array, ...], found: list[Array]) -> None:
    for mine, drawn in zip(out, found, strict=True):
        mine[...] = drawn
