"""Raw ids on the outside, codes 0..n-1 on the inside."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.errors import DataError

RawId = Any  # anything hashable; model files keep strings and integers

UNKNOWN = -1


class IdIndex:
    """A bijection between raw ids and codes, in order of first appearance.

    >>> index = IdIndex(["ann", "bob"])
    >>> index.codes(["bob", "eve"]).tolist()
    [1, -1]
    >>> index.raw(0)
    'ann'
    """

    def __init__(self, raw_ids: Iterable[RawId] = ()) -> None:
        self._raw: list[RawId] = plain_ids(raw_ids)
        try:
            self._code = dict(zip(self._raw, range(len(self._raw)), strict=True))
        except TypeError as error:
            raise DataError(_unhashable(self._raw)) from error
        if len(self._code) != len(self._raw):
            raise DataError("an id occurs twice in the list of ids (1, 1.0 and True count as the same id)")

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
        plain = plain_ids(raw_ids)
        try:
            return np.fromiter(map(self._code.get, plain, repeat(UNKNOWN)), np.int64, count=len(plain))
        except TypeError as error:
            raise DataError(_unhashable(plain)) from error

    def raw(self, code: int) -> RawId:
        """The raw id behind a code."""
        return self._raw[code]

    def raws(self, codes: Iterable[int]) -> list[RawId]:
        """The raw ids behind many codes."""
        return [self._raw[code] for code in codes]

    def extended(self, raw_ids: Iterable[RawId]) -> "IdIndex":
        """This index with ids it did not know appended; the codes it had stay."""
        new = [raw_id for raw_id in dict.fromkeys(plain_ids(raw_ids)) if raw_id not in self._code]
        return IdIndex([*self._raw, *new]) if new else self


def plain_ids(raw_ids: Iterable[RawId]) -> list[RawId]:
    """A list of Python values: numpy's scalars would neither compare nor save like the ids people write."""
    if hasattr(raw_ids, "tolist"):  # numpy arrays, pandas Series and Index
        return list(raw_ids.tolist())
    ids = list(raw_ids)
    if any(isinstance(raw_id, np.generic) for raw_id in ids):
        ids = [raw_id.item() if isinstance(raw_id, np.generic) else raw_id for raw_id in ids]
    return ids


def factorize(raw_ids: Any, what: str) -> tuple[IdIndex, npt.NDArray[np.int32]]:
    """Ids in order of appearance and the code of each entry, without a Python loop over the entries."""
    import pandas as pd

    column = raw_ids if hasattr(raw_ids, "dtype") else pd.Series(list(raw_ids), dtype=object)
    try:
        codes, uniques = pd.factorize(column)
    except TypeError as error:
        raise DataError(_unhashable(list(column), what)) from error
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise DataError(
            f"{what} is missing in row {missing[0]} (and {len(missing) - 1} more): fill in or drop these rows"
        )
    return IdIndex(uniques), codes.astype(np.int32)


def _unhashable(raw_ids: Sequence[RawId], what: str = "an id") -> str:
    for raw_id in raw_ids:
        try:
            hash(raw_id)
        except TypeError:
            return f"{what} is the unhashable {type(raw_id).__name__} {raw_id!r}: use strings or integers as ids"
    return f"{what} cannot be used as an id: use strings or integers"
