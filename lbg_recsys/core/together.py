"""How often items are taken together: the matrix Y'Y of Y = diag(w)^1/2 X (see `lbg_recsys.core.choice`).

Two forms hold it. `ByUsers` holds Y, a row per user: pairs of items are multiplied when they are needed.
`ByPairs` holds the sums over all users, and nothing else about any one of them.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from lbg_recsys.core.choice import gram
from lbg_recsys.core.types import Floats, Ints


class Together(Protocol):
    """Y'Y."""

    def times(self, items: Ints, x: Floats) -> Floats:
        """The product of some columns of Y'Y with a vector over them, (n_items,)."""

    def block(self, items: Ints) -> Floats:
        """The rows and columns of some items, (n, n). Its diagonal is not to be used."""

    def between(self, items: Ints, others: Ints) -> Floats:
        """The rows of some items and the columns of others, (items, others)."""

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""


@dataclass(frozen=True)
class ByUsers:
    """Y (users, items), in single precision."""

    y: sp.csc_array

    def times(self, items: Ints, x: Floats) -> Floats:
        """The product of some columns of Y'Y with a vector over them, (n_items,)."""
        return np.asarray(self.y.T @ (self.y[:, items] @ x))

    def block(self, items: Ints) -> Floats:
        """The rows and columns of some items, (n, n). Its diagonal is not to be used."""
        rows = self.y[:, items].tocsr()
        upper = np.zeros((len(items),) * 2)
        gram(rows.indptr, rows.indices, rows.data.astype(np.float64), upper)
        return np.asarray(upper + upper.T)

    def between(self, items: Ints, others: Ints) -> Floats:
        """The rows of some items and the columns of others, (items, others)."""
        return np.asarray((self.y[:, items].T @ self.y[:, others]).toarray(), dtype=np.float64)

    def by_pairs(self) -> "ByPairs":
        """The sums over all users."""
        return ByPairs(sp.csr_array(self.y.T @ self.y).astype(np.float32))

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return int(self.y.data.nbytes + self.y.indices.nbytes)


@dataclass(frozen=True)
class ByPairs:
    """Y'Y itself, symmetric, a cell for every pair of items that somebody took together."""

    pairs: sp.csr_array

    @classmethod
    def of_upper(cls, upper: sp.csr_array) -> "ByPairs":
        """From the diagonal and what is above it."""
        return cls(sp.csr_array(upper + sp.triu(upper, 1).T))

    def upper(self) -> sp.csr_array:
        """The diagonal and what is above it; the columns of a row ascend."""
        upper = sp.csr_array(sp.triu(self.pairs, format="csr"))
        upper.sort_indices()
        return upper

    def times(self, items: Ints, x: Floats) -> Floats:
        """The product of some columns of Y'Y with a vector over them, (n_items,)."""
        return np.asarray(self.pairs[items].T @ x)

    def block(self, items: Ints) -> Floats:
        """The rows and columns of some items, (n, n). Its diagonal is not to be used."""
        return self.between(items, items)

    def between(self, items: Ints, others: Ints) -> Floats:
        """The rows of some items and the columns of others, (items, others)."""
        return np.asarray(self.pairs[items][:, others].toarray(), dtype=np.float64)

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return int(self.pairs.data.nbytes + self.pairs.indices.nbytes)
