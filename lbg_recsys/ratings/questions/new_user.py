"""A new user, known by ratings or items alone."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.core.types import Floats
from lbg_recsys.ratings.ids import RawId, is_many, plain_ids
from lbg_recsys.ratings.matrix import items_alone, one_chooser, one_user
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.chooser import Chooser
from lbg_recsys.ratings.questions.recommender import RecommenderOfOne

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings.choice_scores import ChoiceExplanation
    from lbg_recsys.ratings.questions.explain import Explanation, Influences


def fold_in(model: RatingModel, given: Any) -> "FoldedUser":
    """A new user from ratings by item, or from items alone; see `RatingModel.fold_in`."""
    items, scale = model.matrix.items, model.matrix.scale
    if (taken := items_alone(given)) is not None:
        return FoldedUser(Chooser(model, one_chooser(taken, items, scale)))
    own = one_user(given, items, scale)
    if not own.n_ratings:  # nothing is known: the user is an unknown one, as without items
        return FoldedUser(Chooser(model, own))
    view = model.with_new_users(own)
    view._choice_home, view.titles = model._choice_home or model, model.titles
    return FoldedUser(view)


class FoldedUser(RecommenderOfOne):
    """The predictions, lists and explanations of a model for one new user; `RatingModel.fold_in` returns it.

    Methods take one item or many: a list, an array, a Series or a generator is many items; anything else is the id of
    one. A tuple is one id too, since ids may be tuples.

    Parameters
    ----------
    view : RatingModel
        The model with the new user as its only one.

    Attributes
    ----------
    posterior : float array of shape (n_topics,)
        The user's distribution over topics.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
    >>> user = model.fold_in({"x": 5})
    >>> user.predict("y"), user.recommend()["item"].tolist()
    (3.0, ['y'])
    """

    _view: RatingModel

    def __init__(self, view: RatingModel) -> None:
        self._view = view
        self._id = view.matrix.users.raw(0)

    def predict(self, item: Any) -> Any:
        """Predict the rating of one item or of many.

        Parameters
        ----------
        item : id or list of ids
            The items.

        Returns
        -------
        float or float array of shape (n_items,)
            The predicted ratings.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> user = model.fold_in({"x": 5})
        >>> user.predict("y"), user.predict(["x", "y"]).tolist()
        (3.0, [4.0, 3.0])
        """
        points = self._view.predict_batch(self._pairs(item))
        return points if is_many(item) else float(points[0])

    def distribution(self, item: Any) -> Floats:
        """Predict the distribution of the rating of one item or of many.

        Parameters
        ----------
        item : id or list of ids
            The items.

        Returns
        -------
        float array of shape (n_levels,) or (n_items, n_levels)
            The probability of every level of the scale.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> user = model.fold_in({"x": 5})
        >>> int(user.distribution("y").argmax()), user.distribution(["x", "y"]).shape
        (2, (2, 5))
        """
        probability = self._view.predict_distribution(self._pairs(item))
        return probability if is_many(item) else probability[0]

    def interval(self, item: Any, mass: float = 0.9) -> Floats:
        """Predict a central interval of the rating of one item or of many.

        Parameters
        ----------
        item : id or list of ids
            The items.
        mass : float, default=0.9
            The interval contains the rating with at least this probability.

        Returns
        -------
        float array of shape (2,) or (n_items, 2)
            The lowest and the highest level of each interval.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> user = model.fold_in({"x": 5})
        >>> user.interval("y", mass=0.5).tolist()
        [2.0, 4.0]
        """
        ends = self._view.interval(self._pairs(item), mass)
        return ends if is_many(item) else ends[0]

    def predictions(self, items: Any, mass: float = 0.9) -> "pd.DataFrame":
        """A table of the predictions of some items.

        Parameters
        ----------
        items : list of ids
            The items.
        mass : float, default=0.9
            The mass of the central interval from ``low`` to ``high``.

        Returns
        -------
        DataFrame
            One row per item, with the columns of `RatingModel.predictions`.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> user = model.fold_in({"x": 5})
        >>> user.predictions(["x", "y"])["prediction"].tolist()
        [4.0, 3.0]
        """
        return self._view.predictions(self._pairs(items), mass)

    def explain(self, item: RawId) -> "Explanation | Influences | ChoiceExplanation":
        """Explain the prediction for an item.

        Parameters
        ----------
        item : id
            A known item.

        Returns
        -------
        Explanation, Influences or ChoiceExplanation
            As from `RatingModel.explain`. For a user without ratings it is a `ChoiceExplanation`, which says why the
            item is listed.

        Raises
        ------
        DataError
            If the item is unknown.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> user = model.fold_in({"x": 5})
        >>> [one.item for one in user.explain("y").evidence]
        ['x']
        """
        return self._view.explain(self._id, item)

    @property
    def posterior(self) -> Floats:
        """The probability of being of each topic of the model, (k,)."""
        return np.asarray(self._view.posterior()[0])

    def _pairs(self, item: Any) -> list[tuple[RawId, RawId]]:
        return [(self._id, one) for one in (plain_ids(item) if is_many(item) else [item])]
