"""Rating models, independent of Surprise.

The names load on first use: the settings of the models can be listed without compiling anything.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lbg_recsys.ratings.bayesian.model import BayesianLBGModel
    from lbg_recsys.ratings.choice import ChoiceModel, FoldedChooser
    from lbg_recsys.ratings.lbg import LBGModel
    from lbg_recsys.ratings.matrix import RatingMatrix, as_matrix
    from lbg_recsys.ratings.model import RatingModel
    from lbg_recsys.ratings.plsa import GaussianPLSAModel
    from lbg_recsys.ratings.questions.explain import Explanation, Influences
    from lbg_recsys.ratings.questions.new_item import FoldedItem
    from lbg_recsys.ratings.questions.new_user import FoldedUser
    from lbg_recsys.ratings.scale import RatingScale
    from lbg_recsys.ratings.store import RatingStore

_HOME = {
    "BayesianLBGModel": "bayesian.model",
    "ChoiceModel": "choice",
    "Explanation": "questions.explain",
    "FoldedChooser": "choice",
    "FoldedItem": "questions.new_item",
    "FoldedUser": "questions.new_user",
    "GaussianPLSAModel": "plsa",
    "Influences": "questions.explain",
    "LBGModel": "lbg",
    "RatingMatrix": "matrix",
    "RatingModel": "model",
    "RatingScale": "scale",
    "RatingStore": "store",
    "as_matrix": "matrix",
}

__all__ = [
    "BayesianLBGModel",
    "ChoiceModel",
    "Explanation",
    "FoldedChooser",
    "FoldedItem",
    "FoldedUser",
    "GaussianPLSAModel",
    "Influences",
    "LBGModel",
    "RatingMatrix",
    "RatingModel",
    "RatingScale",
    "RatingStore",
    "as_matrix",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"lbg_recsys.ratings.{_HOME[name]}"), name)
    raise AttributeError(f"module 'lbg_recsys.ratings' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
