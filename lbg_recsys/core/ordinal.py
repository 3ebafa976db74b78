"""Ratings as intervals of a latent utility: drawing the utilities and moving the cut points."""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lbg_recsys.core.normal import normal_cdf, normal_pdf, truncated_normal

Array = NDArray[Any]


@njit(nogil=True, cache=True)
def draw_utilities(
    rng: np.random.Generator,
    ptr: Array,
    col: Array,
    level: Array,
    cuts: Array,
    row_weight: Array,
    col_weight: Array,
    utility: Array,
    res: Array,
) -> None:
    """utility ~ N(mean, 1/precision) inside (cuts[level], cuts[level + 1]); ``res`` follows."""
    for j in range(ptr.shape[0] - 1):
        for e in range(ptr[j], ptr[j + 1]):
            mean = utility[e] - res[e]
            root = math.sqrt(row_weight[j] * col_weight[col[e]])
            low = (cuts[level[e]] - mean) * root
            high = (cuts[level[e] + 1] - mean) * root
            r = truncated_normal(rng, low, high) / root
            res[e] = r
            utility[e] = mean + r


@njit(nogil=True, cache=True)
def move_cuts(
    ptr: Array,
    col: Array,
    row_weight: Array,
    col_weight: Array,
    utility: Array,
    res: Array,
    below: Array,
    cuts: Array,
    first: int,
    last: int,
) -> None:
    """One Newton step of ``cuts[first:last]`` towards an expected number of ratings under each equal to ``below``.

    Each goes at most half-way to its neighbours, so that they stay in order whatever the start.
    """
    excess = np.zeros(last)
    slope = np.zeros(last)
    for j in range(ptr.shape[0] - 1):
        for e in range(ptr[j], ptr[j + 1]):
            mean = utility[e] - res[e]
            root = math.sqrt(row_weight[j] * col_weight[col[e]])
            for b in range(first, last):
                x = (cuts[b] - mean) * root
                excess[b] += normal_cdf(x)
                slope[b] += normal_pdf(x) * root
    for b in range(first, last):
        if slope[b] > 0.0:
            target = cuts[b] - (excess[b] - below[b]) / slope[b]
            cuts[b] = min(max(target, 0.5 * (cuts[b] + cuts[b - 1])), 0.5 * (cuts[b] + cuts[b + 1]))
