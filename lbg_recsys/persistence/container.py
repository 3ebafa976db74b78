"""The bytes of a model file: magic, version, a JSON header, raw arrays, a checksum of all before it.

    offset 0    8 bytes   magic
           8    4 bytes   format version, little-endian
          12    8 bytes   length of the header, little-endian
          20              the header, JSON in ASCII; its key "arrays" lists [name, dtype, shape] in order
                          the arrays, little-endian and C-ordered, each at the next multiple of 64
    last 32 bytes         SHA-256 of everything before

Nothing in a file says where an array begins: that follows from the sizes, and the sizes must add up to the size
of the file before anything is allocated. There is no pickle and no compression, so a small file cannot ask for
much memory.
"""

import hashlib
import json
import math
import os
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from lbg_recsys.errors import ModelFileError
from lbg_recsys.schema import AnyArray

MAGIC = b"\x89LBG\r\n\x1a\n"  # after PNG's: a transfer that meddles with line ends or the eighth bit shows at once
FORMAT = 2
DTYPES = frozenset({"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<i8", "<f2", "<f4", "<f8"})

_PREFIX = struct.Struct("<8sIQ")
_ALIGN = 64
_DIGEST = hashlib.sha256().digest_size


def write_container(stream: IO[bytes], header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write a header (plain JSON values) and arrays."""
    little = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in little.items()]
    text = json.dumps({**header, "arrays": listed}, allow_nan=False, separators=(",", ":"), default=_scalar).encode()
    digest = hashlib.sha256()
    for part in _parts(text, little):
        stream.write(part)
        digest.update(part)
    stream.write(digest.digest())


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


def read_container(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Read the header and the arrays; whatever is wrong with the bytes raises `ModelFileError`."""
    with open(path, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"{os.fspath(path)} is not a regular file: a model file must be one")
        try:
            return _read(stream, status.st_size)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)} {error}") from error


def _read(stream: IO[bytes], size: int) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    digest = hashlib.sha256()
    prefix = _exactly(stream, _PREFIX.size if size >= _PREFIX.size else size, digest)
    if prefix[:8] != MAGIC[: len(prefix)] or not prefix:
        raise ModelFileError(f"is not a model file of lbg-recsys{_guess(prefix)}")
    if len(prefix) < _PREFIX.size:
        raise ModelFileError("is cut short: save the model again or copy the file again")
    _, version, length = _PREFIX.unpack(prefix)
    if version > FORMAT:
        raise ModelFileError(
            f"has format {version}, and this version of lbg-recsys reads formats up to {FORMAT}: "
            "pip install --upgrade lbg-recsys"
        )
    if version < 1 or length > size - _PREFIX.size - _DIGEST:
        raise ModelFileError("is damaged or cut short: its header does not fit into it")
    header = _header(_exactly(stream, length, digest))
    listed = list(_listed(header.pop("arrays", None)))
    position = _PREFIX.size + length
    for _, dtype, shape in listed:
        position += -position % _ALIGN + dtype.itemsize * math.prod(shape)
    if position + _DIGEST != size:
        raise ModelFileError(
            f"is damaged or cut short: it has {size:,} bytes where {position + _DIGEST:,} are listed"
        )
    arrays = {}
    position = _PREFIX.size + length
    for name, dtype, shape in listed:
        padding = -position % _ALIGN
        if any(_exactly(stream, padding, digest)):
            raise ModelFileError("is damaged: there is something between its arrays")
        array = np.empty(shape, dtype)
        _fill(stream, array, digest)
        position += padding + array.nbytes
        arrays[name] = array.astype(dtype.newbyteorder("="), copy=sys.byteorder != "little")
    if stream.read(_DIGEST) != digest.digest():
        raise ModelFileError("is damaged: its checksum is wrong; copy it again or save the model again")
    return header, arrays


def _scalar(value: Any) -> Any:
    """NumPy's numbers as Python's; anything else has no place in a header."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be kept in a model file")


def _header(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw.decode("ascii"), parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"is damaged: its header is not JSON ({str(error)[:80]})") from error
    if not isinstance(header, dict):
        raise ModelFileError("is damaged: its header is not a JSON object")
    return header


def _listed(entries: Any) -> Iterator[tuple[str, np.dtype[Any], tuple[int, ...]]]:
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
                yield name, np.dtype(dtype), tuple(shape)
            case _:
                raise ModelFileError(f"is damaged: its header lists the array {str(entry)[:80]}")


def _exactly(stream: IO[bytes], size: int, digest: Any) -> bytes:
    data = stream.read(size)
    if len(data) != size:  # somebody shortens the file while we read it
        raise ModelFileError("is cut short: save the model again or copy the file again")
    digest.update(data)
    return data


def _fill(stream: IO[bytes], array: AnyArray, digest: Any) -> None:
    raw = _bytes_of(array)
    filled = 0
    while filled < len(raw):
        got = stream.readinto(raw[filled:])  # type: ignore[attr-defined]
        if not got:
            raise ModelFileError("is cut short: save the model again or copy the file again")
        filled += got
    digest.update(raw)


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
