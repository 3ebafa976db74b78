"""Gaussian pLSA (Hofmann 2003): every row mixes the topics in its own way, entry by entry.

    Pr(m | row j, column i) = sum_s lam_js N(m; c_si, var_si)

The posterior belongs to an entry, not to a row: tau_jis ~ (lam_js N(m_ji; c_si, var_si))^beta.
"""

import math

import numpy as np

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import RowArrays, SparseRows
from lbg_recsys.core.types import Floats


@kernel()
def _entry_kernel(
    rows: RowArrays,
    lam: Floats,
    c: Floats,
    var: Floats,
    log_norm: Floats,
    beta: float,
    row_mass: Floats,
    sums: Floats,
) -> float:
    """Add the posteriors of the entries to ``row_mass`` (m, k) and, unless empty, to ``sums`` (3, n, k).

    Returns the sum of the entries' (tempered) log-likelihoods. ``log_norm`` is -log(2 pi var) / 2, (n, k).
    """
    start, stop, indices, values = rows
    k = lam.shape[1]
    tau = np.empty(k)
    log_lam = np.empty(k)
    evidence = 0.0
    for j in range(len(start)):
        for s in range(k):
            log_lam[s] = math.log(lam[j, s] + 1e-300)
        for e in range(start[j], stop[j]):
            i = indices[e]
            m = values[e]
            top = -np.inf
            for s in range(k):
                d = m - c[i, s]
                tau[s] = beta * (log_lam[s] + log_norm[i, s] - 0.5 * d * d / var[i, s])
                top = max(top, tau[s])
            total = 0.0
            for s in range(k):
                tau[s] = math.exp(tau[s] - top)
                total += tau[s]
            evidence += (top + math.log(total)) / beta
            for s in range(k):
                a = tau[s] / total
                row_mass[j, s] += a
                if sums.shape[0]:
                    sums[0, i, s] += a
                    sums[1, i, s] += a * m
                    sums[2, i, s] += a * m * m
    return evidence


def _log_norm(parameters: Parameters) -> Floats:
    return np.asarray(-0.5 * np.log(2.0 * math.pi * parameters.var))


def entry_step(
    rows: SparseRows, lam: Floats, parameters: Parameters, beta: float = 1.0
) -> tuple[SufficientStatistics, Floats]:
    """One E-step over the entries: the statistics of the columns, and the new mixing weights of the rows (m, k)."""
    row_mass = np.zeros_like(lam)
    sums = np.zeros((3, rows.n_columns, lam.shape[1]))
    log_norm = _log_norm(parameters)
    evidence = _entry_kernel(rows.arrays, lam, parameters.c, parameters.var, log_norm, beta, row_mass, sums)
    statistics = SufficientStatistics(len(rows), evidence, row_mass.sum(axis=0), sums[0], sums[1], sums[2])
    return statistics, mixing_weights(row_mass)


def entry_evidence(rows: SparseRows, lam: Floats, parameters: Parameters) -> float:
    """The sum of the log-likelihoods of the entries."""
    nothing, row_mass = np.zeros((0, 0, 0)), np.zeros_like(lam)
    log_norm = _log_norm(parameters)
    return _entry_kernel(rows.arrays, lam, parameters.c, parameters.var, log_norm, 1.0, row_mass, nothing)


def fold_in_rows(rows: SparseRows, parameters: Parameters, beta: float = 1.0, n_iter: int = 30) -> Floats:
    """Mixing weights of new rows, the columns' Gaussians as they are: EM over the rows' weights alone."""
    lam = np.full((len(rows), parameters.n_topics), 1.0 / parameters.n_topics)
    nothing = np.zeros((0, 0, 0))
    log_norm = _log_norm(parameters)
    for _ in range(n_iter):
        row_mass = np.zeros_like(lam)
        _entry_kernel(rows.arrays, lam, parameters.c, parameters.var, log_norm, beta, row_mass, nothing)
        lam = mixing_weights(row_mass)
    return lam


def mixing_weights(row_mass: Floats, smooth: float = 0.1) -> Floats:
    """Shares of a row's entries; ``smooth`` pseudo-entries per topic keep rows with few entries uncertain."""
    weight = row_mass + smooth
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
