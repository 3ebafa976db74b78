"""A new user of a rating model who took items without rating them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.choice_scores import ChoiceExplanation
from lbg_recsys.ratings.crowd import need_users
from lbg_recsys.ratings.ids import UNKNOWN, IdIndex, RawId
from lbg_recsys.ratings.matrix import NEW_USER, RatingMatrix
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.showing import titled
from lbg_recsys.ratings.scoring import RatingDistribution

if TYPE_CHECKING:
    from lbg_recsys.ratings.questions.explain import Explanation, FeatureEffect, Influences
    from lbg_recsys.ratings.questions.topics import TopicTables


class Chooser(RatingModel):
    """A rating model seen by one new user who took items without rating them.

    What the user takes follows from the items, by the choice part. How the user rates is unknown, and so are all
    ratings: they are those that the model predicts for an unknown user. Without any item, the lists are those of an
    unknown user, too.
    """

    METRICS = ()

    def __init__(self, model: RatingModel, matrix: RatingMatrix) -> None:
        self._model, self.matrix = model, matrix
        self._choice_home = model._choice_home or model
        self.titles, self.point = model.titles, model.point
        self.lists = "choice" if matrix.n_ratings else model.lists
        # an unknown user, of whom the model may have features
        self._code = min(int(model.codes([NEW_USER], model.matrix.items.raws([0]))[0][0]), UNKNOWN)

    def distribution_of(self, users: Ints, items: Ints) -> RatingDistribution:
        """The distribution of an unknown user's rating of each item."""
        return self._model.distribution_of(np.full_like(users, self._code), items)

    def rated_probability(self, users: Ints, items: Ints) -> Floats:
        """The probability that an unknown user rates each item."""
        return self._model.rated_probability(np.full_like(users, self._code), items)

    def posterior(self) -> Floats:
        """The average over the users of the model, (1, k)."""
        need_users(self._model.matrix, "the average user's topics")
        return np.asarray(self._model.posterior().mean(axis=0, keepdims=True))

    def explain(self, user: RawId, item: RawId) -> "ChoiceExplanation | Explanation | Influences":  # type: ignore[override]
        """The exact contribution of each of the new user's items to the score of an item.

        For a user without items, or an item without ratings, it explains an unknown user's rating.
        """
        codes = self.user_code(user), self.item_code(item)
        if not self.matrix.n_ratings or codes[1] < 0:
            return super().explain(user, item)
        found = self.choices.explain(self.matrix, *codes, ratings=False, new=True)
        probability = self.distribution_of(*map(np.atleast_1d, codes)).probability
        return titled(replace(found, score=self.list_score(*codes, probability)), self.titles)

    def effects_of_features(self, user: int, item: int) -> "tuple[FeatureEffect, ...]":
        """Those for an unknown user."""
        return self._model.effects_of_features(self._code, item)

    def item_code(self, item: RawId) -> int:
        """As in the model."""
        return self._model.item_code(item)

    def item_id(self, code: int) -> RawId:
        """As in the model."""
        return self._model.item_id(code)

    @property
    def items_with_features(self) -> IdIndex:
        """Those of the model."""
        return self._model.items_with_features

    # -- what one new user does not ask ----------------------------------------------------------------------------

    def _fit(self, *_: Any) -> None:
        raise NotImplementedError("a view of one user is not fitted")

    def without_users(self) -> RatingModel:  # type: ignore[override]
        """The model without its users."""
        return self._model.without_users()

    def with_users(self, matrix: RatingMatrix) -> RatingModel:
        """The model with other users."""
        return self._model.with_users(matrix)

    def similarity(self, of_users: bool, own: int, metric: str) -> Floats:
        """As in the model."""
        return self._model.similarity(of_users, own, metric)

    def topic_tables(self, n_topics: int | None = None) -> "TopicTables":
        """Those of the model."""
        return self._model.topic_tables(n_topics)
