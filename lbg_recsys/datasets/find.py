"""Find the files of any data set, or get them."""

import os

from lbg_recsys.datasets.fetch import Located, locate
from lbg_recsys.datasets.newsgroups import find_20newsgroups
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.datasets.sample_ratings import find_sample
from lbg_recsys.progress import Progress, silent


def find_dataset(
    name: str,
    path: str | os.PathLike[str] | None = None,
    *,
    download: bool = True,
    progress: Progress = silent,
) -> Located:
    """Where the data set ``name`` is on this machine, its checksum verified; downloaded first where it must be.

    Parameters
    ----------
    name : str
        The name of the data set.
    path : path, default=None
        A file or folder that holds it; the environment and the cache are searched if None.
    download : bool, default=True
        Whether to download the data if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    Located
        Its path, and where it was found.

    Raises
    ------
    DatasetError
        If it is not here and was not downloaded.

    Examples
    --------
    >>> find_dataset("sample").path.name
    'ratings.csv'
    """
    info = dataset_info(name)
    if name == "sample":
        return find_sample()
    if name == "20newsgroups":
        return find_20newsgroups(path, download=download, progress=progress)
    return locate(info, path, download=download, progress=progress)
