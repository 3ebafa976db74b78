"""Worker processes of one thread each, which leave Ctrl-C to their parent and end when it does."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@contextmanager
def spread(
    function: Callable[[Item], Result], items: Sequence[Item], n_workers: int
) -> Iterator[dict[Future[Result], Item]]:
    """``function`` of all items in processes of their own; the item of each future.

    Leaving the block by an exception (Ctrl-C is one) ends the processes at once, whatever they are doing.
    """
    # Fresh processes rather than forks: numba's threads and a fork do not go together.
    pool = ProcessPoolExecutor(
        min(n_workers, len(items)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    others = set(multiprocessing.active_children())
    with _one_thread_each(), _interrupts_held():
        running = {pool.submit(function, item): item for item in items}  # this starts the processes
        workers = set(multiprocessing.active_children()) - others
    try:
        yield running
    except BaseException:
        for worker in workers:
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start now use one thread per library, unless the environment says otherwise.

    A library reads this when it is imported, and what a worker unpickles first imports numpy: setting it inside the
    worker is too late.
    """
    added = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the end of this block, and never reaches the processes that start in it (not on Windows).

    They would ignore it anyway, but only once they have imported what they need.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
