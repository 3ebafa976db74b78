"""Ratings of unknown items by known users, and of known items by unknown users.

An item is unknown because it is new, or because it is rated so seldom that the data missed it. A new item is one more
of the items that the user rates: its amount of ratings is integrated over by going through those. A missed item has
the amount of the least rated ones. The user tells which of the two is likely: users who rate obscure items also meet
items that the data missed. Unknown users are the same with the sides exchanged.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from lbg_recsys.core.caches import WithoutCaches
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.missing import MissedShare, missed_share
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array, Codes, Floats, Ints
from lbg_recsys.ratings.ids import UNKNOWN
from lbg_recsys.ratings.matrix import RatingMatrix

# Ratings of the data set as a whole that are added to those of each user (chosen on held-out items and users).
PSEUDO_RATINGS = 2.0
# The share of ratings that are of new items, to which the share of missed items is compared. Chosen on inner splits
# of MovieLens-100K, FilmTrust and a sample of MovieLens-1M, random and by item: with half of it, held-out items are
# predicted worse by up to .01 of RMSE, and with twice of it, missed items are.
NEW_SHARE = 0.01
# Ratings of one user that are averaged over, evenly spaced if there are more: what this adds to the squared error is
# below a thousandth of it, and popular items have thousands of ratings.
MOST_RATINGS = 500
# About the number of ratings that are predicted together, which bounds the memory.
_AT_ONCE = 1 << 16

Predict = Callable[[Ints, Ints], Floats]


def level_shares(matrix: RatingMatrix) -> Floats:
    """The share of each level among all ratings, (levels,), half a rating added to each so that none is 0."""
    amount = matrix.crowd.per_level + 0.5
    return np.asarray(amount / amount.sum())


class UnknownPartner(WithoutCaches):
    """The distributions of ratings between known users and an unknown item, or the sides exchanged.

    P(r | u, unknown) = (1 - w_u) (sum_i P(r | u, i) + 2 P(r)) / (n_u + 2) + w_u P(r | u, least rated)

    The sum is over the n_u items i that user u rated, P(r | u, i) is the model's distribution and P(r) the share of
    the level among all ratings. w_u = s_u / (s_u + `NEW_SHARE`) is the probability that the item is not new but was
    missed, s_u that of a next rating of u to be of a missed item (`core.missing`). If u has more than `MOST_RATINGS`,
    the sum is over `MOST_RATINGS` of them. Distributions are computed when they are first asked for and cached.

    Parameters
    ----------
    known : Side
        The side that is known.
    matrix : RatingMatrix
        The ratings of the known users or items.
    training : RatingMatrix
        The ratings that the model was fitted to, which may be those of other users.
    averages : array of shape (known, levels), default=None
        All distributions, where the ratings that they are averaged over are left out.
    missed : MissedShare, default=None
        How likely ratings of missed items are, where the ratings that tell it are left out.
    """

    def __init__(
        self,
        known: Side,
        matrix: RatingMatrix,
        training: RatingMatrix,
        averages: Floats | None = None,
        missed: MissedShare | None = None,
    ) -> None:
        self._known, self._matrix, self._training = known, matrix, training
        self._averages_given, self._missed_given = averages, missed

    @property
    def _rows(self) -> SparseRows:
        return self._matrix.rows if self._known is Side.USERS else self._matrix.rows.transposed

    @cached_property
    def _amount(self) -> Ints:
        """The number of ratings of each partner."""
        return self._training.crowd.per_item if self._known is Side.USERS else self._training.rows.lengths

    @cached_property
    def _shares(self) -> Floats:
        return level_shares(self._training)

    @cached_property
    def _cached(self) -> Floats:
        if self._averages_given is not None:
            return self._averages_given
        return np.full((len(self._rows), len(self._shares)), np.nan)

    @cached_property
    def missed(self) -> MissedShare:
        """How likely the next rating of a known user is of an item that the data missed."""
        if self._missed_given is not None:
            return self._missed_given
        rows = self._training.rows if self._known is Side.USERS else self._training.rows.transposed
        of_entry, row = self._amount[rows.columns], rows.row_of_entry()
        only = np.bincount(row[of_entry == 1], minlength=len(rows)).astype(np.float64)
        return missed_share(only, rows.lengths.astype(np.float64), _means(row, np.log(of_entry), rows.lengths))

    def _weight_of_missed(self, codes: Ints) -> Floats:
        """w_u of some known users."""
        own = self._rows.take(codes)
        # an item that only a new user has rated was rated once
        logarithm = np.log(np.maximum(self._amount[own.columns], 1))
        x = _means(own.row_of_entry(), logarithm, own.lengths)
        share = self.missed.of(np.where(own.lengths > 0, x, self.missed.centre))
        return np.asarray(share / (share + NEW_SHARE))

    def mean_of_partners(self, codes: Ints, values: Floats) -> Floats:
        """The expected ``values`` (partners, E) of the unknown one for each known user, (n, E).

        Values are centred, and those of a missed item are 0. For -1, a user that is unknown too, they are the mean
        over all ratings.
        """
        own = _thinned(self._rows.take(np.maximum(codes, 0)))
        row, columns = own.row_of_entry(), own.columns
        overall = self._amount @ values[: len(self._amount)] / max(self._amount.sum(), 1)
        sums = np.stack([np.bincount(row, one[columns], minlength=len(codes)) for one in values.T], axis=1)
        means = (sums + PSEUDO_RATINGS * overall) / (own.lengths + PSEUDO_RATINGS)[:, np.newaxis]
        means *= 1.0 - self._weight_of_missed(np.maximum(codes, 0))[:, np.newaxis]
        means[codes < 0] = overall
        return np.asarray(means)

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
        found = np.tile(self._shares, (len(codes), 1))
        found[codes >= 0] = self._cached[known]
        return found

    def _averages(self, codes: Ints, predict: Predict) -> Array:
        own = _thinned(self._rows.take(codes))
        row, columns = own.row_of_entry(), own.columns.astype(np.int64)
        every = predict(codes[row], columns)
        sums = np.stack([np.bincount(row, level, minlength=len(codes)) for level in every.T], axis=1)
        new = (sums + PSEUDO_RATINGS * self._shares) / (own.lengths + PSEUDO_RATINGS)[:, np.newaxis]
        missed = self._weight_of_missed(codes)[:, np.newaxis]
        return np.asarray((1.0 - missed) * new + missed * predict(codes, np.full(len(codes), UNKNOWN)))


def _means(row: Codes, values: Floats, lengths: Ints) -> Floats:
    """The mean of the values of each row; 0 of a row without values."""
    return np.asarray(np.bincount(row, values, minlength=len(lengths)) / np.maximum(lengths, 1))


def _thinned(rows: SparseRows) -> SparseRows:
    """At most `MOST_RATINGS` entries of each row, evenly spaced."""
    row = rows.row_of_entry()
    amount = np.maximum(rows.lengths, MOST_RATINGS)[row]
    position = (np.arange(len(row)) - rows.indptr[row]) * MOST_RATINGS
    return rows.filtered(position // amount != (position - MOST_RATINGS) // amount)
