"""The paper's Baseline: the mean vote of each movie."""

from typing import Any

import numpy as np
from surprise import AlgoBase, PredictionImpossible

from lbg_recsys.algorithms.convert import matrix_of
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings.fitted import FitFirst


class MovieMeanAlgo(FitFirst, AlgoBase):  # type: ignore[misc]  # Surprise ships no types
    """Predict every rating of an item by the mean of its ratings in the training data.

    An unknown item has no mean: the prediction is impossible, and Surprise falls back to the global mean.

    Attributes
    ----------
    item_means_ : float array of shape (n_items,)
        The mean rating of each item, by inner ids.
    trainset : surprise.Trainset
        What it was fitted to.

    Examples
    --------
    >>> from surprise import Dataset, Reader
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rating": [5, 1, 4, 2]})
    >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    >>> MovieMeanAlgo().fit(trainset).predict(1, "a").est
    4.5
    """

    MADE_BY_FIT = ("trainset", "item_means_", "bu", "bi")

    ignores_users = True  # forced prediction may fit it once, on the training users alone

    def __init__(self) -> None:
        AlgoBase.__init__(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def fit(self, trainset: Any, progress: Progress = silent) -> "MovieMeanAlgo":
        """Take the mean of every item.

        Parameters
        ----------
        trainset : surprise.Trainset
            The ratings.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` once.

        Returns
        -------
        MovieMeanAlgo
            The algorithm itself.

        Examples
        --------
        >>> import pandas as pd
        >>> from surprise import Dataset, Reader
        >>> frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 1, 4]})
        >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
        >>> algo = MovieMeanAlgo().fit(trainset)
        >>> algo.item_means_.tolist()
        [4.5, 1.0]
        """
        matrix = matrix_of(trainset)
        AlgoBase.fit(self, trainset)
        count = np.bincount(matrix.item_codes, minlength=matrix.n_items)
        total = np.bincount(matrix.item_codes, matrix.values, minlength=matrix.n_items)
        self.item_means_ = total / np.maximum(count, 1)
        progress(1, 1, f"{matrix.n_items:,} means")
        return self

    def estimate(self, u: int | str, i: int | str) -> float:
        """Predict the rating of a pair of inner ids; Surprise calls this, and `predict` takes raw ids.

        Parameters
        ----------
        u, i : int or str
            Inner ids of the user and the item; strings where Surprise does not know them.

        Returns
        -------
        float
            The mean of the item's ratings.

        Raises
        ------
        PredictionImpossible
            If the item has no ratings.

        Examples
        --------
        >>> import pandas as pd
        >>> from surprise import Dataset, Reader
        >>> frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 1, 4]})
        >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
        >>> algo = MovieMeanAlgo().fit(trainset)
        >>> algo.estimate(trainset.to_inner_uid("bob"), trainset.to_inner_iid("x"))
        4.5
        """
        if isinstance(i, str):
            raise PredictionImpossible("the item has no rating in the training data")
        return float(self.item_means_[i])
