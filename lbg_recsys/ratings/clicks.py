"""Choices as a matrix: from a click log, a table of purchases, or ratings."""

import warnings
from typing import Any

import numpy as np

from lbg_recsys.errors import DataError
from lbg_recsys.ratings.ids import factorize
from lbg_recsys.ratings.matrix import RatingMatrix, as_matrix


def as_choices(choices: Any) -> RatingMatrix:
    """A matrix of who took what, with ratings if there are any; see `ChoiceModel.fit`."""
    if isinstance(choices, tuple) and len(choices) == 2:
        return _matrix_of(*choices)
    if hasattr(choices, "columns"):
        return _from_frame(choices)
    if isinstance(choices, RatingMatrix) or hasattr(choices, "ur") or isinstance(choices, tuple):
        return as_matrix(choices)
    raise DataError(
        f"choices cannot be read from a {type(choices).__name__}: give a DataFrame with user and item, "
        "a (users, items) tuple or a RatingMatrix"
    )


def _from_frame(frame: Any) -> RatingMatrix:
    names = ["user", "item"] if {"user", "item"} <= set(frame.columns) else list(frame.columns[:2])
    if len(names) < 2:
        raise DataError(f"choices need a user and an item column, and this table has only {list(frame.columns)!r}")
    if "count" in frame.columns:
        _check_counts(frame["count"])
    if "rating" in frame.columns and len(frame):
        if frame["rating"].nunique(dropna=False) > 1:
            return RatingMatrix.from_arrays(frame[names[0]], frame[names[1]], frame["rating"])
        warnings.warn(
            f"the column rating is {frame['rating'].iloc[0]} in all {len(frame)} rows and says nothing: "
            "only who took what is used",
            UserWarning,
            stacklevel=4,
        )
    return _matrix_of(frame[names[0]], frame[names[1]])


def _check_counts(counts: Any) -> None:
    try:
        values = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"counts must be numbers: {error}") from error
    bad = np.flatnonzero(~((values >= 1) & (values == np.floor(values)) & np.isfinite(values)))
    if len(bad):
        raise DataError(
            f"the count in row {bad[0]} is {values[bad[0]]:g} (and {len(bad) - 1} more are no whole numbers of at "
            "least 1): drop rows of items that were not taken, and give other amounts in a column of another name"
        )


def _matrix_of(users: Any, items: Any) -> RatingMatrix:
    """The matrix of choices without ratings: every cell has the one level 1."""
    if len(users) != len(items):
        raise DataError(f"{len(users)} users and {len(items)} items: lengths must agree")
    if not len(users):
        raise DataError("there are no choices: at least one is needed")
    user_index, user_codes = factorize(users, "the user id")
    item_index, item_codes = factorize(items, "the item id")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a pair may be chosen many times: that is no mistake
        return RatingMatrix.from_codes(user_index, item_index, user_codes, item_codes, np.ones(len(user_codes)))
