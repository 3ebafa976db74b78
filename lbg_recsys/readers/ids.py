"""Ids in little memory: each distinct id once, and a code per row. Nothing encodes them again after this."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lbg_recsys.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

# By column: numbers as a float64 array; ids and titles as `Ids` in a batch, as a `pandas.Categorical` in all.
Table = dict[str, Any]

# Plain decimal only: "007" and "+7" are names that happen to have digits, not the integer 7.
_INTEGER = re.compile(r"-?[1-9][0-9]{0,17}|0")


class NoRowsError(DataError):
    """A file without rows; other files of its folder may have some."""


class Coded(NamedTuple):
    """Ids as a dictionary and codes into it: how Parquet stores text."""

    dictionary: Sequence[str]
    codes: np.ndarray


# The ids of a batch: as they are written, coded, or as integers.
Ids = Sequence[str] | Coded | np.ndarray


class IdColumn:
    """Numbers the ids of a column batch by batch, in order of appearance.

    >>> users = IdColumn()
    >>> users.encode(["7", " 12", "7"]).tolist(), users.distinct().tolist()
    ([0, 1, 0], [7, 12])
    >>> users.encode(["bob"]).tolist(), users.distinct().tolist()
    ([2], ['7', '12', 'bob'])
    """

    def __init__(self, *, integers: bool = True) -> None:
        self._integers = integers  # False keeps the title "1984" a text
        self._codes: dict[Any, int] = {}  # the id as it will come out -> its code
        self._seen: dict[Any, int] = {}  # the id as it was written (perhaps with blanks) -> the same code

    def __len__(self) -> int:
        return len(self._codes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._codes)

    def encode(self, ids: Ids) -> np.ndarray:
        """The codes of the ids of a batch, int32."""
        if isinstance(ids, Coded):
            return np.asarray(self._ours(ids.dictionary)[ids.codes])
        if isinstance(ids, np.ndarray):
            codes, distinct = _factorized(ids)
            return np.asarray(self._ours(distinct.tolist())[codes])
        seen, codes_of = self._seen, self._codes
        for value in dict.fromkeys(ids):
            if value not in seen:
                seen[value] = codes_of.setdefault(value.strip(), len(codes_of))
        return np.fromiter(map(seen.__getitem__, ids), np.int32, count=len(ids))

    def _ours(self, ids: Sequence[Any]) -> np.ndarray:
        return np.array([self._codes.setdefault(key, len(self._codes)) for key in ids], dtype=np.int32)

    def distinct(self) -> "pd.Index[Any]":
        """The ids by their codes: integers where every id is one, Python strings otherwise."""
        import pandas as pd

        keys = list(self._codes)
        if all(isinstance(key, int) or (self._integers and _INTEGER.fullmatch(key)) for key in keys):
            return pd.Index([int(key) for key in keys], dtype=np.int64)
        return pd.Index([str(key) for key in keys], dtype=object)


class Collected:
    """A whole column of ids, collected batch by batch: integers are numbered at the end, all at once.

    >>> users = Collected()
    >>> users.add(["7", " 12", "7"])
    >>> users.column().tolist()
    [7, 12, 7]
    """

    def __init__(self, *, integers: bool = True) -> None:
        self._ids = IdColumn(integers=integers)
        self._batches: list[np.ndarray] = []
        self._are_codes = True

    def add(self, ids: Ids) -> None:
        """Append a batch; all batches are of one kind."""
        self._are_codes = not isinstance(ids, np.ndarray)
        self._batches.append(ids if isinstance(ids, np.ndarray) else self._ids.encode(ids))

    def column(self) -> "pd.Categorical":
        """All ids in order."""
        import pandas as pd

        whole = np.concatenate(self._batches) if self._batches else np.empty(0, dtype=np.int32)
        self._batches = []  # so that the column exists once
        if self._are_codes:
            return pd.Categorical.from_codes(whole, categories=self._ids.distinct())
        codes, distinct = _factorized(whole)
        return pd.Categorical.from_codes(codes, categories=pd.Index(distinct, dtype=np.int64))


def _factorized(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes of integer ids in order of appearance, and the ids."""
    import pandas as pd

    codes, distinct = pd.factorize(ids)
    return codes, np.asarray(distinct)
