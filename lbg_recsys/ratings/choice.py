"""What people take: alone, for clicks and purchases, and beside a rating model, for its lists."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from lbg_recsys.checks import check_integer
from lbg_recsys.core.types import Bools, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.progress import STARTING, Progress, silent
from lbg_recsys.ratings.choice_scores import (
    ChoiceExplanation,
    Choices,
    diversified_rows,
    hide_seen,
    inverse_of_blocks,
)
from lbg_recsys.ratings.clicks import as_choices
from lbg_recsys.ratings.fitted import FitFirst
from lbg_recsys.ratings.ids import UNKNOWN, RawId, plain_ids
from lbg_recsys.ratings.matrix import RatingMatrix, items_alone, one_chooser, one_user
from lbg_recsys.ratings.questions.lists import (
    POOL,
    candidates,
    empty_lists,
    may_be_best,
    ranks,
    table_of_lists,
)
from lbg_recsys.ratings.questions.recommender import Recommender, RecommenderOfOne, Wishes
from lbg_recsys.ratings.questions.showing import ShownModel, titled
from lbg_recsys.ratings.settings import ChoiceSettings
from lbg_recsys.ratings.source import is_source
from lbg_recsys.ratings.tables import columns_of, is_series, is_table

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings.questions.similar import Similar

# Numbers of a table of scores held at once: 16 MB.
_BLOCK_NUMBERS = 1 << 22
_UNRATED = (
    "a ChoiceModel knows what people take, not how they rate it: for predictions, fit a BayesianLBGModel to ratings"
)


class ChoiceModel(Recommender, ShownModel, ChoiceSettings, FitFirst):
    """A recommender for clicks, purchases and other choices without ratings.

    A user's score for an item is the best linear prediction of that cell of the users x items matrix from the items
    that the user took (`lbg_recsys.core.choice`): EASE (Steck 2019) with weights of the users and, if there are
    ratings, graded input. There is nothing random in it.

    Attributes
    ----------
    matrix : RatingMatrix
        Who took what.
    n_repeated_ : int
        How many rows of the input repeated a (user, item) pair.

    Examples
    --------
    >>> clicks = (["ann", "ann", "bob", "bob", "cid"], ["tea", "pot", "tea", "pot", "tea"])
    >>> model = ChoiceModel(penalty=1).fit(clicks)
    >>> model.recommend("cid")["item"].tolist()
    ['pot']
    >>> model.explain("cid", "pot").because[0].item
    'tea'
    """

    MADE_BY_FIT = ("matrix", "n_repeated_", "_held")
    RANKED_BY = "rated"

    matrix: RatingMatrix
    titles: Mapping[RawId, str] = MappingProxyType({})
    versions: Mapping[str, str] = MappingProxyType({})  # of the libraries that the model file was written with
    _held: Choices | None
    _is_new = False  # whether the users are new: a view that `fold_in` makes

    # -- fitting -------------------------------------------------------------------------------------------------

    def fit(self, choices: Any, *, progress: Progress = silent) -> "ChoiceModel":
        """Fit to a table of choices.

        Parameters
        ----------
        choices : DataFrame, tuple of (users, items), sparse matrix or RatingMatrix
            One row per choice. The columns user and item of a table (pandas, polars, Arrow) are found by name, see
            `RatingMatrix.from_frame`; if no column has a known name and there are two, they are these. The rows of a
            scipy matrix are users, its columns items, what it stores are counts. Rows that repeat a pair count once,
            and so does a pair with a ``count`` above 1: only who took what is used, not how often. Counts must be
            whole numbers of at least 1. A column ``rating`` grades the choices (see ``grade``); if all ratings are
            equal, a warning says that they are not used.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every step: the choices are read, then the scores solved.

        Returns
        -------
        ChoiceModel
            The fitted model itself.

        Raises
        ------
        DataError
            If there are no choices, an id is missing, or a count is not a whole number of at least 1.

        Examples
        --------
        >>> model = ChoiceModel(penalty=1).fit((["a", "a", "b", "b", "b"], ["x", "y", "x", "z", "z"]))
        >>> model.matrix.n_ratings, model.n_repeated_
        (4, 1)
        """
        self.check_settings()
        progress(0, 2, STARTING)
        # a matrix is solved with its users at hand; ratings elsewhere are summed in blocks before they are needed
        elsewhere = is_source(choices) and not isinstance(choices, RatingMatrix)
        inverse = inverse_of_blocks(choices, self) if elsewhere else None
        matrix = as_choices(choices)
        progress(1, 2, f"{matrix.n_users} users, {matrix.n_items} items")
        found = Choices.of(matrix, self, inverse)
        self._hold(matrix)
        self._held = found
        progress(2, 2, "solved")
        return self

    def _hold(self, matrix: RatingMatrix) -> None:
        self.matrix, self.n_repeated_, self._held = matrix, matrix.n_duplicates, None

    @property
    def _choices(self) -> Choices:
        """The scores; a model from a file computes them when they are first asked for."""
        if self._held is None:
            self._held = Choices.of(self.matrix, self)
        return self._held

    # -- lists ---------------------------------------------------------------------------------------------------

    def _lists(self, users: list[RawId], wishes: Wishes) -> Iterator["pd.DataFrame"]:
        by, liked, min_probability = wishes.by, wishes.liked, wishes.min_probability
        by_ratings = by not in (None, self.RANKED_BY)
        if by_ratings or liked is not None or min_probability:
            wish = f"{by=}" if by_ratings else f"{liked=}" if liked is not None else f"{min_probability=}"
            raise DataError(f"recommend({wish}) asks about ratings; {_UNRATED}")
        codes = np.array([self._user_code(one) for one in users], dtype=np.int64)
        allowed = candidates(self.matrix.items, wishes.items, wishes.exclude)
        size = max(1, _BLOCK_NUMBERS // self.matrix.n_items)
        return (
            self._block(codes[first : first + size], wishes, allowed) for first in range(0, max(len(codes), 1), size)
        )

    def _block(self, users: Ints, wishes: Wishes, allowed: Bools | None) -> "pd.DataFrame":
        n, diversity = wishes.n, wishes.diversity
        if not len(users):
            return empty_lists("user", "rank", "item", "score")
        scores = self._choices.scores(self.matrix, users, new=self._is_new)
        if allowed is not None:
            scores[:, ~allowed] = -np.inf
        if wishes.exclude_seen:
            hide_seen(scores, self.matrix, users)
        row, item = may_be_best(scores, n * POOL if diversity else n)
        score = scores[row, item]
        order = np.lexsort((item, -score, row))
        row, item, score = row[order], item[order], score[order]
        if diversity:
            kept = diversified_rows(self._choices, row, item, score, n, diversity)
            row, item, score = row[kept], item[kept], score[kept]
        rank = ranks(row)
        keep = rank < n
        return table_of_lists(
            self.titles,
            user=self.matrix.users.raws(users[row[keep]]),
            rank=rank[keep] + 1,
            item=self.matrix.items.raws(item[keep]),
            score=score[keep],
        )

    def fold_in(self, items: Any) -> "FoldedChooser":
        """A new user, known only by the items that this user took. Nothing is fitted, and the model does not change.

        Parameters
        ----------
        items : list of item ids, mapping or Series of ratings by item, or table with item and perhaps rating
            Unknown items are left out with a warning that names them. Ratings must be on the scale of the model. A
            model that was fitted without ratings does not use them, and a warning says so; it takes no Series.

        Returns
        -------
        FoldedChooser
            With `recommend` and `explain`, as the model has them for the users that it was fitted to.

        Raises
        ------
        DataError
            If ``items`` cannot be read, or a rating is off the scale.

        Examples
        --------
        >>> model = ChoiceModel(penalty=1).fit((["a", "a", "b", "b"], ["x", "y", "x", "z"]))
        >>> model.fold_in(["y"]).recommend(1)["item"].tolist()
        ['x']
        """
        index, scale = self.matrix.items, self.matrix.scale
        if isinstance(items, (str, bytes)) or not (is_table(items) or isinstance(items, Iterable)):
            raise DataError(f"the items of a new user are {items!r}: give a list of item ids")
        taken = items_alone(items)
        if taken is None and len(scale.levels) == 1:
            if is_series(items):
                raise DataError(
                    "a Series may hold the items or have them as its index, and the model was fitted to choices "
                    "without ratings: give a list of items, series.tolist() or series.index.tolist()"
                )
            taken = list(items) if isinstance(items, Mapping) else list(plain_ids(columns_of(items, ["item"], "")[0]))
            warnings.warn(
                "the model was fitted to choices without ratings: only which items are named counts, not how the new "
                "user rated them",
                UserWarning,
                stacklevel=2,
            )
        view = ChoiceModel(**self.get_params())
        view._hold(one_user(items, index, scale) if taken is None else one_chooser(taken, index, scale))
        view._held, view.titles, view._is_new = self._choices, self.titles, True
        return FoldedChooser(view)

    def without_users(self) -> "ChoiceModel":
        """A model that holds no user and no choice, and serves new users by `fold_in`; see docs/model-files.md.

        Returns
        -------
        ChoiceModel
            A new model; this one does not change.

        Examples
        --------
        >>> model = ChoiceModel(penalty=1).fit((["a", "a", "b", "b"], ["x", "y", "x", "z"])).without_users()
        >>> list(model.matrix.users), model.fold_in(["y"]).recommend(1)["item"].tolist()
        ([], ['x'])
        """
        view = ChoiceModel(**self.get_params())
        view._hold(self.matrix.without_users(self._choices.kept()))
        view.titles, view.versions = dict(self.titles), dict(self.versions)
        return view

    # -- looking inside ------------------------------------------------------------------------------------------

    def similar_items(self, item: RawId, n: int = 10) -> "Similar":
        """Find the items most similar to an item: those that the same people take.

        Parameters
        ----------
        item : id
            A known item.
        n : int, default=10
            Items to return.

        Returns
        -------
        Similar
            A list of (item, similarity) pairs, the most similar first. The similarity is a cosine from 0 to 1; rarely
            taken items get low similarities.

        Examples
        --------
        >>> model = ChoiceModel(penalty=1).fit((["a", "a", "b", "b", "c"], ["x", "y", "x", "y", "z"]))
        >>> model.similar_items("x", n=1)[0][0]
        'y'
        """
        from lbg_recsys.ratings.questions.similar import Similar

        check_integer("n", n, 1)
        own = self._item_code(item)
        score = self._choices.similarity(np.array([own]))[0]
        order = np.argsort(-score, kind="stable")
        found = [(self.matrix.items.raw(code), float(score[code])) for code in order[order != own][:n].tolist()]
        return Similar("item", found, self.titles)

    def explain(self, user: RawId, item: RawId) -> ChoiceExplanation:
        """Explain a recommendation by the items that the user took.

        Parameters
        ----------
        user : id
            A known user.
        item : id
            A known item.

        Returns
        -------
        ChoiceExplanation
            The exact contribution of each of the user's items to the choice score; they add up to it.

        Examples
        --------
        >>> model = ChoiceModel(penalty=1).fit((["a", "a", "b", "b", "c"], ["x", "y", "x", "y", "x"]))
        >>> [one.item for one in model.explain("c", "y").because]
        ['x']
        """
        has_ratings = len(self.matrix.scale.levels) > 1
        found = self._choices.explain(
            self.matrix, self._user_code(user), self._item_code(item), ratings=has_ratings, new=self._is_new
        )
        return titled(replace(found, score=found.choice_score), self.titles)

    # -- questions that only ratings answer ----------------------------------------------------------------------

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Raise `DataError`: a model of choices predicts no ratings.

        Raises
        ------
        DataError
            Always.

        Examples
        --------
        >>> ChoiceModel().predict_batch([("a", "x")])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        lbg_recsys.errors.DataError: a ChoiceModel knows what people take, not how they rate it: ...
        """
        raise DataError(_UNRATED)

    predict_batch = predict_distribution = interval = _refuse

    # -- codes ---------------------------------------------------------------------------------------------------

    def _user_code(self, user: RawId) -> int:
        code = self.matrix.users.code(user)
        if code == UNKNOWN:
            saved_without = "" if self.matrix.left_out is None else "it was saved without its users; "
            raise DataError(
                f"the user {user!r} ({type(user).__name__}) is unknown to the model: {saved_without}"
                "fold_in([item, ...]) takes new users"
            )
        return code

    def _item_code(self, item: RawId) -> int:
        code = self.matrix.items.code(item)
        if code == UNKNOWN:
            raise DataError(
                f"the item {item!r} ({type(item).__name__}) is unknown to the model: fit with choices of it"
            )
        return code


class FoldedChooser(RecommenderOfOne):
    """The lists and explanations of a model for one new user; `ChoiceModel.fold_in` returns it.

    Parameters
    ----------
    view : ChoiceModel
        The model with the new user as its only one.

    Examples
    --------
    >>> from lbg_recsys import ChoiceModel
    >>> model = ChoiceModel().fit((["ann", "ann", "bob"], ["x", "y", "x"]))
    >>> model.fold_in(["x"]).recommend()["item"].tolist()
    ['y']
    """

    _view: ChoiceModel

    def __init__(self, view: ChoiceModel) -> None:
        self._view = view
        self._id = view.matrix.users.raw(0)

    def explain(self, item: RawId) -> ChoiceExplanation:
        """Explain a recommendation by the items that the new user took.

        Parameters
        ----------
        item : id
            A known item.

        Returns
        -------
        ChoiceExplanation
            As of `ChoiceModel.explain`.

        Examples
        --------
        >>> from lbg_recsys import ChoiceModel
        >>> model = ChoiceModel().fit((["ann", "ann", "bob"], ["x", "y", "x"]))
        >>> [one.item for one in model.fold_in(["x"]).explain("y").because]
        ['x']
        """
        return self._view.explain(self._id, item)
