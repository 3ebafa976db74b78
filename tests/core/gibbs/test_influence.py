"""What a value owes to each entry, against posteriors that can be written down with and without it."""

from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from lbg_recsys.core.gibbs.influence import (
    EntryLikelihood,
    Expectation,
    RowGiven,
    RowSample,
    column_influence,
    cross_covariance,
    lost_without,
    sample_row,
)

CUTS = np.array([-1.0, -0.2, 0.7])
VALUES = np.array([-1.5, -0.5, 0.4, 1.6])
ENDS = np.array([-np.inf, *CUTS, np.inf])


def ordinal(precision, level, offset=0.0):
    return EntryLikelihood(precision, low=ENDS[level] - offset, high=ENDS[level + 1] - offset)


def only(likelihood, kept):
    """The likelihood of some of the entries."""
    parts = (getattr(likelihood, name) for name in ("precision", "value", "low", "high"))
    return EntryLikelihood(*(None if part is None else part[kept] for part in parts))


# -- likelihoods ----------------------------------------------------------------------------------------------------


def test_interval_likelihoods_and_their_slopes():
    level, precision = np.array([0, 1, 2, 3]), np.array([0.5, 1.0, 4.0, 9.0])
    likelihood, mean = ordinal(precision, level), np.array([0.3, -0.9, 1.2, 0.1])
    root = np.sqrt(precision)
    inside = ndtr((ENDS[level + 1] - mean) * root) - ndtr((ENDS[level] - mean) * root)
    np.testing.assert_allclose(likelihood.log(mean), np.log(inside), rtol=1e-10)
    score, information = likelihood.slopes(mean)
    step = 1e-4
    up, down = likelihood.log(mean + step), likelihood.log(mean - step)
    np.testing.assert_allclose(score, (up - down) / (2 * step), rtol=1e-5)
    np.testing.assert_allclose(information, -(up + down - 2 * likelihood.log(mean)) / step**2, rtol=1e-4)


@pytest.mark.parametrize("mean", [-1e3, -40.0, 40.0, 1e3])
def test_far_from_its_interval_an_entry_pulls_like_a_gaussian(mean):
    likelihood = ordinal(np.full(4, 4.0), np.arange(4))
    score, information = likelihood.slopes(np.full(4, mean))
    assert np.isfinite(likelihood.log(np.full(4, mean))).all()
    inside = np.array([mean < -1, False, False, mean > 1])  # the outer levels have no far end
    distance = np.where(mean > 0, [-1.0, -0.2, 0.7, 0.0], [0.0, -1.0, -0.2, 0.7]) - mean
    np.testing.assert_allclose(score[~inside], 4.0 * distance[~inside], rtol=0.02)
    np.testing.assert_allclose(score[inside], 0, atol=1e-12)
    assert (information >= 0).all() and (information <= 4.0 + 1e-6).all()


def test_expected_values_and_their_slope():
    expectation, mean = Expectation(2.0, CUTS, VALUES), np.array([[-0.7, 0.0], [0.4, 2.5]])
    upto = ndtr((CUTS - mean[..., None]) * np.sqrt(2.0))
    levels = np.diff(upto, axis=-1, prepend=0, append=1)
    np.testing.assert_allclose(expectation.of(mean), levels @ VALUES, rtol=1e-10)
    grid = np.random.default_rng(0).normal(0.2, np.sqrt(0.3), 400_000)
    moved = (expectation.of(grid + 0.05).mean() - expectation.of(grid - 0.05).mean()) / 0.1
    assert abs(expectation.slope(0.2, 0.3) - moved) < 2e-3
    plain = Expectation(2.0, None, VALUES)
    assert plain.of(mean) is mean and plain.slope(0.2, 0.3) == 1.0


# -- columns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_effects_on_a_gaussian_column_are_those_of_leaving_out(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 9), 5
    design, target = rng.integers(0, 2, (n, d)).astype(float), rng.integers(0, 2, d).astype(float)
    precision, prior_precision = rng.gamma(2, 1, n), rng.gamma(2, 1, d)
    value, prior_mean, moved = rng.normal(size=n), rng.normal(size=d), rng.normal(0, 0.3, (n, d))

    def expected(kept, prior):
        x, a = design[kept], precision[kept]
        inverse = np.linalg.inv((x * a[:, None]).T @ x + np.diag(prior_precision))
        return target @ inverse @ (x.T @ (a * value[kept]) + prior_precision * prior)

    given, valued = column_influence(
        design,
        target,
        0.3,
        EntryLikelihood(precision, value=value),
        Expectation(1.0, None, 10 * VALUES),
        prior_mean,
        prior_precision,
        moved,
    )
    everything = np.arange(n)
    for e in everything:
        without = np.delete(everything, e)
        with_all = expected(everything, prior_mean)
        np.testing.assert_allclose(valued[e], with_all - expected(without, prior_mean), atol=1e-9)
        total = with_all - expected(without, prior_mean - moved[e])
        np.testing.assert_allclose(given[e] + valued[e], total, atol=1e-9)


@pytest.mark.parametrize("offset", [-0.6, 0.4])
def test_effects_on_an_ordinal_column_are_nearly_those_of_leaving_out(offset):
    rng = np.random.default_rng(3)
    n = 8
    precision, level = rng.gamma(5, 0.2, n), rng.integers(0, 4, n)
    likelihood, expectation = ordinal(precision, level), Expectation(1.3, CUTS, VALUES)
    grid = np.linspace(-6, 6, 4001)

    def expected(kept, prior=0.2):
        density = only(likelihood, kept).log(grid[:, None]).sum(axis=1) - 1.5 * (grid - prior) ** 2
        density = np.exp(density - density.max())
        return density @ expectation.of(grid + offset) / density.sum()

    moved = rng.normal(0, 0.2, (n, 1))
    given, valued = column_influence(
        np.ones((n, 1)), np.ones(1), offset, likelihood, expectation, np.array([0.2]), np.array([3.0]), moved
    )
    everything = np.arange(n)
    without = [np.delete(everything, e) for e in everything]
    truth = expected(everything) - np.array([expected(kept) for kept in without])
    np.testing.assert_allclose(valued, truth, rtol=0.08, atol=0.004)
    assert np.abs(truth).max() > 0.05  # something was at stake
    shifted = [expected(kept) - expected(kept, 0.2 - m) for kept, (m,) in zip(without, moved, strict=True)]
    np.testing.assert_allclose(given, shifted, rtol=0.08, atol=0.004)


# -- rows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_ordinal", [False, True])
def test_effects_on_a_row_are_those_of_leaving_out(is_ordinal):
    rng = np.random.default_rng(4)
    n, n_components, k, rounds = 12, 2, 3, 60_000
    mean = rng.normal(0, 0.5, (n_components, k, n)).astype(np.float32)
    fixed = np.log(rng.dirichlet(np.ones(k), n_components))
    bias, precision = rng.normal(0, 0.3, n).astype(np.float32), rng.gamma(5, 0.3, n).astype(np.float32)
    level, value = rng.integers(0, 4, n).astype(np.int16), rng.normal(0, 1, n)
    likelihood = ordinal(precision, level) if is_ordinal else EntryLikelihood(precision, value=value)
    target = rng.normal(0, 0.6, (n_components, k))
    classes, biases = np.empty((2, rounds, n_components), np.int8), np.empty((2, rounds))
    fitted = np.empty((2, rounds, n), np.float32)
    for run in range(2):
        z = np.zeros(n_components, np.int64)
        none = np.empty(0, np.float32)
        others = np.empty((n, 0), np.float32)
        given = RowGiven(value, level, mean, fixed, bias, precision, 1e9, ENDS, is_ordinal, others, none, none)
        sample = RowSample(classes[run], np.empty((rounds, 0)), biases[run], fitted[run])
        sample_row(rng, given, z, 0.0, 50, sample)
    np.testing.assert_allclose(biases, 0, atol=1e-3)  # it is held still
    drawn = target[np.arange(n_components), classes].sum(axis=2)
    found = lost_without(drawn, likelihood.log(fitted))

    states = list(product(range(k), repeat=n_components))
    means = np.array([bias + sum(mean[h, t] for h, t in enumerate(state)) for state in states])
    prior = np.array([sum(fixed[h, t] for h, t in enumerate(state)) for state in states])
    worth = np.array([sum(target[h, t] for h, t in enumerate(state)) for state in states])

    def expected(kept):
        log_odds = prior + only(likelihood, kept).log(means[:, kept]).sum(axis=1)
        share = np.exp(log_odds - log_odds.max())
        return share @ worth / share.sum()

    everything = np.arange(n)
    truth = np.array([expected(everything) - expected(np.delete(everything, e)) for e in everything])
    assert abs(drawn.mean() - expected(everything)) < 0.02
    np.testing.assert_allclose(found, truth, atol=0.02)
    assert np.abs(truth).max() > 0.1  # something was at stake


def test_covariances_by_two_runs_are_not_too_small():
    rng = np.random.default_rng(5)
    runs, rounds, memory = 4000, 12, 0.8
    noise = rng.normal(size=(runs, 2, rounds)) * np.sqrt(1 - memory**2)
    x = np.empty_like(noise)
    now = rng.normal(size=(runs, 2))
    for r in range(rounds):
        now = x[..., r] = memory * now + noise[..., r]
    found = np.mean([cross_covariance(one, np.stack([one, -2 * one], axis=2)) for one in x], axis=0)
    np.testing.assert_allclose(found, [1, -2], atol=0.1)
    assert np.mean(x.var(axis=2)) < 0.6  # what one run by itself would say


def test_no_entry_weighs_more_than_the_draws_can_tell():
    """Where one draw has nearly all of the weight, the loss is bounded by what the values are."""
    expected = np.linspace(0, 1, 20).reshape(2, 10)
    likelihood = np.zeros((2, 10, 1))
    likelihood[0, 0] = -700.0
    assert abs(lost_without(expected, likelihood)[0]) < 1
