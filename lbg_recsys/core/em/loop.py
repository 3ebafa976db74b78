"""One EM loop for every model: tolerance, callback, restarts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P")  # parameters
S = TypeVar("S")  # statistics


@dataclass(frozen=True)
class EMResult(Generic[P, S]):
    """The parameters of the last iteration, the statistics gathered under them, and how it went."""

    parameters: P
    statistics: S
    lower_bound: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]


def run_em(
    statistics: S,
    m_step: Callable[[S], P],
    e_step: Callable[[P], S],
    objective: Callable[[P, S], float],
    *,
    max_iter: int,
    tol: float,
    callback: Callable[[int, float], None] | None = None,
) -> EMResult[P, S]:
    """Alternate M- and E-step from the given statistics until the objective gains less than ``tol``.

    ``objective`` is evaluated for parameters together with the statistics gathered under them; give it the
    scale that ``tol`` is meant on (per row, say). ``callback(iteration, objective)`` is called after each.
    """
    if max_iter < 1:
        raise ValueError(f"max_iter is {max_iter}; EM needs at least one iteration")
    history: list[float] = []
    converged = False
    for iteration in range(1, max_iter + 1):
        parameters = m_step(statistics)
        statistics = e_step(parameters)
        history.append(objective(parameters, statistics))
        if callback is not None:
            callback(iteration, history[-1])
        if iteration > 1 and history[-1] - history[-2] < tol:
            converged = True
            break
    return EMResult(parameters, statistics, history[-1], len(history), converged, tuple(history))


def best_of(results: Iterable[EMResult[P, S]]) -> EMResult[P, S]:
    """The restart with the highest objective; of equals the first."""
    return max(results, key=lambda result: result.lower_bound)
