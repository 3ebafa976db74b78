"""The baseline g + b_u + b_i that a mixture of residuals can stand on."""

from dataclasses import dataclass

import numpy as np

from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.matrix import RatingMatrix

# Pseudo-ratings that pull a bias to zero, and rounds of alternation: both far from critical.
_RIDGE = 5.0
_ROUNDS = 10


@dataclass(frozen=True)
class Biases:
    """``overall`` g, ``users`` b_u and ``items`` b_i; both vectors end with a 0 for the unknown (code -1)."""

    overall: float
    users: Floats
    items: Floats

    @classmethod
    def fit(cls, matrix: RatingMatrix) -> "Biases":
        """Ridge regression by alternating exact updates; the users' come last, as `for_users` computes them."""
        overall = float(matrix.values.mean())
        users = matrix.user_codes
        item_weight = matrix.rows.column_counts() + _RIDGE
        biases = cls(overall, np.zeros(matrix.n_users + 1), np.zeros(matrix.n_items + 1))
        for _ in range(_ROUNDS):
            residual = matrix.values - overall - biases.users[users]
            items = np.bincount(matrix.item_codes, residual, minlength=matrix.n_items) / item_weight
            biases = cls(overall, biases.users, np.append(items, 0.0)).for_users(matrix)
        return biases

    def for_users(self, matrix: RatingMatrix) -> "Biases":
        """The biases of other users of the same items: each needs nothing but its own ratings."""
        residual = matrix.values - self.overall - self.items[matrix.item_codes]
        weight = matrix.rows.lengths + _RIDGE
        users = np.bincount(matrix.user_codes, residual, minlength=matrix.n_users) / weight
        return Biases(self.overall, np.append(users, 0.0), self.items)

    def predict(self, users: Ints, items: Ints) -> Floats:
        """g + b_u + b_i of pairs of codes."""
        return np.asarray(self.overall + self.users[users] + self.items[items])

    def left_over(self, matrix: RatingMatrix) -> SparseRows:
        """Users of the same items as rows of what their own biases leave of their ratings."""
        users, items = matrix.user_codes.astype(np.int64), matrix.item_codes
        residual = matrix.values - self.for_users(matrix).predict(users, items.astype(np.int64))
        return matrix.rows.with_values(residual)
