"""A new item, known by nothing but some ratings."""

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
    """The model as it looks to one new item; `RatingModel.fold_in_item` returns it.

    One user or many, by the same call: a list, an array, a pandas Series or Index is many users; anything else is the
    id of one.
    """

    def __init__(self, view: RatingModel, item: RawId) -> None:
        self._view, self._id = view, item

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {type(self._view).__name__}>"

    def predict(self, user: Any) -> Any:
        """The predicted rating by a user (a float), or by many (an array)."""
        points = self._view.predict_batch(self._pairs(user))
        return points if is_many(user) else float(points[0])

    def distribution(self, user: Any) -> Floats:
        """The probability of every level of the scale, (levels,) or (users, levels)."""
        probability = self._view.predict_distribution(self._pairs(user))
        return probability if is_many(user) else probability[0]

    def interval(self, user: Any, mass: float = 0.9) -> Floats:
        """The central interval that holds at least ``mass``, (2,) or (users, 2)."""
        ends = self._view.interval(self._pairs(user), mass)
        return ends if is_many(user) else ends[0]

    def users(self, n: int = 10) -> "pd.DataFrame":
        """The ``n`` users with the highest expected ratings of the item among those who have not rated it.

        Returns
        -------
        DataFrame
            Columns rank, user, expected_rating, the highest first.
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
