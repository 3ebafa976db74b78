"""The probability of being rated, of users that nobody knows beside those that are known."""

import numpy as np
import pytest

from lbg_recsys import BayesianLBGModel

SETTINGS = {"n_components": 4, "n_sweeps": 30, "burn_in": 10, "random_state": 0}


@pytest.mark.parametrize(("orientation", "exact"), [("users", 0.02), ("items", 1e-6)])  # rows are of a likely class
def test_an_unknown_user_has_the_odds_of_the_item_whoever_is_asked_about_beside(sample, orientation, exact):
    model = BayesianLBGModel(**SETTINGS, orientation=orientation).fit(sample.ratings[["user", "item", "rating"]])
    items = np.arange(3)
    beside = model.rated_probability(np.array([4, -1, 0, -1, 7, -1]), np.repeat(items, 2))[1::2]
    counts = np.bincount(model.matrix.item_codes, minlength=model.matrix.n_items)
    odds = (counts[items] + 0.5) / (model.matrix.n_users + 1.0)
    known = model.rated_probability(np.full(3, 4), items)
    np.testing.assert_allclose(beside, odds, rtol=exact)
    assert np.abs(known - odds).max() > 0.001  # the classes of a known user move them
