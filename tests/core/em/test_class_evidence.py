"""What documents say for topics that they were counted in, against an M-step without them."""

import numpy as np
import pytest

from lbg_recsys.core.em.bernoulli_gauss import Prior, gather, m_step
from lbg_recsys.core.em.class_evidence import ClassTopics, entries_of, evidence, fit_exponents, left_out_evidence
from lbg_recsys.core.sparse import SparseRows


@pytest.fixture(scope="module")
def corpus():
    """Documents, the posteriors that they were counted with, and a prior."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.8, (60, 12)).astype(float)
    counts[:, 0] += 1.0  # no document is empty
    rows, columns = np.nonzero(counts)
    documents = SparseRows.from_entries(rows, columns, counts[rows, columns], 60, 12)
    prior = Prior(rng.uniform(0.2, 0.5, 12), rng.uniform(0.5, 2.0, 12), rng.uniform(0.5, 2.0, 12), 3.0, 2.0, 0.05)
    return documents, rng.dirichlet(np.ones(3), 60), prior


def without(documents, share, prior, j):
    """The evidence of document j by the parameters of all others."""
    weight = share.copy()
    weight[j] = 0.0
    own = documents.part(j, j + 1)
    return evidence(entries_of(own), m_step(gather(documents, weight), prior))[:, 0]


def test_left_out_is_an_m_step_without_the_document(corpus):
    documents, share, prior = corpus
    found = left_out_evidence(entries_of(documents), share, gather(documents, share), prior)
    expected = np.stack([without(documents, share, prior, j) for j in range(60)], axis=1)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-10)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-10)
    # the silence of absent words follows to first order only
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=3e-2)


def test_silence_follows_to_first_order(corpus):
    """Of a document that counted little, the error of the first order is the square of that little."""
    documents, share, prior = corpus
    little = share.copy()
    little[7] *= 1e-3
    statistics = gather(documents, little)
    entries = entries_of(documents)
    found = left_out_evidence(entries, little, statistics, prior)[1, 7]
    expected = without(documents, little, prior, 7)[1]
    moved = expected - evidence(entries, m_step(statistics, prior))[1, 7]
    assert np.abs(moved).min() > 1e-5
    np.testing.assert_allclose(found - expected, 0.0, atol=1e-3 * np.abs(moved).max())


def test_exponents_of_few_documents_stay_near_the_start():
    """Documents that their evidence tells apart without an error would be best explained by infinite exponents."""
    found = np.zeros((3, 6, 2))
    found[0, :3, 0] = found[0, 3:, 1] = 1.0
    topics, codes = ClassTopics(np.array([0, 1]), np.zeros(2)), np.repeat([0, 1], 3)
    few, _ = fit_exponents(found, topics, np.zeros(2), codes, np.ones(6))
    many, _ = fit_exponents(found, topics, np.zeros(2), codes, np.full(6, 1000.0))
    assert 1.0 < few[0] < 1.3 and many[0] > 4.0 and few[1:].tolist() == [0.0, 0.0]
