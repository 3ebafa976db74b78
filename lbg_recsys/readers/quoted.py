"""Tables whose quoted fields may hold delimiters and line breaks, read whole: texts and features."""

import csv
from collections.abc import Callable, Iterator, Sequence

from lbg_recsys.errors import DataError
from lbg_recsys.readers.delimited import DELIMITERS
from lbg_recsys.words import counted, shown

_LONGEST_FIELD = 1 << 24  # a book in a field is fine; the default of the csv module refuses a long article


def delimiter_of(header: str, has_column: Callable[[list[str]], bool]) -> str:
    """The delimiter by which a header has the column that is needed; else the first one that is in it.

    >>> delimiter_of("name, first name;text", lambda names: "text" in names), delimiter_of("a;b", lambda names: False)
    (';', ';')
    """
    candidates = [one for one in DELIMITERS if len(one) == 1 and one in header]
    fitting = (one for one in candidates if has_column(next(csv.reader([header], delimiter=one))))
    return next(fitting, candidates[0] if candidates else ",")


def rows_of(
    lines: Sequence[str], numbers: Sequence[int], delimiter: str, origin: str
) -> Iterator[tuple[int, list[str]]]:
    """The header and the rows below it, which are as long, each with the number of the line that it begins in."""
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    width = 0
    while reader.line_num < len(lines):
        number = numbers[reader.line_num]
        try:
            fields = next(reader)
        except csv.Error as error:
            raise DataError(
                f"{origin}, line {number}: quotes that do not close a field ({error}): fix the line"
            ) from error
        width = width or len(fields)
        if fields and len(fields) != width:
            raise DataError(
                f"{origin}, line {number}: {counted(len(fields), 'field')} where the header has {width} "
                f"(delimiter {delimiter!r}): {shown(fields)}; fix the line, or quote a field that contains the "
                "delimiter"
            )
        if fields:  # no blank line
            yield number, fields
