"""The text models that the paper compares with, `MixtureOfUnigrams` and `PLSI`, in a file."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lbg_recsys.persistence.estimators import FITTED, EstimatorFile
from lbg_recsys.persistence.mixture import LABELS, WEIGHTS
from lbg_recsys.persistence.schema import Array


class UnigramsFile(EstimatorFile):
    """`MixtureOfUnigrams`: the weights of the topics and their distributions over words."""

    model = "lbg_recsys.text.unigrams:MixtureOfUnigrams"
    sizes: ClassVar[Mapping[str, str]] = {"topics": "n_components"}
    facts: ClassVar[Mapping[str, Any]] = FITTED
    arrays: ClassVar[Mapping[str, Array]] = {
        "weights_": WEIGHTS,
        "word_prob_": Array("f4 f8", ("topics", "words"), low=0.0, high=1.0 + 1e-6),
        "labels_": LABELS,
    }


class PLSIFile(UnigramsFile):
    """`PLSI`: the same of another model."""

    model = "lbg_recsys.text.plsi:PLSI"
