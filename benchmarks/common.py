"""What several benchmarks share: models with their settings, who is installed, and CPU time."""

import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple


class Model(NamedTuple):
    """A model that takes part: the distribution it comes from, its settings, and how it is fitted."""

    by: str
    settings: Mapping[str, Any]
    fit: Callable[..., Any]


def installed(models):
    """The models whose library is installed, and a note for each library that is not."""
    notes = missing(model.by for model in models.values())
    return {name: model for name, model in models.items() if has(model.by)}, notes


def missing(distributions):
    """A note for each distribution that is not installed."""
    absent = sorted({name for name in distributions if not has(name)})
    return [f"{name} is not installed: pip install 'lbg-recsys[bench]'" for name in absent]


def has(distribution):
    """Whether a distribution is installed."""
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


def measure_models(record, part, models, trials, measure):
    """A row per trial and model: ``measure(model, *trial)``; trials are the outer loop, so that models take turns."""
    taking_part, notes = installed(models)
    for note in notes:
        print(note, flush=True)
    for trial, given in trials.items():
        for name, model in taking_part.items():
            record.row(
                part, name, trial, lambda m=model, g=given: measure(m, *g), by=model.by, settings=model.settings
            )
    record.finish(part, models, notes)


def best_seconds(*actions, repeats=5):
    """The least CPU time of several runs of each action, taken in turn: what the work costs when nothing disturbs it.

    In turn, so that a machine that is busy for a while is busy for all of them. The clock stops when an action
    returns: releasing what it returned is not its work.
    """
    spent = [[] for _ in actions]
    for _ in range(repeats):
        for action, times in zip(actions, spent, strict=True):
            started = time.process_time()
            result = action()
            times.append(time.process_time() - started)
            del result
    return [min(times) for times in spent]
