"""Columns of tables are found by one rule, whoever asks and whatever library made the table."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lbg_recsys.errors import DataError
from lbg_recsys.ratings import ChoiceModel, LBGModel, RatingMatrix, as_matrix

USERS, ITEMS, RATINGS = ["a", "a", "b", "b", "c"], [7, 8, 7, 9, 8], [1.0, 5.0, 2.0, 4.0, 3.0]
FRAME = pd.DataFrame({"userId": USERS, "movieId": ITEMS, "rating": RATINGS, "timestamp": range(100, 105)})
EXPECTED = RatingMatrix.from_arrays(USERS, ITEMS, RATINGS)


def _arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


def _polars(frame):
    return pytest.importorskip("polars").DataFrame({name: frame[name].tolist() for name in frame})


TABLES = [
    pytest.param(make, id=name) for name, make in (("pandas", lambda f: f), ("polars", _polars), ("arrow", _arrow))
]


def assert_expected(matrix):
    assert (list(matrix.users), list(matrix.items)) == (list(EXPECTED.users), list(EXPECTED.items))
    np.testing.assert_array_equal(matrix.rows.indptr, EXPECTED.rows.indptr)
    np.testing.assert_array_equal(matrix.item_codes, EXPECTED.item_codes)
    np.testing.assert_array_equal(matrix.values, EXPECTED.values)


@pytest.fixture(scope="module")
def model():
    return LBGModel(n_topics=2, random_state=0).fit(EXPECTED)


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize(
    "columns",
    [
        ["timestamp", "userId", "movieId", "rating"],
        ["rating", "userId", "movieId"],
        ["movieId", "userId", "rating"],
    ],
)
def test_columns_are_found_by_name_in_any_order(make, columns):
    assert_expected(as_matrix(make(FRAME[columns])))


@pytest.mark.parametrize(
    "order",
    [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"], ["a", "c", "b"], ["z", "a", "b", "c"], ["a", "b", "c", "z"]],
)
def test_categories_are_numbered_as_they_appear_and_unused_ones_not_at_all(order):
    frame = FRAME.assign(userId=pd.Categorical(USERS, categories=order))
    assert_expected(as_matrix(frame))


@pytest.mark.parametrize("make", TABLES)
def test_three_columns_of_unknown_names_are_taken_in_order(make):
    assert_expected(as_matrix(make(FRAME[["userId", "movieId", "rating"]].set_axis(["x", "y", "z"], axis=1))))


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize(
    "names",
    [
        ["x", "y", "z", "w"],  # too many to guess
        ["x", "movieId", "rating", "timestamp"],  # some known, some not
        ["timestamp", "x", "y", "z"],
    ],
)
def test_nothing_is_guessed(make, names):
    with pytest.raises(DataError, match=r"not among 'x'|not among 'timestamp', 'x', 'y', 'z': name them"):
        as_matrix(make(FRAME.set_axis(names, axis=1)))


def test_names_and_positions_are_never_mixed():
    with pytest.raises(DataError, match="the user is not among 'who', 'item', 'rating'"):
        as_matrix(pd.DataFrame({"who": USERS, "item": ITEMS, "rating": RATINGS}))


def test_no_column_is_used_twice():
    with pytest.raises(DataError, match="'movieId' cannot be two of"):
        RatingMatrix.from_frame(FRAME, user="movieId")
    with pytest.raises(DataError, match="more than one column 'userId'"):
        as_matrix(FRAME[["userId", "userId", "movieId", "rating"]])


def test_given_names_count():
    frame = FRAME.rename(columns={"userId": "who"})
    assert_expected(RatingMatrix.from_frame(frame, user="who"))
    with pytest.raises(DataError, match="no column 'whom' among 'who'"):
        RatingMatrix.from_frame(frame, user="whom")


@pytest.mark.parametrize("make", TABLES)
def test_pairs_follow_the_same_rule(make, model):
    expected = model.predict_batch(list(zip(USERS, ITEMS, strict=True)))
    for columns in (["movieId", "userId"], ["rating", "timestamp", "userId", "movieId"]):
        np.testing.assert_array_equal(model.predict_batch(make(FRAME[columns])), expected)
    unnamed = FRAME[["userId", "movieId"]].set_axis(["x", "y"], axis=1)
    np.testing.assert_array_equal(model.predict_batch(make(unnamed)), expected)
    with pytest.raises(DataError, match="pairs need the columns user, item"):
        model.predict_batch(make(FRAME[["timestamp", "movieId"]]))


@pytest.mark.parametrize("make", TABLES)
def test_a_table_of_ratings_is_a_new_user(make, model):
    new = pd.DataFrame({"rating": [5.0, 1.0], "movieId": [7, 9]})
    expected = model.fold_in({7: 5.0, 9: 1.0}).posterior
    np.testing.assert_array_equal(model.fold_in(make(new)).posterior, expected)
    with pytest.raises(DataError, match="need the column item"):
        model.fold_in(make(new.rename(columns={"movieId": "what"})))


def test_an_item_rated_twice_by_a_new_user_is_refused(model):
    for twice in (pd.Series([5, 1], index=[7, 7]), pd.DataFrame({"item": [7, 7], "rating": [5, 1]})):
        with pytest.raises(DataError, match="the item 7 is rated twice"):
            model.fold_in(twice)


@pytest.mark.parametrize("make", TABLES)
def test_choices_follow_the_same_rule(make):
    expected = ChoiceModel(penalty=1).fit((USERS, ITEMS)).recommend("a")
    for names in (["timestamp", "movieId", "userId"], ["userId", "movieId"]):
        pd.testing.assert_frame_equal(ChoiceModel(penalty=1).fit(make(FRAME[names])).recommend("a"), expected)
    with pytest.raises(DataError, match="choices need the columns user, item"):
        ChoiceModel().fit(make(FRAME[["timestamp", "movieId"]]))
    graded = ChoiceModel(penalty=1).fit(make(FRAME))
    assert graded.matrix.scale.high == 5
    new = graded.fold_in(make(FRAME[["rating", "movieId"]].head(2)))
    pd.testing.assert_frame_equal(new.recommend(), graded.fold_in({7: 1.0, 8: 5.0}).recommend())


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.coo_array, sp.csc_array])
def test_a_sparse_matrix_is_users_by_items(form):
    stored = form(sp.coo_array(([0.0, 5.0, 2.0], ([0, 2, 2], [3, 0, 3])), shape=(4, 5)))
    matrix = as_matrix(stored, scale=(0, 5))
    users, items = matrix.users.raws(matrix.user_codes), matrix.items.raws(matrix.item_codes)
    assert set(zip(users, items, matrix.values.tolist(), strict=True)) == {(0, 3, 0.0), (2, 0, 5.0), (2, 3, 2.0)}
    with pytest.raises(
        DataError, match="is 0, which is not a whole number of at least 1"
    ):  # of choices these are counts
        ChoiceModel(penalty=1).fit(stored)
    choices = ChoiceModel(penalty=1).fit(form(sp.coo_array(([1, 5, 2], ([0, 2, 2], [3, 0, 3])), shape=(4, 5))))
    assert sorted(choices.matrix.users) == [0, 2] and set(choices.matrix.values) == {1.0}


def test_generators_are_taken_where_lists_are(model):
    assert_expected(as_matrix((iter(USERS), (item for item in ITEMS), map(float, RATINGS))))
    pairs = list(zip(USERS, ITEMS, strict=True))
    np.testing.assert_array_equal(model.predict_batch(pair for pair in pairs), model.predict_batch(pairs))
    pd.testing.assert_frame_equal(model.recommend(user for user in "ab"), model.recommend(["a", "b"]))
    pd.testing.assert_frame_equal(
        model.recommend("a", exclude_seen=False, items=(i for i in [9])),
        model.recommend("a", exclude_seen=False, items=[9]),
    )
    new = model.fold_in({7: 5})
    np.testing.assert_array_equal(new.predict(item for item in ITEMS), new.predict(ITEMS))
    np.testing.assert_array_equal(new.predict(range(7, 9)), new.predict([7, 8]))
    assert list(ChoiceModel().fit((iter(USERS), iter(ITEMS))).matrix.users) == ["a", "b", "c"]


@pytest.mark.parametrize("make", TABLES[1:])
def test_columns_of_other_libraries_are_lists(make, model):
    table = make(FRAME)
    pd.testing.assert_frame_equal(model.recommend(table["userId"][:3]), model.recommend(["a", "a", "b"]))
    assert_expected(as_matrix((table["userId"], table["movieId"], table["rating"])))


def test_pairs_that_are_columns_or_texts_are_refused():
    model = LBGModel(n_topics=1).fit((["ann", "bob"], ["tea", "tea"], [5, 3]))
    expected = model.predict_batch([("ann", "tea")])
    assert model.predict_batch((("ann", "tea"),)) == model.predict_batch([["ann", "tea"]]) == expected
    for columns in ((["ann"] * 3, ["tea"] * 3), (np.array(["ann"]), np.array(["tea"]))):
        with pytest.raises(DataError, match=r"these are columns: give list\(zip\(users, items\)\)"):
            model.predict_batch(columns)
    for text in (("ann", "tea"), ["ann", "tea"]):
        with pytest.raises(DataError, match=r"is a text: give \[\(user, item\)\]"):
            model.interval(text)


@pytest.mark.parametrize("name", [np.array([]), np.array(["user", "item"]), pd.Series([1]), ["user"]])
def test_an_array_is_no_name_of_a_column(name):
    frame = pd.DataFrame({"user": USERS, "item": ITEMS, "rating": RATINGS})
    with pytest.raises(DataError, match=r"^user is .*: give the name of a column, one of 'user', 'item', 'rating'$"):
        RatingMatrix.from_frame(frame, user=name)
