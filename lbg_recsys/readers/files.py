"""From a file, a stream or a folder to batches of columns, whatever the format."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from lbg_recsys.checks import check_flag
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.files import name_of, why_not_opened
from lbg_recsys.progress import Progress, silent
from lbg_recsys.readers.columns import Columns, check_columns
from lbg_recsys.readers.ids import Table
from lbg_recsys.readers.layouts import Layout

Source = str | os.PathLike[str] | IO[bytes]

GZIP, PARQUET = b"\x1f\x8b", b"PAR1"


def batches(
    source: Source,
    wanted: Sequence[str] | Layout,
    *,
    columns: Columns | None,
    header: bool | None,
    delimiter: str | None,
    encodings: tuple[str, ...] = ("utf-8",),
    exact: bool = False,
    is_asked: bool = False,
    progress: Progress = silent,
) -> Iterator[Table]:
    """The wanted columns of a file batch by batch, at least one."""
    from lbg_recsys.readers.delimited import TextFormat, text_batches
    from lbg_recsys.readers.parquet import parquet_batches

    check_columns(columns)
    if header is not None:
        check_flag("header", header)
    if delimiter is not None and (not isinstance(delimiter, str) or not delimiter):
        raise ParameterError(f"the delimiter is {delimiter!r}: give a text such as ',' or '\\t'")
    with opened(source) as (stream, origin):
        start = stream.peek(4)[:4]
        if start.startswith(PARQUET):
            seekable = stream if stream.seekable() else io.BytesIO(stream.read())
            yield from parquet_batches(seekable, origin, wanted, columns, progress)
            return
        form = TextFormat(delimiter, header, columns, encodings, exact, is_asked)
        size = os.path.getsize(source) if isinstance(source, str | os.PathLike) and os.fspath(source) != "-" else 0

        def by_bytes(done: int, total: int, note: str) -> None:
            progress(*((stream.tell(), size) if size else (done, total)), note)

        if start.startswith(GZIP):
            with gzip.open(stream) as unpacked:
                yield from text_batches(unpacked, origin, wanted, form, by_bytes)
        else:
            yield from text_batches(stream, origin, wanted, form, by_bytes)


def contents(source: Source) -> tuple[bytes, str]:
    """All bytes of a small file, unpacked, and what to call it in a message."""
    with opened(source) as (stream, origin):
        data = stream.read()
    try:
        return (gzip.decompress(data) if data.startswith(GZIP) else data), origin
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{origin} cannot be unpacked: {error}") from error


@contextmanager
def opened(source: Source) -> Iterator[tuple[io.BufferedReader, str]]:
    """A stream to read and peek at, and what to call it in a message."""
    if not isinstance(source, str | os.PathLike):
        if not hasattr(source, "readinto"):
            raise ParameterError(f"source is {source!r}: give the name of a file or a binary stream")
        yield _buffered(source), str(getattr(source, "name", "the stream"))
    elif os.fspath(source) == "-":
        yield _buffered(sys.stdin.buffer), name_of("-")
    else:
        with _open(source) as stream:
            yield stream, os.fspath(source)


def _open(path: str | os.PathLike[str]) -> io.BufferedReader:
    try:
        return open(path, "rb")
    except IsADirectoryError as error:
        raise DataError(f"{os.fspath(path)} is a folder: name a file (only fit reads a folder of ratings)") from error
    except (OSError, ValueError) as error:  # ValueError: a zero character in the name
        raise DataError(why_not_opened(os.fspath(path), error)) from error


def _buffered(stream: IO[bytes]) -> io.BufferedReader:
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[arg-type]
