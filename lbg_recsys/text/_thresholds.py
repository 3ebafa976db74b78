"""Thresholds between classes that limit how many documents of other classes a class is given."""

import warnings
from collections.abc import Mapping

import numpy as np

from lbg_recsys.core.types import Floats, Ints

_ROUNDS = 50


def class_thresholds(scores: Floats, codes: Ints, limits: Mapping[int, float]) -> Floats:
    """Numbers (h,) to subtract from the scores (m, h) of the classes so that the limits hold; 0 without a limit.

    ``limits[l]`` is the greatest share of the documents of other classes that may be given to class l by the highest
    score. The threshold of each limited class is set in turn, with the others held, until all hold. With a limit for
    every class this may be impossible: then a warning says so.

    >>> scores = np.array([[0.0, -1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    >>> class_thresholds(scores, np.array([0, 0, 0, 1]), {1: 0.4}).tolist()  # one of the three others may be given
    [0.0, 1.0]
    """
    thresholds = np.zeros(scores.shape[1])
    for _ in range(_ROUNDS):
        before = thresholds.copy()
        for code, rate in limits.items():
            thresholds[code] = _threshold(scores - thresholds, scores[:, code], codes != code, code, rate)
        if np.allclose(thresholds, before, rtol=0.0, atol=1e-9):
            return thresholds
    warnings.warn(
        f"no thresholds hold max_false_positive_rate for all of {len(limits)} classes at once; limit fewer classes, "
        "or allow a higher rate",
        UserWarning,
        stacklevel=3,
    )
    return thresholds - thresholds.min()


def _threshold(shifted: Floats, own: Floats, others: np.ndarray, code: int, rate: float) -> float:
    """The lead over the best other class that at most ``rate`` of the documents of other classes exceed."""
    rival = np.delete(shifted, code, axis=1).max(axis=1)
    lead = np.sort((own - rival)[others])[::-1]
    allowed = int(np.floor(rate * len(lead)))
    return float(lead[allowed]) if allowed < len(lead) else float(lead[-1]) - 1.0
