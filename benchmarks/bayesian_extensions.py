"""Chains of Bayesian LBG with parameters that `Draws` does not hold, and predictions from them, for the ablation."""

import numpy as np
from numba import njit

from benchmarks.bayesian_variants import Variant
from lbg_recsys.core.gibbs.normal import normal_cdf


def predict_beyond(kept, beyond, rows, cols, values):
    """As `lbg_recsys.core.gibbs.predict_pairs.predict`, with what the chain adds to each kept sweep."""
    probability, mean = np.zeros((len(rows), len(values))), np.zeros(len(rows))
    for draw, shift in zip(kept, beyond, strict=True):
        # code -1 is the last row or column, as `Draws` has the unknown
        components = np.arange(draw.z.shape[2])
        steps = draw.c[0][cols][np.arange(len(cols))[:, None], components, draw.z[0][rows]]
        utility = steps @ draw.c_step[0] + draw.row_bias[0][rows] + draw.col_bias[0][cols] + shift
        root = np.sqrt(draw.row_weight[0][rows].astype(float) * draw.col_weight[0][cols])
        _add_levels(utility, root, draw.cuts[0], not draw.ordinal[0], values, probability, mean)
    return probability, mean


@njit(nogil=True)
def _add_levels(utility, root, cuts, latent, values, probability, mean):
    for e in range(len(utility)):
        before = expected = 0.0
        for b in range(len(values)):
            upto = normal_cdf((cuts[b] - utility[e]) * root[e]) if b < len(values) - 1 else 1.0
            probability[e, b] += upto - before
            expected += values[b] * (upto - before)
            before = upto
        mean[e] += utility[e] if latent else expected


class TimeEffects(Variant):
    """Random effects of a user's day, or also of an item's month: N(0, 1/tau) each, tau as the other precisions."""

    GROUPS = ("user_day",)

    def __init__(self, *args):
        super().__init__(*args)
        self.groups = [self.split.groups(name, self.settings.side) for name in self.GROUPS]
        self.effects = [np.zeros(train.max() + 1) for train, _ in self.groups]
        self.taus = [10.0] * len(self.groups)

    def sweep_effects(self):
        super().sweep_effects()
        weight = self.row_weight[self.entries.row_of_entry()] * self.col_weight[self.entries.columns]
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
        return sum(np.append(effect, 0.0)[test] for effect, (_, test) in effects)


class DaysAndMonths(TimeEffects):
    """Both."""

    GROUPS = ("user_day", "item_month")
