"""``lbg-recsys items``: the items of a model, found by their ids and titles."""

import click

from lbg_recsys.catalogue import Catalogue
from lbg_recsys.cli.common import counted, json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.completion import complete_item
from lbg_recsys.cli.models import load_model, model_argument
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.writing import TABLES, block_writer, output_option
from lbg_recsys.errors import DataError

_SHOWN = 20


@click.command()
@model_argument
@click.argument("text", metavar="[TEXT]", default="", shell_complete=complete_item)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    help=f"Items to show; {_SHOWN} by default, all of them with -o.",
)
@output_option("Where the items go: .csv, .tsv, .jsonl or .parquet.", suffixes=TABLES)
@quiet_option
@json_option
def items(model: str, text: str, number: int | None, output: str | None, quiet: bool, as_json: bool) -> None:
    """List the items of a model, or those whose title has TEXT.

    The items that are rated most often come first. TEXT is an id, a part of a title or some of its words. Items that
    have features and no ratings are not listed.

    \b
    Examples:
      lbg-recsys items model.lbg
      lbg-recsys items model.lbg comet
      lbg-recsys items model.lbg "crimson" -n 3 --json
      lbg-recsys items model.lbg -o items.csv
    """
    from lbg_recsys.ratings.questions.facts import item_facts

    loaded = load_model(model, quiet)
    catalogue, everything = Catalogue(loaded), len(loaded.matrix.items)
    found = item_facts(loaded, catalogue, text, everything)
    if not found:
        where = "id or title" if loaded.titles else "id"
        raise DataError(f"no {where} of the {counted(everything, 'item')} has {catalogue.trouble(text)}")
    shown = found[: number or (everything if output else _SHOWN)]
    if output:
        import pandas as pd

        with block_writer(output) as writer:
            writer.write(pd.DataFrame(shown))
        if as_json:
            print_json({"output": output, "n_items": len(shown)})
        elif not quiet:
            echo(f"Wrote {counted(len(shown), 'item')} to {output}.", err=True)
    elif as_json:
        print_json(shown)
    else:
        print_table(list(shown[0]), [list(one.values()) for one in shown])
        if len(shown) < len(found) and not quiet:
            echo(f"{len(shown):,} of {counted(len(found), 'item')}: -n shows more.", err=True)
