"""Which ratings are held out for testing: at random, the last of each user, or the newest of all."""

import numpy as np
import numpy.typing as npt

from lbg_recsys.checks import check_integer, check_seed, is_finite, is_number
from lbg_recsys.core.types import Bools
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.evaluation import checked

SPLITS = ("random", "last", "time")
# Random numbers that are held at once.
_AT_ONCE = 1 << 22


def random_share(n_ratings: int, share: float, seed: int) -> Bools:
    """Hold out each rating with the probability ``share``.

    Parameters
    ----------
    n_ratings : int
        How many ratings there are.
    share : float
        Between 0 and 1.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    held_out : bool array of shape (n_ratings,)
        Which ratings are for testing.

    Raises
    ------
    DataError
        If ``share`` is not between 0 and 1, or ``n_ratings`` or ``seed`` is not an integer from 0 on.

    Examples
    --------
    >>> int(random_share(1000, 0.1, seed=0).sum())
    89
    """
    check_integer("n_ratings", n_ratings, 0)
    _check_share(share)
    check_seed("seed", seed)
    try:
        held_out = np.empty(n_ratings, dtype=np.bool_)
    except (MemoryError, ValueError, OverflowError) as error:
        raise ParameterError(f"n_ratings is {n_ratings}: so many do not fit into memory") from error
    generator = np.random.default_rng(seed)
    for first in range(0, len(held_out), _AT_ONCE):
        part = held_out[first : first + _AT_ONCE]
        np.less(generator.random(len(part)), share, out=part)
    return held_out


def last_of_each_user(users: npt.ArrayLike, times: npt.ArrayLike, n: int = 1) -> Bools:
    """Hold out the ``n`` newest ratings of each user; of ratings with the same time the later rows are newer.

    A user with ``n`` ratings or fewer keeps all of them: without training ratings there is nothing to evaluate.

    Parameters
    ----------
    users : array-like of shape (n_ratings,)
        The user of each rating, by any ids that can be sorted.
    times : array-like of shape (n_ratings,)
        When each rating was given, as numbers.
    n : int, default=1
        Ratings to hold out per user.

    Returns
    -------
    held_out : bool array of shape (n_ratings,)
        Which ratings are for testing.

    Raises
    ------
    DataError
        If there are not as many users as times, ids cannot be sorted, a time is not a finite number, or ``n`` is not
        an integer from 1 on.

    Examples
    --------
    >>> last_of_each_user(["ann", "ann", "bob", "ann"], [3, 9, 5, 4]).tolist()
    [False, True, False, False]
    """
    codes, moments = checked.labels("users", users), checked.times(times)
    checked.same_length("users", codes, "times", moments)
    check_integer("n", n, 1)
    order = np.lexsort((moments, codes))  # stable: rows of the same time stay in order
    counts = np.bincount(codes)
    from_the_end = np.repeat(np.cumsum(counts), counts) - np.arange(len(codes))
    held_out = np.empty(len(codes), dtype=np.bool_)
    held_out[order] = (from_the_end <= n) & (np.repeat(counts, counts) > n)
    return held_out


def newest(times: npt.ArrayLike, share: float) -> Bools:
    """Hold out the newest ratings: all that were given at or after the time that leaves about ``share`` of them.

    Ratings with the same time are all held out or all kept, so that nothing is learned from the moment of the test.

    Parameters
    ----------
    times : array-like of shape (n_ratings,)
        When each rating was given, as numbers.
    share : float
        Between 0 and 1.

    Returns
    -------
    held_out : bool array of shape (n_ratings,)
        Which ratings are for testing.

    Raises
    ------
    DataError
        If ``share`` is not between 0 and 1, a time is not a finite number, or all times are equal.

    Examples
    --------
    >>> newest([5, 1, 2, 3, 4, 4, 4, 2, 0, 1], 0.2).tolist()
    [True, False, False, False, True, True, True, False, False, False]
    """
    _check_share(share)
    moments = checked.times(times)
    if not len(moments):
        raise DataError("times are empty: at least one rating is needed")
    cut = np.sort(moments)[min(int(np.floor((1.0 - share) * len(moments))), len(moments) - 1)]
    held_out = moments >= cut
    if held_out.all():
        raise DataError("all ratings have the same time, so none is older than the test: use another split")
    return np.asarray(held_out)


def _check_share(share: float) -> None:
    if not (is_number(share) and is_finite(share) and 0.0 < share < 1.0):
        raise DataError(f"the share to hold out is {share!r}: give a number between 0 and 1")
