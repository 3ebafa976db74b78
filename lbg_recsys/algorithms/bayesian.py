"""Bayesian LBG as a Surprise algorithm."""

from dataclasses import dataclass
from typing import Any

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.ratings.bayesian.model import BayesianLBGModel
from lbg_recsys.ratings.settings import BayesianLBGSettings
from lbg_recsys.settings import setting


@dataclass(kw_only=True, eq=False, repr=False)
class _Settings(BayesianLBGSettings):
    """Those of the model, and the arguments of its ``fit`` that a trainset does not have."""

    item_features: object = setting(None, "What is known about the items, by raw id; see `BayesianLBGModel.fit`.")
    user_features: object = setting(None, "What is known about the users, by raw id; see `BayesianLBGModel.fit`.")


class BayesianLBGAlgo(_Settings, RatingAlgo):
    """Bayesian LBG: several latent classes a user whose means add up, averaged over the posterior by Gibbs sampling.

        utility t_ui = g + b_u + b_i + sum_h c[h, i, z[h, u]] + noise,   noise ~ N(0, 1 / (alpha_u gamma_i))
        rating  r_ui = t_ui (Gaussian), or the level whose interval (B[r-1], B[r]] holds t_ui (ordinal)
        class   z[h, u] ~ Categorical(lam_h);   class mean c[h, i, s] ~ N(phi_i . eta[h, s], 1 / tau_h)

    phi_i is the item's indicator profile: which classes of users have rated it, how often or not. Through it *which*
    items somebody rated tells *how* they rate, as the Bernoulli part of the paper's model does. Other chains have
    users and items change places. A prediction is the average over all kept sweeps of all chains.

    An unknown item is predicted as one more of the items that the user rates, an unknown user as one more of those
    who rate the item. Cost: O(ratings * n_components * n_classes) per sweep.
    """

    MODEL = BayesianLBGModel

    model_: BayesianLBGModel

    def _beside_ratings(self) -> dict[str, Any]:
        return {"item_features": self.item_features, "user_features": self.user_features}
