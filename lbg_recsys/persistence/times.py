"""The calendar of a model that was fitted with times, in its file: the occasions whose effects are kept."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.schema import AnyArray, Array

if TYPE_CHECKING:
    from lbg_recsys.ratings.bayesian.times import Calendar
    from lbg_recsys.ratings.matrix import RatingMatrix

_FURTHEST = 10**11  # seconds from 1970


def layout(sizes: list[int] | None) -> tuple[dict[str, Array], dict[str, int]]:
    """The arrays of the calendar, and how many occasions and kinds of them there are."""
    numbers = {"occasions": sum(sizes or ()), "kinds of occasions": len(sizes or ())}
    if not sizes:
        return {}, numbers
    arrays = {
        "when_owner": Array("i4", ("occasions",), 0, np.iinfo(np.int32).max),
        "when_period": Array("i8", ("occasions",), -_FURTHEST, _FURTHEST),
    }
    return arrays, numbers


def take_apart(calendar: "Calendar | None") -> tuple[list[int] | None, dict[str, AnyArray]]:
    """The number of occasions of each kind, and the arrays; None and no arrays without times."""
    if calendar is None:
        return None, {}
    return list(calendar.sizes), {"when_owner": calendar.owner, "when_period": calendar.period}


def put_together(
    sizes: list[int] | None, arrays: Mapping[str, AnyArray], matrix: "RatingMatrix"
) -> "Calendar | None":
    """The calendar that `take_apart` took apart; `DataError` if it is not one."""
    from lbg_recsys.core.gibbs.kinds import Side
    from lbg_recsys.ratings.bayesian.times import LENGTHS, Calendar

    if sizes is None:
        return None
    if len(sizes) != len(LENGTHS) or min(sizes) < 1:
        raise DataError(f"there are occasions of {len(sizes)} kinds, not {len(LENGTHS)}")
    calendar, first = Calendar(arrays["when_owner"], arrays["when_period"], tuple(sizes)), 0
    for length, size in zip(LENGTHS, sizes, strict=True):
        owner, period = (one[first : first + size] for one in (calendar.owner, calendar.period))
        most = matrix.n_users if length.side is Side.USERS else matrix.n_items
        ascends = (np.diff(owner) > 0) | ((np.diff(owner) == 0) & (np.diff(period) > 0))
        if owner.max() >= most or not ascends.all():
            raise DataError("the occasions are not in the order of their owners and times")
        first += size
    return calendar
