"""Ratings as intervals of a latent utility: drawing the utilities and moving the cut points.

Everybody uses the scale in their own way: the cut points of a rating are the common ``cuts`` (levels + 1,) plus what
its owner adds to them, ``own`` (levels + 1, owners), nothing at both ends.
"""

import math

import numpy as np
from numba import njit

from lbg_recsys.core.gibbs.normal import normal_cdf, smooth_cdf, truncated_normal
from lbg_recsys.core.gibbs.ridge import FAST
from lbg_recsys.core.types import Array

# What a rating next to a cut point says of its place, roughly, in units of its precision: it sets how far Metropolis
# steps reach, and 2.4 standard deviations of what is looked for are best in one dimension.
_INFORMATION, _REACH = 0.7, 2.4
# Cut points that moved into each other are set so far apart.
_LEAST_GAP = 1e-3
# Beyond its accuracy Phi gives no probability of zero to a rating that is there.
_TINY = 1e-9


@njit(nogil=True, cache=True, error_model="numpy")
def draw_utilities(
    rng: np.random.Generator,
    ptr: Array,
    col: Array,
    level: Array,
    owner: Array,
    cuts: Array,
    own: Array,
    row_weight: Array,
    col_weight: Array,
    utility: Array,
    res: Array,
) -> None:
    """utility ~ N(mean, 1/precision) between the cut points of its level; ``res`` follows."""
    col_root = np.sqrt(col_weight)
    for j in range(ptr.shape[0] - 1):
        row_root = np.sqrt(row_weight[j])
        for e in range(ptr[j], ptr[j + 1]):
            b, u = level[e], owner[e]
            mean = utility[e] - res[e]
            root = row_root * col_root[np.uint32(col[e])]
            low = (cuts[b] + own[b, u] - mean) * root
            high = (cuts[b + 1] + own[b + 1, u] - mean) * root
            r = truncated_normal(rng, low, high) / root
            res[e] = r
            utility[e] = mean + r


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def move_cuts(
    ptr: Array,
    col: Array,
    owner: Array,
    row_weight: Array,
    col_weight: Array,
    utility: Array,
    res: Array,
    below: Array,
    cuts: Array,
    own: Array,
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
            cut, added = np.float32(cuts[b]), own[b]
            total = density = np.float32(0.0)
            for e in range(ptr[j], ptr[j + 1]):
                root = row_root * col_root[np.uint32(col[e])]
                place = cut + added[np.uint32(owner[e])]
                below_cut, steepness = smooth_cdf((place - utility[e] + res[e]) * root)
                total += below_cut
                density += steepness * root
            excess[b] += total
            slope[b] += density
    for b in range(first, last):
        if slope[b] > 0.0:
            target = cuts[b] - (excess[b] - below[b]) / slope[b]
            cuts[b] = min(max(target, 0.5 * (cuts[b] + cuts[b - 1])), 0.5 * (cuts[b] + cuts[b + 1]))


@njit(nogil=True, cache=True)
def set_apart(cuts: Array, own: Array) -> None:
    """Cut points of owners that the common ones have moved into each other."""
    for u in range(own.shape[1]):
        for b in range(2, cuts.shape[0] - 1):
            own[b, u] = max(own[b, u], cuts[b - 1] + own[b - 1, u] + _LEAST_GAP - cuts[b])


@njit(nogil=True, cache=True)
def count_beside(level: Array, owner: Array, beside: Array) -> None:
    """beside[b, u] = how many ratings of owner u are in one of the two levels that cut point b lies between."""
    beside[:] = 0
    for e in range(level.shape[0]):
        beside[level[e], owner[e]] += 1
        beside[level[e] + 1, owner[e]] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def move_own_cuts(
    rng: np.random.Generator,
    b: int,
    ptr: Array,
    col: Array,
    level: Array,
    owner: Array,
    cuts: Array,
    own: Array,
    beside: Array,
    tau: float,
    row_weight: Array,
    col_weight: Array,
    owner_weight: Array,
    utility: Array,
    res: Array,
) -> None:
    """A Metropolis step of what each owner adds to cut point ``b``, ~ N(0, 1/tau) a priori, utilities left aside.

    A cut point between utilities that are drawn already could hardly move; so the likelihood is that of the levels.
    """
    owners = own.shape[1]
    gain, ratio, proposal = np.zeros(owners), np.ones(owners), np.empty(owners)
    for u in range(owners):
        step = _REACH / math.sqrt(tau + _INFORMATION * owner_weight[u] * beside[b, u])
        proposal[u] = own[b, u] + step * rng.standard_normal()
        gain[u] = 0.5 * tau * (own[b, u] ** 2 - proposal[u] ** 2)
    col_root = np.sqrt(col_weight)
    for j in range(ptr.shape[0] - 1):
        row_root = math.sqrt(row_weight[j])
        for e in range(ptr[j], ptr[j + 1]):
            if level[e] == b or level[e] == b - 1:
                u, mean = owner[e], utility[e] - res[e]
                root = row_root * col_root[col[e]]
                other = b + 1 if level[e] == b else b - 1
                end = normal_cdf((cuts[other] + own[other, u] - mean) * root)
                old = abs(normal_cdf((cuts[b] + own[b, u] - mean) * root) - end)
                new = abs(normal_cdf((cuts[b] + proposal[u] - mean) * root) - end)
                ratio[u] *= (new + _TINY) / (old + _TINY)
                if not 1e-200 < ratio[u] < 1e200:  # a logarithm now and then instead of one a rating
                    gain[u] += math.log(ratio[u])
                    ratio[u] = 1.0
    for u in range(owners):
        place = cuts[b] + proposal[u]
        in_order = cuts[b - 1] + own[b - 1, u] < place < cuts[b + 1] + own[b + 1, u]
        if in_order and -rng.standard_exponential() < gain[u] + math.log(ratio[u]):
            own[b, u] = proposal[u]
