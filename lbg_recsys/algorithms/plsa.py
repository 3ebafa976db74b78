"""Gaussian pLSA as a Surprise algorithm."""

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.ratings.settings import GaussianPLSASettings


class GaussianPLSAAlgo(GaussianPLSASettings, RatingAlgo):
    """Gaussian pLSA (Hofmann 2003), which the paper compares with.

    Pr(m | u, i) = sum_s Pr(s | u) N(m; c_si, var_si) over ratings standardised per user, by tempered EM that stops on
    held-out ratings.

    Attributes
    ----------
    model_ : GaussianPLSAModel
        The fitted model.
    trainset : surprise.Trainset
        What it was fitted to.

    Examples
    --------
    >>> from surprise import Dataset, Reader
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rating": [5, 1, 4, 2]})
    >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    >>> round(GaussianPLSAAlgo(n_topics=1, random_state=0).fit(trainset).predict(1, "a").est, 1)
    3.3
    """

    MODEL = GaussianPLSAModel

    model_: GaussianPLSAModel
