"""A new item, known by its ratings alone."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.checks import check_integer
from lbg_recsys.core import levels
from lbg_recsys.core.types import Floats
from lbg_recsys.ratings.ids import RawId, is_many, plain_ids
from lbg_recsys.ratings.model import RatingModel

if TYPE_CHECKING:
    import pandas as pd


class FoldedItem:
    """The predictions of a model for one new item; `RatingModel.fold_in_item` returns it.

    Methods take one user or many: a list, an array, a pandas Series or Index is many users; anything else is the id
    of one.

    Parameters
    ----------
    view : RatingModel
        The model with the new item as its last one.
    item : id
        The id that the new item has there.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
    >>> item = model.fold_in_item({"ann": 5})
    >>> item.users()["user"].tolist()
    ['bob']
    """

    def __init__(self, view: RatingModel, item: RawId) -> None:
        self._view, self._id = view, item

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {type(self._view).__name__}>"

    def predict(self, user: Any) -> Any:
        """Predict the rating by one user or by many.

        Parameters
        ----------
        user : id or list of ids
            The users.

        Returns
        -------
        float or float array of shape (n_users,)
            The predicted ratings.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> item = model.fold_in_item({"ann": 5})
        >>> item.predict("bob") == item.predict(["bob"])[0]
        np.True_
        """
        points = self._view.predict_batch(self._pairs(user))
        return points if is_many(user) else float(points[0])

    def distribution(self, user: Any) -> Floats:
        """Predict the distribution of the rating by one user or by many.

        Parameters
        ----------
        user : id or list of ids
            The users.

        Returns
        -------
        float array of shape (n_levels,) or (n_users, n_levels)
            The probability of every level of the scale.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> item = model.fold_in_item({"ann": 5})
        >>> item.distribution("bob").shape, item.distribution(["ann", "bob"]).shape
        ((5,), (2, 5))
        """
        probability = self._view.predict_distribution(self._pairs(user))
        return probability if is_many(user) else probability[0]

    def interval(self, user: Any, mass: float = 0.9) -> Floats:
        """Predict a central interval of the rating by one user or by many.

        Parameters
        ----------
        user : id or list of ids
            The users.
        mass : float, default=0.9
            The interval contains the rating with at least this probability.

        Returns
        -------
        float array of shape (2,) or (n_users, 2)
            The lowest and the highest level of each interval.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> item = model.fold_in_item({"ann": 5})
        >>> low, high = item.interval("bob", 0.5)
        >>> bool(1 <= low <= high <= 5)
        True
        """
        ends = self._view.interval(self._pairs(user), mass)
        return ends if is_many(user) else ends[0]

    def users(self, n: int = 10) -> "pd.DataFrame":
        """The users with the highest expected ratings of the item among those who have not rated it.

        Parameters
        ----------
        n : int, default=10
            The number of users, or fewer if fewer have not rated it.

        Returns
        -------
        DataFrame
            Columns rank, user, expected_rating, the highest first.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> item = model.fold_in_item({"ann": 5})
        >>> item.users(1)[["rank", "user"]].values.tolist()
        [[1, 'bob']]
        """
        import pandas as pd

        check_integer("n", n, 1)
        matrix = self._view.matrix
        item = matrix.items.code(self._id)
        users = np.setdiff1d(np.arange(matrix.n_users), matrix.user_codes[matrix.item_codes == item])
        probability = self._view.distribution_of(users, np.full(len(users), item)).probability
        rating = levels.mean(probability, self._view.levels)
        best = np.argsort(-rating, kind="stable")[:n]
        found = {"rank": np.arange(len(best)) + 1, "user": matrix.users.raws(users[best])}
        return pd.DataFrame({**found, "expected_rating": rating[best]})

    def _pairs(self, user: Any) -> list[tuple[RawId, RawId]]:
        return [(one, self._id) for one in (plain_ids(user) if is_many(user) else [user])]
