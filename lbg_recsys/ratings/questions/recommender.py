"""The methods that make lists, the same for every model, for known users and for a new one."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lbg_recsys.checks import check_choice, check_flag, check_integer, check_number, check_share
from lbg_recsys.errors import ParameterError
from lbg_recsys.ratings.ids import RawId, is_many, plain_ids

if TYPE_CHECKING:
    import pandas as pd

# What lists can be ranked by.
CRITERIA = ("liked", "rated", "rating", "sure")


@dataclass(frozen=True)
class Wishes:
    """What is asked of every list; see `Recommender.recommend`."""

    n: int
    exclude_seen: bool
    by: str | None
    liked: float | None
    items: Iterable[RawId] | None
    exclude: Iterable[RawId] | None
    min_probability: float
    diversity: float

    def __post_init__(self) -> None:
        check_integer("n", self.n, 1)
        check_flag("exclude_seen", self.exclude_seen)
        if self.by is not None:
            check_choice("by", self.by, CRITERIA)
        check_number("min_probability", self.min_probability, 0.0, 1.0)
        check_share("diversity", self.diversity)


class Recommender:
    """A model that makes lists. A subclass supplies `_lists`."""

    # What its lists are ranked by, unless something else is asked for.
    RANKED_BY: ClassVar[str]

    def recommend(
        self,
        user: Any,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        by: str | None = None,
        liked: float | None = None,
        items: Iterable[RawId] | None = None,
        exclude: Iterable[RawId] | None = None,
        min_probability: float = 0.0,
        diversity: float = 0.0,
    ) -> "pd.DataFrame":
        """Recommend items to one user or to many.

        Parameters
        ----------
        user : id or list of ids
            A list, an array, a Series or a generator means many users; anything else, also a tuple, is one id.
        n : int, default=10
            Items per list. A list is shorter if fewer items are left.
        exclude_seen : bool, default=True
            Leave out the items that the user has rated or taken.
        by : {"liked", "rated", "rating", "sure"}, default=None
            What lists are ranked by. ``"liked"``, the default of rating models, is the score of ``"rated"`` times a
            power of the probability of being liked (the power 1/2 with ``lists="choice"``, 1 with
            ``lists="bernoulli"``). ``"rated"``, which is the only choice for `ChoiceModel`, is the score of what the
            user will take (the setting ``lists``). ``"rating"`` is the expected rating. ``"sure"`` is the lower end
            of the 90% interval of the rating.
        liked : float, default=None
            The lowest rating that counts as liked; None is the upper quarter of the scale, 4 of 1..5.
        items, exclude : list of item ids, default=None
            Recommend only ``items``, and none of ``exclude``. A warning names unknown ids.
        min_probability : float, default=0
            Leave out items with a lower probability of being liked, if they are rated (to within 1e-5).
        diversity : float, default=0
            From 0 (none) to below 1: re-rank by maximal marginal relevance, so that a list has fewer items that the
            same people take.

        Returns
        -------
        DataFrame
            Columns user, rank, item, title (if the model has titles), score and, of rating models, expected_rating.
            ``score`` is what ``by`` ranks by: with ``lists="choice"`` the score by ``"liked"`` and ``"rated"`` is not
            a probability.

        Raises
        ------
        DataError
            If a user is unknown, no item can be in a list, or a model without ratings is asked about ratings.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.recommend("bob")["item"].tolist()
        ['y']
        """
        users = plain_ids(user) if is_many(user) else [user]
        wishes = Wishes(n, exclude_seen, by, liked, items, exclude, min_probability, diversity)
        return _joined(self._lists(list(users), wishes))

    def recommend_blocks(
        self,
        users: Iterable[RawId],
        n: int = 10,
        *,
        exclude_seen: bool = True,
        by: str | None = None,
        liked: float | None = None,
        items: Iterable[RawId] | None = None,
        exclude: Iterable[RawId] | None = None,
        min_probability: float = 0.0,
        diversity: float = 0.0,
    ) -> Iterator["pd.DataFrame"]:
        """Recommend items to many users, block by block, in bounded memory.

        Parameters
        ----------
        users : iterable of ids
            Known users.
        n : int, default=10
            Items per list.
        exclude_seen : bool, default=True
            Leave out the items that a user has rated or taken.
        by : {"liked", "rated", "rating", "sure"}, default=None
            What lists are ranked by; see `recommend`.
        liked : float, default=None
            The lowest rating that counts as liked; None is the upper quarter of the scale.
        items, exclude : list of item ids, default=None
            Recommend only ``items``, and none of ``exclude``.
        min_probability : float, default=0
            Leave out items with a lower probability of being liked, if they are rated.
        diversity : float, default=0
            From 0 (none) to below 1: fewer items per list that the same people take.

        Returns
        -------
        iterator of DataFrame
            The lists of one block of users after another, with the columns of `recommend`.

        Raises
        ------
        DataError
            As in `recommend`, before the first block.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> for block in model.recommend_blocks(["ann", "bob"], exclude_seen=False, n=1):
        ...     print(block["user"].tolist(), block["item"].tolist())
        ['ann', 'bob'] ['x', 'x']
        """
        if not isinstance(users, Iterable) or isinstance(users, str | bytes):
            raise ParameterError(f"users is {users!r}: give a list of user ids")
        wishes = Wishes(n, exclude_seen, by, liked, items, exclude, min_probability, diversity)
        return self._lists(list(plain_ids(users)), wishes)

    @abstractmethod
    def _lists(self, users: list[RawId], wishes: Wishes) -> Iterator["pd.DataFrame"]:
        """Tables of lists, a block of users each, and at least one; errors are raised before the first."""


class RecommenderOfOne:
    """The only user of a model, whose methods take no user id."""

    _view: Any
    _id: RawId

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {type(self._view).__name__}, known items: {self._view.matrix.n_ratings}>"

    def recommend(
        self,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        by: str | None = None,
        liked: float | None = None,
        items: Iterable[RawId] | None = None,
        exclude: Iterable[RawId] | None = None,
        min_probability: float = 0.0,
        diversity: float = 0.0,
    ) -> "pd.DataFrame":
        """Recommend items to this user.

        Parameters
        ----------
        n : int, default=10
            Items in the list. It is shorter if fewer items are left.
        exclude_seen : bool, default=True
            Leave out the items that the user has rated or taken.
        by : {"liked", "rated", "rating", "sure"}, default=None
            What the list is ranked by; see `RatingModel.recommend`.
        liked : float, default=None
            The lowest rating that counts as liked; None is the upper quarter of the scale.
        items, exclude : list of item ids, default=None
            Recommend only ``items``, and none of ``exclude``.
        min_probability : float, default=0
            Leave out items with a lower probability of being liked, if they are rated.
        diversity : float, default=0
            From 0 (none) to below 1: fewer items in the list that the same people take.

        Returns
        -------
        DataFrame
            Columns user, rank, item, title (if the model has titles), score and, of rating models, expected_rating.

        Raises
        ------
        DataError
            If no item can be in the list, or a model without ratings is asked about ratings.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.fold_in({"x": 5}).recommend()["item"].tolist()
        ['y']
        """
        wishes = Wishes(n, exclude_seen, by, liked, items, exclude, min_probability, diversity)
        return _joined(self._view._lists([self._id], wishes))


def _joined(blocks: Iterable["pd.DataFrame"]) -> "pd.DataFrame":
    import pandas as pd

    tables = list(blocks)
    return pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]
