"""Bayesian LBG as a Surprise algorithm."""

from dataclasses import dataclass
from typing import Any

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.core.types import Ints
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings.bayesian.model import BayesianLBGModel
from lbg_recsys.ratings.bayesian.times import PairTimes
from lbg_recsys.ratings.scoring import RatingDistribution
from lbg_recsys.ratings.settings import BayesianLBGSettings
from lbg_recsys.settings import named_arguments, setting


@named_arguments
@dataclass(kw_only=True, eq=False, repr=False)
class _Settings(BayesianLBGSettings):
    """Those of the model, and the arguments of its ``fit`` that a trainset does not have."""

    item_features: object = setting(None, "What is known about the items, by raw id; see `BayesianLBGModel.fit`.")
    user_features: object = setting(None, "What is known about the users, by raw id; see `BayesianLBGModel.fit`.")
    time: object = setting(
        None,
        """When ratings were given: a table with user, item (raw ids) and timestamp. It has the times of the testset
        too: a trainset has none.""",
    )


class BayesianLBGAlgo(_Settings, RatingAlgo):
    """Bayesian LBG: several latent classes per user, whose means add up, and factors, averaged over Gibbs sweeps.

        utility t_ui = g + b_u + b_i + sum_h c[h, i, z[h, u]] + f_u . g_i + noise
        noise   ~ N(0, 1 / (alpha_u gamma_i))
        rating  r_ui = t_ui (Gaussian), or the level whose interval (B[r-1], B[r]] holds t_ui (ordinal)
        class   z[h, u] ~ Categorical(lam_h);   class mean c[h, i, s] ~ N(phi_i . eta[h, s], 1 / tau_h)

    phi_i is the item's indicator profile: how often each class of users has rated it. Through it *which* items
    somebody rated is evidence of *how* they rate, as in the Bernoulli part of the paper's model. In half of the
    chains users and items are exchanged. The expected rating is an average over the kept sweeps of all chains; the
    shape of the distribution is that of the ordinal chains, if there are any.

    An unknown item is predicted as one more of the items that the user rates, an unknown user as one more of those
    who rate the item. A sweep takes O(ratings (n_components n_classes + R^2) + (users + items) R^3) with R factors.

    Attributes
    ----------
    model_ : BayesianLBGModel
        The fitted model.
    trainset : surprise.Trainset
        What it was fitted to.

    Examples
    --------
    >>> from lbg_recsys.algorithms import to_surprise
    >>> from lbg_recsys.datasets import load_sample
    >>> algo = BayesianLBGAlgo(n_sweeps=20, likelihood="gaussian", orientation="users", random_state=0)
    >>> prediction = algo.fit(to_surprise(load_sample()).build_full_trainset()).predict(3, 8)
    >>> len(prediction.details["distribution"])
    5
    """

    MODEL = BayesianLBGModel
    MADE_BY_FIT = ("_times",)

    model_: BayesianLBGModel
    _times: PairTimes | None

    def fit(self, trainset: Any, progress: Progress = silent) -> "BayesianLBGAlgo":  # noqa: D102 - inherited
        super().fit(trainset, progress)
        matrix = self.model_.matrix
        self._times = None if self.time is None else PairTimes.of(self.time, matrix.users, matrix.items)
        return self

    def _beside_ratings(self) -> dict[str, Any]:
        return {"item_features": self.item_features, "user_features": self.user_features, "time": self.time}

    def _distribution_of(self, users: Ints, items: Ints) -> RatingDistribution:
        times = None if self._times is None else self._times.at(users, items)
        return self.model_.distribution_of(users, items, times)
