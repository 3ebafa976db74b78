"""Chains of Bayesian LBG with parameters that `Draws` does not hold, and predictions from them, for the ablation."""

import math

import numpy as np
from numba import njit

from benchmarks.bayesian_variants import Variant
from lbg_recsys.core.normal import normal_cdf, smooth_cdf, truncated_normal


def predict_beyond(kept, beyond, rows, cols, values):
    """As `lbg_recsys.core.draws.predict`, with what the chain adds to each kept sweep."""
    probability, mean = np.zeros((len(rows), len(values))), np.zeros(len(rows))
    for draw, (shift, cuts) in zip(kept, beyond, strict=True):
        # code -1 is the last row or column, as `Draws` has the unknown
        components = np.arange(draw.z.shape[2])
        steps = draw.c[0][cols][np.arange(len(cols))[:, None], components, draw.z[0][rows]]
        utility = steps @ draw.c_step[0] + draw.row_bias[0][rows] + draw.col_bias[0][cols] + shift
        root = np.sqrt(draw.row_weight[0][rows].astype(float) * draw.col_weight[0][cols])
        cuts = np.broadcast_to(draw.cuts[0], (len(rows), len(values) - 1)) if cuts is None else cuts
        _add_levels(utility, root, cuts, not draw.ordinal[0], values, probability, mean)
    return probability, mean


@njit(nogil=True)
def _add_levels(utility, root, cuts, latent, values, probability, mean):
    for e in range(len(utility)):
        before = expected = 0.0
        for b in range(len(values)):
            upto = normal_cdf((cuts[e, b] - utility[e]) * root[e]) if b < len(values) - 1 else 1.0
            probability[e, b] += upto - before
            expected += values[b] * (upto - before)
            before = upto
        mean[e] += utility[e] if latent else expected


# -- time ----------------------------------------------------------------------------------------------------


class TimeEffects(Variant):
    """Random effects of a user's day, or also of an item's month: N(0, 1/tau) each, tau as the other precisions."""

    GROUPS = ("user_day",)

    def __init__(self, *args):
        super().__init__(*args)
        self.groups = [self.split.groups(name, self.settings.user_rows) for name in self.GROUPS]
        self.effects = [np.zeros(train.max() + 1) for train, _ in self.groups]
        self.taus = [10.0] * len(self.groups)

    def sweep_effects(self):
        super().sweep_effects()
        weight = self.row_weight[self.entries.rows()] * self.col_weight[self.entries.col]
        shape, rate = self.settings.spread
        for g, (group, _) in enumerate(self.groups):
            old = self.effects[g]
            precision = np.bincount(group, weight) + self.taus[g]
            new = np.bincount(group, weight * (self.res + old[group])) / precision
            new += self.rng.standard_normal(len(new)) / np.sqrt(precision)
            self.res -= (new - old)[group].astype(np.float32)
            self.effects[g] = new
            self.taus[g] = self.rng.gamma(shape + 0.5 * len(new)) / (rate + 0.5 * np.sum(new**2))

    def beyond(self):
        # a group that training did not meet has code -1: nothing is known of it
        effects = zip(self.effects, self.groups, strict=True)
        return sum(np.append(effect, 0.0)[test] for effect, (_, test) in effects), None


class DaysAndMonths(TimeEffects):
    """Both."""

    GROUPS = ("user_day", "item_month")


# -- cut points ----------------------------------------------------------------------------------------------


@njit(nogil=True)
def _propose(user, level, mean, root, cuts, own, b, proposal, gain):
    """gain[u] = by how much the log-likelihood of a user's ratings grows if its cut b goes to ``proposal``."""
    gain[:] = 0.0
    for e in range(len(user)):
        if level[e] == b or level[e] == b - 1:
            u, m, r = user[e], mean[e], root[e]
            other = b + 1 if level[e] == b else b - 1
            fixed = normal_cdf((cuts[other] + own[u, other] - m) * r)
            old = abs(normal_cdf((cuts[b] + own[u, b] - m) * r) - fixed)
            new = abs(normal_cdf((cuts[b] + proposal[u] - m) * r) - fixed)
            gain[u] += math.log((new + 1e-9) / (old + 1e-9))


@njit(nogil=True)
def _excess(user, mean, root, cuts, own, b):
    """Expected number of ratings below cut b, and its derivative."""
    excess = slope = 0.0
    for e in range(len(user)):
        below, density = smooth_cdf(np.float32((cuts[b] + own[user[e], b] - mean[e]) * root[e]))
        excess += below
        slope += density * root[e]
    return excess, slope


@njit(nogil=True)
def _draw_utilities(rng, user, level, mean, root, cuts, own, utility, res):
    """As `lbg_recsys.core.ordinal.draw_utilities`, each user having cuts of its own."""
    for e in range(len(user)):
        u, b, m, r = user[e], level[e], mean[e], root[e]
        low, high = cuts[b] + own[u, b] - m, cuts[b + 1] + own[u, b + 1] - m
        res[e] = truncated_normal(rng, low * r, high * r) / r
        utility[e] = m + res[e]


class UserCuts(Variant):
    """Each user's cut points are the common ones plus its own N(0, 1/tau_b), by Metropolis steps (ordinal chains)."""

    STEP, GAP = 0.15, 1e-3
    OF_USERS = True

    def __init__(self, *args):
        super().__init__(*args)
        entries, self.in_rows = self.entries, self.settings.user_rows == self.OF_USERS
        self.owner = entries.rows() if self.in_rows else entries.col
        self.own = np.zeros((entries.n_rows if self.in_rows else entries.n_cols, len(self.cuts)))
        self.cut_tau = np.full(len(self.cuts), 50.0)

    def sweep_utilities(self):
        mean = (self.utility - self.res).astype(float)
        root = np.sqrt(self.row_weight[self.entries.rows()] * self.col_weight[self.entries.col]).astype(float)
        if self.sweeps >= 10:
            last = len(self.cuts) - 1
            for b in range(2, last - 1):
                excess, slope = _excess(self.owner, mean, root, self.cuts, self.own, b)
                self.cuts[b] -= np.clip((excess - self.below[b]) / max(slope, 1e-9), -0.1, 0.1)
            self.keep_order()
            for b in range(1, last):
                self.step(b, mean, root)
        utilities = self.cuts, self.own, self.utility, self.res
        _draw_utilities(self.rng, self.owner, self.entries.level, mean, root, *utilities)

    def step(self, b, mean, root):
        """One Metropolis step of everybody's cut b, and the precision of these."""
        old, gain = self.own[:, b], np.empty(len(self.own))
        new = old + self.STEP * self.rng.standard_normal(len(old))
        _propose(self.owner, self.entries.level, mean, root, self.cuts, self.own, b, new, gain)
        gain -= 0.5 * self.cut_tau[b] * (new**2 - old**2)
        place = self.cuts[b] + new
        inside = (place > self.cuts[b - 1] + self.own[:, b - 1]) & (place < self.cuts[b + 1] + self.own[:, b + 1])
        accepted = inside & (np.log(self.rng.random(len(old))) < gain)
        self.own[accepted, b] = new[accepted]
        shape, rate = self.settings.spread
        squares = np.sum(self.own[:, b] ** 2)
        self.cut_tau[b] = self.rng.gamma(shape + 0.5 * len(old)) / (rate + 0.5 * squares)

    def keep_order(self):
        """The common cuts have moved: nobody's own may have passed each other."""
        inner = slice(1, -1)
        gap = self.GAP * np.arange(len(self.cuts) - 2)
        place = np.maximum.accumulate(self.cuts[inner] + self.own[:, inner] - gap, axis=1) + gap
        self.own[:, inner] = place - self.cuts[inner]

    def beyond(self):
        if not self.settings.ordinal:
            return None
        own = np.vstack([self.own, np.zeros(len(self.cuts))])  # the last: unknown owners, code -1
        rows, cols = self.split.pairs(self.settings.user_rows)
        return 0.0, (self.cuts + own[rows if self.in_rows else cols])[:, 1:-1]


class ItemCuts(UserCuts):
    """The items have cut points of their own instead."""

    OF_USERS = False
