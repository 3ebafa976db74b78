"""Fitting for evaluation: Ctrl-C ends it, although a sampler itself would keep the sweeps so far."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lbg_recsys.algorithms.base import RatingAlgo
from lbg_recsys.algorithms.movie_mean import MovieMeanAlgo
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress, silent

# What other libraries raise for an impossible setting; ours raise errors of their own.
_COMPLAINTS = (ValueError, TypeError, NameError, AttributeError, LookupError, ArithmeticError)


def was_cut_short(model: Any) -> bool:
    """Whether Ctrl-C ended a sampler before its last sweep."""
    return bool(getattr(model, "interrupted_", False))


@contextmanager
def settings_of(kind: type) -> Iterator[None]:
    """Turn errors of an algorithm of another library into errors about its settings; our errors stay."""
    try:
        yield
    except _COMPLAINTS as error:
        if kind.__module__.partition(".")[0] == "lbg_recsys":
            raise
        raise ParameterError(
            f"{kind.__name__} does not work with its settings: {type(error).__name__}: {error}; "
            f"see the documentation of {kind.__name__} for what they may be"
        ) from error


def fit_whole(algorithm: Any, trainset: Any, progress: Progress = silent) -> Any:
    """Fit a Surprise algorithm; raise KeyboardInterrupt if Ctrl-C ended the fit early.

    Our algorithms report every step of their fit, those of other libraries only its end.
    """
    with settings_of(type(algorithm)):
        if isinstance(algorithm, RatingAlgo | MovieMeanAlgo):
            algorithm.fit(trainset, progress)
        else:
            algorithm.fit(trainset)
            progress(1, 1, type(algorithm).__name__)
    if was_cut_short(getattr(algorithm, "model_", None)):
        raise KeyboardInterrupt
    return algorithm
