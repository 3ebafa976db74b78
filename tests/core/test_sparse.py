"""The one row-compressed form: sorting, transposing, and taking apart."""

import pickle

import numpy as np
import pytest

from lbg_recsys.core.sparse import SparseRows

SHAPE = (7, 5)


@pytest.fixture(scope="module")
def dense():
    rng = np.random.default_rng(0)
    table = rng.normal(size=SHAPE)
    table[rng.random(SHAPE) < 0.5] = np.nan  # no entry
    table[2], table[:, 3] = np.nan, np.nan  # an empty row and an empty column
    table[0, 0] = 0.0  # a stored zero is an entry
    return table


def as_table(rows):
    """The counting entries in a dense array, NaN where there is none."""
    table = np.full((len(rows), rows.n_columns), np.nan)
    for j, (start, stop) in enumerate(zip(rows.start, rows.stop, strict=True)):
        table[j, rows.columns[start:stop]] = rows.values[start:stop]
    return table


@pytest.fixture(scope="module")
def rows(dense):
    row, column = np.nonzero(~np.isnan(dense))
    return SparseRows.from_entries(row, column, dense[row, column], *SHAPE)


def test_entries_in_any_order_give_the_same_rows(dense, rows):
    row, column = np.nonzero(~np.isnan(dense))
    order = np.random.default_rng(1).permutation(len(row))
    other = SparseRows.from_entries(row[order], column[order], dense[row, column][order], *SHAPE)
    np.testing.assert_array_equal(as_table(rows), dense)
    for name in ("indptr", "columns", "values"):
        np.testing.assert_array_equal(getattr(other, name), getattr(rows, name))


def test_the_last_of_repeated_entries_stays():
    rows = SparseRows.from_entries([1, 0, 1, 1], [2, 0, 2, 0], [1.0, 2.0, 3.0, 4.0], 2, 3)
    assert (rows.columns.tolist(), rows.values.tolist()) == ([0, 0, 2], [2.0, 4.0, 3.0])


def test_the_transpose_is_sorted_cached_and_its_own_inverse(dense, rows):
    turned = rows.transposed
    np.testing.assert_array_equal(as_table(turned), dense.T)
    assert turned is rows.transposed
    assert (turned.indptr.dtype, turned.columns.dtype, turned.values.dtype) == (np.int64, np.int32, np.float64)
    for j in range(len(turned)):
        assert (np.diff(turned.part(j, j + 1).columns) > 0).all()
    for name in ("indptr", "columns", "values"):
        np.testing.assert_array_equal(getattr(turned.transposed, name), getattr(rows, name))


def test_rows_and_columns_of_entries_are_counted(dense, rows):
    row, _ = np.nonzero(~np.isnan(dense))
    assert rows.row_of_entry().tolist() == row.tolist()
    assert rows.lengths.tolist() == (~np.isnan(dense)).sum(axis=1).tolist()
    assert rows.column_counts().tolist() == (~np.isnan(dense)).sum(axis=0).tolist()


def test_contains_asks_the_structure_and_not_the_values(dense, rows):
    pairs = np.array([(j, i) for j in range(-1, SHAPE[0]) for i in range(-1, SHAPE[1])])
    expected = [j >= 0 and i >= 0 and not np.isnan(dense[j, i]) for j, i in pairs]
    assert rows.contains(pairs[:, 0], pairs[:, 1]).tolist() == expected


def test_some_rows_some_entries_and_a_part(dense, rows):
    chosen = np.array([4, 0, 2])
    np.testing.assert_array_equal(as_table(rows.take(chosen)), dense[chosen])
    positive = np.where(dense > 0, dense, np.nan)
    np.testing.assert_array_equal(as_table(rows.filtered(rows.values > 0)), positive)
    shorter = SparseRows(
        rows.indptr, rows.columns, rows.values, rows.n_columns, np.minimum(rows.stop, rows.start + 1)
    )
    np.testing.assert_array_equal(as_table(shorter.part(3, 6)), as_table(shorter)[3:6])


def test_a_pickle_leaves_the_cached_transpose_out(rows):
    before = len(pickle.dumps(rows))
    assert rows.transposed is not None and len(pickle.dumps(rows)) == before
    np.testing.assert_array_equal(as_table(pickle.loads(pickle.dumps(rows))), as_table(rows))


def test_contains_says_of_every_pair_whether_it_is_stored():
    table = np.array([[5.0, 0, 3], [0, 0, 0], [0, 2, 4]])
    rows, columns = np.nonzero(table)
    stored = SparseRows.from_entries(rows, columns, table[rows, columns], 3, 3)
    every = np.indices((3, 3)).reshape(2, -1)
    np.testing.assert_array_equal(stored.contains(*every), (table != 0).ravel())
    np.testing.assert_array_equal(stored.contains(np.array([-1, 0, -1]), np.array([0, -1, -1])), [False] * 3)
