"""20 Newsgroups, through scikit-learn's own loader.

scikit-learn keeps the collection as a compressed pickle (``20news-bydate_py3.pkz``), and opening a
pickle runs whatever its author put in it. So a copy is opened only when

- its SHA-256 is the known one of the registry, or
- it was made here, by scikit-learn, from the official archive whose SHA-256 was checked (the cache
  keeps it in a folder named after its own SHA-256, which is compared each time), or
- the caller says ``trust_pickle=True``: "this is mine, made by my own scikit-learn".

Any other copy is passed over, and where nothing better is found the error says so.
"""

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lbg_recsys.datasets.download import check_bytes, fetch
from lbg_recsys.datasets.fetch import (
    Located,
    cache_folder,
    not_found,
    places,
    require_writable_cache,
    writing_to_cache,
)
from lbg_recsys.datasets.labelled_texts import LabelledTexts
from lbg_recsys.datasets.registry import KnownFile, dataset_info
from lbg_recsys.errors import DataError, DatasetError
from lbg_recsys.files import atomic_write, private_folder
from lbg_recsys.progress import Progress, silent

_INFO = dataset_info("20newsgroups")
_ARCHIVE = cast(KnownFile, _INFO.sources[0].archive)


def load_20newsgroups(
    path: str | os.PathLike[str] | None = None,
    *,
    subset: str = "train",
    categories: Sequence[str] | None = None,
    remove: Sequence[str] = ("headers",),
    trust_pickle: bool = False,
    download: bool = True,
    progress: Progress = silent,
) -> LabelledTexts:
    """Load 20 Newsgroups from ``path``, the environment (``SCIKIT_LEARN_DATA``), the cache, or by download.

    Parameters
    ----------
    path : path, default=None
        scikit-learn's ``20news-bydate_py3.pkz``, the official ``20news-bydate.tar.gz``, or a folder with either.
    subset : {"train", "test", "all"}, default="train"
        The part by date, in scikit-learn's order.
    categories : sequence of str, default=None
        Names of newsgroups; all twenty if None.
    remove : sequence of str, default=("headers",)
        What to strip: any of ``headers``, ``footers``, ``quotes``.
    trust_pickle : bool, default=False
        Whether to open a pickle whose checksum is not known (see the module's notes). Only for your own.
    download : bool, default=True
        Whether to download the data if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    LabelledTexts
        Texts, classes and the names of the classes.

    Raises
    ------
    DataError
        If there is no such subset or category, or the data set cannot be loaded from the files that were found.
    DatasetError
        If the data set cannot be found, downloaded or trusted.

    Examples
    --------
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
    return LabelledTexts(
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
        return _use(Path(path), "the given path", trust_pickle)
    tried = []
    for path, found_in in (*places(_INFO), *((folder, "cache") for folder in _made_here())):
        try:
            return _use(path, found_in, trust_pickle)
        except DatasetError as error:
            tried.append(f"{found_in}: {error}")
    source = _INFO.sources[0]
    if not download:
        raise not_found(_INFO, [*tried, "download: not allowed by the caller"])
    require_writable_cache(_INFO)
    try:
        with private_folder() as private:
            return _make(fetch(source, private, progress), f"downloaded from {source.label}")
    except DatasetError as error:
        raise not_found(_INFO, [*tried, f"{source.label}: {error}"]) from error


def _use(path: Path, found_in: str, trust_pickle: bool) -> Located:
    """The pickle or the official archive at ``path`` (either file, or a folder that holds one)."""
    source = _INFO.sources[0]
    pickle, archive = (path / _INFO.main.name, path / source.file_name) if path.is_dir() else (path, path)
    if pickle.name == _INFO.main.name and pickle.is_file():
        located = Located(_INFO, pickle.parent, found_in)
        if not trust_pickle and pickle.parent not in _made_here():
            try:
                located.read(_INFO.main)
            except DatasetError as error:
                remedy = "a pickle can run code, so pass trust_pickle=True only if you made it yourself"
                raise DatasetError(f"{error}; {remedy}") from error
        return located
    if archive.name == source.file_name and archive.is_file():
        check_bytes(archive.read_bytes(), _ARCHIVE.sha256, str(archive))
        made = _made_here()
        return Located(_INFO, made[0], found_in) if made else _make(archive, found_in)
    raise DatasetError(f"{path} is or holds neither {_INFO.main.name} nor {source.file_name}")


def _made_here() -> list[Path]:
    """Folders in the cache named after the SHA-256 of the pickle they hold, where that still is so."""
    home = cache_folder() / _INFO.name
    pickles = sorted(home.glob(f"*/{_INFO.main.name}")) if home.is_dir() else []
    return [path.parent for path in pickles if path.parent.name == hashlib.sha256(path.read_bytes()).hexdigest()]


def _make(archive: Path, found_in: str) -> Located:
    """Let scikit-learn turn the official archive, already checked, into its pickle in a private folder."""
    from sklearn.datasets import fetch_20newsgroups

    with private_folder() as private:
        folder = private / "20news_home"  # where scikit-learn looks before it downloads
        folder.mkdir()
        shutil.copyfile(archive, folder / _ARCHIVE.name)
        try:
            fetch_20newsgroups(data_home=private, subset="train")
        except OSError as error:
            raise DatasetError(f"scikit-learn could not unpack {archive}: {error}") from error
        data = (private / _INFO.main.name).read_bytes()
    # Named after its checksum, so that two processes (whose pickles differ: paths are in them) do no harm.
    home = cache_folder() / _INFO.name / hashlib.sha256(data).hexdigest()
    with writing_to_cache(home), atomic_write(home / _INFO.main.name) as stream:
        stream.write(data)
    return Located(_INFO, home, found_in)
