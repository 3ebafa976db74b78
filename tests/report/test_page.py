"""The page, without a browser: sections for every kind of model, and nothing of the data is markup."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from lbg_recsys.errors import DataError
from lbg_recsys.evaluation import metrics
from lbg_recsys.progress import silent
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.report import report_html, svg
from lbg_recsys.report.held_out import refitted
from lbg_recsys.report.quality import Predicted, _groups

pytestmark = pytest.mark.filterwarnings("ignore")
SECTIONS = ["data", "training", "topics", "errors", "calibration", "groups-of-ratings", "lists", "examples"]
_VOID = {"meta", "link", "br", "img", "input"}


class Reader(HTMLParser):
    """Elements in order; tags must close what they open."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("kind", ["bayesian", "lbg", "plsa", "choice", "clicks"])
def test_every_kind_of_model(models, kind):
    page = report_html(models[kind], examples=2)
    elements = Reader(page).elements
    found = [own["id"] for tag, own in elements if tag == "section"]
    rates = kind in ("bayesian", "lbg", "plsa")
    assert found == (
        SECTIONS if rates else [one for one in SECTIONS if one not in ("calibration", "groups-of-ratings")]
    )
    tags = {tag for tag, _ in elements}
    assert not tags & {"script", "img", "iframe", "object", "form"}
    assert not [name for _, own in elements for name in own if name.startswith("on")]
    addresses = [own[name] for _, own in elements for name in ("href", "src") if name in own]
    assert addresses and all(one.startswith("#") or one == "data:," for one in addresses)
    assert all(own["aria-label"] for tag, own in elements if tag == "svg")
    assert "this model" in page and "popularity" in page and "EASE" in page
    assert "because of" in page
    assert ("converged: Monte Carlo error at most 15% of the training error" in page) == (kind == "bayesian")
    notes = re.findall(r'<p class="note">(.*?)</p>', page)
    assert any("predicts no ratings" in one for one in notes) == (not rates)
    assert ("4 smaller ones" in page) == (kind == "lbg")  # 12 topics, of which 8 are shown
    assert "nan" not in re.sub(r"<[^>]*>", " ", page).lower().split()


def test_the_same_seed_the_same_bits(models):
    assert report_html(models["lbg"], seed=5) == report_html(models["lbg"], seed=5)


def test_the_figures_are_those_of_the_held_out_ratings(models):
    held_out = refitted(models["lbg"], 0, silent)
    raw = held_out.model.matrix
    pairs = list(zip(raw.users.raws(held_out.users), raw.items.raws(held_out.items), strict=True))
    probability = held_out.model.predict_distribution(pairs)
    error = metrics.rmse(held_out.values, probability @ held_out.model.levels)
    page = report_html(models["lbg"])
    assert f"{error:.3f} (RMSE)" in page and f'<th scope="row">this model</th><td>{error:.3f}</td>' in page
    seen = models["lbg"].predict_distribution(pairs) @ held_out.model.levels
    assert f"{metrics.rmse(held_out.values, seen):.3f}" != f"{error:.3f}"  # in-sample figures would differ


def test_groups_part_all_ratings(models):
    found = Predicted.of(refitted(models["lbg"], 0, silent))
    number = np.array([0, 0, 3, 9, 9, 50, 1, 2])
    groups = _groups(number)
    assert [name for name, _ in groups] == ["none", "1 to 2", "3 to 9", "50"] or len(groups) == 4
    assert sum(some.sum() for _, some in groups) == len(number)
    assert found.figures()["RMSE"] > 0


def test_more_examples_than_users_are_all_users(models):
    page = report_html(models["lbg"], refit=False, examples=2**62)
    assert page.count("<h3>User ") == len(models["lbg"].matrix.users)


def test_without_a_fit_and_without_examples(models):
    page = report_html(models["lbg"], refit=False, examples=0)
    assert "no model was to be fitted" in page and "no examples were asked for" in page
    assert "RMSE" not in page


def test_training_ratings_as_given_ratings_are_said_to_be_so(models, sample):
    page = report_html(models["lbg"], RatingMatrix.from_frame(sample.ratings), name="mine.csv")
    assert "The model was fitted to all ratings in mine.csv." in page


def test_text_models_are_refused():
    with pytest.raises(DataError, match="has no ratings to report on"):
        report_html(object())


@pytest.mark.parametrize("low, high", [(0, 0), (0.001, 0.0010001), (-3, 900), (0.5, 1), (7, 7)])
def test_axes_hold_their_values(low, high):
    axis = svg.linear("x", low, high)
    assert axis.low <= low and axis.high >= high and axis.low < axis.high and 2 <= len(axis.marks) <= 8
