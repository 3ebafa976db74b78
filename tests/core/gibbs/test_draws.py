"""Predictions from kept sweeps."""

import tracemalloc

import numpy as np
import pytest
from scipy.special import ndtr

from lbg_recsys.core.gibbs.chain import Chain, ChainSettings
from lbg_recsys.core.gibbs.draws import Draws, part
from lbg_recsys.core.gibbs.keep import keep
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.predict_pairs import predict
from lbg_recsys.core.sparse import SparseRows


@pytest.mark.parametrize("codes", [[3, 999, 5], [7, -1], [4, 5, 6], [5, 4], [2], [-1], []])
def test_parts_of_some_sweeps_do_not_cost_a_copy_of_all(codes):
    every = np.random.default_rng(0).integers(-9, 9, (64, 1000, 24)).astype(np.int8)
    for array in (every, every[::2]):
        tracemalloc.start()
        found = part(array, np.array(codes, np.int64))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.flags.c_contiguous and peak < array.nbytes / 20
        np.testing.assert_array_equal(found, array[:, np.array(codes, np.int64)])


LEVELS = np.array([-1.0, 0.0, 1.0])


def kept(likelihood, n_sweeps=4):
    rng = np.random.default_rng(3)
    cells, level = rng.permutation(80)[:50], rng.integers(0, 3, 50).astype(np.int16)
    level = level[np.argsort(cells)]
    row, col = np.divmod(np.sort(cells), 8)
    entries = SparseRows.from_entries(row, col, LEVELS[level], 10, 8)
    settings = ChainSettings(n_components=2, n_classes=2, likelihood=likelihood)
    chain = Chain(entries, level, np.array([-0.5, 0.5]), settings, np.random.SeedSequence(5))
    draws = []
    for _ in range(n_sweeps):
        chain.sweep()
        draws.append(keep(chain, chain.cuts))
    return Draws.joined(draws)


@pytest.fixture(scope="module")
def sides():
    return kept(Likelihood.GAUSSIAN), kept(Likelihood.ORDINAL)


def test_ordinal_sweeps_give_the_shape_and_all_sweeps_the_mean(sides):
    gaussian, ordinal = sides
    pairs = np.array([0, 3, 9, -1]), np.array([7, 2, -1, 0])
    mean_by_gaussians = predict(gaussian, *pairs, Side.USERS, LEVELS)[1]
    shape, mean = predict(ordinal, *pairs, Side.USERS, LEVELS)
    together = Draws.joined([gaussian, ordinal])
    assert together.shaping.tolist() == [False] * 4 + [True] * 4
    probability, expected = predict(together, *pairs, Side.USERS, LEVELS)
    np.testing.assert_array_equal(probability, shape)
    np.testing.assert_allclose(expected, mean_by_gaussians + mean, rtol=1e-12)


@pytest.mark.parametrize("ordinal", [False, True])
def test_sweeps_of_one_kind_all_give_the_shape(sides, ordinal):
    draws = sides[ordinal]
    assert draws.shaping.all()
    probability, mean = predict(draws, np.array([1, 4]), np.array([5, 6]), Side.USERS, LEVELS)
    np.testing.assert_allclose(probability.sum(axis=1), len(draws))
    if ordinal:
        np.testing.assert_allclose(mean, probability @ LEVELS)


def test_everybody_is_predicted_with_their_own_cut_points():
    draws = Draws.joined(kept(Likelihood.ORDINAL, n_sweeps=14).pieces()[12:])  # they begin to move in the tenth
    assert draws.own_cuts.shape == (2, 11, 2) and (np.diff(draws.own_cuts, axis=2) >= 0).all()
    assert draws.own_cuts[:, :-1].std(axis=1).min() > 0.01
    np.testing.assert_allclose(draws.own_cuts[:, -1], draws.cuts, atol=2e-3)  # the unknown one has those of all
    users, items = np.array([2, -1]), np.array([3, 3])
    probability, _ = predict(draws, users, items, Side.USERS, LEVELS)
    for pair, (user, item) in enumerate(zip(users, items, strict=True)):
        expected = 0.0
        for s in range(2):
            m = draws.row_bias[s, user] + draws.col_bias[s, item]
            m += sum(draws.c_step[s, h] * draws.c[s, item, h, draws.z[s, user, h]] for h in range(2))
            root = np.sqrt(float(draws.row_weight[s, user]) * float(draws.col_weight[s, item]))
            upto = ndtr((draws.own_cuts[s, user].astype(float) - m) * root)
            expected = expected + np.diff(np.concatenate([[0.0], upto, [1.0]]))
        np.testing.assert_allclose(probability[pair], expected, atol=1e-5)


@pytest.mark.parametrize("side", Side)
def test_unknown_rows_and_columns_have_the_noise_of_all_that_is_unknown_about_them(side):
    """Simulated: what an unknown row or column adds to a rating, with a usual partner, and the usual noise."""
    rng = np.random.default_rng(3)
    row, col = np.nonzero(rng.random((30, 20)) < 0.5)
    entries = SparseRows.from_entries(row, col, rng.normal(size=len(row)), 30, 20)
    settings = ChainSettings(2, 2, 3, likelihood=Likelihood.GAUSSIAN, side=side)
    chain = Chain(entries, np.zeros(len(row), np.int16), np.array([0.0]), settings, np.random.SeedSequence(5))
    for _ in range(5):
        chain.sweep()
    draws, n = keep(chain, chain.cuts), 400_000
    usual = chain.user_noise_shape / chain.noise_rate  # of a user; an item's weight is 1

    def unknown(own, others, *precisions):
        factors = rng.normal(size=(n, 3)) / np.sqrt(own.precision)
        products = (factors * others.value[rng.integers(len(others.value), size=n)]).sum(axis=1)
        return products + sum(rng.normal(size=n) / np.sqrt(one) for one in precisions)

    of_row = unknown(chain.row_factors, chain.col_factors, chain.row_tau)
    of_col = unknown(chain.col_factors, chain.row_factors, chain.col_tau, *chain.tau)
    row_partner, col_partner = (1.0, usual) if side is Side.USERS else (usual, 1.0)
    assert draws.row_weight[0, -1] * row_partner == pytest.approx(1 / (of_row.var() + 1 / usual), rel=0.02)
    assert draws.col_weight[0, -1] * col_partner == pytest.approx(1 / (of_col.var() + 1 / usual), rel=0.02)
