"""Tables that go to a file block by block, in bounded memory, and replace it only when they are complete."""

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

import click

from lbg_recsys.cli.common import plain
from lbg_recsys.columns import with_distribution
from lbg_recsys.errors import DataError, MissingExtraError
from lbg_recsys.files import MAGIC, atomic_write
from lbg_recsys.words import visible

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", bound=Callable[..., Any])

# The kinds of table that `block_writer` writes; a name without a suffix takes the usual one.
TABLES = (".csv", ".tsv", ".jsonl", ".parquet", "")
# The usual suffix of model files, and the suffixes of data files, which a model must not have.
MODEL, _DATA = ".lbg", (*filter(None, TABLES), ".json", ".txt", ".dat", ".gz", ".html", ".md")


def output_option(
    what: str,
    *,
    suffixes: Sequence[str] = (),
    required: bool = False,
    multiple: bool = False,
    remedy: str = "name a file in it",
    replaces: str = "",
) -> Callable[[F], F]:
    """``-o FILE``: checked before any work is done, so that a long fit does not fail because a folder is missing.

    The name must end in one of ``suffixes``; if none are given, a model is written. ``remedy`` is what to do instead
    of naming a folder. A ``multiple`` option gives a tuple of names. A file that the command reads is refused, except
    that of the parameter ``replaces``; and a model replaces only a model.
    """

    def looked_at(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        for path in value if multiple else [value] if value is not None else []:
            if path == "-":
                raise click.BadParameter("'-' does not stand for standard output here: name a file")
            if suffixes and suffix_of(path) not in suffixes:
                raise click.BadParameter(f"{path} must end in {' or '.join(filter(None, suffixes))}")
            _refuse_unwritable(path, remedy)
        return value

    option = click.option(
        *("-o", "--output"),
        metavar="FILE",
        required=required,
        multiple=multiple,
        callback=looked_at,
        help=what,
        type=click.Path(),
    )

    def decorated(command: F) -> F:
        @wraps(command)
        def run(*args: Any, **given: Any) -> Any:
            read = [value for name, value in given.items() if name not in ("output", replaces)]
            for path in _texts(given["output"]):
                _refuse_input(path, [one for value in read for one in _texts(value)])
                if not suffixes or suffix_of(path) == MODEL:
                    _refuse_data(path)
            return command(*args, **given)

        return cast(F, option(run))

    return decorated


def _texts(value: Any) -> list[str]:
    """The texts that an option or argument has."""
    return [one for one in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(one, str)]


def _refuse_input(path: str, read: Sequence[str]) -> None:
    if os.path.exists(path) and any(os.path.exists(one) and os.path.samefile(path, one) for one in read):
        raise click.BadParameter(
            f"{path} is a file that this command reads, and would be replaced: name another one", param_hint="'-o'"
        )


def _refuse_data(path: str) -> None:
    """Refuse to write a model to a file of data, by its name or by what is in it."""
    if suffix_of(path) in _DATA:
        raise click.BadParameter(
            f"{path} has the name of a data file, and a model is written: give it a name such as "
            f"{os.path.splitext(path)[0]}{MODEL}",
            param_hint="'-o'",
        )
    if os.path.isfile(path) and os.path.getsize(path):
        with open(path, "rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise click.BadParameter(
                    f"{path} is no model file and would be replaced: give another name, or remove the file first",
                    param_hint="'-o'",
                )


def suffix_of(path: str) -> str:
    """How a file's name ends, in lower case: ``.csv``."""
    return os.path.splitext(path)[1].lower()


def _refuse_unwritable(value: str, remedy: str) -> None:
    folder = os.path.dirname(os.path.realpath(value))
    if os.path.isdir(value):
        raise DataError(f"{value} is a folder: {remedy}")
    if not os.path.isdir(folder):
        raise DataError(f"{value} cannot be written: there is no folder {folder}")
    if not os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise DataError(f"{value} cannot be written: the folder {folder} is read-only")


class BlockWriter:
    """Takes frames with the same columns, one after the other."""

    def __init__(self, stream: IO[bytes], kind: str) -> None:
        self._stream, self._kind = stream, kind
        self._parquet: Any = None
        self._first = True
        self.n_rows = 0

    def write(self, frame: "pd.DataFrame") -> None:
        """Append a block."""
        self.n_rows += len(frame)
        if self._kind == ".parquet":
            self._write_parquet(frame)
        elif self._kind == ".json":
            self._write_json(frame)
        elif self._kind == ".jsonl":
            self._write_lines(frame)
        else:
            separator = "\t" if self._kind == ".tsv" else ","
            text = frame.to_csv(index=False, header=self._first, sep=separator, lineterminator="\n")
            self._stream.write(text.encode("utf-8", "surrogatepass"))
        self._first = self._first and self._kind == ".json"

    def _write_json(self, frame: "pd.DataFrame") -> None:
        """The rows of one block in the JSON list on standard output."""
        for row in frame.to_dict(orient="records"):
            text = visible(json.dumps(plain(with_distribution(row)), ensure_ascii=False, allow_nan=False))
            self._stream.write(f"{'[' if self._first else ','}\n  {text}".encode("utf-8", "replace"))
            self._first = False

    def _write_lines(self, frame: "pd.DataFrame") -> None:
        """An object per row, with all digits: pandas would round to 15."""
        names, columns = list(frame), [_or_none(frame[name]) for name in frame]
        encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=plain).encode
        for row in zip(*columns, strict=True):
            text = encode(dict(zip(names, row, strict=True)))
            self._stream.write(f"{text}\n".encode("utf-8", "surrogatepass"))

    def _write_parquet(self, frame: "pd.DataFrame") -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # The first block decides the types; ids of both kinds become text, because a column has one type.
        for name in ("user", "item"):
            if name in frame and frame[name].dtype == object and not all(isinstance(v, str) for v in frame[name]):
                frame = frame.assign(**{name: [str(value) for value in frame[name]]})
        for name in {"title", "unknown"} & set(frame):  # text, also where no row of the block has one
            frame = frame.assign(**{name: frame[name].astype("string")})
        schema: Any = self._parquet.schema if self._parquet is not None else None
        table: Any = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
        if self._parquet is None:
            self._parquet = pq.ParquetWriter(self._stream, table.schema)
        self._parquet.write_table(table)

    def close(self) -> None:
        """Finish the file."""
        if self._parquet is not None:
            self._parquet.close()
        if self._kind == ".json":
            self._stream.write(b"[]\n" if self._first else b"\n]\n")


def _or_none(column: "pd.Series") -> list[Any]:
    """The values of a column; None for numbers that JSON does not have."""
    if column.dtype.kind not in "fO":
        return list(column.tolist())
    return [None if isinstance(value, float) and not math.isfinite(value) else value for value in column.tolist()]


@contextmanager
def block_writer(path: str | None, *, as_json: bool = False) -> Iterator[BlockWriter]:
    """A `BlockWriter` to a file, whose suffix says the kind (of `TABLES`), or to standard output: CSV or JSON."""
    if path is None:
        writer = BlockWriter(sys.stdout.buffer, ".json" if as_json else ".csv")
        yield writer
        writer.close()
        return
    kind = suffix_of(path) or ".csv"
    if kind == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("writing Parquet", "pyarrow", "parquet") from error
    with atomic_write(path) as stream:
        writer = BlockWriter(stream, kind)
        yield writer
        writer.close()
