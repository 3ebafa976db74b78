"""Top-N lists, for one user or all of them, never holding more than a block of scores."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lbg_recsys.checks import check_choice, check_integer
from lbg_recsys.core import predictive
from lbg_recsys.core.rows import Floats, Ints
from lbg_recsys.ratings.base import RatingModel
from lbg_recsys.ratings.ids import RawId

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("rating", "rated", "liked")

# Numbers held at once: enough pairs to keep the kernels busy, few enough (16 MB) for any machine.
_BLOCK_NUMBERS = 1 << 21


def recommend_blocks(
    model: RatingModel, users: list[RawId], n: int, *, exclude_seen: bool, by: str, liked: float | None
) -> Iterator["pd.DataFrame"]:
    """Tables of user, rank, item, score and expected rating, a block of users each."""
    check_choice("by", by, CRITERIA)
    check_integer("n", n, 1)
    codes = np.array([model.user_code(user) for user in users], dtype=np.int64)
    threshold = model.matrix.scale.liked if liked is None else liked
    size = max(1, _BLOCK_NUMBERS // (model.matrix.n_items * model.numbers_per_pair))
    return (
        _block(model, codes[first : first + size], n, exclude_seen, by, threshold)
        for first in range(0, max(len(codes), 1), size)
    )


def _block(model: RatingModel, users: Ints, n: int, exclude_seen: bool, by: str, threshold: float) -> "pd.DataFrame":
    import pandas as pd

    shape = (len(users), model.matrix.n_items)
    if by == "rated":
        scores = _rated(model, users)
    else:
        probability = model.predictive_of_items(users).reshape(-1, len(model.levels))
        if by == "rating":
            scores = predictive.mean(probability, model.levels).reshape(shape)
        else:
            scores = _rated(model, users)
            scores *= predictive.at_least(probability, model.levels, threshold).reshape(shape)
    if exclude_seen:
        for place, user in enumerate(users):
            scores[place, model.matrix.seen(user)] = -np.inf
    best = top_n(scores, n)
    row = np.repeat(np.arange(shape[0]), best.shape[1])
    item = best.ravel()
    keep = scores[row, item] > -np.inf  # a user may have fewer than n items left
    rank = np.tile(np.arange(1, best.shape[1] + 1), shape[0])[keep]
    row, item = row[keep], item[keep]
    score = scores[row, item]
    if by == "rating":
        rating = score
    else:
        rating = predictive.mean(model.predictive(users[row], item).probability, model.levels)
    return pd.DataFrame(
        {
            "user": model.matrix.users.raws(users[row]),
            "rank": rank,
            "item": model.matrix.items.raws(item),
            "score": score,
            "rating": rating,
        }
    )


def _rated(model: RatingModel, users: Ints) -> Floats:
    """The probability that each user rates each item, (users, items)."""
    n_items = model.matrix.n_items
    pairs = np.repeat(users, n_items), np.tile(np.arange(n_items, dtype=np.int64), len(users))
    return model.rated_probability(*pairs).reshape(len(users), n_items)


def top_n(scores: Floats, n: int) -> npt.NDArray[np.intp]:
    """The columns of the n highest scores of each row, best first; of equals the first column."""
    n = min(n, scores.shape[1])
    if n < scores.shape[1] // 4:
        # all that could be in the list: everything not below the n-th best, so that ties fall as in a full sort
        bound = np.partition(scores, scores.shape[1] - n, axis=1)[:, scores.shape[1] - n]
        out = np.empty((len(scores), n), dtype=np.intp)
        for place, line in enumerate(scores):
            candidates = np.flatnonzero(line >= bound[place])
            out[place] = candidates[np.argsort(-line[candidates], kind="stable")[:n]]
        return out
    return np.argsort(-scores, axis=1, kind="stable")[:, :n]
