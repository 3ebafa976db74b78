"""Effects of when a rating was given: of a user's day and moment, and the drift of items.

An occasion is a user's day, a user's moment (ratings with the same time) or an item's month. Its effect is added to
the utilities of its ratings. Effects of days and moments are N(0, 1/tau) each. The level of an item drifts: that of a
month is N(the level of the item's month before, 1/tau), and that of its first month N(0, 1/tau). Every kind of
occasion has a tau of its own.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.arrays import Gamma, Residuals, Weights
from lbg_recsys.core.gibbs.normal import draw_gamma
from lbg_recsys.core.types import Array

_FIRST_PRECISION = 10.0
# The steps from zero to the largest effect of a sweep, in which effects are kept.
STEPS = 127.0


class Kind(NamedTuple):
    """One kind of occasions, those of an owner after one another."""

    code: Array  # (entries,) int32: the occasion of every entry
    chained: Array  # (n,) bool: whether the effect follows that of the occasion before
    drifts: bool  # whether it is the drift of items


@kernel(fastmath=FAST)
def _draw(
    rng: np.random.Generator,
    entries: Residuals,
    weights: Weights,
    kind: Kind,
    effect: Array,
    tau: float,
    prior: Gamma,
) -> float:
    """Redraw the effects of one kind in place and take the change out of the residuals; returns the new tau."""
    ptr, col, res = entries
    row_weight, col_weight = weights
    code, chained, _ = kind
    n = effect.shape[0]
    amount, first = np.zeros(n, np.float32), np.zeros(n, np.float32)
    for j in range(ptr.shape[0] - 1):
        for e in range(ptr[j], ptr[j + 1]):
            g, w = code[e], row_weight[j] * col_weight[np.uint32(col[e])]
            amount[g] += w
            first[g] += w * res[e]
    step = np.empty(n, np.float32)
    squares = 0.0
    for g in range(n):
        before = effect[g - 1] if chained[g] else np.float32(0.0)
        precision = amount[g] + tau
        total = first[g] + amount[g] * effect[g] + tau * before
        if g + 1 < n and chained[g + 1]:
            precision += tau
            total += tau * effect[g + 1]
        new = np.float32(total / precision + rng.standard_normal() / math.sqrt(precision))
        step[g] = new - effect[g]
        effect[g] = new
        squares += float((new - before) * (new - before))
    for e in range(code.shape[0]):
        res[e] -= step[code[e]]
    return float(draw_gamma(rng, prior.shape + 0.5 * n) / (prior.rate + 0.5 * squares))


class OccasionEffects:
    """The effects of all kinds of occasions of a chain and their precisions ``tau`` (kinds,)."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.kinds = list(kinds)
        self.effects = [np.zeros(len(kind.chained), np.float32) for kind in self.kinds]
        self.tau = np.full(len(self.kinds), _FIRST_PRECISION)

    def draw(self, rng: np.random.Generator, entries: Residuals, weights: Weights, prior: Gamma) -> None:
        """Redraw everything; ``prior`` is that of tau."""
        for g, (kind, effect) in enumerate(zip(self.kinds, self.effects, strict=True)):
            self.tau[g] = _draw(rng, entries, weights, kind, effect, float(self.tau[g]), prior)

    def of_entries(self, n: int) -> Array:
        """The sum of the effects on each of n entries."""
        total = np.zeros(n)
        for kind, effect in zip(self.kinds, self.effects, strict=True):
            total += effect[kind.code]
        return total

    @property
    def spread(self) -> float:
        """The variance of the effects of an unknown day and moment of a user."""
        return float(sum(1.0 / tau for tau, kind in zip(self.tau, self.kinds, strict=True) if not kind.drifts))

    def last_levels(self, n_items: int) -> Array:
        """The last level of each item's drift, (items,); zeros if there is none."""
        for kind, effect in zip(self.kinds, self.effects, strict=True):
            if kind.drifts:
                return effect[_ends(kind.chained)]
        return np.zeros(n_items, np.float32)

    def kept(self) -> tuple[Array, float]:
        """All effects as whole numbers of steps (n,), drifts relative to the item's last level; and the step."""
        parts = [np.empty(0, np.float32)]
        for kind, effect in zip(self.kinds, self.effects, strict=True):
            if kind.drifts:
                ends = _ends(kind.chained)
                parts.append(effect - np.repeat(effect[ends], np.diff(ends, prepend=-1)))
            else:
                parts.append(effect)
        every = np.concatenate(parts)
        step = max(float(np.abs(every).max(initial=0.0)), 1e-6) / STEPS
        return np.rint(every / step).astype(np.int8), step


def _ends(chained: Array) -> Array:
    """The last occasion of each owner."""
    return np.flatnonzero(np.append(~chained[1:], True))
