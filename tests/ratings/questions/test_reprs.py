"""Models, explanations and topics are short to look at."""

import warnings

import pytest

from lbg_recsys import BayesianLBGModel, ChoiceModel, LBGAlgo, LBGModel


@pytest.fixture(scope="module", params=["lbg", "bayesian"])
def model(request, sample):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if request.param == "lbg":
            return LBGModel(n_topics=3, random_state=0).fit(sample.ratings)
        return BayesianLBGModel(n_components=2, n_sweeps=12, burn_in=4, random_state=0).fit(sample.ratings)


def test_a_model_shows_changed_settings_and_what_it_was_fitted_to(model):
    assert repr(LBGModel(n_topics=3)) == "LBGModel(n_topics=3)"
    assert repr(LBGAlgo()) == "LBGAlgo()" and repr(ChoiceModel(limit=9)) == "ChoiceModel(limit=9)"
    shown = repr(model)
    assert "random_state=0" in shown and shown.endswith("fitted to 6,065 ratings of 120 items by 200 users>")
    assert repr(model.matrix) == "<RatingMatrix: 6,065 ratings of 120 items by 200 users>"


def test_an_explanation_prints_its_reasons_and_has_a_short_repr(model):
    found = model.explain(3, 8)
    assert len(repr(found)) < 160 and "item 8" in repr(found) and f"expected {found.expected:.2f}" in repr(found)
    lines = str(found).splitlines()
    assert 3 <= len(lines) < 25 and lines[0].startswith("User 3, item 8: predicted ")
    strongest = found.evidence[0]
    assert any(line == f"  {strongest.item} {strongest.rating:g}: {strongest.total:+.3f}" for line in lines)
    assert ("because the user rated" in str(found)) == (model.lists == "choice")


def test_a_topic_is_one_line(model):
    topic = model.topics(3)[0]
    assert repr(topic).startswith(f"<Topic {topic.number}, weight {topic.weight:.2f}: typical ")
    assert str(topic.typical[0].item) in repr(topic) and "\n" not in repr(topic)
