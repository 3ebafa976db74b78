"""The model that is being served, and how another one takes its place while requests are answered."""

import hashlib
import logging
import os
import shutil
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lbg_recsys.errors import DataError, LBGError
from lbg_recsys.persistence import load
from lbg_recsys.serving.answers import Service
from lbg_recsys.serving.people import sentence

logger = logging.getLogger("lbg_recsys.serving")


class Current:
    """The service of the model file as it was when it was last read.

    A request takes `service` once and uses it to its end, so a new model loses no request. A file that cannot be
    loaded, or whose model cannot answer, is refused: the old model stays, and `refused` says why.

    Parameters
    ----------
    path : str or path-like
        The model file.
    make : callable
        Makes the service from a loaded model.
    good : path-like, default=None
        Where a copy of the last file that was accepted is kept. A worker that starts while the file itself is bad
        loads this copy.

    Raises
    ------
    ModelFileError, DataError, OSError
        If neither the file nor the copy can be served.
    """

    def __init__(
        self, path: str | os.PathLike[str], make: Callable[[Any], Service], good: str | os.PathLike[str] | None = None
    ) -> None:
        self.path, self._make = Path(path), make
        self._good = None if good is None else Path(good)
        self._lock = threading.Lock()
        self.refused: str | None = None
        self._seen = self.signature()
        try:
            self._accept(self.path)
        except Exception as error:
            if self._good is None or not self._good.exists():
                raise
            self._refuse(error)
            self._accept(self._good)

    def reload(self) -> bool:
        """Load the file again; True if its model is now the one that is served."""
        with self._lock:
            self._seen = self.signature()
            try:
                self._accept(self.path)
            except Exception as error:  # also if the model loads but cannot answer
                self._refuse(error)
                return False
            self.refused = None
            logger.info("serving the new model in %s (%s)", self.path, self.facts["sha256"][:12])
            return True

    @property
    def changed(self) -> bool:
        """Whether the file has changed since it was last tried."""
        return self.signature() not in (None, self._seen)

    def signature(self) -> tuple[int, int, int] | None:
        """What changes when the file is replaced or written; None if there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _accept(self, path: Path) -> None:
        """Load a file and serve its model; nothing changes if this fails."""
        if self._good is None or path == self._good:
            digest, service = _loaded(path, self._make)
        else:  # what is loaded and what is kept are the same bytes, whatever happens to the file meanwhile
            copy = self._good.with_name(f"{os.getpid()}.tmp")
            try:
                shutil.copyfile(path, copy)
                digest, service = _loaded(copy, self._make)
                os.replace(copy, self._good)
            except LBGError as error:
                raise DataError(sentence(error).replace(str(copy), str(path))) from error
            finally:
                copy.unlink(missing_ok=True)
        self.facts = {"sha256": digest, "loaded": datetime.now(timezone.utc).isoformat(timespec="seconds")}
        self.service = service

    def _refuse(self, error: Exception) -> None:
        self.refused = sentence(error) if isinstance(error, LBGError) else f"{type(error).__name__}: {error}"
        mistake = not isinstance(error, LBGError | OSError | MemoryError)
        logger.error("%s is refused, and the old model stays: %s", self.path, self.refused, exc_info=mistake)


def _loaded(path: Path, make: Callable[[Any], Service]) -> tuple[str, Service]:
    service = make(load(path))
    service.warm_up()
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest(), service
