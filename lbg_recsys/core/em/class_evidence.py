"""The evidence of a document for each topic of each class: three kinds, and the exponents that weigh them.

With x_i = 1 for the keywords of a document, m_i their values and u = m / |m|, the evidence for topic s is

    draws      sum_i u_i log(p_si / sum_l p_sl)      which words, each with its weight in the document
    bernoulli  sum_i log(1 - p_si) + sum over x_i = 1 of logit p_si      which words are there and which are not
    gauss      sum over x_i = 1 of log N(m_i; c_si, var_si)      how often they occur

The paper takes the product of the last two, Eq. (1), at face value. Words are not independent, so that product is
far too certain and the length of a document decides. Here each kind has an exponent t >= 0 of its own, and the
evidence for class l is

    e_l = log sum_{s in l} lam_s exp(t . evidence_s).

The exponents are fitted to the labels of the training documents. Each of these is scored with parameters from
which its own share was subtracted (`left_out_evidence`), as if it were new. Sums are additive, so this needs no fit.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.em.bernoulli_gauss import Prior, m_step
from lbg_recsys.core.em.parameters import KINDS, P_MARGIN, Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Codes, Floats, Ints

_LOG_2PI = math.log(2.0 * math.pi)
# Ridges of the class biases, and of the exponents' distances from where they start, against a loss summed over
# documents: a few documents that a product of evidence tells apart would otherwise make it as large as it can be.
_BIAS_RIDGE, _EXPONENT_RIDGE = 1.0, 8.0
_MAX_ITER = 100


class Entries(NamedTuple):
    """The keywords of documents as a kernel takes them; ``units`` are the values divided by their document's norm."""

    start: Ints
    stop: Ints
    columns: Codes
    values: Floats
    units: Floats


class _Tables(NamedTuple):
    draw: Floats  # (n, k)
    logit: Floats
    gain: Floats
    centre: Floats
    half_precision: Floats
    silence: Floats  # (k,)


class _Sums(NamedTuple):
    mass: Floats  # (k,)
    hits: Floats  # (n, k)  counts
    first: Floats
    second: Floats
    silence: Floats  # (k,)  sum_i log(1 - p_si)
    slope: Floats  # (k,)  its derivative by the mass
    total: Floats  # (k,)  sum_i of the counts with their pseudo-counts


class _PriorArrays(NamedTuple):
    rate: Floats
    mean: Floats
    var: Floats
    strength_p: float
    strength_gauss: float
    floor: float


def entries_of(keywords: SparseRows) -> Entries:
    """The entries of ``keywords``, all of which count, with their units."""
    row = keywords.row_of_entry()
    norm = np.sqrt(np.bincount(row, np.square(keywords.values, dtype=np.float64), minlength=len(keywords)))
    units = keywords.values / np.maximum(norm, 1e-300)[row]
    return Entries(keywords.start, keywords.stop, keywords.columns, keywords.values, units)


def features_of(entries: Entries, n_columns: int) -> sp.csr_array:
    """m / |m| and then x / |x| of every document, both divided by sqrt(2), (m, 2 n)."""
    length = entries.stop - entries.start
    presence = np.repeat(1.0 / np.sqrt(np.maximum(length, 1)), length)
    # both halves of a document are as long as the document: entry e of the first is e + start, of the second e + stop
    at = np.arange(len(entries.columns)) + np.repeat(entries.start, length)
    columns = np.empty(2 * len(at), dtype=np.int32)
    values = np.empty(2 * len(at))
    columns[at], values[at] = entries.columns, entries.units * math.sqrt(0.5)
    at += np.repeat(length, length)
    columns[at], values[at] = entries.columns + n_columns, presence * math.sqrt(0.5)
    return sp.csr_array((values, columns, 2 * np.append(0, entries.stop)), shape=(len(length), 2 * n_columns))


@kernel()
def _evidence_kernel(entries: Entries, tables: _Tables, out: Floats) -> None:
    n_topics = out.shape[2]
    for j in range(len(entries.start)):
        draws, bernoulli, gauss = out[0, j], out[1, j], out[2, j]
        for s in range(n_topics):
            bernoulli[s] = tables.silence[s]
        for e in range(entries.start[j], entries.stop[j]):
            i, m, u = entries.columns[e], entries.values[e], entries.units[e]
            for s in range(n_topics):
                d = m - tables.centre[i, s]
                draws[s] += u * tables.draw[i, s]
                bernoulli[s] += tables.logit[i, s]
                gauss[s] += tables.gain[i, s] - d * d * tables.half_precision[i, s]


def evidence(entries: Entries, parameters: Parameters) -> Floats:
    """The three kinds of evidence of documents that the parameters do not know, (3, m, k)."""
    tables = _Tables(
        parameters.log_draw,
        parameters.logit_p(),
        -0.5 * (np.log(parameters.var) + _LOG_2PI),
        parameters.c,
        0.5 / parameters.var,
        parameters.log_silence(),
    )
    out = np.zeros((len(KINDS), len(entries.start), parameters.n_topics))
    _evidence_kernel(entries, tables, out)
    return out


@kernel()
def _left_out_kernel(entries: Entries, mu: Floats, sums: _Sums, prior: _PriorArrays, out: Floats) -> None:
    a, b = prior.strength_p, prior.strength_gauss
    for j in range(len(entries.start)):
        length = entries.stop[j] - entries.start[j]
        for s in range(mu.shape[1]):
            w = mu[j, s]
            rows_with = sums.mass[s] + a
            rows_left = max(rows_with - w, 1e-12)
            total = max(sums.total[s] - w * length, 1e-12)
            draws, gauss = 0.0, 0.0
            bernoulli = sums.silence[s] - w * sums.slope[s]
            for e in range(entries.start[j], entries.stop[j]):
                i, m = entries.columns[e], entries.values[e]
                n = max(sums.hits[i, s] - w, 0.0)
                smoothed = max(n + a * prior.rate[i], 1e-12)
                p_with = min(max((sums.hits[i, s] + a * prior.rate[i]) / rows_with, P_MARGIN), 1.0 - P_MARGIN)
                p = min(max(smoothed / rows_left, P_MARGIN), 1.0 - P_MARGIN)
                draws += entries.units[e] * math.log(smoothed / total)
                # the word is present: subtract its silence, and how leaving the document out changed that
                slope = p_with / ((1.0 - p_with) * rows_with)
                bernoulli += math.log(p) - math.log1p(-p_with) + w * slope
                first, second = sums.first[i, s] - w * m, sums.second[i, s] - w * m * m
                c, var = prior.mean[i], prior.var[i]
                if n + b > 1e-9:
                    c = (first + b * prior.mean[i]) / (n + b)
                    spread = b * (prior.var[i] + (c - prior.mean[i]) ** 2)
                    var = (second - 2.0 * c * first + c * c * n + spread) / (n + b)
                var = max(var, prior.floor)
                gauss -= 0.5 * (math.log(var) + _LOG_2PI + (m - c) ** 2 / var)
            out[0, j, s], out[1, j, s], out[2, j, s] = draws, bernoulli, gauss


def left_out_evidence(entries: Entries, share: Floats, statistics: SufficientStatistics, prior: Prior) -> Floats:
    """`evidence` of documents for topics that they were counted in, as if they had not been, (3, m, k).

    ``share`` (m, k) is what each document added to the topics' ``statistics``: its posterior. The parameters are
    those of `m_step` after it is subtracted; the silence of absent words follows to first order.
    """
    parameters = m_step(statistics, prior)
    rows = statistics.mass + prior.strength_p
    sums = _Sums(
        statistics.mass,
        statistics.count,
        statistics.first,
        statistics.second,
        parameters.log_silence(),
        (parameters.p / ((1.0 - parameters.p) * np.maximum(rows, 1e-12))).sum(axis=0),
        (statistics.count + prior.strength_p * prior.rate[:, None]).sum(axis=0),
    )
    given = _PriorArrays(
        prior.rate,
        prior.mean,
        prior.var,
        float(prior.strength_p),
        float(prior.strength_gauss),
        float(prior.floor),
    )
    out = np.zeros((len(KINDS), *share.shape))
    _left_out_kernel(entries, np.ascontiguousarray(share), sums, given, out)
    return out


@dataclass(frozen=True)
class ClassTopics:
    """Which topics a class has: ``first`` (h,) is the first topic of each class, ``log_lam`` (k,) their weights."""

    first: Ints
    log_lam: Floats

    @property
    def owner(self) -> Ints:
        """The class of each topic, (k,)."""
        return np.repeat(np.arange(len(self.first)), np.diff(np.append(self.first, len(self.log_lam))))

    def combine(self, found: Floats, exponents: Floats) -> tuple[Floats, Floats]:
        """e_l (m, h), and the share of each topic in its class (m, k)."""
        joint = np.tensordot(exponents, found, 1) + self.log_lam
        top = np.maximum.reduceat(joint, self.first, axis=1)
        owner = self.owner
        share = np.exp(joint - top[:, owner])
        total = np.add.reduceat(share, self.first, axis=1)
        return top + np.log(total), share / total[:, owner]


def fit_exponents(
    found: Floats, topics: ClassTopics, log_prior: Floats, codes: Ints, weight: Floats
) -> tuple[Floats, Floats]:
    """The exponents (3,) and class biases (h,) that give the known classes the highest probability.

    Minimises the softmax loss of e_l + log Pr(l) + bias_l with small ridges, from draws alone at their full weight.
    ``found`` is the evidence (3, m, k), ``codes`` (m,) the classes, ``weight`` (m,) of the documents.
    """
    n_kinds, m, _ = found.shape
    owner, total = topics.owner, max(float(weight.sum()), 1e-300)

    def loss(theta: Floats) -> tuple[float, Floats]:
        exponents, bias = theta[:n_kinds], theta[n_kinds:]
        e, share = topics.combine(found, exponents)
        log_proba = log_softmax(e + log_prior + bias, axis=1)
        wrong = np.exp(log_proba)
        wrong[np.arange(m), codes] -= 1.0
        wrong *= weight[:, None]
        by_topic = wrong[:, owner] * share
        slope = np.concatenate([np.tensordot(found, by_topic, 2), wrong.sum(axis=0)]) + ridge * (theta - start)
        value = -float(weight @ log_proba[np.arange(m), codes]) + 0.5 * float(ridge @ (theta - start) ** 2)
        return value / total, slope / total

    start = np.zeros(n_kinds + len(log_prior))
    start[0] = 1.0
    ridge = np.append(np.full(n_kinds, _EXPONENT_RIDGE), np.full(len(log_prior), _BIAS_RIDGE))
    bounds = [(0.0, None)] * n_kinds + [(None, None)] * len(log_prior)
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _MAX_ITER})
    return best.x[:n_kinds], best.x[n_kinds:]
