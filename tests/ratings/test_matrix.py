"""Ratings become arrays, or a clear error."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surprise import Dataset, Reader

from lbg_recsys.algorithms.convert import matrix_of
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.ratings import RatingMatrix, RatingScale, as_matrix
from lbg_recsys.ratings.ids import IdIndex


def test_all_sources_give_the_same_matrix(sample):
    frame = sample.ratings[["user", "item", "rating"]]
    trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    arrays = as_matrix((frame["user"].to_numpy(), frame["item"].to_numpy(), frame["rating"].to_numpy()))
    for other in (as_matrix(frame), matrix_of(trainset)):
        assert list(other.users) == list(arrays.users)
        assert list(other.items) == list(arrays.items)
        np.testing.assert_array_equal(other.rows.indptr, arrays.rows.indptr)
        np.testing.assert_array_equal(other.item_codes, arrays.item_codes)
        np.testing.assert_array_equal(other.values, arrays.values)


@pytest.mark.parametrize(
    ("ratings", "bounds", "levels", "discrete"),
    [
        ([1, 2, 5], None, [1, 2, 3, 4, 5], True),
        ([0.5, 3.5, 5], None, np.arange(0.5, 5.1, 0.5), True),
        ([-10, 10, 3], (-10, 10), np.arange(-10, 11), True),
        ([1.0, 1.7, 3.33], None, [1.0, 1.7, 3.33], True),
        ([4.0], None, [4.0], True),
        (np.linspace(-10, 10, 777), None, np.linspace(-10, 10, 41), False),
        ([2, 3], (1, 5), [1, 2, 3, 4, 5], True),
        ([0, 50.0004, 100], None, [0, 50.0004, 100], True),
        ([0, 1e-9, 3e-9], None, [0, 1e-9, 3e-9], True),
        (np.float32([0.1, 4.8, 9.9]), None, np.arange(1, 100) / 10, True),
        (np.arange(1, 11) / 10, None, np.arange(1, 11) / 10, True),
        ([-1e9, 0, 1e9], None, [-1e9, 0, 1e9], True),
    ],
)
def test_scales_are_found(ratings, bounds, levels, discrete):
    ratings = np.array(ratings, dtype=float)
    scale = RatingScale.find(ratings, bounds)
    np.testing.assert_allclose(scale.levels, levels, rtol=1e-6)
    assert scale.discrete is discrete
    scale.refuse_outsiders(ratings, str)  # the scale of some ratings takes them all


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda rating: round(rating, 9)), min_size=1, max_size=60),
    st.sampled_from([0.1, 0.25, 0.5, 1.0, None]),
    st.sampled_from([np.float32, np.float64]),
)
def test_a_scale_takes_the_ratings_it_was_found_from(ratings, step, precision):
    ratings = np.array(ratings) if step is None else step * np.rint(np.array(ratings) % 10)
    ratings = ratings.astype(precision).astype(float)
    scale = RatingScale.find(ratings)
    scale.refuse_outsiders(ratings, str)
    assert (np.diff(scale.levels) > 0).all()


@pytest.mark.parametrize("ratings", [[1e300, -1e300, 0], [0, 1e-200]])
def test_scales_beyond_computing_are_refused(ratings):
    with pytest.raises(DataError, match="beyond what can be computed with: multiply"):
        RatingScale.find(np.array(ratings))


def test_a_rating_between_found_levels_is_told_of_levels():
    scale = RatingScale.find(np.array([1.0, 5.0]))
    with pytest.raises(DataError, match=r"2\.5 of Ann is off the scale 1\.\.5 \(5 levels.*levels=.*scale="):
        scale.refuse_outsiders(np.array([2.5]), lambda row: "of Ann")


def test_liked_is_four_stars_of_five():
    assert RatingScale.find(np.array([1.0, 5.0])).liked == 4.0


@pytest.mark.parametrize(
    ("triples", "options", "message"),
    [
        ((["a"], ["x"], [float("nan")]), {}, "row 0 is nan"),
        ((["a", "b"], ["x", "x"], [1.0, float("inf")]), {}, "row 1 is inf"),
        (
            (["a", "b"], ["x", "x"], [1.0, 7.0]),
            {"scale": (1, 5)},
            "rating 7 of user 'b' for item 'x' is off the scale",
        ),
        ((["a"], ["x"], [2.5]), {"levels": [1, 2, 3]}, "rating 2.5 .* off the scale"),
        (([], [], []), {}, "no ratings"),
        ((["a"], ["x", "y"], [1.0]), {}, "lengths must agree"),
        (([["a"]], ["x"], [1.0]), {}, "unhashable list"),
        (([None], ["x"], [1.0]), {}, "user id is missing in row 0"),
        ((["a"], ["x"], ["good"]), {}, "must be numbers"),
        ((["a"], ["x"], [1.0]), {"scale": (5, 1)}, "rating scale"),
    ],
)
def test_bad_ratings_are_named(triples, options, message):
    with pytest.raises(DataError, match=message):
        as_matrix(triples, **options)


def test_bad_sources_are_named():
    with pytest.raises(DataError, match="cannot be read from an int"):
        as_matrix(7)
    with pytest.raises(DataError, match="the rating is not among 'user', 'item'"):
        as_matrix(pd.DataFrame({"user": [1], "item": [2]}))


def test_mixed_ids_stay_apart():
    matrix = as_matrix(([1, "1", 2], ["x", "x", "x"], [1, 2, 3]))
    assert list(matrix.users) == [1, "1", 2]
    assert matrix.users.codes(["1", 1, 3]).tolist() == [1, 0, -1]


def test_numpy_ids_are_the_ids_people_write():
    index = IdIndex(np.array([3, 1]))
    assert index.code(1) == 1
    assert index.codes([np.int64(3)]).tolist() == [0]
    assert type(index.raw(0)) is int
    assert index.codes(np.array([3, -5, 10**12])).tolist() == [0, -1, -1]


def test_large_unsigned_ids_are_not_taken_for_negative_ones():
    index = IdIndex([-2, -1, 3])
    large = np.array([2**64 - 1, 2**64 - 2, 3, 2**63], dtype=np.uint64)
    assert index.codes(large).tolist() == [-1, -1, 2, -1]
    matrix = as_matrix((large, [1, 2, 3, 4], [1, 2, 3, 4]))
    assert list(matrix.users) == [2**64 - 1, 2**64 - 2, 3, 2**63]
    assert matrix.users.codes(large).tolist() == [0, 1, 2, 3]


def test_ids_far_apart_are_found_too():
    index = IdIndex([5, 10**15])
    assert index.codes(np.array([10**15, 6])).tolist() == [1, -1]


def test_is_rated_asks_the_structure():
    matrix = as_matrix((["a", "a", "b"], ["x", "z", "y"], [1, 2, 3]))
    users, items = np.array([0, 0, 1, 1, -1, 0]), np.array([0, 2, 2, 0, 0, -1])
    expected = [(u >= 0 and i >= 0 and i in matrix.seen(u)) for u, i in zip(users, items, strict=True)]
    assert matrix.is_rated(users, items).tolist() == expected


def test_subset_and_merge(sample):
    matrix = as_matrix(sample.ratings)
    halves = matrix.subset(np.arange(0, 100)), matrix.subset(np.arange(100, matrix.n_users))
    merged, touched = halves[0].merged(halves[1])
    assert touched.tolist() == list(range(100, matrix.n_users))
    np.testing.assert_array_equal(merged.rows.indptr, matrix.rows.indptr)
    np.testing.assert_array_equal(merged.item_codes, matrix.item_codes)
    np.testing.assert_array_equal(merged.values, matrix.values)


def test_thumbs_have_two_levels_and_a_scale_fills_in():
    pairs = (["a", "a", "b"], ["x", "y", "x"])
    assert RatingMatrix.from_arrays(*pairs, [-1, 1, 1]).scale.levels.tolist() == [-1.0, 1.0]
    assert RatingMatrix.from_arrays(*pairs, [-1, 1, 1], scale=(-1, 1)).scale.levels.tolist() == [-1.0, 1.0]
    assert RatingMatrix.from_arrays(*pairs, [-1, 1, 0]).scale.levels.tolist() == [-1.0, 0.0, 1.0]
    assert len(RatingMatrix.from_arrays(*pairs, [-5, 5, 5]).scale.levels) == 11
    tenths = [0.1 * n for n in (1, 2, 3)]
    assert RatingMatrix.from_arrays(*pairs, tenths, levels=tenths, scale=(0.1, 0.3)).scale.levels.tolist() == tenths
    with pytest.raises(ParameterError, match=r"levels go from 1 to 5, and scale is \(1, 10\): leave out one of them"):
        RatingMatrix.from_arrays(*pairs, [1, 2, 5], levels=[1, 2, 3, 4, 5], scale=(1, 10))
    assert RatingMatrix.from_arrays(*pairs, [1, 2, 5], levels=[1, 2, 5], scale=(1, 5)).scale.levels.tolist() == [
        1,
        2,
        5,
    ]


def test_dates_are_no_ratings():
    with pytest.raises(DataError, match="ratings must be numbers: they are dates or durations"):
        RatingMatrix.from_arrays(["a", "b"], ["x", "y"], np.array(["2020-01-01", "2020-01-02"], "datetime64[ns]"))


@pytest.mark.parametrize(
    ("users", "told"),
    [
        (["a", None, "b"], "in row 1: fill in or drop this row"),
        ([None, None, "b"], r"in row 0 \(and 1 more\): fill in or drop these rows"),
    ],
)
def test_missing_ids_are_counted(users, told):
    with pytest.raises(DataError, match=f"the user id is missing {told}"):
        RatingMatrix.from_arrays(users, ["x", "y", "z"], [1, 2, 3])
