"""Every public call of every model with arguments that make no sense: an answer, or an error that is documented."""

import functools
import inspect
import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lbg_recsys.errors import LBGError
from lbg_recsys.ratings import BayesianLBGModel, GaussianPLSAModel, LBGModel
from lbg_recsys.ratings.choice import ChoiceModel
from tests.strategies import odd_values

EXAMPLES = int(os.environ.get("LBG_ODD_EXAMPLES", "60"))
MODELS = {
    "lbg": lambda: LBGModel(n_topics=2, random_state=0),
    "plsa": lambda: GaussianPLSAModel(n_topics=2, max_iter=3, random_state=0),
    "bayesian": lambda: BayesianLBGModel(n_components=2, n_sweeps=6, burn_in=3, random_state=0),
    "choice": lambda: ChoiceModel(),
    "lbg without users": lambda: LBGModel(n_topics=2, random_state=0),
}
CALLS = (
    *("fit", "predict_batch", "predict_distribution", "interval", "predictions", "recommend", "similar_items"),
    *("similar_users", "topics", "explain", "fold_in", "fold_in_item", "with_item", "partial_fit"),
)
OF_NEW_USERS = ("predict", "distribution", "interval", "predictions", "recommend", "explain")
# A call with the wrong number or names of arguments is Python's TypeError; all that are made here are right.
DOCUMENTED = LBGError


@functools.cache
def model_of(kind):
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((8, 6)) < 0.6)
    ratings = rng.integers(1, 6, len(users)).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[kind]()
        names = [f"item {i}" for i in items]
        if isinstance(model, ChoiceModel):
            model.fit((users, names))
        else:
            model.fit((users, names, ratings))
        return model.without_users() if "without" in kind else model


def call(of, name, data):
    """Some of the arguments odd, the others such as they should be."""
    usual = {
        "ratings": ([0, 1, 2], ["item 1", "item 2", "item 1"], [1.0, 3.0, 5.0]),
        "choices": ([0, 1], ["item 1", "item 2"]),
        "pairs": [(0, "item 1"), (1, "nothing")],
        "user": 0,
        "item": "item 1",
        "items": ["item 1"],
        "title": "A title",
        "exclude": None,
        "features": None,
    }
    if name in ("fold_in", "fold_in_item", "with_item"):
        usual |= {"ratings": {"item 1": 3} if name == "fold_in" else {0: 3, 1: 4}, "item": "new"}
    signature = inspect.signature(getattr(of, name))
    arguments = {}
    for parameter in signature.parameters.values():
        if parameter.name in ("progress", "spread") or parameter.kind in (
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        ):
            continue
        if data.draw(st.integers(0, 2)) == 0:
            arguments[parameter.name] = data.draw(odd_values)
        elif parameter.name in usual:
            arguments[parameter.name] = usual[parameter.name]
        elif parameter.default is inspect.Parameter.empty:
            arguments[parameter.name] = data.draw(odd_values)
    try:
        return getattr(of, name)(**arguments)
    except DOCUMENTED as error:
        assert len(str(error)) > 10, f"{name}({arguments}): {error!r} says nothing"
    return None


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors(kind, data):
    model = model_of(kind)
    names = [name for name in CALLS if hasattr(model, name)]
    name = data.draw(st.sampled_from(names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in ("fit", "partial_fit"):  # these change the model
            model = type(model)(**model.get_params())
        call(model, name, data)


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_for_new_users(kind, data):
    model = model_of(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given_items = ["item 1"] if isinstance(model, ChoiceModel) else {"item 1": 3, "item 2": 5}
        person = model.fold_in(given_items)
        name = data.draw(st.sampled_from([name for name in OF_NEW_USERS if hasattr(person, name)]))
        call(person, name, data)
