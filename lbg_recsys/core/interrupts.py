"""Ctrl-C while compiled code runs."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")
# What long work calls where it may be stopped: between calls into compiled code, by raising an exception.
Between = Callable[[], None]

# Seconds between two checks for Ctrl-C.
_PAUSE = 0.1
_NAME = "lbg-recsys: compiled code"
# Kernels process this many rows in less than a second; it is not worth a thread for fewer.
_MANY_ROWS = 1 << 14


def interruptible(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """The result of a long call into compiled code that releases Python's lock, such as a kernel or LAPACK.

    Python handles Ctrl-C between its own steps, and such a call is one of them, however long. In the main thread the
    call is made by another thread, and the main thread waits and can be interrupted. An interrupted call runs to its
    end in the background, and its result is dropped: it must work on arrays that nobody else uses. Python waits for
    that end before it exits, because LAPACK crashes if its memory is taken from it.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*args, **options)
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(function(*args, **options))
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    # An event, because Python 3.10 to 3.12 take a thread for ended whose `join` was interrupted.
    done = threading.Event()
    threading.Thread(target=run, name=_NAME).start()
    while not done.wait(_PAUSE):
        pass
    if failed:
        raise failed[0]
    return found[0]


def if_many(n_rows: int, function: Callable[..., T], *args: Any) -> T:
    """The result of a call that processes ``n_rows`` rows, `interruptible` if there are many."""
    return interruptible(function, *args) if n_rows > _MANY_ROWS else function(*args)


def go_on() -> None:
    """Do not stop."""


def finish(calls: Sequence[Future[Any]]) -> None:
    """Wait for these calls in other threads so that Ctrl-C is handled; raise what the first of them raised.

    It waits repeatedly for a short time, because a signal that another thread receives does not end a long wait.
    """
    while wait(calls, _PAUSE).not_done:
        pass
    for call in calls:
        call.result()


def is_busy() -> bool:
    """Whether an interrupted call still runs in the background."""
    return any(thread.name == _NAME for thread in threading.enumerate())
