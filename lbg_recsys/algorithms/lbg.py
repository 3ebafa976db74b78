"""The paper's model as a Surprise algorithm."""

from typing import Any

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.lbg import LBGModel
from lbg_recsys.ratings.questions.explain import Explanation
from lbg_recsys.ratings.settings import LBGSettings


class LBGAlgo(LBGSettings, RatingAlgo):
    """The Latent Bernoulli-Gauss model for collaborative filtering.

    A user belongs to one of ``n_topics`` topics. Topic s rates item i with probability p_si, and if it does, with a
    rating ~ N(c_si, var_si) (Eq. 10 of the paper):

        Pr(d | s) = prod_i ( p_si N(m_i; c_si, var_si) )^x_i (1 - p_si)^(1 - x_i)

    EM fits lam, p, c and var (Eqs. (2) to (4), with ``prior_strength`` pseudo-ratings). A prediction sets
    x_i = 1, takes Pr(m_i = t | d) = sum_s Pr(s | d) N(t; c_si, var_si) over the levels t of the scale, normalised,
    and returns its ``point``.

    Unknown user: the prior over topics. Unknown item: the user's expected rating of an average item.

    Attributes
    ----------
    model_ : LBGModel
        The fitted model.
    trainset : surprise.Trainset
        What it was fitted to.

    Examples
    --------
    >>> from surprise import Dataset, Reader
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rating": [5, 1, 4, 2]})
    >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    >>> LBGAlgo(n_topics=1, random_state=0).fit(trainset).predict(1, "a").est
    4.0
    """

    MODEL = LBGModel

    model_: LBGModel

    def explain(self, user: RawId, item: RawId) -> Explanation:
        """Explain a prediction by an exact decomposition over the user's own ratings.

        Parameters
        ----------
        user, item : id
            Raw ids of a known user and a known item.

        Returns
        -------
        Explanation
            The prediction and its reasons; ``print`` shows them.

        Raises
        ------
        DataError
            If the user or the item is unknown.

        Examples
        --------
        >>> import pandas as pd
        >>> from surprise import Dataset, Reader
        >>> frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 1, 4]})
        >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
        >>> algo = LBGAlgo(n_topics=1, random_state=0).fit(trainset)
        >>> why = algo.explain("bob", "y")
        >>> why.prediction, [one.item for one in why.evidence]
        (3.0, ['x'])
        """
        return self.model_.explain(user, item)

    def partial_fit(self, ratings: Any, *, update: bool = True) -> "LBGAlgo":
        """Take in new users, items or ratings by one step instead of a new fit; see `LBGModel.partial_fit`.

        Surprise's trainset does not change; `predict`, `test` and all other methods use the updated model. An
        algorithm that was never fitted needs a trainset first, because Surprise's tools ask it for one.

        Parameters
        ----------
        ratings : DataFrame, tuple of (users, items, ratings), sparse matrix or RatingMatrix
            Raw ids, and ratings on the scale of the model.
        update : bool, default=True
            Whether the M-step follows at once.

        Returns
        -------
        LBGAlgo
            The algorithm itself.

        Raises
        ------
        NotFittedError
            If the algorithm was never fitted.
        DataError
            If a rating is off the scale of the model.

        Examples
        --------
        >>> import pandas as pd
        >>> from surprise import Dataset, Reader
        >>> frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 1, 4]})
        >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
        >>> algo = LBGAlgo(n_topics=1, random_state=0).fit(trainset)
        >>> algo.partial_fit((["cid"], ["y"], [2])).recommend("cid")["item"].tolist()
        ['x']
        """
        self.model_.partial_fit(ratings, update=update)
        return self
