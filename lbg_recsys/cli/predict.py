"""``lbg-recsys predict``: a rating, or a file of them, each with its distribution."""

import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.catalogue import Catalogue, as_integer, known_ids, title_of
from lbg_recsys.cli.common import WIDTH, counted, json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.completion import complete_item, complete_user
from lbg_recsys.cli.models import (
    feature_option,
    find_item,
    fold_in_file,
    known_or_new_user,
    load_rating_model,
    model_argument,
    new_item_option,
    new_user_called,
    new_user_option,
    of_new_user,
    remarks,
    with_new_items,
)
from lbg_recsys.cli.reading import format_options
from lbg_recsys.cli.terminal import bars, echo
from lbg_recsys.cli.writing import TABLES, block_writer, output_option
from lbg_recsys.columns import with_distribution
from lbg_recsys.errors import DataError
from lbg_recsys.files import name_of
from lbg_recsys.progress import bar

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings import RatingModel

_BLOCK = 1 << 14  # pairs at a time: about a second with the most accurate model
_NAMED = 3  # unknown users and items that a note names


@click.command()
@model_argument
@click.argument("pairs", metavar="[PAIRS]", required=False, type=click.Path())
@click.option("--user", metavar="ID", shell_complete=complete_user, help="The user of a single pair.")
@click.option(
    "--item", metavar="ID", shell_complete=complete_item, help="The item of a single pair: its id or title."
)
@new_user_option
@new_item_option
@feature_option("the new user, or of the new item if there is no --new-user")
@click.option("--time", is_flag=True, help="PAIRS has a column with times, and the model was fitted with --time.")
@output_option(
    "Where the predictions go: .csv, .tsv, .jsonl or .parquet; standard output (CSV) by default.", suffixes=TABLES
)
@click.option(
    "--point",
    type=click.Choice(["mode", "mean", "median"]),
    help="The predicted rating; as the model was fitted by default.",
)
@click.option(
    "--mass",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Probability that the interval contains the rating.",
)
@format_options
@quiet_option
@json_option
def predict(
    model: str,
    pairs: str | None,
    user: str | None,
    item: str | None,
    new_user: str | None,
    new_item: str | None,
    features: dict[str, Any],
    time: bool,
    output: str | None,
    point: str | None,
    mass: float,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Predict the rating of a pair, or of a file of PAIRS.

    PAIRS has the columns user and item (or title), in any layout that fit reads; an item may be its whole title, and
    the output has its id. The output has one line per pair: the predicted rating, its standard deviation, the
    interval and the probability of every level. If the model does not know a user, the prediction is that for an
    unknown user, and likewise for an item of PAIRS. --item must be an item that the model knows: its id, its title or
    a part of the title. Items with features and no ratings are known too.

    --new-user predicts for users whom the model does not know, from a file of items (ids or titles) and ratings;
    nothing is fitted again. A column user in the file gives one prediction per user.

    --new-item predicts an item that the model does not know, from a file with its users and ratings; nothing is
    fitted again. If the file has no column item, the item is called "new item"; if it has several, --item names one
    of them. --feature gives features of the new item, with --new-item or in its place; with --new-user they are those
    of the new user.

    \b
    Examples:
      lbg-recsys predict model.lbg --user 3 --item "Crimson Comet"
      lbg-recsys predict model.lbg --user 3 --item 8 --json
      lbg-recsys predict model.lbg pairs.csv -o predictions.csv
      lbg-recsys predict model.lbg pairs.csv --point mean --mass 0.5
      lbg-recsys predict model.lbg --new-user my_ratings.csv --item 8
      lbg-recsys predict model.lbg --user 3 --new-item its_ratings.csv
      lbg-recsys predict featured.lbg --user 3 --feature year=1999
    """
    if features and new_item is None and new_user is None and not (pairs is None and item is None):
        raise click.UsageError(
            "--feature is for a new item: give its ratings by --new-item FILE, or leave --item out"
        )
    if user is not None and new_user is not None:
        raise click.UsageError("give either --user ID or --new-user FILE")
    has_user = user is not None or new_user is not None
    has_item = item is not None or new_item is not None or (bool(features) and new_user is None)
    if (pairs is None) == (not has_user and item is None):
        raise click.UsageError("give either a file of PAIRS, or --user (or --new-user) and --item")
    if pairs is None and not (has_user and has_item):
        raise click.UsageError("a single pair needs both --user (or --new-user) and --item")
    if time and pairs is None:
        raise click.UsageError("--time needs a file of PAIRS with times")
    of_item, of_user = ({}, features) if new_user is not None else (features, {})
    form = how if new_user is None else {}  # the options of the format are those of one file
    loaded, added = with_new_items(load_rating_model(model, quiet, "predict"), new_item, quiet, of_item, **form)
    loaded.point = point or loaded.point
    if pairs is None:
        if item is None and len(added) > 1:
            raise click.UsageError(f"{new_item} has {len(added):,} items: name one of them with --item")
        known = added[0] if item is None else find_item(loaded, item)
        found = {}
        if new_user is None:
            own = known_or_new_user(loaded, str(user), quiet)
            found[f"User {own}"] = loaded.predictions([(own, known)], mass)
        else:
            with remarks(quiet):
                folded = fold_in_file(loaded, new_user, quiet, of_user, **how)
                for own, one in folded:
                    found[new_user_called(own)] = of_new_user(one.predictions([known], mass), own)
        _few(loaded, found, mass, output, as_json, quiet)
    else:
        if time and getattr(loaded, "calendar_", None) is None:
            raise DataError(f"{model} was fitted without times: fit it with --time, or leave --time out here")
        _many(loaded, pairs, {**how, "timestamp": True} if time else how, output, mass, quiet, as_json)


def _few(
    model: "RatingModel",
    found: "dict[str, pd.DataFrame]",
    mass: float,
    output: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show or write the prediction for one user, or for each of some new ones; ``found`` has them by user."""
    if output or as_json:
        with block_writer(output, as_json=as_json) as writer:
            for table in found.values():
                writer.write(table)
        _wrote(writer.n_rows, output, as_json, quiet)
        return
    for turn, (who, table) in enumerate(found.items()):
        row = with_distribution({str(name): column.tolist()[0] for name, column in table.items()})
        echo("\n" if turn else "", nl=False)
        echo(f"{who}, item {title_of(model, row['item'])}: prediction {row['prediction']:.4g} ({model.point})")
        print_table(["std", "low", "high"], [[row["std"], f"{row['low']:g}", f"{row['high']:g}"]])
        echo(f"low, high: the ends of the {mass:.0%} interval")
        echo()
        echo(bars(row["distribution"]))


def _many(
    model: "RatingModel",
    source: str,
    how: dict[str, Any],
    output: str | None,
    mass: float,
    quiet: bool,
    as_json: bool,
) -> None:
    from lbg_recsys.ratings.bayesian.featured import FeaturedModel
    from lbg_recsys.ratings.questions.predictions import predictions
    from lbg_recsys.readers import read_interactions
    from lbg_recsys.readers.layouts import of_pairs
    from lbg_recsys.readers.ratings import read_table

    with warnings.catch_warnings(record=True) as headers, bar("reading", quiet) as progress:
        warnings.simplefilter("always")
        frame: Any = (
            read_interactions(source, **how, progress=progress)
            if "timestamp" in how
            else read_table(source, of_pairs, **how, is_asked=True, progress=progress)
        )
    source = name_of(source)
    given = frame["item" if "item" in frame else "title"]
    users, items = known_ids(model.matrix.users, frame["user"]), known_ids(model.matrix.items, given)
    if isinstance(model, FeaturedModel):  # ids that have features and no ratings
        users, items = known_ids(model.user_features_.ids, users), known_ids(model.item_features_.ids, items)
    catalogue, unknown = Catalogue(model), _unknown(model, users, items)
    titled = catalogue.by_title(unknown["item"], source)
    may_be_header = users[0] in unknown["user"] and items[0] in unknown["item"] and items[0] not in titled
    if titled:  # with titles in the column, ids were read as text
        meant = {one: as_integer(one) for one in unknown["item"]} | titled
        items = [meant.get(one, one) for one in items]
    with (
        bar("predicting", quiet) as progress,
        block_writer(output, as_json=as_json) as writer,
    ):
        for first in range(0, len(users), _BLOCK):
            last = first + _BLOCK
            times = frame["timestamp"].to_numpy()[first:last].astype("int64") if "timestamp" in frame else None
            writer.write(predictions(model, users[first:last], items[first:last], mass, times))
            progress(min(last, len(users)), len(users), "")
    _wrote(writer.n_rows, output, as_json, quiet)
    if not quiet:
        for one in headers if may_be_header else ():
            echo(click.wrap_text(f"Note: {one.message}", WIDTH), err=True)
        for what, count in unknown.items():
            strange = [one for one in count if what == "user" or one not in titled]
            if strange:
                # a text may be a title
                told = catalogue.trouble if what == "item" and isinstance(strange[0], str) else repr
                named = [told(one) for one in strange[:_NAMED]]
                named += [f"and {len(strange) - _NAMED:,} more"] if len(strange) > _NAMED else []
                pairs = counted(sum(count[one] for one in strange), "pair")
                said = f"{pairs} with {what}s that the model does not know: {'; '.join(named)}"
                echo(click.wrap_text(f"Note: {source}: {said}.", WIDTH), err=True)


def _unknown(model: "RatingModel", users: list[Any], items: list[Any]) -> dict[str, Counter[Any]]:
    """The users and the items that the model does not know, with the number of pairs of each."""
    from lbg_recsys.ratings.ids import UNKNOWN

    # ids that have features and no ratings are known: they have other codes
    codes = model.codes(users, items)
    return {
        what: Counter(given[n] for n in (own == UNKNOWN).nonzero()[0].tolist())
        for what, given, own in zip(("user", "item"), (users, items), codes, strict=True)
    }


def _wrote(number: int, output: str | None, as_json: bool, quiet: bool) -> None:
    """Say what is in the output file, if there is one."""
    if output and as_json:
        print_json({"output": output, "n_predictions": number})
    elif output and not quiet:
        echo(f"Wrote {counted(number, 'prediction')} to {output}.", err=True)
