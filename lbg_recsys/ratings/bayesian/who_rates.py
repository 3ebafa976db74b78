"""The probability of Bayesian LBG that a user rates an item."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.caches import WithoutCaches
from lbg_recsys.core.gibbs.class_rates import add_chosen, class_logits
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.predict_grid import class_sums
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.bayesian.item_rates import ItemRates
from lbg_recsys.ratings.matrix import RatingMatrix

# How far the classes move the odds of being rated (chosen on inner splits).
RATED_POWER = 0.1
# Kept sweeps that the probability of being rated averages over: it is smooth, and each costs a pass over the ratings.
_SWEEPS = 8


class RatedOdds(WithoutCaches):
    """The log-odds that users rate items: the item's own, moved by how the classes of both sides rate.

    logit p_i + ``RATED_POWER`` * sum_h [logit p[h, i, z_h] - logit p_i], averaged over some kept sweeps; with items
    as rows the rate is that of the user's column under the item's class. The tables of the items are computed at the
    first use and cached in half precision; a pickle does not contain them.
    """

    def __init__(self, trained: Mapping[Side, Draws], training: RatingMatrix, rates: ItemRates) -> None:
        self._trained, self._training, self._rates = trained, training, rates

    @cached_property
    def _item_odds(self) -> Floats:
        crowd = self._training.crowd
        rate = (np.append(crowd.per_item, 0) + 0.5) / (crowd.n_users + 1.0)
        return np.asarray(np.log(rate / (1.0 - rate)))

    @cached_property
    def _item_moves(self) -> dict[int, npt.NDArray[np.float16]]:
        draws, items = self._trained[Side.USERS], np.arange(self._training.n_items)
        return {
            s: _centred(self._rates.logits(s, items), draws.lam[s]).astype(np.float16) for s in draws.some(_SWEEPS)
        }

    def log_odds(self, draws: Mapping[Side, Draws], matrix: RatingMatrix, users: Ints, items: Ints) -> Floats:
        """The log-odds of each pair; ``draws`` have the users of ``matrix``, those of the training or new ones."""
        moved, count = np.zeros(len(users)), 0
        if Side.USERS in draws:
            for s, moves in self._item_moves.items():
                add_chosen(users, items, draws[Side.USERS].z[s], moves.astype(np.float32), moved)
                count += 1
        if Side.ITEMS in draws:
            known, line = np.unique(users, return_inverse=True)
            line[users < 0] = -1  # the last line of a table, which is zero
            for s in draws[Side.ITEMS].some(_SWEEPS):
                table = _moves(self._trained[Side.ITEMS], s, matrix.rows, np.maximum(known, 0))
                add_chosen(items, line, draws[Side.ITEMS].z[s], table, moved)
                count += 1
        return np.asarray(self._item_odds[items] + RATED_POWER * moved / max(count, 1))

    def log_odds_of_users(self, draws: Mapping[Side, Draws], matrix: RatingMatrix, users: Ints) -> Floats:
        """The log-odds of all items, (users, items): those of `log_odds` to within the rounding of sums."""
        moved, count = np.zeros((len(users), len(self._item_odds) - 1), np.float32), 0
        if Side.USERS in draws:
            for s, moves in self._item_moves.items():
                moved += class_sums(draws[Side.USERS].z[s, users], moves[:-1].astype(np.float32))
                count += 1
        if Side.ITEMS in draws:
            for s in draws[Side.ITEMS].some(_SWEEPS):
                table = _moves(self._trained[Side.ITEMS], s, matrix.rows, users)
                moved += class_sums(draws[Side.ITEMS].z[s, :-1], table[:-1]).T
                count += 1
        return np.asarray(self._item_odds[:-1] + RATED_POWER * moved / max(count, 1))


def _moves(draws: Draws, sweep: int, holders: SparseRows, cols: Ints) -> npt.NDArray[np.float32]:
    """How far each class is from the average row in its logits of some columns, (columns + 1, H, K).

    ``holders`` has the columns of the draws as its rows, and the rows that hold each as its columns. The last line,
    zero, is the unknown column.
    """
    table = np.zeros((len(cols), *draws.lam.shape[1:]), np.float32)
    class_logits(holders.indptr, holders.columns, draws.z[sweep, :-1], cols, table)
    return _centred(table, draws.lam[sweep])


def _centred(logits: npt.NDArray[np.float32], lam: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Logits (columns, H, K) less those of the average row, and a line of zeros."""
    table = np.concatenate([logits, np.zeros_like(logits, shape=(1, *logits.shape[1:]))])
    table -= (table * lam).sum(axis=2, keepdims=True)
    return table
