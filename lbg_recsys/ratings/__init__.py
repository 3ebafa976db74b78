"""Rating models apart from any library around them."""

from lbg_recsys.ratings.base import RatingModel
from lbg_recsys.ratings.bayesian import BayesianLBGModel
from lbg_recsys.ratings.explain import Explanation, Influences
from lbg_recsys.ratings.folded import FoldedUser
from lbg_recsys.ratings.lbg import LBGModel
from lbg_recsys.ratings.matrix import RatingMatrix, as_matrix
from lbg_recsys.ratings.scale import RatingScale

__all__ = [
    "BayesianLBGModel",
    "Explanation",
    "FoldedUser",
    "Influences",
    "LBGModel",
    "RatingMatrix",
    "RatingModel",
    "RatingScale",
    "as_matrix",
]
