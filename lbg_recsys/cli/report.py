"""``lbg-recsys report``: a model on one page."""

import os
from typing import Any

import click

from lbg_recsys.cli.common import json_option, print_json, quiet_option, seed_option, size_in_words
from lbg_recsys.cli.models import load_model, model_argument, predicts_ratings, remarks
from lbg_recsys.cli.reading import format_options, ratings_argument, read_interactions
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.writing import output_option
from lbg_recsys.errors import DataError
from lbg_recsys.files import name_of
from lbg_recsys.progress import bar


@click.command()
@model_argument
@ratings_argument("[RATINGS]", required=False)
@output_option("File to write the page to (.html).", suffixes=(".html", ".htm"), required=True)
@click.option(
    "--refit/--no-refit",
    default=True,
    help="If RATINGS has nothing new, fit to four fifths of the model's ratings and evaluate on the rest.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0, max=20),
    default=3,
    show_default=True,
    help="Users whose lists are shown; the page names them.",
)
@click.option(
    "--list-users",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="The largest number of users whose lists of ten are evaluated.",
)
@format_options
@seed_option
@quiet_option
@json_option
def report(
    model: str,
    ratings: str | None,
    output: str,
    refit: bool,
    examples: int,
    list_users: int,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Write a page about a model: one HTML file that needs no network.

    The page shows the data, the training and its convergence, topics (groups of users) with their items, errors and
    calibration on ratings that the model has not seen (also by popularity and activity), lists beside popularity and
    EASE, and the lists of some users with reasons. Sections that do not apply are left out, and the page says so.

    RATINGS are the ratings to evaluate the model on; those that it was fitted to are left out. If none remain, a
    fifth of the model's own ratings is held out and a model with the same settings is fitted to the rest, which takes
    as long as the first fit; --no-refit leaves these figures out.

    \b
    Examples:
      lbg-recsys report model.lbg -o report.html
      lbg-recsys report model.lbg ratings.csv -o report.html
      lbg-recsys report model.lbg -o report.html --no-refit --examples 0
    """
    from lbg_recsys.files import atomic_write
    from lbg_recsys.report import report_html

    loaded = load_model(model, quiet)
    given = None if ratings is None else _read(loaded, ratings, quiet, how)
    with remarks(quiet), bar("reporting", quiet) as progress:
        page = report_html(
            loaded,
            given,
            name=os.path.basename(ratings) if ratings else "",
            title=f"Report on {os.path.basename(model)}",
            refit=refit,
            examples=examples,
            list_users=list_users,
            seed=seed,
            progress=progress,
        )
    with atomic_write(output, "w") as stream:
        stream.write(page)
    size = os.path.getsize(output)
    if as_json:
        print_json({"output": output, "size": size})
    elif not quiet:
        echo(f"Saved {output} ({size_in_words(size)}).")


def _read(model: Any, source: str, quiet: bool, how: dict[str, Any]) -> Any:
    """The ratings, or the choices, to evaluate the model on."""
    from lbg_recsys.ratings.clicks import as_choices

    data: Any = read_interactions(source, scale=None, quiet=quiet, **how)
    if hasattr(data, "columns"):
        if predicts_ratings(model) or len(model.matrix.scale.levels) > 1:
            raise DataError(
                f"{name_of(source)} has no rating column, and the model was fitted to ratings: give a file of ratings"
            )
        return as_choices(data[["user", "item"]])
    return data
