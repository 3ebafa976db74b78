"""Gaussian pLSA as a Surprise algorithm."""

from typing import Any

from surprise import AlgoBase

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.progress import Progress
from lbg_recsys.ratings.plsa import GaussianPLSAModel


class GaussianPLSAAlgo(RatingAlgo):
    """Gaussian pLSA (Hofmann 2003), which the paper compares with.

    Pr(m | u, i) = sum_s Pr(s | u) N(m; c_si, var_si) over ratings standardised per user, by tempered EM that stops on
    held-out ratings. Parameters as in `lbg_recsys.ratings.plsa.GaussianPLSAModel`.
    """

    model_: GaussianPLSAModel

    def __init__(
        self,
        *,
        n_topics: int = 20,
        point: str = "mean",
        prior_strength: float = 5.0,
        holdout: float = 0.1,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        AlgoBase.__init__(self)
        self.n_topics = n_topics
        self.point = point
        self.prior_strength = prior_strength
        self.holdout = holdout
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit_model(self, trainset: Any, progress: Progress) -> GaussianPLSAModel:
        model = GaussianPLSAModel(
            n_topics=self.n_topics,
            point=self.point,
            prior_strength=self.prior_strength,
            holdout=self.holdout,
            max_iter=self.max_iter,
            random_state=self._seed(),
        )
        return model.fit(trainset, progress=progress)
