"""Effects of when ratings were given: draws against exact posteriors."""

import numpy as np

from lbg_recsys.core.gibbs.arrays import Gamma, Residuals, Weights
from lbg_recsys.core.gibbs.occasions import Kind, OccasionEffects

N_ROWS, N_COLS = 6, 5


def setting(drifts):
    """30 entries of 8 occasions: four owners of two each."""
    rng = np.random.default_rng(0)
    indptr, columns = np.arange(0, 31, 5), np.tile(np.arange(5), 6).astype(np.int32)
    chained = np.arange(8) % 2 == 1
    kind = Kind(rng.integers(0, 8, 30).astype(np.int32), chained if drifts else np.zeros(8, bool), drifts)
    weights = Weights(rng.uniform(0.5, 2, N_ROWS).astype(np.float32), rng.uniform(0.5, 2, N_COLS).astype(np.float32))
    return kind, indptr, columns, rng.normal(size=30).astype(np.float32), weights


def exact(kind, columns, utility, weights, tau):
    """Mean and variance of the effects given utilities and tau: the joint Gaussian, solved at once."""
    weight = np.repeat(weights.row, 5) * weights.col[columns]
    precision = np.diag(np.bincount(kind.code, weight, minlength=8))
    for g in range(8):
        before = np.eye(8)[g] - (np.eye(8)[g - 1] if kind.chained[g] else 0)
        precision += tau * np.outer(before, before)
    covariance = np.linalg.inv(precision)
    return covariance @ np.bincount(kind.code, weight * utility, minlength=8), np.diag(covariance)


def test_draws_have_the_exact_posterior():
    for drifts in (False, True):
        kind, indptr, columns, utility, weights = setting(drifts)
        effects, rng = OccasionEffects([kind]), np.random.default_rng(1)
        res, tau, drawn = utility.copy(), 3.0, []
        for _ in range(6000):
            effects.tau[0] = tau  # as if it were known
            effects.draw(rng, Residuals(indptr, columns, res), weights, Gamma(0.5, 0.005))
            drawn.append(effects.effects[0].copy())
        np.testing.assert_allclose(res, utility - effects.of_entries(30), atol=1e-3)
        mean, variance = exact(kind, columns, utility, weights, tau)
        drawn = np.array(drawn[100:])
        np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.04)
        np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.12)


def test_the_precision_follows_the_effects():
    rng = np.random.default_rng(2)
    n = 400
    code = np.repeat(np.arange(n), 10).astype(np.int32)
    truth = rng.normal(0, 0.5, n)
    res = (truth[code] + rng.normal(0, 0.3, 10 * n)).astype(np.float32)
    effects = OccasionEffects([Kind(code, np.zeros(n, bool), False)])
    weights = Weights(np.full(n, 1 / 0.09, np.float32), np.ones(10, np.float32))
    entries = Residuals(np.arange(0, 10 * n + 1, 10), np.tile(np.arange(10), n).astype(np.int32), res)
    spread = []
    for _ in range(200):
        effects.draw(rng, entries, weights, Gamma(0.5, 0.005))
        spread.append(effects.spread)
    assert abs(np.mean(spread[50:]) - truth.var()) < 0.03


def test_a_drift_is_kept_relative_to_its_last_level():
    kind, *_ = setting(drifts=True)
    effects = OccasionEffects([kind])
    effects.effects[0][:] = np.arange(8)
    np.testing.assert_array_equal(effects.last_levels(4), [1, 3, 5, 7])
    steps, step = effects.kept()
    np.testing.assert_allclose(steps * step, [-1, 0] * 4)
    assert effects.spread == 0.0  # items do not widen the noise of users
