"""Ratings of a data set by its name, as the command line and `read_ratings` take them."""

from collections.abc import Callable

from lbg_recsys.datasets.ciao import load_ciao
from lbg_recsys.datasets.filmtrust import load_filmtrust
from lbg_recsys.datasets.insteval import load_insteval
from lbg_recsys.datasets.movielens import load_movielens_100k
from lbg_recsys.datasets.movielens_1m import load_movielens_1m
from lbg_recsys.datasets.rating_data import RatingData
from lbg_recsys.datasets.sample_ratings import load_sample
from lbg_recsys.progress import Progress, silent

_DOWNLOADED: dict[str, Callable[..., RatingData]] = {
    "ml-100k": load_movielens_100k,
    "ml-1m": load_movielens_1m,
    "filmtrust": load_filmtrust,
    "ciao": load_ciao,
    "insteval": load_insteval,
}
RATING_SETS = ("sample", *_DOWNLOADED)
TITLED_SETS = ("sample", "ml-100k")


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
