"""A fitted `LBGClassifier` in a file."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.estimators import COMMON, EstimatorFile
from lbg_recsys.persistence.schema import Array


class ClassifierFile(EstimatorFile):
    """`LBGClassifier`: the classes, and the model of each."""

    model = "lbg_recsys.text.classifier:LBGClassifier"
    facts: ClassVar[Mapping[str, Any]] = COMMON | {
        "threshold_": float,
        "classes_": dict,
        "estimators_": list[dict[str, Any]],
    }
    arrays: ClassVar[Mapping[str, Array]] = {"class_log_prior_": Array("f8", ("classes",), high=0.0)}
    parts: ClassVar[Mapping[str, bool]] = {"estimators_": False}
    labels = ("classes_",)

    def check(self, estimator: Any) -> None:
        """Every class must have a model and a prior."""
        n = len(estimator.classes_)
        if n < 2 or len(estimator.estimators_) != n or len(estimator.class_log_prior_) != n:
            raise DataError(f"{n} classes with {len(estimator.estimators_)} models")
