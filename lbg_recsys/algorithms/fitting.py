"""Fits that report how far they are; and whole ones, which figures are of: a sampler keeps what it has when Ctrl-C
ends it early, a measurement must not.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress, parts, silent

# What other libraries raise where a setting cannot be; ours say so themselves.
_COMPLAINTS = (ValueError, TypeError, NameError, AttributeError, LookupError, ArithmeticError)


def was_cut_short(model: Any) -> bool:
    """Whether a sampler ended before its last sweep. (Ratings that are all the same need no sweep at all.)"""
    return 0 < getattr(model, "n_sweeps_", 0) < getattr(model, "n_sweeps", 0)


@contextmanager
def settings_of(kind: type) -> Iterator[None]:
    """What an algorithm of another library complains of is a setting that cannot be; our errors stay."""
    try:
        yield
    except _COMPLAINTS as error:
        if kind.__module__.partition(".")[0] == "lbg_recsys":
            raise
        raise ParameterError(
            f"{kind.__name__} does not work with its settings: {type(error).__name__}: {error}; "
            f"see the documentation of {kind.__name__} for what they may be"
        ) from error


def fit_reporting(model: Any, ratings: Any, progress: Progress) -> None:
    """Fit a model or a Surprise algorithm, step by step where it tells of its steps, as ours do.

    EM may settle long before its last iteration: the bar goes on from where the next start begins.
    """
    if "callback" not in inspect.signature(model.fit).parameters:
        model.fit(ratings)
        progress(1, 1, type(model).__name__)
        return
    sampled = hasattr(model, "n_sweeps")
    starts = iter(parts(progress, 1 if sampled else getattr(model, "n_init", 1)))
    steps = model.n_sweeps if sampled else model.max_iter
    told: Progress = silent

    def after(step: int, figure: float) -> None:
        nonlocal told
        if step == 1:
            told = next(starts, told)
        told(step, steps, f"error {figure:.4f}" if sampled else f"bound {figure:.4f}")

    progress(0, 1, "getting ready (compiles once)")
    model.fit(ratings, callback=after)
    progress(1, 1, "fitted")


def fit_whole(algorithm: Any, trainset: Any, progress: Progress = silent) -> Any:
    """Fit a Surprise algorithm; a fit that was cut short goes on as the Ctrl-C that it was."""
    with settings_of(type(algorithm)):
        fit_reporting(algorithm, trainset, progress)
    if was_cut_short(getattr(algorithm, "model_", None)):
        raise KeyboardInterrupt
    return algorithm
