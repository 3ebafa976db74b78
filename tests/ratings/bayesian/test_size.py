"""The size that follows the data."""

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys.errors import ParameterError
from lbg_recsys.ratings import BayesianLBGModel
from lbg_recsys.ratings.bayesian.size import Size, factors_for

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RATINGS = (["a", "a", "b", "b", "c"], ["x", "y", "x", "y", "x"], [5, 4, 1, 2, 3])
QUICK = {"n_sweeps": 8, "burn_in": 3, "random_state": 0}


def test_factors_grow_with_the_ratings_within_bounds():
    found = [factors_for(n) for n in (0.0, 8.0, 8.3, 22.0, 23.0, 90.0, 1e9)]
    assert found == [8, 8, 16, 16, 24, 40, 64]


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ({}, (4, 3, 8)),
        ({"n_factors": 0}, (16, 3, 0)),
        ({"n_components": 2, "n_classes": 5, "n_factors": 3}, (2, 5, 3)),
    ],
)
def test_what_is_given_is_taken_and_the_rest_follows(given, size, tmp_path):
    model = BayesianLBGModel(**QUICK, **given).fit(RATINGS)
    assert model.size_ == Size(*size)
    (draws, _) = model._draws.values()
    assert (*draws.lam.shape[1:], draws.row_factor.shape[2]) == size
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    assert again.size_ == model.size_ and again.get_params() == model.get_params()
    assert again.predict_batch([("a", "x")]) == model.predict_batch([("a", "x")])


def test_another_size_after_the_fit_is_refused_by_save(tmp_path):
    model = BayesianLBGModel(**QUICK).fit(RATINGS).set_params(n_factors=3)
    with pytest.raises(ParameterError, match="n_factors is 3, and the model was fitted with 8"):
        lbg_recsys.save(model, tmp_path / "model.lbg")


@pytest.mark.parametrize("wrong", ["many", -1, 1.5, 513, None])
def test_what_is_no_size_is_refused(wrong):
    with pytest.raises(
        ParameterError, match=r"n_factors is .*: give 'auto' or an integer of at least 0 and up to 512"
    ):
        BayesianLBGModel(n_factors=wrong).fit(RATINGS)


@pytest.mark.parametrize("n_sweeps", [1, 2, 9])
def test_a_third_of_the_sweeps_is_not_used(n_sweeps):
    given = {"n_sweeps": n_sweeps, "random_state": 0}
    auto, third = (BayesianLBGModel(**given, **more).fit(RATINGS) for more in ({}, {"burn_in": n_sweeps // 3}))
    pairs = [("a", "x"), ("c", "y")]
    assert np.array_equal(auto.predict_batch(pairs), third.predict_batch(pairs))
    assert len(auto.training_error_) == n_sweeps
