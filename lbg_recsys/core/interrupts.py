"""Ctrl-C while compiled code runs."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# Seconds between two looks at whether somebody has pressed Ctrl-C.
_PAUSE = 0.1
# A call is waited for so long before the waiting goes to sleep: most calls are short.
_SHORT = 0.005


def interruptible(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """The result of a long call into compiled code that releases Python's lock, such as a kernel or LAPACK.

    Python handles Ctrl-C between its own steps, and such a call is one of them, however long. In the main thread the
    call is made by another thread, and the main thread waits and can be interrupted. An interrupted call runs to its
    end in the background, and its result is dropped: it must work on arrays that nobody else uses.
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

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(_SHORT)
    while worker.is_alive():
        worker.join(_PAUSE)
    if failed:
        raise failed[0]
    return found[0]
