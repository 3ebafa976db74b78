"""Top-N lists, for one user or all of them, never holding more than a block of scores."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.checks import check_choice, check_flag, check_integer, check_number, check_share
from lbg_recsys.core import levels
from lbg_recsys.core.types import Bools, Floats, Ints
from lbg_recsys.ratings.choice_scores import diversified_rows, hide_seen
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.lists import POOL, candidates, empty_lists, may_be_best, ranks

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("liked", "rated", "rating", "sure")
# The mass of the credible interval whose lower end "sure" ranks by.
SURE_MASS = 0.9

# Numbers held at once: enough pairs to keep the kernels busy, few enough (16 MB) for any machine.
_BLOCK_NUMBERS = 1 << 21
# Items looked at together, until no further one can be in a list.
_AT_ONCE = 128
# Lists are found by scores and then ordered by `distribution_of`. A score may be this far below another that is no
# better: probabilities are within 1e-5, two of them make a score, two scores a comparison. For expected ratings the
# unit is the width of the scale.
_CLOSE = 4e-5


@dataclass(frozen=True)
class _Request:
    """What is asked of every list."""

    n: int
    by: str
    liked: float
    exclude_seen: bool
    allowed: Bools | None
    min_probability: float
    diversity: float

    @property
    def pool(self) -> int:
        """How many of the best items are found for each list."""
        return self.n * POOL if self.diversity else self.n


def recommend_blocks(
    model: RatingModel,
    users: list[RawId],
    n: int,
    *,
    exclude_seen: bool,
    by: str,
    liked: float | None,
    items: Iterable[RawId] | None,
    exclude: Iterable[RawId] | None,
    min_probability: float,
    diversity: float,
) -> Iterator["pd.DataFrame"]:
    """Tables of user, rank, item, score and expected rating, a block of users each."""
    check_choice("by", by, CRITERIA)
    check_integer("n", n, 1)
    check_flag("exclude_seen", exclude_seen)
    check_number("min_probability", min_probability, 0.0, 1.0)
    check_share("diversity", diversity)
    codes = np.array([model.user_code(user) for user in users], dtype=np.int64)
    scale = model.matrix.scale
    if liked is not None:
        check_number("liked", liked, scale.lower, scale.upper)
    request = _Request(
        min(n, model.matrix.n_items),
        by,
        scale.liked if liked is None else liked,
        exclude_seen,
        candidates(model.matrix.items, items, exclude),
        min_probability,
        diversity,
    )
    size = max(1, _BLOCK_NUMBERS // (model.matrix.n_items * model.numbers_per_pair))
    return (_block(model, codes[first : first + size], request) for first in range(0, max(len(codes), 1), size))


def _block(model: RatingModel, users: Ints, request: _Request) -> "pd.DataFrame":
    import pandas as pd

    if not len(users):
        return empty_lists("user", "rank", "item", "score", "rating")
    by = request.by
    close = _CLOSE * (model.levels[-1] - model.levels[0]) if by in ("rating", "sure") else _CLOSE
    bounds = _bounds(model, users, request)
    scores = bounds
    if by == "liked" or request.min_probability > 0:
        scores = _weighed(model, users, bounds, request, close)
    row, item = may_be_best(scores, request.pool, close)
    probability = model.distribution_of(users[row], item).probability
    rating = levels.mean(probability, model.levels)
    if by == "rating":
        score = rating
    elif by == "sure":
        score = levels.interval(probability, model.levels, SURE_MASS)[0]
    else:
        score = model.taken(users[row], item, bounds[row, item])
        if by == "liked":
            score = score * levels.at_least(probability, model.levels, request.liked) ** model.liked_power
    order = np.lexsort((item, -rating if by == "sure" else item, -score, row))
    if request.diversity:
        above = score[order] - (model.levels[0] if by in ("rating", "sure") else 0.0)  # a relevance, not negative
        order = order[diversified_rows(model.choices, row[order], item[order], above, request.n, request.diversity)]
    row, item, score, rating = row[order], item[order], score[order], rating[order]
    rank = ranks(row)
    keep = rank < request.n
    return pd.DataFrame(
        {
            "user": model.matrix.users.raws(users[row[keep]]),
            "rank": rank[keep] + 1,
            "item": model.matrix.items.raws(item[keep]),
            "score": score[keep],
            "rating": rating[keep],
        }
    )


def _bounds(model: RatingModel, users: Ints, request: _Request) -> Floats:
    """Scores (users, items) before any factor of at most 1; minus infinity where an item cannot be in the list."""
    if request.by == "rating":
        scores = model.expected_of_users(users)
    elif request.by == "sure":
        scores = _lower_ends(model, users)
    else:
        scores = model.taken_of_users(users)
    if request.allowed is not None:
        scores[:, ~request.allowed] = -np.inf
    if request.exclude_seen:
        hide_seen(scores, model.matrix, users)
    return scores


def _lower_ends(model: RatingModel, users: Ints) -> Floats:
    """The lower ends of credible intervals, and among equal ones less than a step more for a higher expectation."""
    scale = model.levels
    every = model.distribution_of_items(users, np.arange(model.matrix.n_items, dtype=np.int64))
    flat = every.reshape(-1, len(scale))
    expected = (levels.mean(flat, scale) - scale[0]) / max(scale[-1] - scale[0], 1e-300)
    ends = levels.interval(flat, scale, SURE_MASS)[0] + 0.5 * model.matrix.scale.step * expected
    return np.asarray(ends.reshape(every.shape[:2]))


def _weighed(model: RatingModel, users: Ints, bounds: Floats, request: _Request, close: float) -> Floats:
    """The bounds, times a power of the probability of a liked level if that is asked for, where this can matter.

    Minus infinity where this probability is too low, or where it was not needed. No score is above its bound, so the
    items are gone through from the highest to the lowest bound, and a user is done when nothing that is left could be
    among the best found by then: as a rule after a tenth of the items.
    """
    n = min(request.pool, bounds.shape[1])
    order = np.argsort(-bounds.max(axis=0), kind="stable")
    at_most = np.maximum.accumulate(bounds[:, order[::-1]], axis=1)[:, ::-1]  # of all items from here on
    scores = np.full_like(bounds, -np.inf)
    best = np.full((len(users), n), -np.inf)
    going = np.arange(len(users))
    for first in range(0, len(order), _AT_ONCE):
        least = best[going, 0] - close
        going = going[(at_most[going, first] >= least) & (at_most[going, first] > -np.inf)]
        if not len(going):
            break
        items = order[first : first + _AT_ONCE]
        places = np.ix_(going, items)
        probability = model.distribution_of_items(users[going], items).reshape(-1, len(model.levels))
        liked = levels.at_least(probability, model.levels, request.liked).reshape(len(going), len(items))
        found = bounds[places]
        may_be = (found > -np.inf) & (liked >= request.min_probability)
        if request.by == "liked":
            found = np.where(may_be, found, 0.0) * liked**model.liked_power
        scores[places] = np.where(may_be, found, -np.inf)
        best[going] = np.partition(np.hstack([best[going], scores[places]]), len(items), axis=1)[:, len(items) :]
    return scores
