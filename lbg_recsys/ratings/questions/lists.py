"""Parts of a list that do not depend on the model: candidate items, the best of them, re-ranking for diversity."""

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.core.types import Array, Bools, Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.ids import IdIndex, RawId, is_many, plain_ids
from lbg_recsys.words import left_out, shown

if TYPE_CHECKING:
    import pandas as pd

# Items per place in the list that re-ranking for diversity chooses from.
POOL = 10


def candidates(
    index: IdIndex, items: Iterable[RawId] | None, exclude: Iterable[RawId] | None, featured: IdIndex | None = None
) -> Bools | None:
    """Which items may be in a list: those in ``items`` (all if None) that are not in ``exclude``; None for all.

    Ids that the model does not know cannot be in a list: a warning counts and names them. Nor can those that it knows
    by their features alone, which are among ``featured``: lists follow from who rates what.

    Raises
    ------
    DataError
        If no item is left.
    """
    if items is None and exclude is None:
        return None
    allowed = np.full(len(index), items is None)
    if items is not None:
        allowed[_known("items", index, items, featured)] = True
    if exclude is not None:
        allowed[_known("exclude", index, exclude, featured)] = False
    if not allowed.any():
        raise DataError("no item can be in the list: items= holds no known item that is not in exclude= as well")
    return allowed


def _known(name: str, index: IdIndex, given: Iterable[RawId], featured: IdIndex | None) -> Ints:
    """The codes of the known ids of an argument."""
    if not is_many(given) and (isinstance(given, (str, bytes)) or not isinstance(given, Iterable)):
        raise DataError(f"{name} is {given!r}: give a list of item ids")
    ids = list(plain_ids(given))
    codes = index.codes(ids)
    absent = [raw_id for raw_id, code in zip(ids, codes.tolist(), strict=True) if code < 0]
    unrated = [raw_id for raw_id in absent if featured is not None and raw_id in featured]
    unknown = [raw_id for raw_id in absent if raw_id not in unrated]
    only_elsewhere = "without ratings (only predict and explain take such items)"
    for some, why in ((unknown, "unknown to the model"), (unrated, only_elsewhere)):
        if some:
            said = left_out(len(some), f"{len(ids):,} ids in {name}=", shown(some), why)
            warnings.warn(said, UserWarning, stacklevel=4)
    return codes[codes >= 0]


def empty_lists(*columns: str) -> "pd.DataFrame":
    """The table of the lists of no users: these columns, and no rows."""
    from lbg_recsys.ratings.questions.frames import AnswerFrame

    kinds = {"user": object, "rank": np.int64, "item": object}
    return AnswerFrame({name: np.empty(0, kinds.get(name, np.float64)) for name in columns})


def table_of_lists(titles: Mapping[RawId, str], **columns: Any) -> "pd.DataFrame":
    """The table of lists, with the titles of the items beside them if there are titles; None where one has none."""
    import pandas as pd

    from lbg_recsys.ratings.questions.frames import AnswerFrame

    if titles:  # in its place from the start: inserting a column takes as long as making the table
        named = pd.Series([titles.get(item) for item in columns["item"]], dtype=object)
        before = list(columns)[: list(columns).index("item") + 1]
        columns = {name: columns[name] for name in before} | {"title": named} | columns
    return AnswerFrame(columns)


def may_be_best(scores: Array, n: int, close: float = 0.0) -> tuple[Ints, Ints]:
    """Rows and columns of all scores that may be among the ``n`` highest of their row, if each is off by ``close``.

    A score of minus infinity is that of an item that cannot be in the list.
    """
    may_be = scores > -np.inf
    if n < scores.shape[1]:
        least = np.partition(scores, scores.shape[1] - n, axis=1)[:, [scores.shape[1] - n]]
        may_be &= scores >= least - close
    row, column = np.nonzero(may_be)
    return row, column


def ranks(row: Ints) -> Ints:
    """The rank of each entry, from 0, within its row; equal rows stand together."""
    return np.arange(len(row)) - np.searchsorted(row, row)


def diversified(score: Floats, similarity: Floats, n: int, diversity: float) -> Ints:
    """Places of ``n`` items in the order of maximal marginal relevance (Carbonell and Goldstein 1998).

    Each place goes to the item with the highest (1 - d) score / (highest score) - d (its highest similarity with an
    item already in the list), d being ``diversity``. ``score`` (m,) is not negative, ``similarity`` (m, m) has 1 in
    its diagonal.
    """
    relevance = (1.0 - diversity) * score / max(float(score.max(initial=0.0)), 1e-300)
    nearest = np.zeros(len(score))
    left = np.ones(len(score), dtype=bool)
    chosen = []
    for _ in range(min(n, len(score))):
        best = int(np.argmax(np.where(left, relevance - diversity * nearest, -np.inf)))
        chosen.append(best)
        left[best] = False
        nearest = np.maximum(nearest, similarity[best])
    return np.array(chosen, dtype=np.int64)
