"""Options of the commands that read documents."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def documents_options(command: F) -> F:
    """How texts become word frequencies."""
    for option in (
        click.option("--label-column", metavar="NAME", help="The CSV's column of classes; found by name by default."),
        click.option("--text-column", metavar="NAME", help="The CSV's column of texts; found by name by default."),
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
