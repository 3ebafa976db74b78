"""Which ratings are held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lbg_recsys.errors import DataError
from lbg_recsys.evaluation import splits

RATINGS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=40)


@given(RATINGS, st.integers(1, 3))
def test_last_of_each_user(ratings, n):
    users, times = map(np.array, zip(*ratings, strict=True))
    held_out = splits.last_of_each_user(users, times, n)
    for user in set(users.tolist()):
        rows = np.flatnonzero(users == user)
        newest_first = sorted(rows, key=lambda row: (-times[row], -row))
        expected = set(newest_first[:n]) if len(rows) > n else set()
        assert set(rows[held_out[rows]]) == expected


@given(RATINGS, st.floats(0.05, 0.95))
def test_newest_are_all_newer_than_the_rest(ratings, share):
    times = np.array([time for _, time in ratings])
    if len(set(times.tolist())) == 1:
        with pytest.raises(DataError, match="same time"):
            splits.newest(times, share)
        return
    try:
        held_out = splits.newest(times, share)
    except DataError:
        assert np.sort(times)[int((1 - share) * len(times))] == times.min()
        return
    assert held_out.any() and times[held_out].min() > times[~held_out].max()
    assert held_out.sum() >= share * len(times) - 1


def test_random_share_follows_the_seed():
    first = splits.random_share(10_000, 0.1, seed=0)
    assert (first == (np.random.default_rng(0).random(10_000) < 0.1)).all()
    assert 900 < first.sum() < 1100 and (first != splits.random_share(10_000, 0.1, seed=1)).any()


@pytest.mark.parametrize("share", [0.0, 1.0, -1, 2])
def test_impossible_share_is_named(share):
    with pytest.raises(DataError, match=f"share to hold out is {share}"):
        splits.newest([1, 2], share)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: splits.random_share(10, "half", 0), "share to hold out is 'half'"),
        (lambda: splits.random_share(-1, 0.5, 0), "n_ratings is -1"),
        (lambda: splits.random_share(2**62, 0.5, 0), "n_ratings is 4611686018427387904: so many do not fit"),
        (lambda: splits.random_share(10, 0.5, "x"), "seed is 'x'"),
        (lambda: splits.newest([], 0.5), "times are empty"),
        (lambda: splits.newest([1, np.inf], 0.5), "times has inf at position 1"),
        (lambda: splits.last_of_each_user([1, 2], [3]), "users has 2 rows and times 1"),
        (lambda: splits.last_of_each_user([1, None], [3, 4]), "users cannot be sorted"),
        (lambda: splits.last_of_each_user([1, 2], [3, 4], 0), "n is 0: give an integer of at least 1"),
    ],
)
def test_what_cannot_be_split_is_named(call, said):
    with pytest.raises(DataError, match=said):
        call()


def test_times_in_nanoseconds_stay_exact():
    times = 1_700_000_000_000_000_000 + np.arange(4)  # float64 would make all of them equal
    assert splits.newest(times, 0.25).tolist() == [False, False, False, True]


def test_a_split_drawn_in_blocks_is_that_drawn_at_once(monkeypatch):
    whole = splits.random_share(1000, 0.3, seed=5)
    monkeypatch.setattr(splits, "_AT_ONCE", 64)
    np.testing.assert_array_equal(splits.random_share(1000, 0.3, seed=5), whole)
