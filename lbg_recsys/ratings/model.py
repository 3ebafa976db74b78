"""What every rating model offers to its user: fits, predictions, lists, new users and items, explanations."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from lbg_recsys.core import levels
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, reporting, silent
from lbg_recsys.ratings.crowd import need_users
from lbg_recsys.ratings.ids import UNKNOWN, IdIndex, RawId, plain_ids
from lbg_recsys.ratings.matrix import RatingMatrix, as_matrix, one_item
from lbg_recsys.ratings.questions.recommender import Recommender, Wishes
from lbg_recsys.ratings.questions.showing import ShownModel
from lbg_recsys.ratings.scoring import ScoringModel
from lbg_recsys.ratings.source import Bounds, RatingSource, is_source, warn_if_constant
from lbg_recsys.ratings.tables import split_pairs
from lbg_recsys.settings import Settings
from lbg_recsys.words import class_of

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings.questions.explain import Explanation, FeatureEffect, Influences, TopicShare
    from lbg_recsys.ratings.questions.new_item import FoldedItem
    from lbg_recsys.ratings.questions.new_user import FoldedUser
    from lbg_recsys.ratings.questions.similar import Similar
    from lbg_recsys.ratings.questions.topics import Topics

M = TypeVar("M", bound="RatingModel")


class RatingModel(Recommender, ShownModel, Settings, ScoringModel):
    """A model of ratings. A subclass supplies `_fit` and the methods over codes that `ScoringModel` names.

    It may override `influence`, `topic_shares` and `explain`.

    Attributes
    ----------
    matrix : RatingMatrix
        The ratings that the model was fitted to.
    levels : float array of shape (n_levels,)
        The levels of the rating scale.
    titles, versions : mapping
        Titles by item id; and, of a loaded model, the versions of the libraries that wrote its file.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
    >>> isinstance(model, RatingModel), model.predict_distribution([("bob", "y")]).shape
    (True, (1, 5))
    """

    RANKED_BY = "liked"
    FITS_BLOCKS = False  # whether a fit takes any `RatingSource`, and not only a matrix in memory

    point: str
    titles: Mapping[RawId, str] = MappingProxyType({})
    versions: Mapping[str, str] = MappingProxyType({})  # of the libraries that the model file was written with
    verbose: bool

    def fit(
        self: M,
        ratings: Any,
        *,
        scale: Bounds | None = None,
        levels: npt.ArrayLike | None = None,
        progress: Progress = silent,
    ) -> M:
        """Fit to ratings. A fit that fails or is interrupted leaves the model as it was.

        Parameters
        ----------
        ratings : DataFrame, tuple of (users, items, ratings), sparse matrix or RatingMatrix
            One row per rating. The columns of a table (pandas, polars, Arrow) are found by name, see
            `RatingMatrix.from_frame`; the rows of a scipy matrix are users, its columns items.
        scale : tuple of (float, float), default=None
            Lowest and highest rating; found in the ratings by default.
        levels : array-like, default=None
            All levels of the scale, where they cannot be found in the ratings.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every step.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ParameterError
            If a hyper-parameter has a value that is not allowed.
        DataError
            If the ratings cannot be used.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.levels.tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0]
        """
        return self._fit_to(ratings, scale, levels, progress, self._fit)

    def _fit_to(
        self: M,
        ratings: Any,
        scale: Bounds | None,
        levels: npt.ArrayLike | None,
        progress: Progress,
        fit: Callable[[Any, Progress], None],
    ) -> M:
        self.check_settings()
        in_blocks = self.FITS_BLOCKS and is_source(ratings)
        source: RatingSource = ratings if in_blocks else as_matrix(ratings, scale=scale, levels=levels)
        warn_if_constant(source)
        with reporting(progress, f"fitting {type(self).__name__}", self.verbose) as report:
            fit(source, report)
        return self

    @abstractmethod
    def _fit(self, matrix: RatingMatrix, progress: Progress) -> None:
        """Fit to a matrix, with checked settings; the model changes only after everything that can fail."""

    def predict_distribution(self, pairs: Any) -> Floats:
        """Predict the distribution of the rating of each pair.

        Parameters
        ----------
        pairs : table, array or iterable of (user, item) pairs
            Raw ids. A user or an item that the model does not know gets the prediction for an unknown one.

        Returns
        -------
        float array of shape (n_pairs, n_levels)
            The probability of every level of the scale (``levels``); rows sum to 1.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.predict_distribution([("bob", "y"), ("ann", "x")]).argmax(axis=1).tolist()
        [2, 3]
        """
        return self.distribution_of(*self.codes_of(pairs)).probability

    def predict_batch(self, pairs: Any) -> Floats:
        """Predict the rating of each pair.

        Parameters
        ----------
        pairs : table, array or iterable of (user, item) pairs
            As in `predict_distribution`.

        Returns
        -------
        float array of shape (n_pairs,)
            The predicted ratings: the ``point`` (mean, median or mode) of each distribution.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.predict_batch([("bob", "y"), ("ann", "x")]).tolist()
        [3.0, 4.0]
        """
        return levels.point(self.predict_distribution(pairs), self.levels, self.point)

    def interval(self, pairs: Any, mass: float = 0.9) -> Floats:
        """Predict a central interval of the rating of each pair.

        Parameters
        ----------
        pairs : table, array or iterable of (user, item) pairs
            As in `predict_distribution`.
        mass : float, default=0.9
            The interval contains the rating with at least this probability.

        Returns
        -------
        float array of shape (n_pairs, 2)
            The lowest and the highest level of each interval.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.interval([("bob", "y")], mass=0.5).tolist()
        [[2.0, 4.0]]
        """
        return np.column_stack(levels.interval(self.predict_distribution(pairs), self.levels, mass))

    def predictions(self, pairs: Any, mass: float = 0.9) -> "pd.DataFrame":
        """A table of the predictions of many (user, item) pairs.

        Parameters
        ----------
        pairs : table, array or iterable of (user, item) pairs
            As in `predict_batch`.
        mass : float, default=0.9
            The mass of the central interval from ``low`` to ``high``.

        Returns
        -------
        DataFrame
            Columns user, item, title (if the model has titles), prediction, std, low, high, unknown ("user", "item"
            or "both" where the model does not know these, else None) and the probability of each level: p_1, p_2, ...

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> table = model.predictions([("bob", "y"), ("ann", "x")])
        >>> table["prediction"].tolist(), table.columns[:6].tolist()
        ([3.0, 4.0], ['user', 'item', 'prediction', 'std', 'low', 'high'])
        """
        from lbg_recsys.ratings.questions.predictions import predictions

        users, items = split_pairs(pairs)
        return predictions(self, list(plain_ids(users)), list(plain_ids(items)), mass)

    def codes_of(self, pairs: Any) -> tuple[Ints, Ints]:
        """Codes of (user, item) pairs: a table with these columns, or a list, array or generator of pairs."""
        return self.codes(*split_pairs(pairs))

    def codes(self, users: Any, items: Any) -> tuple[Ints, Ints]:
        """Codes of many users and as many items, below 0 where they are unknown."""
        return self.matrix.users.codes(users), self.matrix.items.codes(items)

    def fold_in(
        self, ratings: "Mapping[RawId, float] | pd.Series[float] | pd.DataFrame | Iterable[RawId]"
    ) -> "FoldedUser":
        """Predict and recommend for a new user. Nothing is fitted, and the model does not change.

        Parameters
        ----------
        ratings : mapping, Series, DataFrame or iterable of item ids
            ``{item: rating}``, a Series of ratings by item, or a table with the columns item and rating. A list of
            item ids, or a table without ratings, describes a user who took items without rating them: lists then
            follow from who takes what, and predicted ratings are those of an unknown user. ``{}`` and ``[]`` describe
            an unknown user, who has the predictions of an unknown id.

        Returns
        -------
        FoldedUser
            Its methods predict, recommend and explain for this user.

        Raises
        ------
        DataError
            If a rating is off the scale, or the ratings cannot be read.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.fold_in({"x": 5}).predict(["x", "y"]).tolist()
        [4.0, 3.0]
        """
        from lbg_recsys.ratings.questions.new_user import fold_in

        return fold_in(self, ratings)

    def with_item(
        self: M, item: RawId, ratings: "Mapping[RawId, float] | pd.Series[float]", *, title: str | None = None
    ) -> M:
        """Return a model that also knows a new item, from some ratings of it. Nothing is fitted again.

        Parameters
        ----------
        item : id
            The id of the new item.
        ratings : mapping or Series
            ``{user: rating}`` of known users, at least one. A warning names unknown users, who are left out.
        title : str, default=None
            What the item is called.

        Returns
        -------
        RatingModel
            The model with the item.

        Raises
        ------
        DataError
            If the item is known already, a rating is off the scale, no known user rated it, or the model cannot
            take new items without a fit.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.with_item("z", {"ann": 5}).recommend("bob")["item"].tolist()
        ['z', 'y']
        """
        need_users(self.matrix, "a new item")
        if item in self.matrix.items:
            raise DataError(f"the item {item!r} is known to the model already: give a new item an id of its own")
        own = one_item(ratings, item, self.matrix.users, self.matrix.scale)
        if not own.n_ratings:
            raise DataError(
                "no known user has rated the new item: give {user: rating, ...} of at least one; an item without "
                "ratings needs no call, predictions take any unknown id"
            )
        view = self._with_item(self.matrix.merged(own)[0])
        view.titles = {**self.titles, **({} if title is None else {item: title})}
        return view

    def _with_item(self: M, matrix: RatingMatrix) -> M:
        """The model with one more item, the last of ``matrix``."""
        raise DataError(f"{class_of(self)} cannot take a new item without a fit: fit it with the ratings")

    def fold_in_item(self, ratings: "Mapping[RawId, float] | pd.Series[float]") -> "FoldedItem":
        """Predict the ratings of a new item. Nothing is fitted, and the model does not change.

        `with_item` gives the item an id, so that lists can contain it.

        Parameters
        ----------
        ratings : mapping or Series
            ``{user: rating}`` of known users, at least one.

        Returns
        -------
        FoldedItem
            Its methods predict the ratings of this item.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.fold_in_item({"ann": 5}).predict("bob")
        4.0
        """
        from lbg_recsys.ratings.questions.new_item import FoldedItem

        name = "new item"
        while name in self.matrix.items:
            name += "'"
        return FoldedItem(self.with_item(name, ratings), name)

    def _lists(self, users: list[RawId], wishes: Wishes) -> Iterator["pd.DataFrame"]:
        from lbg_recsys.ratings.questions.recommend import recommend_blocks

        return recommend_blocks(self, users, wishes)

    def similar_items(self, item: RawId, n: int = 10, *, metric: str | None = None) -> "Similar":
        """Find the items most similar to an item: those that the same people rate, and rate alike.

        Parameters
        ----------
        item : id
            A known item.
        n : int, default=10
            Items to return.
        metric : str, default=None
            One of ``METRICS``; the first of them by default.

        Returns
        -------
        Similar
            A list of (item, similarity) pairs, the most similar first.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> from lbg_recsys.datasets import load_sample
        >>> model = LBGModel(n_topics=2, random_state=0).fit(load_sample().ratings)
        >>> [(item, round(similarity, 2)) for item, similarity in model.similar_items(8, n=2)]
        [(62, 0.94), (61, 0.92)]
        """
        from lbg_recsys.ratings.questions.similar import nearest

        return nearest(self, False, self.item_code(item), n, metric)

    def similar_users(self, user: RawId, n: int = 10, *, metric: str | None = None) -> "Similar":
        """Find the users who are most like a user in topics or tastes.

        Parameters
        ----------
        user : id
            A known user.
        n : int, default=10
            Users to return.
        metric : str, default=None
            One of ``METRICS``; the first of them by default.

        Returns
        -------
        Similar
            A list of (user, similarity) pairs, the most similar first.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> users, items = ["ann", "ann", "bob", "bob", "cid", "cid"], ["x", "y", "x", "y", "v", "w"]
        >>> model = LBGModel(n_topics=2, random_state=0).fit((users, items, [5, 5, 5, 4, 1, 2]))
        >>> model.similar_users("ann", n=1)[0][0]
        'bob'
        """
        from lbg_recsys.ratings.questions.similar import nearest

        return nearest(self, True, self.user_code(user), n, metric)

    def topics(self, n: int = 5, *, n_topics: int | None = None) -> "Topics":
        """Find topics, which are groups of users, with the items that each typically rates, loves and hates.

        Parameters
        ----------
        n : int, default=5
            Items of each kind.
        n_topics : int, default=None
            How many topics to find, 5 by default; only for a model that has no topics of its own, Bayesian LBG.

        Returns
        -------
        Topics
            The topics, the largest first.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> from lbg_recsys.datasets import load_sample
        >>> model = LBGModel(n_topics=2, random_state=0).fit(load_sample().ratings)
        >>> model.topics(n=2)[0]
        <Topic 1, weight 0.55: typical 27, 28; loves 80, 90; hates 36, 60>
        """
        from lbg_recsys.ratings.questions.topics import topics

        need_users(self.matrix, "a list of topics")
        return topics(self, n, n_topics)

    def explain(self, user: RawId, item: RawId) -> "Explanation | Influences":
        """Explain a prediction by the user's own ratings.

        Parameters
        ----------
        user : id
            A known user.
        item : id
            A known item, or one that has features and no ratings.

        Returns
        -------
        Explanation or Influences
            Why the item is in the user's lists and why its rating is predicted as it is: `Explanation` for
            `LBGModel`, `Influences` for other models.

        Raises
        ------
        DataError
            If the user or the item is unknown.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> why = model.explain("ann", "x")
        >>> why.prediction, sorted((one.item, one.rating) for one in why.evidence)
        (4.0, [('x', 5.0), ('y', 1.0)])
        """
        from lbg_recsys.ratings.questions.explain import influences

        return influences(self, self.user_code(user), self.item_code(item))

    def influence(self, user: int, item: int) -> tuple[Floats, Floats]:
        """The contribution of each of the user's ratings to an expected rating, in the order of the matrix.

        The first array is what follows from the item being rated (here 0), the second from the value of the rating.
        """
        from lbg_recsys.ratings.questions.explain import leave_one_out

        lost = leave_one_out(self, user, item)
        return np.zeros_like(lost), lost

    def effects_of_features(self, user: int, item: int) -> "tuple[FeatureEffect, ...]":
        """What features of a pair of codes do to its expected rating; none if the model has no features."""
        return ()

    def topic_shares(self, user: int, item: int) -> "tuple[TopicShare, ...]":
        """The parts of the topics in the prediction of a pair of codes; none if the model has no topics."""
        return ()

    def user_code(self, user: RawId) -> int:
        """The code of a user that must be known."""
        without = "" if self.matrix.left_out is None else "it was saved without its users; "
        remedy = f"{without}fold_in({{item: rating, ...}}) takes new users"
        return _known(self.matrix.users.code(user), user, "user", remedy)

    def item_code(self, item: RawId) -> int:
        """The code of an item that must be known."""
        return _known(self.matrix.items.code(item), item, "item", "with_item(id, {user: rating}) takes new items")

    def item_id(self, code: int) -> RawId:
        """The item of a code that `item_code` gave.

        Parameters
        ----------
        code : int
            The code of the item.

        Returns
        -------
        id
            The raw id of the item.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.item_id(model.item_code("y"))
        'y'
        """
        return self.matrix.items.raw(code)

    @property
    def items_with_features(self) -> IdIndex:
        """Items that have features: those without ratings can be predicted and explained, but are in no list."""
        return IdIndex()


def _known(code: int, raw_id: RawId, what: str, remedy: str) -> int:
    if code == UNKNOWN:
        raise DataError(f"the {what} {raw_id!r} ({type(raw_id).__name__}) is unknown to the model: {remedy}")
    return code
