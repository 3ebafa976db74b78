"""Keywords as prefixes of ranked documents, the q rule, and cross-Gaussians, against plain dense sums."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

from lbg_recsys.core.em.bernoulli_gauss import gather
from lbg_recsys.core.em.consensus import aligned, consensus
from lbg_recsys.core.em.keywords import (
    Totals,
    cross_evidence,
    cross_gaussians,
    expected_lengths,
    keyword_counts,
    q_fixed_point,
    q_rule,
    ranked,
    with_keywords,
)
from lbg_recsys.core.sparse import SparseRows


def documents(seed=0, m=12, n=9):
    rng = np.random.default_rng(seed)
    return np.round(rng.gamma(1.0, size=(m, n)), 1) * (rng.random((m, n)) < 0.6)


def rows_of(dense):
    X = sp.csr_array(dense)
    return ranked(X.indptr, X.indices, X.data, X.shape[1])


def indicators(rows: SparseRows) -> np.ndarray:
    x = np.zeros((len(rows), rows.n_columns), dtype=bool)
    for j in range(len(rows)):
        x[j, rows.columns[rows.start[j] : rows.stop[j]]] = True
    return x


@pytest.mark.parametrize("g", [0, 1, 3, 100])
def test_keywords_are_the_largest_entries_ties_by_column(g):
    dense = documents()
    chosen = indicators(with_keywords(rows_of(dense), g))
    for values, x in zip(dense, chosen, strict=True):
        best = np.lexsort((np.arange(len(values)), -values))[:g]
        assert set(np.flatnonzero(x)) == {i for i in best if values[i] > 0}


def test_another_number_of_keywords_shares_the_entries():
    rows = rows_of(documents())
    fewer = with_keywords(rows, 2)
    assert fewer.values is rows.values and fewer.columns is rows.columns
    assert keyword_counts(fewer).max() == 2


def test_number_of_keywords_of_a_document_is_the_expected_one():
    mu = np.array([[1.0, 0.0], [0.25, 0.75]])
    np.testing.assert_array_equal(expected_lengths(mu, np.array([4, 8])), [4, 7])


def test_q_rule_oscillates_and_its_fixed_point_does_not():
    p = np.array([0.9, 0.8, 0.5, 0.3, 0.28, 0.05, 0.01, 0.01])[:, None]
    q, seen = np.array([8]), []
    for _ in range(6):
        q = q_rule(p, q)
        seen.append(int(q[0]))
    assert len(set(seen[-2:])) == 2  # as printed it swings for ever
    fixed = int(q_fixed_point(p)[0])
    assert p[fixed - 1, 0] >= fixed / 8 and p[fixed, 0] < (fixed + 1) / 8
    damped = 8.0
    for _ in range(200):
        damped += 0.05 * (float(q_rule(p, np.array([damped]))[0]) - damped)
    assert abs(damped - fixed) <= 1.0


def test_a_topic_without_likely_words_keeps_one_keyword():
    np.testing.assert_array_equal(q_fixed_point(np.full((100, 2), 1e-6)), [1, 1])


def test_cross_gaussians_are_moments_of_the_words_that_are_no_keywords_zeros_included():
    dense = documents(seed=1)
    rows = rows_of(dense)
    keywords = with_keywords(rows, 3)
    mu = np.random.default_rng(0).dirichlet(np.ones(4), size=len(dense))
    cross = cross_gaussians(Totals.of(rows), gather(keywords, mu), floor=1e-9)
    x = indicators(keywords)
    for i in range(dense.shape[1]):
        others = dense[~x[:, i], i]
        assert cross.mean[i] == pytest.approx(others.mean(), abs=1e-12)
        assert cross.var[i] == pytest.approx(max(others.var(), 1e-9), abs=1e-12)


def test_totals_add_up():
    rows = rows_of(documents())
    parts = Totals.of(rows.part(0, 5)) + Totals.of(rows.part(5, len(rows)))
    whole = Totals.of(rows)
    assert parts.n_rows == whole.n_rows
    np.testing.assert_allclose(parts.first, whole.first, rtol=1e-14)
    np.testing.assert_allclose(parts.second, whole.second, rtol=1e-14)


def test_cross_evidence_is_the_dense_sum():
    dense = documents(seed=2)
    rows = rows_of(dense)
    keywords = with_keywords(rows, np.arange(len(dense)) % 4)
    cross = cross_gaussians(Totals.of(rows), gather(keywords, np.ones((len(dense), 1))), 0.01, strength=2.0)
    density = norm.logpdf(dense, cross.mean, np.sqrt(cross.var))
    expected = np.where(indicators(keywords), 0.0, density).sum(axis=1)
    np.testing.assert_allclose(cross_evidence(rows, keywords, cross), expected, atol=1e-10)


def test_consensus_matches_topics_before_it_averages():
    rng = np.random.default_rng(0)
    truth = np.eye(5)[rng.integers(0, 5, 200)]
    fits = []
    for _ in range(6):
        noisy = truth.copy()
        wrong = rng.choice(200, 40, replace=False)
        noisy[wrong] = np.eye(5)[rng.integers(0, 5, 40)]
        fits.append(noisy[:, rng.permutation(5)])
    mean = consensus(fits)
    np.testing.assert_allclose(mean.sum(axis=1), 1.0)
    agreed = aligned(mean, truth).argmax(axis=1) == truth.argmax(axis=1)
    alone = [(aligned(mu, truth).argmax(axis=1) == truth.argmax(axis=1)).mean() for mu in fits]
    assert agreed.mean() > max(alone) and agreed.mean() > 0.97
