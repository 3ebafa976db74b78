"""Simulation-based calibration of new rows and new columns, with everything redrawn at once.

A newcomer is drawn from the prior and its ratings from the newcomer: among draws given these ratings, the rank of
what made them is uniform. Nothing is held still: classes or class means, bias, noise and cut points move together.
"""

import numpy as np
import pytest
from scipy.stats import chisquare

from lbg_recsys.core.gibbs.new_factors import KeptFactors
from lbg_recsys.core.gibbs.new_rows import (
    KeptColumns,
    KeptRows,
    NewColumn,
    NewPrior,
    NewRow,
    draw_new_column,
    draw_new_row,
    new_ratings,
)

N, H, K = 12, 2, 3  # ratings of a newcomer, components, classes
NEWCOMERS, DRAWS, THIN = 250, 24, 12  # those of 12 kept sweeps in a row are nearly the same
KEPT = DRAWS * THIN + THIN
CUTS, CUT_TAU = np.array([-np.inf, -0.6, 0.5, np.inf]), np.array([6.0, 6.0], np.float32)
TAU, SHAPE, RATE = 3.0, 5.0, 5.0


def repeated(*arrays):
    return [np.ascontiguousarray(np.broadcast_to(one, (KEPT, *np.shape(one)))) for one in arrays]


def prior(tau, ordinal):
    cut_tau = CUT_TAU if ordinal else CUT_TAU[:0]
    return NewPrior(*repeated(np.float32(tau), np.float64(SHAPE), np.float64(RATE), CUTS, cut_tau, np.bool_(ordinal)))


def empty(*shape, dtype=np.float32):
    return np.empty((KEPT, *shape), dtype)


def own_cuts(rng):
    while True:
        cuts = CUTS[1:-1] + rng.normal(size=2) / np.sqrt(CUT_TAU)
        if cuts[0] < cuts[1]:
            return cuts


def ratings_of(rng, mean, precision, cuts, ordinal):
    """The ratings of a newcomer, of random partners, whose utilities have these means and precisions."""
    utility = mean + rng.normal(size=N) / np.sqrt(precision)
    level = np.searchsorted(cuts, utility).astype(np.int16)
    return new_ratings(np.arange(N), level - 1.0 if ordinal else utility, level, 3)


def ranks(truth, drawn):
    """How many of the draws of each number are below it."""
    return [int((one[THIN::THIN] < true).sum()) for true, one in zip(truth, drawn, strict=True)]


def rows_met(seed, ordinal, tau):
    rng = np.random.default_rng(seed)
    c = rng.integers(-100, 100, (N, H, K)).astype(np.int8)
    step, base = np.full(H, 0.012, np.float32), np.log(rng.dirichlet(np.full(K, 3.0), H))
    bias, weight = rng.normal(0, 0.3, N).astype(np.float32), rng.gamma(5, 0.2, N).astype(np.float32)
    evidence, no_step = np.zeros((N, H, K - 1), np.int8), np.zeros(H, np.float32)
    columns = KeptColumns(*repeated(c, step, evidence, no_step, base, bias, weight))
    for _ in range(NEWCOMERS):
        z = np.array([rng.choice(K, p=np.exp(base[h])) for h in range(H)])
        own_bias, own_weight, cuts = rng.normal() / np.sqrt(TAU), rng.gamma(SHAPE) / RATE, own_cuts(rng)
        means = np.stack([0.012 * c[:, h, z[h]] for h in range(H)])
        ratings = ratings_of(rng, own_bias + bias + means.sum(axis=0), own_weight * weight, cuts, ordinal)
        out = NewRow(empty(H, dtype=np.int8), empty(0), empty(), empty(), empty(2 if ordinal else 0))
        draw_new_row(rng, ratings, columns, no_factors(), prior(tau, ordinal), out)
        drawn = 0.012 * np.take_along_axis(c[np.newaxis], out.z.astype(int)[:, np.newaxis, :, np.newaxis], axis=3)
        lots = rng.normal(0, 1e-6, (KEPT + 1, 2))  # they break ties
        true_sums, sums = means[:, :2].sum(axis=0) + lots[0], drawn[:, :2, :, 0].sum(axis=2) + lots[1:]
        yield ranks(
            [own_bias, own_weight, *true_sums, *cuts[: 2 * ordinal]],
            [out.bias, out.weight, *sums.T, *out.own_cuts.T],
        )


def columns_met(seed, ordinal, tau):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, K, (N, H)).astype(np.int8)
    share, mean_tau = rng.dirichlet(np.full(K, 3.0), H), np.array([2.0, 5.0])
    features = np.array([1.0, 0.4], np.float32)
    eta, omega = rng.normal(0, 0.2, (H, K, H * K + 2)), rng.normal(0, 0.2, H * K + 2)
    bias, weight = rng.normal(0, 0.3, N), rng.gamma(5, 0.2, N)
    kept = KeptRows(*repeated(z, *(one.astype(np.float32) for one in (share, eta, omega, mean_tau, bias, weight))))
    count = np.stack([np.bincount(z[:, h], minlength=K) for h in range(H)])
    phi = np.append((count - N * share) / np.sqrt(N), features)
    for _ in range(NEWCOMERS):
        c = eta @ phi + rng.normal(size=(H, K)) / np.sqrt(mean_tau)[:, np.newaxis]
        own_bias, own_weight = phi @ omega + rng.normal() / np.sqrt(TAU), rng.gamma(SHAPE) / RATE
        cuts = own_cuts(rng)
        mean = own_bias + bias + sum(c[h, z[:, h]] for h in range(H))
        ratings = ratings_of(rng, mean, own_weight * weight, cuts, ordinal)
        out = NewColumn(empty(H, K), empty(0), empty(), empty(), empty(2 if ordinal else 0))
        draw_new_column(rng, ratings, features, kept, no_factors(), prior(tau, ordinal), out)
        yield ranks(
            [own_bias, own_weight, c[0, 0], c[1, 2], mean[0], *cuts[: 2 * ordinal]],
            [
                *(out.bias, out.weight, out.c[:, 0, 0], out.c[:, 1, 2]),
                out.bias + bias[0] + sum(out.c[:, h, z[0, h]] for h in range(H)),
                *out.own_cuts.T,
            ],
        )


def no_factors():
    return KeptFactors(empty(N, 0, dtype=np.int8), empty(0), empty(0), empty(0))


def uniformity(met):
    """The probability of ranks as uneven as these, for each number."""
    found = np.array(list(met))
    assert found.min() == 0 and found.max() == DRAWS
    bins = [np.bincount(one // 5, minlength=5) for one in found.T]  # 25 ranks
    return [chisquare(one).pvalue for one in bins]


@pytest.mark.parametrize("ordinal", [False, True])
@pytest.mark.parametrize("met", [rows_met, columns_met])
def test_newcomers_are_calibrated(met, ordinal):
    assert min(uniformity(met(0, ordinal, TAU))) > 1e-3


@pytest.mark.parametrize("met", [rows_met, columns_met])
def test_a_prior_that_is_not_the_newcomers_is_seen(met):
    assert min(uniformity(met(0, True, 4 * TAU))) < 1e-4
