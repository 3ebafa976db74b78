"""Well-known ways to make lists, for comparison: popularity, EASE, implicit ALS.

Each is a function of the training ratings that returns a `Scorer`. EASE (Steck 2019) is the regression of each item
on the user's other items in closed form, which `lbg_recsys.core.choice` solves with equal weights of all users. Its
penalty is chosen for each variant on an inner split of the training ratings.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lbg_recsys.core import choice
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.evaluation.lists import Relevant, Scorer, hits, lister_of_scores, ndcg
from lbg_recsys.evaluation.splits import random_share
from lbg_recsys.ratings import RatingMatrix

Rival = Callable[[RatingMatrix, int], Scorer]

# The cell of a rating that is not liked; a liked one is 1. None leaves it out.
VARIANTS: dict[str, float | None] = {"liked": None, "all": 1.0, "graded": 0.3}
# Penalties are tried from here by factors of two, as long as they get better.
_FIRST_PENALTY, _PENALTIES = 200.0, (1.0, 1e6)
_INNER_SHARE, _LENGTH = 0.2, 10
# A larger matrix than this takes more than a minute per penalty to invert.
_LARGEST = 6000


def popularity(matrix: RatingMatrix, seed: int = 0) -> Scorer:
    """Score each item by its number of ratings, the same for everybody."""
    counts = matrix.rows.column_counts().astype(np.float64)
    return lambda users: np.broadcast_to(counts, (len(users), len(counts)))


def ease(
    matrix: RatingMatrix,
    seed: int = 0,
    *,
    variant: str = "liked",
    penalty: float | None = None,
    of: RatingMatrix | None = None,
) -> Scorer:
    """Fit EASE.

    Parameters
    ----------
    matrix : RatingMatrix
        Training ratings.
    seed : int, default=0
        Seed of the inner split.
    variant : {"liked", "all", "graded"}, default="liked"
        What it sees: liked items only, all rated items alike, or all with 0.3 for an item that was not liked.
    penalty : float, default=None
        The ridge penalty lambda; by default the one with the best NDCG@10 on an inner split.
    of : RatingMatrix, default=None
        New users to score instead of the training users: their ratings of the same items.

    Returns
    -------
    Scorer
    """
    if penalty is None:
        penalty = choose_penalty(matrix, seed, variant=variant)
    inverse = choice.solve(cells(matrix, variant), np.ones(matrix.n_users), penalty)
    rows = cells(matrix if of is None else of, variant)

    def scores(users: Ints) -> Floats:
        return np.asarray(choice.scores(inverse, rows[users]), dtype=np.float64)

    return scores


def choose_penalty(matrix: RatingMatrix, seed: int = 0, *, variant: str = "liked") -> float:
    """Choose EASE's penalty by NDCG@10 of a fifth of the ratings, held out at random.

    Starting from 200 it is doubled, or halved, until that makes the lists worse.
    """
    inner, quality_of = inner_split(matrix, seed)

    def quality(penalty: float) -> float:
        return quality_of(ease(inner, variant=variant, penalty=penalty))

    best, best_quality = _FIRST_PENALTY, quality(_FIRST_PENALTY)
    for factor in (2.0, 0.5):
        start = best
        while (
            _PENALTIES[0] < best * factor < _PENALTIES[1] and (next_quality := quality(best * factor)) > best_quality
        ):
            best, best_quality = best * factor, next_quality
        if best != start:
            break
    return best


def inner_split(matrix: RatingMatrix, seed: int = 0) -> tuple[RatingMatrix, Callable[[Scorer], float]]:
    """Four fifths of the ratings, and a function that evaluates scores of their users on the others: NDCG@10.

    It is 0 if nobody likes any of the others.
    """
    held_out = random_share(matrix.n_ratings, _INNER_SHARE, seed)
    inner = replace(matrix, rows=matrix.rows.filtered(~held_out))
    entries = matrix.user_codes[held_out], matrix.item_codes[held_out], matrix.values[held_out]
    relevant = Relevant.find(inner, *entries, matrix.scale.liked)
    users = relevant.users()

    def quality(scores: Scorer) -> float:
        if not len(users):
            return 0.0
        lists = lister_of_scores(scores, inner)(users, _LENGTH)
        return float(ndcg(hits(lists, users, relevant), relevant.counts[users]).mean())

    return inner, quality


def implicit_als(matrix: RatingMatrix, seed: int = 0) -> Scorer:
    """Fit alternating least squares of the implicit library to who rated what: 64 factors, regularisation 10."""
    from implicit.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):  # the library warns of more
        model = AlternatingLeastSquares(factors=64, regularization=10.0, random_state=seed, num_threads=1)
        model.fit(cells(matrix, "all"), show_progress=False)
    return lambda users: np.asarray(model.user_factors[users] @ model.item_factors.T)


class Rivals(NamedTuple):
    """The rivals by name, and sentences on those that are left out."""

    found: dict[str, Rival]
    left_out: list[str]


def rivals_for(matrix: RatingMatrix, largest: int = _LARGEST) -> Rivals:
    """Find the rivals that this machine can run on these ratings in reasonable time.

    Parameters
    ----------
    matrix : RatingMatrix
        Ratings, or choices, of which EASE has one variant.
    largest : int, default=6000
        The largest matrix that EASE may invert: the items, or the users with two or more of them, if these are fewer.

    Returns
    -------
    Rivals
    """
    found: dict[str, Rival] = {"popularity": popularity}
    left_out = []
    size = min(matrix.n_items, int((matrix.rows.lengths > 1).sum()))
    if size > largest:
        left_out.append(
            f"EASE is left out: it would invert a matrix of {size:,} rows several times, and {largest:,} is the limit"
        )
    elif len(matrix.scale.levels) > 1:
        found |= {f"EASE, {variant}": partial(ease, variant=variant) for variant in VARIANTS}
    else:
        found["EASE"] = partial(ease, variant="all")
    if find_spec("implicit") is not None:
        found["implicit ALS"] = implicit_als
    else:
        left_out.append("implicit ALS is left out: the library implicit is not installed")
    return Rivals(found, left_out)


def cells(matrix: RatingMatrix, variant: str) -> csr_array:
    """Users x items, as a variant of EASE sees them."""
    grade = VARIANTS[variant]
    liked = matrix.scale.liked
    rows = matrix.rows if grade is not None else matrix.rows.filtered(matrix.values >= liked)
    values = choice.graded(rows.values, liked, grade if grade is not None else 0.0)
    return csr_array((values, rows.columns, rows.indptr), shape=(matrix.n_users, matrix.n_items))
