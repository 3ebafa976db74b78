"""Ratings or texts of a data set by its name, as the command line, `read_ratings` and `read_documents` take them."""

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeGuard

from lbg_recsys.datasets.book_crossing import load_book_crossing
from lbg_recsys.datasets.ciao import load_ciao
from lbg_recsys.datasets.filmtrust import load_filmtrust
from lbg_recsys.datasets.imdb import load_imdb
from lbg_recsys.datasets.insteval import load_insteval
from lbg_recsys.datasets.labelled_texts import LabelledTexts
from lbg_recsys.datasets.movielens import load_movielens_100k
from lbg_recsys.datasets.movielens_1m import load_movielens_1m
from lbg_recsys.datasets.newsgroups import load_20newsgroups
from lbg_recsys.datasets.rating_data import RatingData
from lbg_recsys.datasets.registry import DATASETS, dataset_info
from lbg_recsys.datasets.reuters import load_r8, load_r52
from lbg_recsys.datasets.sample_ratings import load_sample
from lbg_recsys.datasets.sms_spam import load_sms_spam
from lbg_recsys.errors import DataError, DatasetError
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
_TEXTS: dict[str, Callable[..., LabelledTexts]] = {
    "20newsgroups": partial(load_20newsgroups, subset="all"),
    "r8": partial(load_r8, subset="all"),
    "r52": partial(load_r52, subset="all"),
    "imdb": load_imdb,
    "sms-spam": load_sms_spam,
}
RATING_SETS = ("sample", *_DOWNLOADED)
TEXT_SETS = tuple(_TEXTS)
TITLED_SETS = ("sample", "ml-100k", "book-crossing")


def is_rating_set(source: object) -> TypeGuard[str]:
    """Whether a source of ratings is the name of a data set; a misspelt name that is no file raises `DataError`.

    >>> is_rating_set("sample"), is_rating_set("ratings.csv")
    (True, False)
    """
    if not isinstance(source, str) or source in RATING_SETS:
        return isinstance(source, str)
    _refuse_misspelt(source, RATING_SETS)
    return False


def is_text_set(source: object) -> TypeGuard[str]:
    """Whether a source of documents is the name of a data set; one without texts, or a misspelt one, is refused.

    >>> is_text_set("sms-spam"), is_text_set("texts.csv")
    (True, False)
    """
    if not isinstance(source, str) or source in TEXT_SETS:
        return isinstance(source, str)
    if source in DATASETS and not os.path.exists(source):
        raise DataError(f"the data set {source!r} has no texts; these have: {', '.join(TEXT_SETS)}")
    _refuse_misspelt(source, TEXT_SETS)
    return False


def _refuse_misspelt(source: str, names: Iterable[str]) -> None:
    meant = did_you_mean(source, names)
    if meant and not os.path.exists(source):
        raise DataError(f"{source!r} is neither a file nor a data set; {meant}")


def load_rating_data(name: str, *, progress: Progress = silent) -> RatingData:
    """Load one of the data sets in ``RATING_SETS``; it is downloaded if it is not on this machine.

    Parameters
    ----------
    name : str
        The name of the data set.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    RatingData
        Ratings, items, users and the scale.

    Raises
    ------
    DatasetError
        If no data set of ratings has this name, or it cannot be downloaded.

    Examples
    --------
    >>> load_rating_data("sample").scale
    (1, 5)
    """
    _check_has("ratings", name, RATING_SETS)
    return load_sample() if name == "sample" else _DOWNLOADED[name](progress=progress)


def load_text_data(name: str, *, progress: Progress = silent) -> LabelledTexts:
    """Load one of the data sets in ``TEXT_SETS``, all its parts; it is downloaded if it is not on this machine."""
    _check_has("texts", name, TEXT_SETS)
    return _TEXTS[name](progress=progress)


def _check_has(what: str, name: str, names: Iterable[str]) -> None:
    if dataset_info(name).name not in names:
        raise DatasetError(f"the data set {name!r} has no {what}; these have: {', '.join(names)}")
