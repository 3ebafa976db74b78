"""Sparse rows: the one row-compressed form of ratings (users or items as rows) and of documents."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.caches import WithoutCaches
from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.types import Bools, Codes, Floats, Ints


class RowArrays(NamedTuple):
    """The arrays of `SparseRows` in the form that compiled kernels take."""

    start: Ints  # (n_rows,): where each row begins
    stop: Ints  # (n_rows,): where its counting prefix ends
    columns: Codes  # (n_entries,)
    values: Floats  # (n_entries,)


@dataclass(frozen=True, eq=False)
class SparseRows(WithoutCaches):
    """A sparse matrix by rows, of which a prefix of each row may count.

    Row j stores the entries ``columns[indptr[j]:indptr[j + 1]]`` with their ``values``; those before ``stop[j]``
    count. Ratings count in full, and the columns of a row ascend. Documents are stored from the largest value to the
    smallest, so that the g_j most frequent words of document j (the indicator x of the paper) are a prefix, and
    another g_j changes ``stop`` and nothing else.

    Parameters
    ----------
    indptr : int64 array of shape (n_rows + 1,)
        Where each row begins; from 0 to the number of entries.
    columns : int32 array of shape (n_entries,)
        The column of each entry.
    values : float64 (or, of documents given so, float32) array of shape (n_entries,)
        The value of each entry. A stored 0 is an entry.
    n_columns : int
        The number of columns, empty ones included.
    ends : int64 array of shape (n_rows,), optional
        Where the counting prefix of each row ends; by default all entries count.

    Examples
    --------
    >>> rows = SparseRows.from_csr([0, 2, 3], [0, 2, 2], [5.0, 3.0, 4.0], 3)
    >>> rows.transposed.columns.tolist(), rows.transposed.values.tolist()
    ([0, 0, 1], [5.0, 3.0, 4.0])
    >>> rows.contains(np.array([0, 0]), np.array([1, 2])).tolist()
    [False, True]
    """

    indptr: Ints
    columns: Codes
    values: Floats
    n_columns: int
    ends: Ints | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __sizeof__(self) -> int:
        # Dask compares sizes to decide where a task runs
        return super().__sizeof__() + self.indptr.nbytes + self.columns.nbytes + self.values.nbytes

    @classmethod
    def from_csr(
        cls, indptr: npt.ArrayLike, columns: npt.ArrayLike, values: npt.ArrayLike, n_columns: int
    ) -> "SparseRows":
        """The rows of a compressed sparse row matrix; arrays are copied only where their dtype is another."""
        return cls(
            np.ascontiguousarray(indptr, dtype=np.int64),
            np.ascontiguousarray(columns, dtype=np.int32),
            np.ascontiguousarray(values, dtype=np.float64),
            n_columns,
        )

    @classmethod
    def from_entries(
        cls, rows: npt.ArrayLike, columns: npt.ArrayLike, values: npt.ArrayLike, n_rows: int, n_columns: int
    ) -> "SparseRows":
        """Entries in any order; of entries with the same row and column the last one stays."""
        row, column = np.asarray(rows, dtype=np.int32), np.asarray(columns, dtype=np.int32)
        value = np.asarray(values, dtype=np.float64)
        ascends = (row[1:] > row[:-1]) | ((row[1:] == row[:-1]) & (column[1:] > column[:-1]))
        if ascends.all():  # sorted already and without duplicates: spare the sort
            column, value = column.copy(), value.copy()
        else:
            order = stable_order(column, n_columns)
            order = order[stable_order(row[order], n_rows)]
            row, column = row[order], column[order]
            last = np.append((row[1:] != row[:-1]) | (column[1:] != column[:-1]), True)
            row, column, value = row[last], column[last], value[order[last]]
        indptr = np.append(0, np.bincount(row, minlength=n_rows).cumsum())
        return cls(indptr, column, value, n_columns)

    @property
    def start(self) -> Ints:
        """Where each row begins, (n_rows,)."""
        return self.indptr[:-1]

    @property
    def stop(self) -> Ints:
        """Where the counting prefix of each row ends, (n_rows,)."""
        return self.indptr[1:] if self.ends is None else self.ends

    @property
    def arrays(self) -> RowArrays:
        """The counting entries, for compiled kernels."""
        return RowArrays(self.start, self.stop, self.columns, self.values)

    @property
    def lengths(self) -> Ints:
        """How many entries of each row count, (n_rows,)."""
        return self.stop - self.start

    def column_counts(self) -> Ints:
        """How many stored entries each column has, (n_columns,)."""
        return np.bincount(self.columns, minlength=self.n_columns)

    def row_of_entry(self) -> Codes:
        """The row of each stored entry, (n_entries,)."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def transposed(self) -> "SparseRows":
        """All stored entries with columns as rows, ascending; computed once, from `by_column`."""
        indptr, rows, place = self.by_column
        turned = SparseRows(indptr, rows, self.values[place].astype(np.float64, copy=False), len(self))
        back = np.empty_like(place)
        back[place] = np.arange(len(place), dtype=place.dtype)
        vars(turned)["by_column"] = self.indptr, self.columns, back  # sorted already
        return turned

    @cached_property
    def by_column(self) -> tuple[Ints, Codes, Codes | Ints]:
        """All stored entries sorted by column: where each column begins, the rows, and where the entries are here.

        It is computed once, in linear time, by a counting sort.

        >>> rows = SparseRows.from_csr([0, 2, 3], [0, 2, 2], [5.0, 3.0, 4.0], 3)
        >>> [array.tolist() for array in rows.by_column]
        [[0, 1, 1, 3], [0, 0, 1], [0, 1, 2]]
        """
        from scipy.sparse import csr_array  # here: commands that only look at a model start faster without it

        # scipy wants one index type: 32 bits where they suffice, so that `columns` is not copied
        index = np.int32 if len(self.columns) <= np.iinfo(np.int32).max else np.int64
        found = csr_array(
            (
                np.arange(len(self.columns), dtype=index),
                self.columns.astype(index, copy=False),
                self.indptr.astype(index),
            ),
            shape=(len(self), self.n_columns),
        ).tocsc()
        return found.indptr.astype(np.int64), found.indices.astype(np.int32, copy=False), found.data

    def with_values(self, values: Floats) -> "SparseRows":
        """The same entries with other values."""
        other = replace(self, values=values)
        if "by_column" in vars(self):
            vars(other)["by_column"] = self.by_column
        return other

    def take(self, rows: Ints) -> "SparseRows":
        """Copies of some rows, given by their numbers, with all their entries."""
        stored = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(stored)).astype(np.int64)
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], stored)
        return SparseRows(indptr, self.columns[entries], self.values[entries], self.n_columns)

    def filtered(self, mask: Bools) -> "SparseRows":
        """The entries where ``mask`` (n_entries,) holds, in the same rows."""
        indptr = np.append(0, np.cumsum(mask))[self.indptr]
        return SparseRows(indptr, self.columns[mask], self.values[mask], self.n_columns)

    def part(self, first: int, last: int) -> "SparseRows":
        """Rows ``first:last`` with no entries but their own; the entries are views."""
        begin, end = self.indptr[first], self.indptr[last]
        ends = None if self.ends is None else self.ends[first:last] - begin
        indptr = self.indptr[first : last + 1] - begin
        return SparseRows(indptr, self.columns[begin:end], self.values[begin:end], self.n_columns, ends)

    def contains(self, rows: Ints, columns: Ints) -> Bools:
        """Whether each (row, column) pair is stored, in rows of ascending columns; pairs with a -1 never are."""
        return _contains(self.indptr, self.columns, np.ascontiguousarray(rows), np.ascontiguousarray(columns))


def stable_order(codes: Codes, n_codes: int) -> Ints:
    """A stable argsort of codes below ``n_codes`` in linear time: a counting sort, as transposing is one."""
    from scipy.sparse import csr_array

    one_each = np.arange(len(codes) + 1, dtype=np.int32 if len(codes) <= np.iinfo(np.int32).max else np.int64)
    marks = np.zeros(len(codes), np.int8)
    return np.asarray(csr_array((marks, codes, one_each), shape=(len(codes), n_codes)).tocsc().indices)


@kernel()
def _contains(indptr: Ints, stored: Codes, rows: Ints, columns: Ints) -> Bools:
    found = np.zeros(len(rows), dtype=np.bool_)
    for pair in range(len(rows)):
        if rows[pair] < 0 or columns[pair] < 0:
            continue
        low, high = indptr[rows[pair]], indptr[rows[pair] + 1]
        while low < high:
            middle = (low + high) // 2
            if stored[middle] < columns[pair]:
                low = middle + 1
            else:
                high = middle
        found[pair] = low < indptr[rows[pair] + 1] and stored[low] == columns[pair]
    return found
