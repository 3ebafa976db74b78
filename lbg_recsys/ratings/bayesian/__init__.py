"""Bayesian LBG as a rating model."""

from lbg_recsys.ratings.bayesian.model import BayesianLBGModel

__all__ = ["BayesianLBGModel"]
