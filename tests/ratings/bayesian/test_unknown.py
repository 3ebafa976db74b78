"""Ratings of unknown items and by unknown users."""

import numpy as np
import pandas as pd
import pytest

from lbg_recsys import BayesianLBGModel
from lbg_recsys.core import levels
from lbg_recsys.core.missing import missed_share


@pytest.fixture(scope="module")
def ratings():
    """Popular items are good, rare ones bad, and users differ in how high they rate."""
    rng = np.random.default_rng(0)
    rows = []
    quality = np.linspace(1.2, -1.2, 60)
    for user in range(80):
        generous = rng.normal(0, 0.6)
        rated = rng.random(60) < np.linspace(0.7, 0.03, 60)
        for item in np.flatnonzero(rated):
            value = 3.3 + generous + quality[item] + rng.normal(0, 0.5)
            rows.append((f"u{user}", f"i{item}", float(np.clip(np.rint(value), 1, 5))))
    return pd.DataFrame(rows, columns=["user", "item", "rating"])


def fitted(table):
    settings = {"n_components": 4, "n_sweeps": 40, "burn_in": 20, "random_state": 0}
    return BayesianLBGModel(**settings).fit(table, scale=(1, 5))


@pytest.fixture(scope="module")
def model(ratings):
    return fitted(ratings)


def scores(model, test):
    probability = model.predict_distribution(test)
    truth = test["rating"].to_numpy()
    error = levels.mean(probability, model.levels) - truth
    hit = probability[np.arange(len(test)), (truth - 1).astype(int)]
    return np.sqrt(np.mean(error**2)), error.mean(), np.log(hit).mean()


@pytest.mark.parametrize("side, other", [("item", "user"), ("user", "item")])
def test_held_out_ids_are_predicted_with_little_bias(ratings, side, other):
    """No worse than the mean of the known one, and a better log score than the histogram of all ratings."""
    held = ratings[side].isin(sorted(ratings[side].unique())[::5])
    train, test = ratings[~held], ratings[held]
    test = test[test[other].isin(train[other])]
    rmse, bias, log_score = scores(fitted(train), test)
    mean = test[other].map(train.groupby(other)["rating"].mean())
    share = train["rating"].value_counts(normalize=True)
    assert rmse < 1.04 * np.sqrt(np.mean((mean - test["rating"]) ** 2))
    assert abs(bias - (mean - test["rating"]).mean()) < 0.25  # an item may also have been missed, as bad ones are
    assert log_score > np.log(test["rating"].map(share)).mean()


@pytest.fixture(scope="module")
def obscure(ratings):
    """Users 0 to 9 have also rated, badly, items that nobody else has."""
    rows = [(f"u{user}", f"rare {user} {n}", 1.0 + n % 2) for user in range(10) for n in range(8)]
    return pd.concat([ratings, pd.DataFrame(rows, columns=ratings.columns)], ignore_index=True)


def test_an_unknown_item_is_new_or_was_missed(obscure):
    """The formula of `UnknownPartner`, from the table of ratings."""
    model, amount = fitted(obscure), obscure["item"].map(obscure["item"].value_counts())
    by_user = obscure.assign(only=amount == 1, x=np.log(amount)).groupby("user")
    share = missed_share(
        by_user["only"].sum().to_numpy(float), by_user.size().to_numpy(float), by_user["x"].mean().to_numpy()
    )
    levels_of_all = np.bincount(obscure["rating"].astype(int), minlength=6)[1:] + 0.5
    for user in ("u3", "u30"):
        own = obscure[obscure["user"] == user]
        every = model.predict_distribution(own[["user", "item"]])
        new = (every.sum(axis=0) + 2 * levels_of_all / levels_of_all.sum()) / (len(own) + 2)
        missed = model._distribution_of_known(model.codes([user], [])[0], np.array([-1]))[0]
        s = share.of(by_user["x"].mean()[[user]].to_numpy())[0]
        expected = (0.01 * new + s * missed) / (0.01 + s)
        np.testing.assert_allclose(model.predict_distribution([(user, "new")])[0], expected)


def test_who_rates_obscure_items_is_asked_for_missed_ones(obscure):
    weight = fitted(obscure)._unknown_item._weight_of_missed(np.array([3, 30]))
    assert weight[0] > 0.8 and weight[1] < 0.4


def test_without_rare_items_an_unknown_one_is_new(ratings):
    often = ratings[ratings.groupby("item")["item"].transform("size") > 20]
    model = fitted(often)
    weight = model._unknown_item._weight_of_missed(np.arange(len(model.matrix.users)))
    assert weight.max() < 0.2


def test_nothing_known_is_the_histogram(ratings, model):
    shares = np.bincount(ratings["rating"].astype(int), minlength=6)[1:] / len(ratings)
    np.testing.assert_allclose(model.predict_distribution([("nobody", "new")])[0], shares, atol=2e-3)


def test_unknown_pairs_do_not_depend_on_the_others(ratings, model):
    pairs = [("u1", "new"), ("nobody", "i2"), ("u2", "i3"), ("nobody", "new"), ("u5", "other"), ("nobody", "i50")]
    together = model.predict_distribution(pairs)
    fresh = fitted(ratings)
    for pair, found in zip(pairs, together, strict=True):
        np.testing.assert_array_equal(fresh.predict_distribution([pair])[0], found)


def test_a_new_user_rates_unknown_items_as_the_ones_that_were_given(model):
    high = model.fold_in(dict.fromkeys(["i40", "i45", "i50", "i52"], 5.0))
    low = model.fold_in(dict.fromkeys(["i0", "i1", "i2", "i3"], 1.0))
    assert high.predict("new") > model.predict_batch([("nobody", "new")])[0] > low.predict("new")
