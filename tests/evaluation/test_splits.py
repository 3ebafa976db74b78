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
