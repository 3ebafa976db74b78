"""Progress is a callback; a bar is one such callback.

Long-running functions take ``progress: Progress``: called as ``progress(done, total, note)``
after each step. `bar` shows it on standard error (and stays silent where that is no terminal).
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, note: str = "") -> None:
    """Report nothing."""


@contextmanager
def bar(label: str, quiet: bool = False) -> Iterator[Progress]:
    """A progress bar with time left on standard error, fed by the callback it yields.

    >>> with bar("reading", quiet=True) as progress:
    ...     for step in range(3):
    ...         progress(step + 1, 3, f"step {step}")
    """
    if quiet or not sys.stderr.isatty():
        yield silent
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
