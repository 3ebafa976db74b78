"""Progress is a callback; a bar is one such callback.

Long-running functions take ``progress: Progress``: called as ``progress(done, total, note)``
after each step. `bar` shows it on standard error (where that is no terminal: nothing, or lines).
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, note: str = "") -> None:
    """Report nothing."""


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

    with click.progressbar(
        length=1,
        label=label,
        file=sys.stderr,
        width=24,
        item_show_func=lambda note: note or "",
        show_pos=True,
    ) as shown:

        def progress(done: int, total: int, note: str = "") -> None:
            shown.length = max(total, 1)
            shown.update(done - shown.pos, note)

        yield progress
