"""When ratings were given: times by pair of user and item, and the calendar of occasions that they make."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.occasions import Kind
from lbg_recsys.core.types import Ints
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.ids import IdIndex
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.tables import columns_of, is_table

DAY = 86_400
# Seconds from 1970 that are a time: about 3,000 years before and after. Milliseconds are not among them.
_FURTHEST = 10**11
# The time of a pair that has none: it stands for a day that the model does not know.
NO_TIME = -(2**62)


class _Length(NamedTuple):
    side: Side
    seconds: int
    drifts: bool


# In the order of `core.gibbs.predict_pairs`: a user's day, a user's moment, an item's month.
LENGTHS = (_Length(Side.USERS, DAY, False), _Length(Side.USERS, 1, False), _Length(Side.ITEMS, 30 * DAY, True))


def as_seconds(times: Any) -> Ints:
    """Times as whole seconds since 1970: numbers as they are, dates and texts of dates as UTC.

    >>> as_seconds(["1970-01-02", "1970-01-01T00:00:07"]).tolist()
    [86400, 7]

    Raises
    ------
    DataError
        If one of them is not a time.
    """
    try:
        given = np.asarray(times)
    except ValueError as error:  # lists of different lengths
        raise DataError(f"times cannot be read: {error}; give one time per rating") from error
    if given.ndim != 1:
        raise DataError(f"times have {given.ndim} dimensions: give one time per rating")
    if given.dtype.kind in "OUST":
        given = _from_dates(times)
    elif given.dtype.kind == "M":
        given = np.where(np.isnat(given), np.nan, given.astype("datetime64[s]").astype(np.float64))
    if given.dtype.kind not in "iuf":
        raise DataError(f"times are of the type {given.dtype}: give seconds since 1970 or dates")
    bad = np.flatnonzero(~(np.abs(given.astype(np.float64)) <= _FURTHEST))
    if len(bad):
        more = f" (and {len(bad) - 1:,} more are not times)" if len(bad) > 1 else ""
        raise DataError(
            f"the time in row {bad[0]} is {given[bad[0]]}{more}: give seconds since 1970, or dates; "
            "milliseconds must be divided by 1000"
        )
    return np.asarray(np.floor(given), dtype=np.int64)


def _from_dates(times: Any) -> npt.NDArray[Any]:
    import pandas as pd

    try:
        dates = pd.to_datetime(pd.Series(list(times)), utc=True, format="ISO8601")
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(
            f"a time cannot be read: {error}; give seconds since 1970 or dates such as 2015-03-02"
        ) from error
    return np.where(dates.isna(), np.nan, dates.dt.tz_localize(None).to_numpy().astype("datetime64[s]").astype(float))


@dataclass(frozen=True, eq=False)
class PairTimes:
    """When each pair of codes was rated; the last of several times counts."""

    key: Ints  # (pairs,) ascending: user * items + item
    seconds: Ints
    n_items: int

    @classmethod
    def of(cls, given: Any, users: IdIndex, items: IdIndex) -> "PairTimes":
        """From a table with user, item and time, or three columns; pairs of other users or items are left out."""
        raw = columns_of(given, ["user", "item", "timestamp"], "times") if is_table(given) else given
        user, item, seconds = users.codes(raw[0]), items.codes(raw[1]), as_seconds(raw[2])
        if not len(user) == len(item) == len(seconds):
            raise DataError(f"{len(user):,} ratings have {len(seconds):,} times: give one time per rating")
        known = (user >= 0) & (item >= 0)
        key = user[known].astype(np.int64) * len(items) + item[known]
        order = np.argsort(key, kind="stable")
        last = np.append(np.diff(key[order]) > 0, True)[: len(order)]
        return cls(key[order][last], seconds[known][order][last], len(items))

    def at(self, users: Ints, items: Ints) -> Ints:
        """The time of each pair of codes, `NO_TIME` where there is none."""
        if not len(self.key):
            return np.full(len(users), NO_TIME)
        key = users.astype(np.int64) * self.n_items + items
        place = np.searchsorted(self.key, key).clip(max=len(self.key) - 1)
        return np.where((self.key[place] == key) & (users >= 0) & (items >= 0), self.seconds[place], NO_TIME)


def times_of_ratings(time: Any, ratings: Any, matrix: RatingMatrix) -> Ints | None:
    """When every entry of a matrix was rated, (ratings,), from the argument ``time`` of a fit; None without it.

    Raises
    ------
    DataError
        If a time cannot be read, or a rating has no time.
    """
    if time is None or time is False:
        return None
    if time is True or isinstance(time, str):
        if not is_table(ratings):
            raise DataError("time names a column, and the ratings are no table: give the times of the ratings")
        given = {} if time is True else {"timestamp": time}
        source: Any = columns_of(ratings, ["user", "item", "timestamp"], "ratings with times", given)
    elif is_table(time):
        source = time
    else:
        source = (*_pairs_of(ratings, matrix), time)
    seconds = PairTimes.of(source, matrix.users, matrix.items).at(
        matrix.user_codes.astype(np.int64), matrix.item_codes.astype(np.int64)
    )
    if (seconds == NO_TIME).any():
        entry = int(np.flatnonzero(seconds == NO_TIME)[0])
        raise DataError(f"the rating {matrix.name_of_entry(entry)} has no time: give the time of every rating")
    return seconds


def _pairs_of(ratings: Any, matrix: RatingMatrix) -> Sequence[Any]:
    """Users and items of ratings in the order in which they were given."""
    if is_table(ratings):
        return columns_of(ratings, ["user", "item", "rating"], "ratings")[:2]
    if isinstance(ratings, tuple):
        return ratings[:2]
    return matrix.users.raws(matrix.user_codes), matrix.items.raws(matrix.item_codes)


@dataclass(frozen=True, eq=False)
class Calendar:
    """The occasions of the ratings: of each kind, one after another, by owner (a code) and period."""

    owner: npt.NDArray[np.int32]
    period: Ints
    sizes: tuple[int, ...]  # the number of occasions of each kind

    @classmethod
    def of(cls, users: Ints, items: Ints, seconds: Ints) -> "Calendar":
        """The calendar of some ratings."""
        owners, periods = [], []
        for length in LENGTHS:
            own = users if length.side is Side.USERS else items
            pairs = np.unique(np.stack([own.astype(np.int64), seconds // length.seconds]), axis=1)
            owners.append(pairs[0].astype(np.int32))
            periods.append(pairs[1])
        return cls(np.concatenate(owners), np.concatenate(periods), tuple(map(len, owners)))

    def codes(self, users: Ints, items: Ints, seconds: Ints) -> Ints:
        """The occasions of some pairs, (n, kinds), -1 where they are unknown.

        Of the drift of an item it is the last month up to the time, or the item's first one.
        """
        found = np.full((len(users), len(self.sizes)), -1, np.int64)
        timed, first = seconds != NO_TIME, 0
        for g, (length, size) in enumerate(zip(LENGTHS, self.sizes, strict=True)):
            owner = self.owner[first : first + size].astype(np.int64)
            period = self.period[first : first + size]
            own = users if length.side is Side.USERS else items
            width = int(period.max() - period.min()) + 3
            asked = np.clip(seconds // length.seconds, period.min() - 1, period.max() + 1) - period.min() + 1
            keys, key = owner * width + period - period.min() + 1, own * width + asked
            place = np.searchsorted(keys, key, side="right") - 1
            if length.drifts:  # before the first month of the item: that one
                place = np.where((place < 0) | (owner[np.maximum(place, 0)] != own), place + 1, place)
                hit = (place < size) & (owner[np.minimum(place, size - 1)] == own)
            else:
                hit = (place >= 0) & (keys[np.maximum(place, 0)] == key)
            found[:, g] = np.where(hit & timed & (own >= 0), place + first, -1)
            first += size
        return found

    def kinds(self, codes: Ints) -> list[Kind]:
        """The kinds of occasions as a chain takes them, ``codes`` (entries, kinds) being those of its entries."""
        found, first = [], 0
        for g, (length, size) in enumerate(zip(LENGTHS, self.sizes, strict=True)):
            owner = self.owner[first : first + size]
            chained = np.append(False, owner[1:] == owner[:-1]) & length.drifts
            code = np.ascontiguousarray((codes[:, g] - first).astype(np.int32))
            found.append(Kind(code, chained, length.drifts))
            first += size
        return found
