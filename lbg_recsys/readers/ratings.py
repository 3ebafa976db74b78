"""Ratings, pairs and titles from the files people have: CSV, TSV, MovieLens ``::``, Parquet, gz, a pipe."""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.checks import check_flag
from lbg_recsys.datasets.by_name import is_rating_set, load_rating_data
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.readers.blocks import LENIENT
from lbg_recsys.readers.columns import TITLES, Columns
from lbg_recsys.readers.files import Source, batches
from lbg_recsys.readers.layouts import (
    Layout,
    of_interactions,
    of_timed_interactions,
)
from lbg_recsys.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.readers.ids import Table


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
    source : str, path or binary stream
        A file, ``-`` for standard input, or the name of a data set of ratings such as ``ml-100k`` or ``sample`` (a
        file of that name is ``./sample``). CSV, TSV, ``::``, ``;`` or ``|`` between the fields, or Parquet; gzip is
        unpacked on the way.
    columns : sequence or mapping, default=None
        Which columns are user, item, rating (and timestamp), as names or positions (0 is the first). If None they are
        found by name, or are the first ones where there is no header.
    header : bool, default=None
        Whether the first line names the columns; detected if None.
    delimiter : str, default=None
        What separates the fields; detected if None.
    timestamp : bool, default=False
        Whether to read when each rating was given: numbers as they are, dates (2015-03-02, 2015-03-02T18:30:00) as
        seconds since 1970, in UTC where they name no zone.
    progress : callable, default=silent
        Called as ``progress(done, total, note)`` after each batch, in bytes of the file or rows of Parquet; a pipe
        has no total, and reports only its end.

    Returns
    -------
    DataFrame
        Columns user and item are categoricals: each distinct id is stored once, with a code per row, and
        `RatingMatrix` takes the codes as they are. Ids are integers where every id of the column is one (``007`` is
        not), text otherwise. Ratings are float64 and finite.

    Raises
    ------
    DataError
        If the file cannot be read as such a table. The message has the value, the line and the remedy.

    Notes
    -----
    A file is read in batches, so that memory grows with the result and not with the file.

    Examples
    --------
    >>> import io
    >>> read_ratings(io.BytesIO(b"userId,movieId,rating\\n1,ring,4.5\\n2,ring,3\\n"))
      user  item  rating
    0    1  ring     4.5
    1    2  ring     3.0
    """
    check_flag("timestamp", timestamp)
    wanted = ["user", "item", "rating", *(["timestamp"] if timestamp else [])]
    if is_rating_set(source):
        frame = load_rating_data(source, progress=progress).ratings
        if timestamp and "timestamp" not in frame:
            raise DataError(f"the data set {source!r} has no timestamps")
        return frame[wanted].astype({"rating": "float64"})
    table = read_table(source, wanted, columns=columns, header=header, delimiter=delimiter, progress=progress)
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
    """Read pairs to predict into a frame with the columns user and item.

    Parameters
    ----------
    source : str, path or binary stream
        A table with user and item.
    columns : sequence or mapping, default=None
        Which columns are user and item, as names or positions; see `read_ratings`.
    header : bool, default=None
        Whether the first line names the columns; detected if None.
    delimiter : str, default=None
        What separates the fields; detected if None.
    progress : callable, default=silent
        Called as ``progress(done, total, note)`` after each batch.

    Returns
    -------
    DataFrame
        Columns user and item.

    Examples
    --------
    >>> import io
    >>> read_pairs(io.BytesIO(b"1,10\\n1,20\\n")).to_numpy().tolist()
    [[1, 10], [1, 20]]
    """
    wanted = ["user", "item"]
    return _frame(read_table(source, wanted, columns=columns, header=header, delimiter=delimiter, progress=progress))


def read_interactions(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    timestamp: bool = False,
    progress: Progress = silent,
) -> "pd.DataFrame":
    """Read ratings, or choices without ratings.

    Parameters
    ----------
    source : str, path or binary stream
        A table with user and item, and with rating if there are ratings.
    columns : sequence or mapping, default=None
        Which columns are user, item, rating and timestamp, as names or positions; see `read_ratings`.
    header : bool, default=None
        Whether the first line names the columns; detected if None.
    delimiter : str, default=None
        What separates the fields; detected if None.
    timestamp : bool, default=False
        Whether to read when each rating or choice was given, as `read_ratings` does.
    progress : callable, default=silent
        Called as ``progress(done, total, note)`` after each batch.

    Returns
    -------
    DataFrame
        Columns user and item, rating or count where the file has one, and timestamp if that is asked for. A file has
        no ratings if it has two columns, if its other columns are times or counts by their names, if its third and
        last column (without a header) is a time, or if ``columns`` names two columns (and the time).

    Examples
    --------
    >>> import io
    >>> read_interactions(io.BytesIO(b"customer,product,date\\nann,tea,2024-05-01\\n")).columns.tolist()
    ['user', 'item']
    """
    check_flag("timestamp", timestamp)
    if is_rating_set(source):
        return read_ratings(source, timestamp=timestamp, progress=progress)
    layout = of_timed_interactions if timestamp else of_interactions
    table = read_table(source, layout, columns=columns, header=header, delimiter=delimiter, progress=progress)
    return _frame(_whole_seconds(table) if timestamp else table)


def read_titles(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> dict[int | str, str]:
    """Read what the items are called: item id -> title, from any layout `read_ratings` knows.

    Reads MovieLens' own ``u.item``, ``movies.dat`` and ``movies.csv`` as they are (older ones are Latin-1).

    Parameters
    ----------
    source : str, path or binary stream
        A table with item (or id) and title, or the name of a data set that has titles.
    columns : sequence or mapping, default=None
        Which columns are item and title, as names or positions; see `read_ratings`.
    header : bool, default=None
        Whether the first line names the columns; detected if None.
    delimiter : str, default=None
        What separates the fields; detected if None.

    Returns
    -------
    dict
        Titles by item id.

    Raises
    ------
    DataError
        If the data set has no titles, or the file cannot be read as such a table.

    Examples
    --------
    >>> import io
    >>> read_titles(io.BytesIO("1|Amélie (2001)|drama".encode("latin-1")))
    {1: 'Amélie (2001)'}
    """
    if is_rating_set(source):
        items = load_rating_data(source).items
        if "title" not in items:
            raise DataError(f"the data set {source!r} has no titles")
        titles = items["title"].dropna()
        return dict(zip(titles.index.tolist(), titles.tolist(), strict=True))
    table = read_table(
        source,
        TITLES,
        columns=columns,
        header=header,
        delimiter=delimiter,
        encodings=LENIENT,
    )
    pairs = list(zip(table["item"].tolist(), table["title"].tolist(), strict=True))
    found = dict(pairs)
    if len(different := set(pairs)) > len(found):
        many = sum(number > 1 for number in Counter(item for item, _ in different).values())
        has = "has" if many == 1 else "have"
        warnings.warn(
            f"{counted(many, 'item')} {has} more than one title: the last one counts", UserWarning, stacklevel=2
        )
    return found


def _frame(table: "Table") -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(table, copy=False)


def read_table(source: Source, wanted: Sequence[str] | Layout, **how: Any) -> "Table":
    """All of a file: an array per column."""
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
