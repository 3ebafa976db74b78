"""Predictions from kept sweeps."""

import numpy as np
import pytest

from lbg_recsys.core.draws import Draws, keep, predict
from lbg_recsys.core.gibbs import Chain, ChainSettings, Entries

LEVELS = np.array([-1.0, 0.0, 1.0])


def kept(ordinal, n_sweeps=4):
    rng = np.random.default_rng(3)
    row, col = np.divmod(rng.permutation(80)[:50], 8)
    level = rng.integers(0, 3, 50)
    entries = Entries.of(row, col, LEVELS[level], level, 10, 8)
    settings = ChainSettings(n_components=2, n_classes=2, ordinal=ordinal)
    chain = Chain(entries, np.array([-0.5, 0.5]), settings, np.random.SeedSequence(5))
    draws = []
    for _ in range(n_sweeps):
        chain.sweep()
        draws.append(keep(chain, chain.cuts))
    return Draws.joined(draws)


@pytest.fixture(scope="module")
def sides():
    return kept(ordinal=False), kept(ordinal=True)


def test_ordinal_sweeps_give_the_shape_and_all_sweeps_the_mean(sides):
    gaussian, ordinal = sides
    pairs = np.array([0, 3, 9, -1]), np.array([7, 2, -1, 0])
    mean_by_gaussians = predict(gaussian, *pairs, LEVELS)[1]
    shape, mean = predict(ordinal, *pairs, LEVELS)
    together = Draws.joined([gaussian, ordinal])
    assert together.shaping.tolist() == [False] * 4 + [True] * 4
    probability, expected = predict(together, *pairs, LEVELS)
    np.testing.assert_array_equal(probability, shape)
    np.testing.assert_allclose(expected, mean_by_gaussians + mean, rtol=1e-12)


@pytest.mark.parametrize("ordinal", [False, True])
def test_sweeps_of_one_kind_all_give_the_shape(sides, ordinal):
    draws = sides[ordinal]
    assert draws.shaping.all()
    probability, mean = predict(draws, np.array([1, 4]), np.array([5, 6]), LEVELS)
    np.testing.assert_allclose(probability.sum(axis=1), len(draws))
    if ordinal:
        np.testing.assert_allclose(mean, probability @ LEVELS)
