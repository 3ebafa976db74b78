"""``lbg-recsys update``: more ratings for a model, without a new fit."""

import os
from typing import Any

import click

from lbg_recsys.cli.common import WIDTH, counted, json_option, print_json, quiet_option
from lbg_recsys.cli.models import load_model, model_argument, remarks
from lbg_recsys.cli.reading import facts_of, format_options, in_words, ratings_argument, read_matrix
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.writing import output_option
from lbg_recsys.errors import DataError
from lbg_recsys.words import class_of


@click.command()
@model_argument
@ratings_argument()
@output_option("The model file to write; MODEL itself by default.", replaces="model")
@format_options
@quiet_option
@json_option
def update(model: str, ratings: str, output: str | None, quiet: bool, as_json: bool, **how: Any) -> None:
    """Add new RATINGS to MODEL.

    RATINGS may have new users, new items and new ratings of known users; where it rates a known pair, the new rating
    counts. The users in it get new posteriors, and one M-step follows. This is one step of what a fit would do:
    after many updates a fit to all ratings is better. It is for models of --algo lbg and --algo paper.

    The file is replaced when the new one is complete.

    \b
    Examples:
      lbg-recsys update model.lbg ratings.csv
      lbg-recsys update model.lbg ratings.csv -o newer.lbg
    """
    from lbg_recsys import save
    from lbg_recsys.catalogue import known_ids

    loaded = load_model(model, quiet)
    if not hasattr(loaded, "partial_fit"):
        raise DataError(
            f"{model} holds {class_of(loaded)}, which cannot be updated (only models of lbg and paper can): fit it "
            "again, to the old and the new file together"
        )
    before = facts_of(loaded.matrix)
    scale = loaded.matrix.scale
    new = read_matrix(ratings, scale=(scale.low, scale.high), quiet=quiet, **how)
    # the ids of a file are integers or text as a whole: they are found in the model as what they are there
    users, items = (known_ids(*pair) for pair in ((loaded.matrix.users, new.users), (loaded.matrix.items, new.items)))
    codes = new.user_codes, new.item_codes
    with remarks(quiet):
        loaded.partial_fit(([users[u] for u in codes[0]], [items[i] for i in codes[1]], new.values))
    save(loaded, output or model)
    after = facts_of(loaded.matrix)
    facts = {"model": output or model, "size": os.path.getsize(output or model), "before": before, "after": after}
    if as_json:
        print_json(facts)
    if as_json or quiet:
        return
    grown = ", ".join(
        counted(after[f"n_{one}s"] - before[f"n_{one}s"], f"new {one}") for one in ("user", "item", "rating")
    )
    echo(click.wrap_text(f"Updated {output or model}: {grown}. It has {in_words(after)}.", WIDTH))
