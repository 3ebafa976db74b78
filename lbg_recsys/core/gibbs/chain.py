"""One Markov chain of Bayesian LBG over plain arrays, the same for both orientations.

Rows carry a class per component, columns a mean per component and class (docs/bayesian-lbg.md has the model):

    utility of (j, i) = b_j + b_i + sum_h c[h, i, z[h, j]] + f_j . g_i + noise,
    noise ~ N(0, 1 / (row_weight[j] col_weight[i]))

A rating is its utility (Gaussian) or the level whose interval holds the utility (ordinal); the cut points between the
levels are those of the user, spread around common ones. Ratings are standardised.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.gibbs.amounts import Amounts, column_features, standard_amount
from lbg_recsys.core.gibbs.arrays import Gamma, Intervals, RatedLevels, Residuals, Weights
from lbg_recsys.core.gibbs.components import (
    Classes,
    ComponentSettings,
    Profiles,
    count_classes,
    refresh_profile,
    sweep_components,
)
from lbg_recsys.core.gibbs.effects import (
    EffectPrior,
    Effects,
    draw_col_effects,
    draw_noise_rate,
    draw_row_effects,
    mean_square,
    ridge_biases,
)
from lbg_recsys.core.gibbs.factor_priors import draw_expected_factors, expect_factors
from lbg_recsys.core.gibbs.factors import (
    Factors,
    Partners,
    conditional_factors,
    draw_factors,
    first_factors,
)
from lbg_recsys.core.gibbs.features import NO_FEATURES, Design, Regressions, draw_precisions
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.noise_shapes import USUAL_SHAPE, draw_noise_shape, sums_of_rows
from lbg_recsys.core.gibbs.occasions import Kind, OccasionEffects
from lbg_recsys.core.gibbs.ordinal import (
    count_neighbours,
    draw_utilities,
    move_cuts,
    move_own_cuts,
    rescale_own_cuts,
    set_apart,
)
from lbg_recsys.core.gibbs.ridge import SHRINKAGE
from lbg_recsys.core.gibbs.threads import ALONE, Threads
from lbg_recsys.core.gibbs.vectors import LANES
from lbg_recsys.core.interrupts import Between, go_on
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array

# Cut points and the shapes of noise are fixed before this sweep, because classes are not found yet.
_CUTS_MOVE_FROM = 10
# Entries, times components, per call of compiled code: about half a second, because Ctrl-C is handled between calls.
# Drawing the factors of an entry's row takes as long as several components of it.
_ENTRIES_AT_ONCE = 40_000_000
_FACTORS_TIMES = 16
# A wide prior of precisions.
_WIDE = Gamma(0.5, 0.005)


@dataclass(frozen=True)
class ChainSettings:
    """The settings of one chain; `BayesianLBGModel` keeps the defaults of those with little effect."""

    n_components: int = 16
    n_classes: int = 3
    n_factors: int = 0
    likelihood: Likelihood = Likelihood.GAUSSIAN
    side: Side = Side.USERS  # who the rows are
    indicator_weight: float = 0.01
    # a user's noise precision ~ Gamma(shape, rate) with a learned rate
    user_noise_shape: float = USUAL_SHAPE
    # an item's noise precision, relative to the user's, ~ Gamma(shape, shape)
    item_noise_shape: float = USUAL_SHAPE
    # whether both shapes are learned, these being the first
    learn_noise_shapes: bool = False
    # the prior of the precisions of class means and biases, and of the rate above; with so small
    # a rate the means of a component that is not needed shrink to zero
    spread: Gamma = _WIDE
    # whether profiles follow the classes, and common cut points the ratings; False holds them fixed
    follow_profiles: bool = True
    follow_cuts: bool = True
    # whether users have cut points of their own, and the prior of their precisions
    own_cuts: bool = True
    cut_spread: Gamma = _WIDE

    @property
    def ordinal(self) -> bool:
        """Whether the likelihood is ordinal."""
        return self.likelihood is Likelihood.ORDINAL

    @property
    def user_rows(self) -> bool:
        """Whether users are the rows."""
        return self.side is Side.USERS


class FactorSide(NamedTuple):
    """The factors of the rows, or of the columns, and all that they depend on."""

    own: Factors
    others: Array  # (partners, R) float32
    entries: Partners
    weight: Array  # (n,) float32: noise weights
    back: Partners  # the entries of the partners
    other_weight: Array  # (partners,) float32
    known: Regressions  # of the factors on features


class Chain:
    """The state of one chain; `sweep` draws everything once from its conditional distribution.

    Parameters of the model, as in the formula above: ``z`` (rows, H), ``c`` (H, K, columns), ``lam`` (H, K),
    ``tau`` (H,), ``eta`` (H, K, D) and ``omega`` (D,) with the prior precisions ``eta_shrinkage`` and
    ``omega_shrinkage`` (D,), ``row_features`` (coefficients of what is known about the rows), ``row_factors`` and
    ``col_factors`` (f and g, with the parameters of their priors; see `lbg_recsys.core.gibbs.factors`),
    ``row_factor_features`` and ``col_factor_features`` (coefficients of what is known in these), ``occasions``
    (effects of when ratings were given), ``row_bias``, ``col_bias``, ``row_tau``, ``col_tau``, ``row_weight``,
    ``col_weight``, ``user_noise_shape``, ``item_noise_shape``, ``noise_rate``, ``cuts`` (levels + 1,), and of ordinal
    chains ``own_cuts`` (levels + 1, users) with their precisions ``cut_tau`` (levels + 1,).
    Derived: ``res`` and ``utility`` (entries,), ``counts`` (H, K, columns), ``phi`` (D, columns), ``gram`` (D, D).
    """

    def __init__(
        self,
        entries: SparseRows,
        level: Array,
        middles: Array,
        settings: ChainSettings,
        seed: np.random.SeedSequence,
        row_design: Design = NO_FEATURES,
        col_design: Design = NO_FEATURES,
        occasions: Sequence[Kind] = (),
    ) -> None:
        self.settings = settings
        self.rng = np.random.Generator(np.random.PCG64(seed))
        rows, n, h, k = len(entries), entries.n_columns, settings.n_components, settings.n_classes
        self.n_col = entries.column_counts().astype(np.float32)
        self.row_features, self.col_design = Regressions(row_design, 1), col_design
        self.occasions = OccasionEffects(occasions)
        d = h * k + 2 + col_design.width
        self.z = self.rng.integers(0, k, (rows, h)).astype(np.int8)
        self.c = np.zeros((h, k, n), np.float32)
        self.lam = np.full((h, k), 1.0 / k)
        self.tau = np.full(h, 10.0)
        self.eta = np.zeros((h, k, d), np.float32)
        self.omega = np.zeros(d, np.float32)
        # the prior precisions of eta and omega: those of the columns' features are drawn, one per group
        self.eta_shrinkage, self.omega_shrinkage = np.full(d, SHRINKAGE), np.full(d, SHRINKAGE)
        self.row_bias, self.col_bias = ridge_biases(entries)
        self.row_tau = self.col_tau = 10.0
        self.cuts = np.concatenate([[-np.inf], middles, [np.inf]])
        users = rows if settings.user_rows else n
        # ratings of Gaussian chains have no cut points: these are for predictions, and the same for all
        self.own_cuts = np.zeros((len(self.cuts), users if settings.ordinal else 1), np.float32)
        self.cut_tau = np.full(len(self.cuts), 16.0)
        # half a rating is added to each level, so that an empty one keeps a small probability
        amount = np.bincount(level, minlength=len(middles) + 1) + 0.5
        self.below = np.append(0.0, amount.cumsum() / amount.sum()) * len(entries.columns)
        amounts = (standard_amount(each, Amounts.of(each)) for each in (entries.lengths, self.n_col))
        self.row_factors, self.col_factors = (
            first_factors(self.rng, settings.n_factors, partners, amount)
            for partners, amount in zip((n, rows), amounts, strict=True)
        )
        self.row_factor_features, self.col_factor_features = (
            Regressions(design, settings.n_factors) for design in (row_design, col_design)
        )
        self.sweeps = 0
        self.wake(entries, level)
        variance = max(mean_square(self.res), 1e-4)
        self.user_noise_shape, self.item_noise_shape = settings.user_noise_shape, settings.item_noise_shape
        self.noise_rate = self.user_noise_shape * variance
        self.row_weight, self.col_weight = np.ones(rows, np.float32), np.ones(n, np.float32)
        self.user_weight[:] = 1.0 / variance

    def wake(self, entries: SparseRows, level: Array) -> None:
        """Prepare for sweeps: compute everything that follows from the parameters, the entries and their levels."""
        self.entries, self.level = entries, level
        d, n = len(self.omega), entries.n_columns
        self.counts = np.zeros(self.c.shape, np.int32)
        self.phi, self.gram = np.zeros((d, n), np.float32), np.zeros((d, d))
        self._col_stat = np.zeros((3, n), np.float32)
        rows = entries.row_of_entry()
        count_classes(rows, entries.columns, self.z, self.counts)
        fixed = slice(self.settings.n_components * self.settings.n_classes, None)
        self.phi[fixed] = column_features(self.n_col, Amounts.of(self.n_col), self.col_design.values_of(n)).T
        # einsum, not BLAS: the same bits with any number of threads
        self.gram[fixed, fixed] = np.einsum("di,ei->de", self.phi[fixed], self.phi[fixed], dtype=np.float64)
        for h in range(self.settings.n_components):
            refresh_profile(h, self.profiles)
        if self.settings.n_factors:
            indptr, holders, place = entries.by_column
            self._of_rows = Partners(entries.indptr, entries.columns, np.arange(len(rows), dtype=np.int32))
            self._of_cols = Partners(indptr, holders, place)
            for own, partners, known in (
                (self.row_factors, self._of_rows, self.row_factor_features),
                (self.col_factors, self._of_cols, self.col_factor_features),
            ):
                expect_factors(own, partners)
                own.mean[:] += known.expected(len(own.mean)).T
        self.owner = rows if self.settings.user_rows else entries.columns
        if not self.settings.ordinal:
            self.owner = np.zeros_like(self.owner)
        self._neighbours = count_neighbours(level, self.owner, self.own_cuts.shape)
        mean = self.row_bias[rows].astype(np.float64) + self.col_bias[entries.columns]
        for h in range(self.settings.n_components):
            mean += self.c[h, self.z[rows, h], entries.columns]
        mean += self.occasions.of_entries(len(mean))
        mean += self._products(rows, entries.columns)
        utility = getattr(self, "utility", entries.values)  # drawn ones are no ratings, and stay
        self.utility, self.res = utility.astype(np.float32), (utility - mean).astype(np.float32)

    def rest(self) -> None:
        """Release most of the memory until `wake`: the entries, and all that `wake` can compute again."""
        if "entries" not in vars(self):  # it rests already
            return
        del (
            self.entries,
            self.level,
            self.owner,
            self.counts,
            self.phi,
            self.gram,
            self.res,
            self._col_stat,
            self._neighbours,
        )
        if self.settings.n_factors:
            del self._of_rows, self._of_cols
        if not self.settings.ordinal:
            del self.utility

    # -- groups of arrays that kernels take ------------------------------------------------------------------------

    @property
    def profiles(self) -> Profiles:
        """The profiles of the columns and what they are made of."""
        return Profiles(self.phi, self.gram, self.counts, self.n_col)

    def _residuals(self) -> Residuals:
        return Residuals(self.entries.indptr, self.entries.columns, self.res)

    def _weights(self) -> Weights:
        return Weights(self.row_weight, self.col_weight)

    def _intervals(self) -> Intervals:
        return Intervals(self.level, self.owner, self.cuts, self.own_cuts)

    # -- sweeping ------------------------------------------------------------------------------------------------

    def sweep(self, threads: Threads = ALONE, between: Between = go_on) -> None:
        """Redraw everything once; ``threads`` do not change a bit of it.

        ``between`` is called every second or so. If it raises an exception, the chain stops between two draws, where
        all that follows from the others agrees with them: it can go on with another sweep.
        """
        self.sweep_classes(between)
        if self.settings.n_factors:
            self.sweep_factors(threads, between)
        between()
        self.sweep_effects()
        between()
        if self.settings.ordinal:
            self.sweep_utilities(between)
        self.sweeps += 1

    def sweep_classes(self, between: Between = go_on) -> None:
        """Redraw eta, c, tau, lam and z of every component."""
        settings, n_components = self.settings, len(self.c)
        noise = self.rng.standard_normal(self.c.shape, np.float32)
        uniform = self.rng.random((n_components, len(self.z)))
        at_once = max(1, _ENTRIES_AT_ONCE // max(len(self.res), 1))
        for begin in range(0, n_components, at_once):
            between()
            sweep_components(
                self.rng,
                self._residuals(),
                Classes(self.z, self.c, self.lam, self.tau, self.eta, self.eta_shrinkage),
                self.profiles,
                self._weights(),
                ComponentSettings(settings.spread, settings.indicator_weight, settings.follow_profiles),
                noise,
                uniform,
                begin,
                min(begin + at_once, n_components),
            )
        self._draw_shrinkage(self.eta, self.eta_shrinkage)

    def _factor_sides(self) -> tuple[FactorSide, FactorSide]:
        """What the factors of rows depend on, and those of columns."""
        rows, cols = (self._of_rows, self.row_weight), (self._of_cols, self.col_weight)
        return (
            FactorSide(self.row_factors, self.col_factors.value, *rows, *cols, self.row_factor_features),
            FactorSide(self.col_factors, self.row_factors.value, *cols, *rows, self.col_factor_features),
        )

    def sweep_factors(self, threads: Threads = ALONE, between: Between = go_on) -> None:
        """Redraw the factors of rows and of columns, and the parameters of their priors."""
        rounds = -(-_FACTORS_TIMES * len(self.res) // _ENTRIES_AT_ONCE)
        for side in self._factor_sides():
            own = side.own
            noise = self.rng.standard_normal(own.value.shape, np.float32)
            draw = partial(
                draw_factors, own, side.others, side.entries, side.weight, side.other_weight, noise, self.res
            )
            threads.share_out(draw, side.entries.indptr, LANES, rounds, between)
            self._draw_known_factors(side)
            noise = self.rng.standard_normal((len(own.push) + 2, own.push.shape[1]), np.float32)
            n_entries, squares = np.diff(side.entries.indptr), side.known.squares
            draw_expected_factors(self.rng, own, side.back, n_entries, self.settings.spread, noise, squares)

    def _draw_known_factors(self, side: FactorSide) -> None:
        """Redraw what features add to the expected factors."""
        if side.known.design.width:
            own = side.own
            before = side.known.expected(len(own.mean))
            apart = np.ascontiguousarray((own.value - own.mean).T) + before
            after = side.known.draw(self.rng, apart, own.precision, self.settings.spread)
            own.mean[:] += (after - before).T

    def mean_factors(self) -> list[tuple[Array, Array]]:
        """The expected factors of rows, and of columns, given all else; and the variance that they leave out.

        The variance (n,) is that of a row's products with the factors of a rating's column, from one draw.
        """
        found = []
        for own, others, entries, weight, back, other_weight, _ in self._factor_sides():
            noise = self.rng.standard_normal(own.value.shape, np.float32)
            mean, apart = conditional_factors(own, others, entries, weight, other_weight, noise, self.res)
            share = np.diff(back.indptr).astype(np.float32) / np.float32(len(self.res))
            moments = np.einsum("i,ir,it->rt", share, others, others, optimize=False)
            found.append((mean, np.einsum("jr,rt,jt->j", apart, moments, apart, optimize=False)))
        return found

    def _draw_shrinkage(self, coefficients: Array, shrinkage: Array) -> None:
        """Redraw the prior precisions of the coefficients (..., D) of the columns' features."""
        if own := self.col_design.width:
            shrinkage[-own:] = draw_precisions(
                self.rng, coefficients[..., -own:], self.col_design.groups, self.settings.spread
            )

    def sweep_effects(self) -> None:
        """Redraw the noise weights and biases of rows and columns, and the parameters of their priors."""
        settings = self.settings
        (expected,) = self.row_features.draw(
            self.rng, self.row_bias[np.newaxis], np.array([self.row_tau]), settings.spread
        )
        self.row_bias -= expected  # what is drawn here is the bias less its expected value
        self._draw_noise_shape(settings.side, lambda: (self.entries.lengths, self._squares_of_rows()))
        self.row_tau = draw_row_effects(
            self.rng,
            self._residuals(),
            Effects(self.row_bias, self.row_weight),
            EffectPrior(
                self.row_tau, self.row_features.prior_with_coefficients(settings.spread), self._noise(settings.side)
            ),
            self.col_weight,
            self._col_stat,
        )
        self.row_bias += expected
        self._draw_noise_shape(
            settings.side.other, lambda: (self.n_col.astype(np.int64), self._col_stat[2].astype(np.float64))
        )
        self.col_tau = draw_col_effects(
            self.rng,
            self._residuals(),
            Effects(self.col_bias, self.col_weight),
            EffectPrior(self.col_tau, settings.spread, self._noise(settings.side.other)),
            self.profiles,
            self.omega,
            self.omega_shrinkage,
            self._col_stat,
        )
        self._draw_shrinkage(self.omega, self.omega_shrinkage)
        self.occasions.draw(self.rng, self._residuals(), self._weights(), settings.spread)
        self.noise_rate = draw_noise_rate(self.rng, self.user_weight, self.user_noise_shape, settings.spread)

    def _noise(self, of: Side) -> Gamma:
        """The distribution of the noise weights of the users or of the items."""
        if of is Side.USERS:
            return Gamma(self.user_noise_shape, self.noise_rate)
        return Gamma(self.item_noise_shape, self.item_noise_shape)

    def _draw_noise_shape(self, of: Side, entries: Callable[[], tuple[Array, Array]]) -> None:
        """Redraw how much the noise varies between users or items, given the numbers and squares of their entries."""
        if not self.settings.learn_noise_shapes or self.sweeps < _CUTS_MOVE_FROM:
            return
        if of is Side.USERS:
            found = draw_noise_shape(self.rng, self._noise(of), *entries(), self.settings.spread)
            self.user_noise_shape, self.noise_rate = found
        else:
            self.item_noise_shape = draw_noise_shape(self.rng, self._noise(of), *entries()).shape

    def _squares_of_rows(self) -> Array:
        """The sum of the squared residuals of each row, times the noise weights of their columns."""
        squares = np.square(self.res, dtype=np.float64) * self.col_weight[self.entries.columns]
        return sums_of_rows(self.entries.indptr, squares)

    @property
    def user_weight(self) -> Array:
        """The noise weights of the users."""
        return self.row_weight if self.settings.user_rows else self.col_weight

    @property
    def item_weight(self) -> Array:
        """The noise weights of the items."""
        return self.col_weight if self.settings.user_rows else self.row_weight

    def sweep_utilities(self, between: Between = go_on) -> None:
        """Redraw the latent utilities, after the cut points."""
        try:
            if self.sweeps >= _CUTS_MOVE_FROM:
                if self.settings.follow_cuts:
                    self.match_cuts(self.cuts, 2, len(self.cuts) - 2)
                    set_apart(self.cuts, self.own_cuts)
                if self.settings.own_cuts:
                    self.sweep_own_cuts(between)
        finally:  # even if the chain is to stop: cut points have moved past utilities
            draw_utilities(self.rng, self._residuals(), self._intervals(), self._weights(), self.utility)

    def sweep_own_cuts(self, between: Between = go_on) -> None:
        """Redraw what the users add to each cut point, and its precision."""
        prior, rng = self.settings.cut_spread, self.rng
        rated = RatedLevels(
            self._residuals(), self._intervals(), self._weights(), self.user_weight, self.utility, self._neighbours
        )
        for b in range(1, len(self.cuts) - 1):
            between()
            move_own_cuts(rng, b, rated, self.cut_tau[b])
            own = self.own_cuts[b].astype(np.float64)
            rate = prior.rate + 0.5 * np.sum(own**2)
            tau = rng.standard_gamma(prior.shape + 0.5 * len(own)) / rate
            self.cut_tau[b] = rescale_own_cuts(rng, b, rated, tau, prior)

    def match_cuts(self, cuts: Array, first: int, last: int) -> None:
        """Move ``cuts[first:last]`` a Newton step: as many ratings are expected below each as there are."""
        intervals = self._intervals()._replace(cuts=cuts)
        move_cuts(self._residuals(), intervals, self._weights(), self.utility, self.below, first, last)

    # -- reading -------------------------------------------------------------------------------------------------

    def means(self, rows: Array, cols: Array) -> Array:
        """The expected utilities of pairs under the current draw, (pairs,)."""
        components = np.arange(len(self.c))[:, np.newaxis]
        classes = self.c[components, self.z[rows].T, cols].sum(axis=0)
        return np.asarray(self.row_bias[rows] + self.col_bias[cols] + classes + self._products(rows, cols))

    def _products(self, rows: Array, cols: Array) -> Array:
        """The products of the factors of pairs, (pairs,)."""
        total = np.zeros(len(rows), np.float32)
        for f, g in zip(self.row_factors.value.T, self.col_factors.value.T, strict=True):
            total += f[rows] * g[cols]
        return total

    def training_error(self) -> float:
        """The root mean square of the residuals under the current draw."""
        return math.sqrt(mean_square(self.res))
