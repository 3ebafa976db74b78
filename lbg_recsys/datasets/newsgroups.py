"""20 Newsgroups, through scikit-learn's own loader.

scikit-learn keeps the collection as a compressed pickle (``20news-bydate_py3.pkz``), and opening a
pickle runs whatever its author put in it. So a copy is opened only when

- its SHA-256 is the known one of the registry, or
- it was made here, by scikit-learn, from the official archive whose SHA-256 was checked (the pickle's
  own SHA-256 is noted beside it at that moment and compared ever after), or
- the caller says ``trust_pickle=True``: "this is mine, made by my own scikit-learn".

Any other copy is passed over, and where nothing better is found the error says so.
"""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lbg_recsys.datasets.download import fetch
from lbg_recsys.datasets.locate import Located, cache_folder, locate, not_found, places, writing_to_cache
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.errors import DataError, DatasetError
from lbg_recsys.files import atomic_write
from lbg_recsys.progress import Progress, silent

if TYPE_CHECKING:
    import numpy as np

_INFO = dataset_info("20newsgroups")


@dataclass(frozen=True, eq=False)
class Newsgroups:
    """``data`` (texts), ``target`` (int64 indices into ``target_names``), ``target_names``, ``found_in``."""

    data: list[str]
    target: "np.ndarray"
    target_names: tuple[str, ...]
    found_in: str


def load_20newsgroups(
    path: str | os.PathLike[str] | None = None,
    *,
    subset: str = "train",
    categories: Sequence[str] | None = None,
    remove: Sequence[str] = ("headers",),
    trust_pickle: bool = False,
    download: bool = True,
    progress: Progress = silent,
) -> Newsgroups:
    """Load 20 Newsgroups from ``path``, the environment (``SCIKIT_LEARN_DATA``), the cache, or by download.

    Parameters
    ----------
    path : scikit-learn's ``20news-bydate_py3.pkz``, or the folder that holds it.
    subset : ``train``, ``test`` or ``all``, split by date; in the order scikit-learn gives them.
    categories : names of newsgroups; all twenty by default.
    remove : what to strip: any of ``headers``, ``footers``, ``quotes``.
    trust_pickle : open a pickle whose checksum is not known (see the module's notes). Only for your own.

    >>> news = load_20newsgroups(categories=["sci.space", "rec.autos"])     # doctest: +SKIP
    >>> len(news.data), news.target_names                                   # doctest: +SKIP
    (1187, ('rec.autos', 'sci.space'))
    """
    if subset not in ("train", "test", "all"):
        raise DataError(f"20 Newsgroups has no subset {subset!r}; it has 'train', 'test' and 'all'")
    found = find_20newsgroups(path, trust_pickle=trust_pickle, download=download, progress=progress)
    from sklearn.datasets import fetch_20newsgroups

    try:
        bunch = fetch_20newsgroups(
            data_home=found.path.parent,
            subset=subset,
            categories=None if categories is None else list(categories),
            remove=tuple(remove),
            download_if_missing=False,
        )
    except (ValueError, OSError) as error:  # an unknown category; a file that vanished or was swapped meanwhile
        raise DataError(f"20 Newsgroups could not be loaded from {found.path}: {error}") from error
    return Newsgroups(
        data=bunch.data,
        target=bunch.target.astype("int64"),
        target_names=tuple(bunch.target_names),
        found_in=found.found_in,
    )


def find_20newsgroups(
    path: str | os.PathLike[str] | None = None,
    *,
    trust_pickle: bool = False,
    download: bool = True,
    progress: Progress = silent,
) -> Located:
    """Find a pickle that may be opened; make one from the official archive where there is none."""
    if path is not None:
        return _given(Path(path), trust_pickle)
    if trust_pickle:
        for place, found_in in places(_INFO):
            if (place / _INFO.main.name).is_file():
                return Located(_INFO, place, found_in)
    tried = []
    try:
        return locate(_INFO, download=False)
    except DatasetError as error:
        tried += [line.strip() for line in str(error).splitlines()[1:-2]]
    home = cache_folder() / _INFO.name
    if _made_here(home):
        return Located(_INFO, home, "cache")
    if not download:
        tried.append("download: not allowed by the caller")
    else:
        try:
            return _make(home, progress)
        except DatasetError as error:
            tried.append(f"{_INFO.sources[0].label}: {error}")
    raise not_found(_INFO, tried)


def _given(path: Path, trust_pickle: bool) -> Located:
    file = path / _INFO.main.name if path.is_dir() else path
    if file.name != _INFO.main.name or not file.is_file():
        raise DatasetError(f"{path} is neither {_INFO.main.name} nor a folder that holds it")
    located = Located(_INFO, file.parent, "the given path")
    if not trust_pickle and not _made_here(file.parent):
        try:
            located.read(_INFO.main)
        except DatasetError as error:
            remedy = "a pickle can run code: pass trust_pickle=True only if you made it yourself"
            raise DatasetError(f"{error}; {remedy}") from error
    return located


def _made_here(home: Path) -> bool:
    """Whether the pickle is the one whose checksum `_make` noted."""
    try:
        noted = (home / f"{_INFO.main.name}.sha256").read_text(encoding="ascii").strip()
        return home == cache_folder() / _INFO.name and noted == _sha256(home / _INFO.main.name)
    except (OSError, ValueError):
        return False


def _make(home: Path, progress: Progress) -> Located:
    """Fetch and check the official archive; let scikit-learn turn it into its pickle in a private folder."""
    from sklearn.datasets import fetch_20newsgroups

    source = _INFO.sources[0]
    with tempfile.TemporaryDirectory(prefix="lbg-recsys-") as private:
        folder = Path(private) / "20news_home"  # where scikit-learn looks before it downloads
        folder.mkdir()
        fetch(source, folder, progress)
        fetch_20newsgroups(data_home=private, subset="train")
        data = (Path(private) / _INFO.main.name).read_bytes()
    with writing_to_cache(home):
        # The note first: two processes at once may leave the note of one beside the pickle of the other,
        # which only means that the next call makes it again.
        with atomic_write(home / f"{_INFO.main.name}.sha256", "w") as stream:
            stream.write(hashlib.sha256(data).hexdigest() + "\n")
        with atomic_write(home / _INFO.main.name) as stream:
            stream.write(data)
    return Located(_INFO, home, f"downloaded from {source.label}")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()
