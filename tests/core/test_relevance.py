"""Ridge regression with learned penalties, beside its definition."""

import numpy as np
from scipy.optimize import minimize

from lbg_recsys.core.relevance import learn_penalties, regress


def centred(rng, n, width):
    x, weight = rng.normal(size=(n, width)), rng.uniform(0.5, 2.0, n)
    return x - weight @ x / weight.sum(), weight


def evidence(logarithms, x, y, weight, groups):
    """The log evidence of penalties, the variance being the one that maximises the likelihood of the residuals."""
    root = np.sqrt(weight)
    x, y = x * root[:, None], y * root
    shape = np.eye(len(y)) + x @ np.diag(np.exp(-logarithms[groups])) @ x.T
    variance = y @ np.linalg.solve(shape, y) / len(y)
    return -0.5 * (len(y) * np.log(variance) + np.linalg.slogdet(shape)[1])


def test_penalties_have_the_largest_evidence():
    rng = np.random.default_rng(0)
    x, weight = centred(rng, 60, 4)
    groups = np.array([0, 0, 1, 1])
    y = x @ np.array([0.5, -0.4, 0.2, 0.3]) + rng.normal(size=60) / np.sqrt(weight)
    y -= weight @ y / weight.sum()
    weight *= 60 / weight.sum()
    found = learn_penalties(x, y, weight, groups)
    best = minimize(lambda p: -evidence(p, x, y, weight, groups), np.zeros(2), method="Nelder-Mead").x
    assert found[0] == found[1] and found[2] == found[3]
    # the variance is that of the residuals here, and is determined a little differently there
    np.testing.assert_allclose(np.log(found[[0, 2]]), best, atol=0.4)


def test_a_useless_group_is_left_out_and_a_useful_one_is_not():
    rng = np.random.default_rng(1)
    x, weight = centred(rng, 400, 12)
    groups = np.array([0] * 2 + [1] * 10)
    y = x[:, 0] - x[:, 1] + rng.normal(size=400)
    y -= weight @ y / weight.sum()
    b = regress(x, y[:, None], weight, learn_penalties(x, y, weight, groups))[:, 0]
    assert np.abs(b[:2] - [1, -1]).max() < 0.2
    plain = regress(x, y[:, None], weight, np.full(12, 1e-6))[:, 0]
    assert np.square(b[2:]).sum() < 0.6 * np.square(plain[2:]).sum()


def test_regressions_are_those_of_the_normal_equations():
    rng = np.random.default_rng(2)
    x, weight = centred(rng, 30, 3)
    targets, penalty = rng.normal(size=(30, 2)), np.array([1.0, 2.0, 0.5])
    b = regress(x, targets, weight, penalty)
    np.testing.assert_allclose(x.T @ (weight[:, None] * (targets - x @ b)), penalty[:, None] * b, atol=1e-9)


def test_constant_columns_and_constant_targets_have_no_effect():
    x, weight = np.zeros((5, 2)), np.ones(5)
    penalty = learn_penalties(x, np.zeros(5), weight, np.array([0, 1]))
    assert np.isfinite(penalty).all() and not regress(x, np.ones((5, 1)), weight, penalty).any()
