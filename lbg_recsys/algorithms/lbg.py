"""The paper's model as a Surprise algorithm."""

from typing import Any

from surprise import AlgoBase

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.progress import Progress
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.lbg import PARAMETERS, LBGModel
from lbg_recsys.ratings.questions.explain import Explanation


class LBGAlgo(RatingAlgo):
    """The Latent Bernoulli-Gauss model for collaborative filtering.

    A user belongs to one of ``n_topics`` topics. Topic s rates item i with probability p_si, and if it does, with a
    rating ~ N(c_si, var_si) (Eqn. cf of the paper):

        Pr(d | s) = prod_i ( p_si N(m_i; c_si, var_si) )^x_i (1 - p_si)^(1 - x_i)

    EM fits lam, p, c and var (Eqns. up-l to up-sig, with ``prior_strength`` pseudo-ratings). A prediction sets
    x_i = 1, takes Pr(m_i = t | d) = sum_s Pr(s | d) N(t; c_si, var_si) over the levels t of the scale, normalised,
    and returns its ``point``.

    Unknown user: the prior over topics. Unknown item: the user's expected rating of an average item.

    Parameters
    ----------
    n_topics : int, default 5
        Number of topics.
    point : "mode" | "mean" | "median", default "mode"
        The paper's argmax; the mean has the least RMSE, the median the least MAE.
    temperature : float in (0, 1], default 1.0
        Power of the posteriors: below 1 they are less over-confident.
    indicator_weight : float, default 1.0
        Weight of *which* items a user rated against *how*; 0 ignores it.
    baseline : bool, default False
        Fit on the residual of global mean + user bias + item bias.
    prior_strength : float, default 5.0
        Pseudo-ratings that shrink each topic's item parameters to the item's own. 0 is the paper's exact update.
    n_init : int, default 1
        Restarts; the best penalised likelihood is kept.
    max_iter : int, default 100
    tol : float, default 1e-4
        EM stops when an iteration gains less penalised log-likelihood per user.
    random_state : int, RandomState or None
    verbose : bool, default False
        Show a progress bar with the bound on standard error, or ten lines where that is no terminal.

    >>> from surprise import Dataset, Reader
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rating": [5, 1, 4, 2]})
    >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    >>> LBGAlgo(n_topics=1, random_state=0).fit(trainset).predict(1, "a").est
    4.0
    """

    model_: LBGModel

    def __init__(
        self,
        *,
        n_topics: int = 5,
        point: str = "mode",
        temperature: float = 1.0,
        indicator_weight: float = 1.0,
        baseline: bool = False,
        prior_strength: float = 5.0,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        AlgoBase.__init__(self)
        self.n_topics = n_topics
        self.point = point
        self.temperature = temperature
        self.indicator_weight = indicator_weight
        self.baseline = baseline
        self.prior_strength = prior_strength
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _fit_model(self, trainset: Any, progress: Progress) -> LBGModel:
        parameters = {name: getattr(self, name) for name in PARAMETERS} | {"random_state": self._seed()}
        return LBGModel(**parameters).fit(trainset, progress=progress)

    def explain(self, user: RawId, item: RawId) -> Explanation:
        """Why a rating is predicted as it is: an exact decomposition over the user's own ratings."""
        return self.model_.explain(user, item)

    def partial_fit(self, ratings: Any, *, update: bool = True) -> "LBGAlgo":
        """Take in new users, items or ratings by one step instead of a new fit; see `LBGModel.partial_fit`.

        Surprise's trainset stays what it was; `predict`, `test` and everything else speak for the updated model.
        An algorithm that was never fitted needs a trainset first, which is what Surprise's tools ask it for.
        """
        self.model_.partial_fit(ratings, update=update)
        return self
