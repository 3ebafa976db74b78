"""Ratings, pairs and titles from the files people have: CSV, TSV, MovieLens ``::``, Parquet, gz, a pipe."""

import gzip
import io
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.columns import ALIASES, simplify
from lbg_recsys.datasets.by_name import RATING_SETS, load_rating_data
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.readers.blocks import read_blocks
from lbg_recsys.readers.columns import Columns
from lbg_recsys.readers.files import GZIP, PARQUET, Source, batches, opened
from lbg_recsys.readers.layouts import (
    Layout,
    of_interactions,
    of_items,
    of_new_choosers,
    of_new_items,
    of_new_users,
    of_timed_interactions,
)

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.readers.ids import Table

_LENIENT = ("utf-8", "latin-1")  # of files with titles: older ones of MovieLens are Latin-1


def read_ratings(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    timestamp: bool = False,
    progress: Progress = silent,
) -> "pd.DataFrame":
    """Read ratings into a frame with the columns user, item, rating (and timestamp where asked for).

    Parameters
    ----------
    source : a path, ``-`` for standard input, a binary stream, or the name of a data set of ratings such as
        ``ml-100k`` or ``sample`` (a file of that name is ``./sample``). CSV, TSV, ``::``, ``;`` or ``|`` between the
        fields, or Parquet; gzip is unpacked on the way.
    columns : which columns are user, item, rating (and timestamp), as names or positions (0 is the first):
        a sequence in that order or a mapping. By default found by name, or the first ones where there is no header.
    header : whether the first line names the columns; found out by default.
    delimiter : between the fields; found out by default.
    timestamp : also read when each rating was given: numbers as they are, dates (2015-03-02, 2015-03-02T18:30:00) as
        seconds since 1970, in UTC where they name no zone.
    progress : called as ``progress(done, total, note)`` after each batch, in bytes of the file or rows of Parquet; a
        pipe has no total, and nothing is done of it until all is.

    The columns user and item are categoricals: each distinct id is stored once, with a code per row, and
    `RatingMatrix` takes the codes as they are. Ids are integers where every id of the column is one (``007`` is
    not), text otherwise. Ratings are float64 and finite. Anything else raises `DataError` with the value, the line
    and the remedy.
    A file is read in batches, so that memory grows with the result and not with the file.

    >>> read_ratings(io.BytesIO(b"userId,movieId,rating\\n1,ring,4.5\\n2,ring,3\\n"))
      user  item  rating
    0    1  ring     4.5
    1    2  ring     3.0
    """
    wanted = ["user", "item", "rating", *(["timestamp"] if timestamp else [])]
    if isinstance(source, str) and source in RATING_SETS:
        frame = load_rating_data(source, progress=progress).ratings
        if timestamp and "timestamp" not in frame:
            raise DataError(f"the data set {source!r} has no timestamps")
        return frame[wanted].astype({"rating": "float64"})
    table = _read(source, wanted, columns=columns, header=header, delimiter=delimiter, progress=progress)
    return _frame(_whole_seconds(table) if timestamp else table)


def _whole_seconds(table: "Table") -> "Table":
    """Times as integers where they are whole numbers: seconds, in nearly every file."""
    if ((table["timestamp"] % 1 == 0) & (abs(table["timestamp"]) < 2**53)).all():
        table["timestamp"] = table["timestamp"].astype("int64")
    return table


def read_pairs(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    progress: Progress = silent,
) -> "pd.DataFrame":
    """Read pairs to predict into a frame with the columns user, item; the options are those of `read_ratings`.

    >>> read_pairs(io.BytesIO(b"1,10\\n1,20\\n")).to_numpy().tolist()
    [[1, 10], [1, 20]]
    """
    wanted = ["user", "item"]
    return _frame(_read(source, wanted, columns=columns, header=header, delimiter=delimiter, progress=progress))


def read_interactions(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    timestamp: bool = False,
    progress: Progress = silent,
) -> "pd.DataFrame":
    """Read ratings, or choices without ratings; the options are those of `read_ratings`.

    Returns
    -------
    DataFrame
        Columns user and item, rating or count where the file has one, and timestamp if that is asked for. A file has
        no ratings if it has two columns, if its other columns are times or counts by their names, if its third and
        last column (without a header) is a time, or if ``columns`` names two columns (and the time).

    Examples
    --------
    >>> read_interactions(io.BytesIO(b"customer,product,date\\nann,tea,2024-05-01\\n")).columns.tolist()
    ['user', 'item']
    """
    if isinstance(source, str) and source in RATING_SETS:
        return read_ratings(source, timestamp=timestamp, progress=progress)
    layout = of_timed_interactions if timestamp else of_interactions
    table = _read(source, layout, columns=columns, header=header, delimiter=delimiter, progress=progress)
    return _frame(_whole_seconds(table) if timestamp else table)


def read_new_users(
    source: Source,
    *,
    ratings: bool = True,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> "dict[int | str | None, dict[int | str, float | None]]":
    """Read what one or several new users rated or took: user -> item or title -> rating.

    Parameters
    ----------
    source : path, ``-`` or binary stream
        A table with item (or title), with rating if there are ratings and with user if there are several users; or
        one item per line. Without a header three columns are user, item and rating.
    ratings : bool, default=True
        Whether two columns without a header are item and rating, and not user and item.
    columns, header, delimiter
        See `read_ratings`.

    Returns
    -------
    dict
        The one user of a table without users is None, and so are ratings that the table does not have.

    Raises
    ------
    DataError
        If a user has two ratings of one item, or the file cannot be read.

    Examples
    --------
    >>> read_new_users(io.BytesIO(b"movie,stars\\n7,4.5\\n9,1\\n"))
    {None: {7: 4.5, 9: 1.0}}
    """
    if columns is None and header is None and delimiter is None:
        with opened(source) as (stream, origin):
            data = _unpacked(stream.read(), origin)
        if (lines := _lines(data, origin)) and not _is_table(lines[0]) and not (ratings and _are_rated(lines)):
            return {None: dict.fromkeys(_one_per_line(lines))}
        source = _Data(data, origin)
    layout = of_new_users if ratings else of_new_choosers
    table = _read(source, layout, columns=columns, header=header, delimiter=delimiter, encodings=_LENIENT, exact=True)
    items = table["item" if "item" in table else "title"].tolist()
    users = table["user"].tolist() if "user" in table else [None] * len(items)
    values = table["rating"].tolist() if "rating" in table else [None] * len(items)
    found: dict[int | str | None, dict[int | str, float | None]] = {}
    for user, item, value in zip(users, items, values, strict=True):
        own = found.setdefault(user, {})
        if value is not None and item in own:
            whose = "" if user is None else f" by the user {user!r}"
            raise DataError(
                f"the item {item!r} is rated twice{whose}: leave one of the ratings out; the ratings of several "
                "people need a column user"
            )
        own[item] = value
    return found


def read_new_items(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> "dict[int | str | None, dict[int | str, float]]":
    """Read ratings of one or several new items: item -> user -> rating.

    A table with user and rating, and with item if there are several; the one item of a table without items is None.
    For ``columns``, ``header`` and ``delimiter`` see `read_ratings`.

    >>> read_new_items(io.BytesIO(b"user,stars\\n7,4.5\\n9,1\\n"))
    {None: {7: 4.5, 9: 1.0}}

    Raises
    ------
    DataError
        If an item has two ratings by one user, or the file cannot be read.
    """
    table = _read(
        source, of_new_items, columns=columns, header=header, delimiter=delimiter, encodings=_LENIENT, exact=True
    )
    users, values = table["user"].tolist(), table["rating"].tolist()
    items = table["item"].tolist() if "item" in table else [None] * len(users)
    found: dict[int | str | None, dict[int | str, float]] = {}
    for user, item, value in zip(users, items, values, strict=True):
        own = found.setdefault(item, {})
        if user in own:
            what = "the new item" if item is None else f"the item {item!r}"
            raise DataError(
                f"the user {user!r} rated {what} twice: leave one of the ratings out; the ratings of several items "
                "need a column item"
            )
        own[user] = value
    return found


def read_items(source: Source) -> list[int | str]:
    """Read item ids or titles: one per line, or the item (or title) column of a table with a header or of Parquet.

    >>> read_items(io.BytesIO(b"7\\nEmpire Strikes Back, The (1980)\\n"))
    ['7', 'Empire Strikes Back, The (1980)']
    >>> read_items(io.BytesIO(b"item,title\\n7,Seven\\n"))
    [7]
    """
    with opened(source) as (stream, origin):
        data = _unpacked(stream.read(), origin)
    if (lines := _lines(data, origin)) and not _is_table(lines[0]):
        return _one_per_line(lines)
    table = _read(_Data(data, origin), of_items, columns=None, header=None, delimiter=None, encodings=_LENIENT)
    return list(dict.fromkeys(next(iter(table.values())).tolist()))


def _lines(data: bytes, origin: str) -> list[str]:
    """The lines of a text; none of a Parquet file."""
    if data.startswith(PARQUET):
        return []
    lines = [line for block in read_blocks(io.BytesIO(data), origin, _LENIENT) for line in block.lines]
    if not lines:
        raise DataError(f"{origin} is empty: give one item id or title per line")
    return lines


def _one_per_line(lines: list[str]) -> list[int | str]:
    """Items by their lines, below a name of the column if there is one."""
    is_name = simplify(lines[0]) in (*ALIASES["item"], *ALIASES["title"])
    return [line.strip().strip('"') for line in lines[1 if is_name and len(lines) > 1 else 0 :]]


def _is_table(line: str) -> bool:
    """Whether a first line names several columns, one of which is the item or the title."""
    from lbg_recsys.readers.delimited import DELIMITERS

    wanted = {*ALIASES["item"], *ALIASES["title"]}
    return any(
        len(fields) > 1 and any(simplify(field) in wanted for field in fields)
        for fields in (line.split(delimiter) for delimiter in DELIMITERS)
    )


def _are_rated(lines: list[str]) -> bool:
    """Whether any line ends with a number behind a delimiter, and so is no single item."""
    from lbg_recsys.readers.delimited import DELIMITERS, is_number

    return any(
        len(parts := line.rsplit(sign, 1)) == 2 and is_number(parts[1]) for line in lines for sign in DELIMITERS
    )


class _Data(io.BytesIO):
    """What was read of a file, with the file's name for messages."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def _unpacked(data: bytes, origin: str) -> bytes:
    if not data.startswith(GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{origin} cannot be unpacked: {error}") from error


def read_titles(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> dict[int | str, str]:
    """Read what the items are called: item id -> title, from any layout `read_ratings` knows.

    Reads MovieLens' own ``u.item``, ``movies.dat`` and ``movies.csv`` as they are (older ones are Latin-1).

    >>> read_titles(io.BytesIO("1|Amélie (2001)|drama".encode("latin-1")))
    {1: 'Amélie (2001)'}
    """
    if isinstance(source, str) and source in RATING_SETS:
        items = load_rating_data(source).items
        if "title" not in items:
            raise DataError(f"the data set {source!r} has no titles")
        return dict(zip(items.index.tolist(), items["title"].tolist(), strict=True))
    table = _read(
        source,
        ["item", "title"],
        columns=columns,
        header=header,
        delimiter=delimiter,
        encodings=_LENIENT,
    )
    return dict(zip(table["item"].tolist(), table["title"].tolist(), strict=True))


def _frame(table: "Table") -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(table, copy=False)


def _read(source: Source, wanted: Sequence[str] | Layout, **how: Any) -> "Table":
    """All of a file."""
    from lbg_recsys.readers.ids import Coded, Collected

    parts: dict[str, list[np.ndarray]] = {}
    ids: dict[str, Collected] = {}
    for batch in batches(source, wanted, **how):
        for role, values in batch.items():
            if role in ("rating", "count", "timestamp"):
                parts.setdefault(role, []).append(values)
            else:
                integers = role != "title" and not isinstance(values, Coded)
                ids.setdefault(role, Collected(integers=integers)).add(values)
    # Column by column, letting go of the parts, so that at most one column exists twice.
    return {role: ids.pop(role).column() if role in ids else np.concatenate(parts.pop(role)) for role in batch}
