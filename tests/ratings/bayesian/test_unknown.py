"""Ratings of unknown items and by unknown users."""

import numpy as np
import pandas as pd
import pytest

from lbg_recsys import BayesianLBGModel
from lbg_recsys.core import levels


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
def test_held_out_ids_are_predicted_without_bias(ratings, side, other):
    """No worse than the mean of the known one, and a better log score than the histogram of all ratings."""
    held = ratings[side].isin(sorted(ratings[side].unique())[::5])
    train, test = ratings[~held], ratings[held]
    test = test[test[other].isin(train[other])]
    rmse, bias, log_score = scores(fitted(train), test)
    mean = test[other].map(train.groupby(other)["rating"].mean())
    share = train["rating"].value_counts(normalize=True)
    assert rmse < 1.02 * np.sqrt(np.mean((mean - test["rating"]) ** 2))
    assert abs(bias - (mean - test["rating"]).mean()) < 0.1
    assert log_score > np.log(test["rating"].map(share)).mean()


def test_an_unknown_item_is_one_more_of_the_users_items(ratings, model):
    own = ratings[ratings["user"] == "u3"]
    every = model.predict_distribution(own[["user", "item"]])
    weight = np.where(own["item"].map(ratings["item"].value_counts()) == 1, 51.0, 1.0)
    shares = np.bincount(ratings["rating"].astype(int), minlength=6)[1:] + 0.5
    expected = (weight @ every + 2 * shares / shares.sum()) / (weight.sum() + 2)
    np.testing.assert_allclose(model.predict_distribution([("u3", "new")])[0], expected)


def test_an_only_rating_says_more_of_unknown_items(ratings):
    """The item that nobody else rated stands for those that the data missed."""
    alone = pd.concat([ratings, pd.DataFrame([("u3", "rare", 1.0)], columns=ratings.columns)])
    model = fitted(alone)
    own = alone[alone["user"] == "u3"]
    every = model.predict_distribution(own[["user", "item"]])
    low = model.predict_distribution([("u3", "new")])[0] @ model.levels
    assert low < (every @ model.levels).mean() - 0.05


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
