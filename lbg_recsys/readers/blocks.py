"""Bytes into numbered lines of text, a block at a time."""

import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from lbg_recsys.errors import DataError
from lbg_recsys.files import MAGIC

# Of titles and texts: older files are Latin-1, which is a part of Windows-1252 but for five bytes that this lacks.
LENIENT = ("utf-8", "cp1252", "latin-1")

_BLOCK = 1 << 20  # bytes read at a time
_LONGEST_LINE = 1 << 16  # bytes; a ratings line is some dozens
_JSON = re.compile(rb'\s*(?:\{\s*"|\[\s*[\[{])')  # the beginning of an object, or of a list of these or of lists


class ByteStream(Protocol):
    """What a stream must offer."""

    def read(self, size: int = -1, /) -> bytes:
        """Some bytes, none at the end."""


@dataclass(frozen=True)
class Block:
    """Lines that are not blank, each with its number in the file (counted from one)."""

    numbers: Sequence[int]
    lines: list[str]

    def without_first(self) -> "Block":
        """The block below its first line."""
        return Block(self.numbers[1:], self.lines[1:])


def read_blocks(stream: ByteStream, origin: str, encodings: tuple[str, ...] = ("utf-8",)) -> Iterator[Block]:
    """Cut a stream into blocks of whole lines; whatever cannot be text raises `DataError`.

    >>> import io
    >>> [(list(block.numbers), block.lines) for block in read_blocks(io.BytesIO(b"a\\n\\nb"), "example")]
    [([1, 3], ['a', 'b'])]
    """
    number, rest, last = 1, b"", False
    while not last:
        try:
            data = stream.read(_BLOCK)
        except (EOFError, zlib.error, OSError) as error:
            reason = "it is cut short" if isinstance(error, EOFError) else error
            raise DataError(
                f"{origin}, after line {number - 1}: the file is truncated or damaged: {reason}"
            ) from error
        last = len(data) < _BLOCK  # a buffered stream falls short at its end only
        if number == 1 and not rest:
            data = _without_mark(data, origin)
            if _JSON.match(data):
                raise DataError(
                    f"{origin} is JSON, which is not read: save it as CSV (in pandas: to_csv(path, index=False))"
                )
        whole, rest = rest + data, b""
        if not last:
            whole, _, rest = whole.rpartition(b"\n")
        lines = whole.split(b"\n")
        if max(len(rest), *map(len, lines)) > _LONGEST_LINE:
            raise DataError(
                f"{origin}, near line {number}: a line longer than {_LONGEST_LINE:,} bytes; is this text?"
            )
        yield from _numbered(_decode(whole, origin, number, encodings).split("\n"), number)
        number += len(lines)


def whole_text(raw: bytes, origin: str) -> tuple[str, list[int]]:
    r"""A text whose lines are UTF-8 or else another of the `LENIENT` encodings, and the numbers of these other lines.

    >>> whole_text("été\n".encode() + "été".encode("latin-1"), "example")
    ('été\nété', [2])
    """
    raw = _without_mark(raw, origin)
    if _is_utf8(raw):
        return _decode(raw, origin, 1, LENIENT), []
    lines = list(enumerate(raw.split(b"\n"), start=1))
    text = "\n".join(_decode(line, origin, number, LENIENT) for number, line in lines)
    return text, [number for number, line in lines if not _is_utf8(line)]


def warn_of_encoding(what: str, first: str) -> None:
    """Warn of what `whole_text` did not find to be UTF-8."""
    warnings.warn(
        f"not UTF-8, and read as Windows-1252: {what}, the first of them {first}; save as UTF-8 if letters are wrong",
        UserWarning,
        stacklevel=3,
    )


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _without_mark(raw: bytes, origin: str) -> bytes:
    """The beginning of a file without a byte order mark, which must be that of UTF-8; model files are refused."""
    if raw.startswith(MAGIC):
        raise DataError(
            f"{origin} is a model file of lbg-recsys, and no data can be read from it: give a file of data"
        )
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{origin} is UTF-16 text; save it as UTF-8")
    return raw.removeprefix(b"\xef\xbb\xbf")


def _numbered(lines: list[str], number: int) -> Iterator[Block]:
    numbers: Sequence[int] = range(number, number + len(lines))
    if not all(map(str.strip, lines)):
        filled = [(n, line) for n, line in zip(numbers, lines, strict=True) if line.strip()]
        numbers, lines = [n for n, _ in filled], [line for _, line in filled]
    if lines:
        yield Block(numbers, [line.removesuffix("\r") for line in lines])


def _decode(raw: bytes, origin: str, number: int, encodings: tuple[str, ...]) -> str:
    if (zero := raw.find(b"\0")) >= 0:
        line = number + raw.count(b"\n", 0, zero)
        raise DataError(f"{origin}, line {line}: a zero byte, so this is not a text file")
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError as error:
            bad = error.start
    line = number + raw.count(b"\n", 0, bad)
    raise DataError(f"{origin}, line {line}: byte 0x{raw[bad]:02x} is not {encodings[0]} text; save it as UTF-8")
