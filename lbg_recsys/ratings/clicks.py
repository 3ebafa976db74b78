"""Choices as a matrix: from a click log, a table of purchases, or ratings."""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse

from lbg_recsys.errors import DataError
from lbg_recsys.ratings.ids import as_column, factorize, plain_ids
from lbg_recsys.ratings.matrix import RatingMatrix, as_matrix, stored_entries
from lbg_recsys.ratings.source import is_source
from lbg_recsys.ratings.tables import columns_of, is_table
from lbg_recsys.words import class_of


def as_choices(choices: Any) -> RatingMatrix:
    """A matrix of who took what, with ratings if there are any; see `ChoiceModel.fit`."""
    matrix = _read(choices)
    if matrix.scale.levels.tolist() == [0.0, 1.0] and not matrix.values.all():
        warnings.warn(
            "the ratings are 0 and 1, and an item with 0 counts as taken too: if 0 means not taken, leave it out",
            UserWarning,
            stacklevel=3,
        )
    return matrix


def _read(choices: Any) -> RatingMatrix:
    if isinstance(choices, tuple) and len(choices) == 2:
        return _matrix_of(*choices)
    if issparse(choices):
        users, items, counts = stored_entries(choices)
        _check_counts(
            counts,
            "stored entry",
            "drop stored zeros (eliminate_zeros of a CSR matrix) and give the rest a 1 (data[:] = 1)",
        )
        return _matrix_of(users, items)
    if is_table(choices):
        users, items, ratings, counts = columns_of(choices, ["user", "item"], "choices", optional=["rating", "count"])
        if counts is not None and ratings is None:
            _check_counts(counts)
        return _from_columns(users, items, ratings)
    if is_source(choices) or hasattr(choices, "ur") or isinstance(choices, tuple):
        return as_matrix(choices)
    raise DataError(
        f"choices cannot be read from {class_of(choices)}: give a DataFrame with user and item, "
        "a (users, items) tuple, a scipy.sparse matrix or a RatingMatrix"
    )


def _from_columns(users: Any, items: Any, ratings: Any) -> RatingMatrix:
    import pandas as pd

    if ratings is not None and len(ratings):
        if pd.Series(ratings).nunique(dropna=False) > 1:
            return RatingMatrix.from_arrays(users, items, ratings)
        warnings.warn(
            f"the column rating is {plain_ids(ratings)[0]} in all {len(ratings)} rows and carries no information: "
            "only who took what is used",
            UserWarning,
            stacklevel=5,
        )
    return _matrix_of(users, items)


def _check_counts(counts: Any, where: str = "row", remedy: str = "if these are no counts, rename the column") -> None:
    try:
        values = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"counts must be numbers: {error}") from error
    bad = np.flatnonzero(~((values >= 1) & (values == np.floor(values)) & np.isfinite(values)))
    if len(bad):
        others = f", nor are {len(bad) - 1} more" if len(bad) > 1 else ""
        raise DataError(
            f"the count in {where} {bad[0]} is {values[bad[0]]:g}, which is not a whole number of at least 1"
            f"{others}: leave out items that were not taken; {remedy}"
        )


def _matrix_of(users: Any, items: Any) -> RatingMatrix:
    """The matrix of choices without ratings: every cell has the one level 1."""
    users, items = as_column(users), as_column(items)
    if len(users) != len(items):
        raise DataError(f"{len(users)} users and {len(items)} items: lengths must agree")
    if not len(users):
        raise DataError("there are no choices: at least one is needed")
    user_index, user_codes = factorize(users, "the user id")
    item_index, item_codes = factorize(items, "the item id")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a pair may be chosen many times, which is not an error
        return RatingMatrix.from_codes(user_index, item_index, user_codes, item_codes, np.ones(len(user_codes)))
