"""Stated probabilities beside what was observed."""

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.types import Floats
from lbg_recsys.evaluation import checked


def reliability(
    truth_level: npt.NDArray[np.int64], probability: Floats, n_bins: int = 10
) -> list[tuple[float, float, int]]:
    """Mean stated probability, observed share, and number of (pair, level) statements of each bin that has some.

    Parameters
    ----------
    truth_level : int array of shape (n,)
        The place of the true rating among the levels.
    probability : float array of shape (n, levels)
        Predicted distributions.
    n_bins : int, default=10
        Bins of equal width from 0 to 1.

    Returns
    -------
    list of (float, float, int)

    Examples
    --------
    >>> reliability(np.array([0, 1]), np.array([[0.8, 0.2], [0.8, 0.2]]), n_bins=2)
    [(0.2, 0.5, 2), (0.8, 0.5, 2)]
    """
    level, stated_all = checked.distributions(truth_level, probability)
    checked.check_bins(n_bins)
    hit = np.zeros_like(stated_all)
    hit[np.arange(len(level)), level] = 1.0
    bin_of = np.minimum((stated_all * n_bins).astype(np.int64), n_bins - 1).ravel()
    count = np.bincount(bin_of, minlength=n_bins)
    stated = np.bincount(bin_of, stated_all.ravel(), minlength=n_bins) / np.maximum(count, 1)
    seen = np.bincount(bin_of, hit.ravel(), minlength=n_bins) / np.maximum(count, 1)
    rows = zip(stated.tolist(), seen.tolist(), count.tolist(), strict=True)
    return [row for row in rows if row[2]]
