"""Gaussian pLSA, the collaborative-filtering model that the paper compares with (Hofmann 2003)."""

from collections.abc import Sequence

import numpy as np

from lbg_recsys.core.em.bernoulli_gauss import Prior, column_moments, gather, m_step
from lbg_recsys.core.em.gaussian_plsa import entry_step, fold_in_rows
from lbg_recsys.core.em.loop import run_em
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.predict_ratings import ColumnTables, level_density
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.progress import STARTING, Progress
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.questions.explain import TopicShare, shares_of
from lbg_recsys.ratings.questions.topics import TopicTables
from lbg_recsys.ratings.scoring import RatingDistribution
from lbg_recsys.ratings.settings import GaussianPLSASettings
from lbg_recsys.ratings.topic_model import TopicRatingModel

# Pseudo-ratings in a user's own mean and spread, as in Hofmann's paper.
_USER_SMOOTHING = 5.0
# How much beta falls when the held-out likelihood stops rising, and where annealing ends.
_COOLING, _COOLEST = 0.85, 0.3
# The likelihood rises if it gains more than this share of its size.
_RISE = 1e-4


class _Annealing:
    """Tempered EM's schedule: beta falls whenever the likelihood stops rising; the best parameters are kept."""

    parameters: Parameters
    best: float
    best_beta: float
    beta = 1.0

    def is_over(self, fitted: tuple[Parameters, Floats], history: Sequence[float]) -> bool:
        """Take an iteration into account; True when beta is as low as it goes."""
        if len(history) == 1 or history[-1] > self.best + _RISE * abs(self.best):
            self.parameters, self.best, self.best_beta = fitted[0], history[-1], self.beta
        else:
            self.beta *= _COOLING
        return self.beta < _COOLEST


class GaussianPLSAModel(GaussianPLSASettings, TopicRatingModel):
    """Users mix ``n_topics`` communities, each with a Gaussian per item over user-normalised ratings.

    Ratings are standardised by the user's own (smoothed) mean and spread. Tempered EM: beta starts at 1 and is
    lowered whenever the likelihood of ``holdout`` of the ratings stops rising; the best parameters on them are kept.
    New users: EM over their mixing weights alone.

    Attributes
    ----------
    parameters_ : Parameters
        The communities; c and var are in standardised units.
    mixing_ : ndarray of shape (n_users, n_topics)
        How each user mixes the communities.
    beta_ : float
        The temperature that annealing ended at.
    n_iter_ : int
        Number of EM iterations.
    history_ : tuple of float
        The log-likelihood per held-out rating after each iteration.
    centre_, spread_ : float
        Mean and standard deviation of all ratings.
    """

    MADE_BY_FIT = (
        *("parameters_", "mixing_", "beta_", "n_iter_", "history_"),
        *("centre_", "spread_", "_user_mean", "_user_spread", "_popularity"),
    )

    mixing_: Floats
    history_: tuple[float, ...]
    centre_: float
    spread_: float

    def _fit(self, matrix: RatingMatrix, progress: Progress) -> None:
        """Anneal. The note of a step is the log-likelihood per held-out rating (per rating if none is held out)."""
        fresh = type(self)(**self.get_params())  # a fit that fails or is interrupted leaves the old one whole
        fresh.spread_ = float(matrix.values.std()) or 1.0
        fresh.centre_ = float(matrix.values.mean())
        fresh._place(matrix)
        fresh._count()
        generator = np.random.default_rng(self.random_state)
        train, held = fresh._split(generator)
        fresh._anneal(train, held, generator, progress)
        fresh.mixing_ = fresh._mixing_of(matrix)
        vars(self).update(vars(fresh))

    def _anneal(
        self, train: SparseRows, held: SparseRows, generator: np.random.Generator, progress: Progress
    ) -> None:
        """EM over the Gaussians and the users' mixing weights, which here are a parameter as well as a statistic."""
        progress(0, self.max_iter, STARTING)
        lam = generator.dirichlet(np.ones(self.n_topics), len(train))
        statistics = gather(train, lam)
        floor = self.matrix.scale.rounding_variance / self.spread_**2
        prior = Prior(
            *column_moments(statistics, floor, self.prior_strength), self.prior_strength, self.prior_strength, floor
        )
        annealing, n_judged = _Annealing(), max(len((held if self.holdout else train).values), 1)

        def likelihood(fitted: tuple[Parameters, Floats], gathered: tuple[SufficientStatistics, Floats]) -> float:
            statistics, lam = gathered
            return (entry_step(held, lam, fitted[0])[0] if self.holdout else statistics).evidence / n_judged

        result = run_em(
            (statistics, lam),
            lambda gathered: (m_step(gathered[0], prior), gathered[1]),
            lambda fitted: entry_step(train, fitted[1], fitted[0], annealing.beta),
            likelihood,
            max_iter=self.max_iter,
            stop=annealing.is_over,
            measure="log-likelihood",
            progress=progress,
        )
        progress(self.max_iter, self.max_iter, f"{result.n_iter} iterations")
        self.parameters_, self.beta_ = annealing.parameters, annealing.best_beta
        self.n_iter_, self.history_ = result.n_iter, result.history

    def _split(self, generator: np.random.Generator) -> tuple[SparseRows, SparseRows]:
        """The ratings to fit and the ratings to stop by, as rows over all users."""
        held = generator.random(self.matrix.n_ratings) < self.holdout
        rows = self._rows_of(self.matrix)
        return rows.filtered(~held), rows.filtered(held)

    def _place(self, matrix: RatingMatrix) -> None:
        """Hold the users of a matrix with their smoothed means and spreads (the overall ones for the unknown)."""
        self.matrix = matrix
        users, weight = matrix.user_codes, matrix.rows.lengths + _USER_SMOOTHING
        total = np.bincount(users, matrix.values, minlength=matrix.n_users)
        mean = (total + _USER_SMOOTHING * self.centre_) / weight
        square = np.bincount(users, (matrix.values - mean[users]) ** 2, minlength=matrix.n_users)
        spread = np.sqrt((square + _USER_SMOOTHING * self.spread_**2) / weight)
        self._user_mean = np.append(mean, self.centre_)
        self._user_spread = np.append(spread, self.spread_)

    def _count(self) -> None:
        """How often each item is rated in training; the last is the unknown item."""
        crowd = self.matrix.crowd
        self._popularity: Floats = np.append(crowd.per_item, 0) / crowd.n_users

    def _rows_of(self, matrix: RatingMatrix) -> SparseRows:
        users = matrix.user_codes
        values = (matrix.values - self._user_mean[users]) / self._user_spread[users]
        return matrix.rows.with_values(values)

    def _mixing_of(self, matrix: RatingMatrix) -> Floats:
        """Mixing weights by fold-in, for training users too, so that folding one in again changes nothing."""
        return fold_in_rows(self._rows_of(matrix), self.parameters_, self.beta_)

    # -- what RatingModel asks for -------------------------------------------------------------------------------

    def distribution_of(self, users: Ints, items: Ints) -> RatingDistribution:
        """The user's mixture of the item's Gaussians on the user's own scale, normalised over the levels."""
        lam, density = self._communities(users, items)
        mass = np.einsum("nst,ns->nt", density, lam) + 1e-300
        return RatingDistribution(mass / mass.sum(axis=1, keepdims=True), lam.argmax(axis=1), lam.max(axis=1))

    def _communities(self, users: Ints, items: Ints) -> tuple[Floats, Floats]:
        """Each user's mixing weights (n, k), and the communities' densities of the levels of each pair (n, k, L)."""
        tables = ColumnTables.of(self.parameters_, 0.0)
        lam = np.vstack([self.mixing_, self.parameters_.lam])[users]
        spread, mean = self._user_spread[users, None], self._user_mean[users, None]
        means, variances = mean + spread * tables.c[items], spread**2 * tables.var[items]
        return lam, level_density(means, variances, self.levels)

    def topic_shares(self, user: int, item: int) -> tuple[TopicShare, ...]:
        """What each community has in a prediction."""
        lam, density = self._communities(np.array([user]), np.array([item]))
        return shares_of(lam[0], density[0], self.levels)

    def rated_probability(self, users: Ints, items: Ints) -> Floats:
        """This model knows nothing of who rates what: the item's popularity in training."""
        return self._popularity[items]

    @property
    def numbers_per_pair(self) -> int:
        """A density of every level by every community."""
        return self.n_topics * len(self.levels)

    def with_users(self, matrix: RatingMatrix) -> "GaussianPLSAModel":
        """The same communities and other users."""
        view = type(self)(**self.get_params())
        view.centre_, view.spread_ = self.centre_, self.spread_
        view.parameters_, view.beta_ = self.parameters_, self.beta_
        view.n_iter_, view.history_ = self.n_iter_, self.history_
        view._place(matrix)
        view._popularity = self._popularity
        view.mixing_ = view._mixing_of(matrix)
        return view

    # -- looking inside ------------------------------------------------------------------------------------------

    def posterior(self) -> Floats:
        """How every user mixes the communities, (users, k)."""
        return self.mixing_

    def item_gaussians(self) -> tuple[Floats, Floats]:
        """The parameters in units of the ratings, for a user with the overall mean and spread."""
        return self.centre_ + self.spread_ * self.parameters_.c, self.spread_**2 * self.parameters_.var

    def _own_tables(self) -> TopicTables:
        return TopicTables.of_members(self.mixing_, self.matrix)

    def assemble(
        self,
        matrix: RatingMatrix,
        centre: float,
        spread: float,
        parameters: Parameters,
        beta: float,
        mixing: Floats,
    ) -> None:
        """Become the fitted model of these parts."""
        self.centre_, self.spread_ = centre, spread
        self.parameters_, self.beta_ = parameters, beta
        self._place(matrix)
        self._count()
        self.mixing_ = mixing

    def without_users(self) -> "GaussianPLSAModel":
        """This model for new users alone; see `RatingModel.without_users`."""
        view = type(self)(**self.get_params())
        nobody = np.zeros((0, self.n_topics))
        view.assemble(self._matrix_without_users(), self.centre_, self.spread_, self.parameters_, self.beta_, nobody)
        view.n_iter_, view.history_ = self.n_iter_, self.history_
        view.titles, view.versions = dict(self.titles), dict(self.versions)
        return view
