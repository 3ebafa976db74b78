"""Bayesian LBG as a Surprise algorithm."""

from copy import copy
from typing import Any

import numpy as np
from surprise import AlgoBase

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.progress import Progress
from lbg_recsys.ratings.bayesian.model import BayesianLBGModel
from lbg_recsys.schema import signature_of


class BayesianLBGAlgo(RatingAlgo):
    """Bayesian LBG: several latent classes a user whose means add up, averaged over the posterior by Gibbs sampling.

        utility t_ui = g + b_u + b_i + sum_h c[h, i, z[h, u]] + noise,   noise ~ N(0, 1 / (alpha_u gamma_i))
        rating  r_ui = t_ui (Gaussian), or the level whose interval (B[r-1], B[r]] holds t_ui (ordinal)
        class   z[h, u] ~ Categorical(lam_h);   class mean c[h, i, s] ~ N(phi_i . eta[h, s], 1 / tau_h)

    phi_i is the item's indicator profile: which classes of users have rated it, how often or not. Through it *which*
    items somebody rated tells *how* they rate, as the Bernoulli part of the paper's model does. Other chains have
    users and items change places. A prediction is the average over all kept sweeps of all chains.

    Unknown users and items are predicted from the priors. Cost: O(ratings * n_components * n_classes) a sweep.

    Parameters
    ----------
    n_components : int, default 16
        Components H, each with its own classes.
    n_classes : int, default 3
        Classes of a component.
    n_sweeps, burn_in : int, default 250 and 60
        Gibbs sweeps of a chain, and how many of the first are not used.
    n_chains : int, default 1
        Chains per orientation and likelihood. More are better and cost more: 4 are recommended for accuracy.
    orientation : "both" | "users" | "items", default "both"
        Who has the classes; "both" runs chains of either kind.
    likelihood : "mixed" | "ordinal" | "gaussian", default "mixed"
        How a rating follows from its utility; "mixed" runs chains of either kind. More than 25 levels are Gaussian.
    point : "mean" | "median" | "mode", default "mean"
        The mean has the least RMSE, the median the least MAE.
    max_kept : int, default 64
        Sweeps kept per chain, evenly spaced: it bounds the memory (about 0.1 MB each on MovieLens-100K).
    warm_start : bool, default False
        A further ``fit`` on the same trainset runs ``n_sweeps`` more sweeps. A changed ``point``, ``n_sweeps``,
        ``n_jobs`` or ``verbose`` takes effect; with any other changed parameter, or other ratings, it starts again.
    random_state : int, RandomState or None
    n_jobs : int, default 1
        Threads for the chains; the results are the same bits.
    verbose : bool, default False
        Show a progress bar with the training error on standard error, or ten lines where that is no terminal.
    """

    model_: BayesianLBGModel

    def __init__(
        self,
        *,
        n_components: int = 16,
        n_classes: int = 3,
        n_sweeps: int = 250,
        burn_in: int = 60,
        n_chains: int = 1,
        orientation: str = "both",
        likelihood: str = "mixed",
        point: str = "mean",
        max_kept: int = 64,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int = 1,
        verbose: bool = False,
    ) -> None:
        AlgoBase.__init__(self)
        self.n_components = n_components
        self.n_classes = n_classes
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.orientation = orientation
        self.likelihood = likelihood
        self.point = point
        self.max_kept = max_kept
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_model(self, trainset: Any, progress: Progress) -> BayesianLBGModel:
        parameters = {name: getattr(self, name) for name in signature_of(BayesianLBGModel)}
        if self.warm_start and hasattr(self, "model_"):
            model = copy(self.model_)  # which stays as it is if this fit fails
            if not isinstance(self.random_state, (int, np.integer)):
                parameters["random_state"] = model.random_state  # drawn for the fit that this one goes on with
            for name, value in parameters.items():
                setattr(model, name, value)
        else:
            model = BayesianLBGModel(**parameters | {"random_state": self._seed()})
        return model.fit(trainset, progress=progress)
