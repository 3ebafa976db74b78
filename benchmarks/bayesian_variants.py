"""Chains of Bayesian LBG with one thing changed, for the ablation: ideas that the model does not (yet) have."""

from dataclasses import replace
from types import FunctionType
from unittest import mock

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds
from scipy.special import gammaln

from lbg_recsys.core.compiling import FAST
from lbg_recsys.core.gibbs import chain as gibbs
from lbg_recsys.core.gibbs.chain import Chain
from lbg_recsys.core.gibbs.components import PRIOR_ROWS, count_classes, refresh_profile, sweep_components


class Variant(Chain):
    """A chain that is told of the split it learns from, and may add to what a kept sweep says of test pairs."""

    def __init__(self, split, settings, seed):
        entries, level = split.entries(settings.side)
        super().__init__(entries, level, split.standard.middles, settings, seed)
        self.split = split

    def beyond(self):
        """What `Draws` does not hold: what is added to the utilities of the test pairs."""
        return None


def drawn_from(rng, log_density):
    """An index, drawn in proportion to the exponentials."""
    return int(np.argmax(log_density + rng.gumbel(size=len(log_density))))


# -- profiles ------------------------------------------------------------------------------------------------


class NoProfile(Variant):
    """Class means and biases know nothing of who rated what."""

    def __init__(self, *args):
        super().__init__(*args)
        blocks = self.settings.n_components * self.settings.n_classes
        self.phi[:blocks] = self.gram[:blocks] = self.gram[:, :blocks] = 0.0
        self.settings = replace(self.settings, follow_profiles=False)


class NoAmount(Variant):
    """The amount of ratings is not among the features."""

    def __init__(self, *args):
        super().__init__(*args)
        self.phi[-1] = self.gram[-1] = self.gram[:, -1] = 0.0


class Company(Variant):
    """Among the features of a column, how many ratings its rows have takes the place of how many it has itself."""

    def __init__(self, *args):
        super().__init__(*args)
        amount = np.log(self.entries.lengths.repeat(self.entries.lengths))
        mean = np.bincount(self.entries.columns, amount, minlength=self.entries.n_columns) / np.maximum(self.n_col, 1)
        known = mean[self.n_col > 0]
        self.phi[-1] = np.where(self.n_col > 0, (mean - known.mean()) / known.std(), 0.0)
        self.gram[-1] = self.gram[:, -1] = self.phi.astype(float) @ self.phi[-1].astype(float)


# -- noise ---------------------------------------------------------------------------------------------------


class FixedNoise(Variant):
    """The noise's scale is the current mean squared residual instead of a parameter with a prior."""

    def sweep_effects(self):
        super().sweep_effects()
        self.noise_rate = self.settings.user_noise_shape * self.training_error() ** 2


class LearnedShape(Variant):
    """How alike users are in how noisy they are is drawn too: log shape ~ N(log 10, 1), on a grid."""

    GRID = np.geomspace(1.0, 100.0, 60)

    def sweep_effects(self):
        super().sweep_effects()
        weight = self.user_weight
        # given the mean precision shape / rate, not the rate: the two hardly move one by one
        mean = self.settings.user_noise_shape / self.noise_rate
        rate = self.GRID / mean
        density = len(weight) * (self.GRID * np.log(rate) - gammaln(self.GRID)) - rate * weight.sum(dtype=float)
        density += self.GRID * np.log(weight).sum(dtype=float) - 0.5 * np.log(self.GRID / 10.0) ** 2
        at = drawn_from(self.rng, density)
        self.settings = replace(self.settings, user_noise_shape=float(self.GRID[at]))
        self.noise_rate = float(rate[at])


# -- classes -------------------------------------------------------------------------------------------------


def recompiled(kernel, **others):
    """A kernel that calls other functions by the given names."""
    changed = FunctionType(kernel.py_func.__code__, {**kernel.py_func.__globals__, **others}, kernel.py_func.__name__)
    return njit(nogil=True, fastmath=FAST)(changed)


@njit(nogil=True)
def _sparse_shares(rng, z, h, lam, size):
    """lam ~ Dirichlet(1/K + W): classes that are not needed stay empty."""
    for s in range(lam.shape[0]):
        rows = 0
        for j in range(z.shape[0]):
            rows += z[j, h] == s
        size[s] = rows
        lam[s] = rng.standard_gamma(1.0 / lam.shape[0] + rows) + 1e-300
    lam /= lam.sum()


_sweep_sparse_components = recompiled(sweep_components, draw_shares=_sparse_shares)


class SparseShares(Variant):
    """Shares of classes ~ Dirichlet(1/K): each component has as many classes as it needs."""

    def sweep_classes(self, *how):
        with mock.patch.object(gibbs, "sweep_components", _sweep_sparse_components):
            super().sweep_classes(*how)


class LearnedWeight(Variant):
    """The weight w of the indicator evidence is drawn, on a grid with equal prior odds.

    Given who rated what, a row's class has the odds lam_s exp(w E_s), E the evidence of all *other* rows: how well
    this foretells the classes that there are decides between weights.
    """

    GRID = np.append(0.0, np.geomspace(0.0025, 0.16, 13))
    EVERY = 5

    def __init__(self, *args):
        super().__init__(*args)
        ones = np.ones(len(self.entries.columns))
        self.held = csr_array(
            (ones, self.entries.columns, self.entries.indptr), shape=(len(self.z), self.entries.n_columns)
        )

    def sweep_classes(self, *how):
        super().sweep_classes(*how)
        if self.sweeps % self.EVERY == 0:
            density = np.zeros(len(self.GRID))
            for h in range(len(self.c)):
                evidence, own = self.evidence(h), self.z[:, h, np.newaxis]
                for g, weight in enumerate(self.GRID):
                    odds = np.log(self.lam[h]) + weight * evidence
                    density[g] += (np.take_along_axis(odds, own, 1)[:, 0] - np.logaddexp.reduce(odds, axis=1)).sum()
            weight = self.GRID[drawn_from(self.rng, density)]
            self.settings = replace(self.settings, indicator_weight=float(weight))

    def evidence(self, h):
        """(rows, K): log-probability of what each row holds, by the rates of each class without the row itself."""
        z, rows = self.z[:, h], len(self.z)
        size = np.bincount(z, minlength=self.c.shape[1])[:, np.newaxis]
        usual = PRIOR_ROWS * self.n_col / rows

        def by_class(present, absent, size):
            held = np.minimum((present + usual) / (size + PRIOR_ROWS), 0.999)
            free = 1.0 - np.minimum((absent + usual) / (size + PRIOR_ROWS), 0.999)
            return self.held @ (np.log(np.maximum(held, 1e-9)) - np.log(free)).T + np.log(free).sum(axis=1)

        count = self.counts[h]
        others, own = by_class(count, count, size), by_class(np.maximum(count - 1, 0), count, size - 1)
        np.put_along_axis(others, z[:, np.newaxis], np.take_along_axis(own, z[:, np.newaxis], 1), 1)
        return others


# -- mixing --------------------------------------------------------------------------------------------------


class Tempered(Variant):
    """While the chain finds its classes, ratings count less: from 0.3 of their precision to all of it."""

    FROM, TO, SWEEPS = 0.3, 1.0, 40

    def sweep_classes(self, *how):
        factor = np.float32(self.FROM + (self.TO - self.FROM) * min(1.0, self.sweeps / self.SWEEPS))
        self.row_weight *= factor
        super().sweep_classes(*how)
        self.row_weight /= factor


class Sharpened(Tempered):
    """The opposite: they count more at first."""

    FROM = 3.0


class Cold(Tempered):
    """Ratings always count a little more for the classes than they should."""

    FROM = TO = 1.3


class Restarted(Variant):
    """During the burn-in the component that says least begins anew: with rows in the order of the residual's main
    direction, cut into classes of one size.
    """

    AT = (15, 20, 25, 30, 35)

    def sweep(self, *how):
        if self.sweeps in self.AT:
            self.restart()
        super().sweep(*how)

    def restart(self):
        """Choose, take out, and begin again."""
        rows, col = self.entries.row_of_entry(), self.entries.columns
        said = [self.c[h, self.z[rows, h], col] for h in range(len(self.c))]
        h = int(np.argmin([np.mean(one**2) for one in said]))
        self.res += said[h]
        weight = np.sqrt(self.row_weight[rows] * self.col_weight[col])
        residual = csr_array(
            (weight * self.res, col, self.entries.indptr), shape=(len(self.z), self.entries.n_columns)
        )
        direction = svds(residual, k=1, v0=self.rng.standard_normal(min(residual.shape)))[0][:, 0]
        k = self.c.shape[1]
        self.z[np.argsort(direction), h] = np.arange(len(self.z)) * k // len(self.z)
        self.c[h], self.tau[h] = 0.0, 10.0
        count_classes(rows, col, self.z, self.counts)
        refresh_profile(h, self.profiles)
