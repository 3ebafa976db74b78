"""Tables with a column of texts."""

import io
import warnings
from collections.abc import Sequence

from lbg_recsys.columns import simplify
from lbg_recsys.errors import DataError
from lbg_recsys.readers.blocks import warn_of_encoding, whole_text
from lbg_recsys.readers.files import contents
from lbg_recsys.readers.quoted import delimiter_of, rows_of
from lbg_recsys.words import shown

_TEXT_NAMES = ("text", "document", "body", "content", "message", "review", "abstract")
_ID_NAMES = ("id", "documentid", "docid", "document")  # as `simplify` writes them
_LABEL_NAMES = ("label", "class", "category", "target", "topic", "group")


def read_text_table(
    path: str, text_column: str | None, label_column: str | None
) -> tuple[list[str], list[str], list[str] | None]:
    """Names, texts and, where there is a column of them, labels of a table whose delimiter is detected."""
    raw, origin = contents(path)
    text, others = whole_text(raw, origin)
    lines = list(io.StringIO(text, newline=""))
    if others:
        warn_of_encoding(f"{len(others):,} of {len(lines):,} lines of {origin}", f"line {others[0]}")
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise DataError(f"{origin} is empty: give a header with a text column, and one row per document")
    delimiter = delimiter_of(first, lambda names: _find(names, text_column, _TEXT_NAMES) is not None)
    numbered = rows_of(lines, range(1, len(lines) + 1), delimiter, origin)
    _, header = next(numbered)
    texts = _column(header, text_column, _TEXT_NAMES, "text", origin)
    label = _find(header, None, _LABEL_NAMES)
    if label_column is not None:
        label = _column(header, label_column, (), "label", origin)
    rows = list(numbered)
    labels = None if label is None else _labels(rows, label, header[label], origin)
    return _names(rows, header, (texts, label), origin), [fields[texts] for _, fields in rows], labels


def _names(
    rows: Sequence[tuple[int, list[str]]], header: list[str], others: Sequence[int | None], origin: str
) -> list[str]:
    """The ids of the documents, where a column has an id for each; else the numbers of the rows."""
    simple = [None if place in others else simplify(name) for place, name in enumerate(header)]
    column = next((simple.index(one) for one in _ID_NAMES if one in simple), None)
    numbers = [str(row) for row in range(1, len(rows) + 1)]
    if column is None:
        return numbers
    names = [fields[column].strip() for _, fields in rows]
    seen = {""}
    for name, (line, _) in zip(names, rows, strict=True):
        if name in seen:
            warnings.warn(
                f"{origin}, line {line}: the {header[column]} is {'used twice: ' + repr(name) if name else 'empty'}; "
                "documents are named by the numbers of their rows",
                UserWarning,
                stacklevel=2,
            )
            return numbers
        seen.add(name)
    return names


def _labels(rows: Sequence[tuple[int, list[str]]], column: int, name: str, origin: str) -> list[str] | None:
    """The label of every document, or None if no document has one."""
    empty = [number for number, fields in rows if not fields[column].strip()]
    if len(empty) == len(rows):
        return None
    if empty:
        raise DataError(
            f"{origin}, line {empty[0]}: the label (column {name!r}) is empty: fill it in or leave the document out; "
            "rename the column if its values are no labels"
        )
    return [fields[column] for _, fields in rows]


def _column(header: Sequence[str], given: str | None, usual: Sequence[str], what: str, origin: str) -> int:
    """The position of a column that must be there."""
    found = _find(header, given, usual)
    if found is None:
        raise DataError(f"{origin} has no {what} column: it has {shown(header)}; name it with --{what}-column")
    return found


def _find(header: Sequence[str], given: str | None, usual: Sequence[str]) -> int | None:
    """The position of the given column, or of the first of the usual ones that there is."""
    names = [name.strip().lower() for name in header]
    wanted = usual if given is None else (given.strip().lower(),)
    return next((names.index(one) for one in wanted if one in names), None)
