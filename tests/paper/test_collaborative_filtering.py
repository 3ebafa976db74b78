"""Eq. (10) and its updates, against direct evaluations of the paper's formulas over all items."""

import numpy as np
import pytest
from scipy.stats import norm

from lbg_recsys.core.em.bernoulli_gauss import Prior, e_step, gather, log_joint, m_step, posterior
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.ratings import LBGModel, as_matrix


@pytest.fixture
def tiny():
    """Five users, four items, three topics: dense ratings, indicators, parameters."""
    rng = np.random.default_rng(3)
    x = rng.random((5, 4)) < 0.6
    x[0] = False  # a user with no ratings at all
    x[1] = True
    m = np.where(x, rng.integers(1, 6, x.shape), 0).astype(float)
    lam = rng.dirichlet(np.ones(3))
    parameters = Parameters(
        lam, rng.uniform(0.05, 0.95, (4, 3)), rng.uniform(1, 5, (4, 3)), rng.uniform(0.2, 2, (4, 3))
    )
    indptr = np.append(0, x.sum(axis=1).cumsum())
    rows = SparseRows.from_csr(indptr, np.nonzero(x)[1], m[x], 4)
    return x, m, parameters, rows


def product_formula(x, m, parameters):
    """lam_s prod_i (p N(m; c, var))^x (1 - p)^(1 - x), factor by factor."""
    out = np.tile(parameters.lam, (len(x), 1))
    for j in range(x.shape[0]):
        for s in range(parameters.n_topics):
            for i in range(x.shape[1]):
                p = parameters.p[i, s]
                density = norm.pdf(m[j, i], parameters.c[i, s], np.sqrt(parameters.var[i, s]))
                out[j, s] *= p * density if x[j, i] else 1.0 - p
    return out


def test_log_likelihood_and_posteriors_equal_the_product_over_all_items(tiny):
    x, m, parameters, rows = tiny
    product = product_formula(x, m, parameters)
    mu, evidence = posterior(log_joint(rows, parameters))
    np.testing.assert_allclose(evidence, np.log(product.sum(axis=1)), atol=1e-10)
    np.testing.assert_allclose(mu, product / product.sum(axis=1, keepdims=True), atol=1e-10)
    assert e_step(rows, parameters).evidence == pytest.approx(np.log(product.sum(axis=1)).sum(), abs=1e-10)


def test_tempered_and_weighted_posteriors(tiny):
    x, m, parameters, rows = tiny
    silent = Parameters(parameters.lam, np.full((4, 3), 0.5), parameters.c, parameters.var)
    ratings_only = product_formula(x, m, silent) * 2.0**4  # p = 1/2 everywhere says nothing
    mu, _ = posterior(log_joint(rows, parameters, indicator_weight=0.0), 0.3)
    expected = ratings_only**0.3
    np.testing.assert_allclose(mu, expected / expected.sum(axis=1, keepdims=True), atol=1e-10)


def test_every_update_equals_its_formula(tiny):
    x, m, _parameters, rows = tiny
    mu = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    prior = Prior(np.zeros(4), np.zeros(4), np.ones(4), 0.0, 0.0, 1e-6)
    new = m_step(gather(rows, mu), prior)
    np.testing.assert_allclose(new.lam, mu.mean(axis=0), atol=1e-12)
    for s in range(3):
        for i in range(4):
            weight = mu[:, s] * x[:, i]
            c = (weight * m[:, i]).sum() / weight.sum()
            assert new.p[i, s] == pytest.approx(weight.sum() / mu[:, s].sum(), abs=1e-12)
            assert new.c[i, s] == pytest.approx(c, abs=1e-12)
            variance = (weight * (m[:, i] - c) ** 2).sum() / weight.sum()
            assert new.var[i, s] == pytest.approx(max(variance, 1e-6), abs=1e-12)


def test_map_update_is_the_update_with_pseudo_rows(tiny):
    """Three pseudo-rows at the prior's rate, mean and variance, added by hand to the statistics."""
    _, _, _, rows = tiny
    statistics = gather(rows, np.random.default_rng(0).dirichlet(np.ones(3), 5))
    rate, mean, var = np.full(4, 0.4), np.array([2.0, 3.0, 4.0, 3.0]), np.array([0.5, 1.0, 0.7, 2.0])
    smoothed = m_step(statistics, Prior(rate, mean, var, 3.0, 3.0, 1e-6))
    one = np.ones((1, 3))
    padded = SufficientStatistics(
        5,
        0.0,
        statistics.mass + 3.0,
        statistics.count + 3.0 * one,
        statistics.first + 3.0 * mean[:, None] * one,
        statistics.second + 3.0 * (var + mean**2)[:, None] * one,
    )
    plain = m_step(padded, Prior(rate, mean, var, 0.0, 0.0, 1e-6))
    np.testing.assert_allclose(smoothed.c, plain.c, atol=1e-12)
    np.testing.assert_allclose(smoothed.var, plain.var, atol=1e-12)
    np.testing.assert_allclose(smoothed.p, (statistics.count + 3.0 * 0.4) / (statistics.mass + 3.0), atol=1e-12)


@pytest.mark.parametrize("baseline", [False, True])
def test_predictive_distribution_equals_the_paper_formula(baseline):
    """Pr(m_i = t | d) with x_i = 1 set, its Bernoulli term in the posterior and its Gaussian term not."""
    rng = np.random.default_rng(1)
    x = rng.random((12, 6)) < 0.5
    x[np.arange(12), np.arange(12) % 6] = True
    users, items = np.nonzero(x)
    ratings = rng.integers(1, 6, len(users)).astype(float)
    model = LBGModel(n_topics=3, random_state=0, baseline=baseline, max_iter=5, tol=0.0)
    with pytest.warns(UserWarning):
        model.fit((users, items, ratings), scale=(1, 5))
    offset = (
        model.biases_.predict(np.repeat(np.arange(12), 6), np.tile(np.arange(6), 12)) if baseline else np.zeros(72)
    )
    offset = offset.reshape(12, 6)
    code = model.matrix.items.codes(np.arange(6))
    parameters = Parameters(
        model.parameters_.lam, model.parameters_.p[code], model.parameters_.c[code], model.parameters_.var[code]
    )
    if baseline:
        offset = model.biases_.predict(
            np.repeat(model.matrix.users.codes(np.arange(12)), 6), np.tile(code, 12)
        ).reshape(12, 6)
    dense = np.zeros((12, 6))
    dense[users, items] = ratings
    for user in range(12):
        for item in range(6):
            seen = x[user].copy()
            forced = seen.copy()
            forced[item] = True
            weight = parameters.lam.copy()
            for i in range(6):
                p, c, var = parameters.p[i], parameters.c[i] + offset[user, i], parameters.var[i]
                weight *= p if forced[i] else 1.0 - p
                if seen[i]:
                    weight *= norm.pdf(dense[user, i], c, np.sqrt(var))
            c, var = parameters.c[item] + offset[user, item], parameters.var[item]
            mass = np.array([(weight * norm.pdf(t, c, np.sqrt(var))).sum() for t in range(1, 6)])
            found = model.predict_distribution([(user, item)])[0]
            np.testing.assert_allclose(found, mass / mass.sum(), atol=1e-10)


def test_one_topic_has_its_closed_form():
    ratings = (["a", "a", "b", "c"], ["x", "y", "x", "x"], [5.0, 2.0, 4.0, 1.0])
    model = LBGModel(n_topics=1, prior_strength=0.0, random_state=0).fit(ratings, scale=(1, 5))
    np.testing.assert_allclose(model.parameters_.lam, [1.0])
    np.testing.assert_allclose(model.parameters_.p[:, 0], [1.0, 1 / 3], atol=1e-8)
    np.testing.assert_allclose(model.parameters_.c[:, 0], [10 / 3, 2.0])
    np.testing.assert_allclose(model.parameters_.var[:, 0], [np.var([5, 4, 1]), 1 / 12])
    assert model.converged_


def test_two_planted_groups_are_recovered():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    favour = np.array([[0.9] * 10 + [0.2] * 10, [0.2] * 10 + [0.9] * 10])
    likes = np.array([[5] * 10 + [2] * 10, [1] * 10 + [4] * 10])
    x = rng.random((80, 20)) < favour[group]
    users, items = np.nonzero(x)
    ratings = np.clip(np.rint(likes[group[users], items] + rng.normal(0, 0.7, len(users))), 1, 5)
    model = LBGModel(n_topics=2, random_state=0, n_init=3).fit((users, items, ratings), scale=(1, 5))
    found = model.posterior()[model.matrix.users.codes(np.arange(80))].argmax(axis=1)
    assert max((found == group).mean(), (found != group).mean()) == 1.0


def test_matrix_reads_structure_not_value():
    """A rating of zero is a rating: x comes from the structure."""
    matrix = as_matrix((["a", "a"], ["x", "y"], [0.0, 5.0]))
    assert matrix.n_ratings == 2
    assert matrix.values.tolist() == [0.0, 5.0]
