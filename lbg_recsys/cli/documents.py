"""Options of the commands that read documents."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lbg_recsys.cli.completion import complete_documents

F = TypeVar("F", bound=Callable[..., Any])


def documents_argument(name: str, *, required: bool = True) -> Callable[[F], F]:
    """Where documents are: what `read_documents` takes."""
    return click.argument(name, required=required, type=click.Path(), shell_complete=complete_documents)


def documents_options(command: F) -> F:
    """How texts become word frequencies."""
    for option in (
        click.option("--label-column", metavar="NAME", help="A table's column of classes; by default found by name."),
        click.option("--text-column", metavar="NAME", help="A table's column of texts; by default found by name."),
        click.option(
            "--stop-words",
            type=click.Choice(["english", "none"]),
            default="english",
            show_default=True,
            help="Frequent words to leave out.",
        ),
        click.option(
            "--min-df",
            type=click.IntRange(min=1),
            default=2,
            show_default=True,
            help="Leave out words in fewer documents than this.",
        ),
    ):
        command = option(command)
    return command
