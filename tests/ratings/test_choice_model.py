"""`ChoiceModel`: recommendations from what people took, without ratings."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lbg_recsys.core import choice, few_items
from lbg_recsys.errors import DataError, NotFittedError
from lbg_recsys.ratings import BayesianLBGModel, ChoiceModel, LBGModel, RatingMatrix


@pytest.fixture(scope="module")
def clicks():
    """Two kinds of people: those of even numbers take even items, the others odd ones; item 0 everybody takes."""
    rng = np.random.default_rng(0)
    rows = [(f"u{u}", i) for u in range(60) for i in range(1, 21) if i % 2 == u % 2 and rng.random() < 0.6]
    return pd.DataFrame(rows + [(f"u{u}", 0) for u in range(60)], columns=["user", "item"])


@pytest.fixture(scope="module")
def model(clicks):
    return ChoiceModel(penalty=5).fit(clicks)


def test_lists_hold_what_the_same_people_take(model, clicks):
    table = model.recommend(["u0", "u1"], 4)
    assert table["user"].tolist() == ["u0"] * 4 + ["u1"] * 4 and table["rank"].tolist() == [1, 2, 3, 4] * 2
    for user, items in table.groupby("user")["item"]:
        assert {item % 2 for item in items} == {int(user[1:]) % 2}
        assert not set(items) & set(clicks.loc[clicks["user"] == user, "item"])
    assert (table.groupby("user")["score"].diff().dropna() <= 0).all()


def test_a_new_user_with_many_items_gets_the_list_of_a_known_one_with_the_same(model, clicks, monkeypatch):
    monkeypatch.setattr(few_items, "MANY", 4)
    own = clicks.loc[clicks["user"] == "u3", "item"].tolist()
    folded, known = model.fold_in(own).recommend(8), model.recommend("u3", 8)
    assert folded["item"].tolist() == known["item"].tolist()
    np.testing.assert_allclose(folded["score"], known["score"], rtol=1e-5)


def test_contributions_add_up_and_the_first_is_the_largest(model):
    item = model.recommend("u0", 1).iloc[0]
    reason = model.explain("u0", item["item"])
    assert reason.score == reason.choice_score == pytest.approx(item["score"], abs=1e-6)
    parts = [one.contribution for one in reason.because]
    assert reason.from_popularity + sum(parts) == pytest.approx(reason.choice_score, abs=1e-6)
    assert parts == sorted(parts, reverse=True) and 0 < reason.from_popularity < 0.02
    assert all(one.rating is None for one in reason.because)
    assert model.fold_in([2]).explain(4).because[0].item == 2
    first = next(iter(model.matrix.items))
    assert model.fold_in([4]).explain(first).because[0].item == 4


def test_similar_items(model):
    found = model.similar_items(2, 5)
    assert all(item % 2 == 0 for item, _ in found) and all(0 < score <= 1 for _, score in found)


def test_a_user_without_any_item_gets_the_popular_ones(model, clicks):
    popular = clicks["item"].value_counts()
    with pytest.warns(UserWarning, match="of a new user is unknown to the model and left out"):
        nobody = model.fold_in(["never seen"])
    first = nobody.recommend(1)["item"].item()
    assert first == 0 and popular[first] == 60
    assert nobody.explain(0).because == ()


def test_new_users_are_scored_by_their_items_alone_the_more_the_fewer_there_are(model, clicks):
    """Against the formulas, written with dense matrices."""
    choices, matrix = model._choices, model.matrix
    x = np.zeros((matrix.n_users, matrix.n_items))
    x[matrix.user_codes, matrix.item_codes] = 1.0
    weight = choice.user_weights(x.sum(axis=1).astype(int), model.user_power)
    ridge = choice.penalties(choices.cells(matrix), model.penalty, model.item_power)
    sigma = x.T @ (weight[:, None] * x) + np.diag(ridge)
    q = np.linalg.inv(sigma)
    for own in ([2], [2, 4, 7], [0, 2, 4, 6, 8, 10, 12]):
        codes = matrix.items.codes(own)
        others = np.setdiff1d(np.arange(matrix.n_items), codes)
        refused = -q[codes].sum(axis=0) / np.diag(q)
        alone = np.linalg.solve(sigma[np.ix_(codes, codes)], np.ones(len(codes))) @ sigma[codes]
        share = len(own) ** -0.5
        average = 0.1 / (1 + len(own)) * (weight @ x) / weight.sum()
        expected = share * alone + (1 - share) * refused + average
        table = model.fold_in(own).recommend(100).set_index("item")["score"]
        np.testing.assert_allclose(table[matrix.items.raws(others)], expected[others], rtol=1e-4, atol=1e-6)
        reason = model.fold_in(own).explain(14)
        total = reason.from_popularity + sum(one.contribution for one in reason.because)
        assert total == pytest.approx(table[14], abs=1e-6)


def test_candidates_and_exclusions(model):
    assert set(model.recommend("u0", items=[1, 3, 2, 4], exclude=[3], exclude_seen=False)["item"]) == {1, 2, 4}
    with pytest.warns(UserWarning, match=r"2 of 3 ids in items= are unknown to the model and left out: 'a', 99"):
        assert model.recommend("u0", items=["a", 99, 1])["item"].tolist() == [1]
    with pytest.raises(DataError, match="no item can be in the list"):
        model.recommend("u0", items=[1], exclude=[1])
    with pytest.raises(DataError, match="give a list of item ids"):
        model.recommend("u0", items="1")
    assert len(model.recommend("u0", 1000)) == 21 - len(model.matrix.seen(0))
    assert len(model.recommend("u0", 10, items=model.matrix.items.raws(model.matrix.seen(0)))) == 0


def test_diversity_mixes_what_different_people_take(model):
    new = model.fold_in([2, 4, 6, 8, 10, 1])
    plain, mixed = (set(new.recommend(4, diversity=d)["item"]) for d in (0.0, 0.9))
    assert sum(item % 2 for item in mixed) > sum(item % 2 for item in plain)
    assert new.recommend(4, diversity=0.9)["item"].iloc[0] == new.recommend(1)["item"].iloc[0]
    with pytest.raises(DataError, match="diversity is 1"):
        new.recommend(diversity=1)


def test_counts_and_repeated_rows_count_once(clicks, model):
    twice = pd.concat([clicks, clicks.head(7)])
    again = ChoiceModel(penalty=5).fit(twice.assign(count=3))
    assert again.n_repeated_ == 7
    pd.testing.assert_frame_equal(again.recommend("u0"), model.recommend("u0"))
    as_tuple = ChoiceModel(penalty=5).fit((clicks["user"].tolist(), clicks["item"].tolist()))
    pd.testing.assert_frame_equal(as_tuple.recommend("u0"), model.recommend("u0"))


@pytest.mark.parametrize("count", [-1, 0, 1.5, np.nan])
def test_counts_that_are_no_counts(clicks, count):
    counts = np.ones(len(clicks))
    counts[4] = count
    with pytest.raises(DataError, match="the count in row 4 is"):
        ChoiceModel().fit(clicks.assign(count=counts))


def test_a_sparse_matrix_holds_counts(clicks, model):
    users, items = sorted(set(clicks["user"])), sorted(set(clicks["item"]))
    cells = (clicks["user"].map(users.index), clicks["item"].map(items.index))
    counts = sp.coo_matrix((np.arange(1, len(clicks) + 1), cells)).tocsr()
    told = ChoiceModel(penalty=5).fit(counts).recommend(users.index("u0"))
    assert [items[item] for item in told["item"]] == list(model.recommend("u0")["item"])
    with pytest.raises(
        DataError, match=r"the count in stored entry \d+ is 0.5, which is not a whole number of at least 1, nor"
    ):
        ChoiceModel().fit(counts * 0.5)


@pytest.mark.parametrize("kind", [BayesianLBGModel, LBGModel])
def test_ratings_that_are_all_equal_give_lists_of_what_is_taken(kind, clicks):
    table = clicks.assign(rating=1.0)
    lists = {}
    for scale in ((1, 5), (1, 1)):
        fitted = kind(random_state=0, lists="choice").fit(table, scale=scale)
        lists[scale] = fitted.recommend("u0")
    assert (lists[1, 5]["score"] > 1e-6).any()
    assert list(lists[1, 5]["item"]) == list(lists[1, 1]["item"])


def test_a_constant_rating_column_is_told(clicks, model):
    with pytest.warns(UserWarning, match="the column rating is 1 in all"):
        told = ChoiceModel(penalty=5).fit(clicks.assign(rating=1))
    pd.testing.assert_frame_equal(told.recommend("u0"), model.recommend("u0"))


def test_ratings_grade_the_choices(clicks):
    rated = clicks.assign(rating=np.where(np.arange(len(clicks)) % 3 == 0, 1, 5))
    graded, alike = (ChoiceModel(penalty=5, grade=grade).fit(rated) for grade in (0.2, 1.0))
    assert alike.recommend("u0")["score"].tolist() != graded.recommend("u0")["score"].tolist()
    assert {one.rating for one in graded.explain("u0", 0).because} <= {1.0, 5.0}
    matrix = RatingMatrix.from_frame(rated)
    pd.testing.assert_frame_equal(
        ChoiceModel(penalty=5, grade=0.2).fit(matrix).recommend("u0"), graded.recommend("u0")
    )


def test_questions_about_ratings_are_refused(model):
    for question in (model.predict_batch, model.predict_distribution, model.interval):
        with pytest.raises(DataError, match="not how they rate it"):
            question([("u0", 1)])


def test_wrong_use():
    with pytest.raises(NotFittedError):
        ChoiceModel().recommend("u0")
    with pytest.raises(DataError, match="there are no choices"):
        ChoiceModel().fit(([], []))
    with pytest.raises(DataError, match="lengths must agree"):
        ChoiceModel().fit((["a"], [1, 2]))
    with pytest.raises(DataError, match="cannot be read from a dict"):
        ChoiceModel().fit({})
    with pytest.raises(DataError, match="penalty is 0"):
        ChoiceModel(penalty=0).fit((["a"], [1]))
    model = ChoiceModel().fit((["a", "b"], ["only", "only"]))
    assert len(model.recommend("a")) == 0
    assert model.fold_in([]).recommend()["item"].tolist() == ["only"]
    with pytest.raises(DataError, match="the user 'c'"):
        model.recommend("c")
    with pytest.raises(DataError, match="the item 'c'"):
        model.explain("a", "c")


def test_beyond_the_limit_lists_still_hold_every_item(clicks):
    small = ChoiceModel(penalty=5, limit=6).fit(clicks)
    assert len(small.recommend("u0", 100)) == 21 - len(small.matrix.seen(0))
    assert {item % 2 for item in small.recommend("u0", 4)["item"]} == {0}


def test_a_fit_reports_its_steps(clicks):
    steps = []
    ChoiceModel().fit(clicks, progress=lambda *step: steps.append(step))
    assert [step[:2] for step in steps] == [(0, 2), (1, 2), (2, 2)]
    assert all(note for *_, note in steps)


def test_a_wish_about_ratings_is_refused_with_a_sentence(model):
    new = model.fold_in([1, 2])
    pd.testing.assert_frame_equal(new.recommend(by="rated"), new.recommend())
    for wish in ({"by": "rating"}, {"by": "liked"}, {"by": "sure"}, {"liked": 4}, {"min_probability": 0.5}):
        (name,) = wish
        for recommend in (new.recommend, lambda **given: model.recommend("u0", **given)):
            with pytest.raises(DataError, match=rf"recommend\({name}=.* asks about ratings; a ChoiceModel knows"):
                recommend(**wish)
    with pytest.raises(DataError, match="by is 'luck'"):
        model.recommend("u0", by="luck")


def test_ratings_of_a_new_user_that_a_click_model_cannot_use_are_told(model):
    expected = model.fold_in([2, 4]).recommend()
    for given in ({2: 5, 4: 1}, pd.DataFrame({"item": [2, 4], "rating": [5, 1]})):
        with pytest.warns(UserWarning, match="fitted to choices without ratings: only which items are named counts"):
            new = model.fold_in(given)
        pd.testing.assert_frame_equal(new.recommend(), expected)
    with pytest.raises(DataError, match=r"a Series may hold the items .* series.tolist\(\)"):
        model.fold_in(pd.Series([2, 4]))


def test_a_series_has_ratings_by_item_as_for_other_models(sample):
    model = ChoiceModel().fit(sample.ratings)
    expected = model.fold_in({3: 5, 9: 4}).recommend()
    pd.testing.assert_frame_equal(model.fold_in(pd.Series([5.0, 4.0], index=[3, 9])).recommend(), expected)
