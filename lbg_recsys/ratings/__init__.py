"""Rating models apart from any library around them."""

from lbg_recsys.ratings.bayesian.model import BayesianLBGModel
from lbg_recsys.ratings.choice import ChoiceModel
from lbg_recsys.ratings.lbg import LBGModel
from lbg_recsys.ratings.matrix import RatingMatrix, as_matrix
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.explain import Explanation, Influences
from lbg_recsys.ratings.questions.new_user import FoldedUser
from lbg_recsys.ratings.scale import RatingScale

__all__ = [
    "BayesianLBGModel",
    "ChoiceModel",
    "Explanation",
    "FoldedUser",
    "Influences",
    "LBGModel",
    "RatingMatrix",
    "RatingModel",
    "RatingScale",
    "as_matrix",
]
