"""Top-N lists, for one user or all of them, never holding more than a block of scores."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.checks import check_choice, check_integer, check_number
from lbg_recsys.core import levels
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.model import RatingModel

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("rating", "rated", "liked")

# Numbers held at once: enough pairs to keep the kernels busy, few enough (16 MB) for any machine.
_BLOCK_NUMBERS = 1 << 21
# Items looked at together, until no further one can be in a list.
_AT_ONCE = 128
# Lists are found by scores and then ordered by `distribution_of`. A score may be this far below another that is no
# better: probabilities are within 1e-5, two of them make a score, two scores a comparison. For expected ratings the
# unit is the width of the scale.
_CLOSE = 4e-5


def recommend_blocks(
    model: RatingModel, users: list[RawId], n: int, *, exclude_seen: bool, by: str, liked: float | None
) -> Iterator["pd.DataFrame"]:
    """Tables of user, rank, item, score and expected rating, a block of users each."""
    check_choice("by", by, CRITERIA)
    check_integer("n", n, 1)
    codes = np.array([model.user_code(user) for user in users], dtype=np.int64)
    scale = model.matrix.scale
    if liked is not None:
        check_number("liked", liked, scale.lower, scale.upper)
    threshold = scale.liked if liked is None else liked
    n = min(n, model.matrix.n_items)
    size = max(1, _BLOCK_NUMBERS // (model.matrix.n_items * model.numbers_per_pair))
    return (
        _block(model, codes[first : first + size], n, exclude_seen, by, threshold)
        for first in range(0, max(len(codes), 1), size)
    )


def _block(model: RatingModel, users: Ints, n: int, exclude_seen: bool, by: str, threshold: float) -> "pd.DataFrame":
    import pandas as pd

    close = _CLOSE * (model.levels[-1] - model.levels[0]) if by == "rating" else _CLOSE
    row, item = _candidates(_scores(model, users, n, exclude_seen, by, threshold), n, close)
    probability = model.distribution_of(users[row], item).probability
    rating = levels.mean(probability, model.levels)
    score = rating if by == "rating" else model.rated_probability(users[row], item)
    if by == "liked":
        score = score * levels.at_least(probability, model.levels, threshold)
    order = np.lexsort((item, -score, row))
    row, item, score, rating = row[order], item[order], score[order], rating[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    keep = rank < n
    return pd.DataFrame(
        {
            "user": model.matrix.users.raws(users[row[keep]]),
            "rank": rank[keep] + 1,
            "item": model.matrix.items.raws(item[keep]),
            "score": score[keep],
            "rating": rating[keep],
        }
    )


def _scores(model: RatingModel, users: Ints, n: int, exclude_seen: bool, by: str, threshold: float) -> Floats:
    """Scores (users, items), as near as `_CLOSE` says; minus infinity where an item cannot be in the list."""
    scores = model.expected_of_users(users) if by == "rating" else model.rated_of_users(users)
    if exclude_seen:
        for place, user in enumerate(users):
            scores[place, model.matrix.seen(user)] = -np.inf
    return _liked(model, users, scores, n, threshold) if by == "liked" else scores


def _liked(model: RatingModel, users: Ints, rated: Floats, n: int, threshold: float) -> Floats:
    """The probability of being rated, times that of a liked level where this can matter.

    No item is rated and liked more often than it is rated, so the items are gone through from the most to the least
    rated, and a user is done when nothing that is left could be among the ``n`` best found by then: as a rule after
    a tenth of the items.
    """
    order = np.argsort(-rated.max(axis=0), kind="stable")
    at_most = np.maximum.accumulate(rated[:, order[::-1]], axis=1)[:, ::-1]  # of all items from here on
    scores = np.full_like(rated, -np.inf)
    best = np.full((len(users), n), -np.inf)
    going = np.arange(len(users))
    for first in range(0, len(order), _AT_ONCE):
        least = best[going, 0] - _CLOSE
        going = going[(at_most[going, first] >= least) & (at_most[going, first] > -np.inf)]
        if not len(going):
            break
        items = order[first : first + _AT_ONCE]
        places = np.ix_(going, items)
        probability = model.distribution_of_items(users[going], items).reshape(-1, len(model.levels))
        liked = levels.at_least(probability, model.levels, threshold).reshape(len(going), len(items))
        scores[places] = np.where(rated[places] > -np.inf, rated[places] * liked, -np.inf)
        best[going] = np.partition(np.hstack([best[going], scores[places]]), len(items), axis=1)[:, len(items) :]
    return scores


def _candidates(scores: Floats, n: int, close: float) -> tuple[Ints, Ints]:
    """Rows and columns of all scores that may be among the n highest of their row, given that they are only close."""
    row, column = np.nonzero(scores > -np.inf)
    if n < scores.shape[1]:
        least = np.partition(scores, scores.shape[1] - n, axis=1)[:, scores.shape[1] - n] - close
        may_be = scores[row, column] >= least[row]
        row, column = row[may_be], column[may_be]
    return row, column
