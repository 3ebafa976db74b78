"""How likely Bayesian LBG thinks anyone is to rate an item."""

from collections.abc import Mapping

import numpy as np

from lbg_recsys.core.draws import Draws
from lbg_recsys.core.rated import add_chosen, class_logits
from lbg_recsys.core.rows import Codes, Floats, Ints
from lbg_recsys.ratings.matrix import RatingMatrix

# How far the classes move the odds of being rated (chosen on inner splits).
RATED_POWER = 0.1
# Kept sweeps that the probability of being rated averages over: it is smooth, and each costs a pass over the ratings.
_RATED_SWEEPS = 8


def rated_log_odds(
    draws: Mapping[bool, Draws],
    trained: Mapping[bool, Draws],
    matrix: RatingMatrix,
    training: RatingMatrix,
    users: Ints,
    items: Ints,
) -> Floats:
    """The log-odds that each user rates each item: the item's own, moved by how the classes of both sides rate.

    logit p_i + ``RATED_POWER`` * sum_h [logit p[h, i, z_h] - logit p_i], averaged over some kept sweeps; with items
    as rows the rate is that of the user's column under the item's class. ``draws`` hold the users of ``matrix``,
    ``trained`` those of ``training`` (they differ where users were folded in).
    """
    popularity = np.bincount(training.items_of, minlength=training.n_items)
    rate = np.append((popularity + 0.5) / (training.n_users + 1.0), 0.5 / (training.n_users + 1.0))
    item_odds = np.log(rate / (1.0 - rate))
    moved = np.zeros(len(users))
    count = 0
    for user_rows, one in draws.items():
        rows, cols = (users, items) if user_rows else (items, users)
        known, place = np.unique(cols, return_inverse=True)
        pointer, holders = raters(training) if user_rows else (matrix.indptr, matrix.items_of)
        table = np.empty((len(known), *one.lam.shape[1:]), np.float32)
        for s in np.unique(np.linspace(0, len(one) - 1, _RATED_SWEEPS).astype(int)):
            class_logits(pointer, holders, trained[user_rows].z[s, :-1], np.maximum(known, 0), table)
            table -= (table * one.lam[s]).sum(axis=2, keepdims=True)
            table[known < 0] = 0.0
            add_chosen(rows, place, one.z[s], table, moved)
            count += 1
    return np.asarray(item_odds[items] + RATED_POWER * moved / max(count, 1))


def raters(matrix: RatingMatrix) -> tuple[Ints, Codes]:
    """The users of every item: pointer and codes, as the matrix holds the items of every user."""
    order = np.argsort(matrix.items_of, kind="stable")
    pointer = np.append(0, np.bincount(matrix.items_of, minlength=matrix.n_items).cumsum())
    return pointer.astype(np.int64), matrix.user_codes()[order]
