"""The bytes of a model file: magic, version, a JSON header, raw arrays, a checksum of all before it.

    offset 0    8 bytes   magic
           8    4 bytes   format version, little-endian
          12    8 bytes   length of the header, little-endian
          20              the header, JSON in ASCII; its key "arrays" lists [name, dtype, shape] in order
                          the arrays, little-endian and C-ordered, each at the next multiple of 64
    last 32 bytes         SHA-256 of everything before

Nothing in a file says where an array begins: that follows from the sizes, and the sizes must add up to the size
of the file before anything is read. There is no pickle and no compression, and a file that consists of holes is
refused, so that a small file cannot ask for much memory.
"""

import errno
import hashlib
import json
import math
import os
import stat
import struct
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from lbg_recsys.errors import DataError, ModelFileError
from lbg_recsys.persistence.schema import AnyArray, Listed, listed

MAGIC = b"\x89LBG\r\n\x1a\n"  # after PNG's: a transfer that meddles with line ends or the eighth bit shows at once
FORMAT = 2
DTYPES = frozenset({"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<i8", "<f2", "<f4", "<f8"})

_PREFIX = struct.Struct("<8sIQ")
_ALIGN = 64
_DIGEST = hashlib.sha256().digest_size
_BLOCK = 1 << 20
# Copying may turn zeros into holes, but no model consists of them: of a larger file a hundredth must be data.
_ANY_HOLES, _MOST_HOLES = 64 << 20, 100


def write_container(stream: IO[bytes], header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write a header (plain JSON values) and arrays."""
    little = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    directory = [[name, dtype, list(shape)] for name, (dtype, shape) in listed(little).items()]
    text = encoded({**header, "arrays": directory})
    digest = hashlib.sha256()
    for part in _parts(text, little):
        stream.write(part)
        digest.update(part)
    stream.write(digest.digest())


def encoded(header: Mapping[str, Any]) -> bytes:
    """A header as it stands in a file; a value that JSON does not have raises `DataError`."""
    try:
        return json.dumps(header, allow_nan=False, separators=(",", ":"), default=_scalar).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"a model file cannot hold this: {error}") from error


def decoded(text: bytes) -> dict[str, Any]:
    """The header that `encoded` wrote; anything else raises `ModelFileError`."""
    try:
        header = json.loads(text.decode("ascii"), parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"is damaged: its header is not JSON ({str(error)[:80]})") from error
    if not isinstance(header, dict):
        raise ModelFileError("is damaged: its header is not a JSON object")
    return header


def _parts(text: bytes, arrays: Mapping[str, AnyArray]) -> Iterator[bytes | memoryview]:
    yield _PREFIX.pack(MAGIC, FORMAT, len(text))
    yield text
    position = _PREFIX.size + len(text)
    for array in arrays.values():
        yield bytes(-position % _ALIGN)
        yield _bytes_of(array)
        position += -position % _ALIGN + array.nbytes


def _bytes_of(array: AnyArray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


class Container:
    """An open file: its ``version``, ``size``, ``header`` and the ``directory`` of its arrays, which `read` reads."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream, self.size = stream, size
        self._digest = hashlib.sha256()
        _refuse_holes(stream.fileno(), size)
        prefix = self._exactly(min(_PREFIX.size, size))
        if prefix[:8] != MAGIC[: len(prefix)] or not prefix:
            raise ModelFileError(f"is not a model file of lbg-recsys{_guess(prefix)}")
        if len(prefix) < _PREFIX.size:
            raise ModelFileError("is cut short: save the model again or copy the file again")
        _, self.version, length = _PREFIX.unpack(prefix)
        if self.version > FORMAT:
            raise ModelFileError(
                f"has format {self.version}, and this version of lbg-recsys reads formats up to {FORMAT}: "
                "pip install --upgrade lbg-recsys"
            )
        if self.version < 1 or length > size - _PREFIX.size - _DIGEST:
            raise ModelFileError("is damaged or cut short: its header does not fit into it")
        self.header = decoded(self._exactly(length))
        self.directory = dict(_listed(self.header.pop("arrays", None)))
        self._begin = position = _PREFIX.size + length
        for one in self.directory.values():
            position += -position % _ALIGN + _nbytes(one)
        if position + _DIGEST != size:
            raise ModelFileError(
                f"is damaged or cut short: it has {size:,} bytes where {position + _DIGEST:,} are listed"
            )

    def read(self, names: Collection[str] | None = None) -> dict[str, AnyArray]:
        """Read the arrays with these names (by default all) and verify the checksum of the whole file; once."""
        arrays = {}
        position = self._begin
        for name, one in self.directory.items():
            padding = -position % _ALIGN
            if any(self._exactly(padding)):
                raise ModelFileError("is damaged: there is something between its arrays")
            position += padding + _nbytes(one)
            if names is None or name in names:
                arrays[name] = self._array(one)
            else:
                self._skip(_nbytes(one))
        if self._stream.read(_DIGEST) != self._digest.digest():
            raise ModelFileError("is damaged: its checksum is wrong; copy it again or save the model again")
        return arrays

    def _array(self, one: Listed) -> AnyArray:
        array = np.empty(one.shape, one.dtype)
        raw, filled = _bytes_of(array), 0
        while filled < len(raw):
            got = self._stream.readinto(raw[filled:])  # type: ignore[attr-defined]
            if not got:
                raise ModelFileError("is cut short: save the model again or copy the file again")
            filled += got
        self._digest.update(raw)
        return array.astype(array.dtype.newbyteorder("="), copy=sys.byteorder != "little")

    def _skip(self, size: int) -> None:
        for first in range(0, size, _BLOCK):
            self._exactly(min(_BLOCK, size - first))

    def _exactly(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) != size:  # somebody shortens the file while we read it
            raise ModelFileError("is cut short: save the model again or copy the file again")
        self._digest.update(data)
        return data


@contextmanager
def open_container(path: str | os.PathLike[str]) -> Iterator[Container]:
    """Open a model file; what is wrong with its bytes, or raised as `DataError` meanwhile, is a `ModelFileError`."""
    with open(path, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"{os.fspath(path)} is not a regular file: a model file must be one")
        try:
            yield Container(stream, status.st_size)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)} {error}") from error
        except DataError as error:
            raise ModelFileError(f"{os.fspath(path)} is not a model file that can be used: {error}") from error


def read_container(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The header and all arrays of a file, whatever they are."""
    with open_container(path) as file:
        return file.header, file.read()


def _refuse_holes(descriptor: int, size: int) -> None:
    """Refuse a large file with next to nothing in it: the arrays that it announces would cost memory all the same."""
    if size <= _ANY_HOLES or not hasattr(os, "SEEK_HOLE"):
        return
    data = position = 0
    try:
        while position < size:
            start = os.lseek(descriptor, position, os.SEEK_DATA)
            position = os.lseek(descriptor, start, os.SEEK_HOLE)
            data += position - start
    except OSError as error:
        if error.errno != errno.ENXIO:  # a file system that does not say where holes are
            data = size
    os.lseek(descriptor, 0, os.SEEK_SET)
    if size > _ANY_HOLES + _MOST_HOLES * data:
        raise ModelFileError(f"is damaged: of its {size:,} bytes {size - data:,} were never written")


def _nbytes(one: Listed) -> int:
    return int(one.dtype[2:]) * math.prod(one.shape)


def _scalar(value: Any) -> Any:
    """NumPy's numbers as Python's; anything else has no place in a header."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def _listed(entries: Any) -> Iterator[tuple[str, Listed]]:
    names = set()
    for entry in entries if isinstance(entries, list) else [None]:
        match entry:
            case [str(name), str(dtype), list(shape)] if (
                name not in names
                and dtype in DTYPES
                and len(shape) <= 4
                and all(type(length) is int and 0 <= length < 2**48 for length in shape)
            ):
                names.add(name)
                yield name, Listed(dtype, tuple(shape))
            case _:
                raise ModelFileError(f"is damaged: its header lists the array {str(entry)[:80]}")


def _guess(start: bytes) -> str:
    if not start:
        return ": it is empty"
    if start[:2] == b"\x80\x04" or start[:2] == b"\x80\x05":
        return ": it looks like a pickle; what surprise.dump wrote, surprise.dump.load reads (only if you trust it)"
    return f": it begins with {start[:8]!r}"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found
