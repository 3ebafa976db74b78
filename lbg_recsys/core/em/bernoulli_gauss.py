"""The two halves of EM, Eqs. (2) to (5) of the paper: E-step -> additive statistics -> M-step.

With the sparse form of Eq. (10),

    log Pr(d_j | s) = w sum_i log(1 - p_si)
                    + sum over set x_ji of [ w logit p_si + log N(m_ji; c_si, var_si) ],

an iteration costs O(entries * k), never O(rows * columns). Three departures from the paper, all off by default:
``w`` weighs the indicator evidence (1 is the paper); ``given_count`` takes the number of set x_j as given rather
than as evidence, Pr(x_j | s, count) ~ prod over set x_ji of p_si / sum_l p_sl; and ``beta`` tempers the posteriors,
mu ~ (lam_s Pr(d | s))^beta, for one number or one per row. EM then climbs

    sum_j 1/beta_j log sum_s (lam_s Pr(d_j | s))^beta_j  +  log prior,

which for beta = 1 is the penalised log-likelihood.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.blocks import in_order
from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.em.parameters import P_MARGIN, Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Codes, Floats, Ints

_LOG_2PI = math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Prior:
    """The moments of each column over all topics, and how many pseudo-rows with them every topic gets.

    ``rate``, ``mean`` and ``var`` are (n,). ``strength_p`` pseudo-rows shrink p to the rate, ``strength_gauss``
    pseudo-entries shrink c and var to mean and var; 0 is the paper's own update. ``floor`` bounds var from below.
    """

    rate: Floats
    mean: Floats
    var: Floats
    strength_p: float
    strength_gauss: float
    floor: float


def column_moments(
    statistics: SufficientStatistics, floor: float, shrink: float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Rate, mean and variance of every column over all topics: the posteriors sum to one, so mu drops out.

    ``shrink`` pseudo-entries pull a column with few entries towards the mean and variance of all entries; a
    column with none has those.
    """
    count, first, second = (a.sum(axis=1) for a in (statistics.count, statistics.first, statistics.second))
    total = max(count.sum(), 1e-300)
    overall_mean = first.sum() / total
    overall_var = max(second.sum() / total - overall_mean**2, floor)
    weight = count + shrink
    known = weight > 1e-9
    safe = np.where(known, weight, 1.0)
    mean = np.where(known, (first + shrink * overall_mean) / safe, overall_mean)
    square = second - 2.0 * mean * first + mean**2 * count  # sum of (m - mean)^2
    spread = shrink * (overall_var + (mean - overall_mean) ** 2)
    var = np.where(known, (square + spread) / safe, overall_var)
    return count / (statistics.n_rows or 1), mean, np.maximum(var, floor)


# Tables of (n, 3, k) numbers up to this many bytes stay in a processor's own cache while rows are processed.
_CACHED = 1 << 20


def _by_column(rows: SparseRows, n_topics: int) -> SparseRows | None:
    """The entries by column where that is faster: from some thousand columns on.

    By row, every entry reads a different part of a table of columns, and a large table exceeds the cache.
    By column, it reads another row of a block, of which there are few. Sums are added in the same order either way,
    because the columns of a row ascend; of documents they do not.

    Rows in memory keep their transpose: to sort them in every iteration took a fourth of an E-step, and two workers
    on one machine waited for each other's fresh memory.
    """
    if rows.ends is not None or 24 * rows.n_columns * n_topics <= _CACHED:
        return None
    return rows.transposed


@kernel()
def _log_joint_kernel(start: Ints, stop: Ints, indices: Codes, values: Floats, table: Floats, out: Floats) -> None:
    n_topics = out.shape[1]
    for j in range(len(start)):
        row = out[j]
        for e in range(start[j], stop[j]):
            gain = table[indices[e], 0]
            centre = table[indices[e], 1]
            half_precision = table[indices[e], 2]
            m = values[e]
            for s in range(n_topics):
                d = m - centre[s]
                row[s] += gain[s] - d * d * half_precision[s]


@kernel()
def _log_joint_by_column(start: Ints, stop: Ints, rows: Codes, values: Floats, table: Floats, out: Floats) -> None:
    n_topics = out.shape[1]
    for i in range(len(table)):
        gain, centre, half_precision = table[i, 0], table[i, 1], table[i, 2]
        for e in range(start[i], stop[i]):
            row = out[rows[e]]
            m = values[e]
            for s in range(n_topics):
                d = m - centre[s]
                row[s] += gain[s] - d * d * half_precision[s]


@kernel()
def _gather_kernel(start: Ints, stop: Ints, indices: Codes, values: Floats, mu: Floats, sums: Floats) -> None:
    n_topics = mu.shape[1]
    for j in range(len(start)):
        weight = mu[j]
        for e in range(start[j], stop[j]):
            count = sums[0, indices[e]]
            first = sums[1, indices[e]]
            second = sums[2, indices[e]]
            m = values[e]
            for s in range(n_topics):
                a = weight[s]
                b = a * m
                count[s] += a
                first[s] += b
                second[s] += b * m


@kernel()
def _gather_by_column(start: Ints, stop: Ints, rows: Codes, values: Floats, mu: Floats, sums: Floats) -> None:
    n_topics = mu.shape[1]
    for i in range(sums.shape[1]):
        count, first, second = sums[0, i], sums[1, i], sums[2, i]
        for e in range(start[i], stop[i]):
            weight = mu[rows[e]]
            m = values[e]
            for s in range(n_topics):
                a = weight[s]
                b = a * m
                count[s] += a
                first[s] += b
                second[s] += b * m


def evidence_tables(
    parameters: Parameters, indicator_weight: float = 1.0, given_count: bool = False
) -> tuple[Floats, Floats]:
    """The evidence of a row without entries, (k,), and what an entry of value m adds to it.

    The second is (n, 3, k) of gain, centre and half precision: an entry adds gain - half precision (m - centre)^2.
    """
    if given_count:
        indicator, silence = parameters.log_draw, np.zeros(parameters.n_topics)
    else:
        indicator, silence = parameters.logit_p(), parameters.log_silence()
    gain = indicator_weight * indicator - 0.5 * (np.log(parameters.var) + _LOG_2PI)
    constant = np.log(np.maximum(parameters.lam, 1e-300)) + indicator_weight * silence
    return constant, np.stack([gain, parameters.c, 0.5 / parameters.var], axis=1)


def log_joint(
    rows: SparseRows,
    parameters: Parameters,
    indicator_weight: float = 1.0,
    given_count: bool = False,
    silence_weight: Floats | None = None,
) -> Floats:
    """log lam_s + log Pr(d_j | s) for every row and topic, (m, k).

    ``silence_weight`` (m,) weighs sum_i log(1 - p_si) for each row: 1, the default, takes every column without an
    entry as refused; a smaller weight counts only that share of them.
    """
    tables = evidence_tables(parameters, indicator_weight, given_count)
    unheard = None
    if silence_weight is not None:
        unheard = np.outer(1.0 - silence_weight, indicator_weight * parameters.log_silence())
    return _log_joint(rows, tables, unheard)


def _log_joint(
    rows: SparseRows, tables: tuple[Floats, Floats], unheard: Floats | None = None, columns: SparseRows | None = None
) -> Floats:
    out = np.tile(tables[0], (len(rows), 1))
    if unheard is not None:
        out -= unheard
    if columns is None:
        columns = _by_column(rows, out.shape[1])
    if columns is None:
        _log_joint_kernel(*rows.arrays, tables[1], out)
    else:
        _log_joint_by_column(*columns.arrays, tables[1], out)
    return out


def posterior(joint: Floats, beta: float | Floats = 1.0) -> tuple[Floats, Floats]:
    """Eq. (5), tempered: the posteriors (m, k), and each row's evidence 1/beta log sum_s exp(beta joint), (m,)."""
    power = np.reshape(np.asarray(beta, dtype=np.float64), (-1, 1))
    top = joint.max(axis=1, keepdims=True)
    mu = np.exp(power * (joint - top))
    total = mu.sum(axis=1, keepdims=True)
    mu /= total
    return mu, (top + np.log(total) / power)[:, 0]


def posterior_by(rows: SparseRows, tables: tuple[Floats, Floats], beta: float | Floats = 1.0) -> Floats:
    """The posteriors of rows by `evidence_tables`, (m, k)."""
    return posterior(_log_joint(rows, tables), beta)[0]


def gather(
    rows: SparseRows,
    mu: Floats,
    evidence: float = 0.0,
    weight: Floats | None = None,
    columns: SparseRows | None = None,
) -> SufficientStatistics:
    """The statistics of rows whose posteriors are ``mu``; a row of ``weight`` (m,) two counts as two equal rows.

    ``columns`` are the entries of the rows by column, where they are known already.
    """
    n_rows: float = len(rows)
    if weight is not None:
        mu, n_rows = mu * weight[:, None], float(weight.sum())
    sums = np.zeros((3, rows.n_columns, mu.shape[1]))
    columns = columns if columns is not None else _by_column(rows, mu.shape[1])
    if columns is None:
        _gather_kernel(*rows.arrays, np.ascontiguousarray(mu), sums)
    else:
        _gather_by_column(*columns.arrays, np.ascontiguousarray(mu), sums)
    return SufficientStatistics(n_rows, evidence, mu.sum(axis=0), sums[0], sums[1], sums[2])


def e_step(
    rows: SparseRows,
    parameters: Parameters,
    beta: float | Floats = 1.0,
    indicator_weight: float = 1.0,
    given_count: bool = False,
    weight: Floats | None = None,
) -> SufficientStatistics:
    """Posteriors of all rows, gathered into the statistics of an M-step; ``weight`` as in `gather`."""
    return e_step_by(rows, evidence_tables(parameters, indicator_weight, given_count), beta, weight)


def e_step_by(
    rows: SparseRows, tables: tuple[Floats, Floats], beta: float | Floats = 1.0, weight: Floats | None = None
) -> SufficientStatistics:
    """The same by `evidence_tables`, which are made once for many blocks of rows."""
    columns = _by_column(rows, len(tables[0]))
    mu, evidence = posterior(_log_joint(rows, tables, columns=columns), beta)
    return gather(rows, mu, float(evidence.sum() if weight is None else evidence @ weight), weight, columns)


class _Sums(NamedTuple):
    """The statistics that the kernel of `m_step` reads."""

    mass: Floats
    counts: Floats
    first: Floats
    second: Floats


class _Expected(NamedTuple):
    """The prior as the kernel of `m_step` reads it."""

    rate: Floats
    mean: Floats
    var: Floats
    rows: float
    entries: float
    floor: float


@kernel()
def _m_step_kernel(sums: _Sums, prior: _Expected, p: Floats, c: Floats, var: Floats) -> None:
    for i in range(p.shape[0]):
        mean, var0 = prior.mean[i], prior.var[i]
        for s in range(p.shape[1]):
            count, first = sums.counts[i, s], sums.first[i, s]
            share = (count + prior.rows * prior.rate[i]) / max(sums.mass[s] + prior.rows, 1e-300)
            p[i, s] = min(max(share, P_MARGIN), 1.0 - P_MARGIN)
            centre, spread, weight = mean, var0, count + prior.entries
            if weight > 1e-9:
                centre = (first + prior.entries * mean) / weight
                square = sums.second[i, s] - 2.0 * centre * first + centre * centre * count
                spread = (square + prior.entries * (var0 + (centre - mean) ** 2)) / weight
            c[i, s], var[i, s] = centre, max(spread, prior.floor)


def m_step(statistics: SufficientStatistics, prior: Prior, n_jobs: int = 1) -> Parameters:
    """Eqs. (2) to (4) with the prior's pseudo-rows: the parameters that maximise the penalised bound.

    A topic without any entry in a column takes the column's own mean and variance. ``n_jobs`` threads have a range of
    the columns each.
    """
    mass = statistics.mass
    p, c, var = (np.empty_like(statistics.count) for _ in range(3))
    strengths = float(prior.strength_p), float(prior.strength_gauss), float(prior.floor)

    def columns(of: slice) -> None:
        sums = _Sums(mass, statistics.count[of], statistics.first[of], statistics.second[of])
        expected = _Expected(prior.rate[of], prior.mean[of], prior.var[of], *strengths)
        _m_step_kernel(sums, expected, p[of], c[of], var[of])

    cuts = np.linspace(0, len(p), max(n_jobs, 1) + 1).astype(int).tolist()
    for _ in in_order(columns, [slice(*cut) for cut in pairwise(cuts)], n_jobs):
        pass
    return Parameters(mass / max(mass.sum(), 1e-300), p, c, var)


def log_prior(
    parameters: Parameters, prior: Prior, indicator_weight: float = 1.0, given_count: bool = False
) -> float:
    """The expected log-likelihood of the pseudo-rows, up to constants: what `m_step` adds to the likelihood."""
    rate, mean, var0 = prior.rate[:, None], prior.mean[:, None], prior.var[:, None]
    value = 0.0
    if prior.strength_p > 0.0:
        indicator = rate * (parameters.log_draw if given_count else parameters.log_p)
        if not given_count:
            indicator += (1.0 - rate) * parameters.log_unset
        value += indicator_weight * prior.strength_p * float(indicator.sum())
    if prior.strength_gauss > 0.0:
        misfit = (var0 + (parameters.c - mean) ** 2) / parameters.var
        # Less the value at the prior's own mean and variance: no large constant hides the gain of an iteration.
        value -= 0.5 * prior.strength_gauss * float((np.log(parameters.var / var0) + misfit - 1.0).sum())
    return value
