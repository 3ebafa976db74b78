"""The bytes of a model file: magic, version, a JSON header, compressed arrays, a checksum of all before it.

    offset 0    8 bytes   magic
           8    4 bytes   format version, little-endian
          12    8 bytes   length of the header, little-endian
          20              the header, JSON in ASCII; its key "arrays" lists [name, dtype, shape, bytes] in order
                          the arrays, little-endian and C-ordered, each at the next multiple of 64
    last 32 bytes         SHA-256 of everything before

An array is compressed by zlib, or stored as it is if its "bytes" are those of its shape. Formats 1 and 2 list
[name, dtype, shape], and all their arrays are stored as they are.

Nothing in a file says where an array begins: that follows from the "bytes", which must add up to the size of the file
before anything is read. There is no pickle. A small file cannot ask for much memory: its arrays may take 64 MB, and
beyond that a hundred times the data in the file, where holes are no data.
"""

import errno
import hashlib
import json
import math
import os
import stat
import struct
import sys
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from lbg_recsys.errors import DataError, ModelFileError
from lbg_recsys.files import MAGIC, check_path
from lbg_recsys.persistence.schema import AnyArray, Listed, cut, listed
from lbg_recsys.words import class_of

FORMAT = 3
_ALL_RAW = 2  # up to this format no array is compressed
DTYPES = frozenset({"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<i8", "<f2", "<f4", "<f8"})

_PREFIX = struct.Struct("<8sIQ")
_ALIGN = 64
_DIGEST = hashlib.sha256().digest_size
_BLOCK = 1 << 20
# The memory that any file may ask for, and how many bytes beyond that per byte of data: zeros compress to less, and
# copying may turn them into holes, but no model consists of them.
_ANY_MEMORY, _MOST_MEMORY = 64 << 20, 100
_ANY_DATA = 1 << 16
# On the kept sweeps of MovieLens-100K, level 6 takes twice the time of level 1 and saves 1% more.
_LEVEL = 1


def write_container(stream: IO[bytes], header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write a header (plain JSON values) and arrays."""
    little = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    stored = _compressed(little)
    directory = [[name, dtype, list(shape), len(stored[name])] for name, (dtype, shape) in listed(little).items()]
    text = encoded({**header, "arrays": directory})
    digest = hashlib.sha256()
    for part in _parts(text, stored):
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


def _compressed(arrays: Mapping[str, AnyArray]) -> dict[str, bytes | memoryview]:
    """The bytes of each array as they are stored: compressed if that makes them fewer and the file can be loaded."""
    raw: dict[str, bytes | memoryview] = {name: _bytes_of(array) for name, array in arrays.items()}
    stored = {name: min(data, zlib.compress(data, _LEVEL), key=len) for name, data in raw.items()}
    needed, size = (sum(map(len, one.values())) for one in (raw, stored))
    return raw if _too_much(needed, size) else stored


def _parts(text: bytes, stored: Mapping[str, bytes | memoryview]) -> Iterator[bytes | memoryview]:
    yield _PREFIX.pack(MAGIC, FORMAT, len(text))
    yield text
    position = _PREFIX.size + len(text)
    for data in stored.values():
        yield bytes(-position % _ALIGN)
        yield data
        position += -position % _ALIGN + len(data)


def _bytes_of(array: AnyArray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


class Container:
    """An open file: its ``version``, ``size``, ``header`` and the ``directory`` of its arrays, which `read` reads."""

    directory: dict[str, Listed]

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream, self.size = stream, size
        self._digest = hashlib.sha256()
        data = _size_of_data(stream.fileno(), size)
        if _too_much(size, data):
            raise ModelFileError(f"is damaged: of its {size:,} bytes {size - data:,} were never written")
        prefix = self._exactly(min(_PREFIX.size, size))
        if prefix[:8] != MAGIC[: len(prefix)] or not prefix:
            raise ModelFileError(f"is not a model file of lbg-recsys{_guess(prefix)}")
        if len(prefix) < _PREFIX.size:
            raise ModelFileError("is cut short: save the model again or copy the file again")
        _, self.version, length = _PREFIX.unpack(prefix)
        if self.version > FORMAT:
            raise ModelFileError(
                f"has format {self.version}, and this version of lbg-recsys reads formats up to {FORMAT}: "
                "install a newer version"
            )
        # JSON has no zeros: a header is not in a hole
        if self.version < 1 or length > min(size - _PREFIX.size - _DIGEST, data):
            raise ModelFileError("is damaged or cut short: its header does not fit into it")
        self.header = decoded(self._exactly(length))
        self.directory, self._stored = {}, {}
        for name, one, stored in _listed(self.header.pop("arrays", None), self.version):
            self.directory[name], self._stored[name] = one, stored
        self._begin = position = _PREFIX.size + length
        for stored in self._stored.values():
            position += -position % _ALIGN + stored
        if position + _DIGEST != size:
            raise ModelFileError(
                f"is damaged or cut short: it has {size:,} bytes where {position + _DIGEST:,} are listed"
            )
        needed = sum(map(_nbytes, self.directory.values()))
        if _too_much(needed, data):
            raise ModelFileError(f"is damaged: its {data:,} bytes of data cannot be {needed:,} bytes of arrays")

    def read(self, names: Collection[str] | None = None) -> dict[str, AnyArray]:
        """Read the arrays with these names (by default all) and verify the checksum of the whole file; once."""
        arrays = {}
        position = self._begin
        for name, one in self.directory.items():
            padding = -position % _ALIGN
            if any(self._exactly(padding)):
                raise ModelFileError("is damaged: there is something between its arrays")
            stored = self._stored[name]
            position += padding + stored
            if names is None or name in names:
                arrays[name] = self._array(name, one, stored)
            else:
                for _ in self._blocks(stored):
                    pass
        if self._stream.read(_DIGEST) != self._digest.digest():
            raise ModelFileError("is damaged: its checksum is wrong; copy it again or save the model again")
        return arrays

    def _array(self, name: str, one: Listed, stored: int) -> AnyArray:
        array = np.empty(one.shape, one.dtype)
        raw, filled = _bytes_of(array), 0
        inflater = zlib.decompressobj() if stored != len(raw) else None
        for block in self._blocks(stored):
            data = block if inflater is None else _inflated(inflater, block, len(raw) - filled + 1)
            filled += len(data)
            if filled > len(raw):
                break
            raw[filled - len(data) : filled] = data
        if filled != len(raw) or (inflater is not None and (not inflater.eof or inflater.unused_data)):
            raise ModelFileError(f"is damaged: the array {name} is not {len(raw):,} bytes when it is decompressed")
        return array.astype(array.dtype.newbyteorder("="), copy=sys.byteorder != "little")

    def _blocks(self, size: int) -> Iterator[bytes]:
        for first in range(0, size, _BLOCK):
            yield self._exactly(min(_BLOCK, size - first))

    def _exactly(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) != size:  # the file was truncated while it was read
            raise ModelFileError("is cut short: save the model again or copy the file again")
        self._digest.update(data)
        return data


@contextmanager
def open_container(path: str | os.PathLike[str]) -> Iterator[Container]:
    """Open a model file; what is wrong with its bytes, or raised as `DataError` meanwhile, is a `ModelFileError`."""
    check_path(path)
    if os.path.isdir(path):
        raise ModelFileError(f"{os.fspath(path)} is a folder: name a model file in it")
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


def _too_much(needed: int, data: int) -> bool:
    """Whether this much memory is more than a file with this much data may ask for."""
    return needed > _ANY_MEMORY + _MOST_MEMORY * data


def _size_of_data(descriptor: int, size: int) -> int:
    """The bytes of a file that were written; the others are holes, which read as zeros.

    The first `_ANY_DATA` bytes always count: file systems may keep a small file where they keep its name.
    """
    if size <= _ANY_DATA or not hasattr(os, "SEEK_HOLE"):
        return size
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
    return max(min(data, size), _ANY_DATA)


def _inflated(inflater: Any, block: bytes, most: int) -> bytes:
    """The next bytes of an array, at most ``most``."""
    try:
        return bytes(inflater.decompress(block, most))
    except zlib.error as error:
        raise ModelFileError(f"is damaged: an array cannot be decompressed ({error})") from error


def _nbytes(one: Listed) -> int:
    return int(one.dtype[2:]) * math.prod(one.shape)


def _scalar(value: Any) -> Any:
    """NumPy's numbers as Python's; anything else has no place in a header."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is {class_of(value)}")


def _listed(entries: Any, version: int) -> Iterator[tuple[str, Listed, int]]:
    """The name, dtype and shape of each array in a header, and how many bytes are stored."""
    names = set()
    for entry in entries if isinstance(entries, list) else [None]:
        match entry:
            case [str(name), str(dtype), list(shape), *stored] if (
                name not in names
                and name.isascii()
                and name.isprintable()
                and dtype in DTYPES
                and len(shape) <= 4
                and len(stored) == (version > _ALL_RAW)
                and all(type(length) is int and 0 <= length < 2**48 for length in (*shape, *stored))
            ):
                names.add(name)
                one = Listed(dtype, tuple(shape))
                yield name, one, stored[0] if stored else _nbytes(one)
            case _:
                raise ModelFileError(f"is damaged: its header lists the array {cut(repr(entry), 80)}")


def _guess(start: bytes) -> str:
    if not start:
        return ": it is empty"
    if start[:2] == b"\x80\x04" or start[:2] == b"\x80\x05":
        return ": it looks like a pickle; what surprise.dump wrote, surprise.dump.load reads (only if you trust it)"
    return ": make one with lbg-recsys fit RATINGS -o FILE, or with lbg_recsys.save"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found
