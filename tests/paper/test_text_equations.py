"""Section 2 of the paper against direct, dense evaluations: Eqs. (1) to (7), novel documents."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from lbg_recsys.text import LBGMixture

LITERAL = {"length_temper": None, "prior_p": 0, "prior_gauss": 0, "init": "random"}


def corpus(m=40, n=12, seed=0, density=0.7):
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(m, n)) * (rng.random((m, n)) < density)
    X[:, 0] += 0.5  # no empty documents
    return X


def fitted(X, k=3, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LBGMixture(k, **{"random_state": 0, **settings}).fit(X)


def log_pdy(model, X, x, s):
    """log of Eq. (1) for topic s, word by word; ``x`` (m, n)."""
    p = np.clip(model.keyword_prob_[s], 1e-9, 1 - 1e-9)
    keyword = np.log(p) + norm.logpdf(X, model.means_[s], np.sqrt(model.variances_[s]))
    other = np.log1p(-p) + norm.logpdf(X, model.cross_means_, np.sqrt(model.cross_variances_))
    return np.where(x, keyword, other).sum(axis=1)


def log_joint(model, X, x):
    return np.column_stack([np.log(model.weights_[s]) + log_pdy(model, X, x, s) for s in range(len(model.weights_))])


def top(X, g):
    """The g_j largest positive entries of each row."""
    order = np.argsort(-X, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(X.shape[1])[None, :], axis=1)
    return (rank < np.reshape(g, (-1, 1))) & (X > 0)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("prior", [0, 3.0])
def test_likelihood_and_posteriors_equal_a_dense_evaluation(container, prior):
    X = corpus()
    model = fitted(container(X), n_keywords=4, length_temper=None, prior_p=prior, prior_gauss=prior, max_iter=20)
    new = corpus(seed=9)
    joint = log_joint(model, new, top(new, 4))
    np.testing.assert_allclose(model.score_samples(container(new)), logsumexp(joint, axis=1), rtol=1e-10, atol=1e-10)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(container(new)), expected, atol=1e-10)
    assert model.score(new) == pytest.approx(logsumexp(joint, axis=1).mean(), abs=1e-10)


def test_length_temper_and_draws_do_what_the_documentation_says():
    X = corpus(n=30)
    x = top(X, 20)
    g = x.sum(axis=1, keepdims=True)
    model = fitted(X, n_keywords=20, length_temper=3.0, evidence="bernoulli")
    joint = np.minimum(1.0, 3.0 / g) * log_joint(model, X, x)
    np.testing.assert_allclose(
        model.predict_proba(X), np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), atol=1e-10
    )
    model = fitted(X, n_keywords=20, length_temper=3.0, evidence="draws")
    p = model.keyword_prob_
    draws = np.log(p / p.sum(axis=1, keepdims=True))
    joint = np.column_stack(
        [
            np.log(model.weights_[s])
            + np.where(x, draws[s] + norm.logpdf(X, model.means_[s], np.sqrt(model.variances_[s])), 0.0).sum(axis=1)
            for s in range(3)
        ]
    )
    joint *= np.minimum(1.0, 3.0 / g)
    np.testing.assert_allclose(
        model.predict_proba(X), np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), atol=1e-10
    )


def test_every_update_equals_its_formula():
    """A fit of one more iteration has the parameters that the formulas give for the posteriors before it."""
    X = corpus(m=60, n=8, seed=3)
    before = fitted(X, n_keywords=3, max_iter=5, tol=0, **LITERAL)
    after = fitted(X, n_keywords=3, max_iter=6, tol=0, **LITERAL)
    mu, x = before.predict_proba(X), top(X, 3)
    np.testing.assert_allclose(after.weights_, mu.mean(axis=0), atol=1e-10)
    for s in range(3):
        weight = mu[:, s : s + 1] * x
        np.testing.assert_allclose(
            after.keyword_prob_[s], np.clip(weight.sum(axis=0) / mu[:, s].sum(), 1e-9, 1 - 1e-9), atol=1e-10
        )
        said = weight.sum(axis=0) > 1e-6
        total = np.where(said, weight.sum(axis=0), 1.0)
        c = (weight * X).sum(axis=0) / total
        np.testing.assert_allclose(after.means_[s][said], c[said], atol=1e-9)
        var = (weight * (X - c) ** 2).sum(axis=0) / total
        floor = 1e-6 * (X[x] ** 2).mean()
        np.testing.assert_allclose(after.variances_[s][said], np.maximum(var, floor)[said], atol=1e-10)
    others = np.where(x, np.nan, X)
    np.testing.assert_allclose(after.cross_means_, np.nanmean(others, axis=0), atol=1e-10)
    np.testing.assert_allclose(after.cross_variances_, np.maximum(np.nanvar(others, axis=0), floor), atol=1e-10)


def test_priors_are_pseudo_documents_of_the_corpus():
    X = corpus(m=60, n=8, seed=3)
    settings = {
        "n_keywords": 3,
        "length_temper": None,
        "init": "random",
        "prior_p": 7.0,
        "prior_gauss": 5.0,
        "tol": 0,
    }
    before, after = fitted(X, max_iter=5, **settings), fitted(X, max_iter=6, **settings)
    mu, x = before.predict_proba(X), top(X, 3)
    rate = (x.sum(axis=0) + 0.5) / (len(X) + 1.0)
    expected = (mu.T @ x + 7.0 * rate) / (mu.sum(axis=0)[:, None] + 7.0)
    np.testing.assert_allclose(after.keyword_prob_, expected, atol=1e-10)
    values = X[x]
    mean = (np.where(x, X, 0).sum(axis=0) + values.mean()) / (x.sum(axis=0) + 1.0)
    expected = (mu.T @ np.where(x, X, 0) + 5.0 * mean) / (mu.T @ x + 5.0)
    np.testing.assert_allclose(after.means_, expected, atol=1e-10)


@pytest.mark.parametrize("evidence", ["bernoulli", "draws"])
@pytest.mark.parametrize("temper", [None, 2.0])
def test_the_bound_never_falls_while_keywords_are_held(evidence, temper):
    X = corpus(m=80, n=30)
    model = fitted(X, k=4, n_keywords=8, length_temper=temper, evidence=evidence, tol=0, max_iter=40)
    assert len(model.history_) == model.n_iter_ > 3
    assert np.diff(model.history_).min() > -1e-9


def planted(m=300, n=40, k=3, q=(4, 6, 8), seed=0):
    """Documents of k topics; topic s has q_s loud words of its own, all other words are quiet."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, k, m)
    X = rng.uniform(0.1, 0.5, size=(m, n))
    first = np.concatenate([[0], np.cumsum(q)])
    for j, s in enumerate(topics):
        X[j, first[s] : first[s + 1]] = rng.uniform(2.0, 3.0, q[s])
    return X, topics


def test_claim_1_holds_at_a_fixed_point_of_the_paper_rule():
    """b = U U^T q with b_s = (sum_j mu_sj) (sum_i p_si), at x unchanged by its own rule."""
    X, topics = planted()
    model = fitted(X, n_keywords="paper", **{**LITERAL, "init": "kmeans"}, max_iter=200)
    assert model.converged_
    U = model.predict_proba(X).T
    b = U.sum(axis=1) * model.keyword_prob_.sum(axis=1)
    np.testing.assert_allclose(b, U @ U.T @ model.n_keywords_, rtol=1e-6)
    np.testing.assert_allclose(model.keyword_prob_.sum(axis=1), model.n_keywords_, rtol=1e-6)  # Eq. (8)
    sizes = {int(model.n_keywords_[model.labels_[topics == s]].mean()) for s in range(3)}
    assert sizes == {4, 6, 8}


def test_novel_documents_take_the_two_steps():
    X, _ = planted(seed=1)
    model = fitted(X, n_keywords="paper", length_temper=None, prior_p=2.0, prior_gauss=2.0)
    q = model.n_keywords_
    assert len(set(q)) > 1
    new, _ = planted(m=20, seed=7)
    own = np.column_stack([np.log(model.weights_[s]) + log_pdy(model, new, top(new, q[s]), s) for s in range(len(q))])
    first = np.exp(own - logsumexp(own, axis=1, keepdims=True))
    x = top(new, np.rint(first @ q))
    np.testing.assert_array_equal(model.keywords(new).toarray(), x)
    joint = log_joint(model, new, x)
    np.testing.assert_allclose(model.score_samples(new), logsumexp(joint, axis=1), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        model.predict_proba(new), np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), atol=1e-10
    )
