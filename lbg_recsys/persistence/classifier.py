"""A fitted `LBGClassifier` in a file."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lbg_recsys.core.em.parameters import KINDS
from lbg_recsys.errors import DataError
from lbg_recsys.persistence.estimators import COMMON, EstimatorFile
from lbg_recsys.persistence.schema import Array


class ClassifierFile(EstimatorFile):
    """`LBGClassifier`: the classes, and the model of each."""

    model = "lbg_recsys.text.classifier:LBGClassifier"
    facts: ClassVar[Mapping[str, Any]] = COMMON | {
        "scale_": float,
        "classes_": dict,
        "estimators_": list[dict[str, Any]],
    }
    arrays: ClassVar[Mapping[str, Array]] = {
        "class_log_prior_": Array("f8", ("classes",), high=0.0),
        "class_count_": Array("f8", ("classes",), low=0.0),
        "thresholds_": Array("f8", ("classes",)),
        "exponents_": Array("f8", ("kinds",), low=0.0),
        "bias_": Array("f8", ("classes",)),
        "correction_": Array("f8", ("features", "classes")),
        "correction_precision_": Array("f8", ("weights",), low=0.0),
    }
    parts: ClassVar[Mapping[str, bool]] = {"estimators_": False}
    labels = ("classes_",)

    def check(self, estimator: Any) -> None:
        """Every class must have a model and a prior."""
        n = len(estimator.classes_)
        if n < 2 or len(estimator.estimators_) != n or len(estimator.class_log_prior_) != n:
            raise DataError(f"{n} classes with {len(estimator.estimators_)} models")
        weighted, features = len(estimator.exponents_), len(estimator.correction_)
        if weighted not in (0, len(KINDS)) or features not in (0, 2 * estimator.n_features_in_):
            raise DataError(f"the rule has {weighted} exponents and {features} weights of the correction per class")
        if len(estimator.correction_precision_) != (1 + n + features * n if weighted else 0):
            raise DataError(f"the precision of the correction has {len(estimator.correction_precision_)} numbers")
        if weighted and any(type(model).__name__ != "LBGMixture" for model in estimator.estimators_):
            raise DataError("the rule weighs the evidence of models that are not LBGMixture")
