"""``lbg-recsys update``: more ratings for a model, without a new fit."""

import os
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.catalogue import Catalogue, as_integer, known_ids
from lbg_recsys.cli.common import WIDTH, counted, json_option, print_json, quiet_option
from lbg_recsys.cli.models import load_model, model_argument, remarks
from lbg_recsys.cli.reading import facts_of, format_options, in_words, ratings_argument, read_matrix
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.writing import output_option
from lbg_recsys.errors import DataError
from lbg_recsys.files import name_of
from lbg_recsys.words import class_of

if TYPE_CHECKING:
    from lbg_recsys.ratings import RatingMatrix
    from lbg_recsys.ratings.ids import RawId


@click.command()
@model_argument
@ratings_argument()
@output_option("The model file to write; MODEL itself by default.", replaces="model")
@format_options
@quiet_option
@json_option
def update(model: str, ratings: str, output: str | None, quiet: bool, as_json: bool, **how: Any) -> None:
    """Add new RATINGS to MODEL.

    RATINGS may have new users, new items and new ratings of known users; if a user rates an item again, the new
    rating counts. An item may be its id or its whole title. The users in RATINGS get new posteriors, and one M-step
    follows. This is one step of a fit: after many updates, fit the model again to all ratings.

    Only models of --algo lbg and --algo paper can be updated. The file is replaced when the new one is complete.

    \b
    Examples:
      lbg-recsys update model.lbg ratings.csv
      lbg-recsys update model.lbg ratings.csv -o newer.lbg
    """
    from lbg_recsys import save
    from lbg_recsys.ratings.crowd import need_users

    loaded = load_model(model, quiet)
    if not hasattr(loaded, "partial_fit"):
        raise DataError(
            f"{model} holds {class_of(loaded)}, which cannot be updated (only models of lbg and paper can): fit it "
            "again, to the old and the new file together"
        )
    need_users(loaded.matrix, "update")
    before = facts_of(loaded.matrix)
    scale = loaded.matrix.scale
    new = read_matrix(ratings, scale=(scale.low, scale.high), quiet=quiet, **how)
    # a file's ids are all integers or all text: they are looked up with the types of the model's ids
    names, items = known_ids(loaded.matrix.users, new.users), _items(loaded, new, name_of(ratings))
    has_two_names = len(set(items)) < len(items)
    users, items = [names[u] for u in new.user_codes], [items[i] for i in new.item_codes]
    if has_two_names:
        _refuse_two_names(users, items, name_of(ratings))
    with remarks(quiet):
        loaded.partial_fit((users, items, new.values))
    save(loaded, output or model)
    after = facts_of(loaded.matrix)
    replaced = before["n_ratings"] + new.n_ratings - after["n_ratings"]
    facts = {"model": output or model, "size": os.path.getsize(output or model), "before": before, "after": after}
    facts["n_replaced"] = replaced
    if as_json:
        print_json(facts)
    if as_json or quiet:
        return
    grown = ", ".join(
        counted(after[f"n_{one}s"] - before[f"n_{one}s"], f"new {one}") for one in ("user", "item", "rating")
    )
    if replaced:
        grown += f", {counted(replaced, 'rating')} replaced"
    now = in_words({**after, "n_duplicates": 0})  # those are replaced ratings, too
    echo(click.wrap_text(f"Updated {output or model}: {grown}. It has {now}.", WIDTH))


def _items(model: Any, new: "RatingMatrix", source: str) -> "list[RawId]":
    """The items of new ratings by the ids of the model, which they name by id or whole title; the others are new."""
    items = known_ids(model.matrix.items, new.items)
    strange = [one for one in items if one not in model.matrix.items]
    meant = Catalogue(model).by_title(strange, source)
    if meant:  # with titles in the column, ids were read as text
        meant = {one: as_integer(one) for one in strange} | meant
    return [meant.get(one, one) for one in items]


def _refuse_two_names(users: "list[RawId]", items: "list[RawId]", source: str) -> None:
    """Refuse two ratings of an item by one user, which the file gives by an id and a title, or by two spellings."""
    seen = set()
    for pair in zip(users, items, strict=True):
        if pair in seen:
            raise DataError(
                f"{source}: the user {pair[0]!r} rates the item {pair[1]!r} by two names: leave one of the "
                "ratings out"
            )
        seen.add(pair)
