"""Files that are either the old one or the new one, never half of it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a temporary neighbour of ``path``; on success sync it and rename it into place.

    A kill at any moment leaves the old file or the new one. On an exception the temporary
    file is removed and ``path`` is untouched. A link stays a link; what is there and no file
    (``/dev/stdout``, a named pipe) is written to as it is.
    """
    try:
        with _replacement(Path(os.path.realpath(path)), mode) as stream:
            yield stream
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(".part"):
            error.filename = os.fspath(path)  # "No space left on device" should say where
        raise


@contextmanager
def _replacement(path: Path, mode: str) -> Iterator[IO[Any]]:
    encoding = None if "b" in mode else "utf-8"
    if path.exists() and not path.is_file():
        with open(path, mode, encoding=encoding) as stream:
            yield stream
        return
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, mode, encoding=encoding) as stream:
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
