"""Named settings that differ from the defaults of the classes, each with the experiment that chose it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# "lbg" on the command line. LBGModel and LBGAlgo with the best log score of benchmarks/tune_lbg.py.
LBG: Mapping[str, Any] = MappingProxyType(
    {
        "n_topics": 10,
        "baseline": True,
        "temperature": 0.2,
        "indicator_weight": 0.0,
        "point": "mean",
        "lists": "choice",
    }
)

# "bayesian-strong" on the command line. BayesianLBGModel and BayesianLBGAlgo with twice the chains, twice as long:
# less Monte Carlo error, and four times as slow. Chosen on an inner split (docs/bayesian-lbg.md, "Accuracy").
BAYESIAN_STRONG: Mapping[str, Any] = MappingProxyType({"n_chains": 2, "n_sweeps": 600})
