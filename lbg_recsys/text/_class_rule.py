"""How class models become class scores: the paper's likelihoods, or evidence weighed by exponents and corrected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax, logsumexp

from lbg_recsys.core.em.class_evidence import (
    ClassTopics,
    Entries,
    entries_of,
    evidence,
    features_of,
    fit_exponents,
    left_out_evidence,
)
from lbg_recsys.core.em.correction import Correction, fit_correction
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.progress import Progress, silent
from lbg_recsys.text._documents import ranked_documents
from lbg_recsys.text._topics import TextTopicModel
from lbg_recsys.text._training import Background
from lbg_recsys.text.mixture import LBGMixture

_BLOCK = 1 << 12  # documents scored at a time: bounds the memory of the evidence
_STEPS = 50  # of L-BFGS


@dataclass(frozen=True)
class WeightedRule:
    """Exponents (3,) of the evidence, and the correction of the class scores."""

    exponents: Floats
    correction: Correction


def likelihoods(models: Sequence[Any], documents: sp.csr_array, rows: SparseRows | None = None) -> Floats:
    """log Pr(d | l) of checked documents under the model of each class, (m, h).

    ``rows`` are the documents ranked, if they are at hand; otherwise they are ranked once for all LBG models.
    """
    words = documents.astype(np.float64)  # differences of large numbers: float32 would lose them
    if all(isinstance(model, LBGMixture) for model in models):
        rows = ranked_documents(words) if rows is None else rows.with_values(rows.values.astype(np.float64))
        return np.column_stack([model._log_likelihood_of(rows) for model in models])
    if all(isinstance(model, TextTopicModel) for model in models):
        return np.column_stack([model._log_likelihood(words) for model in models])
    return np.column_stack([model.score_samples(words) for model in models])


def weighted_scores(
    models: Sequence[LBGMixture], rule: WeightedRule, documents: sp.csr_array, rows: SparseRows | None = None
) -> Floats:
    """Scores (m, h) of checked documents, without the class priors; zero for a document without words."""
    parameters, topics = _joined(models)
    blocks = []
    for first in range(0, documents.shape[0], _BLOCK):
        last = min(first + _BLOCK, documents.shape[0])
        entries = _entries(models[0], documents[first:last], None if rows is None else rows.part(first, last))
        e, _ = topics.combine(evidence(entries, parameters), rule.exponents)
        scores = rule.correction.apply(e, _features(entries, rule.correction))
        scores[entries.start == entries.stop] = 0.0
        blocks.append(scores)
    return np.concatenate(blocks)


def fit_rule(
    models: Sequence[LBGMixture],
    posteriors: Sequence[Floats],
    background: Background,
    rows: SparseRows,
    codes: Ints,
    weight: Floats | None,
    ridge: float | None,
    progress: Progress = silent,
) -> WeightedRule:
    """Exponents and correction for the documents that the models were fitted to.

    ``rows`` are all documents, ranked; ``posteriors`` (m_l, k_l) those of each class in its own model. The evidence
    of a document for its own class comes from statistics without it.
    """
    entries = entries_of(_compact(rows, models[0]))
    parameters, topics = _joined(models)
    found = evidence(entries, parameters)
    counts = np.ones(len(codes)) if weight is None else weight
    last = np.append(topics.first[1:], parameters.n_topics)
    for code, (model, mu) in enumerate(zip(models, posteriors, strict=True)):
        own = np.flatnonzero(codes == code)
        if len(own):
            share = mu * np.minimum(counts[own], 1.0)[:, None]  # of a document that counts twice, one stays
            chosen = Entries(entries.start[own], entries.stop[own], *entries[2:])
            found[:, own, topics.first[code] : last[code]] = left_out_evidence(
                chosen, share, model._statistics, background.prior
            )
    counts = np.where(entries.stop > entries.start, counts, 0.0)  # a document without words is no evidence
    offset = log_shares(codes, counts, len(models))
    n_features = 0 if ridge is None else 2 * rows.n_columns
    if _one_class(codes, counts):
        return WeightedRule(np.eye(len(found))[0], Correction.none(np.zeros(len(models)), n_features, ridge or 0.0))
    exponents, bias = fit_exponents(found, topics, offset, codes, counts)
    e, _ = topics.combine(found, exponents)
    start = Correction.none(bias, n_features, ridge or 0.0)
    features = _features(entries, start)
    return WeightedRule(exponents, fit_correction(start, e, offset, features, codes, counts, _STEPS, progress))


def continued_rule(
    models: Sequence[LBGMixture],
    rule: WeightedRule,
    documents: sp.csr_array,
    codes: Ints,
    weight: Floats | None,
    offset: Floats,
    rows: SparseRows | None = None,
) -> WeightedRule:
    """The rule after a batch that the models have not learned from yet; the exponents stay."""
    parameters, topics = _joined(models)
    entries = _entries(models[0], documents, rows)
    counts = np.ones(len(codes)) if weight is None else weight
    counts = np.where(entries.stop > entries.start, counts, 0.0)
    if _one_class(codes, counts):
        return rule
    e, _ = topics.combine(evidence(entries, parameters), rule.exponents)
    features = _features(entries, rule.correction)
    correction = fit_correction(rule.correction, e, offset, features, codes, counts, _STEPS)
    return WeightedRule(rule.exponents, correction)


def _one_class(codes: Ints, counts: Floats) -> bool:
    """Whether fewer than two classes have documents: such a batch says nothing about differences between classes."""
    return int(np.count_nonzero(np.bincount(codes, counts))) < 2


def log_shares(codes: Ints, weight: Floats, n_classes: int) -> Floats:
    """Logs of the classes' shares of the documents, (h,); half a document for a class without any."""
    counts = np.maximum(np.bincount(codes, weight, n_classes), 0.5)
    return np.asarray(np.log(counts / counts.sum()))


def log_odds(joint: Floats) -> Floats:
    """Log-odds (m, h) of each class against all others, from log probabilities up to a constant per document.

    >>> log_odds(np.log([[0.2, 0.3, 0.5]])).round(2).tolist() == np.log([[0.25, 3 / 7, 1.0]]).round(2).tolist()
    True
    """
    proba = log_softmax(joint, axis=1)
    row, best = np.arange(len(joint)), joint.argmax(axis=1)
    lead = proba[row, best]
    proba[row, best] = -np.inf  # 1 - Pr of the best class would lose its digits: the others are summed instead
    others = logsumexp(proba, axis=1)
    odds = proba - np.log1p(-np.exp(proba))
    odds[row, best] = lead - others
    return np.asarray(odds)


def _joined(models: Sequence[LBGMixture]) -> tuple[Parameters, ClassTopics]:
    """The topics of all classes side by side."""
    each = [model._parameters() for model in models]
    lam = np.concatenate([one.lam for one in each])
    tables = (np.concatenate([getattr(one, name) for one in each], axis=1) for name in ("p", "c", "var"))
    first = np.append(0, np.cumsum([one.n_topics for one in each])[:-1])
    return Parameters(lam, *tables), ClassTopics(first, np.log(np.maximum(lam, 1e-300)))


def _compact(rows: SparseRows, model: LBGMixture) -> SparseRows:
    """The keywords of ranked documents and nothing else; every model of a classifier chooses the same."""
    wanted = model._recipe().n_keywords
    if wanted is None or not len(rows) or wanted >= rows.lengths.max():
        return rows
    rank = np.arange(len(rows.values)) - np.repeat(rows.start, np.diff(rows.indptr))
    return rows.filtered(rank < wanted)


def _entries(model: LBGMixture, documents: sp.csr_array, rows: SparseRows | None) -> Entries:
    """The keywords of checked documents; without ``rows`` they are ranked only where not all words are keywords."""
    if model.n_keywords is not None:
        return entries_of(_compact(ranked_documents(documents) if rows is None else rows, model))
    return entries_of(SparseRows.from_csr(documents.indptr, documents.indices, documents.data, documents.shape[1]))


def _features(entries: Entries, correction: Correction) -> sp.csr_array:
    """The features that the correction weighs, of which it may have none."""
    n_features = len(correction.weights)
    return features_of(entries, n_features // 2) if n_features else sp.csr_array((len(entries.start), 0))
