"""Topics that are copies of each other are counted once, are said, and are no part of an explanation."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from lbg_recsys import LBGModel, presets
from lbg_recsys.ratings import GaussianPLSAModel
from lbg_recsys.ratings.questions.copies import copies_of, n_different


@pytest.fixture(scope="module")
def model(sample):
    return LBGModel(n_topics=3, random_state=0).fit(sample.ratings)


def with_topics(model, columns, **changes):
    """The same model with some of its topics, repeated ones too."""
    parameters = model.parameters_
    parts = {name: getattr(parameters, name)[..., columns] for name in ("lam", "p", "c", "var")}
    changed = LBGModel(n_topics=len(columns), **changes).fit(model.matrix)
    changed.parameters_ = replace(parameters, **parts | {"lam": parts["lam"] / parts["lam"].sum()})
    return changed


def test_numbers_that_are_none_end_too(model):
    """A damaged file may have them, and counting went on for ever."""
    damaged = with_topics(model, [0, 1])
    damaged.parameters_ = replace(damaged.parameters_, c=np.full_like(damaged.parameters_.c, np.nan))
    assert copies_of(damaged, 1).tolist() == [False, True] and n_different(damaged) == 2


def test_copies_are_counted_once(model):
    assert n_different(model) == 3
    copied = with_topics(model, [0, 1, 0, 2, 1])
    assert copies_of(copied, 0).tolist() == [True, False, True, False, False] and n_different(copied) == 3


def test_topics_that_differ_only_in_who_rates_what_are_copies_if_that_does_not_count(model):
    both = with_topics(model, [0, 0])
    p = both.parameters_.p.copy()
    p[:, 1] = np.roll(p[:, 1], 30)
    both.parameters_ = replace(both.parameters_, p=p)
    assert n_different(both) == 2
    both.indicator_weight = 0.0
    assert n_different(both) == 1


def test_an_explanation_weighs_topics_that_differ(sample):
    blurred = LBGModel(**presets.LBG, random_state=0).fit(sample.ratings)
    why = blurred.explain(3, 8)
    assert not copies_of(blurred, why.topic)[why.against] and abs(why.log_odds) > 0.1
    parts = why.from_prior + why.from_silence + why.from_being_rated + sum(one.log_odds for one in why.evidence)
    assert parts == pytest.approx(why.log_odds)


@pytest.mark.parametrize("ask", [lambda model: model.topics(), lambda model: model.similar_items(8)])
def test_copies_are_said(sample, model, ask):
    blurred = LBGModel(**presets.LBG, random_state=0).fit(sample.ratings)
    with pytest.warns(UserWarning, match=f"only {n_different(blurred)} of the 10 topics differ.*fit with n_topics="):
        ask(blurred)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask(model)


def test_communities_of_plsa_are_compared_too(sample):
    few = GaussianPLSAModel(n_topics=4, max_iter=20, random_state=0).fit(sample.ratings)
    assert n_different(few) == 4
    few.parameters_ = replace(
        few.parameters_, c=few.parameters_.c[:, [0, 1, 1, 3]], var=few.parameters_.var[:, [0, 1, 1, 3]]
    )
    assert n_different(few) == 3 and n_different(few.fold_in({1: 5.0})._view) == 3
