"""Ratings of unknown items by known users, and of known items by unknown users.

The amount of ratings that an unknown item would have is unknown, and so is who would rate it. The prediction
integrates over both: given that a user rates it, an unknown item is one more of the items that this user rates.
Unknown users are the same with the sides exchanged.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array, Floats, Ints
from lbg_recsys.ratings.matrix import RatingMatrix

# Ratings of the data set as a whole that are added to those of each user (chosen on held-out items and users).
PSEUDO_RATINGS = 2.0
# An item is unknown because it is new, or because it is rated so seldom that the data missed it. The probability
# that the next rating of a user is of an item that the data missed is the share of the user's ratings that are the
# only ones of their items (Good and Turing). One in 50 ratings that are asked for being of a new item, such a rating
# counts 50 times more than another one. Chosen on inner splits of MovieLens-100K and FilmTrust: the RMSE of held-out
# items is at most .012 above that without this weight; docs/bayesian-lbg.md has the figures of both kinds of items.
ONLY_RATING = 50.0
# Ratings of one user that are averaged over, evenly spaced if there are more: what this adds to the squared error is
# below a thousandth of it, and popular items have thousands of ratings.
MOST_RATINGS = 500
# About the number of ratings that are predicted together, which bounds the memory.
_AT_ONCE = 1 << 16

Predict = Callable[[Ints, Ints], Floats]


def level_shares(matrix: RatingMatrix) -> Floats:
    """The share of each level among all ratings, (levels,), half a rating added to each so that none is 0."""
    amount = np.bincount(matrix.scale.nearest(matrix.values), minlength=len(matrix.scale.levels)) + 0.5
    return np.asarray(amount / amount.sum())


class UnknownPartner:
    """The distributions of ratings between known users and an unknown item, or the sides exchanged.

    P(r | u, unknown) = (sum_i w_i P(r | u, i) + 2 P(r)) / (sum_i w_i + 2)

    The sum is over the items i that user u rated, P(r | u, i) is the model's distribution and P(r) the share of the
    level among all ratings; w_i is 1, or 51 if u's rating of item i is the only one. If u has more than
    `MOST_RATINGS`, the sum is over so many of them. Distributions are computed when they are first asked for and
    cached.

    Parameters
    ----------
    known : Side
        The side that is known.
    matrix : RatingMatrix
        The ratings of the known users or items.
    training : RatingMatrix
        The ratings that the model was fitted to, which may be those of other users.
    """

    def __init__(self, known: Side, matrix: RatingMatrix, training: RatingMatrix) -> None:
        self._known, self._matrix, self._training = known, matrix, training

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._known, self._matrix, self._training)

    @property
    def _rows(self) -> SparseRows:
        return self._matrix.rows if self._known is Side.USERS else self._matrix.rows.transposed

    @cached_property
    def _amount(self) -> Ints:
        """The number of ratings of each partner."""
        rows = self._training.rows
        return rows.column_counts() if self._known is Side.USERS else rows.lengths

    @cached_property
    def _shares(self) -> Floats:
        return level_shares(self._training)

    @cached_property
    def _cached(self) -> Floats:
        return np.full((len(self._rows), len(self._shares)), np.nan)

    def mean_of_partners(self, codes: Ints, values: Floats) -> Floats:
        """The mean of some ``values`` (partners, E) over the sum above, (n, E), and over all ratings for -1."""
        own = _thinned(self._rows.take(np.maximum(codes, 0)))
        row, columns = own.row_of_entry(), own.columns.astype(np.int64)
        weight = self._weight(columns)
        total = np.bincount(row, weight, minlength=len(codes)) + PSEUDO_RATINGS
        overall = self._amount @ values[: len(self._amount)] / max(self._amount.sum(), 1)
        sums = np.stack([np.bincount(row, weight * one[columns], minlength=len(codes)) for one in values.T], axis=1)
        means = (sums + PSEUDO_RATINGS * overall) / total[:, np.newaxis]
        means[codes < 0] = overall
        return np.asarray(means)

    def _weight(self, partners: Ints) -> Floats:
        return np.where(self._amount[partners] <= 1, 1.0 + ONLY_RATING, 1.0)

    def distribution_of(self, codes: Ints, predict: Predict) -> Floats:
        """The distribution of each known user's rating, (n, levels); -1 is a user who is unknown too.

        ``predict`` gives the model's distributions, (n, levels), of n pairs of a row and a column.
        """
        if not len(codes):  # the usual case: nothing is unknown
            return np.empty((0, len(self._training.scale.levels)))
        known = codes[codes >= 0]
        missing = np.unique(known[np.isnan(self._cached[known, 0])])
        amount = np.cumsum(np.minimum(self._rows.lengths[missing], MOST_RATINGS))
        blocks = np.searchsorted(amount, np.arange(_AT_ONCE, amount.max(initial=0), _AT_ONCE))
        for block in np.split(missing, np.unique(blocks)):
            self._cached[block] = self._averages(block, predict)
        found = self._cached[codes]
        found[codes < 0] = self._shares
        return found

    def _averages(self, codes: Ints, predict: Predict) -> Array:
        own = _thinned(self._rows.take(codes))
        row, columns = own.row_of_entry(), own.columns.astype(np.int64)
        weight = self._weight(columns)
        every = weight[:, np.newaxis] * predict(codes[row], columns)
        total = PSEUDO_RATINGS + np.bincount(row, weight, minlength=len(codes))
        sums = [np.bincount(row, level, minlength=len(codes)) for level in every.T]
        return (np.stack(sums, axis=1) + PSEUDO_RATINGS * self._shares) / total[:, np.newaxis]


def _thinned(rows: SparseRows) -> SparseRows:
    """At most `MOST_RATINGS` entries of each row, evenly spaced."""
    row = rows.row_of_entry()
    amount = np.maximum(rows.lengths, MOST_RATINGS)[row]
    position = (np.arange(len(row)) - rows.indptr[row]) * MOST_RATINGS
    return rows.filtered(position // amount != (position - MOST_RATINGS) // amount)
