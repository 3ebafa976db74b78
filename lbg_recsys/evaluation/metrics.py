"""What is measured: points, distributions, rankings. Pure functions over arrays.

All raise `DataError` for arrays that are empty, do not belong together or hold what is no number of their kind, and
`ParameterError` for settings that are not allowed.
"""

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.checks import check_integer
from lbg_recsys.core.levels import interval
from lbg_recsys.core.types import Floats
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.evaluation import checked
from lbg_recsys.words import class_of


def mae(truth: Floats, predicted: Floats) -> float:
    """Mean absolute error.

    Parameters
    ----------
    truth : float array of shape (n,)
        The true ratings.
    predicted : float array of shape (n,)
        The predicted ratings.

    Returns
    -------
    error : float
        The mean of the absolute differences.

    Examples
    --------
    >>> mae(np.array([3.0, 4.0]), np.array([3.5, 2.5]))
    1.0
    """
    known, guessed = checked.points(truth, predicted)
    return float(np.abs(guessed - known).mean())


def mse(truth: Floats, predicted: Floats) -> float:
    """Mean squared error (what the paper prints as RMSE has no root)."""
    known, guessed = checked.points(truth, predicted)
    return float(((guessed - known) ** 2).mean())


def rmse(truth: Floats, predicted: Floats) -> float:
    """Root of the mean squared error.

    Parameters
    ----------
    truth : float array of shape (n,)
        The true ratings.
    predicted : float array of shape (n,)
        The predicted ratings.

    Returns
    -------
    error : float
        The root of the mean of the squared differences.

    Examples
    --------
    >>> round(rmse(np.array([3.0, 4.0, 5.0, 1.0]), np.array([3.0, 4.0, 4.0, 2.0])), 4)
    0.7071
    """
    return float(np.sqrt(mse(truth, predicted)))


def rmse_error(truth: Floats, predicted: Floats) -> float:
    """The standard error of `rmse` over ratings; NaN for a single one.

    >>> round(rmse_error(np.array([3.0, 3.0, 3.0]), np.array([3.0, 4.0, 5.0])), 3)
    0.465
    """
    known, guessed = checked.points(truth, predicted)
    squares = (guessed - known) ** 2
    if len(squares) < 2:
        return float("nan")
    return float(squares.std(ddof=1) / np.sqrt(len(squares)) / (2.0 * max(np.sqrt(squares.mean()), 1e-300)))


def log_score(truth_level: npt.NDArray[np.int64], probability: Floats) -> float:
    """Mean log probability of the true level, in nats: 0 is certainty, higher is better.

    Parameters
    ----------
    truth_level : int array of shape (n,)
        The position of each true rating on the scale.
    probability : float array of shape (n, n_levels)
        The predicted distributions.

    Returns
    -------
    score : float
        At most 0.

    Examples
    --------
    >>> round(log_score(np.array([1, 0]), np.array([[0.5, 0.5], [1.0, 0.0]])), 4)
    -0.3466
    """
    level, stated = checked.distributions(truth_level, probability)
    chosen = stated[np.arange(len(level)), level]
    return float(np.log(np.maximum(chosen, 1e-300)).mean())


def ranked_probability_score(truth_level: npt.NDArray[np.int64], probability: Floats) -> float:
    """Mean squared difference of the cumulative distributions, summed over the inner levels: lower is better.

    Parameters
    ----------
    truth_level : int array of shape (n,)
        The position of each true rating on the scale.
    probability : float array of shape (n, n_levels)
        The predicted distributions.

    Returns
    -------
    score : float
        0 where every true level has the probability 1.

    Examples
    --------
    >>> ranked_probability_score(np.array([2]), np.array([[0.0, 0.5, 0.5]]))
    0.25
    """
    level, stated = checked.distributions(truth_level, probability)
    below = np.cumsum(stated, axis=1)[:, :-1]
    truth_below = level[:, None] <= np.arange(stated.shape[1] - 1)
    return float(((below - truth_below) ** 2).sum(axis=1).mean())


def coverage(truth: Floats, probability: Floats, levels: Floats, mass: float = 0.9) -> tuple[float, float]:
    """The share of truths inside their central intervals, and the mean width of the intervals.

    On a scale of few levels an interval consists of whole levels, so that its coverage is usually above ``mass``.

    Parameters
    ----------
    truth : float array of shape (n,)
        The true ratings.
    probability : float array of shape (n, n_levels)
        The predicted distributions.
    levels : float array of shape (n_levels,)
        The levels of the scale.
    mass : float, default=0.9
        The least probability of an interval.

    Returns
    -------
    share : float
        The share of the true ratings that are in their intervals.
    width : float
        The mean difference of the ends of the intervals.

    Raises
    ------
    DataError
        If there are not as many distributions as ratings, or not as many probabilities in each as levels.

    Examples
    --------
    >>> coverage(np.array([1.0, 3.0]), np.array([[0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]), np.array([1.0, 2.0, 3.0]))
    (0.5, 1.0)
    """
    known, stated, scale = checked.numbers("truth", truth), checked.probabilities(probability), _levels(levels)
    checked.same_length("truth", known, "probability", stated)
    if stated.shape[1] != len(scale):
        raise DataError(f"probability has {stated.shape[1]} columns for {len(scale)} levels: give a column per level")
    low, high = interval(stated, scale, mass)
    return float(((known >= low) & (known <= high)).mean()), float((high - low).mean())


def expected_calibration_error(truth_level: npt.NDArray[np.int64], probability: Floats, n_bins: int = 15) -> float:
    """How far stated probabilities are from observed shares: over all (pair, level) statements, binned by value.

    Parameters
    ----------
    truth_level : int array of shape (n,)
        The position of each true rating on the scale.
    probability : float array of shape (n, n_levels)
        The predicted distributions.
    n_bins : int, default=15
        Bins of the probabilities from 0 to 1.

    Returns
    -------
    error : float
        The mean difference of probability and share, weighted by the statements in a bin.

    Examples
    --------
    >>> expected_calibration_error(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]]))
    0.0
    """
    level, stated = checked.distributions(truth_level, probability)
    checked.check_bins(n_bins)
    hit = np.zeros_like(stated)
    hit[np.arange(len(level)), level] = 1.0
    bin_of = np.minimum((stated * n_bins).astype(np.int64), n_bins - 1).ravel()
    count = np.bincount(bin_of, minlength=n_bins)
    gap = np.bincount(bin_of, (stated - hit).ravel(), minlength=n_bins)
    return float(np.abs(gap).sum() / max(count.sum(), 1))


def pit_histogram(
    truth_level: npt.NDArray[np.int64], probability: Floats, generator: np.random.Generator, n_bins: int = 10
) -> Floats:
    """Shares of the randomised probability integral transform: flat (1/n_bins) where the model is calibrated."""
    level, stated = checked.distributions(truth_level, probability)
    checked.check_bins(n_bins)
    if not isinstance(generator, np.random.Generator):
        raise ParameterError(f"generator is {class_of(generator)}: give np.random.default_rng(seed)")
    upper = np.cumsum(stated, axis=1)[np.arange(len(level)), level]
    lower = upper - stated[np.arange(len(level)), level]
    value = lower + generator.random(len(level)) * (upper - lower)
    bin_of = np.clip((value * n_bins).astype(np.int64), 0, n_bins - 1)
    return np.asarray(np.bincount(bin_of, minlength=n_bins) / len(level))


def ndcg_at(n: int, ranked: Sequence[int], relevant: Collection[int]) -> float:
    """Binary NDCG of one list: gains 1/log2(rank + 1), against the best order of the relevant items.

    >>> round(ndcg_at(10, [9, 1], {1}), 4)
    0.6309
    """
    first, wanted = _first_and_wanted(n, ranked, relevant)
    gain = sum(1.0 / np.log2(rank + 2.0) for rank, item in enumerate(first) if item in wanted)
    best = sum(1.0 / np.log2(rank + 2.0) for rank in range(min(n, len(wanted))))
    return float(gain / best) if best else 0.0


def recall_at(n: int, ranked: Sequence[int], relevant: Collection[int]) -> float:
    """The share of the relevant items among the first n.

    >>> recall_at(2, [1, 9, 2], {1, 2})
    0.5
    """
    first, wanted = _first_and_wanted(n, ranked, relevant)
    return len(wanted.intersection(first)) / len(wanted) if wanted else 0.0


def _first_and_wanted(n: int, ranked: Any, relevant: Any) -> tuple[list[Any], set[Any]]:
    """The first n items of a list, and the relevant items."""
    check_integer("n", n, 0)
    for name, given in (("ranked", ranked), ("relevant", relevant)):
        if isinstance(given, str | bytes) or not hasattr(given, "__len__") or not hasattr(given, "__iter__"):
            raise DataError(f"{name} is {given!r:.60}: give a list of items")
    try:
        first = list(islice(ranked, min(n, len(ranked))))
        hash(tuple(first))  # what cannot be hashed is in no set
        return first, set(relevant)
    except TypeError as error:
        raise DataError(f"ranked and relevant must be lists of ids: {error}") from error


def _levels(levels: Any) -> Floats:
    scale = checked.numbers("levels", levels)
    if not (np.diff(scale) > 0.0).all():
        raise DataError(f"levels are {scale.tolist()!r:.80}: give them in ascending order, each once")
    return scale


def clustering_accuracy(truth: npt.NDArray[np.int64], clusters: npt.NDArray[np.int64]) -> float:
    """The paper's AC: the share of rows whose cluster is their class under the best one-to-one mapping.

    Parameters
    ----------
    truth : int array of shape (n,)
        The class of each row.
    clusters : int array of shape (n,)
        The cluster of each row, by any numbers.

    Returns
    -------
    accuracy : float
        From 0 to 1.

    Examples
    --------
    >>> clustering_accuracy(np.array([0, 0, 1, 1]), np.array([5, 5, 2, 5]))
    0.75
    """
    from scipy.optimize import linear_sum_assignment  # the Kuhn-Munkres algorithm

    row, column = checked.labels("truth", truth), checked.labels("clusters", clusters)
    checked.same_length("truth", row, "clusters", column)
    table = np.zeros((row.max() + 1, column.max() + 1), dtype=np.int64)
    np.add.at(table, (row, column), 1)
    chosen = linear_sum_assignment(table, maximize=True)
    return float(table[chosen].sum() / len(row))


def top_n(scores: Floats, n: int) -> npt.NDArray[np.intp]:
    """The columns of the n highest scores of each row, best first; of equals the first column."""
    scores = checked.numbers("scores", scores, 2, finite=False)
    check_integer("n", n, 0)
    n = min(n, scores.shape[1])
    if n < scores.shape[1] // 4:
        # all that could be in the list: everything not below the n-th best, so that ties fall as in a full sort
        bound = np.partition(scores, scores.shape[1] - n, axis=1)[:, scores.shape[1] - n]
        out = np.empty((len(scores), n), dtype=np.intp)
        for row, line in enumerate(scores):
            candidates = np.flatnonzero(line >= bound[row])
            out[row] = candidates[np.argsort(-line[candidates], kind="stable")[:n]]
        return out
    return np.argsort(-scores, axis=1, kind="stable")[:, :n]
