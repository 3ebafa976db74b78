"""Delimited text, read line by line: bounded memory, exact line numbers, no surprises from a parser."""

import csv
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np

from lbg_recsys.datasets.columns import Columns, find_columns, is_header, shown
from lbg_recsys.datasets.interning import Interner
from lbg_recsys.errors import DataError

DELIMITERS = ("::", "\t", ",", ";", "|")
_LONGEST_LINE = 1 << 16  # bytes; a ratings line is some dozens
_BATCH = 50_000  # rows turned into arrays at a time
_SNIFF = 20  # lines looked at to find the delimiter


@dataclass(frozen=True)
class TextFormat:
    """How to read the text; None means find out. ``encodings`` are tried in turn for each line."""

    delimiter: str | None = None
    header: bool | None = None
    columns: Columns | None = None
    encodings: tuple[str, ...] = ("utf-8",)


class ByteLines(Protocol):
    """All that is asked of a stream."""

    def readline(self, size: int = -1, /) -> bytes:
        """One line, or what fits."""


Numbered = tuple[int, str]
Row = tuple[int, list[str]]


def read_text(stream: ByteLines, place: str, wanted: Sequence[str], form: TextFormat) -> dict[str, np.ndarray]:
    """Read the wanted columns: ``rating`` and ``timestamp`` are numbers, ``title`` is text, the others ids."""
    lines = _lines(stream, place, form.encodings)
    head = list(islice(lines, _SNIFF))
    if not head:
        raise DataError(f"{place} is empty; it should hold {', '.join(wanted)}, one line each")
    delimiter = _delimiter([line for _, line in head], form.delimiter, len(wanted), place)
    rows = _rows(_chain(head, lines), delimiter, place)
    first = next(rows)
    second = next(rows, None)
    names = first[1] if _has_header(first, second, wanted, form, place) else None
    width = len(first[1])
    positions = find_columns(wanted, names=names, width=width, columns=form.columns, place=place)
    opening = [row for row in (None if names else first, second) if row is not None]
    body = _chain(opening, rows)
    collectors = [_Numbers() if role in ("rating", "timestamp") else _Ids(role) for role in wanted]
    n_rows = 0
    while batch := list(islice(body, _BATCH)):
        for number, fields in batch:
            if len(fields) != width:
                raise DataError(
                    f"{place}, line {number}: {len(fields)} field(s) where the first line has {width} "
                    f"(delimiter {delimiter!r}): {shown(fields)}"
                )
        n_rows += len(batch)
        for role, position, collector in zip(wanted, positions, collectors, strict=True):
            try:
                collector.add([fields[position] for _, fields in batch])
            except _BadValue as bad:
                number = next(number for number, fields in batch if fields[position] == bad.value)
                raise DataError(f"{place}, line {number}: the {role} is {bad.value[:60]!r}, {bad.reason}") from None
    if not n_rows:
        raise DataError(f"{place} has a header but no rows below it")
    return {role: collector.column() for role, collector in zip(wanted, collectors, strict=True)}


class _BadValue(Exception):
    def __init__(self, value: str, reason: str) -> None:
        self.value, self.reason = value, reason


class _Ids:
    def __init__(self, role: str) -> None:
        self._interner = Interner(integers=role != "title")

    def add(self, values: list[str]) -> None:
        for value in dict.fromkeys(values):
            if not value.strip():
                raise _BadValue(value, "which is empty")
        self._interner.add(values)

    def column(self) -> np.ndarray:
        return self._interner.column()


class _Numbers:
    def __init__(self) -> None:
        self._batches: list[np.ndarray] = []

    def add(self, values: list[str]) -> None:
        known = {value: _number(value) for value in dict.fromkeys(values)}
        self._batches.append(np.fromiter(map(known.__getitem__, values), np.float64, count=len(values)))

    def column(self) -> np.ndarray:
        return np.concatenate(self._batches)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _BadValue(text, "which is not a number") from None
    if not math.isfinite(value):
        raise _BadValue(text, "which is not finite: leave such lines out")
    if "_" in text:  # Python reads 1_0 as ten; nobody else does
        raise _BadValue(text, "which is not a number")
    return value


def _lines(stream: ByteLines, place: str, encodings: tuple[str, ...]) -> Iterator[Numbered]:
    """The lines that are not blank, numbered from one."""
    number = 0
    while True:
        number += 1
        try:
            raw = stream.readline(_LONGEST_LINE + 1)
        except (EOFError, zlib.error, OSError) as error:
            raise DataError(f"{place}, after line {number - 1}: cannot be read on, {_reason(error)}") from error
        if not raw:
            return
        if len(raw) > _LONGEST_LINE:
            raise DataError(
                f"{place}, line {number}: longer than {_LONGEST_LINE:,} bytes, so this is not a ratings file"
            )
        if number == 1:
            if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(f"{place} is UTF-16 text; save it as UTF-8")
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in raw:
            raise DataError(f"{place}, line {number}: a zero byte, so this is not a text file")
        line = _decode(raw, place, number, encodings)
        if line.strip():
            yield number, line


def _decode(raw: bytes, place: str, number: int, encodings: tuple[str, ...]) -> str:
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError as error:
            byte = raw[error.start]
    raise DataError(
        f"{place}, line {number}: byte 0x{byte:02x} is not {encodings[0]} text; save the file as UTF-8"
    ) from None


def _delimiter(lines: list[str], given: str | None, fields: int, place: str) -> str:
    """The given delimiter if the text has it; else the first that cuts every line into enough fields."""
    found = [d for d in DELIMITERS if all(line.count(d) >= fields - 1 for line in lines)]
    if given is not None:
        if not given:
            raise DataError("the delimiter is empty; give one such as ',' or '\\t'")
        if given not in lines[0]:
            hint = f"; it looks like {found[0]!r}" if found else ""
            raise DataError(f"{place}, line 1: no delimiter {given!r} in {lines[0].rstrip()[:60]!r}{hint}")
        return given
    if found:
        return found[0]
    if fields == 1 or any(d in lines[0] for d in DELIMITERS):
        return next((d for d in DELIMITERS if d in lines[0]), ",")
    raise DataError(
        f"{place}, line 1: no delimiter (comma, tab, ::, semicolon or |) in {lines[0].rstrip()[:60]!r}; "
        f"give the delimiter"
    )


def _rows(lines: Iterable[Numbered], delimiter: str, place: str) -> Iterator[Row]:
    # Quotes matter in comma-separated files only: a title in a tab-separated one may well hold a lone one.
    quotes = delimiter in (",", ";")
    for number, line in lines:
        if quotes and '"' in line:
            yield number, _quoted(line, delimiter, f"{place}, line {number}")
        else:
            yield number, line.rstrip("\r\n").split(delimiter)


def _quoted(line: str, delimiter: str, place: str) -> list[str]:
    remedy = "each line must be complete in itself"
    try:
        parsed = list(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise DataError(f"{place}: {error}; {remedy}") from error
    if len(parsed) != 1:
        raise DataError(f"{place}: a line break inside a field; {remedy}")
    return parsed[0]


def _has_header(first: Row, second: Row | None, wanted: Sequence[str], form: TextFormat, place: str) -> bool:
    if form.header is not None:
        return form.header
    number, fields = first
    if is_header(fields, wanted, form.columns):
        return True
    # Not names we know. Where a number belongs and none is, taking the line for a header would hide a bad
    # rating, and taking it for a row would turn a column of integers into text: so ask.
    positions = find_columns(wanted, names=None, width=len(fields), columns=form.columns, place=place)
    numeric = "rating" in wanted  # then the rating decides; else an id that is a number in the next line
    for role, position in zip(wanted, positions, strict=True):
        if role == "title" or (numeric and role != "rating"):
            continue
        below = second[1][position] if second is not None and position < len(second[1]) else ""
        if not _is_number(fields[position]) and (numeric or _is_number(below)):
            raise DataError(
                f"{place}, line {number}: the {role} is {fields[position][:60]!r}, which is not a number; "
                f"say whether this line is a header, and if so which columns to take: it has {shown(fields)}"
            )
    return False


def _is_number(text: str) -> bool:
    try:
        _number(text)
    except _BadValue:
        return False
    return True


def _chain(first: Iterable[Any], rest: Iterable[Any]) -> Iterator[Any]:
    yield from first
    yield from rest


def _reason(error: BaseException) -> str:
    if isinstance(error, EOFError):
        return "the compressed file is cut short"
    return str(getattr(error, "strerror", None) or error)
