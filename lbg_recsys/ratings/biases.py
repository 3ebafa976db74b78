"""The baseline g + b_u + b_i that a mixture of residuals can stand on."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from lbg_recsys.core.blocks import Blocks
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints

# Pseudo-ratings that shrink a bias to zero, and rounds of alternation; results depend little on either.
_RIDGE = 5.0
_ROUNDS = 10


@dataclass(frozen=True)
class Biases:
    """``overall`` g, ``users`` b_u and ``items`` b_i; both vectors end with a 0 for the unknown (code -1)."""

    overall: float
    users: Floats
    items: Floats

    @classmethod
    def fit(cls, ratings: Blocks) -> "Biases":
        """Ridge regression by alternating exact updates; the users' come last, as `for_users` computes them."""
        counts = ratings.total(SparseRows.column_counts)
        overall = float(ratings.total(_sum_of_values) / counts.sum())
        biases = cls(overall, np.zeros(1), np.zeros(len(counts) + 1))
        for number in range(_ROUNDS):
            residual = ratings.total(partial(_by_item, biases=biases, first=not number))
            biases = cls(overall, biases.users, np.append(residual / (counts + _RIDGE), 0.0))
        users = ratings.fetch(ratings.map(biases.of_users))
        return cls(overall, np.concatenate([*users, np.zeros(1)]), biases.items)

    def of_users(self, ratings: SparseRows) -> Floats:
        """The biases of users computed only from their own ratings of the same items, (users,)."""
        residual = ratings.values - self.overall - self.items[ratings.columns]
        total = np.bincount(ratings.row_of_entry(), residual, minlength=len(ratings))
        return np.asarray(total / (ratings.lengths + _RIDGE))

    def for_users(self, ratings: SparseRows) -> "Biases":
        """The biases of other users of the same items."""
        return Biases(self.overall, np.append(self.of_users(ratings), 0.0), self.items)

    def predict(self, users: Ints, items: Ints) -> Floats:
        """g + b_u + b_i of pairs of codes."""
        return np.asarray(self.overall + self.users[users] + self.items[items])

    def left_over(self, ratings: SparseRows) -> SparseRows:
        """Users of the same items as rows of what their own biases leave of their ratings."""
        expected = self.for_users(ratings).predict(
            ratings.row_of_entry().astype(np.int64), ratings.columns.astype(np.int64)
        )
        return ratings.with_values(ratings.values - expected)


def _sum_of_values(ratings: SparseRows) -> Floats:
    return np.asarray(ratings.values.sum())


def _by_item(ratings: SparseRows, biases: Biases, first: bool) -> Floats:
    """The sums over each item of what the biases of its users leave; at first there are none."""
    residual = ratings.values - biases.overall
    if not first:
        residual = residual - biases.of_users(ratings)[ratings.row_of_entry()]
    return np.asarray(np.bincount(ratings.columns, residual, minlength=ratings.n_columns), dtype=np.float64)
