"""One EM loop for every model: when to stop, progress, starts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lbg_recsys.progress import Progress, silent

P = TypeVar("P")  # parameters
S = TypeVar("S")  # statistics


@dataclass(frozen=True)
class EMResult(Generic[P, S]):
    """The parameters of the last iteration, the statistics gathered under them, and the history of the run."""

    parameters: P
    statistics: S
    lower_bound: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]


def gain_below(tol: float) -> Callable[[object, Sequence[float]], bool]:
    """Stop when an iteration gains less than ``tol`` of the objective.

    >>> stop = gain_below(0.5)
    >>> stop(None, [-3.0]), stop(None, [-3.0, -2.0]), stop(None, [-3.0, -2.0, -1.9])
    (False, False, True)
    """
    return lambda _, history: len(history) > 1 and history[-1] - history[-2] < tol


def run_em(
    statistics: S,
    m_step: Callable[[S], P],
    e_step: Callable[[P], S],
    objective: Callable[[P, S], float],
    *,
    max_iter: int,
    stop: Callable[[P, Sequence[float]], bool],
    measure: str = "log-likelihood",
    progress: Progress = silent,
    history: Sequence[float] = (),
    before: Callable[[S, Sequence[float]], None] | None = None,
) -> EMResult[P, S]:
    """Alternate M- and E-step from the given statistics until ``stop(parameters, history)`` is true.

    ``objective`` is evaluated for parameters together with the statistics gathered under them; ``history`` holds its
    values so far, the latest last. Its scale must be that of ``stop`` (for example per row). ``progress`` is called
    after every iteration, with the objective under the name ``measure`` as its note. After a run that stops early
    the caller reports the last step, because only the caller knows what follows.

    ``before(statistics, history)`` is called before every iteration. A run that is given the statistics and the
    ``history`` of such a call continues from there.
    """
    if max_iter < 1:
        raise ValueError(f"max_iter is {max_iter}; EM needs at least one iteration")
    values = list(history)
    converged = False
    for iteration in range(len(values) + 1, max_iter + 1):
        if before is not None:
            before(statistics, values)
        parameters = m_step(statistics)
        statistics = e_step(parameters)
        values.append(objective(parameters, statistics))
        progress(iteration, max_iter, f"{measure} {values[-1]:.4f}")
        if stop(parameters, values):
            converged = True
            break
    return EMResult(parameters, statistics, values[-1], len(values), converged, tuple(values))


def best_of(results: Iterable[EMResult[P, S]]) -> EMResult[P, S]:
    """The start with the highest objective; the first of equal ones."""
    return max(results, key=lambda result: result.lower_bound)
