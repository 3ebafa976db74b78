"""Bayesian LBG with features of items and users."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lbg_recsys import BayesianLBGModel, load, save
from lbg_recsys.core import levels
from lbg_recsys.errors import DataError

SETTINGS = {"n_components": 4, "n_sweeps": 60, "burn_in": 30, "random_state": 0}


@pytest.fixture(scope="module")
def world():
    """War films are good, and old users rate low; half of the users like long films."""
    rng = np.random.default_rng(0)
    films = pd.DataFrame(
        {"genres": [("War", "Drama") if n % 3 == 0 else ("Drama",) for n in range(90)], "noise": rng.normal(size=90)},
        index=[f"i{n}" for n in range(90)],
    )
    people = pd.DataFrame({"age": rng.integers(20, 70, 80)}, index=[f"u{n}" for n in range(80)])
    rows = []
    for user in range(80):
        for item in np.flatnonzero(rng.random(90) < 0.3):
            value = 3.0 + 1.2 * (item % 3 == 0) - 0.03 * (people["age"].iloc[user] - 45) + rng.normal(0, 0.6)
            rows.append((f"u{user}", f"i{item}", float(np.clip(np.rint(value), 1, 5))))
    return pd.DataFrame(rows, columns=["user", "item", "rating"]), films, people


@pytest.fixture(scope="module")
def split(world):
    """Items i0, i5, i10, ... and users u0, u9, ... have no ratings in the training part."""
    ratings, _, _ = world
    held = ratings["item"].isin([f"i{n}" for n in range(0, 90, 5)])
    new = ratings["user"].isin([f"u{n}" for n in range(0, 80, 9)])
    return ratings[~held & ~new], ratings[held & ~new], ratings[~held & new]


@pytest.fixture(scope="module")
def model(world, split):
    return BayesianLBGModel(**SETTINGS).fit(split[0], item_features=world[1], user_features=world[2], scale=(1, 5))


@pytest.fixture(scope="module")
def plain(split):
    return BayesianLBGModel(**SETTINGS).fit(split[0], scale=(1, 5))


def rmse(model, test):
    return np.sqrt(np.mean((model.predict_batch(test) - test["rating"]) ** 2))


def test_items_and_users_without_ratings_are_predicted_by_their_features(model, plain, split):
    _, new_items, new_users = split
    assert rmse(model, new_items) < 0.85 * rmse(plain, new_items)
    assert rmse(model, new_users) < 0.9 * rmse(plain, new_users)
    assert rmse(model, new_items) < 0.8  # the noise is 0.6, and ratings are rounded


def test_both_unknown_and_ids_that_nobody_knows(model):
    pairs = [("u0", "i0"), ("u0", "i5"), ("nobody", "i0"), ("nobody", "nothing")]
    war, drama, by_anybody, unknown = model.predict_distribution(pairs) @ model.levels
    assert war > drama + 0.5 and by_anybody > unknown
    np.testing.assert_allclose(model.predict_distribution(pairs).sum(axis=1), 1)


def test_features_explain(model, split):
    train = split[0]
    war = next(item for item in train["item"] if int(item[1:]) % 3 == 0)
    found = model.explain(train["user"].iloc[0], war)
    first = next(one for one in found.features if one.feature == "genres=War")
    assert first.of == "item" and 0.3 < first.effect < 1.2  # two thirds of the films are not war films
    assert max(abs(one.effect) for one in found.features if one.feature == "noise") < 0.15
    assert {one.of for one in found.features} == {"item", "user"} and "genres=War: +" in str(found)
    drama = next(item for item in train["item"] if int(item[1:]) % 3)
    assert {one.feature for one in model.explain("u1", drama).features if one.of == "item"} <= {
        "genres=Drama",
        "noise",
    }
    many = replace(found, features=(first,) * 10, evidence=())
    assert str(many).count("genres=") == 8 and "  and 2 more" in str(many)


def test_effects_are_those_of_items_whose_number_of_ratings_nobody_knows():
    """War films are good because they are rated often: a new one is expected to be good all the same."""
    rng = np.random.default_rng(3)
    war = np.arange(120) % 2 == 0
    often = np.where(war, 0.5, 0.08)
    rows = [
        (user, item, float(np.clip(np.rint(3 + (1.0 if war[item] else -1.0) + rng.normal(0, 0.5)), 1, 5)))
        for user in range(60)
        for item in np.flatnonzero(rng.random(120) < often)
        if item < 100
    ]
    films = pd.DataFrame({"genre": np.where(war, "War", "Drama")})
    ratings = pd.DataFrame(rows, columns=["user", "item", "rating"])
    model = BayesianLBGModel(**SETTINGS).fit(ratings, item_features=films, scale=(1, 5))
    predicted = model.predict_batch([(user, item) for user in range(20) for item in (100, 101)])
    assert predicted[::2].mean() > 3.7 and predicted[1::2].mean() < 2.4


def test_a_model_without_its_users_has_the_same_effects_of_items(model, tmp_path):
    save(model, tmp_path / "m.lbg", ratings=False)
    alone, rated = load(tmp_path / "m.lbg"), {"i1": 4.0, "i2": 2.0, "i4": 3.0}
    one, other = (each.fold_in(rated, features={"age": 30}) for each in (model, alone))
    items = ["i0", "i5", "i10"]  # which nobody has rated
    np.testing.assert_allclose(one.predict(items), other.predict(items), atol=1e-9)
    of_item, of_item_alone = (
        [effect for effect in each.explain("i3").features if effect.of == "item"] for each in (one, other)
    )
    assert of_item and [effect.feature for effect in of_item] == [effect.feature for effect in of_item_alone]
    np.testing.assert_allclose(
        [effect.effect for effect in of_item], [effect.effect for effect in of_item_alone], atol=1e-9
    )
    assert "user" in {effect.of for effect in other.explain("i3").features}  # by the chains' own regressions


def test_noise_does_not_hurt(world, split, plain):
    train, _, _ = split
    rng = np.random.default_rng(1)
    noise = pd.DataFrame(rng.normal(size=(90, 10)), index=world[1].index).add_prefix("n")
    rows = np.random.default_rng(2).random(len(train)) < 0.2
    ratios = []
    for seed in range(3):  # one ratio differs by 1% between seeds and processors
        settings = {**SETTINGS, "n_sweeps": 100, "burn_in": 40, "random_state": seed}
        without, with_noise = (
            rmse(BayesianLBGModel(**settings).fit(train[~rows], item_features=table, scale=(1, 5)), train[rows])
            for table in (None, noise)
        )
        ratios.append(with_noise / without)
    assert np.mean(ratios) < 1.02


def test_a_file_keeps_features(model, split, tmp_path):
    save(model, tmp_path / "m.lbg")
    loaded = load(tmp_path / "m.lbg")
    pairs = [("u0", "i0"), ("u1", "i5"), ("u1", "i1")]
    np.testing.assert_array_equal(loaded.predict_distribution(pairs), model.predict_distribution(pairs))
    assert loaded.item_features_ == model.item_features_
    rated = {"i1": 4.0, "i2": 2.0}
    assert loaded.fold_in(rated).predict("i3") == model.fold_in(rated).predict("i3")


def test_new_users_with_features(model):
    young, old = (model.fold_in({}, features={"age": age}).predict(["i1", "i2", "i3"]) for age in (22, 68))
    assert (young > old + 0.4).all()
    rated = {f"i{n}": 3.0 for n in range(1, 5)}
    young, old = (model.fold_in(rated, features={"age": age}).predict("i6") for age in (22, 68))
    assert young > old
    assert model.fold_in({}, features={"age": 45}).predict("i1") == pytest.approx(
        model.fold_in({}).predict("i1"), abs=0.3
    )


def test_a_training_user_folded_in_again_has_about_the_same_predictions(model, split):
    own = split[0][split[0]["user"] == "u1"].set_index("item")["rating"]
    items = ["i3", "i4", "i6", "i7"]
    again = model.fold_in(own, features={"age": model.user_features_.features[0].centre[0]})
    direct = model.predict_batch([("u1", item) for item in items])
    assert np.abs(again.predict(items) - direct).max() < 0.5


def test_what_features_say_of_new_users_is_not_added_to_what_their_ratings_say(model, world, split):
    """The youngest and the oldest new user give the ratings that their age makes expected, and no more than that."""
    ages, new_users = world[2]["age"], split[2]
    for user in (ages[new_users["user"].unique()].idxmin(), ages[new_users["user"].unique()].idxmax()):
        own = new_users[new_users["user"] == user].set_index("item")["rating"]
        folded = model.fold_in(own, features={"age": int(ages[user])})
        assert folded.predict(list(own.index)).mean() == pytest.approx(own.mean(), abs=0.15)


def test_new_items_with_features(model):
    few = {"u1": 3.0}
    war, drama = (model.with_item("x", few, features={"genres": genres}) for genres in ("War|Drama", "Drama"))
    users = [("u5", "x"), ("u6", "x")]
    assert (war.predict_batch(users) > drama.predict_batch(users) + 0.2).all()
    alone = [model.with_item("y", {}, features={"genres": genres}) for genres in ("War|Drama", "Drama")]
    by_features, drama = (one.predict_batch([("u5", "y"), ("u6", "y")]) for one in alone)
    assert (by_features > drama + 0.2).all()
    with pytest.raises(DataError):
        model.with_item("y", None, features={"genres": "War"})
    # a war film, too, whose noise says next to nothing
    np.testing.assert_allclose(by_features[0], model.predict_batch([("u5", "i0")])[0], atol=0.01)
    stored = model.with_item("i0", few)  # which has features, and no ratings so far
    np.testing.assert_allclose(stored.predict_batch([("u5", "i0")]), war.predict_batch([("u5", "x")]), atol=0.3)


def test_features_change_nothing_where_there_are_none(plain, split, world):
    """The same bits with tables that have nothing to say."""
    empty = pd.DataFrame(index=world[1].index)
    again = BayesianLBGModel(**SETTINGS).fit(split[0], item_features=empty, scale=(1, 5))
    pairs = [("u1", "i1"), ("u2", "zzz")]
    np.testing.assert_array_equal(again.predict_distribution(pairs), plain.predict_distribution(pairs))


def test_warm_start_goes_on_with_the_same_features_only(split, world):
    train, films = split[0], world[1]
    model = BayesianLBGModel(**{**SETTINGS, "n_sweeps": 20, "burn_in": 10}, warm_start=True)
    assert model.fit(train, item_features=films).fit(train, item_features=films).n_sweeps_ == 40
    assert model.fit(train, item_features=films[["noise"]]).n_sweeps_ == 20


@pytest.mark.parametrize("orientation", ["users", "items"])
def test_one_orientation(split, world, orientation, plain):
    train, new_items, _ = split
    model = BayesianLBGModel(**SETTINGS, orientation=orientation)
    model.fit(train, item_features=world[1], user_features=world[2], scale=(1, 5))
    assert rmse(model, new_items) < 0.9 * rmse(plain, new_items)
    found = model.predict_distribution(new_items)
    assert np.isfinite(levels.mean(found, model.levels)).all()


def test_an_item_without_ratings_is_explained_by_its_features(model):
    found = model.explain("u1", "i0")  # a war film
    assert found.item == "i0" and found.score is None and found.choice is None and found.evidence == ()
    assert list(found.distribution.values()) == model.predict_distribution([("u1", "i0")])[0].tolist()
    parts = found.from_average + found.from_item + found.from_user + found.from_taste
    assert parts == pytest.approx(found.expected_rating)
    (war,) = (one for one in found.features if one.feature == "genres=War")
    assert war.effect > 0.3 and "in no list, because it has no ratings" in str(found)
    folded = model.fold_in({"i1": 4.0, "i2": 2.0}, features={"age": 60}).explain("i0")
    assert {one.of for one in folded.features} == {"item", "user"}
    stranger = model.fold_in({}, features={"age": 60}).explain("i0")
    assert {one.of for one in stranger.features} == {"item", "user"}
    with pytest.raises(DataError, match=r"'nothing'.* is unknown to the model"):
        model.explain("u1", "nothing")


def test_items_without_ratings_are_in_no_list_and_similar_to_none(model):
    with pytest.warns(
        UserWarning, match="1 of 3 ids in items= is without ratings .only predict and explain.*left out: 'i0'"
    ):
        listed = model.recommend("u1", items=["i0", "i1", "i2"], exclude_seen=False)
    assert set(listed["item"]) == {"i1", "i2"}
    with pytest.raises(DataError, match="the item 'i0' has features and no ratings, and similar items"):
        model.similar_items("i0")
