"""Top-N lists, for one user or all of them, never holding more than a block of scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.checks import check_number
from lbg_recsys.core import levels
from lbg_recsys.core.blocks import in_order
from lbg_recsys.core.types import Bools, Floats, Ints
from lbg_recsys.ratings.choice_scores import diversified_rows, hide_seen
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.lists import (
    POOL,
    candidates,
    empty_lists,
    may_be_best,
    ranks,
    table_of_lists,
)
from lbg_recsys.ratings.questions.recommender import Wishes

if TYPE_CHECKING:
    import pandas as pd

# The mass of the credible interval whose lower end "sure" ranks by.
SURE_MASS = 0.9

# Numbers held at once: enough pairs to keep the kernels busy, few enough (16 MB) for any machine.
_BLOCK_NUMBERS = 1 << 21
# Items in the first round: this many per place in the list, and at least this many for all lists together, because a
# round takes about as long as a hundred more items.
_ROUND, _LEAST_ROUND = 2, 160
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


def recommend_blocks(model: RatingModel, users: list[RawId], wishes: Wishes) -> Iterator["pd.DataFrame"]:
    """Tables of user, rank, item, score and expected rating, a block of users each."""
    codes = np.array([model.user_code(user) for user in users], dtype=np.int64)
    scale = model.matrix.scale
    if wishes.liked is not None:
        check_number("liked", wishes.liked, scale.low, scale.high)
    request = _Request(
        min(wishes.n, model.matrix.n_items),
        wishes.by or model.RANKED_BY,
        scale.liked if wishes.liked is None else wishes.liked,
        wishes.exclude_seen,
        candidates(model.matrix.items, wishes.items, wishes.exclude, model.items_with_features),
        wishes.min_probability,
        wishes.diversity,
    )
    size = max(1, _BLOCK_NUMBERS // (model.matrix.n_items * model.numbers_per_pair))
    blocks = [codes[first : first + size] for first in range(0, max(len(codes), 1), size)]
    return _each(model, request, blocks)


def _each(model: RatingModel, request: _Request, blocks: list[Ints]) -> Iterator["pd.DataFrame"]:
    """The tables of blocks of users, in as many threads as the model's ``n_jobs``."""
    n_jobs = getattr(model, "n_jobs", 1)
    if min(n_jobs, len(blocks)) <= 1:
        yield from (_block(model, users, request) for users in blocks)
        return
    from threadpoolctl import threadpool_limits

    if model.lists == "choice":
        _ = model.choices  # computed once, before there are threads
    with threadpool_limits(1, "blas"):  # a thread of ours has no threads of its own
        yield from in_order(lambda users: _block(model, users, request), blocks, n_jobs)


def _block(model: RatingModel, users: Ints, request: _Request) -> "pd.DataFrame":

    if not len(users):
        return empty_lists("user", "rank", "item", "score", "expected_rating")
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
    return table_of_lists(
        model.titles,
        user=model.matrix.users.raws(users[row[keep]]),
        rank=rank[keep] + 1,
        item=model.matrix.items.raws(item[keep]),
        score=score[keep],
        expected_rating=rating[keep],
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
    items of each user are gone through from the highest bound to the lowest, twice as many in each round, and a user
    is done when nothing that is left could be among the best found by then: as a rule after two or three items per
    place in the list.
    """
    n = min(request.pool, bounds.shape[1])
    left = bounds.copy()
    scores = np.full_like(bounds, -np.inf)
    best = np.full((len(users), n), -np.inf)
    going, size = np.arange(len(users)), max(_ROUND * n, _LEAST_ROUND // len(users))
    while len(going):
        size = min(size, bounds.shape[1])
        items = np.argpartition(left[going], bounds.shape[1] - size, axis=1)[:, -size:]
        bound = np.take_along_axis(left[going], items, axis=1)
        may_be = (bound >= best[going, :1] - close) & (bound > -np.inf)
        row, column = np.nonzero(may_be)
        user, item = going[row], items[row, column]
        probability = model.nearly_distribution_of(users[user], item)
        liked = levels.at_least(probability, model.levels, request.liked)
        found = bounds[user, item]
        if request.by == "liked":
            found = found * liked**model.liked_power
        found = np.where(liked >= request.min_probability, found, -np.inf)
        scores[user, item] = found
        left[user, item] = -np.inf
        table = np.full(may_be.shape, -np.inf)
        table[row, column] = found
        best[going] = np.partition(np.hstack([best[going], table]), size, axis=1)[:, size:]
        # items that were not scored because of their bounds stay in `left`: they end no user's search
        most = left[going].max(axis=1)
        going = going[(most >= best[going, 0] - close) & (most > -np.inf)]
        size *= 2
    return scores
