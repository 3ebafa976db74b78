"""A hyper-parameter at either end of its range gives finite parameters and predictions."""

import math

import numpy as np
import pytest

from lbg_recsys.errors import ParameterError
from lbg_recsys.ratings import BayesianLBGModel, ChoiceModel, GaussianPLSAModel, LBGModel
from lbg_recsys.settings import settings_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
LARGEST = 1.7e308  # where a range has no end of its own
QUICK = {
    LBGModel: {"random_state": 0},
    GaussianPLSAModel: {"random_state": 0},
    BayesianLBGModel: {"random_state": 0, "n_sweeps": 3, "burn_in": 1, "n_components": 2},
    ChoiceModel: {},
}


def ends(one):
    """Both ends of a range; large integers would only take time and memory."""
    if float in one.kinds:
        low, high = max(one.low, -LARGEST), min(one.high, LARGEST)
        yield math.nextafter(low, math.inf) if one.open_low else low
        yield math.nextafter(high, -math.inf) if one.open_high else high
    elif int in one.kinds:
        yield int(one.low)
        if one.high < math.inf:
            yield int(one.high)


CASES = [(cls, name, end) for cls in QUICK for name, one in settings_of(cls).items() for end in ends(one)]


@pytest.fixture(scope="module")
def triples():
    rng = np.random.default_rng(0)
    pairs = rng.choice(48, 40, replace=False)
    return pairs // 6, pairs % 6, rng.integers(1, 6, 40)


@pytest.mark.parametrize(
    ("cls", "name", "end"), CASES, ids=[f"{cls.__name__}-{name}-{end:g}" for cls, name, end in CASES]
)
def test_the_ends_of_a_range_give_finite_parameters(cls, name, end, triples):
    options = QUICK[cls] | {name: end}
    if name == "n_sweeps":
        options["burn_in"] = 0
    model = cls(**options).fit(triples)
    if hasattr(model, "parameters_"):
        assert all(np.isfinite(array).all() for array in vars(model.parameters_).values())
    if hasattr(model, "lower_bound_"):
        assert math.isfinite(model.lower_bound_)
    if cls is not ChoiceModel:
        probability = model.predict_distribution([(0, 0), (0, "nothing"), ("nobody", 1)])
        assert np.isfinite(probability).all() and np.allclose(probability.sum(axis=1), 1)
    assert np.isfinite(model.recommend([0, 1])["score"]).all()


@pytest.mark.parametrize("name", ["prior_strength", "indicator_weight"])
@pytest.mark.parametrize("value", [1e308, math.inf, math.nan])
def test_a_weight_that_would_overflow_is_refused(name, value, triples):
    with pytest.raises(ParameterError, match=rf"{name} is .* up to 1e\+09"):
        LBGModel(**{name: value}).fit(triples)
