"""Several chains in step: what is kept of each, and whether they agree."""

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Event

import numpy as np

from lbg_recsys.core.gibbs.chain import Chain, ChainSettings
from lbg_recsys.core.gibbs.convergence import monte_carlo_variance, split_rhat
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.features import Design
from lbg_recsys.core.gibbs.keep import keep
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.occasions import Kind
from lbg_recsys.core.gibbs.threads import ALONE, Threads, threads_for
from lbg_recsys.core.interrupts import Between, finish, go_on
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array, Floats
from lbg_recsys.progress import Progress, silent

# The smallest number of sweeps within a time limit, and the largest as a multiple of ``n_sweeps``.
FEWEST, MOST_TIMES = 12, 10
# A Gaussian chain's cuts into levels hardly move from one kept sweep to the next, and matching them costs a pass.
_MATCH_EVERY = 4


class _Stopped(Exception):
    """Ctrl-C was pressed."""


class Run:
    """A chain, the sweeps kept of it (never more than ``most``) and the trace of some pairs' utilities."""

    def __init__(self, chain: Chain, rows: Array, cols: Array, most: int, stride: int, match_cuts: bool) -> None:
        self.chain = chain
        self.rows, self.cols = rows, cols
        self.most = most
        self.stride = stride
        self.kept: list[Draws] = []
        self.trace: list[Array] = []
        self.errors: list[float] = []  # the root mean square residual after each sweep
        self.n_gathered = 0
        self._match_cuts = match_cuts and not chain.settings.ordinal
        self._cuts = chain.cuts.copy()
        self._met = 0

    def step(self, keeping: bool, threads: Threads = ALONE, between: Between = go_on) -> None:
        """One sweep, which may be stopped; see `Chain.sweep`."""
        self.chain.sweep(threads, between)
        if keeping:
            self.trace.append(self.chain.means(self.rows, self.cols).astype(np.float32))
            if self._met % self.stride == 0:
                self._keep()
            self._met += 1
        self.errors.append(self.chain.training_error())

    def drop_first_third(self) -> None:
        """Drop what was kept of the first third of the sweeps so far."""
        third = self._met // 3
        self.kept, self.trace = self.kept[-(-third // self.stride) :], self.trace[third:]

    def _keep(self) -> None:
        if len(self.kept) == self.most:  # full: drop every second one, and from now on keep half as many
            self.kept = self.kept[::2]
            self.stride *= 2
            if self._met % self.stride:
                return
        if self._match_cuts and len(self.kept) % _MATCH_EVERY == 0:
            self.chain.match_cuts(self._cuts, 1, len(self._cuts) - 1)
        self.kept.append(keep(self.chain, self.chain.cuts if self.chain.settings.ordinal else self._cuts))


@dataclass(frozen=True)
class Start:
    """All that a run begins with but the ratings; it can begin anywhere, with the same bits."""

    settings: ChainSettings
    seed: np.random.SeedSequence
    middles: Array  # between the levels
    designs: tuple[Design, Design]  # of rows and columns
    occasions: Sequence[Kind]
    traced: tuple[Array, Array]  # rows and columns of the traced pairs
    most: int
    stride: int
    match_cuts: bool

    def run(self, entries: SparseRows, level: Array) -> Run:
        """Begin, with the standardised ratings and the level of each."""
        chain = Chain(entries, level, self.middles, self.settings, self.seed, *self.designs, self.occasions)
        return Run(chain, *self.traced, self.most, self.stride, self.match_cuts)


def gather(runs: Sequence[Run]) -> Draws:
    """Take all kept sweeps out of these runs, into one: a model that held both would be twice as large on disk."""
    joined = Draws.joined([one for run in runs for one in run.kept])
    for run in runs:
        run.n_gathered, run.kept = len(run.kept), []
    return joined


def give_back(joined: Draws, runs: Sequence[Run]) -> None:
    """Undo `gather`, so that the runs can go on."""
    pieces = joined.pieces()
    for run in runs:
        run.kept, pieces = pieces[: run.n_gathered], pieces[run.n_gathered :]


def run_all(
    runs: Sequence[Run],
    n_sweeps: int,
    burn_in: int,
    n_jobs: int,
    *,
    seconds: float | None = None,
    unit: float = 1.0,
    progress: Progress = silent,
) -> bool:
    """Sweep all chains in step, on ``n_jobs`` threads; False if Ctrl-C ended it early.

    With ``seconds``, as many sweeps are made as fit into this time, but at least `FEWEST` and at most `MOST_TIMES` as
    many as asked for; what was kept of the first third of them is then dropped, unless ``burn_in`` is 0.

    Every chain has its own random stream and shares nothing, so the number of threads does not change a bit. If there
    are more threads than chains, several draw factors of the same chain, from random numbers that were drawn before.

    On Ctrl-C the chains stop within a second and whatever was kept stays; before that, the interrupt is raised to the
    caller. Ctrl-C reaches the main thread, which therefore waits while others sweep. It makes the first sweep of all
    by itself, so that Ctrl-C can stop the compilation: an inconsistent chain is no loss before the first sweep.

    ``progress`` is called after every sweep with the training error as its note; ``unit`` is what 1 in the chains'
    values is in the ratings.
    """
    stop = Event()

    def between() -> None:
        if stop.is_set():
            raise _Stopped

    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(max(1, min(n_jobs, len(runs)))))
        threads = stack.enter_context(threads_for(len(runs), n_jobs))
        started, skipped = time.monotonic(), burn_in if seconds is None else 0
        try:
            for sweep in range(n_sweeps if seconds is None else max(FEWEST, MOST_TIMES * n_sweeps)):
                how = sweep >= skipped, threads, between
                if any(run.chain.sweeps for run in runs):
                    finish([pool.submit(run.step, *how) for run in runs])
                else:
                    for run in runs:
                        run.step(*how)
                error = unit * joint_error([run.errors[-1] for run in runs])
                done, total, note = sweep + 1, n_sweeps, f"training error {error:.3f}"
                if seconds is not None:
                    passed = time.monotonic() - started
                    done, total, note = int(passed), math.ceil(seconds), f"sweep {sweep + 1}, {note}"
                    if passed * (sweep + 2) / (sweep + 1) > seconds and sweep + 1 >= FEWEST:
                        break
                progress(done, total, note)
        except KeyboardInterrupt:
            stop.set()
            if not all(run.kept for run in runs):
                raise
            return False
    if seconds is not None and burn_in:
        for run in runs:
            run.drop_first_third()
    return True


def joint_error(errors: Sequence[float]) -> float:
    """The root mean square residual over all chains, from that of each."""
    return float(np.sqrt(np.mean(np.square(errors))))


def agreement(runs: Sequence[Run]) -> Floats:
    """The split R-hat of each traced pair, the worst over groups of like chains (the same orientation, likelihood).

    Chains of different kinds sample different posteriors: only like ones can be asked to agree.
    """
    return np.asarray(np.max([split_rhat(traces) for traces in _traces(runs)], axis=0))


def monte_carlo_error(runs: Sequence[Run]) -> float:
    """The root mean square Monte Carlo error of the traced pairs' utilities, averaged over all groups of chains."""
    variances = [monte_carlo_variance(traces) for traces in _traces(runs)]
    return float(np.sqrt(np.mean(np.sum(variances, axis=0)))) / len(variances)


def _traces(runs: Sequence[Run]) -> list[Floats]:
    """The traces (chains, sweeps, pairs) of each group of like chains."""
    groups: dict[tuple[Side, Likelihood], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.chain.settings.side, run.chain.settings.likelihood), []).append(run)
    length = min(len(run.trace) for run in runs)
    return [np.stack([np.stack(run.trace[:length]) for run in group]) for group in groups.values()]
