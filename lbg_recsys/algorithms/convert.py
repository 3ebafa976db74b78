"""Between Surprise and our models: everything that knows how a Surprise data set or trainset is built."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from surprise import Dataset, Reader

from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.ratings.ids import IdIndex
from lbg_recsys.ratings.matrix import RatingMatrix, as_ratings, whose_rating
from lbg_recsys.words import class_of


def matrix_of(trainset: Any) -> RatingMatrix:
    """Convert a Surprise trainset to a matrix whose codes are the inner ids of the trainset.

    Surprise knows the ends of the scale; the levels between them are found among the ratings. A trainset made by
    `trainset_of` also has the attribute ``scale``, a `RatingScale` with all levels, which then takes precedence.

    Parameters
    ----------
    trainset : surprise.Trainset
        The ratings.

    Returns
    -------
    RatingMatrix
        The same ratings, for the ``fit`` of a rating model.

    Raises
    ------
    DataError
        If the trainset is empty, or a rating is not finite or off the scale.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> from lbg_recsys.datasets import load_sample
    >>> matrix = matrix_of(to_surprise(load_sample()).build_full_trainset())
    >>> LBGModel(n_topics=2, random_state=0).fit(matrix).matrix.n_users
    200
    """
    if trainset.n_ratings == 0:
        raise DataError("the trainset is empty: at least one rating is needed")
    entries = np.fromiter(
        (number for user, rated in trainset.ur.items() for item, r in rated for number in (user, item, r)),
        dtype=np.float64,
        count=3 * trainset.n_ratings,
    ).reshape(-1, 3)
    users = IdIndex(trainset.to_raw_uid(u) for u in range(trainset.n_users))
    items = IdIndex(trainset.to_raw_iid(i) for i in range(trainset.n_items))
    codes = entries[:, :2].astype(np.int32)
    values = as_ratings(entries[:, 2], lambda row: whose_rating(users, items, *codes[row]))
    scale = getattr(trainset, "scale", trainset.rating_scale)
    return RatingMatrix.from_codes(users, items, codes[:, 0], codes[:, 1], values, scale=scale)


def trainset_of(*matrices: RatingMatrix) -> Any:
    """Convert one or more matrices over the same items and scale to one Surprise trainset.

    Our algorithms take the scale with all its levels from it, also levels that no rating of this part has.

    Parameters
    ----------
    *matrices : RatingMatrix
        The ratings.

    Returns
    -------
    surprise.Trainset
        All ratings, with the scale of the first matrix as its attribute ``scale``.
    """
    frames = [
        pd.DataFrame(
            {
                "user": matrix.users.raws(matrix.user_codes),
                "item": matrix.items.raws(matrix.item_codes),
                "rating": matrix.values,
            }
        )
        for matrix in matrices
    ]
    scale = matrices[0].scale
    trainset = dataset_of(pd.concat(frames, ignore_index=True), (scale.low, scale.high)).build_full_trainset()
    trainset.scale = scale
    return trainset


class _Ratings(Protocol):
    @property
    def ratings(self) -> pd.DataFrame: ...

    @property
    def scale(self) -> tuple[float, float]: ...


def to_surprise(data: _Ratings) -> Any:
    """Convert the ratings of a data set to a Surprise ``Dataset``.

    Parameters
    ----------
    data : RatingData
        What a loader of `lbg_recsys.datasets` returns. The last rating counts where a pair was rated twice.

    Returns
    -------
    surprise.Dataset
        For cross-validation and for trainsets, without times.

    Raises
    ------
    ParameterError
        If ``data`` is another table of ratings.

    Examples
    --------
    >>> from lbg_recsys.datasets import load_sample
    >>> to_surprise(load_sample()).build_full_trainset().n_users
    200
    """
    if not hasattr(data, "ratings") or not hasattr(data, "scale"):
        raise ParameterError(
            f"data is {class_of(data)}: give what a loader of lbg_recsys.datasets returns "
            "(surprise.Dataset.load_from_df takes a DataFrame)"
        )
    columns = ["user", "item", "rating"]
    return dataset_of(data.ratings[columns].drop_duplicates(columns[:2], keep="last"), data.scale)


def dataset_of(frame: pd.DataFrame, scale: tuple[float, float]) -> Any:
    """Convert a frame with the columns user, item and rating to a Surprise ``Dataset``, in the same order.

    Parameters
    ----------
    frame : DataFrame
        One rating per row. A column timestamp goes into ``raw_ratings`` of the data set.
    scale : tuple of float
        The lowest and the highest rating.

    Returns
    -------
    surprise.Dataset
        For cross-validation and for trainsets.
    """
    dataset = Dataset.load_from_df(frame[["user", "item", "rating"]], Reader(rating_scale=scale))
    if "timestamp" in frame:  # Surprise reads times from files only
        rows = zip(dataset.raw_ratings, frame["timestamp"].tolist(), strict=True)
        dataset.raw_ratings = [(user, item, rating, moment) for (user, item, rating, _), moment in rows]
    return dataset
