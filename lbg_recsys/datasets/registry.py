"""Every data set by its name."""

from difflib import get_close_matches

from lbg_recsys.datasets.info import DatasetInfo, Home, KnownFile, Member, Source
from lbg_recsys.datasets.known_ratings import (
    BOOK_CROSSING,
    CIAO,
    FILM_FACTS,
    FILMTRUST,
    INSTEVAL,
    MOVIELENS_1M,
    MOVIELENS_100K,
    SAMPLE,
)
from lbg_recsys.datasets.known_texts import IMDB, NEWSGROUPS, R8, R52, SMS_SPAM, SPAMBASE
from lbg_recsys.errors import DatasetError

__all__ = ["DATASETS", "DatasetInfo", "Home", "KnownFile", "Member", "Source", "dataset_info"]

_RATINGS = (SAMPLE, MOVIELENS_100K, MOVIELENS_1M, FILMTRUST, CIAO, BOOK_CROSSING, INSTEVAL, FILM_FACTS)
_TEXTS = (NEWSGROUPS, R8, R52, IMDB, SMS_SPAM, SPAMBASE)
DATASETS: dict[str, DatasetInfo] = {info.name: info for info in (*_RATINGS, *_TEXTS)}


def dataset_info(name: str) -> DatasetInfo:
    """Look up a data set by name; an unknown name suggests the nearest.

    Parameters
    ----------
    name : str
        Its name, as ``lbg-recsys datasets list`` shows it.

    Returns
    -------
    DatasetInfo
        Origin, licence, citation and checksums.

    Raises
    ------
    DatasetError
        If no data set has this name.

    Examples
    --------
    >>> dataset_info("ml-100k").title
    'MovieLens-100K'
    >>> dataset_info("movielens100k")
    Traceback (most recent call last):
    ...
    lbg_recsys.errors.DatasetError: no data set is called 'movielens100k'; did you mean 'ml-100k'?
    """
    if not isinstance(name, str):
        raise DatasetError(f"the name of a data set is {name!r:.60}: give one of {', '.join(DATASETS)}")
    if name in DATASETS:
        return DATASETS[name]
    # A title is a name people try, so it counts when looking for the nearest one.
    spellings = {spelling.lower(): info.name for info in DATASETS.values() for spelling in (info.name, info.title)}
    near = get_close_matches(name.lower(), spellings, n=1, cutoff=0.5)
    hint = f"did you mean {spellings[near[0]]!r}?" if near else f"known: {', '.join(DATASETS)}"
    raise DatasetError(f"no data set is called {name!r}; {hint}")
