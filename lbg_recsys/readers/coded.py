"""Ratings larger than memory: one file or all files of a folder, batch by batch, with ids as codes."""

import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lbg_recsys.errors import DataError
from lbg_recsys.files import check_path
from lbg_recsys.progress import Progress, silent
from lbg_recsys.readers.columns import Columns
from lbg_recsys.readers.files import batches
from lbg_recsys.readers.ids import Coded, IdColumn, NoRowsError, Table
from lbg_recsys.readers.layouts import of_interactions

if TYPE_CHECKING:
    import pandas as pd


class CodedBatch(NamedTuple):
    """Some ratings: the codes of users and items, int32, and the ratings; 1 where the file has none."""

    users: np.ndarray
    items: np.ndarray
    ratings: np.ndarray


class CodedRatings:
    """Ratings, or choices without ratings, of which memory holds one batch and each distinct id once.

    Parameters
    ----------
    source : str or path-like
        A file that `read_interactions` reads, or a folder: all files in it and in its folders, in the order of their
        names, but none whose name begins with a dot or an underscore. Files without rows are left out with a warning.
    columns : sequence or mapping, default=None
        Which columns of each file are user, item and rating, as names or positions; see `read_ratings`.
    header : bool, default=None
        Whether the first line names the columns; detected if None.
    delimiter : str, default=None
        What separates the fields; detected if None.
    progress : callable, default=silent
        Called after each batch.

    Attributes
    ----------
    has_ratings : bool
        Whether there is a rating column; known from the first batch on.
    kinds : dict of str
        What the columns user, item and rating hold, by name; known from the first batch on.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     _ = file.write(b"user,item,rating\\n7,x,4\\n8,x,5\\n")
    ...     file.flush()
    ...     ratings = CodedRatings(file.name)
    ...     [batch.users.tolist() for batch in ratings], ratings.users().tolist()
    ([[0, 1]], [7, 8])
    """

    kinds: Mapping[str, str] = MappingProxyType({"rating": "numbers"})

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        columns: Columns | None = None,
        header: bool | None = None,
        delimiter: str | None = None,
        progress: Progress = silent,
    ) -> None:
        self._files = files_of(source)
        self._how = {"columns": columns, "header": header, "delimiter": delimiter}
        self._progress = progress
        self._ids: dict[str, IdColumn] = {}

    def __iter__(self) -> Iterator[CodedBatch]:
        schema: tuple[dict[str, str], Path] | None = None
        self._ids = {}
        for number, file in enumerate(self._files):
            for batch in self._batches_of(number, file):
                found = {role: _kind(role, values) for role, values in batch.items() if role != "count"}
                schema = schema or (found, file)
                refuse_difference(*schema, found, file)
                self.kinds = found
                users, items = (self._column(role, found[role]).encode(batch[role]) for role in ("user", "item"))
                yield CodedBatch(users, items, batch.get("rating", np.ones(len(users))))
        if schema is None:
            raise DataError(f"no file of {self._files[0].parent} has a row: there are no ratings to read")

    @property
    def has_ratings(self) -> bool:
        """Whether there is a rating column."""
        return "rating" in self.kinds

    def users(self) -> "pd.Index[int] | pd.Index[str]":
        """The ids of the users by their codes, when all batches were read.

        Returns
        -------
        Index
            Their ids: the one with code 0 comes first.

        Examples
        --------
        >>> from pathlib import Path
        >>> from lbg_recsys import datasets
        >>> ratings = CodedRatings(Path(datasets.__file__).with_name("sample") / "ratings.csv")
        >>> n_batches = len(list(ratings))
        >>> len(ratings.users())
        200
        """
        return self._ids["user"].distinct()

    def items(self) -> "pd.Index[int] | pd.Index[str]":
        """The ids of the items by their codes, when all batches were read.

        Returns
        -------
        Index
            Their ids: the one with code 0 comes first.

        Examples
        --------
        >>> from pathlib import Path
        >>> from lbg_recsys import datasets
        >>> ratings = CodedRatings(Path(datasets.__file__).with_name("sample") / "ratings.csv")
        >>> n_batches = len(list(ratings))
        >>> len(ratings.items())
        120
        """
        return self._ids["item"].distinct()

    def _column(self, role: str, kind: str) -> IdColumn:
        return self._ids.setdefault(role, IdColumn(integers=kind != "text"))

    def _batches_of(self, number: int, file: Path) -> Iterator[Table]:
        def report(done: int, total: int, note: str) -> None:
            share = done / total if total else 0.0
            self._progress(int(1000 * (number + share)), 1000 * len(self._files), note)

        try:
            yield from batches(file, of_interactions, **self._how, progress=report)  # type: ignore[arg-type]
        except NoRowsError as error:
            if len(self._files) == 1:
                raise
            warnings.warn(f"{error}: it is left out", UserWarning, stacklevel=2)


def files_of(source: str | os.PathLike[str]) -> list[Path]:
    """The file, or the files of a folder in the order of their names."""
    check_path(source)
    path = Path(source)
    if not path.is_dir():
        return [path]
    found = [
        one
        for one in sorted(path.rglob("*"))
        if not any(part.startswith((".", "_")) for part in one.relative_to(path).parts)
    ]
    for one in found:
        if one.is_symlink() and one.is_dir():
            raise DataError(f"{one} is a link to a folder, which is not followed: put the folder itself there")
    found = [one for one in found if not one.is_dir()]
    if not found:
        raise DataError(f"the folder {path} has no file to read ratings from")
    return found


def _kind(role: str, values: object) -> str:
    """What the ids of a column are, so that files that do not agree are seen."""
    if role == "rating":
        return "numbers"
    return "integers" if isinstance(values, np.ndarray) else "text" if isinstance(values, Coded) else "written"


def refuse_difference(first: Mapping[str, str], there: object, found: Mapping[str, str], here: object) -> None:
    """Raise `DataError` where two files, or partitions, have different columns or ids of different kinds."""
    for role in ("user", "item", "rating"):
        if (one := first.get(role)) != (other := found.get(role)):
            shown = {None: "missing", "written": "text of a CSV file"}
            raise DataError(
                f"{here}: the column {role} is {shown.get(other, other)}, and in {there} it is "
                f"{shown.get(one, one)}: write all files with the same columns and types"
            )
