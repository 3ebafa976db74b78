"""Gaussian pLSA, the collaborative-filtering model that the paper compares with (Hofmann 2003)."""

from functools import partial

import numpy as np

from lbg_recsys.core.em.gaussian_plsa import fold_in_rows
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.predict_ratings import ColumnTables, level_density
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.progress import Progress
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.plsa_fit import anneal, overall_moments, standardised, user_moments
from lbg_recsys.ratings.questions.explain import TopicShare, shares_of
from lbg_recsys.ratings.questions.topics import TopicTables
from lbg_recsys.ratings.scoring import RatingDistribution
from lbg_recsys.ratings.settings import GaussianPLSASettings
from lbg_recsys.ratings.source import RatingSource
from lbg_recsys.ratings.topic_model import TopicRatingModel


class GaussianPLSAModel(GaussianPLSASettings, TopicRatingModel):
    """Users mix ``n_topics`` topics (Hofmann's communities), each with a Gaussian per item over normalised ratings.

    Ratings are standardised by the user's own (smoothed) mean and spread. Tempered EM: beta starts at 1 and is
    lowered whenever the likelihood of ``holdout`` of the ratings stops rising; the best parameters on them are kept.
    New users: EM over their mixing weights alone.

    Attributes
    ----------
    parameters_ : Parameters
        The topics; c and var are in standardised units.
    mixing_ : ndarray of shape (n_users, n_topics)
        How each user mixes the topics.
    beta_ : float
        The temperature that annealing ended at.
    n_iter_ : int
        Number of EM iterations.
    history_ : tuple of float
        The log-likelihood per held-out rating after each iteration.
    centre_, spread_ : float
        Mean and standard deviation of all ratings.

    Examples
    --------
    >>> from lbg_recsys.datasets import load_sample
    >>> model = GaussianPLSAModel(n_topics=4, random_state=0).fit(load_sample().ratings)
    >>> model.predict_batch([(3, 8)]).round(1).tolist()
    [3.5]
    """

    MADE_BY_FIT = (
        *("parameters_", "mixing_", "beta_", "n_iter_", "history_"),
        *("centre_", "spread_", "_user_mean", "_user_spread", "_popularity"),
    )

    FITS_BLOCKS = True
    mixing_: Floats
    n_iter_: int
    history_: tuple[float, ...]
    centre_: float
    spread_: float

    def _fit(self, source: RatingSource, progress: Progress) -> None:
        """Anneal. The note of a step is the log-likelihood per held-out rating (per rating if none is held out)."""
        fresh = type(self)(**self.get_params())  # a fit that fails or is interrupted leaves the old one whole
        ratings = source.blocks(self.n_jobs)
        fresh.centre_, fresh.spread_ = overall_moments(ratings)
        rows = ratings.mapped(partial(standardised, centre=fresh.centre_, spread=fresh.spread_))
        annealing, result = anneal(rows, self, source.scale.rounding_variance / fresh.spread_**2, progress)
        fresh.parameters_, fresh.beta_ = annealing.parameters, annealing.best_beta
        fresh.n_iter_, fresh.history_ = result.n_iter, result.history
        mixing = partial(fold_in_rows, parameters=fresh.parameters_, beta=fresh.beta_)
        fresh.mixing_ = np.concatenate(list(rows.fetch(rows.map(mixing))))
        fresh._place(source.whole())
        fresh._count()
        vars(self).update(vars(fresh))

    def _place(self, matrix: RatingMatrix) -> None:
        """Hold the users of a matrix with their smoothed means and spreads (the overall ones for the unknown)."""
        self.matrix = matrix
        mean, spread = user_moments(matrix.rows, self.centre_, self.spread_)
        self._user_mean = np.append(mean, self.centre_)
        self._user_spread = np.append(spread, self.spread_)

    def _count(self) -> None:
        """How often each item is rated in training; the last is the unknown item."""
        crowd = self.matrix.crowd
        self._popularity: Floats = np.append(crowd.per_item, 0) / crowd.n_users

    def _mixing_of(self, matrix: RatingMatrix) -> Floats:
        """Mixing weights by fold-in, for training users too, so that folding one in again changes nothing."""
        rows = standardised(matrix.rows, self.centre_, self.spread_)
        return fold_in_rows(rows, self.parameters_, self.beta_)

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
        """The item's popularity in training: the model does not say who rates what."""
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

    def posterior(self) -> Floats:  # noqa: D102 - inherited
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

    def without_users(self) -> "GaussianPLSAModel":  # noqa: D102 - inherited
        view = type(self)(**self.get_params())
        nobody = np.zeros((0, self.n_topics))
        view.assemble(self._matrix_without_users(), self.centre_, self.spread_, self.parameters_, self.beta_, nobody)
        view.n_iter_, view.history_ = self.n_iter_, self.history_
        view.titles, view.versions = dict(self.titles), dict(self.versions)
        return view
