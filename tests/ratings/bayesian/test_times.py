"""Times of ratings: effects of a user's day and moment, and the drift of items."""

import numpy as np
import pandas as pd
import pytest

from lbg_recsys import BayesianLBGModel, load, save
from lbg_recsys.core import levels
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.bayesian.times import DAY, NO_TIME, Calendar, PairTimes, as_seconds

SETTINGS = {"n_components": 2, "n_sweeps": 50, "burn_in": 20, "random_state": 0}


@pytest.fixture(scope="module")
def ratings():
    """Users are in a good or a bad mood for a day; the film of code 0 gets worse from month to month."""
    rng = np.random.default_rng(0)
    rows = []
    for user in range(60):
        moods, months = rng.normal(0, 1.0, 4), rng.integers(0, 6, 4).tolist()
        for n, item in enumerate(rng.permutation(40)[:24].tolist()):
            day = n // 6
            worse = 0.8 * (2.5 - months[day]) if item == 0 else 0.0
            rating = float(np.clip(np.rint(3.2 + moods[day] + worse + rng.normal(0, 0.5)), 1, 5))
            rows.append((f"u{user}", item, rating, (30 * months[day] + 7 * day) * DAY + n))
    return pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])


@pytest.fixture(scope="module")
def parts(ratings):
    test = np.random.default_rng(1).random(len(ratings)) < 0.2
    return ratings[~test], ratings[test]


@pytest.fixture(scope="module")
def model(parts):
    return BayesianLBGModel(**SETTINGS).fit(parts[0], scale=(1, 5), time=True)


def rmse(probability, truth):
    return np.sqrt(np.mean((levels.mean(probability, np.arange(1.0, 6.0)) - truth) ** 2))


def test_days_that_the_model_knows_are_predicted_better(parts, model):
    train, test = parts
    without = BayesianLBGModel(**SETTINGS).fit(train, scale=(1, 5)).predict_distribution(test)
    found, truth = model.predict_distribution(test), test["rating"].to_numpy()
    hit = np.arange(len(test)), truth.astype(int) - 1
    assert rmse(found, truth) < 0.93 * rmse(without, truth)
    assert np.log(found[hit]).mean() > np.log(without[hit]).mean() + 0.03


def test_an_unknown_day_is_less_certain(parts, model):
    pairs = parts[1][["user", "item"]]
    known, unknown = model.predict_distribution(parts[1]), model.predict_distribution(pairs)
    assert levels.std(unknown, model.levels).mean() > 1.05 * levels.std(known, model.levels).mean()
    later = model.predict_distribution(pairs, time="2099-01-01")
    np.testing.assert_array_equal(later, unknown)


def test_all_forms_of_times_are_one(parts):
    train, _ = parts
    small = {**SETTINGS, "n_sweeps": 6, "burn_in": 2}
    table = train[["user", "item", "rating"]]
    named = train.rename(columns={"timestamp": "noted"})
    dates = pd.to_datetime(train["timestamp"], unit="s")
    with pytest.warns(Warning, match="sweeps"):
        expected = BayesianLBGModel(**small).fit(train, time=True).predict_batch(train)
        for fit in (
            lambda one: one.fit(named, time="noted"),
            lambda one: one.fit(table, time=train["timestamp"].to_numpy()),
            lambda one: one.fit(table, time=dates),
            lambda one: one.fit((train["user"], train["item"], train["rating"]), time=dates.astype(str).tolist()),
            lambda one: one.fit(table, time=train.sample(frac=1.0, random_state=0)),
        ):
            np.testing.assert_array_equal(fit(BayesianLBGModel(**small)).predict_batch(train), expected)


def test_drift_takes_the_last_month_up_to_the_time():
    users, items = np.array([0, 0, 1]), np.array([0, 0, 1])
    calendar = Calendar.of(users, items, np.array([0, 90 * DAY, 45 * DAY]))
    asked = np.array([-400 * DAY, 10, 80 * DAY, 91 * DAY, 10**10, NO_TIME])
    found = calendar.codes(np.zeros(6, np.int64), np.zeros(6, np.int64), asked)
    months = sum(calendar.sizes[:2]) + np.array([0, 0, 0, 1, 1])
    np.testing.assert_array_equal(found[:, 2], [*months, -1])
    np.testing.assert_array_equal(found[:, 1], [-1, -1, -1, -1, -1, -1])
    assert found[1, 0] == 0 and (found[2:, 0] == -1).sum() == 4
    assert (calendar.codes(np.array([-1]), np.array([-1]), np.array([0])) == -1).all()


def test_files_and_threads_keep_the_bits(parts, model, tmp_path):
    save(model, tmp_path / "timed.lbg")
    loaded = load(tmp_path / "timed.lbg")
    np.testing.assert_array_equal(loaded.predict_distribution(parts[1]), model.predict_distribution(parts[1]))
    threads = BayesianLBGModel(**SETTINGS, n_jobs=2).fit(parts[0], scale=(1, 5), time=True)
    np.testing.assert_array_equal(threads.predict_batch(parts[1]), model.predict_batch(parts[1]))
    again = BayesianLBGModel(**SETTINGS, warm_start=True).fit(parts[0], scale=(1, 5), time=True)
    again.fit(parts[0], scale=(1, 5), time=True)
    assert again.n_sweeps_ == 100


def test_new_users_items_and_lists_work_with_times(parts, model):
    assert len(model.recommend("u1", n=3)) == 3
    assert 1 <= model.fold_in({0: 5, 1: 4}).predict(2) <= 5
    assert 1 <= model.with_item("new", {"u1": 5.0}).predict_batch([("u2", "new")])[0] <= 5
    timed = model.predictions(parts[1].head(3))
    assert timed["prediction"].tolist() == model.predict_batch(parts[1].head(3)).tolist()
    assert timed["prediction"].tolist() != model.predict_batch(parts[1].head(3)[["user", "item"]]).tolist()


@pytest.mark.parametrize(
    "time, sentence",
    [
        (["yesterday"] * 3, "cannot be read"),
        ([1, 2], "3 ratings have 2 times"),
        ([1, float("nan"), 2], "the time in row 1 is nan"),
        ([1, 2, 1_600_000_000_000], "milliseconds must be divided by 1000"),
        ([True, False, True], "times are of the type bool"),
        (True, "the timestamp is not among"),
        ("when", "no column 'when' among .*: name the timestamp with time="),
        (pd.DataFrame({"user": ["a"], "item": ["x"], "time": [1]}), "rating of user 'a' for item 'y' has no time"),
    ],
)
def test_times_that_are_no_times_are_refused(time, sentence):
    ratings = pd.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"], "rating": [1, 2, 3]})
    with pytest.raises(DataError, match=sentence):
        BayesianLBGModel(**SETTINGS).fit(ratings, time=time)


def test_times_in_questions_are_checked(parts, model):
    with pytest.raises(DataError, match="2 pairs have 3 times"):
        model.predict_distribution([("u1", 0), ("u1", 1)], time=[1, 2, 3])
    plain = BayesianLBGModel(n_sweeps=3, burn_in=1, random_state=0)
    with pytest.warns(Warning, match="sweeps"):
        plain.fit(parts[0])
    with pytest.raises(DataError, match="fitted without times"):
        plain.predict_distribution([("u1", 0)], time=5)


def test_of_a_pair_with_two_times_the_last_counts(model):
    times = PairTimes.of((["u1", "u1", "who"], [0, 0, 0], [5, 9, 1]), model.matrix.users, model.matrix.items)
    user, item = model.codes(["u1", "u1"], [0, 1])
    assert times.at(user, item).tolist() == [9, NO_TIME]


def test_seconds_of_dates():
    assert as_seconds(pd.Series(["1970-01-01 00:00:01", "1970-01-02T00:00:00+01:00"])).tolist() == [1, DAY - 3600]
    assert as_seconds(np.array(["1970-01-03"], "datetime64[D]")).tolist() == [2 * DAY]
    with pytest.raises(DataError, match="row 0 is nan"):
        as_seconds(np.array(["NaT"], "datetime64[s]"))


def test_a_model_without_users_has_no_times(model, tmp_path):
    save(model, tmp_path / "nobody.lbg", ratings=False)
    loaded = load(tmp_path / "nobody.lbg")
    assert loaded.calendar_ is None and all(draws.occasion.size == 0 for draws in loaded._draws.values())
    assert 1 <= loaded.fold_in({0: 5, 1: 4}).predict(2) <= 5


def test_a_column_of_times_may_have_any_name(parts, model):
    pairs = parts[1].head(9)
    other = pairs.rename(columns={"timestamp": "when"})
    timed, untimed = model.predict_distribution(pairs), model.predict_distribution(pairs[["user", "item"]])
    assert (timed != untimed).any()
    np.testing.assert_array_equal(model.predict_distribution(other), untimed)
    for given in (model.predict_distribution(other, time="when"), model.predict_distribution(pairs, time=True)):
        np.testing.assert_array_equal(given, timed)
    np.testing.assert_array_equal(model.predict_batch(other, time="when"), model.predict_batch(pairs))
    np.testing.assert_array_equal(model.interval(other, time="when"), model.interval(pairs))
    with pytest.raises(DataError, match="9 pairs have 1 times: give one time, or one per pair"):
        model.predict_distribution(pairs, time=[0])
    with pytest.raises(DataError, match="pairs with times need the columns user, item, timestamp"):
        model.predict_distribution(other, time=True)
    with pytest.raises(
        DataError, match=r"'whenn' is no date such as 2015-03-02 and no column of the pairs \('user', 'item'"
    ):
        model.predict_distribution(other, time="whenn")
