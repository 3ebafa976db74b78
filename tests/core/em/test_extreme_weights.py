"""Numbers far beyond what anybody would set still give distributions."""

import numpy as np
import pytest

from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.predict_ratings import ColumnTables, predict_mixture
from lbg_recsys.ratings import LBGModel


@pytest.mark.parametrize("baseline", [False, True])
@pytest.mark.parametrize("weight", [0.0, 1.0, 50.0, 2000.0, 1e6])
def test_predictions_stay_distributions_for_any_indicator_weight(sample, weight, baseline):
    model = LBGModel(n_topics=3, indicator_weight=weight, baseline=baseline, max_iter=5, tol=1e6, random_state=0)
    model.fit(sample.ratings)
    pairs = [(user, item) for user in (1, 2, "new") for item in (*range(1, 121), "new")]
    probability = model.predict_distribution(pairs)
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-9)


def test_means_far_off_the_scale_say_nothing():
    """No fit gives them, a model file may."""
    parameters = Parameters(np.array([1.0]), np.full((2, 1), 0.5), np.array([[1e9], [3.0]]), np.ones((2, 1)))
    codes = np.array([0, 1])
    found = predict_mixture(
        np.ones((2, 1)),
        ColumnTables.of(parameters, 1.0),
        np.zeros(2, dtype=np.int64),
        codes,
        np.ones(2, dtype=bool),
        np.arange(1.0, 6.0),
    )
    np.testing.assert_allclose(found.probability[0], 0.2)
    assert found.probability[1].argmax() == 2
