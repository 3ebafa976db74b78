"""Tilting distributions over levels to given means."""

import math

import numpy as np

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.types import Array


def inside(mean: Array, levels: Array) -> Array:
    """The means, clipped to a thousandth of the scale from its ends: some distribution over the levels has these."""
    margin = 1e-3 * (levels[-1] - levels[0])
    return np.clip(mean, levels[0] + margin, levels[-1] - margin)


def tilt(probability: Array, levels: Array, mean: Array) -> None:
    """Tilt each distribution (n, levels) exponentially, in place, to the given mean (n,), or the nearest `inside`.

    p_l becomes proportional to p_l exp(theta l): of all distributions with that mean the nearest one
    (Kullback-Leibler).
    """
    _tilt(probability, levels, inside(mean, levels))


@kernel()
def _tilt(probability: Array, levels: Array, mean: Array) -> None:
    """Newton's method on theta, and bisection where it would oscillate, as it does between two levels."""
    n = levels.shape[0]
    width = levels[n - 1] - levels[0]
    weight = np.empty(n)
    for e in range(probability.shape[0]):
        theta, low, high = 0.0, -math.inf, math.inf
        reach, before = 5.0, math.inf
        for _ in range(100):
            total = first = second = 0.0
            # exp(theta l) relative to the level at the end where it is largest, as a running product
            factor, ratio, step = 1.0, 1.0, 0.0
            end, way = (n - 1, -1) if theta > 0.0 else (0, 1)
            for t in range(n):
                b = end + way * t
                if t > 0:
                    gap = abs(levels[b] - levels[b - way])
                    if gap != step:  # once for all levels of a regular scale: exp takes most of the time of tilting
                        ratio, step = math.exp(-abs(theta) * gap / width), gap
                    factor *= ratio
                at = (levels[b] - mean[e]) / width
                weight[b] = (probability[e, b] + 1e-12) * factor
                total += weight[b]
                first += weight[b] * at
                second += weight[b] * at * at
            first /= total
            if abs(first) < 1e-10:
                break
            low, high = (low, theta) if first > 0.0 else (theta, high)
            # a step that overshoots would leave the region where Newton's quadratic is accurate
            newton = first / max(second / total - first * first, 1e-9)
            if abs(newton) > reach:
                newton = math.copysign(reach, newton)
                reach *= 2.0
            theta -= newton
            if not low < theta < high or (abs(first) > 0.5 * before and high - low < math.inf):
                theta = 0.5 * (low + high)
            before = abs(first)
        for b in range(n):
            probability[e, b] = weight[b] / total
