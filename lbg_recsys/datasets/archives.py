"""Reading named files out of zip and tar archives. Paths inside an archive are never used to write anything."""

import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lbg_recsys.datasets.info import Member
from lbg_recsys.errors import DatasetError

_LONGEST_HEADER_LINE = 4096


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip archive or wheel, or a tar archive."""
    return zipfile.is_zipfile(path) or tarfile.is_tarfile(path)


def read_member(archive: Path, member: Member) -> bytes:
    """Read one member, at most one byte more than its known size: the checksum then shows that it is too long.

    Raises
    ------
    FileNotFoundError
        If the archive has no such member.
    DatasetError
        If the archive is damaged.
    """
    try:
        with _opened(archive, member.path) as stream:
            for _ in range(member.skip_lines):
                stream.readline(_LONGEST_HEADER_LINE)
            return stream.read(member.file.size + 1)
    except FileNotFoundError:
        raise
    except Exception as error:  # zlib.error and whatever else a damaged stream makes its decoder raise
        raise DatasetError(f"{archive.name} is damaged: {error}") from error


@contextmanager
def _opened(archive: Path, path: str) -> Iterator[IO[bytes]]:
    missing = FileNotFoundError(f"{archive.name} has no member {path}")
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            if path not in opened.namelist():
                raise missing
            with opened.open(path) as stream:
                yield stream
        return
    with archive.open("rb") as file:
        stream = file
        for step in path.split("!"):
            found = _find_in_tar(stream, step)
            if found is None:
                raise missing
            stream = found
        yield stream


def _find_in_tar(stream: IO[bytes], path: str) -> IO[bytes] | None:
    """Return the first regular file of that name; the archive is read no further than that."""
    opened = tarfile.open(fileobj=stream, mode="r:*")  # noqa: SIM115 - closed with the file it reads from
    for entry in opened:
        if entry.name == path and entry.isreg():
            return opened.extractfile(entry)
    return None
