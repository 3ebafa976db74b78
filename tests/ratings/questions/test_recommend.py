"""Lists: of nobody, and on scales below zero."""

import numpy as np
import pytest

from lbg_recsys.core import levels
from lbg_recsys.ratings import BayesianLBGModel, ChoiceModel, GaussianPLSAModel, LBGModel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODELS = [
    LBGModel(n_topics=2, random_state=0),
    LBGModel(n_topics=2, random_state=0, baseline=True, lists="choice"),
    GaussianPLSAModel(n_topics=2, random_state=0),
    BayesianLBGModel(n_components=2, n_sweeps=8, burn_in=2, random_state=0),
]
IDS = ["lbg", "lbg-choice", "plsa", "bayesian"]


def triples(values):
    rng = np.random.default_rng(1)
    cells = rng.choice(20 * 12, 150, replace=False)
    return cells // 12, cells % 12, np.append(values, rng.choice(values, 150 - len(values)))


@pytest.mark.parametrize("model", [*MODELS, ChoiceModel()], ids=[*IDS, "clicks"])
def test_the_lists_of_nobody_are_an_empty_table(model):
    model.fit(triples(np.arange(1, 6)))
    full, users = model.recommend([0, 1]), []
    for kind in (users, np.array(users, dtype=int), iter(users)):
        empty = model.recommend(kind)
        assert len(empty) == 0 and list(empty) == list(full)
        assert empty["rank"].dtype == full["rank"].dtype and empty["score"].dtype == full["score"].dtype
    (block,) = model.recommend_blocks([])
    assert len(block) == 0


@pytest.mark.parametrize("scale", [(-10, 10), (-5, -1)])
@pytest.mark.parametrize("diversity", [0.0, 0.3])
@pytest.mark.parametrize("by", ["liked", "rated", "rating", "sure"])
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_lists_on_scales_below_zero(model, by, diversity, scale):
    """The lists are those of the same ratings moved above zero."""
    ratings = triples(np.arange(scale[0], scale[1] + 1.0))
    moved = (*ratings[:2], ratings[2] - scale[0] + 1)
    below, above = (
        type(model)(**model.get_params()).fit(one).recommend([0, 3], 5, by=by, diversity=diversity)
        for one in (ratings, moved)
    )
    assert below["item"].tolist() == above["item"].tolist()
    shift = scale[0] - 1 if by in ("rating", "sure") else 0
    np.testing.assert_allclose(below["score"], above["score"] + shift, atol=1e-4)
    np.testing.assert_allclose(below["expected_rating"], above["expected_rating"] + scale[0] - 1, atol=1e-4)


@pytest.mark.parametrize("scale", [(-10, 10), (-5, -1)])
def test_lists_by_rating_are_the_best_of_all_items(scale):
    model = LBGModel(n_topics=2, random_state=0).fit(triples(np.arange(scale[0], scale[1] + 1.0)))
    pairs = [(3, item) for item in model.matrix.items]
    expected = levels.mean(model.predict_distribution(pairs), model.levels)
    found = model.recommend(3, 12, by="rating", exclude_seen=False)
    np.testing.assert_allclose(found["score"], np.sort(expected)[::-1])
