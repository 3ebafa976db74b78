"""Features of rows and columns: their draws beside exact posteriors."""

import numpy as np

from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.gibbs.features import Design, Regressions, draw_precisions

N = 4000


def agrees(draws, mean, spread):
    """Means of N draws to within five standard errors."""
    assert np.abs(draws.mean(axis=0) - mean).max() < 5 * np.max(spread) / np.sqrt(N)


def test_coefficients_have_the_posteriors_of_their_regressions():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 3)).astype(np.float32)
    targets, tau = rng.normal(size=(2, 30)).astype(np.float32), np.array([4.0, 1.5])
    known = Regressions(Design(values, np.array([0, 0, 1])), 2)
    kappa = np.array([2.0, 2.0, 30.0])
    draws = np.empty((N, 2, 3))
    for one in draws:
        known.kappa = kappa
        expected = known.draw(rng, targets, tau, Gamma(0.5, 0.5))
        np.testing.assert_allclose(expected, known.beta @ values.T, rtol=1e-4, atol=1e-5)
        one[:] = known.beta
    x = values.astype(float)
    for t, precision in enumerate(tau):
        covariance = np.linalg.inv(precision * (np.diag(kappa) + x.T @ x))
        agrees(draws[:, t], precision * covariance @ x.T @ targets[t], np.sqrt(np.diag(covariance)))
        np.testing.assert_allclose(np.cov(draws[:, t].T), covariance, atol=0.12 * covariance.max())


def test_precisions_have_the_gamma_posterior_of_their_group():
    rng = np.random.default_rng(0)
    coefficients, groups = rng.normal(size=(2, 5, 3)), np.array([0, 1, 1])
    draws = np.array([draw_precisions(rng, coefficients, groups, Gamma(0.5, 0.2)) for _ in range(N)])
    np.testing.assert_array_equal(draws[:, 1], draws[:, 2])
    square = np.square(coefficients).sum(axis=(0, 1))
    for column, amount, total in ((0, 10, square[0]), (1, 20, square[1:].sum())):
        shape, rate = 0.5 + amount / 2, 0.2 + total / 2
        agrees(draws[:, column], shape / rate, np.sqrt(shape) / rate)


def test_without_features_nothing_is_drawn():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    known = Regressions(Design(np.empty((0, 0), np.float32), np.empty(0, np.int64)), 2)
    assert not known.draw(rng, np.ones((2, 4), np.float32), np.ones(2), Gamma(0.5, 0.5)).any()
    assert rng.bit_generator.state == before
