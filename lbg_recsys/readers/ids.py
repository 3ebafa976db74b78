"""Ids in little memory: each distinct id once, and a code per row. Nothing encodes them again after this."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Table = dict[str, Any]  # by column: a `pandas.Categorical` of ids or titles, or a float64 array

# Plain decimal only: "007" and "+7" are names that happen to have digits, not the integer 7.
_INTEGER = re.compile(r"-?[1-9][0-9]{0,17}|0")


class IdColumn:
    """Collects a column of ids batch by batch; `column` returns it as a categorical.

    >>> users = IdColumn()
    >>> users.add(["7", " 12", "7"])
    >>> users.column().tolist()
    [7, 12, 7]
    >>> users.add(["bob"])
    >>> users.column().tolist()
    ['7', '12', '7', 'bob']
    """

    def __init__(self, *, integers: bool = True) -> None:
        self._integers = integers  # False keeps the title "1984" a text
        self._codes: dict[Any, int] = {}  # the id as it will come out -> its code
        self._seen: dict[Any, int] = {}  # the id as it was written (perhaps with blanks) -> the same code
        self._batches: list[np.ndarray] = []

    def add(self, values: Sequence[Any]) -> None:
        """Append a batch of ids: all text or all integers."""
        seen, codes = self._seen, self._codes
        for value in dict.fromkeys(values):
            if value not in seen:
                key = value.strip() if isinstance(value, str) else value
                seen[value] = codes.setdefault(key, len(codes))
        self._batches.append(np.fromiter(map(seen.__getitem__, values), np.int32, count=len(values)))

    def add_dictionary(self, dictionary: Sequence[Any], codes: np.ndarray) -> None:
        """Append a batch that is already coded against its own dictionary."""
        ours = [self._codes.setdefault(key, len(self._codes)) for key in dictionary]
        self._batches.append(np.asarray(ours, dtype=np.int32)[codes])

    def column(self) -> "pd.Categorical":
        """All ids in order; the categories are integers where every id is one, Python strings otherwise."""
        import pandas as pd

        keys = list(self._codes)
        if self._integers and all(isinstance(key, int) or _INTEGER.fullmatch(key) for key in keys):
            distinct: pd.Index[Any] = pd.Index([int(key) for key in keys], dtype=np.int64)
        else:
            distinct = pd.Index([str(key) for key in keys], dtype=object)
        codes = np.concatenate(self._batches) if self._batches else np.empty(0, dtype=np.int32)
        return pd.Categorical.from_codes(codes, categories=distinct)


def encoded(ids: np.ndarray) -> "pd.Categorical":
    """An array of integer ids as a categorical, its categories in order of appearance."""
    import pandas as pd

    codes, distinct = pd.factorize(ids)
    return pd.Categorical.from_codes(codes, categories=pd.Index(distinct, dtype=np.int64))
