"""Figures are of whole fits: a sampler keeps what it has when Ctrl-C ends it early, a measurement must not."""

from typing import Any


def was_cut_short(model: Any) -> bool:
    """Whether a sampler ended before its last sweep. (Ratings that are all the same need no sweep at all.)"""
    return 0 < getattr(model, "n_sweeps_", 0) < getattr(model, "n_sweeps", 0)


def fit_whole(algorithm: Any, trainset: Any) -> Any:
    """Fit a Surprise algorithm; a fit that was cut short goes on as the Ctrl-C that it was."""
    algorithm.fit(trainset)
    if was_cut_short(getattr(algorithm, "model_", None)):
        raise KeyboardInterrupt
    return algorithm
