"""Ratings as intervals of a latent utility: drawing the utilities and moving the cut points."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lbg_recsys.core.normal import smooth_cdf, truncated_normal
from lbg_recsys.core.ridge import FAST

Array = NDArray[Any]


@njit(nogil=True, cache=True, error_model="numpy")
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
    col_root = np.sqrt(col_weight)
    for j in range(ptr.shape[0] - 1):
        row_root = np.sqrt(row_weight[j])
        for e in range(ptr[j], ptr[j + 1]):
            mean = utility[e] - res[e]
            root = row_root * col_root[np.uint32(col[e])]
            low = (cuts[level[e]] - mean) * root
            high = (cuts[level[e] + 1] - mean) * root
            r = truncated_normal(rng, low, high) / root
            res[e] = r
            utility[e] = mean + r


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
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
    col_root = np.sqrt(col_weight)
    for j in range(ptr.shape[0] - 1):
        row_root = np.sqrt(row_weight[j])
        for b in range(first, last):
            cut = np.float32(cuts[b])
            total = density = np.float32(0.0)
            for e in range(ptr[j], ptr[j + 1]):
                root = row_root * col_root[np.uint32(col[e])]
                below_cut, steepness = smooth_cdf((cut - utility[e] + res[e]) * root)
                total += below_cut
                density += steepness * root
            excess[b] += total
            slope[b] += density
    for b in range(first, last):
        if slope[b] > 0.0:
            target = cuts[b] - (excess[b] - below[b]) / slope[b]
            cuts[b] = min(max(target, 0.5 * (cuts[b] + cuts[b - 1])), 0.5 * (cuts[b] + cuts[b + 1]))
