"""Gaussian pLSA as a Surprise algorithm."""

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.ratings.settings import GaussianPLSASettings


class GaussianPLSAAlgo(GaussianPLSASettings, RatingAlgo):
    """Gaussian pLSA (Hofmann 2003), which the paper compares with.

    Pr(m | u, i) = sum_s Pr(s | u) N(m; c_si, var_si) over ratings standardised per user, by tempered EM that stops on
    held-out ratings.
    """

    MODEL = GaussianPLSAModel

    model_: GaussianPLSAModel
