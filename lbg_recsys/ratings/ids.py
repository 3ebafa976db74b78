"""Raw ids on the outside, codes 0..n-1 on the inside."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.errors import DataError
from lbg_recsys.words import class_of

RawId = Any  # anything hashable; model files keep strings and integers

UNKNOWN = -1
# How arrays and columns turn into lists: numpy and pandas, polars, Arrow.
_AS_LISTS = ("tolist", "to_list", "to_pylist")


class IdIndex:
    """A bijection between raw ids and codes, in order of first appearance.

    >>> index = IdIndex(["ann", "bob"])
    >>> index.codes(["bob", "eve"]).tolist()
    [1, -1]
    >>> index.raw(0)
    'ann'
    """

    def __init__(self, raw_ids: Iterable[RawId] = ()) -> None:
        self._raw: list[RawId] = list(plain_ids(raw_ids))
        try:
            self._code = dict(zip(self._raw, range(len(self._raw)), strict=True))
        except TypeError as error:
            raise DataError(_unhashable(self._raw)) from error
        if len(self._code) != len(self._raw):
            raise DataError("an id occurs twice in the list of ids (1, 1.0 and True count as the same id)")
        self._table = _lookup_table(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __iter__(self) -> Iterator[RawId]:
        return iter(self._raw)

    def __contains__(self, raw_id: RawId) -> bool:
        return self.code(raw_id) != UNKNOWN

    def code(self, raw_id: RawId) -> int:
        """The code of one id, or -1 where it is unknown."""
        return int(self.codes([raw_id])[0])

    def codes(self, raw_ids: Iterable[RawId]) -> npt.NDArray[np.int64]:
        """The codes of many ids, -1 where unknown."""
        if hasattr(getattr(raw_ids, "dtype", None), "categories"):  # a pandas categorical: look each id up once
            column: Any = raw_ids
            column = getattr(column, "array", column)
            return np.asarray(np.append(self.codes(column.categories), UNKNOWN)[column.codes])
        if self._table is not None and getattr(getattr(raw_ids, "dtype", None), "kind", "O") in "iu":
            first, table = self._table
            numbers = np.asarray(raw_ids)
            offset = numbers.astype(np.int64) - first
            inside = (offset >= 0) & (offset < len(table))
            if numbers.dtype == np.uint64:  # offsets that overflow int64 are those of negative numbers
                inside &= numbers <= np.iinfo(np.int64).max
            return np.where(inside, table[np.where(inside, offset, 0)], UNKNOWN)
        # NumPy's scalars hash and compare like Python values, so they are found as they are
        wanted = raw_ids if isinstance(raw_ids, (list, tuple)) else plain_ids(raw_ids)
        try:
            return np.fromiter(map(self._code.get, wanted, repeat(UNKNOWN)), np.int64, count=len(wanted))
        except TypeError as error:
            raise DataError(_unhashable(wanted)) from error

    def raw(self, code: int) -> RawId:
        """The raw id behind a code."""
        return self._raw[code]

    def raws(self, codes: Iterable[int]) -> list[RawId]:
        """The raw ids behind many codes."""
        return [self._raw[code] for code in codes]

    def extended(self, raw_ids: Iterable[RawId]) -> "IdIndex":
        """The same index with unknown ids appended; known ids keep their codes."""
        new = [raw_id for raw_id in each_once(plain_ids(raw_ids)) if raw_id not in self._code]
        return IdIndex([*self._raw, *new]) if new else self


def _lookup_table(raw_ids: list[RawId]) -> tuple[int, npt.NDArray[np.int64]] | None:
    """Integers that lie close together are looked up in arrays, without touching a Python object per id."""
    if not raw_ids or set(map(type, raw_ids)) != {int}:
        return None
    first, last = min(raw_ids), max(raw_ids)
    if last - first > 16 * len(raw_ids) + 1000 or abs(first) > 2**62:
        return None
    table = np.full(last - first + 1, UNKNOWN, dtype=np.int64)
    table[np.array(raw_ids) - first] = np.arange(len(raw_ids))
    return first, table


def plain_ids(raw_ids: Iterable[RawId]) -> Sequence[RawId]:
    """Python values: numpy's scalars would neither compare nor save like the ids people write."""
    for name in _AS_LISTS:
        if hasattr(raw_ids, name):
            found = getattr(raw_ids, name)()
            if not isinstance(found, list):  # an array without dimensions
                raise DataError(f"{found!r} is one id where many are needed: give a list of ids")
            return found
    ids = raw_ids if isinstance(raw_ids, (list, tuple)) else list(raw_ids)
    if any(issubclass(kind, np.generic) for kind in set(map(type, ids))):
        ids = [raw_id.item() if isinstance(raw_id, np.generic) else raw_id for raw_id in ids]
    return ids


def each_once(raw_ids: Iterable[RawId]) -> list[RawId]:
    """Ids in the order of their first appearance; `DataError` names one that cannot be an id."""
    ids = list(raw_ids)
    try:
        return list(dict.fromkeys(ids))
    except TypeError as error:
        raise DataError(_unhashable(ids)) from error


def is_many(ids: Any) -> bool:
    """Whether this is many ids: a list, a range, a generator, an array, a Series. All else is one, a tuple too.

    >>> is_many([1, 2]), is_many(np.array([1, 2])), is_many((1, 2)), is_many(np.int64(1)), is_many("12")
    (True, True, False, False, False)
    """
    if isinstance(ids, list | range | Iterator):
        return True
    return any(hasattr(ids, name) for name in _AS_LISTS) and getattr(ids, "ndim", 1) > 0


def as_column(values: Any) -> Any:
    """An array, a pandas Series or a sequence as it is; columns of polars and Arrow, and generators, as lists."""
    if hasattr(values, "to_pylist"):
        return values.to_pylist()
    if hasattr(values, "to_list") and not hasattr(values, "tolist"):
        return values.to_list()
    if not isinstance(values, Iterable) or getattr(values, "shape", None) == ():
        raise DataError(f"a column of ratings is {class_of(values)}, {values!r:.60}: give a list or an array")
    return values if hasattr(values, "__len__") else list(values)


def factorize(raw_ids: Any, what: str) -> tuple[IdIndex, npt.NDArray[np.int32]]:
    """Ids in order of appearance and the code of each entry, without a Python loop over the entries."""
    import pandas as pd

    column = raw_ids if hasattr(raw_ids, "dtype") else pd.Series(list(raw_ids), dtype=object)
    try:
        codes, uniques = _encoded(column) if isinstance(column.dtype, pd.CategoricalDtype) else pd.factorize(column)
    except TypeError as error:
        raise DataError(_unhashable(list(column), what)) from error
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
        raise DataError(
            f"{what} is missing in row {missing[0]}{more}: fill in or drop {'these rows' if more else 'this row'}"
        )
    return IdIndex(uniques), codes.astype(np.int32, copy=False)


def _encoded(column: Any) -> tuple[npt.NDArray[Any], Any]:
    """The codes and ids of a categorical; nothing is encoded again if its ids are in order of appearance."""
    import pandas as pd

    column = getattr(column, "array", column)
    # in order of appearance the largest code so far starts at 0, grows by one at each new id and reaches the last
    newest = np.maximum.accumulate(column.codes.astype(np.int32, copy=False))
    if len(newest) and newest[-1] + 1 == len(column.categories) and np.diff(newest, prepend=-1).max() <= 1:
        return column.codes, column.categories
    codes, used = pd.factorize(column.codes)
    return np.where(column.codes < 0, UNKNOWN, codes), column.categories[used]


def _unhashable(raw_ids: Sequence[RawId], what: str = "an id") -> str:
    for raw_id in raw_ids:
        try:
            hash(raw_id)
        except TypeError:
            shown = f"{type(raw_id).__name__} {raw_id!r}"
            return f"{what} is the unhashable {shown}: use strings or integers as ids, and a list for many of them"
    return f"{what} cannot be used as an id: use strings or integers"
