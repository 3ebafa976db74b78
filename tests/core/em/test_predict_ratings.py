"""Predictions of a topic mixture against the formulas written out with numpy."""

import numpy as np
import pytest

from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.predict_ratings import ColumnTables, predict_mixture

LEVELS = np.arange(1.0, 6.0)


@pytest.fixture
def parameters():
    rng = np.random.default_rng(0)
    lam = np.array([0.5, 0.3, 0.2])
    return Parameters(lam, rng.uniform(0.1, 0.9, (4, 3)), rng.uniform(1, 5, (4, 3)), rng.uniform(0.2, 2, (4, 3)))


def test_the_unknown_item_is_a_random_one_of_those_a_topic_rates(parameters):
    tables = ColumnTables.of(parameters, 1.0)
    for s in range(3):
        share = parameters.p[:, s] / parameters.p[:, s].sum()
        mean = share @ parameters.c[:, s]
        square = share @ (parameters.var[:, s] + parameters.c[:, s] ** 2)
        np.testing.assert_allclose([tables.c[-1, s], tables.var[-1, s]], [mean, square - mean**2])
    assert (tables.odds[-1] == 1).all()


@pytest.mark.parametrize("offset", [None, np.array([0.0, -1.5, 0.7])])
def test_the_leading_topic_and_its_posterior(parameters, offset):
    mu = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], parameters.lam])
    users, items, forced = np.array([0, 1, -1]), np.array([2, 0, -1]), np.array([True, False, False])
    tables = ColumnTables.of(parameters, 1.0)
    found = predict_mixture(mu, tables, users, items, forced, LEVELS, offset=offset)
    for pair in range(3):
        weight = mu[users[pair]].copy()
        if forced[pair]:
            p = parameters.p[items[pair]]
            weight *= p / (1 - p)
        weight /= weight.sum()
        assert found.topic[pair] == weight.argmax()
        np.testing.assert_allclose(found.posterior[pair], weight.max())
        c, var = tables.c[items[pair]] + (0.0 if offset is None else offset[pair]), tables.var[items[pair]]
        density = (weight / np.sqrt(var)) @ np.exp(-0.5 * (LEVELS - c[:, None]) ** 2 / var[:, None])
        np.testing.assert_allclose(found.probability[pair], density / density.sum())
