"""Hofmann's Gaussian pLSA: its steps against the formulas written out with numpy."""

import numpy as np
import pytest
from scipy.stats import norm

from lbg_recsys.core.blocks import LocalBlocks
from lbg_recsys.core.em.gaussian_plsa import entry_evidence, entry_step, fold_in_rows, mixing_weights
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.ratings.plsa_fit import Annealing, overall_moments, standardised, user_moments


@pytest.fixture
def rows():
    """Four users, the third of whom has rated nothing, and three items."""
    users, items = [0, 0, 1, 1, 1, 3], [0, 2, 0, 1, 2, 1]
    return SparseRows.from_entries(users, items, [5.0, 1.0, 3.0, 4.0, 2.0, 4.0], 4, 3)


@pytest.fixture
def parameters():
    rng = np.random.default_rng(0)
    return Parameters(
        np.array([0.6, 0.4]), np.full((3, 2), 0.5), rng.normal(3, 1, (3, 2)), rng.uniform(0.5, 2, (3, 2))
    )


@pytest.mark.parametrize("beta", [1.0, 0.4])
def test_an_entry_belongs_to_topics_by_its_tempered_likelihood(rows, parameters, beta):
    lam = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    user, item, value = rows.row_of_entry(), rows.columns, rows.values
    joint = lam[user] * norm.pdf(value[:, None], parameters.c[item], np.sqrt(parameters.var[item]))
    share = joint**beta / (joint**beta).sum(axis=1, keepdims=True)
    found, mixing = entry_step(rows, lam, parameters, beta)
    for power, sums in enumerate((found.count, found.first, found.second)):
        expected = np.zeros((3, 2))
        np.add.at(expected, item, share * value[:, None] ** power)
        np.testing.assert_allclose(sums, expected)
    mass = np.zeros((4, 2))
    np.add.at(mass, user, share)
    np.testing.assert_allclose(mixing, mixing_weights(mass))
    np.testing.assert_allclose(found.mass, mass.sum(axis=0))
    np.testing.assert_allclose(found.evidence, (np.log((joint**beta).sum(axis=1)) / beta).sum())
    np.testing.assert_allclose(entry_evidence(rows, lam, parameters), np.log(joint.sum(axis=1)).sum())


def test_mixing_weights_are_smoothed_by_a_tenth_of_an_entry():
    np.testing.assert_allclose(
        mixing_weights(np.array([[2.0, 1.0], [0.0, 0.0]])), [[2.1 / 3.2, 1.1 / 3.2], [0.5, 0.5]]
    )


def test_a_folded_user_is_where_its_weights_no_longer_change(rows, parameters):
    found = fold_in_rows(rows, parameters, n_iter=2000)
    np.testing.assert_allclose(entry_step(rows, found, parameters)[1], found, atol=1e-6)
    np.testing.assert_allclose(fold_in_rows(rows, parameters)[2], 0.5)  # who has rated nothing
    one = fold_in_rows(rows, parameters, n_iter=1)
    np.testing.assert_allclose(one, entry_step(rows, np.full((4, 2), 0.5), parameters)[1])


def test_means_and_spreads_of_users_lean_on_those_of_all(rows):
    centre, spread = overall_moments(LocalBlocks.of(rows))
    assert (centre, spread) == (pytest.approx(rows.values.mean()), pytest.approx(rows.values.std()))
    mean, deviation = user_moments(rows, centre, spread)
    for user, own in enumerate(([5.0, 1.0], [3.0, 4.0, 2.0], [], [4.0])):
        weight = len(own) + 5  # as if five more ratings were the usual ones
        expected = (sum(own) + 5 * centre) / weight
        assert mean[user] == pytest.approx(expected)
        square = sum((one - expected) ** 2 for one in own)
        assert deviation[user] == pytest.approx(np.sqrt((square + 5 * spread**2) / weight))
    user = rows.row_of_entry()
    np.testing.assert_allclose(
        standardised(rows, centre, spread).values, (rows.values - mean[user]) / deviation[user]
    )


def test_equal_ratings_have_a_spread_of_one():
    rows = SparseRows.from_entries([0, 1], [0, 1], [3.0, 3.0], 2, 2)
    assert overall_moments(LocalBlocks.of(rows)) == (3.0, 1.0)


def test_beta_falls_where_the_likelihood_stops_rising_and_the_best_is_kept():
    annealing, history = Annealing(), []

    def met(likelihood):
        history.append(likelihood)
        return annealing.is_over((f"parameters of {likelihood}", None), history)

    assert not met(-100.0) and annealing.beta == 1.0 and annealing.best == -100.0
    assert not met(-99.0) and annealing.beta == 1.0 and annealing.best == -99.0
    assert not met(-98.995) and annealing.beta == 0.85 and annealing.best == -99.0  # less than a ten-thousandth
    assert not met(-50.0) and annealing.beta == 0.85 and annealing.best_beta == 0.85
    falls = 0
    while not met(-60.0):
        falls += 1
    assert falls + 1 == 7  # 0.85^8 < 0.3
    assert annealing.parameters == "parameters of -50.0" and annealing.best_beta == 0.85
