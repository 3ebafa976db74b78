"""Thresholds between classes that limit how many documents of other classes a class is given."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import ParameterError
from lbg_recsys.text._warning import warn_user

_ROUNDS = 50
# Added to a threshold, so that no score equal to it exceeds it, for any order of classes and any rounding. Scores are
# often equal if documents have no known words.
_MARGIN = 1e-9


def limits_by_class(rate: float | Mapping[Any, float] | None, classes: list[Any]) -> dict[int, float]:
    """The greatest false-positive rate of each class that has one, by its number.

    A number limits the second of two classes, or every one of several.

    >>> limits_by_class(0.1, ["ham", "spam"]), limits_by_class({"sport": 0.2}, ["arts", "news", "sport"])
    ({1: 0.1}, {2: 0.2})
    """
    if rate is None:
        return {}
    if not isinstance(rate, Mapping):
        limited = [1] if len(classes) == 2 else range(len(classes))
        return dict.fromkeys(limited, float(rate))
    for name, value in rate.items():
        if name not in classes:
            raise ParameterError(f"max_false_positive_rate names the class {name!r}; y has {classes!r}")
        if not 0.0 <= value <= 1.0:
            raise ParameterError(f"max_false_positive_rate is {value!r} for {name!r}; it must be from 0 to 1")
    return {classes.index(name): float(value) for name, value in rate.items()}


def class_thresholds(scores: Floats, codes: Ints, limits: Mapping[int, float]) -> Floats:
    """Numbers (h,) to subtract from the scores (m, h) of the classes so that the limits hold; 0 without a limit.

    ``limits[l]`` is the greatest share of the documents of other classes that may be given to class l by the highest
    score. The threshold of each limited class is set in turn, with the others held, until all hold. With a limit for
    every class this may be impossible: then a warning says so.

    >>> scores = np.array([[0.0, -1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    >>> found = class_thresholds(scores, np.array([0, 0, 0, 1]), {1: 0.4})  # one of the three others may be given
    >>> found.round(6).tolist()
    [0.0, 1.0]
    """
    thresholds = np.zeros(scores.shape[1])
    for _ in range(_ROUNDS):
        before = thresholds.copy()
        for code, rate in limits.items():
            thresholds[code] = _threshold(scores - thresholds, scores[:, code], codes != code, code, rate)
        if np.allclose(thresholds, before, rtol=0.0, atol=1e-9):
            return thresholds
    warn_user(
        f"no thresholds hold max_false_positive_rate for all of {len(limits)} classes at once; limit fewer classes, "
        "or allow a higher rate"
    )
    return thresholds - thresholds.min()


def _threshold(shifted: Floats, own: Floats, others: np.ndarray, code: int, rate: float) -> float:
    """The margin over the best other class that at most ``rate`` of the documents of other classes exceed."""
    rival = np.delete(shifted, code, axis=1).max(axis=1)
    lead = np.sort((own - rival)[others])[::-1]
    allowed = int(np.floor(rate * len(lead)))
    return float(lead[allowed]) + _MARGIN if allowed < len(lead) else float(lead[-1]) - 1.0
