"""A rating model without its users in a file: the sums over them that new users need."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.schema import AnyArray, Array, check_values

if TYPE_CHECKING:
    from lbg_recsys.ratings.crowd import Crowd, KeptChoices
    from lbg_recsys.ratings.scale import RatingScale

FACTS = {"users": int, "mean": float, "spread": float, "amounts": list[float], "grade": float}

ARRAYS = {
    "item_counts": Array("i8", ("items",), low=0),
    "item_totals": Array("f8", ("items",)),
    "level_counts": Array("i8", ("levels",), low=0),
    "pairs_indptr": Array("i8", ("items + 1",), low=0),
    "pairs_columns": Array("i4", ("pairs",), low=0),
    "pairs_values": Array("f4", ("pairs",), low=0, high=1e30),
    "penalty": Array("f8", ("items",), low=0, high=1e30),
    "average": Array("f8", ("items",), low=0, high=1e30),
}
_MOST = 2**48


def limits(n_items: int) -> dict[str, int]:
    """The largest sizes of the arrays."""
    return {"pairs": n_items * (n_items + 1) // 2}


def check_facts(facts: Any) -> None:
    """Raise `DataError` unless the plain values are what they must be."""
    check_values(facts, FACTS, "the users that are left out")
    if not 0 < facts["users"] < _MOST or len(facts["amounts"]) != 4:
        raise DataError(f"{facts['users']} users are left out, with {len(facts['amounts'])} numbers about them")
    mean, spread, low, high = facts["amounts"]
    slack = 1e-9 * (1.0 + abs(mean))  # the mean of equal numbers is rounded
    if not (low - slack <= mean <= high + slack and spread > 0 and facts["spread"] >= 0 and 0 <= facts["grade"] <= 1):
        raise DataError("the numbers about users that are left out are impossible")
    if not all(map(math.isfinite, (*facts["amounts"], facts["mean"], facts["spread"]))):
        raise DataError("the numbers about users that are left out are not finite")


def take_apart(crowd: "Crowd", choices: "KeptChoices") -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Facts and arrays of users that are left out."""
    upper = choices.together.upper()
    facts = {"users": crowd.n_users, "mean": crowd.mean, "spread": crowd.spread, "amounts": list(crowd.amounts)}
    facts["grade"] = float(choices.grade)
    return facts, {
        "item_counts": np.asarray(crowd.per_item, np.int64),
        "item_totals": crowd.total,
        "level_counts": np.asarray(crowd.per_level, np.int64),
        "pairs_indptr": upper.indptr.astype(np.int64),
        "pairs_columns": upper.indices.astype(np.int32),
        "pairs_values": upper.data.astype(np.float32),
        "penalty": choices.penalty,
        "average": choices.average,
    }


def put_together(facts: Mapping[str, Any], arrays: Mapping[str, AnyArray], scale: "RatingScale") -> "Crowd":
    """The users that `take_apart` took apart; `DataError` where the numbers cannot be."""
    from lbg_recsys.core.gibbs.amounts import Amounts
    from lbg_recsys.ratings.crowd import Crowd

    counts, levels = arrays["item_counts"], arrays["level_counts"]
    if counts.max(initial=0) > facts["users"] or not 0 < levels.sum(dtype=object) == counts.sum(dtype=object) < _MOST:
        raise DataError("the ratings of the users that are left out do not add up")
    slack = 1e-6 * (1.0 + np.abs(scale.levels[[0, -1]]).max())
    low, high = scale.levels[0] - slack, scale.levels[-1] + slack
    total, mean = arrays["item_totals"], facts["mean"]
    if ((total < counts * low) | (total > counts * high)).any() or not low <= mean <= high:
        raise DataError("the mean rating of an item is off the scale")
    return Crowd(
        facts["users"],
        mean,
        facts["spread"],
        Amounts(*facts["amounts"]),
        counts,
        total,
        levels,
        _choices(facts["grade"], arrays),
    )


def _choices(grade: float, arrays: Mapping[str, AnyArray]) -> "KeptChoices":
    import scipy.sparse as sp

    from lbg_recsys.core.together import ByPairs
    from lbg_recsys.ratings.crowd import KeptChoices

    indptr, columns = arrays["pairs_indptr"], arrays["pairs_columns"]
    n = len(indptr) - 1
    if indptr[0] != 0 or indptr[-1] != len(columns) or (np.diff(indptr) < 0).any():
        raise DataError("the pairs of items do not add up")
    ascends = np.append(True, np.diff(columns) > 0)
    ascends[indptr[indptr < len(columns)]] = True  # an item begins
    rows = np.repeat(np.arange(n), np.diff(indptr))
    if columns.max(initial=-1) >= n or (columns < rows).any() or not ascends[: len(columns)].all():
        raise DataError("a pair names an item that does not exist, or the pairs of an item are not in order")
    upper = sp.csr_array((arrays["pairs_values"], columns, indptr), shape=(n, n))
    return KeptChoices(grade, ByPairs.of_upper(upper), arrays["penalty"], arrays["average"])
