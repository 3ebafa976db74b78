"""Ratings as arrays: ids encoded, duplicates removed, the scale known, entries sorted by user and item.

From the file to the sampler a rating changes its form four times:

1. `lbg_recsys.readers` makes a frame with categorical ids, each stored once; `from_frame` takes their codes.
2. `RatingMatrix.from_codes` sorts the entries into `SparseRows`, so that whether an item is rated is a bisection.
3. ``rows.transposed`` has the entries by item; a counting sort makes it when it is first needed.
4. `lbg_recsys.ratings.bayesian.training.entries_of` standardises the values for the priors of the chains.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from lbg_recsys.core.blocks import LocalBlocks, block_size
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Bools, Codes, Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.crowd import Crowd, KeptChoices
from lbg_recsys.ratings.ids import IdIndex, RawId, as_column, each_once, factorize, plain_ids
from lbg_recsys.ratings.scale import RatingScale
from lbg_recsys.ratings.source import Bounds, is_source
from lbg_recsys.ratings.tables import columns_of, is_series, is_table
from lbg_recsys.words import class_of, left_out, shown

# The id of a user that is folded in.
NEW_USER = "new user"


@dataclass(frozen=True)
class RatingMatrix:
    """A sparse users x items matrix, made by `from_frame`, `from_arrays` or `as_matrix`. A stored 0 is a rating.

    Attributes
    ----------
    users, items : IdIndex
        The ids by their codes.
    scale : RatingScale
        The rating scale.
    rows : SparseRows
        The ratings, users as rows and items as columns, ascending; ``rows.transposed`` has them by item.
    n_duplicates : int
        How many ratings a later one of the same user and item replaced.

    Examples
    --------
    >>> RatingMatrix.from_arrays(["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4])
    <RatingMatrix: 3 ratings of 2 items by 2 users>
    """

    users: IdIndex
    items: IdIndex
    scale: RatingScale
    rows: SparseRows
    n_duplicates: int = 0
    left_out: Crowd | None = None  # of a model that was saved without its users: sums over them

    def __repr__(self) -> str:
        return f"<RatingMatrix: {self.size_in_words}>"

    @property
    def size_in_words(self) -> str:
        """How many ratings of how many items by how many users, for people."""
        of = self if self.left_out is None else self.left_out
        sizes = {"rating": of.n_ratings, "item": self.n_items, "user": of.n_users}
        ratings, items, users = (f"{size:,} {noun}{'s' * (size != 1)}" for noun, size in sizes.items())
        return f"{ratings} of {items} by {users}{'' if of is self else ', not held'}"

    @cached_property
    def crowd(self) -> Crowd:
        """The users together: sums over them, which stay where the users are left out."""
        return Crowd.of(self) if self.left_out is None else self.left_out

    def without_users(self, choices: KeptChoices) -> "RatingMatrix":
        """The same items and scale without any user or rating; `crowd` stays, with what choice scores need.

        Parameters
        ----------
        choices : KeptChoices
            What choice scores need of the users.

        Returns
        -------
        RatingMatrix
            A matrix without users; this one does not change.

        Examples
        --------
        >>> from lbg_recsys.ratings.choice_scores import Choices
        >>> matrix = RatingMatrix.from_arrays(["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4])
        >>> matrix.without_users(Choices.of(matrix).kept())
        <RatingMatrix: 3 ratings of 2 items by 2 users, not held>
        """
        return RatingMatrix.of_crowd(self.items, self.scale, replace(self.crowd, choices=choices), self.n_duplicates)

    @classmethod
    def of_crowd(cls, items: IdIndex, scale: RatingScale, crowd: Crowd, n_duplicates: int) -> "RatingMatrix":
        """A matrix of which the users are left out."""
        return cls(IdIndex(), items, scale, SparseRows.from_csr([0], [], [], len(items)), n_duplicates, crowd)

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.items)

    @property
    def n_ratings(self) -> int:
        """How many ratings there are, duplicates counted once."""
        return len(self.values)

    @property
    def extremes(self) -> Bounds:
        """The lowest and the highest rating that was given."""
        return float(self.values.min()), float(self.values.max())

    def blocks(self, n_jobs: int = 1) -> LocalBlocks:
        """The users as rows, in blocks."""
        # duplicates count, as on disk, where blocks are cut before duplicates are found
        return LocalBlocks.of(self.rows, n_jobs, block_size(self.n_ratings + self.n_duplicates))

    def whole(self) -> "RatingMatrix":
        """All ratings in one matrix: this one."""
        return self

    @property
    def values(self) -> Floats:
        """The rating of every entry."""
        return self.rows.values

    @property
    def item_codes(self) -> Codes:
        """The item of every entry."""
        return self.rows.columns

    @property
    def user_codes(self) -> Codes:
        """The user of every entry, computed from the rows."""
        return self.rows.row_of_entry()

    @property
    def is_constant(self) -> bool:
        """Whether all ratings are equal: they then say who took what, and nothing about taste."""
        return bool(self.values.min() == self.values.max())

    def name_of_entry(self, entry: int) -> str:
        """Whose rating of what an entry is, for messages."""
        return whose_rating(self.users, self.items, self.user_codes[entry], self.item_codes[entry])

    def seen(self, user: int) -> Codes:
        """The items that a user has rated, ascending."""
        return self.rows.part(user, user + 1).columns

    def is_rated(self, users: Ints, items: Ints) -> Bools:
        """Whether each (user, item) pair of codes is in the matrix; unknown codes (-1) are not."""
        return self.rows.contains(users, items)

    def subset(self, users: Ints) -> "RatingMatrix":
        """Some users and their ratings, over the same items.

        Parameters
        ----------
        users : int array
            Codes of the users: their places in ``users``.

        Returns
        -------
        RatingMatrix
            The ratings of these users.

        Examples
        --------
        >>> RatingMatrix.from_arrays(["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]).subset(np.array([1]))
        <RatingMatrix: 1 rating of 2 items by 1 user>
        """
        return RatingMatrix(IdIndex(self.users.raws(users)), self.items, self.scale, self.rows.take(users))

    def padded(self, larger: "RatingMatrix") -> "RatingMatrix":
        """The same entries among the items of a larger matrix that begins with these items."""
        return replace(self, items=larger.items, rows=replace(self.rows, n_columns=larger.n_items))

    def merged(self, other: "RatingMatrix") -> tuple["RatingMatrix", Ints]:
        """Both matrices in one. Where both rate a pair, the rating of ``other`` counts.

        Parameters
        ----------
        other : RatingMatrix
            More ratings, on the scale of this matrix.

        Returns
        -------
        both : RatingMatrix
            All ratings. The users and items of this matrix keep their codes.
        users : int array
            The codes of the users of ``other`` in it, ascending.

        Raises
        ------
        OffScaleError
            If a rating of ``other`` is off the scale.

        Examples
        --------
        >>> matrix = RatingMatrix.from_arrays(["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4])
        >>> both, users = matrix.merged(RatingMatrix.from_arrays(["bob", "cid"], ["x", "x"], [2, 3]))
        >>> both, users.tolist()
        (<RatingMatrix: 4 ratings of 2 items by 3 users>, [1, 2])
        """
        users, items = self.users.extended(other.users), self.items.extended(other.items)
        other_users = users.codes(other.users)
        other_items = items.codes(other.items)
        user_codes = np.concatenate([self.user_codes, other_users[other.user_codes]]).astype(np.int32)
        item_codes = np.concatenate([self.item_codes, other_items[other.item_codes]]).astype(np.int32)
        values = np.concatenate([self.values, other.values])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # new ratings are meant to replace old ones
            both = RatingMatrix.from_codes(users, items, user_codes, item_codes, values, scale=self.scale)
        return both, np.sort(other_users)

    @classmethod
    def from_arrays(
        cls,
        users: Any,
        items: Any,
        ratings: Any,
        *,
        scale: Bounds | None = None,
        levels: npt.ArrayLike | None = None,
    ) -> "RatingMatrix":
        """Ratings from three arrays or lists of equal length, one rating per position.

        Parameters
        ----------
        users, items : array-like of ids
            Who rated what.
        ratings : array-like of float
            The ratings.
        scale, levels : array-like, default=None
            Lowest and highest rating, and all levels of the scale; see `RatingModel.fit`.

        Returns
        -------
        RatingMatrix
            The ratings. Of a pair that occurs twice the last rating counts, with a warning.

        Raises
        ------
        DataError
            If the lengths differ, there are no ratings, an id is missing, or a rating is not a finite number.

        Examples
        --------
        >>> RatingMatrix.from_arrays(["ann", "ann", "bob"], [7, 8, 7], [5, 3, 4]).n_items
        2
        """
        users, items, ratings = map(as_column, (users, items, ratings))
        values = as_ratings(ratings)
        if not len(users) == len(items) == len(values):
            raise DataError(f"{len(users)} users, {len(items)} items and {len(values)} ratings: lengths must agree")
        if not len(values):
            raise DataError("there are no ratings: at least one is needed")
        user_index, user_codes = factorize(users, "the user id")
        item_index, item_codes = factorize(items, "the item id")
        return cls.from_codes(user_index, item_index, user_codes, item_codes, values, scale=scale, levels=levels)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        user: str | None = None,
        item: str | None = None,
        rating: str | None = None,
        scale: Bounds | None = None,
        levels: npt.ArrayLike | None = None,
    ) -> "RatingMatrix":
        """Ratings from a pandas or polars DataFrame or an Arrow table, one row per rating.

        Parameters
        ----------
        frame : DataFrame or Table
            Its columns are found by name: ``user``, ``userId``, ``item``, ``movieId``, ``rating``, ``stars``, ... as
            in files. If none has a known name and there are exactly three, they are user, item and rating.
        user, item, rating : str, default=None
            The names of columns, where they are others.
        scale, levels : array-like, default=None
            Lowest and highest rating, and all levels of the scale; see `RatingModel.fit`.

        Returns
        -------
        RatingMatrix
            The ratings. Of a pair that occurs twice the last rating counts, with a warning.

        Raises
        ------
        DataError
            If a column is not found or the ratings cannot be used.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"timestamp": [9, 8], "movieId": [7, 7], "userId": [1, 2], "rating": [5, 3]})
        >>> list(RatingMatrix.from_frame(frame).users)
        [1, 2]
        """
        if not is_table(frame):
            raise DataError(
                f"ratings cannot be read from {class_of(frame)}: give a DataFrame with user, item and rating, or use "
                "RatingMatrix.from_arrays or as_matrix"
            )
        given = {"user": user, "item": item, "rating": rating}
        given = {role: name for role, name in given.items() if name is not None}
        users, items, ratings = columns_of(frame, ["user", "item", "rating"], "ratings", given)
        return cls.from_arrays(users, items, ratings, scale=scale, levels=levels)

    @classmethod
    def from_codes(
        cls,
        users: IdIndex,
        items: IdIndex,
        user_codes: Codes,
        item_codes: Codes,
        values: Floats,
        *,
        scale: Bounds | RatingScale | None = None,
        levels: npt.ArrayLike | None = None,
    ) -> "RatingMatrix":
        """Coded entries in any order; of a pair that occurs twice the last entry counts, with a warning."""
        known = scale if isinstance(scale, RatingScale) else RatingScale.find(values, scale, levels)
        known.refuse_outsiders(values, lambda row: whose_rating(users, items, user_codes[row], item_codes[row]))
        rows = SparseRows.from_entries(user_codes, item_codes, values, len(users), len(items))
        n_duplicates = len(values) - len(rows.values)
        if n_duplicates:
            warnings.warn(
                f"{n_duplicates} of {len(values)} ratings repeat a (user, item) pair; the last of each counts",
                UserWarning,
                stacklevel=3,
            )
        return cls(users, items, known, rows, n_duplicates)


def as_matrix(ratings: Any, *, scale: Bounds | None = None, levels: npt.ArrayLike | None = None) -> RatingMatrix:
    """Make a `RatingMatrix` from a table, a sparse matrix or three arrays; one is returned as it is.

    Parameters
    ----------
    ratings : RatingMatrix, DataFrame, tuple of three arrays or scipy.sparse matrix
        The rows of a scipy matrix are users, its columns are items, and what it stores, zeros too, are ratings.
    scale, levels : array-like, default=None
        Lowest and highest rating, and all levels of the scale; found in the data if None.

    Returns
    -------
    RatingMatrix
        The ratings by user and by item.

    Raises
    ------
    DataError
        If ``ratings`` is none of these, or the ratings cannot be used.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> as_matrix(csr_array([[5, 0], [3, 4]])).n_ratings
    3
    """
    if is_source(ratings):
        whole: RatingMatrix = ratings.whole()
        return whole
    if issparse(ratings):
        return RatingMatrix.from_arrays(*stored_entries(ratings), scale=scale, levels=levels)
    if is_table(ratings):
        return RatingMatrix.from_frame(ratings, scale=scale, levels=levels)
    if isinstance(ratings, tuple) and len(ratings) == 3:
        return RatingMatrix.from_arrays(*ratings, scale=scale, levels=levels)
    raise DataError(
        f"ratings cannot be read from {class_of(ratings)}: give a DataFrame with user, item and rating, "
        "a (users, items, ratings) tuple, a scipy.sparse matrix or a RatingMatrix "
        "(lbg_recsys.algorithms.convert.matrix_of(trainset) makes one of a Surprise trainset)"
    )


def one_user(ratings: Any, items: IdIndex, scale: RatingScale) -> RatingMatrix:
    """The matrix of one new user from ratings by item (mapping, Series, table); a warning names unknown items."""
    known, values = _ratings_of_one(ratings, items, scale, "user", "item")
    user = IdIndex([NEW_USER])
    return RatingMatrix.from_codes(user, items, np.zeros_like(known), known, values, scale=scale)


def items_alone(given: Any) -> list[RawId] | None:
    """The items of a new user who is known by a list of ids or by a table without ratings; None if there are ratings.

    >>> items_alone([7, 8]), items_alone({7: 5})
    ([7, 8], None)
    """
    if is_table(given):
        taken, ratings = columns_of(given, ["item"], "the items of a new user", optional=["rating"])
        return list(plain_ids(taken)) if ratings is None else None
    if isinstance(given, (Mapping, str, bytes)) or is_series(given) or not isinstance(given, Iterable):
        return None
    return list(plain_ids(given))


def one_chooser(taken: Sequence[RawId], items: IdIndex, scale: RatingScale) -> RatingMatrix:
    """The matrix of one new user who took known items: all have the highest rating, and so count as liked."""
    if any(isinstance(one, tuple) and one not in items for one in taken):
        raise DataError(f"the items of a new user are pairs such as {taken[0]!r}: give {{item: rating, ...}}")
    return one_user(dict.fromkeys(each_once(taken), scale.high), items, scale)


def one_item(ratings: Any, item: RawId, users: IdIndex, scale: RatingScale) -> RatingMatrix:
    """The matrix of one new item from ratings by user (mapping, Series, table); a warning names unknown users."""
    known, values = _ratings_of_one(ratings, users, scale, "item", "user")
    return RatingMatrix.from_codes(users, IdIndex([item]), known, np.zeros_like(known), values, scale=scale)


def _ratings_of_one(ratings: Any, index: IdIndex, scale: RatingScale, of: str, by: str) -> tuple[Codes, Floats]:
    """The known codes and the ratings of one new user by item, or of one new item by user."""
    if is_table(ratings):
        rated, given = columns_of(ratings, [by, "rating"], f"the ratings of a new {of}")
        ratings = ratings_by_id(plain_ids(rated), plain_ids(given), of, by)
    elif is_series(ratings):
        ratings = ratings_by_id(plain_ids(ratings.index), plain_ids(ratings), of, by)
    if not isinstance(ratings, Mapping):
        raise DataError(
            f"the ratings of a new {of} cannot be read from {class_of(ratings)}, {ratings!r:.60}: "
            f"give {{{by}: rating, ...}}, a Series of ratings by {by}, or a DataFrame with {by} and rating"
        )

    def whose(row: int) -> str:
        return f"{'for' if by == 'item' else 'of'} {by} {list(ratings)[row]!r}"

    codes = index.codes(ratings)
    values = as_ratings(list(ratings.values()), whose)
    scale.refuse_outsiders(values, whose)
    unknown = codes < 0
    if unknown.any():
        names = [raw_id for raw_id, is_unknown in zip(ratings, unknown, strict=True) if is_unknown]
        said = left_out(len(names), f"{len(ratings):,} {by}s of a new {of}", shown(names, 5), "unknown to the model")
        warnings.warn(said, UserWarning, stacklevel=5)
    return codes[~unknown].astype(np.int32), values[~unknown]


def ratings_by_id(
    ids: Sequence[RawId], ratings: Sequence[Any], of: str = "user", by: str = "item"
) -> dict[RawId, Any]:
    """The ratings of one new user by item, or of one new item by user, as a mapping; no id may occur twice."""
    twice = next((one for one, count in Counter(ids).items() if count > 1), None)
    if twice is not None:
        said = "is rated twice by the new user" if of == "user" else "has rated the new item twice"
        raise DataError(f"the {by} {twice!r} {said}: keep one of its ratings")
    return dict(zip(ids, ratings, strict=True))


def stored_entries(matrix: Any) -> tuple[Ints, Ints, Any]:
    """Rows, columns and values of everything that a scipy matrix stores."""
    entries = matrix.tocoo()
    return entries.row.astype(np.int64), entries.col.astype(np.int64), entries.data


def whose_rating(users: IdIndex, items: IdIndex, user: int, item: int) -> str:
    """Whose rating of what a pair of codes is, for messages."""
    return f"of user {users.raw(user)!r} for item {items.raw(item)!r}"


def as_ratings(ratings: Any, name_of_row: Callable[[int], str] = lambda row: f"in row {row}") -> Floats:
    """Ratings as finite float64 numbers; `DataError` names the first rating that is not one."""
    try:
        given = np.asarray(ratings)
        if given.dtype.kind in ("m", "M"):
            raise TypeError(f"they are dates or durations ({given.dtype})")
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"ratings must be numbers: {error}") from error
    if values.ndim != 1:
        raise DataError(f"ratings have {values.ndim} dimensions: give one number per (user, item) pair")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        more = f" (and {len(bad) - 1:,} more are not finite)" if len(bad) > 1 else ""
        raise DataError(
            f"the rating {name_of_row(int(bad[0]))} is {values[bad[0]]}{more}: drop it or give it a value"
        )
    return values
