"""Surprise algorithms: what `surprise.model_selection` can cross-validate, search and dump."""

from lbg_recsys.algorithms.bayesian import BayesianLBGAlgo
from lbg_recsys.algorithms.convert import to_surprise
from lbg_recsys.algorithms.lbg import LBGAlgo
from lbg_recsys.algorithms.movie_mean import MovieMeanAlgo
from lbg_recsys.algorithms.plsa import GaussianPLSAAlgo

__all__ = ["BayesianLBGAlgo", "GaussianPLSAAlgo", "LBGAlgo", "MovieMeanAlgo", "to_surprise"]
