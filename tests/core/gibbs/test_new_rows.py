"""New rows and columns against posteriors that can be written down, and lists against pair by pair."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from lbg_recsys.core.gibbs.class_rates import add_chosen, class_logits
from lbg_recsys.core.gibbs.draws import Draws, in_half, in_steps
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.new_factors import KeptFactors
from lbg_recsys.core.gibbs.new_rows import (
    KeptColumns,
    KeptRows,
    NewColumn,
    NewPrior,
    NewRow,
    draw_new_column,
    draw_new_row,
    half_squares,
    new_ratings,
)
from lbg_recsys.core.gibbs.predict_grid import _add_phi, class_sums, expect_items, predict_items
from lbg_recsys.core.gibbs.predict_pairs import predict, predict_closely

KEPT, N, H, K = 12000, 7, 2, 3
LEVEL = np.zeros(N, np.int16)
NO_OWN_CUTS = np.empty(0, np.float32)


def repeated(*arrays):
    """The same kept sweep again and again, so that new rows and columns have one posterior to draw from."""
    return [np.ascontiguousarray(np.broadcast_to(one, (KEPT, *np.shape(one)))) for one in arrays]


def prior(tau, weight, cuts, cut_tau, ordinal):
    """Noise precisions cannot move from ``weight``; the bias is as precise as ``tau``."""
    weight = np.float64(1e9 * weight), np.float64(1e9)
    return NewPrior(*repeated(np.float32(tau), *weight, np.array(cuts), cut_tau, np.bool_(ordinal)))


def held_still(weight=1.0):
    """Bias and noise that cannot move, no cut points and no ordinal sweeps."""
    return prior(1e9, weight, [-np.inf, np.inf], NO_OWN_CUTS, False)


def empty(*shape, dtype=np.float32):
    return np.empty((KEPT, *shape), dtype)


def no_factors():
    return KeptFactors(empty(N, 0, dtype=np.int8), empty(0), empty(0), empty(0))


def test_the_classes_of_a_new_row_have_their_posterior():
    rng = np.random.default_rng(0)
    c = rng.integers(-100, 100, (N, H, K)).astype(np.int8)
    evidence = rng.integers(-100, 100, (N, H, K)).astype(np.int8)
    evidence[:, :, 0] = 0  # the first class has none, so it is not given
    c_step, evidence_step = np.full(H, 0.014, np.float32), np.full(H, 0.002, np.float32)
    base = np.log(rng.dirichlet(np.ones(K), H))
    bias, weight = rng.normal(0, 0.3, N).astype(np.float32), rng.gamma(5, 0.2, N).astype(np.float32)
    cols, value = rng.permutation(N), rng.normal(0, 1, N)
    columns = KeptColumns(*repeated(c, c_step, evidence[:, :, 1:], evidence_step, base, bias, weight))
    out = NewRow(empty(H, dtype=np.int8), empty(0), empty(), empty(), empty(0))
    draw_new_row(rng, new_ratings(cols, value, LEVEL, 1), columns, no_factors(), held_still(weight=1.5), out)
    np.testing.assert_allclose(out.weight, 1.5, rtol=1e-3)
    np.testing.assert_allclose(out.bias, 0, atol=1e-3)

    mean, log_odds = c[cols] * c_step[:, None], np.empty((K, K))
    for pair in product(range(K), repeat=H):
        res = value - bias[cols] - sum(mean[:, h, t] for h, t in enumerate(pair))
        log_odds[pair] = -0.75 * (weight[cols] * res**2).sum() + sum(
            base[h, t] + evidence_step[h] * evidence[:, h, t].sum(dtype=int) for h, t in enumerate(pair)
        )
    expected = np.exp(log_odds - log_odds.max())
    drawn = np.zeros((K, K))
    np.add.at(drawn, (out.z[:, 0], out.z[:, 1]), 1 / KEPT)
    np.testing.assert_allclose(drawn, expected / expected.sum(), atol=0.015)
    assert expected.max() / expected.sum() < 0.9  # something was at stake


def test_the_means_of_a_new_column_have_their_posterior():
    rng = np.random.default_rng(1)
    z = rng.integers(0, K, (N, H)).astype(np.int8)
    share = rng.dirichlet(np.ones(K), H)
    features = np.array([1.0, 0.4], np.float32)
    eta, omega = rng.normal(0, 0.3, (H, K, H * K + 2)), rng.normal(0, 0.3, H * K + 2)
    tau = np.array([2.0, 5.0])
    bias, weight = rng.normal(0, 0.3, N), rng.gamma(5, 0.2, N)
    rows, value = rng.permutation(N), rng.normal(0, 1, N)
    single = (one.astype(np.float32) for one in (share, eta, omega, tau, bias, weight))
    kept, out = KeptRows(*repeated(z, *single)), NewColumn(empty(H, K), empty(0), empty(), empty(), empty(0))
    draw_new_column(
        rng, new_ratings(rows, value, LEVEL, 1), features, kept, no_factors(), held_still(weight=1.5), out
    )

    count = np.stack([np.bincount(z[:, h], minlength=K) for h in range(H)])
    phi = np.append((count - N * share) / np.sqrt(N), features)
    np.testing.assert_allclose(out.bias, phi @ omega, atol=1e-3)
    design = np.concatenate([np.eye(K)[z[rows, h]] for h in range(H)], axis=1)
    noise, prior = 1.5 * weight[rows], np.repeat(tau, K)
    covariance = np.linalg.inv((design * noise[:, None]).T @ design + np.diag(prior))
    left = value - bias[rows] - phi @ omega
    expected = covariance @ (design.T @ (noise * left) + prior * (eta @ phi).ravel())
    drawn = out.c.reshape(KEPT, -1)
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.03)


@pytest.mark.parametrize("as_row", [True, False])
def test_the_factors_of_a_newcomer_are_the_means_of_their_posterior(as_row):
    """No bias and no classes that matter: the factors are Gaussian, and their variance is in the noise."""
    rng = np.random.default_rng(7)
    others, step = rng.integers(-100, 100, (N, 2)).astype(np.int8), np.array([0.01, 0.02], np.float32)
    mean, tau = np.array([0.5, -0.3], np.float32), np.array([2.0, 4.0], np.float32)
    weight, value, at = rng.gamma(5, 0.2, N).astype(np.float32), rng.normal(0, 1, N), rng.permutation(N)
    nothing, no_bias = np.zeros((N, 1, 2), np.int8), np.zeros(N, np.float32)
    ratings, given, factors = new_ratings(at, value, LEVEL, 1), held_still(weight=1.5), empty(2)
    near = KeptFactors(*repeated(others, step, mean, tau))
    if as_row:
        flat = np.ones(1, np.float32)
        columns = KeptColumns(*repeated(nothing, flat, nothing[:, :, 1:], flat, np.zeros((1, 2)), no_bias, weight))
        out = NewRow(empty(1, dtype=np.int8), factors, empty(), empty(), empty(0))
        draw_new_row(rng, ratings, columns, near, given, out)
    else:
        share, eta, omega = np.full((1, 2), 0.5), np.zeros((1, 2, 4)), np.zeros(4)
        single = [one.astype(np.float32) for one in (share, eta, omega, np.array([1e9]), no_bias, weight)]
        out = NewColumn(empty(1, 2), factors, empty(), empty(), empty(0))
        rows = KeptRows(*repeated(nothing[:, :, 0], *single))
        draw_new_column(rng, ratings, np.zeros(2, np.float32), rows, near, given, out)
    design, sharp = (others * step)[at], 1.5 * weight[at]
    covariance = np.linalg.inv((design * sharp[:, None]).T @ design + np.diag(tau))
    expected = covariance @ (design.T @ (sharp * value) + tau * mean)
    np.testing.assert_allclose(factors, np.broadcast_to(expected, factors.shape), atol=1e-3)
    left_out = np.trace(covariance @ (design * weight[at][:, None]).T @ design) / N
    assert np.mean(1.0 / out.weight) == pytest.approx(1 / 1.5 + left_out, rel=0.02)


@pytest.mark.parametrize("ordinal", [False, True])
def test_the_bias_of_a_new_row_follows_its_ratings(ordinal):
    rng = np.random.default_rng(2)
    cuts = np.array([-np.inf, -0.5, 0.5, np.inf])
    nothing = np.zeros((N, 1, 2), np.int8)
    flat = np.ones(1, np.float32)
    no_bias, no_noise = np.zeros(N, np.float32), np.ones(N, np.float32)
    columns = KeptColumns(*repeated(nothing, flat, nothing[:, :, 1:], flat, np.zeros((1, 2)), no_bias, no_noise))
    level = np.array([0, 1, 1, 2, 2, 2, 2], np.int16)
    value = np.array([-1.0, 0, 0, 1, 1, 1, 1])
    out = NewRow(empty(1, dtype=np.int8), empty(0), empty(), empty(), empty(0))
    ratings = new_ratings(np.arange(N), value, level, 3)
    draw_new_row(rng, ratings, columns, no_factors(), prior(4.0, 1.0, cuts, NO_OWN_CUTS, ordinal), out)
    grid = np.linspace(-4, 4, 2001)
    if ordinal:
        likelihood = np.log(ndtr(cuts[level + 1] - grid[:, None]) - ndtr(cuts[level] - grid[:, None]))
    else:
        likelihood = -0.5 * (value - grid[:, None]) ** 2
    density = np.exp(likelihood.sum(axis=1) - 2 * grid**2)
    density /= density.sum()
    mean = density @ grid
    assert abs(out.bias.mean() - mean) < 0.03
    assert abs(out.bias.std() - np.sqrt(density @ (grid - mean) ** 2)) < 0.03


@pytest.mark.parametrize("as_row", [True, False])
def test_the_cut_points_of_a_new_user_have_their_posterior(as_row):
    """One cut point between two levels, a bias and noise that cannot move, no classes that matter."""
    rng = np.random.default_rng(6)
    cuts, cut_tau = np.array([-np.inf, 0.2, np.inf]), np.array([3.0], np.float32)
    ratings = new_ratings(np.arange(N), np.zeros(N), np.array([0, 0, 0, 0, 0, 1, 1], np.int16), 2)
    given = prior(1e9, 1.0, cuts, cut_tau, True)
    nothing, no_bias, no_noise = np.zeros((N, 1, 2), np.int8), np.zeros(N, np.float32), np.ones(N, np.float32)
    own = empty(1)
    if as_row:
        flat, base = np.ones(1, np.float32), np.zeros((1, 2))
        columns = KeptColumns(*repeated(nothing, flat, nothing[:, :, 1:], flat, base, no_bias, no_noise))
        out = NewRow(empty(1, dtype=np.int8), empty(0), empty(), empty(), own)
        draw_new_row(rng, ratings, columns, no_factors(), given, out)
    else:
        share, eta, omega = np.full((1, 2), 0.5), np.zeros((1, 2, 4)), np.zeros(4)
        single = [one.astype(np.float32) for one in (share, eta, omega, np.array([1e9]), no_bias, no_noise)]
        rows, features = KeptRows(*repeated(nothing[:, :, 0], *single)), np.zeros(2, np.float32)
        out = NewColumn(empty(1, 2), empty(0), empty(), empty(), own)
        draw_new_column(rng, ratings, features, rows, no_factors(), given, out)
    grid = np.linspace(-4, 4, 2001)
    density = np.exp(5 * np.log(ndtr(grid)) + 2 * np.log(ndtr(-grid)) - 1.5 * (grid - 0.2) ** 2)
    density /= density.sum()
    mean = density @ grid
    assert abs(own.mean() - mean) < 0.02
    assert abs(own.std() - np.sqrt(density @ (grid - mean) ** 2)) < 0.02


def test_class_logits_by_hand():
    z = np.array([[0], [0], [1], [1], [1]], np.int8)
    holders = np.array([0, 1, 2, 3])  # column 0 is held by rows 0, 1 and 2, column 1 by row 3, column 2 by none
    logits = np.empty((3, 1, 2))
    class_logits(np.array([0, 3, 4, 4]), holders, z, np.array([1, 0, 2]), logits)
    assert not logits[2].any()
    for column, (total, counts) in enumerate([(1, (0, 1)), (3, (2, 1))]):
        p = (np.array(counts) + 20 * total / 5) / (np.array([2, 3]) + 20)
        logit = np.log(p / (1 - p))
        np.testing.assert_allclose(logits[column, 0], logit - logit.mean())
    moved = np.ones(3)
    add_chosen(np.array([0, 4, 4]), np.array([0, 0, 1]), z, logits, moved)
    np.testing.assert_allclose(moved, 1 + logits[[0, 0, 1], 0, [0, 1, 1]])


def invented_draws(rng, rows, cols, users, kept=9, n_components=3, n_classes=4, levels=5):
    c, c_step = in_steps(rng.normal(0, 0.5, (kept, n_components, cols + 1, n_classes)))
    half = [rng.normal(0, 0.5, (kept, n + 1)).astype(np.float16) for n in (rows, cols)]
    weight = [in_half(rng.gamma(3, 0.5, (kept, n + 1))) for n in (rows, cols)]
    return Draws(
        rng.integers(0, n_classes, (kept, rows + 1, n_components)).astype(np.int8),
        c,
        c_step,
        *half,
        *weight,
        np.sort(rng.normal(0, 1, (kept, levels - 1)), axis=1).astype(np.float32),
        np.arange(kept) % 2 == 0,
        *[np.empty((kept, 0))] * 11,
        np.sort(rng.normal(0, 1, (kept, users + 1, levels - 1)), axis=2).astype(np.float16),
        np.ones((kept, levels - 1), np.float32),
        np.empty((kept, 0), np.int8),
        np.ones(kept, np.float32),
        np.empty((kept, 0), np.float32),
        *(rng.integers(-90, 90, (kept, n + 1, 2)).astype(np.int8) for n in (rows, cols, cols, rows)),
        np.full((kept, 4, 2), 0.01, np.float32),
        np.zeros((kept, 4, 2), np.float32),
        np.ones((kept, 2, 2), np.float32),
        *[np.empty((kept, 2, 0), np.float16)] * 2,
    )


@pytest.mark.parametrize("kinds", ["ordinal", "gaussian", "mixed"])
@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("n", [1, 21])
def test_all_items_of_some_users_are_predicted_as_pairs_are(n, side, kinds):
    rng = np.random.default_rng(3)
    users, items, values = 40, 23, np.array([-2.0, -1.5, 0.0, 1.0, 2.0])
    draws = invented_draws(rng, *side.rows_and_columns(users, items), users)
    if kinds != "mixed":
        draws = replace(draws, ordinal=np.full(len(draws), kinds == "ordinal"))
    if kinds == "gaussian":  # the cut points of all
        draws = replace(draws, own_cuts=draws.own_cuts[:, :, :0])
    some, of_items = rng.permutation(users)[:n], rng.permutation(items)[:17]
    probability, mean = predict_items(draws, some, of_items, side, values)
    pairs = np.repeat(some, 17), np.tile(of_items, n)
    expected, expected_mean = predict(draws, *pairs, side, values)
    np.testing.assert_allclose(probability.reshape(expected.shape), expected, atol=1e-6 * len(draws))
    np.testing.assert_allclose(mean.ravel(), expected_mean, atol=4e-6 * len(draws))
    assert (probability >= 0).all()
    np.testing.assert_array_equal(expect_items(draws, some, of_items, side, values), mean)
    closely, mean_closely = predict_closely(draws, *pairs, side, values)
    np.testing.assert_allclose(closely, expected, atol=1e-6 * len(draws))
    np.testing.assert_allclose(mean_closely, expected_mean, atol=4e-6 * len(draws))


def test_class_sums_by_hand():
    rng = np.random.default_rng(5)
    z, table = rng.integers(0, 3, (4, 2)), rng.normal(size=(5, 2, 3))
    expected = [[sum(table[i, h, z[j, h]] for h in range(2)) for i in range(5)] for j in range(4)]
    np.testing.assert_allclose(class_sums(z, table), expected)


@pytest.mark.parametrize("n", [0, 1, 7])  # fewer entries than classes, and more
def test_half_squares_by_hand(n):
    rng = np.random.default_rng(n)
    mean, precision = rng.normal(size=(2, 3, n)).astype(np.float32), rng.random(n).astype(np.float32)
    halves = np.full((2, 3), 7.0, np.float32)
    half_squares(mean, precision, halves)
    np.testing.assert_allclose(halves, 0.5 * np.einsum("e,hte,hte->ht", precision, mean, mean), rtol=1e-5)


@pytest.mark.parametrize("side", Side)
def test_the_prediction_of_a_pair_does_not_depend_on_the_others(side):
    rng = np.random.default_rng(4)
    draws, values = invented_draws(rng, *side.rows_and_columns(12, 9), 12), np.linspace(-2, 2, 5)
    users, items = rng.integers(-1, 12, 50), rng.integers(-1, 9, 50)
    together = predict(draws, users, items, side, values)
    for e in (0, 7, 49):
        alone = predict(draws, users[[e]], items[[e]], side, values)
        for one, all_of_them in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one[0], all_of_them[e])


def test_the_normal_distribution_of_lists_has_six_digits():
    x = np.linspace(-12, 12, 4001).astype(np.float32)
    out = np.zeros_like(x)
    _add_phi(np.full_like(x, 0.5), 1 - x, np.full_like(x, 2), out)
    np.testing.assert_allclose(out, ndtr(x.astype(float)), atol=1e-6)
    assert (out >= 0).all() and (out <= 1).all()
