"""Mixture of unigrams: a document's words are drawn from the distribution beta_s of its one topic.

    Pr(d) = sum_s lam_s prod_i beta_si^m_i

The two halves of EM, with ``strength`` pseudo-documents of the corpus' own word profile given to every topic, and
posteriors tempered by ``power`` as in `lbg_recsys.core.em.bernoulli_gauss`.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse as sp

from lbg_recsys.core.em.bernoulli_gauss import posterior
from lbg_recsys.core.types import Floats


@dataclass(frozen=True)
class Unigrams:
    """``lam`` (k,) and ``log_beta`` (n, k)."""

    lam: Floats
    log_beta: Floats


@dataclass(frozen=True)
class UnigramStatistics:
    """The posteriors (m, k) they come from, expected words of each topic (n, k), and the rows' evidence."""

    mu: Floats
    words: Floats
    evidence: float
    weight: Floats | None = None  # (m,) how often each row counts


def log_joint(documents: sp.csr_array, parameters: Unigrams) -> Floats:
    """log lam_s + sum_i m_ji log beta_si, (m, k)."""
    return np.asarray(documents @ parameters.log_beta) + np.log(np.maximum(parameters.lam, 1e-300))


def gather(
    documents: sp.csr_array, mu: Floats, evidence: float = 0.0, weight: Floats | None = None
) -> UnigramStatistics:
    """The expected words of each topic; a row of ``weight`` (m,) two counts as two equal rows."""
    counted = mu if weight is None else mu * weight[:, None]
    return UnigramStatistics(mu, np.asarray(documents.T @ counted), evidence, weight)


def e_step(
    documents: sp.csr_array, parameters: Unigrams, power: float | Floats, weight: Floats | None = None
) -> UnigramStatistics:
    """Posteriors of all documents and the words they give each topic; ``weight`` as in `gather`."""
    mu, evidence = posterior(log_joint(documents, parameters), power)
    return gather(documents, mu, float(evidence.sum() if weight is None else evidence @ weight), weight)


def m_step(statistics: UnigramStatistics, profile: Floats, strength: float) -> Unigrams:
    """lam and beta; ``profile`` (n,) is the mean document."""
    words = statistics.words + strength * profile[:, None]
    beta = np.maximum(words / np.maximum(words.sum(axis=0), 1e-300), 1e-300)
    return Unigrams(np.average(statistics.mu, axis=0, weights=statistics.weight), np.log(beta))


def log_prior(parameters: Unigrams, profile: Floats, strength: float) -> float:
    """What the pseudo-documents add to the log-likelihood."""
    return strength * float(profile @ parameters.log_beta.sum(axis=1))
