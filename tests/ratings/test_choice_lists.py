"""Lists of rating models: the choice part beside them, candidate sets, certainty, diversity."""

import numpy as np
import pandas as pd
import pytest

from lbg_recsys import load, save
from lbg_recsys.errors import DataError
from lbg_recsys.ratings import BayesianLBGModel, ChoiceModel, LBGModel
from lbg_recsys.ratings.choice_scores import diversified_rows
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.ratings.questions.recommend import _lower_ends
from tests.lists import brute_force_list


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((60, 40)) < 0.3)
    values = np.where(users % 2 == items % 2, 4, 2) + rng.integers(0, 2, len(users))
    return users.tolist(), items.tolist(), values.tolist()


@pytest.fixture(scope="module")
def model(ratings):
    return BayesianLBGModel(n_components=3, n_sweeps=14, burn_in=6, random_state=0).fit(ratings, scale=(1, 5))


def test_which_model_of_what_is_rated_is_the_default(model, ratings):
    assert model.lists == "choice" and LBGModel().lists == "bernoulli"
    alone = ChoiceModel().fit(model.matrix).recommend(3, 5)
    beside = model.recommend(3, 5, by="rated")
    assert beside["item"].tolist() == alone["item"].tolist()
    np.testing.assert_allclose(beside["score"], alone["score"], rtol=1e-5)


@pytest.mark.parametrize("by", ["liked", "rated", "rating"])
@pytest.mark.parametrize("lists", ["choice", "bernoulli"])
def test_lists_are_those_of_brute_force(ratings, by, lists):
    settings = {"n_components": 2, "n_sweeps": 8, "burn_in": 3, "random_state": 1, "lists": lists}
    fitted = BayesianLBGModel(**settings).fit(ratings, scale=(1, 5))
    for user in (0, 7):
        items, score, _ = brute_force_list(fitted, user, 6, by)
        found = fitted.recommend(user, 6, by=by)
        np.testing.assert_allclose(found["score"], score, rtol=1e-4)
        assert found["item"].tolist() == items


def test_a_new_user_with_many_items_gets_the_choice_scores_of_a_known_one(model, monkeypatch):
    monkeypatch.setattr("lbg_recsys.core.few_items.MANY", 4)
    own = dict(zip(model.matrix.items.raws(model.matrix.seen(5)), model.matrix.rows.part(5, 6).values, strict=True))
    known, new = model.recommend(5, 8, by="rated"), model.fold_in(own).recommend(8, by="rated")
    assert known["item"].tolist() == new["item"].tolist()
    np.testing.assert_allclose(known["score"], new["score"], rtol=1e-4)


def test_candidates_for_known_and_new_users(model):
    for one in (lambda **kw: model.recommend(5, **kw), model.fold_in({0: 5, 3: 1}).recommend):
        assert set(one(items=[7, 8, 9], exclude=[8], exclude_seen=False)["item"]) == {7, 9}
        with pytest.warns(UserWarning, match="1 of 2 ids in exclude= is unknown"):
            assert 7 not in set(one(n=40, exclude=[7, "x"])["item"])
        with pytest.raises(DataError, match="no item can be in the list"):
            one(items=[])


@pytest.mark.parametrize("by", ["liked", "rated", "rating", "sure"])
def test_min_probability_leaves_out_what_may_be_disliked(model, by):
    every, sure = (model.recommend(4, 40, by=by, min_probability=p) for p in (0.0, 0.5))
    pairs = [(4, item) for item in every["item"]]
    liked = model.predict_distribution(pairs)[:, 3:].sum(axis=1)
    assert 0 < len(sure) < len(every)
    assert set(sure["item"]) == {item for (_, item), p in zip(pairs, liked, strict=True) if p >= 0.5}


def test_sure_ranks_by_the_lower_end_of_the_interval(model):
    found = model.recommend(4, 40, by="sure")
    low = model.interval([(4, item) for item in found["item"]], 0.9)[:, 0]
    np.testing.assert_array_equal(found["score"], low)
    order = np.lexsort((-found["expected_rating"], -low))
    np.testing.assert_array_equal(order, np.arange(len(found)))
    first = _lower_ends(model, np.array([model.matrix.users.code(4)]))[0, model.matrix.items.codes(found["item"])]
    higher = (first - low) / model.matrix.scale.step  # by half of where the expectation is on the scale
    np.testing.assert_allclose(higher, 0.5 * (found["expected_rating"] - 1.0) / 4.0, atol=1e-4)


def test_diversity(model):
    def similarity(table):
        lists = (model.matrix.items.codes(items.tolist()) for _, items in table.groupby("user")["item"])
        return np.mean([model.choices.similarity(codes, codes).mean() for codes in lists])

    for by in ("liked", "rating"):
        plain, mixed = (model.recommend(list(range(60)), 8, by=by, diversity=d) for d in (0.0, 0.95))
        assert similarity(mixed) < similarity(plain) and len(mixed) == len(plain)


def test_reasons_begin_with_exact_contributions(model):
    item = model.recommend(4, 1, by="rated").iloc[0]
    choice = model.explain(4, item["item"]).choice
    assert choice.choice_score == pytest.approx(item["score"], abs=1e-6)
    total = choice.from_popularity + sum(one.contribution for one in choice.because)
    assert total == pytest.approx(choice.choice_score, abs=1e-6)
    assert {one.rating for one in choice.because} <= {2.0, 3.0, 4.0, 5.0}


def test_files_give_the_same_lists(model, tmp_path, ratings):
    save(model, tmp_path / "m.lbg")
    again = load(tmp_path / "m.lbg")
    assert again.recommend(4)["item"].tolist() == model.recommend(4)["item"].tolist()
    clicks = ChoiceModel(penalty=20).fit(ratings[:2])
    save(clicks, tmp_path / "c.lbg")
    read = load(tmp_path / "c.lbg")
    assert read.get_params() == clicks.get_params()
    assert read.recommend(4).equals(clicks.recommend(4))


# -- new users of whom only the items are known ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bayesian", "lbg", "plsa"])
def test_items_without_ratings_make_lists_by_who_takes_what(kind, model, ratings):
    other = {"lbg": LBGModel(n_topics=2, random_state=0), "plsa": GaussianPLSAModel(n_topics=2, random_state=0)}
    fitted = model if kind == "bayesian" else other[kind].fit(ratings, scale=(1, 5))
    new = fitted.fold_in([2, 4, 6])
    alone = ChoiceModel().fit(fitted.matrix).fold_in([2, 4, 6])
    assert new.recommend(5, by="rated")["item"].tolist() == alone.recommend(5)["item"].tolist()
    nobody = [("nobody", item) for item in (7, 8)]
    np.testing.assert_array_equal(new.predict([7, 8]), fitted.predict_batch(nobody))
    np.testing.assert_array_equal(new.distribution([7, 8]), fitted.predict_distribution(nobody))
    liked = new.recommend(40, by="liked")
    score = new.recommend(40, by="rated").set_index("item")["score"]
    probability = new.distribution(liked["item"].tolist())[:, 3:].sum(axis=1)
    np.testing.assert_allclose(liked["score"], score[liked["item"]] * probability**0.5, rtol=1e-6)
    for by in ("rating", "sure"):
        assert len(new.recommend(3, by=by, diversity=0.2)) == 3
    found = new.explain(8)
    assert {one.item for one in found.because} == {2, 4, 6} and all(one.rating is None for one in found.because)
    assert new.posterior.sum() == pytest.approx(1)


def test_items_without_ratings_come_in_many_forms(model):
    expected = model.fold_in([2, 4]).recommend(5)
    for given in ((2, 4), {4, 2}, np.array([2, 4]), (one for one in (2, 4)), pd.DataFrame({"movieId": [2, 4]})):
        pd.testing.assert_frame_equal(model.fold_in(given).recommend(5), expected)
    with pytest.warns(UserWarning, match="of a new user is unknown to the model and left out"):
        model.fold_in([2, "x"])
    assert len(model.fold_in([]).recommend(3)) == 3
    for bad in ("2", 2, None):
        with pytest.raises(DataError, match="cannot be read from"):
            model.fold_in(bad)
    with pytest.raises(DataError, match=r"pairs such as \(2, 5\): give \{item: rating"):
        model.fold_in([(2, 5)])


def test_features_of_a_new_user_who_took_items(ratings):
    frame = pd.DataFrame({"age": np.arange(60.0)}, index=np.arange(60))
    fitted = BayesianLBGModel(n_components=2, n_sweeps=10, burn_in=4, random_state=0)
    fitted.fit(ratings, scale=(1, 5), user_features=frame)
    old, young = (fitted.fold_in([2, 4], features={"age": age}) for age in (59.0, 0.0))
    assert old.predict(7) != young.predict(7)


@pytest.mark.parametrize(
    "model",
    [
        LBGModel(n_topics=3, random_state=0, lists="choice"),
        LBGModel(n_topics=3, random_state=0, lists="bernoulli"),
        GaussianPLSAModel(n_topics=3, random_state=0),
        BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0),
        ChoiceModel(),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_nothing_is_the_same_however_it_is_given(model, sample):
    fitted = model.fit(sample.ratings)
    empty = pd.Series(dtype=float)
    users = [fitted.fold_in(given) for given in ([], {}, (), empty, pd.DataFrame({"item": [], "rating": []}))]
    users.append(fitted.fold_in({"no such item": sample.ratings["rating"].max()}))
    first = users[0].recommend()
    for user in users[1:]:
        pd.testing.assert_frame_equal(user.recommend(), first)
        assert user.explain(3) == users[0].explain(3)
        if hasattr(user, "predict"):
            items = sample.ratings["item"].unique()
            np.testing.assert_array_equal(
                user.predict(items), fitted.predict_batch([("nobody", one) for one in items])
            )


@pytest.mark.parametrize("lists", ["choice", "bernoulli"])
@pytest.mark.parametrize("kind", [BayesianLBGModel, LBGModel])
def test_explanations_have_the_score_of_the_list(kind, lists, ratings):
    sizes = {"n_sweeps": 14, "burn_in": 6} if kind is BayesianLBGModel else {"n_topics": 2}
    fitted = kind(**sizes, lists=lists, random_state=0).fit(ratings, scale=(1, 5))
    given = {1: 5, 3: 4, 4: 1}
    for own in (fitted.fold_in(given), fitted.fold_in(list(given)), fitted.fold_in([])):
        for item, score in own.recommend(3)[["item", "score"]].itertuples(index=False):
            assert own.explain(item).score == pytest.approx(score, rel=1e-6)
    item, score, expected = fitted.recommend(7, 1)[["item", "score", "expected_rating"]].to_numpy()[0]
    why = fitted.explain(7, int(item))
    assert why.score == pytest.approx(score, rel=1e-6) and why.expected_rating == pytest.approx(expected)
    assert why.prediction == fitted.predictions([(7, int(item))])["prediction"][0]
    shown = f"list score {why.score:.4f}"
    assert shown in str(why) and shown in why._repr_html_()


def test_no_entries_of_lists_have_nothing_to_diversify():
    none = np.zeros(0, np.int64)
    found = diversified_rows(None, none, none, np.zeros(0), 3, 0.5)
    assert found.dtype == np.int64 and found.tolist() == []
