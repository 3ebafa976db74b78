"""Progress is a callback; a bar is one such callback.

Long-running functions take ``progress: Progress``: called as ``progress(done, total, note)``
after each step. `bar` shows it on standard error (where that is no terminal: nothing, or lines).
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, note: str = "") -> None:
    """Report nothing."""


def parts(progress: Progress, of: int) -> list[Progress]:
    """What each of several like jobs in a row reports to: its steps follow those of the jobs before it.

    A job that is over early says so by a last step, as if it had taken all of them: what a bar knows of the time that
    a job takes is then right for the next one.

    >>> seen = []
    >>> first, second = parts(lambda *step: seen.append(step), 2)
    >>> first(10, 100, "a tenth"), first(100, 100, "all of it"), second(10, 100, "a tenth of the second")
    (None, None, None)
    >>> seen
    [(10, 200, 'a tenth'), (100, 200, 'all of it'), (110, 200, 'a tenth of the second')]
    """

    def one(place: int) -> Progress:
        return lambda done, total, note: progress(place * total + done, of * total, note)

    return [one(place) for place in range(of)]


def noted(progress: Progress, name: str) -> Progress:
    """The same, with a name before every note."""
    return lambda done, total, note: progress(done, total, f"{name}, {note}" if note else name)


# Lines that `lines` writes from beginning to end.
_LINES = 10


def lines(label: str) -> Progress:
    """A callback that writes ten lines with the time left to standard error: for notebooks and logs."""
    import click

    begun, written = time.monotonic(), 0

    def progress(done: int, total: int, note: str = "") -> None:
        nonlocal written
        tenth = _LINES * done // max(total, 1)
        if tenth > written:
            written = tenth
            left = (time.monotonic() - begun) * (total - done) / done
            click.echo(f"{label} {done}/{total}, {note}, {left:.0f} s left", file=sys.stderr)

    return progress


# Of a bar: its steps, whatever steps it is fed with, so that the time left has one measure throughout; its width and
# that of the signs around it; and the seconds between two pictures of it, for drawing takes time too.
_WHOLE = 10_000
_WIDTH, _AROUND = 20, len("  []  100%  00:00:00  ")
_PAUSE = 0.1


@contextmanager
def bar(label: str, quiet: bool = False, or_lines: bool = False) -> Iterator[Progress]:
    """A progress bar with time left on standard error, fed by the callback it yields.

    Where standard error is no terminal there is nothing to see, or some `lines` if asked for.

    >>> with bar("reading", quiet=True) as progress:
    ...     for step in range(3):
    ...         progress(step + 1, 3, f"step {step}")
    """
    if quiet or not sys.stderr.isatty():
        yield lines(label) if or_lines and not quiet else silent
        return
    import click

    room = max(shutil.get_terminal_size().columns - len(label) - _WIDTH - _AROUND - 1, 0)
    with click.progressbar(
        length=_WHOLE,
        label=label,
        file=sys.stderr,
        width=_WIDTH,
        item_show_func=lambda note: note,
    ) as shown:
        begun, drawn = time.monotonic(), -_PAUSE

        def progress(done: int, total: int, note: str = "") -> None:
            nonlocal drawn
            now = time.monotonic()
            if done < total and now - drawn < _PAUSE:
                return
            drawn = now
            shown.current_item = note[:room]  # a line that wraps could not be drawn over
            shown.make_step(max(_WHOLE * done // max(total, 1) - shown.pos, 0))
            # The time left by all that is done so far: click's own average holds on to a slow beginning for long. Of
            # less than a hundredth nothing can be said yet.
            shown.eta_known = shown.pos >= _WHOLE // 100
            shown.avg = [(now - begun) / max(shown.pos, 1)]
            shown.render_progress()

        yield progress
