"""Every conditional draw of Bayesian LBG against its formula: moments over many draws."""

import itertools

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm, truncnorm

from lbg_recsys.core.gibbs.arrays import Gamma, Intervals, RatedLevels, Residuals, Weights
from lbg_recsys.core.gibbs.components import (
    ComponentSettings,
    Profiles,
    absence_evidence,
    count_classes,
    draw_class,
    draw_means,
    draw_shares,
    logarithm,
    presence_evidence,
    refresh_profile,
    table_column,
    table_width,
    tabulate_means,
)
from lbg_recsys.core.gibbs.convergence import split_rhat
from lbg_recsys.core.gibbs.effects import (
    EffectPrior,
    Effects,
    draw_col_effects,
    draw_noise_rate,
    draw_row_effects,
)
from lbg_recsys.core.gibbs.normal import normal_cdf, smooth_cdf, truncated_normal
from lbg_recsys.core.gibbs.ordinal import (
    count_neighbours,
    draw_utilities,
    move_cuts,
    move_own_cuts,
    rescale_own_cuts,
    set_apart,
)
from lbg_recsys.core.gibbs.ridge import SHRINKAGE, ridge_draw
from lbg_recsys.core.gibbs.tilt import inside, tilt

N = 4000
SPREAD = Gamma(2.0, 3.0)


def agrees(sample, expected, spread, limit=4.5):
    """Whether the mean of independent draws is within ``limit`` standard errors of what it should be."""
    error = np.abs(np.mean(sample, axis=0) - expected) / (np.asarray(spread) / np.sqrt(len(sample)))
    assert np.max(error) < limit, np.max(error)


def is_gamma(sample, shape):
    """Whether draws have the mean and the variance of a Gamma(shape, 1)."""
    agrees(sample, shape, np.sqrt(shape))
    agrees(np.square(sample - shape), shape, np.sqrt(2 * shape**2 + 6 * shape))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_normal_cdf_is_the_exact_one_to_nine_digits():
    x = np.concatenate([np.linspace(-9, 9, 997), [-np.inf, np.inf]])
    np.testing.assert_allclose([normal_cdf(one) for one in x], ndtr(x), atol=1e-9)


def test_smooth_cdf_and_its_derivative_to_six_and_five_digits():
    x = np.concatenate([np.linspace(-9, 9, 997), [-1e30, 1e30, -np.inf, np.inf]]).astype(np.float32)
    below, density = np.array([smooth_cdf(one) for one in x]).T
    np.testing.assert_allclose(below, norm.cdf(x.astype(float)), atol=1e-6)
    np.testing.assert_allclose(density, norm.pdf(x.astype(float)), atol=1e-5)


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1, 0.2), (0.3, 1), (1, np.inf), (-np.inf, -2), (-3, 4), (3, 9), (5, 5.1), (-np.inf, np.inf), (-8, -7.5)],
)
def test_truncated_normal_has_its_moments_and_stays_inside(rng, low, high):
    draws = np.array([truncated_normal(rng, low, high) for _ in range(N)])
    mean, variance = truncnorm.stats(low, high)
    assert (draws > low).all() and (draws < high).all()
    agrees(draws, mean, np.sqrt(variance))
    assert abs(draws.var() / variance - 1) < 0.15


def test_ridge_draw_has_the_posterior_of_the_regression(rng):
    features, target, precision = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), 4.0
    gram, cross = features.T @ features, target.T @ features
    draws, shrinkage = np.empty((N, 2, 3)), np.array([0.5, 10.0, 60.0])
    for one in draws:
        ridge_draw(rng, gram, cross, precision, shrinkage, one)
    covariance = np.linalg.inv(np.diag(shrinkage) + precision * gram)
    agrees(draws, precision * cross @ covariance, np.sqrt(np.diag(covariance)))
    np.testing.assert_allclose(np.cov(draws[:, 0].T), covariance, atol=0.12 * covariance.max())


def test_class_means_and_their_precision(rng):
    phi = rng.normal(size=(4, 2)).astype(np.float32)
    eta = rng.normal(size=(3, 4)).astype(np.float32)
    weight = np.array([0.5, 2.0], np.float32)
    stat = rng.uniform(1, 5, (2, 3, 2)).astype(np.float32)
    tau, prior, settings = 3.0, eta @ phi, ComponentSettings(SPREAD, 0.0, False)
    precision = weight * stat[0] + tau
    expected = (weight * stat[1] + tau * prior) / precision
    draws, taus, gammas = np.empty((N, 3, 2), np.float32), np.empty(N), np.empty(N)
    for n, c in enumerate(draws):
        left = stat.copy()
        noise = rng.standard_normal((3, 2), np.float32)
        taus[n] = draw_means(rng, phi, eta, tau, settings, left, weight, noise, c)
        assert not left.any()  # ready for the next component
        gammas[n] = taus[n] * (SPREAD[1] + 0.5 * np.square(c - prior).sum())
    agrees(draws, expected, 1 / np.sqrt(precision))
    np.testing.assert_allclose(draws.var(axis=0) * precision, 1, atol=0.12)
    shape = SPREAD[0] + 3.0  # six means: the new tau is Gamma(a + 6/2) / (b + squares/2)
    is_gamma(gammas, shape)


def test_class_shares_are_dirichlet(rng):
    z = np.array([[0], [0], [2], [0]], np.int8)
    lam, size = np.empty((N, 3)), np.empty(3)
    for one in lam:
        draw_shares(rng, z, 0, one, size)
    np.testing.assert_array_equal(size, [3, 0, 1])
    expected = np.array([4, 1, 2]) / 7
    agrees(lam, expected, np.sqrt(expected * (1 - expected) / 8))


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("n", [0, 1, 6, 7])
def test_a_class_is_drawn_with_its_posterior_probability(rng, k, n):
    weight = 1.3
    c, a = rng.normal(size=(k, n)).astype(np.float32), rng.uniform(0.5, 1, n).astype(np.float32)
    res = rng.normal(size=n).astype(np.float32)
    evidence = rng.normal(size=(k, n)) * 0.3
    order = rng.permutation(n).astype(np.int32)  # entry e is in column order[e]
    table = np.zeros((n, table_width(k)), np.float32)
    tabulate_means(c, a, table)
    for s in range(1, k):
        table[:, table_column(s) + 4] = evidence[s] - evidence[0]
    base = np.log(np.arange(1, k + 1) / np.arange(1, k + 1).sum())
    mean = c[:, order]
    log_odds = base + weight * (a[order] * (mean * res - mean**2 / 2)).sum(axis=1) + evidence.sum(axis=1)
    expected = np.exp(log_odds - np.logaddexp.reduce(log_odds))
    drawn = np.zeros((N, k))
    for one in drawn:
        one[draw_class(order, res, weight, table, rng.random(), base.copy())] = 1
    agrees(drawn, expected, np.sqrt(expected * (1 - expected)) + 1e-3)


def test_the_vectorised_logarithm_is_one_in_single_precision(rng):
    x = np.exp(rng.uniform(-80, 80, 5000)).astype(np.float32)
    x[:4] = 1.0, 2 / 3, 4 / 3, np.nextafter(np.float32(1), np.float32(0))
    x[4:2000] = np.linspace(0.6, 1.4, 1996)
    y = x.copy()
    logarithm(y)
    np.testing.assert_allclose(y, np.log(x.astype(float)), rtol=2.5e-7)


def test_profiles_counts_and_indicator_evidence_follow_their_formulas(rng):
    mask = rng.random((9, 5)) < 0.6
    mask[0] = True
    rows, col = np.nonzero(mask)
    z = rng.integers(0, 3, (9, 2)).astype(np.int8)
    counts = np.zeros((2, 3, 5), np.int32)
    count_classes(rows, col, z, counts)
    direct = np.stack([[mask[z[:, h] == s].sum(axis=0) for s in range(3)] for h in range(2)])
    np.testing.assert_array_equal(counts, direct)
    n = mask.sum(axis=0).astype(np.float32)
    phi, gram = rng.normal(size=(7, 5)).astype(np.float32), np.zeros((7, 7))
    for h in range(2):
        refresh_profile(h, Profiles(phi, gram, counts, n))
    q = direct.sum(axis=2) / mask.sum()
    expected = (direct - n * q[..., None]) / np.sqrt(n)
    np.testing.assert_allclose(phi[:6], np.concatenate(list(expected)), atol=1e-5)
    np.testing.assert_allclose(gram[:6], (phi.astype(float) @ phi.T)[:6], atol=1e-5)
    size = np.bincount(z[:, 0], minlength=3)
    table, base = np.zeros((5, table_width(3)), np.float32), np.zeros(3)
    absence_evidence(counts[0], n, size.astype(float), 9, 0.5, base)
    presence_evidence(counts[0], n, size.astype(float), 9, 0.5, table)
    p = np.minimum((direct[0] + 20 * n / 9) / (size[:, None] + 20), 0.999)
    logit = np.log(p / (1 - p))
    for s in (1, 2):
        np.testing.assert_allclose(table[:, table_column(s) + 4], 0.5 * (logit[s] - logit[0]), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(base, 0.5 * np.log1p(-p).sum(axis=1), rtol=1e-5)


def test_row_noise_and_bias(rng):
    ptr, col = np.array([0, 4]), np.arange(4, dtype=np.int32)
    start = rng.normal(size=4).astype(np.float32)
    other, tau, noise, old = rng.uniform(0.5, 2, 4).astype(np.float32), 2.5, (3.0, 2.0), 0.7
    weights, standardised, taus = np.empty(N), np.empty(N), np.empty(N)
    for n in range(N):
        res, bias, weight = start.copy(), np.array([old], np.float32), np.ones(1, np.float32)
        entries, prior = Residuals(ptr, col, res), EffectPrior(tau, SPREAD, Gamma(*noise))
        new_tau = draw_row_effects(rng, entries, Effects(bias, weight), prior, other, np.zeros((3, 4), "f4"))
        np.testing.assert_allclose(res + bias[0], start + old, atol=1e-5)
        precision = weight[0] * other.sum() + tau
        mean = weight[0] * (other * (start + old)).sum() / precision
        weights[n], standardised[n] = weight[0], (bias[0] - mean) * np.sqrt(precision)
        taus[n] = new_tau * (SPREAD[1] + 0.5 * bias[0] ** 2)
    shape, rate = noise[0] + 2, noise[1] + 0.5 * (other * start**2).sum()
    agrees(weights, shape / rate, np.sqrt(shape) / rate)
    agrees(standardised, 0, 1)
    assert abs(standardised.var() - 1) < 0.12
    is_gamma(taus, SPREAD[0] + 0.5)


def test_column_noise_bias_and_what_predicts_it(rng):
    col, n_col = np.zeros(3, np.int32), np.array([3.0], np.float32)
    start, old = rng.normal(size=3).astype(np.float32), -0.4
    row_weight, tau, noise = rng.uniform(0.5, 2, 3), 2.0, (3.0, 2.0)
    phi = np.array([[1.5], [-0.5]], np.float32)
    stat = np.array([[row_weight.sum()], [(row_weight * start).sum()], [(row_weight * start**2).sum()]], np.float32)
    weights, standardised, omegas, taus = np.empty(N), np.empty(N), np.empty((N, 2)), np.empty(N)
    for n in range(N):
        res, bias, weight = start.copy(), np.array([old], np.float32), np.ones(1, np.float32)
        omega = np.zeros(2, np.float32)
        gram = phi.astype(float) @ phi.T
        entries, prior = Residuals(np.array([0, 1, 2, 3]), col, res), EffectPrior(tau, SPREAD, Gamma(*noise))
        profiles = Profiles(phi, gram, np.zeros((0, 0, 1), np.int32), n_col)
        shrinkage = np.array([SHRINKAGE, 3.0])
        new_tau = draw_col_effects(rng, entries, Effects(bias, weight), prior, profiles, omega, shrinkage, stat)
        np.testing.assert_allclose(res + bias[0], start + old, atol=1e-5)
        precision = weight[0] * row_weight.sum() + tau
        mean = (weight[0] * (row_weight * (start + old)).sum() + tau * (phi[:, 0] @ omega)) / precision
        weights[n], standardised[n], omegas[n] = weight[0], (bias[0] - mean) * np.sqrt(precision), omega
        taus[n] = new_tau * (SPREAD[1] + 0.5 * (bias[0] - phi[:, 0] @ omega) ** 2)
    shape, rate = noise[0] + 1.5, noise[1] + 0.5 * (row_weight * start**2).sum()
    agrees(weights, shape / rate, np.sqrt(shape) / rate)
    agrees(standardised, 0, 1)
    covariance = np.linalg.inv(np.diag(shrinkage) + tau * phi.astype(float) @ phi.T)
    agrees(omegas, tau * old * covariance @ phi[:, 0], np.sqrt(np.diag(covariance)))
    is_gamma(taus, SPREAD[0] + 0.5)


def test_noise_rate(rng):
    weight, shape = np.array([0.5, 1.0, 2.5], np.float32), 4.0
    draws = np.array([draw_noise_rate(rng, weight, shape, SPREAD) for _ in range(N)])
    a, b = SPREAD[0] + 3 * shape, SPREAD[1] + 4.0
    agrees(draws, a / b, np.sqrt(a) / b)


def test_utilities_lie_in_their_intervals_with_the_right_mean(rng):
    ptr, col = np.array([0, 3]), np.arange(3, dtype=np.int32)
    level, cuts = np.array([0, 1, 2], np.int16), np.array([-np.inf, -0.6, 0.6, np.inf])
    owner, own = np.array([1, 0, 1], np.int32), np.array([[0, 0], [0.1, 0.3], [0.2, -0.4], [0, 0]], np.float32)
    intervals = Intervals(level, owner, cuts, own)
    row, other = np.array([2.0], np.float32), np.array([0.5, 1.0, 2.0], np.float32)
    mean, root = np.array([0.2, -0.3, 0.1]), np.sqrt(2.0 * np.array([0.5, 1.0, 2.0]))
    draws = np.empty((N, 3))
    for n in range(N):
        utility, res = mean.astype(np.float32), np.zeros(3, np.float32)
        draw_utilities(rng, Residuals(ptr, col, res), intervals, Weights(row, other), utility)
        np.testing.assert_allclose(utility - res, mean, atol=1e-6)
        draws[n] = utility
    points = cuts[:, None] + own[:, owner]
    low, high = (points[level, range(3)] - mean) * root, (points[level + 1, range(3)] - mean) * root
    first, second = truncnorm.stats(low, high)
    agrees(draws, mean + first / root, np.sqrt(second) / root)


def test_cut_points_settle_where_expected_counts_are_the_observed_ones(rng):
    n = 200
    ptr, col = np.array([0, n]), np.arange(n, dtype=np.int32)
    mean = rng.normal(size=n).astype(np.float32)
    row, other = np.ones(1, np.float32), rng.uniform(0.5, 2, n).astype(np.float32)
    cuts = np.array([-np.inf, -0.2, -0.1, 0.0, 0.1, np.inf])
    owner, own = rng.integers(0, 3, n).astype(np.int32), np.zeros((6, 3), np.float32)
    own[1:5] = rng.normal(0, 0.02, (4, 3))
    below = np.array([0, 20, 60, 110, 170, n], float)
    for _ in range(60):
        intervals = Intervals(np.zeros(n, np.int16), owner, cuts, own)
        move_cuts(Residuals(ptr, col, np.zeros(n, np.float32)), intervals, Weights(row, other), mean, below, 1, 5)
        set_apart(cuts, own)
        assert (np.diff(cuts[:, None] + own, axis=0) >= 0).all()
    expected = ndtr((cuts[1:5, None] + own[1:5, owner] - mean) * np.sqrt(other)).sum(axis=1)
    np.testing.assert_allclose(expected, below[1:5], atol=1e-3)


@pytest.mark.parametrize("by_rows", [True, False])
def test_own_cut_points_have_their_posterior(rng, by_rows):
    """Two owners, three levels, known means: the posterior of both cut points of each on a grid."""
    n, cuts, tau = 24, np.array([-np.inf, -0.4, 0.5, np.inf]), 4.0
    ptr, col = (np.array([0, 10, n]), np.tile(np.arange(12), 2)) if by_rows else (np.array([0, n]), np.arange(n) % 2)
    col = col.astype(np.int32)
    owner = np.repeat([0, 1], [10, 14]).astype(np.int32) if by_rows else col
    level = rng.integers(0, 3, n).astype(np.int16)
    rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    weights = [rng.uniform(0.5, 2, rows.max() + 1), rng.uniform(0.5, 2, col.max() + 1)]
    row, other = (one.astype(np.float32) for one in weights)
    mean, res = rng.normal(0, 0.5, n).astype(np.float32), np.zeros(n, np.float32)
    own = np.zeros((4, 2), np.float32)
    neighbours = count_neighbours(level, owner, own.shape)
    for b, u in itertools.product(range(4), range(2)):
        assert neighbours[b, u] == np.isin(level[owner == u], [b - 1, b]).sum()
    entries, intervals = Residuals(ptr, col, res), Intervals(level, owner, cuts, own)
    draws = np.empty((30_000, 2, 2))
    for one in draws:
        for b in (1, 2):
            weight = row if by_rows else other
            rated = RatedLevels(entries, intervals, Weights(row, other), weight, mean, neighbours)
            move_own_cuts(rng, b, rated, tau)
        one[:] = own[1:3]
    grid = np.linspace(-2, 2, 161)
    root = np.sqrt(row[rows] * other[col])
    for u in range(2):
        mine = owner == u
        low, high = (ndtr((cut + grid[:, None] - mean[mine]) * root[mine]) for cut in cuts[1:3])
        inside = cuts[1] + grid[:, None] < cuts[2] + grid  # the first cut along the first axis
        density = -0.5 * tau * (grid[:, None] ** 2 + grid**2)
        for e, at in enumerate(level[mine]):
            first, second = low[:, e][:, None], high[:, e][None, :]
            between = np.broadcast_to([first, np.maximum(second - first, 1e-9), 1 - second][at], inside.shape)
            density = density + np.log(between)
        density = np.where(inside, np.exp(density - density[inside].max()), 0.0)
        density /= density.sum()
        for axis in range(2):
            margin = density.sum(axis=1 - axis)
            centre = margin @ grid
            assert abs(draws[:, axis, u].mean() - centre) < 0.025
            assert abs(draws[:, axis, u].std() - np.sqrt(margin @ (grid - centre) ** 2)) < 0.025


def test_precisions_of_own_cut_points_have_their_posterior(rng):
    """Three owners of one cut point each and known means: the posterior of their common precision on a grid."""
    n, cuts, prior = 30, np.array([-np.inf, 0.1, np.inf]), Gamma(2.0, 0.5)
    owner, level = (np.arange(n) % 3).astype(np.int32), (np.arange(n) % 5 < 2).astype(np.int16)
    mean, res = rng.normal(0, 0.5, n).astype(np.float32), np.zeros(n, np.float32)
    mean[owner == 0] += 1.5  # this owner's levels ask for another cut point
    weight, own = rng.uniform(0.5, 2, 3).astype(np.float32), np.full((3, 3), 0.1, np.float32)
    entries, intervals = Residuals(np.array([0, n]), owner, res), Intervals(level, owner, cuts, own)
    weights, neighbours = Weights(np.ones(1, np.float32), weight), count_neighbours(level, owner, own.shape)
    rated = RatedLevels(entries, intervals, weights, weight, mean, neighbours)
    taus, tau = np.empty(30_000), 1.0
    for number in range(len(taus)):
        move_own_cuts(rng, 1, rated, tau)
        before = own[1] * np.sqrt(tau)
        taus[number] = tau = rescale_own_cuts(rng, 1, rated, tau, prior)
        np.testing.assert_allclose(own[1] * np.sqrt(tau), before, rtol=1e-4)
    assert (np.diff(taus) != 0).mean() > 0.2
    at, grid = np.linspace(-5, 5, 400), np.linspace(-5, 5, 2001)
    log_density = prior.shape * at - prior.rate * np.exp(at)  # of the logarithm of the precision
    for u in range(3):
        mine = owner == u
        below = ndtr((cuts[1] + grid[:, None] - mean[mine]) * np.sqrt(weight[u]))
        likelihood = np.where(level[mine] == 0, below, 1 - below).prod(axis=1)
        log_density += np.log(norm.pdf(grid, 0.0, np.exp(-0.5 * at)[:, None]) @ likelihood)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    centre = density @ at
    assert abs(np.log(taus).mean() - centre) < 0.05
    assert abs(np.log(taus).std() - np.sqrt(density @ (at - centre) ** 2)) < 0.05


def test_tilting_gives_the_wanted_mean_and_keeps_the_shape(rng):
    levels = np.array([-2.0, 0.0, 1.0, 5.0])
    before = rng.dirichlet(np.ones(4), 50)
    wanted = before @ levels + rng.uniform(-0.5, 0.5, 50)
    after = before.copy()
    tilt(after, levels, wanted)
    inside = wanted.clip(-2 + 0.007, 5 - 0.007)
    np.testing.assert_allclose(after @ levels, inside, atol=1e-6)
    np.testing.assert_allclose(after.sum(axis=1), 1)
    slope = np.diff(np.log(after / before), axis=1) / np.diff(levels)  # log-linear in the level
    np.testing.assert_allclose(slope, slope[:, :1] + np.zeros((1, 3)), atol=1e-4)


@pytest.mark.parametrize("levels", [[0.0, 1.0], [0.0, 1.0, 2.0, 50.0, 1000.0], [0.0, 950.0, 998.0, 1000.0]])
def test_tilting_reaches_any_mean_from_any_shape(levels, rng):
    levels = np.array(levels)
    tilted = rng.dirichlet(np.full(len(levels), 0.1), 400)
    wanted = rng.uniform(levels[0], levels[-1], 400)
    wanted[:100], wanted[100:200] = -levels[-1], 2 * levels[-1]  # beyond both ends
    tilt(tilted, levels, wanted)
    np.testing.assert_allclose(tilted @ levels, inside(wanted, levels), atol=1e-7 * levels[-1])


def test_rhat_tells_chains_that_met_from_chains_that_did_not(rng):
    met = rng.normal(size=(2, 400, 3))
    assert (split_rhat(met) < 1.02).all()
    apart = met + np.array([0.0, 3.0])[:, None, None]
    assert (split_rhat(apart) > 1.5).all()
    drifting = met[:1] + np.linspace(0, 5, 400)[None, :, None]
    assert (split_rhat(drifting) > 1.5).all()
    assert (split_rhat(np.ones((2, 10, 1))) <= 1.0).all()
    assert np.isnan(split_rhat(np.ones((2, 3, 1)))).all()
