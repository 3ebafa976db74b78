"""Figures come from ratings that the evaluated model has not seen."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys.errors import DataError, OffScaleError
from lbg_recsys.progress import silent
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.report.held_out import refitted, unseen


@pytest.fixture(scope="module")
def halves(sample):
    """The sample in two: a model of the first half, and the ratings of the second."""
    first, second = sample.ratings.iloc[::2], sample.ratings.iloc[1::2]
    return lbg_recsys.LBGModel(n_topics=2, random_state=0).fit(first), RatingMatrix.from_frame(second)


def test_a_refitted_model_has_not_seen_the_held_out_ratings(models):
    for kind in ("lbg", "clicks"):
        model = models[kind]
        found = refitted(model, 3, silent)
        assert 0.15 < len(found.values) / model.matrix.n_ratings < 0.25
        assert not found.model.matrix.is_rated(found.users, found.items).any()
        assert model.matrix.is_rated(found.users, found.items).all()
        assert found.model.matrix.n_ratings + len(found.values) == model.matrix.n_ratings
        assert found.model is not model and found.model.get_params() == model.get_params()
        assert "held out" in " ".join(found.how)


def test_given_ratings_count_only_if_they_are_new(halves, sample):
    model, second = halves
    found = unseen(model, second, "new.csv")
    assert found.model is model and len(found.values) == second.n_ratings
    everything = RatingMatrix.from_frame(sample.ratings)
    both = unseen(model, everything, "all.csv")
    assert len(both.values) == second.n_ratings and "are not used here" in both.how[1]
    assert sorted(both.values) == sorted(second.values)
    assert unseen(model, model.matrix, "old.csv") is None


def test_ids_as_text_and_unknown_ids(halves, sample):
    model, second = halves
    texts = sample.ratings.iloc[1::2].astype({"user": str, "item": str})
    found = unseen(model, RatingMatrix.from_frame(texts), "text.csv")
    assert np.array_equal(np.sort(found.values), np.sort(second.values)) and (found.users >= 0).all()
    strange = replace(second, users=type(second.users)([f"x{one}" for one in second.users]))
    with pytest.raises(DataError, match="knows no pair of a user and an item in strange"):
        unseen(model, strange, "strange.csv")


def test_ratings_off_the_scale_are_refused(halves, sample):
    model, _ = halves
    doubled = sample.ratings.iloc[1::2].assign(rating=lambda table: table["rating"] * 2)
    with pytest.raises(OffScaleError, match="rating"):
        unseen(model, RatingMatrix.from_frame(doubled), "doubled.csv")


def test_too_few_ratings():
    model = lbg_recsys.LBGModel(n_topics=1).fit((["a"], ["x"], [1.0]), scale=(1, 5))
    with pytest.raises(DataError, match="too few to hold some out"):
        refitted(model, 0, silent)


def test_a_model_of_times_is_evaluated_without_them_and_the_page_says_so(sample):
    timed = sample.ratings.assign(timestamp=86_400 * (sample.ratings.groupby("user").cumcount() // 10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lbg_recsys.BayesianLBGModel(n_components=2, n_sweeps=6, burn_in=2, random_state=0)
        found = refitted(model.fit(timed, time="timestamp"), 0, silent)
    assert found.model.calendar_ is None and "the evaluation has no times" in " ".join(found.how)
