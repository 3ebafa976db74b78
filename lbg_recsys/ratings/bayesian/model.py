"""Bayesian LBG: several classes per user, whose means add up, averaged over the posterior."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from lbg_recsys.checks import check_integer
from lbg_recsys.core.gibbs.convergence import FEWEST_SWEEPS, median_and_share
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.predict_grid import expect_items, predict_items
from lbg_recsys.core.gibbs.predict_pairs import predict, predict_closely
from lbg_recsys.core.gibbs.tilt import inside, tilt
from lbg_recsys.core.levels import certain
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.progress import STARTING, Progress
from lbg_recsys.ratings.bayesian.featured import FeaturedModel
from lbg_recsys.ratings.bayesian.influence import Influence
from lbg_recsys.ratings.bayesian.item_rates import ItemRates
from lbg_recsys.ratings.bayesian.kept import KeptOfUsers
from lbg_recsys.ratings.bayesian.new_items import NewItem
from lbg_recsys.ratings.bayesian.new_users import NewUsers
from lbg_recsys.ratings.bayesian.size import Size, burn_in_of
from lbg_recsys.ratings.bayesian.some_sweeps import SomeSweeps
from lbg_recsys.ratings.bayesian.standardise import Standard
from lbg_recsys.ratings.bayesian.tastes import Tastes
from lbg_recsys.ratings.bayesian.training import LIKELIHOODS, Training, seed_of
from lbg_recsys.ratings.bayesian.unknown import UnknownPartner
from lbg_recsys.ratings.bayesian.who_rates import RatedOdds
from lbg_recsys.ratings.features import WITHOUT_FEATURES, FeatureTable
from lbg_recsys.ratings.ids import UNKNOWN
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.questions.topics import TopicTables
from lbg_recsys.ratings.scoring import RatingDistribution
from lbg_recsys.ratings.settings import BayesianLBGSettings

# A fit warns when the Monte Carlo error of predictions is larger than this share of the training error: more sweeps
# would then lower the error of predictions by some 1% (half the square of the share) or more.
MONTE_CARLO_SHARE = 0.15
# Items that lists by expected rating go through together: their part of the kept sweeps is copied.
_ITEMS_AT_ONCE = 4096
# The part of a warning about how to continue a fit: it needs the chains.
_CONTINUED = "or continue it in Python with warm_start=True (a model file only if it was saved with chains=True)"
# How training went.
_TRAINING = ("training_error_", "rhat_", "monte_carlo_error_", "converged_", "interrupted_")
# Topics, groups of users with similar tastes, by default.
N_TOPICS = 5


class BayesianLBGModel(BayesianLBGSettings, FeaturedModel):
    """The Latent Bernoulli-Gauss model with additive classes and a full posterior; see docs/bayesian-lbg.md.

    Attributes
    ----------
    size_ : Size
        The numbers of components, classes and factors, "auto" resolved.
    n_sweeps_ : int
        Sweeps run so far.
    rhat_ : ndarray
        Split R-hat of each traced prediction.
    rhat_median_, rhat_share_ : float
        Their median, and the share of them above 1.1.
    monte_carlo_error_ : float
        Root mean square Monte Carlo error of expected ratings, in units of the ratings; more sweeps lower it.
    converged_ : bool
        Whether all sweeps ran and the Monte Carlo error is below 15% of the training error.
    interrupted_ : bool
        Whether Ctrl-C ended the fit before its last sweep; False for a loaded model.
    training_error_ : list of float
        Root mean square residual after each sweep, in units of the ratings.
    seed_ : int
        ``random_state``, or the seed that was drawn in its place.
    nbytes_ : int
        Memory of the kept sweeps.
    item_features_, user_features_ : FeatureTable
        What is known about items and users besides their ratings, encoded.

    Examples
    --------
    >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
    >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings)
    >>> model.predict_distribution([("a", "x")]).sum().round(6)
    np.float64(1.0)
    """

    METRICS = ("taste",)
    MADE_BY_FIT = (
        *("n_sweeps_", "rhat_", "rhat_median_", "rhat_share_", "monte_carlo_error_", "converged_"),
        *("interrupted_", "training_error_", "seed_", "nbytes_"),
        *("size_", "item_features_", "user_features_", "features_", "calendar_"),
        *("standard_", "_draws", "_some", "_new_users", "_rated", "_tastes", "_unknown_item", "_unknown_user"),
        "_feature_effects",
    )

    _training: Training | None = None  # the chains, where fit has run them
    _trained: "BayesianLBGModel | None" = None  # the model with the training users, if this one has others
    _draws: dict[Side, Draws]
    _some: Mapping[Side, Draws]  # those that newcomers, tastes and explanations need

    # -- fitting -------------------------------------------------------------------------------------------------

    def _fit(
        self,
        matrix: RatingMatrix,
        progress: Progress,
        features: Mapping[Side, FeatureTable] = WITHOUT_FEATURES,
        times: Ints | None = None,
    ) -> None:
        """Sample; Ctrl-C after the burn-in keeps the sweeps so far. The note of a step is the training error."""
        training, parameters = self._training, self.get_params()
        progress(0, self.n_sweeps, STARTING)
        if training is None and self.warm_start and hasattr(self, "matrix"):
            warnings.warn(
                "warm_start=True has no effect: the model has no chains to continue, and the fit starts from the "
                "beginning; a model file has them if it was saved with chains=True",
                UserWarning,
                stacklevel=5,
            )
        if training is None or not self.warm_start or not training.serves(parameters, matrix, features, times):
            burn_in = burn_in_of(parameters)
            training = Training(parameters, matrix, features, times)
        else:
            burn_in = 0
            training.give_back(self._draws)
        finished = self._run(training, burn_in, progress)
        # nothing fails below: the model changes only after a complete run
        self._training, self._draws = training, training.gather()
        self.matrix, self.standard_, self.seed_ = training.matrix, training.standard, training.seed
        self.features_, self.calendar_, self.size_ = training.features, training.calendar, training.size
        self.training_error_, self.rhat_ = training.errors(), training.rhat()
        self.monte_carlo_error_ = training.monte_carlo_error()
        self._know_users()
        self._assess_convergence(finished)

    def _run(self, training: Training, burn_in: int, progress: Progress) -> bool:
        """Run the chains; False if Ctrl-C ended them early."""
        return training.run(self.n_sweeps, burn_in, self.n_jobs, progress, self.max_seconds)

    def _know_users(self, kept: KeptOfUsers | None = None) -> None:
        self._some = SomeSweeps(self._draws)
        self._feature_effects = {}  # found when they are first asked for
        rates = ItemRates(self._some, self.matrix, kept and kept.evidence)
        self._new_users = NewUsers(self._some, self.matrix, self.standard_, rates)
        self._rated = RatedOdds(self._some, self.matrix, rates)
        self._tastes = Tastes(self._some, self.matrix, self.seed_, grams=None if kept is None else kept.grams)
        self._unknown_item = UnknownPartner(Side.USERS, self.matrix, self.matrix, missed=kept and kept.missed)
        self._unknown_user = UnknownPartner(Side.ITEMS, self.matrix, self.matrix, kept and kept.averages)

    @property
    def n_sweeps_(self) -> int:
        """The sweeps run so far."""
        return len(self.training_error_)

    @property
    def nbytes_(self) -> int:
        """The memory of the kept sweeps."""
        return sum(draws.nbytes for draws in self._draws.values())

    @property
    def rhat_median_(self) -> float:
        """The median split R-hat of the traced predictions; NaN if there were too few sweeps."""
        return median_and_share(self.rhat_)[0]

    @property
    def rhat_share_(self) -> float:
        """The share of the traced predictions whose split R-hat is above 1.1; NaN if there were too few sweeps."""
        return median_and_share(self.rhat_)[1]

    def _assess_convergence(self, finished: bool) -> None:
        # without sweeps, where all ratings are equal, there is no error
        error, limit = self.monte_carlo_error_, MONTE_CARLO_SHARE * (self.training_error_ or [0.0])[-1]
        self.converged_, self.interrupted_ = finished and error <= limit, not finished
        if not finished:
            warnings.warn(
                f"interrupted after {self.n_sweeps_} sweeps: the model is fitted from these; "
                f"fit again to run all of them, {_CONTINUED}",
                UserWarning,
                stacklevel=6,
            )
        elif not self.converged_:
            from sklearn.exceptions import ConvergenceWarning

            found = (
                f"too few sweeps to assess convergence: it takes at least {FEWEST_SWEEPS} after the burn-in"
                if np.isnan(error)
                else f"the sampler has not converged: the Monte Carlo error of expected ratings is {error:.4f} and "
                f"should be at most {limit:.4f}, {MONTE_CARLO_SHARE:.0%} of the training error"
            )
            more = f"raise n_sweeps (fit --param n_sweeps={max(2 * self.n_sweeps, 2 * FEWEST_SWEEPS)})"
            if self.max_seconds is not None:
                more = "raise max_seconds (fit --seconds)"
            warnings.warn(f"{found}; {more}, {_CONTINUED}", ConvergenceWarning, stacklevel=6)

    # -- what RatingModel asks for -------------------------------------------------------------------------------

    def distribution_of(self, users: Ints, items: Ints, times: Ints | None = None) -> RatingDistribution:
        """The distribution of each pair: the average over kept sweeps, tilted to its expected rating.

        Of pairs with an unknown user or item: the average over the ratings of the one that is known, tilted by the
        features of the unknown one (codes of -2 and below) if it has any. Where all ratings are equal, there are no
        sweeps, and this rating is predicted for every pair.
        """
        probability = np.zeros((len(users), len(self.levels)))
        if self._draws:
            new_item = items < 0
            new_user = (users < 0) & ~new_item
            known = ~(new_user | new_item)
            when = None
            if times is not None and self.calendar_ is not None:
                when = self.calendar_.codes(users, items, times)[known]
            probability[known] = self._distribution_of_known(users[known], items[known], when)
            if new_item.any():
                known_users = np.maximum(users[new_item], UNKNOWN)
                probability[new_item] = self._unknown_item.distribution_of(known_users, self._distribution_of_known)
            if new_user.any():
                trained = self._trained or self
                probability[new_user] = trained._unknown_user.distribution_of(
                    items[new_user], lambda items, users: trained._distribution_of_known(users, items)
                )
            self.tilt_by_features(Side.ITEMS, users, items, probability)
            self.tilt_by_features(Side.USERS, items, users, probability)
        else:
            probability[:] = certain(self.standard_.centre, self.levels)
        return RatingDistribution(probability)

    def _distribution_of_known(self, users: Ints, items: Ints, when: Ints | None = None) -> Floats:
        levels = self.standard_.levels
        sums = (predict(draws, users, items, side, levels, when) for side, draws in self._draws.items())
        return self._average(sums)

    def nearly_distribution_of(self, users: Ints, items: Ints) -> Floats:
        """The distribution of each pair of a known user and a known item, (n, levels), to within 1e-5."""
        if not self._draws:
            return super().nearly_distribution_of(users, items)
        return self._average(
            predict_closely(draws, users, items, side, self.standard_.levels) for side, draws in self._draws.items()
        )

    def distribution_of_items(self, users: Ints, items: Ints) -> Floats:
        """The distributions of all pairs of some (known) users and items, (users, items, levels), to within 1e-5."""
        if not self._draws:
            return super().distribution_of_items(users, items)
        sums = (
            predict_items(draws, users, items, side, self.standard_.levels) for side, draws in self._draws.items()
        )
        pairs = ((probability.reshape(-1, len(self.levels)), mean.ravel()) for probability, mean in sums)
        return self._average(pairs).reshape(len(users), len(items), -1)

    def expected_of_users(self, users: Ints) -> Floats:
        """The expected ratings of each item by some (known) users, (users, items), to within 1e-5 of the scale."""
        if not self._draws:
            return super().expected_of_users(users)
        scores = np.zeros((len(users), self.matrix.n_items))
        for first in range(0, self.matrix.n_items, _ITEMS_AT_ONCE):
            items = np.arange(first, min(first + _ITEMS_AT_ONCE, self.matrix.n_items))
            for side, draws in self._draws.items():
                scores[:, items] += expect_items(draws, users, items, side, self.standard_.levels)
        return inside(self._expected(scores), self.levels)

    def _average(self, sums: Iterable[tuple[Floats, Floats]]) -> Floats:
        """The distributions (n, levels) from the sums of each side over its kept sweeps: their average, tilted."""
        probability, mean = (sum(side) for side in zip(*sums, strict=True))
        probability /= sum(draws.shaping.sum() for draws in self._draws.values())
        tilt(probability, self.levels, self._expected(mean))
        return np.asarray(probability)

    def _expected(self, mean: Any) -> Floats:
        """Expected ratings from their sums over all kept sweeps."""
        return self.standard_.raw(mean / sum(map(len, self._draws.values())))

    def rated_probability(self, users: Ints, items: Ints) -> Floats:
        """How likely each user is to rate each item, from the rates of the classes."""
        return np.asarray(expit(self._rated.log_odds(self._some, self.matrix, users, items)))

    def rated_of_users(self, users: Ints) -> Floats:
        """How likely some (known) users are to rate each item, (users, items), to within 1e-5."""
        return np.asarray(expit(self._rated.log_odds_of_users(self._some, self.matrix, users)))

    def influence(self, user: int, item: int) -> tuple[Floats, Floats]:
        """How much each of the user's ratings contributes to an expected rating, given the kept sweeps."""
        n_chains = self.n_chains * len(LIKELIHOODS[self.likelihood])
        known = self.user_features_.rows(self.matrix.users)
        influence = Influence(self._some, self.matrix, self._new_users, known, n_chains)
        return influence.of(user, item, np.random.SeedSequence(self.seed_).spawn(2)[1])

    def with_users(self, matrix: RatingMatrix) -> "BayesianLBGModel":
        """The same kept sweeps with other users: their own parameters are drawn given each of them."""
        view = type(self)(**self.get_params())
        view.matrix, view.standard_, view.features_ = matrix, self.standard_, self.features_
        view.seed_, view.size_, view.calendar_ = self.seed_, self.size_, None
        known, seed = self.user_features_.rows(matrix.users), np.random.SeedSequence(self.seed_).spawn(1)[0]
        view._draws = view._some = self._new_users.draw(matrix, known, seed)
        view._new_users, view._rated = self._new_users, self._rated
        view._tastes = Tastes(view._draws, matrix, self.seed_, trained=self._tastes)
        view._trained = self._trained or self
        missed = view._trained._unknown_item.missed if self._draws else None
        view._unknown_item = UnknownPartner(Side.USERS, matrix, view._trained.matrix, missed=missed)
        return view

    def _with_item(self, matrix: RatingMatrix) -> "BayesianLBGModel":
        """The same kept sweeps with one more item, whose parameters are drawn given each of them."""
        view = type(self)(**self.get_params())
        same = ("size_", "standard_", "seed_", *_TRAINING, "features_", "calendar_")
        for name in same:
            setattr(view, name, getattr(self, name))
        view.matrix = matrix
        seed = np.random.SeedSequence(self.seed_).spawn(3)[2]
        known = self.item_features_.rows(matrix.items)
        view._draws = NewItem(self._draws, matrix, self.standard_, known).draw(seed)
        view._know_users()
        # the new item says nothing about unknown items: it has few ratings because it is new
        view._unknown_item = UnknownPartner(Side.USERS, self.matrix, self.matrix)
        return view

    # -- looking inside ------------------------------------------------------------------------------------------

    def similarity(self, of_users: bool, own: int, metric: str) -> Floats:
        """The correlation of tastes, from -1 to 1: of one user's with all users', or one item's with all items'."""
        return self._tastes.similarity(Side.USERS if of_users else Side.ITEMS, own)

    def posterior(self, n_topics: int = N_TOPICS) -> Floats:
        """Compute the probability that each user is in each topic, a group of users with similar tastes.

        Parameters
        ----------
        n_topics : int, default=5
            How many topics to find. There are fewer if fewer tastes differ.

        Returns
        -------
        float array of shape (n_users, n_topics)
            One row per user, in the order of ``matrix.users``; rows sum to 1.

        Examples
        --------
        >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
        >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings, scale=(1, 5))
        >>> model.posterior(n_topics=2).sum(axis=1).round(6).tolist()
        [1.0, 1.0]
        """
        check_integer("n_topics", n_topics, 1)
        return self._tastes.membership(n_topics)

    def topic_tables(self, n_topics: int | None = None) -> TopicTables:
        """Groups of users with similar tastes, because classes are not comparable between sweeps."""
        return TopicTables.of_members(self.posterior(N_TOPICS if n_topics is None else n_topics), self.matrix)

    def assemble(
        self,
        matrix: RatingMatrix,
        draws: dict[Side, Draws],
        seed: int | None,
        size: Size,
        features: Mapping[Side, FeatureTable] = WITHOUT_FEATURES,
        kept: KeptOfUsers | None = None,
    ) -> None:
        """Become the fitted model of these ratings and kept sweeps; without a seed it is ``random_state``."""
        self.size_, self.calendar_ = size, None
        self.matrix, self.standard_, self.features_ = matrix, Standard.of(matrix), features
        self._draws = draws
        self.seed_ = seed_of(self.random_state if seed is None else seed)
        self._know_users(kept)

    def without_users(self) -> "BayesianLBGModel":  # noqa: D102 - inherited
        view = type(self)(**self.get_params())
        draws = {side: one.without(Side.USERS, side) for side, one in self._some.items()}
        features = {**self.features_, Side.USERS: self.user_features_.without_rows()}
        view.assemble(self._matrix_without_users(), draws, self.seed_, self.size_, features, self._kept_of_users())
        for name in _TRAINING:
            setattr(view, name, getattr(self, name))
        view.titles, view.versions = dict(self.titles), dict(self.versions)
        return view

    def _kept_of_users(self) -> KeptOfUsers | None:
        """What new users need of the users of the training."""
        if not self._draws:
            return None
        averages = self._unknown_user.distribution_of(
            np.arange(self.matrix.n_items), lambda items, users: self._distribution_of_known(users, items)
        )
        evidence = self._new_users.rates.evidence if Side.USERS in self._draws else None
        return KeptOfUsers(averages, self._tastes.grams(), evidence, self._unknown_item.missed)
