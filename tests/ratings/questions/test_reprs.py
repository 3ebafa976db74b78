"""Models, explanations and topics are short to look at."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from lbg_recsys import BayesianLBGModel, ChoiceModel, LBGAlgo, LBGModel
from lbg_recsys.algorithms import MovieMeanAlgo
from lbg_recsys.ratings.choice_scores import ChoiceEvidence, ChoiceExplanation
from lbg_recsys.ratings.questions.showing import small_bars_html


@pytest.fixture(scope="module", params=["lbg", "bayesian"])
def model(request, sample):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if request.param == "lbg":
            return LBGModel(n_topics=3, random_state=0).fit(sample.ratings)
        return BayesianLBGModel(n_components=2, n_sweeps=12, burn_in=4, random_state=0).fit(sample.ratings)


def test_a_model_shows_changed_settings_and_what_it_was_fitted_to(model):
    assert repr(LBGModel(n_topics=3)) == "LBGModel(n_topics=3)"
    assert repr(LBGModel(n_topics=np.int64(3), baseline=np.True_)) == "LBGModel(n_topics=3, baseline=True)"
    assert repr(LBGAlgo()) == "LBGAlgo()" and repr(ChoiceModel(limit=9)) == "ChoiceModel(limit=9)"
    shown = repr(model)
    assert "random_state=0" in shown and shown.endswith("fitted to 6,065 ratings of 120 items by 200 users>")
    assert repr(model.matrix) == "<RatingMatrix: 6,065 ratings of 120 items by 200 users>"


def test_an_explanation_prints_its_reasons_and_has_a_short_repr(model):
    found = model.explain(3, 8)
    assert len(repr(found)) < 160 and "item 8" in repr(found)
    assert f"expected rating {found.expected_rating:.2f}" in repr(found)
    lines = str(found).splitlines()
    assert 3 <= len(lines) < 25 and lines[0].startswith("User 3, item 8: prediction ")
    assert str(model.fold_in({1: 5, 2: 4}).explain(8)).startswith("New user, item 8: prediction ")
    strongest = found.evidence[0]
    assert any(line == f"  {strongest.item} {strongest.rating:g}: {strongest.both:+.3f}" for line in lines)
    assert ("because the user rated" in str(found)) == (model.lists == "choice")


def test_a_new_user_or_item_says_what_it_is(model, sample):
    name = type(model).__name__
    assert repr(model.fold_in({1: 5, 2: 4})) == f"<FoldedUser of {name}, known items: 2>"
    assert repr(model.fold_in_item({1: 5})) == f"<FoldedItem of {name}>"
    clicks = ChoiceModel().fit(sample.ratings[["user", "item"]])
    assert repr(clicks.fold_in([1])) == "<FoldedChooser of ChoiceModel, known items: 1>"


def test_reasons_of_a_list_are_printed_as_well():
    because = tuple(ChoiceEvidence(item, 4.0, 0.1, "Tea" if item == 0 else None) for item in range(10))
    found = ChoiceExplanation(7, 88, 1.02, 0.02, because, title="Pot")
    assert repr(found) == "<ChoiceExplanation: user 7, item 88 (Pot), choice score 1.0200; print() shows the reasons>"
    lines = str(found).splitlines()
    assert lines[0] == "User 7, item Pot: choice score 1.0200, because the user rated" and len(lines) == 11
    assert lines[1:3] == ["  Tea 4: +0.1000", "  1 4: +0.1000"]
    assert lines[-2:] == ["  2 more: +0.2000", "and because of how many users take it: +0.0200"]
    clicks = ChoiceExplanation("ann", 8, 0.12, 0.02, (ChoiceEvidence(3, None, 0.1),))
    assert "because the user took\n  3: +0.1000\nand because" in str(clicks)
    unknown = ChoiceExplanation("ann", 8, 0.02, 0.02, ())
    assert str(unknown) == "User ann, item 8: choice score 0.0200, because of how many users take it"


def test_click_models_baselines_and_data_say_what_they_are(sample):
    clicks = ChoiceModel().fit(sample.ratings[["user", "item"]])
    assert repr(clicks) == "<ChoiceModel(), fitted to 6,065 ratings of 120 items by 200 users>"
    assert repr(MovieMeanAlgo()) == "MovieMeanAlgo()"
    assert repr(sample) == "<RatingData: 6,065 ratings of 120 items by 200 users>"


def test_topics_are_one_line_each(model):
    topics = model.topics(3)
    assert str(topics).splitlines() == [repr(topic) for topic in topics]
    assert repr(topics[:0]) == "[]" and repr(type(topics)()) == "[]"


def test_a_topic_is_one_line(model):
    topic = model.topics(3)[0]
    assert repr(topic).startswith(f"<Topic {topic.topic}, weight {topic.weight:.2f}: typical ")
    assert str(topic.typical[0].item) in repr(topic) and "\n" not in repr(topic)


TITLES = {8: "Silent <Comet>", 3: "Crimson Comet"}


@pytest.fixture(params=["rating", "clicks"])
def named(request, model, sample):
    """A model that has titles for some items, without a fit of its own."""
    clicks = request.param == "clicks"
    found = ChoiceModel().fit(sample.ratings[["user", "item"]]) if clicks else copy.copy(model)
    found.titles = TITLES | {item: f"Film {item}" for item in range(20, 121)}
    return found


def test_lists_show_titles_of_known_and_new_users(named):
    new = {1: 5, 2: 4} if not isinstance(named, ChoiceModel) else [1, 2]
    for found in (named.recommend(3, 30), named.fold_in(new).recommend(30)):
        assert list(found.columns[:4]) == ["user", "rank", "item", "title"]
        assert found["title"].tolist() == [named.titles.get(item) for item in found["item"]]
        assert found["title"].isna().any() and "Film " in found._repr_html_()
        assert "and 10 more" in found._repr_html_() and "and" not in found.head(3)._repr_html_()
        assert type(found.to_frame()) is pd.DataFrame and found.to_frame().equals(found)
        assert "<table" in named.recommend([])._repr_html_()


def test_predictions_are_a_table_with_titles(model):
    model = copy.copy(model)
    model.titles = TITLES
    found = model.predictions([(3, 8), (3, 9), ("nobody", 8)], mass=0.5)
    assert found["title"].tolist() == ["Silent <Comet>", None, "Silent <Comet>"]
    assert found["prediction"].tolist() == model.predict_batch([(3, 8), (3, 9), ("nobody", 8)]).tolist()
    assert found[["low", "high"]].to_numpy().tolist() == model.interval([(3, 8), (3, 9), ("nobody", 8)], 0.5).tolist()
    html = found._repr_html_()
    assert "Silent &lt;Comet&gt;" in html and "p_1" not in html and html.count("4: ") == 3  # a picture for each
    assert found.drop(columns="title").head(1)._repr_html_().count("4: ") == 1
    assert type(found.to_frame()) is pd.DataFrame and "p_1" in found.to_frame()
    assert "<table" in pd.concat([found, found], axis=1)._repr_html_()  # with columns of one name
    first = re.findall(r"<td>(\d\.\d+)</td>", html)[0]
    assert first in [f"{found[name][0]:.3f}" for name in ("prediction", "std")]  # the mode is a whole number
    new = model.fold_in({1: 5}).predictions([8, 9])
    assert new["title"].tolist() == ["Silent <Comet>", None]


def test_predictions_say_what_the_model_does_not_know(model):
    found = model.predictions([(3, 8), ("nobody", 8), (3, "nothing"), ("nobody", "nothing")])
    assert found["unknown"].tolist() == [None, "user", "item", "both"]
    assert model.fold_in({1: 5}).predictions([8, "nothing"])["unknown"].tolist() == [None, "item"]


def test_explanations_show_titles_in_text_html_and_table(named):
    found = named.explain(3, 8)
    assert found.title == "Silent <Comet>" and "Silent &lt;Comet&gt;" in found._repr_html_()
    assert "<Comet>" not in found._repr_html_()
    table = found.to_frame()
    reasons = found.because if isinstance(named, ChoiceModel) else found.evidence
    assert table["item"].tolist() == [one.item for one in reasons]
    assert table["title"].tolist() == [named.titles.get(item) for item in table["item"]]
    if not isinstance(named, ChoiceModel):
        assert "Silent <Comet>" in repr(found) and str(found).startswith("User 3, item Silent <Comet>: prediction")
        assert table[found.quantity].tolist() == [one.both for one in found.evidence]


def test_topics_are_a_list_that_is_a_table(model):
    plain = model.topics(3)
    assert "title" not in plain.to_frame() and plain[0].to_frame()["kind"].tolist()[0] == "typical"
    model = copy.copy(model)
    model.titles = {item: f"Film & {item}" for item in range(1, 121)}
    found = model.topics(3)
    table = found.to_frame()
    assert isinstance(found, list) and set(table["topic"]) == {topic.topic for topic in found}
    assert table["title"].tolist() == [f"Film & {item}" for item in table["item"]]
    assert "Film & " in repr(found[0]) and "Film &amp; " in found._repr_html_() and "<table" in found[0]._repr_html_()


def test_similar_items_and_users_are_lists_that_are_tables(named):
    found = named.similar_items(3, 4)
    assert isinstance(found, list) and pickle.loads(pickle.dumps(found)).to_frame().equals(found.to_frame())
    table = found.to_frame()
    assert list(table) == ["item", "title", "similarity"]
    assert table[["item", "similarity"]].apply(tuple, axis=1).tolist() == found
    assert table["title"].tolist() == [named.titles.get(item) for item in table["item"]]
    assert "<td>Film " in named.similar_items(3, 30)._repr_html_()
    if not isinstance(named, ChoiceModel):
        assert list(named.similar_users(3, 4).to_frame()) == ["user", "similarity"]


def test_a_model_is_shown_with_its_data(named, model):
    shown = named._repr_html_()
    assert type(named).__name__ in shown and f"<th>n_titles</th><td>{len(named.titles)}</td>" in shown
    facts = named.to_frame().set_index("fact")["value"].to_dict()
    assert facts["n_users"] == 200 and facts["n_titles"] == len(named.titles)
    assert {name: facts[name] for name in named.get_params()} == named.get_params()
    if not isinstance(named, ChoiceModel):
        assert "1 to 5, 5 levels" in shown
    assert "LBGModel" in LBGModel()._repr_html_()


@pytest.mark.parametrize(("n", "width"), [(1, 0.55), (5, 0.55), (20, 0.3), (100, 0.15)])
def test_a_small_picture_stays_as_wide_as_a_word(n, width):
    found = small_bars_html({str(level): level / n for level in range(1, n + 1)})
    assert found.count(f"width:{width:.2f}em") == n
    assert f"height:{1.4 / n:.2f}em" in found and found.count("height:1.40em") == 1
