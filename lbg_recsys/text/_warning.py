"""Warnings that name the line of the user's program, however deep in a fit they arise."""

import sys
import warnings

_INSIDE = ("lbg_recsys", "sklearn", "joblib")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first frame outside this package and scikit-learn, whose wrappers differ from method to method."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
