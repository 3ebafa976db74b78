"""The progress protocol: every fit, read, download and evaluation takes ``progress=`` and calls it after each step.

``progress(done, total, note)``: ``done`` of ``total`` steps are finished, and ``note`` is a short text (the
log-likelihood after an EM iteration, the rows read so far). A job that does not know its total reports
``(0, 1, note)``. `bar` draws such calls; `parts` and `shifted` join several jobs into one count.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Progress = Callable[[int, int, str], None]

# The note of a first step: numba compiles the kernels at their first use and keeps them for later runs.
STARTING = "starting (compiles once)"


# Who is told that a kernel is about to be compiled: nobody, or one function that is called once.
_listeners: list[Callable[[], None]] = []


def when_compiling(listener: Callable[[], None]) -> Callable[[], None]:
    """Call the function once, when the first kernel is compiled and not loaded from disk.

    Parameters
    ----------
    listener : function
        Takes no arguments; replaces the one before.

    Returns
    -------
    forget : function
        Called without arguments, it ends this.

    Examples
    --------
    >>> forget = when_compiling(lambda: print("this takes a while"))
    >>> compiling(), compiling()
    this takes a while
    (None, None)
    >>> forget()
    """
    _listeners[:] = [listener]
    return _listeners.clear


def compiling() -> None:
    """Tell the listener of `when_compiling` that a kernel is compiled now."""
    found = None
    with suppress(IndexError):  # nobody listens, or another thread was first
        found = _listeners.pop()
    if found is not None:
        found()


@contextmanager
def above_bars() -> Iterator[None]:
    """Lines written to standard error meanwhile stand above a `bar` that is shown there."""
    if "tqdm" not in sys.modules:
        yield
        return
    from tqdm.auto import tqdm

    with tqdm.external_write_mode(file=sys.stderr):
        yield


def silent(done: int, total: int, note: str = "") -> None:
    """Report nothing."""


def both(first: Progress, second: Progress) -> Progress:
    """Report every step to two callbacks."""

    def progress(done: int, total: int, note: str = "") -> None:
        first(done, total, note)
        second(done, total, note)

    return progress


def parts(progress: Progress, of: int) -> list[Progress]:
    """Callbacks for ``of`` similar jobs that run one after another; together they count once from start to end.

    A job that stops early must report a last step with ``done == total``, so that the next one follows without a gap.

    >>> seen = []
    >>> first, second = parts(lambda *step: seen.append(step), 2)
    >>> first(10, 100, "a tenth"), first(100, 100, "all of it"), second(10, 100, "a tenth of the second")
    (None, None, None)
    >>> seen
    [(10, 200, 'a tenth'), (100, 200, 'all of it'), (110, 200, 'a tenth of the second')]
    """

    def one(number: int) -> Progress:
        return lambda done, total, note: progress(number * total + done, of * total, note)

    return [one(number) for number in range(of)]


def at_once(progress: Progress, of: int) -> list[Progress]:
    """Callbacks for ``of`` similar jobs that run at the same time, in threads; together they count from start to end.

    >>> seen = []
    >>> first, second = at_once(lambda *step: seen.append(step[:2]), 2)
    >>> first(10, 100, ""), second(50, 100, ""), first(100, 100, "")
    (None, None, None)
    >>> seen
    [(10, 200), (60, 200), (150, 200)]
    """
    lock, done_of = threading.Lock(), [0] * of

    def one(number: int) -> Progress:
        def report(done: int, total: int, note: str) -> None:
            with lock:
                done_of[number] = max(done, done_of[number])
                progress(sum(done_of), of * total, note)

        return report

    return [one(number) for number in range(of)]


def rescaled(progress: Progress, total: int) -> Progress:
    """The same job counted in ``total`` steps, so that it can be compared with other jobs.

    >>> rescaled(lambda *step: print(step), 1000)(1, 4, "a quarter")
    (250, 1000, 'a quarter')
    """
    return lambda done, own, note: progress(total * done // max(own, 1), total, note)


def shifted(progress: Progress, before: int, total: int) -> Progress:
    """A callback for one stage of a job of ``total`` steps: ``before`` of them belong to earlier stages.

    >>> seen = []
    >>> shifted(lambda *step: seen.append(step), 10, 110)(3, 100, "the second stage")
    >>> seen
    [(13, 110, 'the second stage')]
    """
    return lambda done, _, note: progress(before + done, total, note)


def noted(progress: Progress, name: str) -> Progress:
    """The same callback with a name before every note."""
    return lambda done, total, note: progress(done, total, f"{name}, {note}" if note else name)


# Number of lines that `lines` writes in total.
_LINES = 10


def lines(label: str) -> Progress:
    """A callback that writes ten lines with the time left to standard error, for logs."""
    begun, written = time.monotonic(), 0

    def progress(done: int, total: int, note: str = "") -> None:
        nonlocal written
        tenth = _LINES * done // max(total, 1)
        if tenth > written:
            written = tenth
            left = (time.monotonic() - begun) * (total - done) / done
            sys.stderr.write(f"{label} {done}/{total}, {note}, {left:.0f} s left\n")

    return progress


# A bar counts to _WHOLE whatever the totals of its steps are, so that the time left has one measure throughout. No
# time is shown before _KNOWN: the first steps compile kernels and say little about the rest.
_WHOLE, _KNOWN = 10_000, 100
_SECONDS_BETWEEN_DRAWINGS = 0.1


def _has_size() -> bool:
    """Whether the terminal says how large it is; under `script` and in some containers it does not."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (AttributeError, OSError, ValueError):
        return False


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook; that a kernel is installed or imported says nothing."""
    ipython = sys.modules.get("IPython")
    return hasattr(ipython.get_ipython(), "kernel") if ipython is not None else False


@contextmanager
def bar(label: str, quiet: bool = False, or_lines: bool = False) -> Iterator[Progress]:
    """A progress bar with the time left on standard error or in a notebook, fed by the callback it yields.

    Parameters
    ----------
    label : str
        What is being done.
    quiet : bool, default=False
        Show nothing.
    or_lines : bool, default=False
        Write ten `lines` where standard error is neither a terminal nor a notebook, instead of nothing.

    Yields
    ------
    progress : function
        To be called with the steps done, all steps and a note.

    Examples
    --------
    >>> with bar("reading", quiet=True) as progress:
    ...     for step in range(3):
    ...         progress(step + 1, 3, f"step {step}")
    """
    notebook = _in_notebook()
    if quiet or not (notebook or sys.stderr.isatty()):
        yield lines(label) if or_lines and not quiet else silent
        return
    from tqdm.auto import tqdm

    start = "{desc} {percentage:3.0f}%|" + ("{bar}" if notebook else "{bar:20}") + "|"
    with tqdm(
        total=_WHOLE,
        desc=label,
        file=sys.stderr,
        bar_format=start + "{postfix}",
        dynamic_ncols=_has_size(),  # tqdm cuts a line that would wrap
        **({} if _has_size() else {"ncols": 80, "nrows": 24}),
        mininterval=_SECONDS_BETWEEN_DRAWINGS,
        miniters=0,
        smoothing=0,  # the time left follows from all steps, not only from the latest ones
    ) as shown:

        def progress(done: int, total: int, note: str = "") -> None:
            share = _WHOLE * done // max(total, 1)
            if share >= _KNOWN:
                shown.bar_format = start + " {remaining} left{postfix}"
            shown.set_postfix_str(note, refresh=shown.postfix is None)  # the first note shows at once
            shown.update(max(share - shown.n, 0))

        yield progress


@contextmanager
def reporting(progress: Progress, label: str, verbose: bool) -> Iterator[Progress]:
    """The callback that a fit reports to: the caller's, and with ``verbose`` a bar (or lines) of its own too."""
    with bar(label, quiet=not verbose, or_lines=True) as shown:
        yield both(shown, progress)
