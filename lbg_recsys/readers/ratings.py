"""Ratings, pairs and titles from the files people have: CSV, TSV, MovieLens ``::``, Parquet, gz, a pipe."""

import gzip
import io
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from lbg_recsys.datasets.by_name import RATING_SETS, load_rating_data
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.readers.columns import Columns

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.readers.ids import Table

Source = str | os.PathLike[str] | IO[bytes]

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"


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
    if timestamp and ((table["timestamp"] % 1 == 0) & (abs(table["timestamp"]) < 2**53)).all():
        table["timestamp"] = table["timestamp"].astype("int64")  # seconds, in nearly every file
    return _frame(table)


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


def read_item_ratings(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> dict[int | str, float]:
    """Read one person's ratings: item id -> rating, from any layout `read_ratings` knows.

    >>> read_item_ratings(io.BytesIO(b"movie,stars\\n7,4.5\\n9,1\\n"))
    {7: 4.5, 9: 1.0}
    """
    wanted = ["item", "rating"]
    table = _read(source, wanted, columns=columns, header=header, delimiter=delimiter, exact=True)
    items, ratings = table["item"].tolist(), table["rating"].tolist()
    found = dict(zip(items, ratings, strict=True))
    if len(found) < len(items):
        twice = next(item for item, count in Counter(items).items() if count > 1)
        raise DataError(
            f"the item {twice!r} is rated twice; one person's ratings are wanted: say with columns "
            "which two columns are item and rating, or leave one of the ratings out"
        )
    return found


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
        encodings=("utf-8", "latin-1"),
    )
    return dict(zip(table["item"].tolist(), table["title"].tolist(), strict=True))


def _frame(table: "Table") -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(table, copy=False)


def _read(
    source: Source,
    wanted: Sequence[str],
    *,
    columns: Columns | None,
    header: bool | None,
    delimiter: str | None,
    encodings: tuple[str, ...] = ("utf-8",),
    exact: bool = False,
    progress: Progress = silent,
) -> "Table":
    from lbg_recsys.readers.delimited import TextFormat, read_text
    from lbg_recsys.readers.parquet import read_parquet

    with _opened(source) as (stream, place):
        start = stream.peek(4)[:4]
        if start.startswith(_PARQUET):
            seekable = stream if stream.seekable() else io.BytesIO(stream.read())
            return read_parquet(seekable, place, wanted, columns, progress)
        form = TextFormat(delimiter, header, columns, encodings, exact)
        size = os.path.getsize(source) if isinstance(source, str | os.PathLike) and source != "-" else 0

        def by_bytes(done: int, total: int, note: str) -> None:
            progress(*((stream.tell(), size) if size else (done, total)), note)

        if start.startswith(_GZIP):
            with gzip.open(stream) as unpacked:
                return read_text(unpacked, place, wanted, form, by_bytes)
        return read_text(stream, place, wanted, form, by_bytes)


@contextmanager
def _opened(source: Source) -> Iterator[tuple[io.BufferedReader, str]]:
    """A stream to read and peek at, and what to call it in a message."""
    if not isinstance(source, str | os.PathLike):
        yield _buffered(source), str(getattr(source, "name", "the stream"))
    elif source == "-":
        yield _buffered(sys.stdin.buffer), "standard input"
    else:
        with _open(source) as stream:
            yield stream, os.fspath(source)


def _open(path: str | os.PathLike[str]) -> io.BufferedReader:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as error:  # ValueError: a zero character in the name
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{os.fspath(path)} cannot be opened: {reason}") from error


def _buffered(stream: IO[bytes]) -> io.BufferedReader:
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[arg-type]
