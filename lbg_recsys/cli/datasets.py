"""``lbg-recsys datasets``: list, fetch and locate data sets."""

from dataclasses import asdict
from typing import Any

import click

from lbg_recsys.cli.common import json_option, print_json, print_table, quiet_option, size_in_words
from lbg_recsys.cli.completion import complete_dataset
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.terminal import echo
from lbg_recsys.datasets import DATASETS, DatasetInfo, dataset_info, find_dataset
from lbg_recsys.datasets.fetch import Located
from lbg_recsys.errors import DatasetError
from lbg_recsys.progress import bar


def _known(_: click.Context, __: click.Parameter, name: str) -> str:
    try:
        dataset_info(name)
    except DatasetError as error:
        raise click.BadParameter(str(error)) from error
    return name


NOT_HERE = "not here"  # of a data set, in tables; null in JSON

name_argument = click.argument("name", callback=_known, shell_complete=complete_dataset)


@click.group()
def datasets() -> None:
    """List, fetch and locate data sets.

    \b
    Examples:
      lbg-recsys datasets list
      lbg-recsys datasets fetch ml-100k
      lbg-recsys datasets path sample
    """


@datasets.command("list")
@quiet_option
@json_option
def list_(quiet: bool, as_json: bool) -> None:
    """Show every data set and whether this machine has it.

    \b
    Examples:
      lbg-recsys datasets list
      lbg-recsys datasets list --json
    """
    with remarks(quiet):
        found = {name: located_here(name) for name in DATASETS}
    if as_json:
        print_json([_facts(info, found[name]) for name, info in DATASETS.items()])
        return
    print_table(
        ["name", "size", "found_in", "summary"],
        [
            [name, size_in_words(info.size), located.found_in if located else NOT_HERE, info.summary]
            for (name, info), located in zip(DATASETS.items(), found.values(), strict=True)
        ],
    )


@datasets.command()
@name_argument
@quiet_option
@json_option
def fetch(name: str, quiet: bool, as_json: bool) -> None:
    """Download the data set NAME unless this machine has it, and print where it is.

    \b
    Examples:
      lbg-recsys datasets fetch ml-100k
      lbg-recsys datasets fetch spambase --json
    """
    with bar(f"fetching {name}", quiet) as progress:
        located = find_dataset(name, progress=progress)
    if as_json:
        print_json(_facts(located.info, located))
        return
    if not quiet:
        info = located.info
        echo(f"{info.title}: {located.found_in}, checksum verified.", err=True)
        echo(f"Licence: {info.licence}.\nCite: {info.citation}", err=True)
    echo(located.path)


@datasets.command()
@name_argument
@quiet_option
@json_option
def path(name: str, quiet: bool, as_json: bool) -> None:
    """Print where the data set NAME is on this machine; never downloads.

    \b
    Examples:
      lbg-recsys datasets path sample
      lbg-recsys datasets path sample --json
    """
    info = dataset_info(name)
    with remarks(quiet):
        located = located_here(name)
    if located is None:
        raise DatasetError(f"{info.title} is not on this machine; lbg-recsys datasets fetch {name} gets it")
    if as_json:
        print_json(_facts(located.info, located))
    else:
        echo(located.path)


def located_here(name: str) -> Located | None:
    """Where a data set is on this machine, or None; nothing is downloaded."""
    try:
        return find_dataset(name, download=False)
    except DatasetError:
        return None


def _facts(info: DatasetInfo, located: Located | None) -> dict[str, Any]:
    facts = {key: value for key, value in asdict(info).items() if isinstance(value, str)}
    return {
        **facts,
        "size": info.size,
        "sha256": info.sha256,
        "path": located and located.path,
        "found_in": located and located.found_in,
    }
