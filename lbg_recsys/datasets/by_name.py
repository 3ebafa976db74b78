"""Ratings of a data set by its name, as the command line and `read_ratings` take them."""

import os
from collections.abc import Callable
from typing import TypeGuard

from lbg_recsys.datasets.book_crossing import load_book_crossing
from lbg_recsys.datasets.ciao import load_ciao
from lbg_recsys.datasets.filmtrust import load_filmtrust
from lbg_recsys.datasets.insteval import load_insteval
from lbg_recsys.datasets.movielens import load_movielens_100k
from lbg_recsys.datasets.movielens_1m import load_movielens_1m
from lbg_recsys.datasets.rating_data import RatingData
from lbg_recsys.datasets.sample_ratings import load_sample
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.words import did_you_mean

_DOWNLOADED: dict[str, Callable[..., RatingData]] = {
    "ml-100k": load_movielens_100k,
    "ml-1m": load_movielens_1m,
    "filmtrust": load_filmtrust,
    "ciao": load_ciao,
    "book-crossing": load_book_crossing,
    "insteval": load_insteval,
}
RATING_SETS = ("sample", *_DOWNLOADED)
TITLED_SETS = ("sample", "ml-100k", "book-crossing")


def is_rating_set(source: object) -> TypeGuard[str]:
    """Whether a source of ratings is the name of a data set; a misspelt name that is no file raises `DataError`.

    >>> is_rating_set("sample"), is_rating_set("ratings.csv")
    (True, False)
    """
    if not isinstance(source, str) or source in RATING_SETS:
        return isinstance(source, str)
    meant = did_you_mean(source, RATING_SETS)
    if meant and not os.path.exists(source):
        raise DataError(f"{source!r} is neither a file nor a data set; {meant}")
    return False


def load_rating_data(name: str, *, progress: Progress = silent) -> RatingData:
    """Load one of the data sets in ``RATING_SETS``; it is downloaded if it is not on this machine.

    Parameters
    ----------
    name : str
        The name of the data set.
    progress : callable, optional
        Called as ``progress(done, total, note)``.

    Returns
    -------
    RatingData
        Ratings, items, users and the scale.

    Examples
    --------
    >>> load_rating_data("sample").scale
    (1, 5)
    """
    return load_sample() if name == "sample" else _DOWNLOADED[name](progress=progress)
