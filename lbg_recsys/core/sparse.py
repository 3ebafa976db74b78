"""Sparse rows of which a prefix counts: the one layout that the ratings and the text side share."""

import itertools
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from lbg_recsys.core.types import Bools, Codes, Floats, Ints


@dataclass(frozen=True)
class SparseRows:
    """Row j holds the entries ``indices[start[j]:stop[j]]`` with their ``values``.

    For ratings these are all entries of a user. For text the entries of a document are stored from the largest
    to the smallest, so that "its g_j most frequent words" (the indicator x of the paper) is a prefix, and
    choosing another g_j changes ``stop`` and nothing else.
    """

    start: Ints
    stop: Ints
    indices: Codes
    values: Floats
    n_columns: int

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def from_csr(
        cls, indptr: npt.ArrayLike, indices: npt.ArrayLike, values: npt.ArrayLike, n_columns: int
    ) -> "SparseRows":
        """All entries of a compressed sparse row matrix count."""
        pointer = np.ascontiguousarray(indptr, dtype=np.int64)
        return cls(
            pointer[:-1],
            pointer[1:],
            np.ascontiguousarray(indices, dtype=np.int32),
            np.ascontiguousarray(values, dtype=np.float64),
            n_columns,
        )

    def parts(self, n_parts: int) -> list["SparseRows"]:
        """These rows in consecutive pieces of about equal numbers of rows, each with nothing but its own entries.

        For rows whose entries all count (`from_csr`).
        """
        cuts = np.linspace(0, len(self), min(n_parts, max(len(self), 1)) + 1).astype(np.int64)
        pieces = []
        for first, last in itertools.pairwise(cuts):
            begin, end = (int(self.start[first]), int(self.stop[last - 1])) if last > first else (0, 0)
            pieces.append(
                SparseRows(
                    self.start[first:last] - begin,
                    self.stop[first:last] - begin,
                    self.indices[begin:end],
                    self.values[begin:end],
                    self.n_columns,
                )
            )
        return pieces

    def take(self, first: int, last: int) -> "SparseRows":
        """Rows ``first:last``, sharing the entries."""
        return SparseRows(self.start[first:last], self.stop[first:last], self.indices, self.values, self.n_columns)


@numba.njit(nogil=True, cache=True)
def contains(indptr: Ints, indices: Codes, rows: Ints, columns: Ints) -> Bools:
    """Whether each (row, column) pair is stored, by bisection in rows of ascending columns; -1 never is."""
    found = np.zeros(len(rows), dtype=np.bool_)
    for pair in range(len(rows)):
        if rows[pair] < 0 or columns[pair] < 0:
            continue
        low, high = indptr[rows[pair]], indptr[rows[pair] + 1]
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < columns[pair]:
                low = middle + 1
            else:
                high = middle
        found[pair] = low < indptr[rows[pair] + 1] and indices[low] == columns[pair]
    return found
