"""A fitted `LBGSelector` in a file."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.estimators import COMMON, EstimatorFile
from lbg_recsys.persistence.schema import Array
from lbg_recsys.words import class_of


class SelectorFile(EstimatorFile):
    """`LBGSelector`: the fitted mixture, and the scores of the words."""

    model = "lbg_recsys.text.selector:LBGSelector"
    facts: ClassVar[Mapping[str, Any]] = COMMON | {"estimator_": list[dict[str, Any]]}
    arrays: ClassVar[Mapping[str, Array]] = {
        "scores_": Array("f4 f8", ("words",)),
        "topics_": Array("i8", ("words",), low=0),
    }
    parts: ClassVar[Mapping[str, bool]] = {"estimator_": True}

    def check(self, estimator: Any) -> None:
        """The estimator must be a mixture."""
        if type(estimator.estimator_).__name__ != "LBGMixture":
            raise DataError(f"an LBGSelector with {class_of(estimator.estimator_)}")
