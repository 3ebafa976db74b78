"""Bytes into numbered lines of text, a block at a time."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from lbg_recsys.errors import DataError

_BLOCK = 1 << 20  # bytes read at a time
_LONGEST_LINE = 1 << 16  # bytes; a ratings line is some dozens


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
            if data.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(f"{origin} is UTF-16 text; save it as UTF-8")
            data = data.removeprefix(b"\xef\xbb\xbf")
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
