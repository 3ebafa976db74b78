"""What a rating model computes, over codes of users and items; `RatingModel` answers questions about ids with it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lbg_recsys.core import levels
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.choice_scores import CHOICE_LIKED_POWER, LEAST_SCORE, Choices
from lbg_recsys.ratings.fitted import FitFirst
from lbg_recsys.ratings.matrix import RatingMatrix

if TYPE_CHECKING:
    from lbg_recsys.ratings.model import RatingModel
    from lbg_recsys.ratings.questions.topics import TopicTables


S = TypeVar("S", bound="ScoringModel")


@dataclass(frozen=True)
class RatingDistribution:
    """The distribution over the levels of n pairs and, of a model with topics, each pair's leading one (n,)."""

    probability: Floats
    topic: Ints | None = None
    topic_posterior: Floats | None = None


class ScoringModel(FitFirst, ABC):
    """A model over codes (-1 is unknown).

    A subclass supplies four methods to predict:

    - `distribution_of`: the distribution of the ratings of pairs;
    - `rated_probability`: how likely each pair is to be rated at all;
    - `with_users`: the same model over other users' ratings of the same items, which is all that fold-in takes;
    - `without_users`: the same model without its users and their ratings, for files that must not hold them;

    and three to look inside:

    - `similarity`: of one user with all users, or of one item with all items, by each of its ``METRICS``;
    - `posterior`: the probability of each topic for each user;
    - `topic_tables`: what `topics` are shown from.

    It may override other methods with faster ones, such as `distribution_of_items`.
    """

    MADE_BY_FIT: tuple[str, ...] = ("matrix", "levels", "numbers_per_pair")
    METRICS: tuple[str, ...]  # of similarity; the first is the model's own choice

    matrix: RatingMatrix
    lists: str = "bernoulli"  # the model of what is rated that lists use, see `settings.LISTS`
    _choice_home: "ScoringModel | None" = None  # the model that this one is a view of
    _choices_held: tuple[RatingMatrix, Choices] | None = None

    @abstractmethod
    def distribution_of(self, users: Ints, items: Ints) -> RatingDistribution:
        """The distribution of the rating of each (user, item) pair of codes."""

    @abstractmethod
    def rated_probability(self, users: Ints, items: Ints) -> Floats:
        """The probability that each user rates each item, (n,): the Bernoulli part."""

    @abstractmethod
    def with_users(self, matrix: RatingMatrix) -> "RatingModel":
        """The same model, with the same parameters, with the users and ratings of another matrix over its items."""

    def with_new_users(self, matrix: RatingMatrix) -> "RatingModel":
        """`with_users` for users who may know more items than they rated; `fold_in` uses it."""
        return self.with_users(matrix)

    @abstractmethod
    def without_users(self: S) -> S:
        """A model that holds no user and no rating, and serves new users by `fold_in` as this one does.

        What it keeps are sums over all users, such as how often items are rated together: see docs/model-files.md. It
        cannot be asked about the users of the training or for topics, and takes no new items.

        Returns
        -------
        RatingModel
            A new model of the same class; this one does not change.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> ratings = (["ann", "ann", "bob", "bob"], ["tea", "pot", "tea", "cup"], [5, 4, 5, 2])
        >>> model = LBGModel(n_topics=1, random_state=0).fit(ratings).without_users()
        >>> list(model.matrix.users), model.fold_in({"tea": 5}).recommend(1)["item"].tolist()
        ([], ['pot'])
        """

    @abstractmethod
    def similarity(self, of_users: bool, own: int, metric: str) -> Floats:
        """How alike the user or the item of code ``own`` is to each, (n,); 1 is the most."""

    @abstractmethod
    def posterior(self) -> Floats:
        """Compute the probability that each user is in each topic.

        Returns
        -------
        float array of shape (n_users, n_topics)
            One row per user, in the order of ``matrix.users``; rows sum to 1. For Gaussian pLSA they are the shares
            in which a user mixes the topics.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=2, random_state=0).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]))
        >>> model.posterior().shape, model.posterior().sum(axis=1).round(6).tolist()
        ((2, 2), [1.0, 1.0])
        """

    @abstractmethod
    def topic_tables(self, n_topics: int | None = None) -> "TopicTables":
        """The topics; a model that has none of its own finds ``n_topics`` groups of users."""

    def nearly_distribution_of(self, users: Ints, items: Ints) -> Floats:
        """The distribution of each pair of a known user and a known item, (n, levels), to within 1e-5.

        These choose the candidates of lists; a model that has a faster way than `distribution_of` takes it here.
        """
        return self.distribution_of(users, items).probability

    def distribution_of_items(self, users: Ints, items: Ints) -> Floats:
        """The distributions of all pairs of some (known) users and items, (users, items, levels), to within 1e-5.

        A model that has a faster way than pair by pair takes it here.
        """
        return self.distribution_of(*all_pairs(users, items)).probability.reshape(len(users), len(items), -1)

    def expected_of_users(self, users: Ints) -> Floats:
        """The expected ratings of each item by some (known) users, (users, items), to within 1e-5 of the scale."""
        every = self.distribution_of_items(users, np.arange(self.matrix.n_items, dtype=np.int64))
        return levels.mean(every.reshape(-1, len(self.levels)), self.levels).reshape(every.shape[:2])

    def rated_of_users(self, users: Ints) -> Floats:
        """The probability that some (known) users rate each item, (users, items); as above, to within 1e-5."""
        items = np.arange(self.matrix.n_items, dtype=np.int64)
        return self.rated_probability(*all_pairs(users, items)).reshape(len(users), len(items))

    def __getstate__(self) -> dict[str, Any]:
        """All but the choice scores, which follow from the ratings: a pickle does not grow with what was asked."""
        return {name: value for name, value in vars(self).items() if name != "_choices_held"}

    @property
    def is_new(self) -> bool:
        """Whether the users are new: the model that `fold_in` makes."""
        return self._choice_home is not None

    @property
    def choices(self) -> Choices:
        """The choice scores of the users that the model was fitted to: computed when they are first asked for."""
        home = self._choice_home or self
        if home._choices_held is None or home._choices_held[0] is not home.matrix:
            home._choices_held = home.matrix, Choices.of(home.matrix)
        return home._choices_held[1]

    def _matrix_without_users(self) -> RatingMatrix:
        return self.matrix.without_users(self.choices.kept())

    @property
    def liked_power(self) -> float:
        """The power of the probability of a liked rating in the score of lists by "liked".

        It is 0 where all ratings are equal: what people like is then unknown, and lists are of what they take.
        """
        if np.count_nonzero((self._choice_home or self).matrix.crowd.per_level) < 2:
            return 0.0
        return CHOICE_LIKED_POWER if self.lists == "choice" else 1.0

    def taken_of_users(self, users: Ints) -> Floats:
        """The score of being rated at all, of each item for some (known) users, (users, items), above 0."""
        if self.lists == "choice":
            return np.maximum(self.choices.scores(self.matrix, users, new=self.is_new), LEAST_SCORE)
        return self.rated_of_users(users)

    def taken(self, users: Ints, items: Ints, found: Floats) -> Floats:
        """The scores of being rated of pairs, of which `taken_of_users` found these."""
        return found if self.lists == "choice" else self.rated_probability(users, items)

    def list_score(self, user: int, item: int, probability: Floats) -> float:
        """The score of a list by "liked", of a pair of codes whose distribution is (1, levels)."""
        users, items = np.array([user]), np.array([item])
        taken = self.taken(users, items, self.taken_of_users(users)[:, item])
        liked = levels.at_least(probability, self.levels, self.matrix.scale.liked)
        return float((taken * liked**self.liked_power)[0])

    @property
    def numbers_per_pair(self) -> int:
        """How many numbers scoring one pair takes at a time: what bounds the blocks that lists are made in."""
        return len(self.levels)

    @property
    def levels(self) -> Floats:
        """The levels of the rating scale, ascending: the columns of `predict_distribution`."""
        return self.matrix.scale.levels


def all_pairs(users: Ints, items: Ints) -> tuple[Ints, Ints]:
    """Every user with every item, user by user."""
    return np.repeat(users, len(items)), np.tile(items, len(users))
