"""Tables of features, encoded."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lbg_recsys.errors import DataError
from lbg_recsys.ratings.features import NOTHING, FeatureTable
from lbg_recsys.ratings.ids import IdIndex

RATED = IdIndex(["a", "b", "c", "d"])


def encoded(table, rated=RATED):
    return FeatureTable.of(table, rated, "item")


def test_numbers_are_standardised_by_the_rated_and_clipped_to_them():
    table = encoded(pd.DataFrame({"year": [1, 2, 3, 2, 99, np.nan]}, index=["a", "b", "c", "d", "new", "odd"]))
    known = np.array([1, 2, 3, 2])
    np.testing.assert_allclose(table.rows("abcd")[:, 0], (known - 2) / known.std(), rtol=1e-6)
    assert table.rows(["new"])[0, 0] == table.rows(["c"])[0, 0]  # no further than the rated ones
    assert table.rows(["odd", "nobody"]).tolist() == [[0.0], [0.0]]  # missing, and not in the table


@pytest.mark.parametrize("war", [("Drama", "War"), ["Drama", "War"], {"War", "Drama"}, "Drama|War"])
def test_sets_become_centred_columns(war):
    table = encoded(pd.DataFrame({"genres": [war, "War", "Comedy", ""]}, index=list("abcd")))
    assert table.names == ["genres=War"]  # the others belong to one item each
    np.testing.assert_allclose(table.rows("abcd")[:, 0], [1 / 3, 1 / 3, -2 / 3, 0], rtol=1e-6)


@pytest.mark.parametrize("flag", [[1, 0, 1, 0], [True, False, True, False], [1.0, 0.0, 1.0, np.nan]])
def test_yes_or_no_is_centred_and_not_stretched(flag):
    """As a category is: a flag that few items have would else weigh more than one that many have."""
    table = encoded(pd.DataFrame({"new": flag}, index=list("abcd")))
    expected = np.nan_to_num(np.array(flag, float) - np.nanmean(np.array(flag, float)))
    np.testing.assert_allclose(table.rows("abcd")[:, 0], expected, rtol=1e-6)


def test_categories_are_no_quantities():
    frame = pd.DataFrame({"dept": pd.Categorical([3, 3, 12, 12])}, index=list("abcd"))
    assert encoded(frame).names == ["dept=12", "dept=3"]


def test_ids_are_a_column_or_the_index_and_groups_are_columns():
    frame = pd.DataFrame({"year": [1, 2, 3, 4], "movieId": list("abcd"), "kind": list("xxyy")})
    table = encoded(frame)
    assert list(table.ids) == list("abcd") and table.names == ["year", "kind=x", "kind=y"]
    assert table.groups.tolist() == [0, 1, 1]


def test_a_sparse_matrix_has_the_ids_of_its_rows_and_one_group():
    table = encoded(sp.csr_matrix(np.array([[1, 0], [0, 2.0], [1, 1]])), IdIndex(range(3)))
    assert list(table.ids) == [0, 1, 2] and table.groups.tolist() == [0, 0]


def test_columns_without_information_are_left_out_with_a_warning():
    frame = pd.DataFrame({"same": 1, "own": list("wxyz"), "year": [1, 2, 3, 4]}, index=list("abcd"))
    with pytest.warns(UserWarning, match="'same', 'own'"):
        assert encoded(frame).names == ["year"]


@pytest.mark.parametrize(
    "table, said",
    [
        (pd.DataFrame({"year": [1, 2]}, index=["a", "a"]), "'a' comes twice"),
        (pd.DataFrame({"year": [1, 2]}, index=[1, 2]), "none of the 2 ids"),
        (pd.DataFrame({"year": [1, np.inf]}, index=["a", "b"]), "'year' has an infinite value"),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])}, index=["a", "b"]), "'when' is a time"),
        ([1, 2], "are a list"),
        (pd.DataFrame({"year": []}), "the item features have no rows"),
        (pd.DataFrame([[1, 2]], index=["a"], columns=["year", "year"]), "more than one column 'year'"),
        (np.zeros((4, 301)), "301 columns, and at most 300"),
        (pd.DataFrame(np.random.default_rng(0).normal(size=(4, 301)), index=list("abcd")), "at most 300"),
    ],
)
def test_what_cannot_be_used_is_named(table, said):
    with pytest.raises(DataError, match=said):
        encoded(table)


def test_one_new_row_by_name():
    table = encoded(pd.DataFrame({"year": [1, 2, 3, 4], "kind": list("xxyy")}, index=list("abcd")))
    more = table.with_row("new", {"kind": "x"}, "item")
    assert more.rows(["new"]).tolist() == [[0.0, 0.5, -0.5]] and len(table.ids) == 4
    with pytest.raises(DataError, match=r"no item feature 'yaer'; did you mean 'year'\?"):
        table.encode({"yaer": 3}, "item")
    with pytest.raises(DataError, match="no user feature 'year'; the model has no user features"):
        NOTHING.encode({"year": 3}, "user")
    with pytest.raises(DataError, match="the feature 'year' is 'soon': give a number"):
        table.encode({"year": "soon"}, "item")
    with pytest.warns(
        UserWarning, match="'kind' are left out because the model did not learn them: 'xx'; it learned 'x', 'y'"
    ):
        table.encode({"kind": "xx"}, "item")


def test_numbers_that_become_categories_are_pointed_out():
    years = ["1990", "1990", "1991", "soon"]
    with pytest.warns(UserWarning, match=r"'year' is taken as categories.*no numbers .1 of 4, for example 'soon'"):
        assert encoded(pd.DataFrame({"year": years}, index=list("abcd"))).names == ["year=1990"]
    for texts in (["1", "1", "2", "2"], ["1", "1", "2", "2|3"], ["War", "War", "1984", ""]):  # meant as categories
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            encoded(pd.DataFrame({"kind": texts}, index=list("abcd")))


def test_a_table_of_ids_alone_is_pointed_out():
    with pytest.warns(UserWarning, match="the item features have no column besides the ids"):
        assert encoded(pd.DataFrame({"item": list("abcd")})).names == []


def test_row_numbers_that_may_be_lost_ids_are_told():
    years, items = pd.DataFrame({"year": [1, 2, 3, 2]}), IdIndex([1, 2, 3, 4])
    with pytest.warns(UserWarning, match="the numbers of the rows are the ids, and 1 of 4 have no rating"):
        FeatureTable.of(years, items, "item")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FeatureTable.of(years, IdIndex(range(4)), "item")
        FeatureTable.of(years.assign(item=[1, 2, 3, 9]), items, "item")
