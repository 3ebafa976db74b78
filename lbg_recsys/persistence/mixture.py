"""A fitted `LBGMixture` in a file, with the statistics that `partial_fit` continues from."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lbg_recsys.persistence.estimators import FITTED, EstimatorFile
from lbg_recsys.persistence.schema import Array

WEIGHTS = Array("f4 f8", ("topics",), low=0.0, distribution=True)
LABELS = Array("i8", ("documents",), low=0)


class MixtureFile(EstimatorFile):
    """`LBGMixture`: parameters of the topics, cross-Gaussians, sufficient statistics."""

    model = "lbg_recsys.text.mixture:LBGMixture"
    sizes: ClassVar[Mapping[str, str]] = {"topics": "n_components"}
    facts: ClassVar[Mapping[str, Any]] = FITTED | {
        "length_temper_": float | None,
        "_statistics.n_rows": float,
        "_statistics.evidence": float,
        "_totals.n_rows": float,
    }
    arrays: ClassVar[Mapping[str, Array]] = {
        "weights_": WEIGHTS,
        "keyword_prob_": Array("f4 f8", ("topics", "words"), low=0.0, high=1.0),
        "means_": Array("f4 f8", ("topics", "words")),
        "variances_": Array("f4 f8", ("topics", "words"), low=1e-300),
        "cross_means_": Array("f4 f8", ("words",)),
        "cross_variances_": Array("f4 f8", ("words",), low=1e-300),
        "n_keywords_": Array("i8", ("topics",), low=1),
        "labels_": LABELS,
        "_statistics.mass": Array("f8", ("topics",), low=0.0),
        "_statistics.count": Array("f8", ("words", "topics"), low=0.0),
        "_statistics.first": Array("f8", ("words", "topics")),
        "_statistics.second": Array("f8", ("words", "topics")),
        "_totals.first": Array("f8", ("words",)),
        "_totals.second": Array("f8", ("words",)),
    }
    groups: ClassVar[Mapping[str, str]] = {
        "_statistics": "lbg_recsys.core.em.statistics:SufficientStatistics",
        "_totals": "lbg_recsys.core.em.keywords:Totals",
    }
