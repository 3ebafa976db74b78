"""The ratings of a model, in a file: ids, titles and scale in the header, entries as arrays."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.ids import IdIndex, RawId
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.scale import RatingScale
from lbg_recsys.schema import AnyArray, Array, check_arrays, check_values

# A prediction has a probability for every level: far more than any scale has would only cost memory.
_MOST_LEVELS = 10_000

FACTS = {
    "users": list[int | str],
    "items": list[int | str],
    "titles": list[str | None] | None,
    "discrete": bool,
    "n_duplicates": int,
}

ARRAYS = {
    "levels": Array("f8", ("levels",)),
    "indptr": Array("i8", ("users + 1",), low=0),
    "items_of": Array("i4", ("ratings",), low=0),
    "values": Array("f8", ("ratings",)),
}


def take_apart(matrix: RatingMatrix, titles: Mapping[RawId, str]) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header values and arrays of a matrix."""
    facts = {
        "users": _savable(matrix.users, "user"),
        "items": _savable(matrix.items, "item"),
        "titles": [titles.get(item) for item in matrix.items] if titles else None,
        "discrete": bool(matrix.scale.discrete),
        "n_duplicates": int(matrix.n_duplicates),
    }
    arrays: dict[str, AnyArray] = {
        "levels": matrix.scale.levels,
        "indptr": matrix.rows.indptr,
        "items_of": matrix.rows.columns,
        "values": matrix.values,
    }
    return facts, arrays


def put_together(facts: dict[str, Any], arrays: dict[str, AnyArray]) -> tuple[RatingMatrix, dict[RawId, str]]:
    """The matrix and the titles that `take_apart` took apart, if they are such; else `DataError`."""
    check_values(facts, FACTS, "the header")
    users, items, titles = facts["users"], facts["items"], facts["titles"]
    check_arrays(arrays, ARRAYS, {"users + 1": len(users) + 1})
    levels, indptr, items_of = arrays["levels"], arrays["indptr"], arrays["items_of"]
    if not 1 <= len(levels) <= _MOST_LEVELS or (np.diff(levels) <= 0).any():
        raise DataError("the levels of the rating scale do not ascend")
    if indptr[0] != 0 or indptr[-1] != len(items_of) or (np.diff(indptr) < 0).any() or not len(items_of):
        raise DataError("the users' ratings do not add up")
    ascends = np.append(True, np.diff(items_of) > 0)
    ascends[indptr[indptr < len(items_of)]] = True  # a user begins
    if items_of.max() >= len(items) or not ascends.all():
        raise DataError("a rating is of an item that is not there, or the ratings of a user are not in order")
    if titles is not None and len(titles) != len(items):
        raise DataError(f"there are {len(titles)} titles for {len(items)} items")
    scale = RatingScale(levels, facts["discrete"])
    scale.refuse_outsiders(arrays["values"], lambda entry: f"number {entry}")
    rows = SparseRows.from_csr(indptr, items_of, arrays["values"], len(items))
    matrix = RatingMatrix(IdIndex(users), IdIndex(items), scale, rows, facts["n_duplicates"])
    named = zip(items, titles or (), strict=False)
    return matrix, {item: title for item, title in named if title is not None}


def _savable(ids: IdIndex, what: str) -> list[int | str]:
    for raw_id in ids:
        if type(raw_id) not in (int, str):
            shown = "NaN" if isinstance(raw_id, float) and math.isnan(raw_id) else repr(raw_id)
            raise DataError(
                f"the {what} id {shown} is a {type(raw_id).__name__}, and a model file keeps integers and strings: "
                "make the ids one of these before fitting"
            )
    return list(ids)
