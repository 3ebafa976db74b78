"""Delimited text, read block by block: bounded memory, exact line numbers, no surprises from a parser."""

import csv
import math
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np

from lbg_recsys.columns import ALIASES
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress
from lbg_recsys.readers.blocks import Block, ByteStream, read_blocks
from lbg_recsys.readers.columns import Columns, find_columns, how_to_name, is_header
from lbg_recsys.readers.ids import NoRowsError, Table
from lbg_recsys.readers.layouts import LOGS, Layout, enough_of
from lbg_recsys.words import counted, shown

DELIMITERS = ("::", "\t", ",", ";", "|")
_SNIFF = 20  # lines looked at to find the delimiter


@dataclass(frozen=True)
class TextFormat:
    """How to read the text; None means find out. ``encodings`` are tried in turn for each block."""

    delimiter: str | None = None
    header: bool | None = None
    columns: Columns | None = None
    encodings: tuple[str, ...] = ("utf-8",)
    exact: bool = False  # see find_columns
    is_asked: bool = False  # pairs to predict: a first line that may be a header is warned of, as in a log


def text_batches(
    stream: ByteStream, origin: str, wanted: Sequence[str] | Layout, form: TextFormat, progress: Progress
) -> Iterator[Table]:
    """The wanted columns, batch by batch: ``rating``, ``count`` and ``timestamp`` as numbers, the others as text.

    A `Layout` as ``wanted`` decides by the first lines.

    ``progress(0, 1, note)`` is called after each block, with the number of rows so far as its note: how many are to
    come is not known here.
    """
    blocks = read_blocks(stream, origin, form.encodings)
    opening = next(blocks, None)
    if opening is None:
        holds = "" if callable(wanted) else f"; it should hold {', '.join(wanted)}, one line each"
        raise NoRowsError(f"{origin} is empty{holds}")
    delimiter = _delimiter(opening.lines[:_SNIFF], form.delimiter, 2 if callable(wanted) else len(wanted), origin)
    top = _rows(Block(opening.numbers[:2], opening.lines[:2]), delimiter, origin)
    enough: list[str] = []
    is_log, fewest = wanted in LOGS, 1 if form.is_asked else 2
    if callable(wanted):
        named = is_header(top[0], list(ALIASES), form.columns) if form.header is None else form.header
        layout, wanted = wanted, wanted(top[0] if named else None, top, form.columns)
        enough = enough_of(layout, wanted)
    named = _has_header(top, wanted, enough, form, f"{origin}, line {opening.numbers[0]}")
    width = len(top[0])
    positions = find_columns(
        wanted,
        names=top[0] if named else None,
        width=width,
        columns=form.columns,
        origin=origin,
        exact=form.exact,
        enough=enough,
    )
    parsers = {"rating": _number, "count": _count, "timestamp": _moment}
    n_rows = 0
    for block in _chain(opening.without_first() if named else opening, blocks):
        rows = _rows(block, delimiter, origin)
        _check_widths(rows, width, block, delimiter, origin)
        if (is_log or form.is_asked) and not named and not n_rows and form.header is None and len(rows) > fewest:
            _warn_of_header(rows, [rows[0][at] for at in positions], positions, origin)
        n_rows += len(rows)
        batch: Table = {}
        for role, position in zip(wanted, positions, strict=True):
            values = [fields[position] for fields in rows]
            try:
                batch[role] = _numbers(values, parsers[role]) if role in parsers else _ids(values)
            except _BadValue as bad:
                number = block.numbers[values.index(bad.value)]
                raise DataError(f"{origin}, line {number}: the {role} is {bad.value[:60]!r}, {bad.reason}") from None
        yield batch
        progress(0, 1, f"{n_rows:,} rows")
    if not n_rows:
        raise NoRowsError(f"{origin} has a header but no rows below it")


def _check_widths(rows: list[list[str]], width: int, block: Block, delimiter: str, origin: str) -> None:
    if set(map(len, rows)) - {width}:
        number, fields = next((n, f) for n, f in zip(block.numbers, rows, strict=True) if len(f) != width)
        raise DataError(
            f"{origin}, line {number}: {counted(len(fields), 'field')} where the first line has {width} "
            f"(delimiter {delimiter!r}): {shown(fields)}"
        )


class _BadValue(Exception):
    def __init__(self, value: str, reason: str) -> None:
        self.value, self.reason = value, reason


def _ids(values: list[str]) -> list[str]:
    for value in dict.fromkeys(values):
        if not value.strip():
            raise _BadValue(value, "which is empty: fill it in or leave such lines out")
    return values


def _numbers(values: list[str], parse: Callable[[str], float]) -> np.ndarray:
    known = {value: parse(value) for value in dict.fromkeys(values)}
    return np.fromiter(map(known.__getitem__, values), np.float64, count=len(values))


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        point = text.strip().replace(",", ".")
        is_decimal = re.fullmatch(r"-?\d+,\d+", text.strip())
        hint = f": write a decimal point, {point}" if is_decimal else ": correct it or leave such lines out"
        raise _BadValue(text, f"which is not a number{hint}") from None
    if not math.isfinite(value):
        raise _BadValue(text, "which is not finite: leave such lines out")
    if "_" in text:  # Python reads 1_0 as ten; nobody else does
        raise _BadValue(text, "which is not a number")
    return value


def _moment(text: str) -> float:
    """Seconds since 1970, or a date with or without a time of day, taken as UTC where it names no zone."""
    if is_number(text):
        return _number(text)
    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        remedy = "which is neither a number nor a date such as 2015-03-02 or 2015-03-02T18:30:00"
        raise _BadValue(text, remedy) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _count(text: str) -> float:
    try:
        value = _number(text)
    except _BadValue:
        value = 0.0
    if value < 1 or value % 1:
        remedy = "leave out what was not taken, or name user and item with --columns if this is no count"
        raise _BadValue(text, f"which is not a whole number of at least 1: {remedy}")
    return value


def _delimiter(lines: list[str], given: str | None, fields: int, origin: str) -> str:
    """The given delimiter if the text has it; else the first that cuts every line into enough fields."""
    found = [d for d in DELIMITERS if all(line.count(d) >= fields - 1 for line in lines)]
    if given is not None:
        if given not in lines[0]:
            hint = f"; it looks like {found[0]!r}" if found else ""
            raise DataError(f"{origin}, line 1: no delimiter {given!r} in {lines[0].rstrip()[:60]!r}{hint}")
        return given
    if found:
        return found[0]
    if fields == 1 or any(d in lines[0] for d in DELIMITERS):
        return next((d for d in DELIMITERS if d in lines[0]), ",")
    raise DataError(
        f"{origin}, line 1: no delimiter (comma, tab, ::, semicolon or |) in {lines[0].rstrip()[:60]!r}; "
        f"give the delimiter"
    )


def _rows(block: Block, delimiter: str, origin: str) -> list[list[str]]:
    # Quotes matter in comma-separated files only: a title in a tab-separated one may well hold a lone one.
    if delimiter not in (",", ";") or not any('"' in line for line in block.lines):
        return [line.split(delimiter) for line in block.lines]
    return [
        _quoted(line, delimiter, f"{origin}, line {number}") if '"' in line else line.split(delimiter)
        for number, line in zip(block.numbers, block.lines, strict=True)
    ]


def _quoted(line: str, delimiter: str, origin: str) -> list[str]:
    try:
        parsed = list(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error as error:
        if str(error) == "unexpected end of data":
            raise DataError(
                f"{origin}: a quoted field does not end on its line: close the quote, or take out the line break"
            ) from error
        raise DataError(f"{origin}: {error}: write a quote inside a quoted field twice") from error
    if len(parsed) != 1:
        raise DataError(f"{origin}: a line break inside a field: take it out")
    return parsed[0]


def _has_header(
    top: list[list[str]], wanted: Sequence[str], enough: Sequence[str], form: TextFormat, origin: str
) -> bool:
    """Whether the first of the two ``top`` rows names the columns."""
    if form.header is not None:
        return form.header
    fields, below = top[0], top[-1]
    if is_header(fields, wanted, form.columns):
        return True
    # Not names we know. Where a number belongs and none is, taking the line for a header would hide a bad
    # rating, and taking it for a row would turn a column of integers into text: so ask.
    positions = find_columns(
        wanted, names=None, width=len(fields), columns=form.columns, origin=origin, exact=form.exact
    )
    numeric = "rating" in wanted  # then the rating decides; else an id that is a number in the next line
    for role, position in zip(wanted, positions, strict=True):
        if role == "title" or (numeric and role != "rating") or is_number(fields[position]):
            continue
        if numeric or (position < len(below) and is_number(below[position])):
            named = how_to_name(wanted, enough, fields)
            if form.columns is not None:  # by their positions
                named = "say so with --header (in Python: header=True)"
            raise DataError(
                f"{origin}: the {role} is {fields[position][:60]!r}, which is not a number; if this line is a "
                f"header, {named}: it has {shown(fields)}"
            )
    return False


def _warn_of_header(rows: list[list[str]], first: list[str], positions: list[int], origin: str) -> None:
    """Warn if the first row has words that are nowhere below them, as the names of columns would be."""
    if any(
        is_number(word) or any(row[at] == word for row in rows[1:]) for word, at in zip(first, positions, strict=True)
    ):
        return
    warnings.warn(
        f"{origin}, line 1: {shown(first)} are taken for ids, and are in no other line: if they name the "
        f"columns, say so with --columns {shlex.quote(','.join(first))} (in Python: columns=)",
        UserWarning,
        stacklevel=2,
    )


def is_number(text: str) -> bool:
    """Whether a field is a finite number."""
    try:
        _number(text)
    except _BadValue:
        return False
    return True


def _chain(first: Block, rest: Iterator[Block]) -> Iterator[Block]:
    yield first
    yield from rest
