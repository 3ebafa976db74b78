"""Ratings as intervals of a latent utility: drawing the utilities and moving the cut points.

Every user has cut points of its own: the common ones plus what the user adds to them (`Intervals`).
"""

import math

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.arrays import Gamma, Intervals, RatedLevels, Residuals, Weights
from lbg_recsys.core.gibbs.normal import draw_exponential, draw_normal, normal_cdf, smooth_cdf, truncated_normal
from lbg_recsys.core.types import Array

# The length of Metropolis steps: about 2.4 posterior standard deviations are best in one dimension, and a rating next
# to a cut point adds about 0.7 times its precision to that of the cut point.
_INFORMATION, _STEP = 0.7, 2.4
# The least distance between neighbouring cut points of a user.
_LEAST_GAP = 1e-3
# How far one Newton step may move a cut point, in standard deviations of the ratings.
_LONGEST_STEP = 0.5
# Added to probabilities of levels, which are computed to within 1e-9: no observed level has probability zero.
_TINY = 1e-9


@kernel()
def draw_utilities(
    rng: np.random.Generator, entries: Residuals, intervals: Intervals, weights: Weights, utility: Array
) -> None:
    """utility ~ N(mean, 1/precision) between the cut points of its level, (entries,); ``entries.res`` follows."""
    ptr, col, res = entries
    level, owner, cuts, added = intervals
    row_weight, col_weight = weights
    col_root = np.sqrt(col_weight)
    for j in range(ptr.shape[0] - 1):
        row_root = np.sqrt(row_weight[j])
        for e in range(ptr[j], ptr[j + 1]):
            b, u = level[e], owner[e]
            mean = utility[e] - res[e]
            root = row_root * col_root[np.uint32(col[e])]
            low = (cuts[b] + added[b, u] - mean) * root
            high = (cuts[b + 1] + added[b + 1, u] - mean) * root
            r = truncated_normal(rng, low, high) / root
            res[e] = r
            utility[e] = mean + r


@kernel(fastmath=FAST)
def move_cuts(
    entries: Residuals,
    intervals: Intervals,
    weights: Weights,
    utility: Array,
    below: Array,
    first: int,
    last: int,
) -> None:
    """One Newton step of ``cuts[first:last]`` towards an expected number of ratings under each equal to ``below``.

    Each moves at most half-way to its neighbours, so that they stay in ascending order, and no further than
    `_LONGEST_STEP`: where ratings are explained perfectly, nearly no rating is near a cut point, and the slope is 0.
    """
    ptr, col, res = entries
    _, owner, cuts, added = intervals
    row_weight, col_weight = weights
    excess = np.zeros(last)
    slope = np.zeros(last)
    col_root = np.sqrt(col_weight)
    for j in range(ptr.shape[0] - 1):
        row_root = np.sqrt(row_weight[j])
        for b in range(first, last):
            cut, own = np.float32(cuts[b]), added[b]
            total = density = np.float32(0.0)
            for e in range(ptr[j], ptr[j + 1]):
                root = row_root * col_root[np.uint32(col[e])]
                cut_point = cut + own[np.uint32(owner[e])]
                below_cut, steepness = smooth_cdf((cut_point - utility[e] + res[e]) * root)
                total += below_cut
                density += steepness * root
            excess[b] += total
            slope[b] += density
    for b in range(first, last):
        if slope[b] > 0.0:
            step = (excess[b] - below[b]) / slope[b]
            target = cuts[b] - min(max(step, -_LONGEST_STEP), _LONGEST_STEP)
            cuts[b] = min(max(target, 0.5 * (cuts[b] + cuts[b - 1])), 0.5 * (cuts[b] + cuts[b + 1]))


def set_apart(cuts: Array, added: Array) -> None:
    """Restore the order of the cut points of every user after the common ones have moved."""
    for b in range(2, len(cuts) - 1):
        added[b] = np.maximum(added[b], cuts[b - 1] + added[b - 1] + _LEAST_GAP - cuts[b])


def count_neighbours(level: Array, owner: Array, shape: tuple[int, int]) -> Array:
    """The number of ratings of every user in the two levels next to each cut point, ``shape`` (cut points, users)."""
    cell = level.astype(np.int64) * shape[1] + owner
    in_level = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    neighbours = in_level.astype(np.int32)
    neighbours[1:] += in_level[:-1].astype(np.int32)
    return neighbours


@kernel()
def _likelihood_gains(b: int, rated: RatedLevels, proposal: Array, gain: Array) -> None:
    """Add to ``gain`` (users,) how the log-likelihood of the levels changes with ``proposal`` (users,) for ``b``."""
    ptr, col, res = rated.entries
    level, owner, cuts, added = rated.intervals
    row_weight, col_weight = rated.weights
    utility = rated.utility
    ratio = np.ones(proposal.shape[0])
    col_root = np.sqrt(col_weight)
    for j in range(ptr.shape[0] - 1):
        row_root = math.sqrt(row_weight[j])
        for e in range(ptr[j], ptr[j + 1]):
            if level[e] == b or level[e] == b - 1:
                u, mean = owner[e], utility[e] - res[e]
                root = row_root * col_root[col[e]]
                other = b + 1 if level[e] == b else b - 1
                end = normal_cdf((cuts[other] + added[other, u] - mean) * root)
                old = abs(normal_cdf((cuts[b] + added[b, u] - mean) * root) - end)
                new = abs(normal_cdf((cuts[b] + proposal[u] - mean) * root) - end)
                ratio[u] *= (new + _TINY) / (old + _TINY)
                if not 1e-200 < ratio[u] < 1e200:  # one logarithm per group of ratings, not one per rating
                    gain[u] += math.log(ratio[u])
                    ratio[u] = 1.0
    for u in range(proposal.shape[0]):
        gain[u] += math.log(ratio[u])


@kernel()
def _in_order(b: int, u: int, proposal: float, cuts: Array, added: Array) -> bool:
    """Whether the cut points of a user ascend with this proposal."""
    return bool(cuts[b - 1] + added[b - 1, u] < cuts[b] + proposal < cuts[b + 1] + added[b + 1, u])


@kernel()
def move_own_cuts(rng: np.random.Generator, b: int, rated: RatedLevels, tau: float) -> None:
    """A Metropolis step of what each user adds to cut point ``b``, ~ N(0, 1/tau) a priori.

    The likelihood is that of the levels, not of the drawn utilities, next to which a cut point could hardly move.
    """
    cuts, added = rated.intervals.cuts, rated.intervals.added
    owners = added.shape[1]
    gain, proposal = np.empty(owners), np.empty(owners)
    for u in range(owners):
        step = _STEP / math.sqrt(tau + _INFORMATION * rated.owner_weight[u] * rated.neighbours[b, u])
        proposal[u] = added[b, u] + step * draw_normal(rng)
        gain[u] = 0.5 * tau * (added[b, u] ** 2 - proposal[u] ** 2)
    _likelihood_gains(b, rated, proposal, gain)
    for u in range(owners):
        if _in_order(b, u, proposal[u], cuts, added) and -draw_exponential(rng) < gain[u]:
            added[b, u] = proposal[u]


def rescale_own_cuts(rng: np.random.Generator, b: int, rated: RatedLevels, tau: float, prior: Gamma) -> float:
    """A Metropolis step of what all users add to cut point ``b`` together with its precision, which is returned.

    Their products with sqrt(tau) stay. What users with few ratings add depends more on tau than on their ratings, and
    tau on what they add: if they are drawn in turn, both need hundreds of sweeps to move.
    """
    cuts, added = rated.intervals.cuts, rated.intervals.added
    information = 0.25 * _INFORMATION * rated.owner_weight.astype(np.float64) * rated.neighbours[b] * added[b] ** 2
    # one by one: the bits of `sum` differ between processors
    total_information = np.append(1.0, information).cumsum()[-1]
    moved = tau * math.exp(_STEP / math.sqrt(total_information) * draw_normal(rng))
    proposal = math.sqrt(tau / moved) * added[b].astype(np.float64)
    rises = cuts[b - 1] + added[b - 1].astype(np.float64) < cuts[b] + proposal
    if not (rises & (cuts[b] + proposal < cuts[b + 1] + added[b + 1].astype(np.float64))).all():
        return tau
    gain = np.zeros(len(proposal))
    _likelihood_gains(b, rated, proposal, gain)
    total = prior.shape * math.log(moved / tau) - prior.rate * (moved - tau) + gain.cumsum()[-1]
    if -draw_exponential(rng) < total:
        added[b] = proposal
        return moved
    return tau
