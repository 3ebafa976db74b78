"""Predictions of kept sweeps for every item of some users, as lists need them.

`draws.predict` takes pairs in any order; where every item is wanted, the items of a user can be gone through side
by side, several in one instruction.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lbg_recsys.core.draws import Draws, single
from lbg_recsys.core.normal import smooth_cdf
from lbg_recsys.core.ridge import FAST

Array = NDArray[Any]
# Users gone through together: few enough that their sums stay in the cache from one kept sweep to the next.
_TILE = 16


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _phi(cut: float, m: Array, root: Array, out: Array) -> None:
    """out = Phi((cut - m) root)."""
    for i in range(m.shape[0]):
        out[i] = smooth_cdf((cut - m[i]) * root[i])[0]


@njit(nogil=True, cache=True, fastmath=FAST)
def _add_multiple(factor: float, what: Array, m: Array) -> None:
    for i in range(m.shape[0]):
        m[i] += factor * np.float32(what[i])


@njit(nogil=True, cache=True, fastmath=FAST)
def _add_levels(
    m: Array,
    root: Array,
    cuts: Array,
    ordinal: bool,
    shaping: bool,
    gaps: Array,
    upto: Array,
    below: Array,
    mean: Array,
) -> None:
    """Add P(level <= b) of each item to ``below`` (levels - 1, items), and its expected value to ``mean``.

    Of an ordinal sweep ``mean`` gets only what its expected value lacks to the highest level: the ``gaps`` between
    levels, each times the probability of staying below it. ``upto`` is scratch.
    """
    for b in range(cuts.shape[0] if shaping else 0):
        _phi(cuts[b], m, root, upto)
        sums, gap = below[b], gaps[b]
        for i in range(m.shape[0]):
            sums[i] += upto[i]
        if ordinal:
            for i in range(m.shape[0]):
                mean[i] -= gap * upto[i]
    if not ordinal:
        for i in range(m.shape[0]):
            mean[i] += m[i]


@njit(nogil=True, cache=True, fastmath=FAST)
def _add_sweeps(
    users: Array,
    user_rows: bool,
    z: Array,
    c: Array,
    c_step: Array,
    user_bias: Array,
    user_weight: Array,
    item_bias: Array,
    item_weight: Array,
    cuts: Array,
    ordinal: Array,
    shaping: Array,
    gaps: Array,
    below: Array,
    mean: Array,
) -> None:
    """Add all kept sweeps to the sums of a tile of users.

    An item's part of the means is laid out by component and class: its class means where users have the classes,
    and whether it is of the class where items have them.
    """
    kept, n_components, k = c.shape[0], c.shape[2], c.shape[3]
    n = mean.shape[1]
    part = np.empty((n_components, k, n), np.int8)
    # one by one: rows of one array would not be known to be apart, and the loops not vectorised
    m = np.empty(n, np.float32)
    root = np.empty(n, np.float32)
    item_root = np.empty(n, np.float32)
    upto = np.empty(n, np.float32)
    for s in range(kept):
        for h in range(n_components):
            for t in range(k):
                for i in range(n):
                    part[h, t, i] = c[s, i, h, t] if user_rows else z[s, i, h] == t
        for i in range(n):
            item_root[i] = math.sqrt(item_weight[s, i])
        for u in range(users.shape[0]):
            user_root = np.float32(math.sqrt(user_weight[s, u]))
            for i in range(n):
                m[i] = user_bias[s, u] + item_bias[s, i]
                root[i] = user_root * item_root[i]
            for h in range(n_components):
                if user_rows:
                    _add_multiple(c_step[s, h], part[h, z[s, users[u], h]], m)
                else:
                    for t in range(k):
                        _add_multiple(c_step[s, h] * np.float32(c[s, users[u], h, t]), part[h, t], m)
            _add_levels(m, root, cuts[s], ordinal[s], shaping[s], gaps, upto, below[u], mean[u])


@njit(nogil=True, cache=True)
def _between(below: Array, count: int, probability: Array) -> None:
    """What each level has more than the one below it; rounding may have put Phi out of order by a hair."""
    users, last, items = below.shape
    for u in range(users):
        for i in range(items):
            before = 0.0
            for b in range(last + 1):
                upto = max(below[u, b, i], before) if b < last else max(float(count), before)
                probability[u, i, b] = upto - before
                before = upto


def predict_items(draws: Draws, users: Array, user_rows: bool, n_items: int, values: Array) -> tuple[Array, Array]:
    """What `draws.predict` gives, to within 1e-6 a sweep, for all items of some (known) users.

    Sums over kept sweeps of the level distributions (users, items, levels) and of the expected ratings.
    """
    below = np.zeros((len(users), len(values) - 1, n_items))
    mean = np.full((len(users), n_items), draws.ordinal.sum() * values[-1])
    rows, cols = (draws.row_bias, draws.row_weight), (draws.col_bias, draws.col_weight)
    of_users, of_items = (rows, cols) if user_rows else (cols, rows)
    item_bias, item_weight = (single(effect, np.arange(n_items)) for effect in of_items)
    for first in range(0, len(users), _TILE):
        tile = slice(first, first + _TILE)
        user_bias, user_weight = (single(effect, users[tile]) for effect in of_users)
        _add_sweeps(
            users[tile],
            user_rows,
            draws.z,
            draws.c,
            draws.c_step,
            user_bias,
            user_weight,
            item_bias,
            item_weight,
            draws.cuts,
            draws.ordinal,
            draws.shaping,
            np.diff(values),
            below[tile],
            mean[tile],
        )
    probability = np.empty((*mean.shape, len(values)))
    _between(below, draws.shaping.sum(), probability)
    return probability, mean
