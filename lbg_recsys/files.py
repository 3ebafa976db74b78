"""Atomic writes: a file is the old one or the new one, never a part. What killed processes left is removed."""

import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from lbg_recsys.errors import DataError, ParameterError

try:
    import fcntl
except ImportError:  # not on Windows: nothing is locked there, and nothing is swept
    fcntl = None  # type: ignore[assignment]

# How model files begin, like PNG's: a transfer that changes line ends or the eighth bit is detected at once.
MAGIC = b"\x89LBG\r\n\x1a\n"
# Seconds after which a temporary file that nobody holds has been abandoned: time enough to make it and to lock it.
_ABANDONED_AFTER = 60.0
_FOLDER_PREFIX = "lbg-recsys-"


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a temporary neighbour of ``path``; on success sync it and rename it into place.

    A kill at any moment leaves the old file or the new one, and perhaps the temporary file: the next write to
    ``path`` removes it. On an exception the temporary file is removed and ``path`` is untouched. A link stays a link.
    A path that exists and is not a regular file (``/dev/stdout``, a named pipe) is written to directly. A folder, and
    a name in a folder that does not exist, raise `DataError`.
    """
    check_path(path)
    if os.path.isdir(path):
        raise DataError(f"{os.fspath(path)} is a folder: name a file in it")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise DataError(f"{os.fspath(path)} cannot be written: there is no folder {folder}")
    with naming(path), _replacement(Path(os.path.realpath(path)), mode) as stream:
        yield stream


def check_path(path: Any) -> None:
    """The name of a file. Python's `open` would take an integer for a file that is open, and close it.

    >>> check_path(2)
    Traceback (most recent call last):
    lbg_recsys.errors.ParameterError: path is 2: give the name of a file
    """
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise ParameterError(f"path is {path!r}: give the name of a file")


def why_not_opened(path: object, error: Exception) -> str:
    """The sentence about a file that cannot be opened: the same wherever a file is named.

    >>> why_not_opened("a.csv", FileNotFoundError()), why_not_opened("a.csv", PermissionError(13, "no permission"))
    ('there is no file a.csv', 'a.csv cannot be opened: no permission')
    """
    if isinstance(error, FileNotFoundError):
        return f"there is no file {path}"
    return f"{path} cannot be opened: {getattr(error, 'strerror', None) or error}"


def name_of(source: str) -> str:
    """What to call a source in a message: its name, or that of standard input.

    >>> name_of("a.csv"), name_of("-")
    ('a.csv', 'standard input')
    """
    return "standard input" if source == "-" else source


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error of the system that names no file, or a temporary one, name ``path``."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(".part"):
            error.filename = os.fspath(path)
        raise


def remove(path: Path) -> None:
    """Remove a file of `atomic_write`, if it is there, and what killed writers of it left."""
    path.unlink(missing_ok=True)
    _sweep_neighbours(path)


@contextmanager
def private_folder(within: Path | None = None) -> Iterator[Path]:
    """A temporary folder that is removed at the end; those of killed processes are removed at the beginning."""
    sweep_folders(within)
    with tempfile.TemporaryDirectory(dir=within, prefix=_FOLDER_PREFIX) as name:
        held = os.open(name, os.O_RDONLY) if fcntl else None
        try:
            if held is not None:
                fcntl.flock(held, fcntl.LOCK_EX)
            yield Path(name)
        finally:
            if held is not None:
                os.close(held)


def sweep_folders(within: Path | None = None) -> None:
    """Remove the folders of `private_folder` that killed processes left."""
    _sweep(within or Path(tempfile.gettempdir()), f"{_FOLDER_PREFIX}*")


@contextmanager
def _replacement(path: Path, mode: str) -> Iterator[IO[Any]]:
    encoding = None if "b" in mode else "utf-8"
    if path.exists() and not path.is_file():
        with open(path, mode, encoding=encoding) as stream:
            yield stream
        return
    _sweep_neighbours(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, mode, encoding=encoding) as stream:
            if fcntl:
                with suppress(OSError):  # a file system without locks: see the age of the file
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes private files; a result file gets the permissions `open` would have given it.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _sweep_neighbours(path: Path) -> None:
    _sweep(path.parent, f".{glob.escape(path.name)}.*.part")


def _sweep(folder: Path, pattern: str) -> None:
    """Remove what killed processes of this user left; what cannot be removed stays, without a warning."""
    for found in folder.glob(pattern) if fcntl else ():
        with suppress(OSError):
            if _is_abandoned(found):
                shutil.rmtree(found) if found.is_dir() else found.unlink()


def _is_abandoned(path: Path) -> bool:
    """Whether a file or folder is ours, some time old, no link, and locked by no process."""
    status = path.lstat()
    if path.is_symlink() or status.st_uid != os.getuid() or time.time() - status.st_mtime < _ABANDONED_AFTER:
        return False
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
