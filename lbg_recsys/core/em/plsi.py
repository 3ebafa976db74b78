"""Probabilistic latent semantic indexing: every word of a document has a topic of its own.

    Pr(w | d) = sum_s Pr(s | d) Pr(w | s)

Tempered EM: Pr(s | d, w) ~ (Pr(s | d) Pr(w | s))^beta. One pass costs O(entries * k) and keeps no posteriors.
"""

import math

import numpy as np

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.sparse import RowArrays, SparseRows
from lbg_recsys.core.types import Floats


@kernel()
def _pass_kernel(
    rows: RowArrays,
    theta: Floats,
    phi: Floats,
    beta: float,
    new_theta: Floats,
    new_phi: Floats,
    learn: bool,
    evidence: Floats,
) -> None:
    """Add the expected words of each document and topic to ``new_theta`` (m, k), of each word to ``new_phi`` (n, k).

    ``new_phi`` is left alone unless ``learn``. ``evidence`` (m,) is set to the log-likelihood of each document.
    """
    start, stop, indices, values = rows
    n_topics = theta.shape[1]
    share = np.empty(n_topics)
    for j in range(len(start)):
        log_likelihood = 0.0
        for e in range(start[j], stop[j]):
            word = indices[e]
            likelihood = 0.0
            total = 0.0
            for s in range(n_topics):
                joint = theta[j, s] * phi[word, s]
                likelihood += joint
                share[s] = joint if beta == 1.0 else joint**beta
                total += share[s]
            log_likelihood += values[e] * math.log(max(likelihood, 1e-300))
            if total > 0.0:
                for s in range(n_topics):
                    amount = values[e] * share[s] / total
                    new_theta[j, s] += amount
                    if learn:
                        new_phi[word, s] += amount
        evidence[j] = log_likelihood


def _normalised(table: Floats, axis: int, otherwise: Floats) -> Floats:
    total = table.sum(axis=axis, keepdims=True)
    return np.where(total > 0.0, table / np.where(total > 0.0, total, 1.0), otherwise)


def em_pass(rows: SparseRows, theta: Floats, phi: Floats, beta: float = 1.0) -> tuple[Floats, Floats, float]:
    """New Pr(s | d) (m, k) and Pr(w | s) (n, k), and the log-likelihood under the old ones."""
    new_theta, new_phi, evidence = np.zeros_like(theta), np.zeros_like(phi), np.zeros(len(rows))
    _pass_kernel(rows.arrays, theta, phi, beta, new_theta, new_phi, True, evidence)
    return _normalised(new_theta, 1, theta), _normalised(new_phi, 0, phi), float(evidence.sum())


def fold_in(rows: SparseRows, phi: Floats, prior: Floats, beta: float, n_iter: int) -> Floats:
    """Pr(s | d) of novel documents, Pr(w | s) held, from ``prior`` (k,); an empty document stays there."""
    theta = np.tile(prior, (len(rows), 1))
    nothing = np.zeros((0, phi.shape[1]))
    evidence = np.zeros(len(rows))
    for _ in range(n_iter):
        new = np.zeros_like(theta)
        _pass_kernel(rows.arrays, theta, phi, beta, new, nothing, False, evidence)
        theta = _normalised(new, 1, theta)
    return theta


def log_likelihood(rows: SparseRows, theta: Floats, phi: Floats) -> Floats:
    """sum_i m_ji log sum_s Pr(s | d_j) Pr(i | s), (m,)."""
    evidence = np.zeros(len(rows))
    scratch = np.zeros_like(theta)
    nothing = np.zeros((0, phi.shape[1]))
    _pass_kernel(rows.arrays, theta, phi, 1.0, scratch, nothing, False, evidence)
    return evidence
