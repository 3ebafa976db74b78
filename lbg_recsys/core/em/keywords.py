"""Keywords: which entries of a document count (x), how many of them a topic has (q), and what the others follow.

A document's entries are stored from the largest to the smallest (`ranked`), so the indicator x_j of the paper is
a prefix of length g_j. Everything here costs O(entries) or O(words * topics).

Words that are no keywords follow the "cross-Gaussian" N(c_i, var_i) of their word, zeros included. With
N_i(m) = log N(m; c_i, var_i), the cross part of Eq. (1) for document j is

    sum_i N_i(0)  +  sum over stored non-keywords of [N_i(m_ji) - N_i(0)]  -  sum over keywords of N_i(0).

It is the same for all topics as long as x is: posteriors never need it, Pr(d) and step 1 for novel documents do.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.em.bernoulli_gauss import evidence_tables
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Codes, Floats, Ints

_LOG_2PI = math.log(2.0 * math.pi)


def ranked(indptr: npt.ArrayLike, indices: npt.ArrayLike, values: npt.ArrayLike, n_columns: int) -> SparseRows:
    """Rows of a canonical CSR matrix with each row's entries from the largest to the smallest, ties by column.

    Values of single precision stay so, which halves their memory; kernels compute with them in double precision.

    >>> rows = ranked([0, 3], [0, 1, 2], [0.5, 2.0, 0.5], 3)
    >>> rows.columns.tolist()
    [1, 0, 2]
    """
    pointer = np.asarray(indptr, dtype=np.int64)
    entries = np.asarray(values)
    entries = entries.astype(np.float32 if entries.dtype == np.float32 else np.float64, copy=False)
    row = np.repeat(np.arange(len(pointer) - 1, dtype=np.int32), np.diff(pointer))
    order = np.lexsort((-entries, row))  # stable: equal values stay in the order of their columns
    columns = np.asarray(indices, dtype=np.int32)
    return SparseRows(pointer, columns[order], entries[order], n_columns)


def with_keywords(rows: SparseRows, lengths: int | Ints) -> SparseRows:
    """The same rows of which only the first ``lengths`` entries count (all, where a row has fewer)."""
    return replace(rows, ends=rows.start + np.minimum(rows.lengths, lengths))


def keyword_counts(rows: SparseRows) -> Ints:
    """How many entries of each row count, (m,)."""
    return rows.lengths


def expected_lengths(mu: Floats, q: Ints) -> Ints:
    """Eq. (6): g_j = sum_s mu_sj q_s, to the nearest whole number, (m,)."""
    return np.asarray(np.rint(mu @ q), dtype=np.int64)


def q_rule(p: Floats, q: Ints) -> Ints:
    """Eq. (9) as printed: q_s <- |{i : p_si >= q_s / n}|. Iterated by itself it oscillates."""
    return np.asarray((p >= q / len(p)).sum(axis=0), dtype=np.int64)


def q_fixed_point(p: Floats) -> Ints:
    """Where damped steps of `q_rule` settle: the largest q_s with p_s(q) >= q / n, p_s(q) the q-th largest; >= 1.

    The right side of the rule falls as q grows, so there is exactly one crossing.
    """
    n = len(p)
    falling = -np.sort(-p, axis=0)
    holds = falling >= (np.arange(1, n + 1) / n)[:, None]
    return np.asarray(np.maximum(holds.sum(axis=0), 1), dtype=np.int64)


@dataclass(frozen=True)
class Totals:
    """Sums over all documents, keywords or not: with the keyword statistics they give the cross-Gaussians."""

    n_rows: float  # their number, or the sum of their weights
    first: Floats  # (n,)  sum_j m_ji
    second: Floats  # (n,)  sum_j m_ji^2

    @classmethod
    def of(cls, rows: SparseRows, weight: Floats | None = None) -> "Totals":
        """The totals of all stored entries of ``rows``; a row of ``weight`` (m,) two counts as two equal rows."""
        values, squares = rows.values, np.square(rows.values, dtype=np.float64)
        n_rows: float = len(rows)
        if weight is not None:
            by_entry = weight[rows.row_of_entry()]
            values, squares, n_rows = values * by_entry, squares * by_entry, float(weight.sum())
        first = np.bincount(rows.columns, values, rows.n_columns).astype(np.float64)
        second = np.bincount(rows.columns, squares, rows.n_columns).astype(np.float64)
        return cls(n_rows, first, second)

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(self.n_rows + other.n_rows, self.first + other.first, self.second + other.second)


@dataclass(frozen=True)
class CrossGaussians:
    """``mean`` and ``var`` (n,) of each word in the documents where it is no keyword, zeros included."""

    mean: Floats
    var: Floats

    def at(self, columns: Codes, values: Floats | float) -> Floats:
        """log N(value; c_i, var_i) for the given words."""
        var = self.var[columns]
        return np.asarray(-0.5 * (_LOG_2PI + np.log(var) + (values - self.mean[columns]) ** 2 / var))

    def at_zero(self) -> Floats:
        """log N(0; c_i, var_i) of every word, (n,)."""
        return np.asarray(-0.5 * (_LOG_2PI + np.log(self.var) + self.mean**2 / self.var))


def cross_gaussians(
    totals: Totals, keywords: SufficientStatistics, floor: float, strength: float = 0.0
) -> CrossGaussians:
    """The cross-Gaussians: all documents less the keywords, whatever the topics.

    ``strength`` pseudo-documents pull each to the word's mean and variance over all documents; 0 is the paper's.
    """
    count = totals.n_rows - keywords.count.sum(axis=1)
    first = totals.first - keywords.first.sum(axis=1)
    second = totals.second - keywords.second.sum(axis=1)
    all_mean = totals.first / (totals.n_rows or 1)
    all_var = np.maximum(totals.second / (totals.n_rows or 1) - all_mean**2, 0.0)
    weight = count + strength
    known = weight > 1e-6
    safe = np.where(known, weight, 1.0)
    mean = np.where(known, (np.maximum(first, 0.0) + strength * all_mean) / safe, all_mean)
    square = np.maximum(second - 2.0 * mean * first + mean**2 * count, 0.0)
    var = np.where(known, (square + strength * (all_var + (mean - all_mean) ** 2)) / safe, all_var)
    return CrossGaussians(mean, np.maximum(var, floor))


@kernel()
def _cross_kernel(start: Ints, middle: Ints, stop: Ints, here: Floats, zero: Floats, out: Floats) -> None:
    for j in range(len(start)):
        total = 0.0
        for e in range(start[j], middle[j]):
            total -= zero[e]
        for e in range(middle[j], stop[j]):
            total += here[e] - zero[e]
        out[j] += total


def cross_evidence(rows: SparseRows, keywords: SparseRows, cross: CrossGaussians) -> Floats:
    """The cross part of log Pr(d_j | s, x_j), (m,): of all entries of ``rows`` those outside ``keywords``."""
    at_zero = cross.at_zero()
    out = np.full(len(rows), at_zero.sum())
    here = cross.at(rows.columns, rows.values)
    _cross_kernel(rows.start, keywords.stop, rows.stop, here, at_zero[rows.columns], out)
    return out


@kernel()
def _own_keywords_kernel(
    start: Ints, stop: Ints, indices: Codes, values: Floats, table: Floats, cross: Floats, q: Ints, out: Floats
) -> None:
    for j in range(len(start)):
        row = out[j]
        for e in range(start[j], stop[j]):
            rank = e - start[j]
            m = values[e]
            word = table[indices[e]]
            for s in range(len(q)):
                if rank < q[s]:
                    d = m - word[1, s]
                    row[s] += word[0, s] - d * d * word[2, s] - cross[e]


def log_joint_own_keywords(rows: SparseRows, parameters: Parameters, q: Ints, cross: CrossGaussians) -> Floats:
    """Step 1 for novel documents: log lam_s Pr(d | s, x_s) with x_s the top q_s words, (m, k).

    Up to the cross part of a document without keywords, which is the same for all topics.
    """
    constant, table = evidence_tables(parameters)
    out = np.tile(constant, (len(rows), 1))
    widest = with_keywords(rows, int(q.max()))
    here = cross.at(rows.columns, rows.values)
    _own_keywords_kernel(widest.start, widest.stop, rows.columns, rows.values, table, here, q, out)
    return out
