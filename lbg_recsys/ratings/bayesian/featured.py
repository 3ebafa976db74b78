"""The part of Bayesian LBG that knows features of items and users besides their ratings."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sized
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from lbg_recsys.core import levels as over_levels
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.tilt import tilt
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings.bayesian.feature_effects import FeatureEffects
from lbg_recsys.ratings.bayesian.standardise import Standard
from lbg_recsys.ratings.bayesian.times import Calendar, as_seconds, times_of_ratings
from lbg_recsys.ratings.bayesian.training import ids_of
from lbg_recsys.ratings.bayesian.unknown import UnknownPartner
from lbg_recsys.ratings.features import WITHOUT_FEATURES, FeatureTable
from lbg_recsys.ratings.ids import UNKNOWN, IdIndex, RawId, is_many, plain_ids
from lbg_recsys.ratings.matrix import NEW_USER, RatingMatrix
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.explain import FeatureEffect
from lbg_recsys.ratings.questions.predictions import predictions
from lbg_recsys.ratings.scoring import RatingDistribution
from lbg_recsys.ratings.source import Bounds
from lbg_recsys.ratings.tables import columns_of, is_table, names_of, split_pairs
from lbg_recsys.words import shown

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings.questions.new_user import FoldedUser

M = TypeVar("M", bound="FeaturedModel")


class FeaturedModel(RatingModel):
    """A rating model with kept sweeps whose regressions have features of items and users.

    Ids that have features but no ratings have codes of -2 and below.
    """

    features_: Mapping[Side, FeatureTable]
    calendar_: Calendar | None
    standard_: Standard
    _draws: dict[Side, Draws]
    _some: Mapping[Side, Draws]
    _feature_effects: dict[Side, FeatureEffects]
    _unknown_item: UnknownPartner
    _unknown_user: UnknownPartner
    _trained: Any

    def fit(
        self: M,
        ratings: Any,
        *,
        item_features: Any = None,
        user_features: Any = None,
        time: Any = None,
        scale: Bounds | None = None,
        levels: npt.ArrayLike | None = None,
        progress: Progress = silent,
    ) -> M:
        """Fit to ratings and, where it is given, to what is known about items and users besides.

        Parameters
        ----------
        ratings : DataFrame, tuple of (users, items, ratings), sparse matrix or RatingMatrix
            See `RatingModel.fit`.
        item_features, user_features : DataFrame or sparse matrix, default=None
            One row per item (user). The ids are a column ``item`` (``user``), or else the index; the rows of a matrix
            are the ids 0, 1, ... Columns are numbers, categories (strings), or sets (tuples, or strings such as
            ``"Drama|War"``). A missing value has no effect. How much a column counts is learned: one that does not
            help is ignored. Rows of items without ratings are kept: predictions for these items use them.
        time : bool, str, array or DataFrame, default=None
            When the ratings were given: True or the name of a column of ``ratings``, one time per rating, or a table
            with user, item and time. Numbers are seconds since 1970. The effects of a user's day and moment and the
            drift of items are then learned; see docs/time.md.
        scale : tuple of (float, float), default=None
            Lowest and highest rating; found in the ratings by default.
        levels : array-like, default=None
            All levels of the scale, where they cannot be found in the ratings.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every sweep.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ParameterError
            If a hyper-parameter has a value that is not allowed.
        DataError
            If the ratings or the features cannot be used.

        Examples
        --------
        >>> import pandas as pd
        >>> from lbg_recsys import BayesianLBGModel
        >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
        >>> films = pd.DataFrame({"year": [1994, 1972, 1999]}, index=["x", "y", "new"])
        >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0)
        >>> model.fit(ratings, item_features=films).item_features_.names
        ['year']
        """

        def fit(matrix: RatingMatrix, report: Progress) -> None:
            self._fit(
                matrix,
                report,
                {
                    Side.USERS: FeatureTable.of(user_features, matrix.users, "user"),
                    Side.ITEMS: FeatureTable.of(item_features, matrix.items, "item"),
                },
                times_of_ratings(time, ratings, matrix),
            )

        return self._fit_to(ratings, scale, levels, progress, fit)

    @abstractmethod
    def _fit(
        self,
        matrix: RatingMatrix,
        progress: Progress,
        features: Mapping[Side, FeatureTable] = WITHOUT_FEATURES,
        times: Ints | None = None,
    ) -> None:
        """Fit to a matrix, to features and to the times of the ratings."""

    def predict_distribution(self, pairs: Any, *, time: Any = None) -> Floats:
        """Predict the distribution of the rating of each pair.

        Parameters
        ----------
        pairs : table, array or iterable of (user, item) pairs
            Raw ids. A user or an item that the model does not know gets the prediction for an unknown one.
        time : number, date, one per pair, or the name of a column of the table of pairs, default=None
            When the pairs are rated; by default the column ``timestamp`` of a table of pairs, or one with a similar
            name. Without times, or if the model was fitted without them, they are rated on a day that the model does
            not know.

        Returns
        -------
        float array of shape (n_pairs, n_levels)
            The probability of every level of the scale (``levels``); rows sum to 1.

        Raises
        ------
        DataError
            If there are times and the model was fitted without them, or not one time per pair.

        Examples
        --------
        >>> from lbg_recsys import BayesianLBGModel
        >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
        >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings, scale=(1, 5))
        >>> model.predict_distribution([("a", "y"), ("b", "new")]).shape
        (2, 5)
        """
        users, items = self.codes_of(pairs)
        return self.distribution_of(users, items, self._seconds(pairs, time, len(users))).probability

    def predict_batch(self, pairs: Any, *, time: Any = None) -> Floats:
        """Predict the rating of each pair.

        Parameters
        ----------
        pairs : table, array or iterable of (user, item) pairs
            As in `predict_distribution`.
        time : number, date, one per pair, or the name of a column of the table of pairs, default=None
            As in `predict_distribution`.

        Returns
        -------
        float array of shape (n_pairs,)
            The predicted ratings: the ``point`` (mean, median or mode) of each distribution.

        Examples
        --------
        >>> from lbg_recsys import BayesianLBGModel
        >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
        >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings, scale=(1, 5))
        >>> model.predict_batch([("a", "y"), ("b", "new")]).shape
        (2,)
        """
        return over_levels.point(self.predict_distribution(pairs, time=time), self.levels, self.point)

    def interval(self, pairs: Any, mass: float = 0.9, *, time: Any = None) -> Floats:
        """Predict a central interval of the rating of each pair.

        Parameters
        ----------
        pairs : table, array or iterable of (user, item) pairs
            As in `predict_distribution`.
        mass : float, default=0.9
            The interval contains the rating with at least this probability.
        time : number, date, one per pair, or the name of a column of the table of pairs, default=None
            As in `predict_distribution`.

        Returns
        -------
        float array of shape (n_pairs, 2)
            The lowest and the highest level of each interval.

        Examples
        --------
        >>> from lbg_recsys import BayesianLBGModel
        >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
        >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings, scale=(1, 5))
        >>> model.interval([("a", "y")]).shape
        (1, 2)
        """
        return np.column_stack(over_levels.interval(self.predict_distribution(pairs, time=time), self.levels, mass))

    def predictions(self, pairs: Any, mass: float = 0.9, *, time: Any = None) -> "pd.DataFrame":
        """A table of the predictions of many (user, item) pairs.

        Parameters
        ----------
        pairs : table, array or iterable of (user, item) pairs
            As in `predict_distribution`.
        mass : float, default=0.9
            The mass of the central interval from ``low`` to ``high``.
        time : number, date, one per pair, or the name of a column of the table of pairs, default=None
            As in `predict_distribution`.

        Returns
        -------
        DataFrame
            Columns user, item, title (if the model has titles), prediction, std, low, high, unknown ("user", "item"
            or "both" where the model does not know these, else None) and the probability of each level: p_1, p_2, ...

        Examples
        --------
        >>> from lbg_recsys import BayesianLBGModel
        >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
        >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings, scale=(1, 5))
        >>> table = model.predictions([("a", "y"), ("b", "new")])
        >>> table["item"].tolist(), table.columns[-5:].tolist()
        (['y', 'new'], ['p_1', 'p_2', 'p_3', 'p_4', 'p_5'])
        """
        users, items = map(list, map(plain_ids, split_pairs(pairs)))
        return predictions(self, users, items, mass, self._seconds(pairs, time, len(users)))

    def _seconds(self, pairs: Any, time: Any, n: int) -> Ints | None:
        """The times of n pairs, None if there are none."""
        if time is not None and self.calendar_ is None:
            raise DataError("the model was fitted without times: fit it with time=, or leave time out here")
        if is_table(pairs) and self.calendar_ is not None:
            if time is None:
                (time,) = columns_of(pairs, [], "pairs", optional=["timestamp"])
            elif time is True or (isinstance(time, str) and time in names_of(pairs)):
                given = {} if time is True else {"timestamp": time}
                *_, time = columns_of(pairs, ["user", "item", "timestamp"], "pairs with times", given)
        if time is None:
            return None
        if not is_many(time):
            return np.broadcast_to(_one_time(time, pairs), (n,))
        many = as_seconds(time)
        if len(many) != n:
            raise DataError(f"{n:,} pairs have {len(many):,} times: give one time, or one per pair")
        return many

    @abstractmethod
    def distribution_of(self, users: Ints, items: Ints, times: Ints | None = None) -> RatingDistribution:
        """The distribution of each pair of codes, at some times."""

    @property
    def item_features_(self) -> FeatureTable:
        """What is known about items besides their ratings."""
        return self.features_[Side.ITEMS]

    @property
    def user_features_(self) -> FeatureTable:
        """What is known about users besides their ratings."""
        return self.features_[Side.USERS]

    def codes(self, users: Any, items: Any) -> tuple[Ints, Ints]:
        """Codes of many users and as many items; -2 and below are ids that have features but no ratings."""
        return self._codes(Side.USERS, users), self._codes(Side.ITEMS, items)

    def _codes(self, side: Side, raw_ids: Any) -> Ints:
        codes, table = ids_of(self.matrix, side).codes(raw_ids), self.features_[side]
        unknown = np.flatnonzero(codes < 0)
        if len(unknown) and len(table.ids):
            plain = plain_ids(raw_ids)
            codes[unknown] = UNKNOWN - 1 - table.ids.codes([plain[n] for n in unknown.tolist()])
        return codes

    def item_code(self, item: RawId) -> int:
        """The code of an item that must be known by its ratings or by its features."""
        (code,) = self._codes(Side.ITEMS, [item]).tolist()
        return int(code) if code < UNKNOWN else super().item_code(item)

    def item_id(self, code: int) -> RawId:  # noqa: D102 - inherited
        return super().item_id(code) if code >= 0 else self.item_features_.ids.raw(UNKNOWN - 1 - code)

    @property
    def items_with_features(self) -> IdIndex:
        """Items that have features, with or without ratings."""
        return self.item_features_.ids

    def tilt_by_features(self, side: Side, partners: Ints, codes: Ints, probability: Floats) -> None:
        """Tilt the distributions of unknown users or items by their features, those of their partners' ratings given.

        The features that the partner's usual items (users) have are in the distribution already.
        """
        places = np.flatnonzero(codes < UNKNOWN)
        if not len(places):
            return
        table, home = self.features_[side], self if side is Side.ITEMS else self._trained or self
        unknown = home._unknown_item if side is Side.ITEMS else home._unknown_user
        known, at = np.unique(np.maximum(partners[places], UNKNOWN), return_inverse=True)
        usual = unknown.mean_of_partners(known, table.rows(ids_of(home.matrix, side)).astype(np.float64))
        effects = home._effects_of(side, known)
        shift = np.einsum("nd,nd->n", table.at(UNKNOWN - 1 - codes[places]) - usual[at], effects[at])
        tilted = probability[places]
        tilt(tilted, self.levels, over_levels.mean(tilted, self.levels) + shift)
        probability[places] = tilted

    def _effects_of(self, side: Side, partners: Ints) -> Floats:
        """The effects of the features of a side for some partners, (n, E), in units of the ratings."""
        home = self._trained or self  # new users have no part in the regressions
        if side not in home._feature_effects:
            matrix, table = home.matrix, home.features_[side]
            amount = matrix.rows.lengths if side is Side.USERS else matrix.crowd.per_item
            known = table.rows(ids_of(matrix, side))
            home._feature_effects[side] = FeatureEffects(home._some, side, table, known, amount)
        return np.asarray(self.standard_.spread * home._feature_effects[side].of(self._some, partners))

    def effects_of_features(self, user: int, item: int) -> tuple[FeatureEffect, ...]:
        """What features of the item and of the user do to the expected rating, before any rating of the item (user).

        Each effect is relative to the average item (user), the largest first. A category or a member of a set has
        one if the item has it.
        """
        found = []
        for side, own, partner in ((Side.ITEMS, item, user), (Side.USERS, user, item)):
            table = self.features_[side]
            if self._draws and table.features:
                row = UNKNOWN - 1 - own if own < 0 else table.ids.code(ids_of(self.matrix, side).raw(own))
                (values,) = table.at(np.array([row]))
                (effects,) = self._effects_of(side, np.array([max(partner, UNKNOWN)]))
                for name, value, effect in zip(table.names, values, effects, strict=True):
                    if value > 0 or (value < 0 and "=" not in name):
                        found.append(FeatureEffect(side.value[:-1], name, float(value * effect)))
        return tuple(sorted(found, key=lambda one: -abs(one.effect)))

    def fold_in(
        self,
        ratings: "Mapping[RawId, float] | pd.Series[float] | pd.DataFrame | Iterable[RawId]",
        *,
        features: Mapping[str, Any] | None = None,
    ) -> "FoldedUser":
        """Predict and recommend for a new user. Nothing is fitted, and the model does not change.

        Parameters
        ----------
        ratings : mapping, Series, DataFrame or iterable of item ids
            As in `RatingModel.fold_in`.
        features : mapping of str to value, default=None
            Features of the user by name, for a model that was fitted with ``user_features``.

        Returns
        -------
        FoldedUser
            Its methods predict, recommend and explain for this user.

        Raises
        ------
        DataError
            If a rating is off the scale, the ratings cannot be read, or the model does not have such features.

        Examples
        --------
        >>> from lbg_recsys import BayesianLBGModel
        >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
        >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings, scale=(1, 5))
        >>> user = model.fold_in({"x": 5})
        >>> user.recommend()["item"].tolist()
        ['y']
        """
        return super(FeaturedModel, self._knowing(Side.USERS, NEW_USER, features)).fold_in(ratings)

    def with_item(
        self: M,
        item: RawId,
        ratings: "Mapping[RawId, float] | pd.Series[float]",
        *,
        title: str | None = None,
        features: Mapping[str, Any] | None = None,
    ) -> M:
        """Return a model that also knows a new item, from some ratings of it. Nothing is fitted again.

        Parameters
        ----------
        item : id
            The id of the new item.
        ratings : mapping or Series
            ``{user: rating}`` of known users; there may be none if ``features`` are given, which then predict the
            item, but do not put it into lists.
        title : str, default=None
            The title of the item.
        features : mapping of str to value, default=None
            Features of the item by name. By default they are those of the id in ``item_features`` of the fit, if it
            has the id.

        Returns
        -------
        BayesianLBGModel
            The model with the item.

        Raises
        ------
        DataError
            If the item is known already, a rating is off the scale, or neither a rating by a known user nor features
            are given.

        Examples
        --------
        >>> from lbg_recsys import BayesianLBGModel
        >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
        >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings, scale=(1, 5))
        >>> model.with_item("z", {"a": 5}).recommend("b")["item"].tolist()
        ['z']
        """
        known = self._knowing(Side.ITEMS, item, features)
        without_ratings = isinstance(ratings, Sized) and not len(ratings)
        if features is not None and without_ratings and item not in self.matrix.items:
            return known
        return super(FeaturedModel, known).with_item(item, ratings, title=title)

    def _knowing(self: M, side: Side, raw_id: RawId, given: Mapping[str, Any] | None) -> M:
        """The same model with the features of one more id."""
        if given is None:
            return self
        model = copy(self)
        model.features_ = {**self.features_, side: self.features_[side].with_row(raw_id, given, side.value[:-1])}
        return model


def _one_time(time: Any, pairs: Any) -> Ints:
    """The time of all pairs; what names no column of theirs must be a date."""
    try:
        return as_seconds([time])
    except DataError as error:
        if not isinstance(time, str):
            raise
        nor = f" and no column of the pairs ({shown(names_of(pairs))})" if is_table(pairs) else ""
        raise DataError(f"the time {time!r} is no date such as 2015-03-02{nor}") from error
