"""What people take: alone, for clicks and purchases, and beside a rating model, for its lists."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp

from lbg_recsys.checks import check_flag, check_integer, check_share
from lbg_recsys.core import choice
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.clicks import as_choices
from lbg_recsys.ratings.fitted import FitFirst
from lbg_recsys.ratings.ids import UNKNOWN, RawId, is_many, plain_ids
from lbg_recsys.ratings.matrix import RatingMatrix, one_user, ratings_by_id
from lbg_recsys.ratings.questions.lists import POOL, candidates, diversified, empty_lists, may_be_best, ranks
from lbg_recsys.ratings.settings import ChoiceSettings
from lbg_recsys.ratings.tables import columns_of, is_table

if TYPE_CHECKING:
    import pandas as pd

# Beside a rating model: the power of the probability of a liked rating, and the least score that it multiplies.
CHOICE_LIKED_POWER, LEAST_SCORE = 0.5, 1e-9
# The weight of the average user's cells beside those of a user with n items is this / (1 + n).
_AVERAGE = 0.1
# Numbers of a table of scores held at once: 16 MB.
_BLOCK_NUMBERS = 1 << 22


@dataclass(frozen=True)
class ChoiceEvidence:
    """What one of the user's items adds to a choice score; ``rating`` is None if there are no ratings."""

    item: RawId
    rating: float | None
    contribution: float


@dataclass(frozen=True)
class ChoiceExplanation:
    """A choice score taken apart: ``from_average`` plus the contributions in ``because``, the largest first.

    ``from_average`` is how often everybody takes the item, with a weight that decreases with the number of the
    user's items. It is the whole score of a user without any known item.
    """

    user: RawId
    item: RawId
    score: float
    from_average: float
    because: tuple[ChoiceEvidence, ...]


class Choices:
    """The choice scores of users over the items of a matrix; see `lbg_recsys.core.choice`.

    Users are rows of any matrix over the same items, so those of the training and new ones are treated alike.
    """

    def __init__(self, training: RatingMatrix, settings: ChoiceSettings | None = None) -> None:
        settings = ChoiceSettings() if settings is None else settings
        self.liked, self.grade = training.scale.liked, settings.grade
        x = self.cells(training)
        weight = choice.user_weights(np.diff(x.indptr), settings.user_power)
        ridge = choice.penalties(x, settings.penalty, settings.item_power)
        self.inverse = choice.solve(x, weight, ridge, limit=settings.limit)
        weighted = sp.csr_array(sp.diags_array(np.sqrt(weight)) @ x)
        self._columns = weighted.astype(np.float32).tocsc()
        self._norm = np.sqrt(np.bincount(weighted.indices, np.square(weighted.data), x.shape[1]) + ridge)
        self._average = np.asarray(weight @ x) / max(float(weight.sum()), 1e-300)

    def cells(self, matrix: RatingMatrix, users: Ints | None = None) -> sp.csr_array:
        """The cells X of some users (all if None): 1 for a liked item, ``grade`` for another one that was rated."""
        rows = matrix.rows if users is None else matrix.rows.take(users)
        cells = choice.graded(rows.values, self.liked - matrix.scale.tolerance, self.grade)
        return sp.csr_array((cells, rows.columns, rows.indptr), shape=(len(rows), rows.n_columns))

    def scores(self, matrix: RatingMatrix, users: Ints) -> Floats:
        """The scores of all items for some users, (users, items); -1 as a user is one of whom nothing is known.

        Users with fewer than `choice.MANY` items are scored in part by what these items alone predict, the more so
        the fewer there are. The average user's cells, with a small weight that decreases with the number of items,
        are added: they are the score of a user without any item.
        """
        known = users != UNKNOWN
        x = self.cells(matrix, users[known])
        found = np.empty((len(users), matrix.n_items))
        found[known] = self._by_items(x)
        n_items = np.zeros(len(users))
        n_items[known] = np.diff(x.indptr)
        found[~known] = 0.0
        return found + _average_weight(n_items)[:, np.newaxis] * self._average

    def _by_items(self, x: sp.csr_array) -> Floats:
        """The scores that the users' items give, (users, items)."""
        found = choice.scores(self.inverse, x).astype(np.float64)
        counts = np.diff(x.indptr)
        weight = choice.weight_of_few(counts)
        short = np.flatnonzero((counts > 0) & (weight > 0))
        size = max(1, _BLOCK_NUMBERS // (choice.MANY * x.shape[1]))
        for first in range(0, len(short), size):
            for user, few in zip(block := short[first : first + size], self._few(x[block]), strict=True):
                mixed = weight[user] * few.scores() + (1.0 - weight[user]) * found[user]
                mixed[few.items] = found[user, few.items]  # predicted from the user's other items
                found[user] = mixed
        return found

    def _few(self, x: sp.csr_array) -> Iterator[choice.FewItems]:
        """What is needed to score each of some users by its own items alone."""
        items, row = np.unique(x.indices, return_inverse=True)
        gram = (self._columns[:, items].T @ self._columns).toarray()
        for first, last in itertools.pairwise(x.indptr.tolist()):
            own = x.indices[first:last].astype(np.int64)
            yield choice.FewItems(own, x.data[first:last], gram[row[first:last]], np.square(self._norm[own]))

    def contributions(self, matrix: RatingMatrix, user: int, item: int) -> Floats:
        """What each of a user's items, in the order of the matrix, adds to the score of one item."""
        x = self.cells(matrix, np.array([user]))
        items = x.indices.astype(np.int64)
        parts = choice.contributions(self.inverse, items, x.data, item)
        weight = float(choice.weight_of_few(np.array([len(items)]))[0])
        if not len(items) or not weight or item in items:
            return parts
        return np.asarray(weight * next(self._few(x)).contributions(item) + (1.0 - weight) * parts)

    def explain(self, matrix: RatingMatrix, user: int, item: int, *, ratings: bool) -> ChoiceExplanation:
        """The score of a pair of codes with the contributions of the user's items."""
        parts, own = self.contributions(matrix, user, item), matrix.rows.part(user, user + 1)
        items, values = matrix.items.raws(own.columns), own.values.tolist()
        because = tuple(
            ChoiceEvidence(items[place], values[place] if ratings else None, float(parts[place]))
            for place in np.argsort(-parts, kind="stable").tolist()
        )
        average = float(_average_weight(np.array([len(because)]))[0] * self._average[item])
        score = float(parts.sum()) + average
        return ChoiceExplanation(matrix.users.raw(user), matrix.items.raw(item), score, average, because)

    def similarity(self, items: Ints, others: Ints | None = None) -> Floats:
        """How alike items are in who takes them, (items, others or all): the cosine of their columns, damped.

        Sigma_ij / (Sigma_ii Sigma_jj)^1/2: the penalty in the diagonal gives rarely taken items low similarities.
        An item's similarity with itself is 1.
        """
        others = np.arange(len(self._norm)) if others is None else others
        met = (self._columns[:, items].T @ self._columns[:, others]).toarray().astype(np.float64)
        met /= self._norm[items][:, np.newaxis] * self._norm[others]
        met[items[:, np.newaxis] == others] = 1.0
        return np.asarray(met)

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return self.inverse.nbytes + int(self._columns.data.nbytes + self._columns.indices.nbytes)


class ChoiceModel(ChoiceSettings, FitFirst):
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

    matrix: RatingMatrix
    titles: Mapping[RawId, str] = MappingProxyType({})
    versions: Mapping[str, str] = MappingProxyType({})  # of the libraries that the model file was written with
    _held: Choices | None

    # -- fitting -------------------------------------------------------------------------------------------------

    def fit(self, choices: Any) -> "ChoiceModel":
        """Fit to a table of choices.

        Parameters
        ----------
        choices : DataFrame, tuple of (users, items), sparse matrix or RatingMatrix
            One row per choice. The columns user and item of a table (pandas, polars, Arrow) are found by name, see
            `RatingMatrix.from_frame`; if no column has a known name and there are two, they are these. The rows of a
            scipy matrix are users, its columns items, what it stores are ratings. Rows that repeat a pair count once,
            and so does a pair with a column ``count`` above 1: only who took what is used, not how often. Counts must
            be whole numbers of at least 1. A column ``rating`` grades the choices (see ``grade``); if all ratings are
            equal, a warning says that they are not used.

        Returns
        -------
        ChoiceModel
            The fitted model itself.

        Raises
        ------
        DataError
            If there are no choices, an id is missing, or a count is not a whole number of at least 1.
        """
        self.check_settings()
        matrix = as_choices(choices)
        found = Choices(matrix, self)
        self._hold(matrix)
        self._held = found
        return self

    def _hold(self, matrix: RatingMatrix) -> None:
        self.matrix, self.n_repeated_, self._held = matrix, matrix.n_duplicates, None

    @property
    def _choices(self) -> Choices:
        """The scores; a model from a file computes them when they are first asked for."""
        if self._held is None:
            self._held = Choices(self.matrix, self)
        return self._held

    # -- lists ---------------------------------------------------------------------------------------------------

    def recommend(
        self,
        user: Any,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        items: Iterable[RawId] | None = None,
        exclude: Iterable[RawId] | None = None,
        diversity: float = 0.0,
    ) -> "pd.DataFrame":
        """The best ``n`` items for one user or for many.

        Parameters
        ----------
        user : id or list of ids
            A list, an array, a Series or a generator is many users; anything else, a tuple too, is one id.
        n : int, default=10
            Items per list. A list is shorter if fewer items are left.
        exclude_seen : bool, default=True
            Leave out the items that the user has taken.
        items, exclude : list of item ids, default=None
            Recommend only ``items``, and none of ``exclude``. A warning names unknown ids.
        diversity : float, default=0
            From 0 (none) to below 1: re-rank by maximal marginal relevance, so that items taken by the same people
            do not stand in the same list.

        Returns
        -------
        DataFrame
            Columns user, rank, item, score. The score ranks; it is not a probability.

        Raises
        ------
        DataError
            If a user is unknown or no item is left to recommend.
        """
        import pandas as pd

        users = plain_ids(user) if is_many(user) else [user]
        blocks = self.recommend_blocks(
            users, n, exclude_seen=exclude_seen, items=items, exclude=exclude, diversity=diversity
        )
        tables = list(blocks)
        return pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]

    def recommend_blocks(
        self,
        users: Iterable[RawId],
        n: int = 10,
        *,
        exclude_seen: bool = True,
        items: Iterable[RawId] | None = None,
        exclude: Iterable[RawId] | None = None,
        diversity: float = 0.0,
    ) -> Iterator["pd.DataFrame"]:
        """`recommend` in blocks of users, each of bounded memory: for all users of a large model."""
        check_integer("n", n, 1)
        check_flag("exclude_seen", exclude_seen)
        check_share("diversity", diversity)
        codes = np.array([self._user_code(one) for one in users], dtype=np.int64)
        allowed = candidates(self.matrix.items, items, exclude)
        size = max(1, _BLOCK_NUMBERS // self.matrix.n_items)
        return (
            self._block(codes[first : first + size], n, exclude_seen, allowed, diversity)
            for first in range(0, max(len(codes), 1), size)
        )

    def _block(self, users: Ints, n: int, exclude_seen: bool, allowed: Any, diversity: float) -> "pd.DataFrame":
        import pandas as pd

        if not len(users):
            return empty_lists("user", "rank", "item", "score")
        scores = self._choices.scores(self.matrix, users)
        if allowed is not None:
            scores[:, ~allowed] = -np.inf
        if exclude_seen:
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
        return pd.DataFrame(
            {
                "user": self.matrix.users.raws(users[row[keep]]),
                "rank": rank[keep] + 1,
                "item": self.matrix.items.raws(item[keep]),
                "score": score[keep],
            }
        )

    def fold_in(self, items: Any) -> "FoldedChooser":
        """A new user from nothing but the items that this user took: no refit, the model does not change.

        Parameters
        ----------
        items : list of item ids, mapping of item ids to ratings, or table with item and perhaps rating
            Unknown items are left out with a warning that names them. Ratings are for a model that was fitted to
            ratings; they must be on its scale.

        Returns
        -------
        FoldedChooser
            With `recommend` and `explain`, as the model has them for the users that it was fitted to.

        Examples
        --------
        >>> model = ChoiceModel(penalty=1).fit((["a", "a", "b", "b"], ["x", "y", "x", "z"]))
        >>> model.fold_in(["y"]).recommend(1)["item"].tolist()
        ['x']
        """
        if is_table(items):
            taken, ratings = columns_of(items, ["item"], "the items of a new user", optional=["rating"])
            items = plain_ids(taken) if ratings is None else ratings_by_id(plain_ids(taken), plain_ids(ratings))
        if not isinstance(items, Mapping):
            if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
                raise DataError(f"the items of a new user are {items!r}: give a list of item ids")
            items = dict.fromkeys(plain_ids(items), self.matrix.scale.upper)
        view = ChoiceModel(**self.get_params())
        view._hold(one_user(items, self.matrix.items, self.matrix.scale))
        view._held, view.titles = self._choices, self.titles
        return FoldedChooser(view)

    # -- looking inside ------------------------------------------------------------------------------------------

    def similar_items(self, item: RawId, n: int = 10) -> list[tuple[RawId, float]]:
        """The ``n`` items taken most by the same people, with their similarity from 0 to 1.

        The similarity is a cosine; rarely taken items get low ones.
        """
        check_integer("n", n, 1)
        own = self._item_code(item)
        score = self._choices.similarity(np.array([own]))[0]
        order = np.argsort(-score, kind="stable")
        return [(self.matrix.items.raw(code), float(score[code])) for code in order[order != own][:n].tolist()]

    def explain(self, user: RawId, item: RawId) -> ChoiceExplanation:
        """Because of which items of the user's this one is recommended: exact contributions to its score."""
        has_ratings = len(self.matrix.scale.levels) > 1
        return self._choices.explain(self.matrix, self._user_code(user), self._item_code(item), ratings=has_ratings)

    # -- questions that only ratings answer ----------------------------------------------------------------------

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise DataError(
            "a ChoiceModel knows what people take, not how they rate it: for predictions, fit a BayesianLBGModel to "
            "ratings"
        )

    predict_batch = predict_distribution = interval = _refuse

    # -- codes ---------------------------------------------------------------------------------------------------

    def _user_code(self, user: RawId) -> int:
        code = self.matrix.users.code(user)
        if code == UNKNOWN:
            raise DataError(
                f"the user {user!r} ({type(user).__name__}) is unknown to the model: "
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


class FoldedChooser:
    """What `ChoiceModel.fold_in` returns: the model seen by one new user."""

    def __init__(self, view: ChoiceModel) -> None:
        self._view = view
        self._id = view.matrix.users.raw(0)

    def recommend(
        self,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        items: Iterable[RawId] | None = None,
        exclude: Iterable[RawId] | None = None,
        diversity: float = 0.0,
    ) -> "pd.DataFrame":
        """The best items for this user; see `ChoiceModel.recommend`."""
        return self._view.recommend(
            self._id, n, exclude_seen=exclude_seen, items=items, exclude=exclude, diversity=diversity
        )

    def explain(self, item: RawId) -> ChoiceExplanation:
        """Because of which items this one is recommended; see `ChoiceModel.explain`."""
        return self._view.explain(self._id, item)


def _average_weight(n_items: Floats | Ints) -> Floats:
    """The weight of the average user's cells in the score of users with so many items."""
    return np.asarray(np.where(n_items > 0, _AVERAGE / (1.0 + n_items), 1.0))


def hide_seen(scores: Floats, matrix: RatingMatrix, users: Ints) -> None:
    """Set the scores (users, items) of what each user has already to minus infinity."""
    for place, user in enumerate(users):
        if user != UNKNOWN:
            scores[place, matrix.seen(user)] = -np.inf


def diversified_rows(choices: Choices, row: Ints, item: Ints, score: Floats, n: int, diversity: float) -> Ints:
    """Entries of lists re-ranked for diversity; the entries of a row stand together, the best first."""
    kept = []
    for first, last in _runs(row):
        pool = item[first:last]
        similarity = choices.similarity(pool, pool)
        kept.append(first + diversified(np.maximum(score[first:last], 0.0), similarity, n, diversity))
    return np.concatenate(kept) if kept else np.zeros(0, np.int64)


def _runs(row: Ints) -> Iterator[tuple[int, int]]:
    """Where each run of equal values begins and ends."""
    cuts = np.append(np.flatnonzero(np.append(True, row[1:] != row[:-1])), len(row)) if len(row) else np.zeros(1, int)
    return zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
