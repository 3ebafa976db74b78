"""Choice scores of the users of a matrix, trained or new: what lists, explanations and similar items are made of."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy.sparse as sp

from lbg_recsys.core import choice
from lbg_recsys.core.few_items import FewItems, weight_of_few
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.together import ByPairs, ByUsers
from lbg_recsys.core.types import Array, Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.crowd import KeptChoices
from lbg_recsys.ratings.ids import UNKNOWN, RawId
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.questions.lists import diversified
from lbg_recsys.ratings.questions.showing import SHOWN, frame_of, heading_html, item_of, name_of, pair_of, table_html
from lbg_recsys.ratings.settings import ChoiceSettings
from lbg_recsys.ratings.source import RatingSource

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

# Beside a rating model: the power of the probability of a liked rating, and the least score that it multiplies.
CHOICE_LIKED_POWER, LEAST_SCORE = 0.5, 1e-9
# The weight of the average user's cells beside those of a user with n items is this / (1 + n).
AVERAGE = 0.1


@dataclass(frozen=True)
class ChoiceEvidence:
    """What one of the user's items adds to a choice score; ``rating`` is None if there are no ratings."""

    item: RawId
    rating: float | None
    contribution: float
    title: str | None = None


@dataclass(frozen=True, repr=False)
class ChoiceExplanation:
    """A choice score taken apart: ``from_popularity`` plus the contributions in ``because``, the largest first.

    ``from_popularity`` is how often everybody takes the item, with a weight that decreases with the number of the
    user's items. It is the whole score of a user without any known item.

    ``score`` is the score of the item in the user's list, as `recommend` has it by default: the choice score of a
    `ChoiceModel`; of a rating model the choice score is one of its two factors. It is None as a part of another
    explanation, which has it.
    """

    user: RawId
    item: RawId
    choice_score: float
    from_popularity: float
    because: tuple[ChoiceEvidence, ...]
    score: float | None = None
    title: str | None = None

    @property
    def seen(self) -> bool:
        """Whether the user has rated or taken the item already."""
        return any(one.item == self.item for one in self.because)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: user {self.user!r}, item {item_of(self)}, "
            f"choice score {self.choice_score:.4f}; print() shows the reasons>"
        )

    def __str__(self) -> str:
        score = f"{pair_of(self)}: choice score {self.choice_score:.4f}"
        if not self.because:
            return f"{score}, because of how many users take it"
        verb = "took" if all(one.rating is None for one in self.because) else "rated"
        told = [f"The user {verb} this item already"] if self.seen else []
        return "\n".join([f"{score}, because the user {verb}", *self.reasons(), *told])

    def reasons(self) -> list[str]:
        """A line per contribution to the choice score, the smaller ones in one; they add up to it."""
        lines = []
        for one in self.because[:SHOWN]:
            rating = "" if one.rating is None else f" {one.rating:g}"
            lines.append(f"  {name_of(one)}{rating}: {one.contribution:+.4f}")
        if rest := self.because[SHOWN:]:
            lines.append(f"  {len(rest)} more: {sum(one.contribution for one in rest):+.4f}")
        return [*lines, f"and because of how many users take it: {self.from_popularity:+.4f}"]

    def to_frame(self) -> "pd.DataFrame":
        """The contributions as a table: a row per item of the user, the largest first."""
        table = frame_of(self.because)
        return table.drop(columns="rating") if all(one.rating is None for one in self.because) else table

    def _repr_html_(self) -> str:
        in_lists = "" if self.score in (None, self.choice_score) else f", list score {self.score:.4f}"
        heading = f"{pair_of(self)}: choice score {self.choice_score:.4f}{in_lists}"
        return heading_html(heading) + table_html(self.to_frame())


@dataclass(frozen=True)
class Choices:
    """The choice scores of users over the items of a matrix; see `lbg_recsys.core.choice`.

    Users are rows of any matrix over the same items. The rows of the training are complete: what is not there was
    refused. Those of new users may be the beginning of longer ones.

    Attributes
    ----------
    liked, grade : float
        The lowest rating that is liked, and the cell of one that is not.
    inverse : Inverse
        Sigma^-1.
    together : ByUsers or ByPairs
        Y'Y, by the users of the training or without them.
    penalty, norm, average : array of shape (items,)
        What is added to the diagonal of Y'Y, the square root of the sum, and the cells of the average user.
    """

    liked: float
    grade: float
    inverse: choice.Inverse
    together: ByUsers | ByPairs
    penalty: Floats
    norm: Floats
    average: Floats

    @classmethod
    def of(
        cls, training: RatingMatrix, settings: ChoiceSettings | None = None, inverse: choice.Inverse | None = None
    ) -> "Choices":
        """From the users of the training, or from what a model that was saved without them keeps.

        ``inverse`` is given if it was computed before, as by `inverse_of_blocks`.

        Raises
        ------
        DataError
            If the penalty is too small for the matrix to be inverted.
        """
        settings = ChoiceSettings() if settings is None else settings
        liked = training.scale.liked
        if training.left_out is not None and training.left_out.choices is not None:
            kept, taken = training.left_out.choices, training.left_out.per_item
            inverse = _solved(choice.solve_pairs, kept.together.pairs, kept.penalty, taken, limit=settings.limit)
            square = kept.together.pairs.diagonal().astype(np.float64) + kept.penalty
            return cls(liked, kept.grade, inverse, kept.together, kept.penalty, np.sqrt(square), kept.average)
        x = _cells(training, liked, settings.grade)
        weight = choice.user_weights(np.diff(x.indptr), settings.user_power)
        penalty = choice.penalties(x, settings.penalty, settings.item_power)
        if inverse is None:
            inverse = _solved(choice.solve, x, weight, penalty, limit=settings.limit)
        y = sp.csr_array(choice.diagonal(np.sqrt(weight)) @ x)
        norm = np.sqrt(np.bincount(y.indices, np.square(y.data), x.shape[1]) + penalty)
        average = np.asarray(weight @ x) / max(float(weight.sum()), 1e-300)
        together = ByUsers(y.astype(np.float32).tocsc())
        return cls(liked, settings.grade, inverse, together, penalty, norm, average)

    def kept(self) -> KeptChoices:
        """What scores of new users need: sums over the users of the training."""
        together = self.together.by_pairs() if isinstance(self.together, ByUsers) else self.together
        return KeptChoices(self.grade, together, self.penalty, self.average)

    def cells(self, matrix: RatingMatrix, users: Ints | None = None) -> sp.csr_array:
        """The cells X of some users (all if None): 1 for a liked item, ``grade`` for another one that was rated."""
        return _cells(matrix, self.liked, self.grade, users)

    def scores(self, matrix: RatingMatrix, users: Ints, *, new: bool = False) -> Floats:
        """The scores of all items for some users, (users, items); -1 as a user is one of whom nothing is known.

        ``new`` users are scored in part by their items alone, with more weight the fewer items they have (see
        `lbg_recsys.core.few_items`). The average user's cells, with a small weight that decreases with the number of
        items, are added: they are the score of a user without any item.
        """
        known = np.flatnonzero(users != UNKNOWN)
        x = self.cells(matrix, users[known])
        n_items = np.zeros(len(users))
        n_items[known] = np.diff(x.indptr)
        found = _average_weight(n_items)[:, np.newaxis] * self.average
        by_items = choice.scores(self.inverse, x)
        found[known] += self._with_few(x, by_items) if new else by_items
        return found

    def _with_few(self, x: sp.csr_array, found: Array) -> Floats:
        """Scores (users, items) of users with the rows ``x``, of which ``found`` are those by all their cells."""
        mixed: Floats = found.astype(np.float64)
        for user, few in enumerate(self._few(x)):
            if weight := weight_of_few(len(few.items)):
                mixed[user] += weight * (_solved(few.scores) - mixed[user])
                mixed[user, few.items] = found[user, few.items]  # predicted from the user's other items
        return mixed

    def _few(self, x: sp.csr_array) -> Iterator[FewItems]:
        """What is needed to score each of some users by its own items alone."""
        for first, last in itertools.pairwise(x.indptr.tolist()):
            own = x.indices[first:last].astype(np.int64)
            yield FewItems(own, x.data[first:last], self.together, np.square(self.norm[own]))

    def contributions(self, matrix: RatingMatrix, user: int, item: int, *, new: bool = False) -> Floats:
        """What each of a user's items, in the order of the matrix, adds to the score of one item."""
        x = self.cells(matrix, np.array([user]))
        items = x.indices.astype(np.int64)
        parts = choice.contributions(self.inverse, items, x.data, item)
        weight = weight_of_few(len(items)) if new else 0.0
        if not weight or item in items:
            return parts
        return np.asarray(parts + weight * (_solved(next(self._few(x)).contributions, item) - parts))

    def explain(
        self, matrix: RatingMatrix, user: int, item: int, *, ratings: bool, new: bool = False
    ) -> ChoiceExplanation:
        """The score of a pair of codes with the contributions of the user's items."""
        parts, own = self.contributions(matrix, user, item, new=new), matrix.rows.part(user, user + 1)
        items, values = matrix.items.raws(own.columns), own.values.tolist()
        because = tuple(
            ChoiceEvidence(items[place], values[place] if ratings else None, float(parts[place]))
            for place in np.argsort(-parts, kind="stable").tolist()
        )
        average = float(_average_weight(np.array([len(because)]))[0] * self.average[item])
        score = float(parts.sum()) + average
        return ChoiceExplanation(matrix.users.raw(user), matrix.items.raw(item), score, average, because)

    def similarity(self, items: Ints, others: Ints | None = None) -> Floats:
        """How alike items are in who takes them, (items, others or all): the cosine of their columns, damped.

        Sigma_ij / (Sigma_ii Sigma_jj)^1/2: the penalty in the diagonal gives rarely taken items low similarities.
        An item's similarity with itself is 1.
        """
        others = np.arange(len(self.norm)) if others is None else others
        met = self.together.between(items, others)
        met /= self.norm[items][:, np.newaxis] * self.norm[others]
        met[items[:, np.newaxis] == others] = 1.0
        return np.asarray(met)

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return self.inverse.nbytes + self.together.nbytes


def _cells(matrix: RatingMatrix, liked: float, grade: float, users: Ints | None = None) -> sp.csr_array:
    rows = matrix.rows if users is None else matrix.rows.take(users)
    cells = choice.graded(rows.values, liked - matrix.scale.tolerance, grade)
    return sp.csr_array((cells, rows.columns, rows.indptr), shape=(len(rows), rows.n_columns))


def _solved(solve: Callable[..., T], *given: Any, **options: Any) -> T:
    """The solution of a linear system; `DataError` if it has none."""
    try:
        return solve(*given, **options)
    except np.linalg.LinAlgError as error:
        raise DataError(f"the choice scores cannot be computed: {error}") from error


def inverse_of_blocks(source: RatingSource, settings: ChoiceSettings) -> choice.Inverse | None:
    """The inverse from blocks of users, wherever they are; None if one user or item too many makes another form.

    In one process the sums are added as by `Choices.of`: the bits are the same.
    """
    rows = source.blocks()
    lengths = np.concatenate(list(rows.fetch(rows.map(_lengths))))
    if not choice.is_item_side(lengths, rows.n_columns, settings.limit):
        return None
    cells_of = partial(choice.graded, liked=source.scale.liked - source.scale.tolerance, grade=settings.grade)
    weights = np.split(choice.user_weights(lengths, settings.user_power), np.cumsum(rows.n_rows)[:-1])
    *counts, squares = rows.total(partial(_taken, cells_of=cells_of))
    penalty = choice.penalties_by(np.array(counts), squares, settings.penalty, settings.item_power)
    add_gram = partial(_add_gram, cells_of=cells_of)
    return _solved(choice.solve_items, lambda out: rows.accumulate(add_gram, out, weights), penalty)


def _lengths(rows: SparseRows) -> Ints:
    return rows.lengths


def _taken(rows: SparseRows, cells_of: Callable[[Floats], Floats]) -> Floats:
    """How often each item was taken, and at the end the sum of the squares of all cells."""
    return np.append(rows.column_counts(), np.square(cells_of(rows.values)).sum())


def _add_gram(rows: SparseRows, weight: Floats, out: Array, cells_of: Callable[[Floats], Floats]) -> None:
    cells = np.sqrt(weight)[rows.row_of_entry()] * cells_of(rows.values)
    choice.gram(rows.indptr, rows.columns, cells, out)


def _average_weight(n_items: Floats | Ints) -> Floats:
    """The weight of the average user's cells in the score of users with these numbers of items."""
    return np.asarray(np.where(n_items > 0, AVERAGE / (1.0 + n_items), 1.0))


def hide_seen(scores: Floats, matrix: RatingMatrix, users: Ints) -> None:
    """Set the scores (users, items) of the items that each user has already to minus infinity."""
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
