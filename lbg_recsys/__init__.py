"""The Latent Bernoulli-Gauss model for recommenders and text.

The public names and parts load on first use, so that ``import lbg_recsys`` costs next to nothing
and needs neither Surprise nor scikit-learn until one of their classes is asked for.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "LBGAlgo": "lbg_recsys.algorithms",
    "BayesianLBGAlgo": "lbg_recsys.algorithms",
    "GaussianPLSAAlgo": "lbg_recsys.algorithms",
    "MovieMeanAlgo": "lbg_recsys.algorithms",
    "LBGModel": "lbg_recsys.ratings",
    "BayesianLBGModel": "lbg_recsys.ratings",
    "ChoiceModel": "lbg_recsys.ratings",
    "RatingMatrix": "lbg_recsys.ratings",
    "save": "lbg_recsys.persistence",
    "load": "lbg_recsys.persistence",
}

_PARTS = frozenset(
    {
        *("algorithms", "datasets", "distributed", "errors", "evaluation", "persistence", "presets", "progress"),
        *("ratings", "readers", "report", "text"),
    }
)

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _PARTS:
        return import_module(f"lbg_recsys.{name}")
    raise AttributeError(f"module 'lbg_recsys' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS})
