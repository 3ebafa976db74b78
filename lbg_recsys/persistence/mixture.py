"""A fitted `LBGMixture` in a file, with the statistics that `partial_fit` continues from."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.estimators import FITTED, EstimatorFile
from lbg_recsys.persistence.schema import Array

# The largest value that documents may have, and a little more for what rounding adds to means and sums of them.
_LARGEST = 1.001e150
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
        "means_": Array("f4 f8", ("topics", "words"), -_LARGEST, _LARGEST),
        "variances_": Array("f4 f8", ("topics", "words"), 1e-300, _LARGEST**2),
        "cross_means_": Array("f4 f8", ("words",), -_LARGEST, _LARGEST),
        "cross_variances_": Array("f4 f8", ("words",), 1e-300, _LARGEST**2),
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

    def check(self, estimator: Any) -> None:
        """The sums must be those of values that documents may have."""
        if estimator.length_temper_ is not None and not 0 < estimator.length_temper_ <= _LARGEST:
            raise DataError(f"length_temper_ is {estimator.length_temper_:g}, and it must be above 0")
        statistics, totals = estimator._statistics, estimator._totals
        most = (1.0 + 1e-9) * statistics.n_rows
        if not (statistics.n_rows >= 0 and statistics.mass.max() <= most and statistics.count.max() <= most):
            raise DataError(f"the statistics count more than their {statistics.n_rows:g} documents")
        for sums, amount in ((statistics, statistics.count), (totals, totals.n_rows)):
            first, second = np.abs(sums.first) / _LARGEST, np.abs(sums.second) / _LARGEST / _LARGEST
            if not ((first <= amount).all() and (second <= amount).all()):
                raise DataError("the sums of values are not those of as many documents as are counted")
