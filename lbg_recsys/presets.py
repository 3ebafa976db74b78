"""Settings that we recommend over the paper's, each with the experiment that chose it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# LBGModel and LBGAlgo where ratings are to be predicted: the best log score of benchmarks/tune_lbg.py.
LBG_FOR_RATINGS: Mapping[str, Any] = MappingProxyType(
    {"n_topics": 10, "baseline": True, "temperature": 0.2, "indicator_weight": 0.0, "point": "mean"}
)

# LBGModel where lists are to be made: the best NDCG of benchmarks/tune_lists.py.
LBG_FOR_LISTS: Mapping[str, Any] = MappingProxyType({"n_topics": 30, "temperature": 0.15})

# BayesianLBGModel and BayesianLBGAlgo where accuracy counts more than time: many chains, whose classes then may be
# finer than those of a few. Chosen by benchmarks/ablate_bayesian.py.
BAYESIAN_STRONG: Mapping[str, Any] = MappingProxyType({"n_chains": 4, "n_classes": 5})
