"""What commands share: the options that mean the same everywhere, tables of 80 columns, JSON."""

import json
import math
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import click

from lbg_recsys.cli.terminal import echo
from lbg_recsys.progress import above_bars, when_compiling
from lbg_recsys.words import counted as counted  # of all packages, and used by every command
from lbg_recsys.words import visible

WIDTH = 80


def _say_compilation() -> None:
    """Say why nothing happens for a while."""
    said = "Note: compiling kernels, which a machine does once; it can take half a minute or more."
    with above_bars():
        echo(click.wrap_text(said, WIDTH), err=True)


def _heard(ctx: click.Context, parameter: click.Parameter, quiet: bool) -> bool:
    """Every command says that it compiles, once and unless it is quiet."""
    if not quiet and not ctx.resilient_parsing:
        ctx.call_on_close(when_compiling(_say_compilation))
    return quiet


quiet_option = click.option(
    "-q", "--quiet", is_flag=True, callback=_heard, help="Show no progress, notes or names of written files."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random numbers."
)


def parse_columns(text: str | None) -> list[str | int] | None:
    """``"userId,movieId,rating"`` are names; ``"1,2,3"`` are positions counted from one, as in ``cut``.

    >>> parse_columns("1,2,4"), parse_columns("who,what,stars"), parse_columns(None)
    ([0, 1, 3], ['who', 'what', 'stars'], None)
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if all(part.isdecimal() and int(part) > 0 for part in parts):
        return [int(part) - 1 for part in parts]
    return list(parts)


def format_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], *, width: int = WIDTH) -> str:
    """A table that fits into ``width``: numbers to the right, the widest texts cut with an ellipsis.

    >>> print(format_table(["algorithm", "RMSE"], [["LBG", 0.94171], ["SVD", 0.93]]))
    algorithm    RMSE
    LBG        0.9417
    SVD        0.9300
    """
    cells = [[_cell(value) for value in row] for row in rows]
    right = [
        bool(rows) and all(isinstance(row[c], int | float) or row[c] is None for row in rows)
        for c in range(len(headers))
    ]
    widths = [max(map(display_width, column)) for column in zip(headers, *cells, strict=True)]
    while sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > 4:
        widths[widths.index(max(widths))] -= 1
    return "\n".join(_line(line, widths, right) for line in [list(headers), *cells])


def display_width(text: str) -> int:
    """The columns a text takes in a terminal: East Asian wide letters two, combining marks none.

    >>> display_width("Amélie"), display_width("千と千尋"), display_width("e\u0301")
    (6, 8, 1)
    """
    return sum(map(_letter_width, text))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """`format_table` on standard output; cut to 80 columns on a terminal, never in a pipe or a file."""
    echo(format_table(headers, rows, width=WIDTH if is_terminal() else sys.maxsize))


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def size_in_words(n_bytes: int) -> str:
    """The size of a file; below 0.1 MB in kB.

    >>> size_in_words(17_400_000), size_in_words(99_000), size_in_words(120)
    ('17.4 MB', '99 kB', '0.1 kB')
    """
    if n_bytes >= 100_000:
        return f"{n_bytes / 1e6:.1f} MB"
    return f"{n_bytes / 1e3:.0f} kB" if n_bytes >= 1000 else f"{n_bytes / 1e3:.1f} kB"


def print_json(value: Any) -> None:
    """Strict JSON on standard output: NumPy numbers become numbers, NaN and infinity become null."""
    echo(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """The same value in the types JSON knows."""
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else " ".join(visible(str(value)).split())


def _letter_width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):  # marks on the letter before, and signs that do not show
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _beginning(text: str, width: int) -> str:
    """The part of a text that fits."""
    taken = accumulate(map(_letter_width, text))
    return "".join(letter for letter, end in zip(text, taken, strict=True) if end <= width)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        short = cell if display_width(cell) <= width else _beginning(cell, width - 1) + "…"
        space = " " * (width - display_width(short))
        parts.append(space + short if to_right else short + space)
    return "  ".join(parts).rstrip()
