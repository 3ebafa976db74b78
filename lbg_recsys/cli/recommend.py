"""``lbg-recsys recommend``: lists for one user, a new one, or all."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.common import WIDTH, counted, json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.completion import complete_user
from lbg_recsys.cli.models import (
    feature_option,
    find_items,
    find_user,
    fold_in_file,
    load_model,
    model_argument,
    new_item_option,
    new_user_option,
    of_new_user,
    predicts_ratings,
    refuse_choices,
    remarks,
    with_new_items,
)
from lbg_recsys.cli.reading import client_at, dask_option, format_options
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.writing import TABLES, block_writer, output_option
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.files import name_of
from lbg_recsys.progress import bar

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings import RatingModel
    from lbg_recsys.ratings.ids import RawId

# As in ratings.questions.recommender, which would import numpy for every --help.
CRITERIA = ("liked", "rated", "rating", "sure")


@click.command()
@model_argument
@click.option(
    "--user",
    "users",
    metavar="ID",
    shell_complete=complete_user,
    multiple=True,
    help="The user to recommend to; repeatable.",
)
@click.option("--all-users", is_flag=True, help="Recommend to every user, block by block in bounded memory.")
@new_user_option
@feature_option("the new user")
@new_item_option
@click.option("-n", "--number", type=click.IntRange(min=1), default=10, show_default=True, help="Items per list.")
@click.option(
    "--by",
    type=click.Choice(CRITERIA),
    help="Rank by what the user will take and like (liked, the default), will take (rated; the default for clicks), "
    "by the expected rating, or by the lower end of the rating's 90% interval (sure).",
)
@click.option(
    "--liked", type=float, metavar="RATING", help="The lowest liked rating; the scale's upper quarter by default."
)
@click.option("--only", metavar="FILE", type=click.Path(), help="Recommend only the items in this file.")
@click.option("--not", "without", metavar="FILE", type=click.Path(), help="Recommend no item in this file.")
@click.option(
    "--min-probability",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="P",
    help="Leave out items with a lower probability of being liked.",
)
@click.option(
    "--diversity",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    metavar="SHARE",
    help="From 0 to below 1: rank an item lower if it is similar to items above it.",
)
@dask_option("With --all-users: make the lists on the Dask cluster at HOST:PORT, or on the cores of this machine.")
@click.option("--include-seen", is_flag=True, help="Also list items that the user has rated already.")
@output_option(
    "Where the lists go: .csv, .tsv, .jsonl or .parquet; with --dask a new folder of Parquet files; standard output "
    "by default.",
    suffixes=TABLES,
    remedy="name a file in it, or with --dask a folder that is not there yet",
)
@format_options
@quiet_option
@json_option
def recommend(
    model: str,
    users: tuple[str, ...],
    all_users: bool,
    new_user: str | None,
    features: dict[str, Any],
    new_item: str | None,
    number: int,
    by: str | None,
    liked: float | None,
    only: str | None,
    without: str | None,
    min_probability: float,
    diversity: float,
    dask: str | None,
    include_seen: bool,
    output: str | None,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Recommend items that a user has not rated.

    The output is a table for one user; with --all-users or -o it has one line per user and rank.

    --new-user makes lists for users whom the model does not know, from a file of items (ids or titles) and ratings;
    nothing is fitted again. A column user in the file gives one list per user. Without ratings, lists follow from who
    takes what.

    --new-item adds items that the model does not know, from a file of users, ratings and, if there are several,
    items; lists may contain them.

    --only and --not take a file with one item id or title per line, or a table with an item column.

    --dask writes one Parquet file per 4,096 users. The workers must see the model file and the folder of -o.

    \b
    Examples:
      lbg-recsys recommend model.lbg --user 3
      lbg-recsys recommend model.lbg --user 3 --user 4 -n 5 --by rating --json
      lbg-recsys recommend model.lbg --new-user my_ratings.csv
      lbg-recsys recommend model.lbg --user 3 --only in_stock.txt --diversity 0.3
      lbg-recsys recommend model.lbg --user 3 --by sure --min-probability 0.5
      lbg-recsys recommend model.lbg --all-users -o recs.csv
      lbg-recsys recommend model.lbg --all-users -n 3 -o recs.parquet
      lbg-recsys recommend model.lbg --all-users -o lists --dask
    """
    import pandas as pd

    if bool(users) + all_users + (new_user is not None) != 1:
        raise click.UsageError("give one of --user ID (repeatable), --all-users and --new-user FILE")
    if dask is not None and (not all_users or output is None or new_item is not None):
        raise click.UsageError("--dask needs --all-users and -o FOLDER, and takes no --new-item")
    if features and new_user is None:
        raise click.UsageError("--feature is for a new user: give --new-user FILE")
    loaded, _ = with_new_items(load_model(model, quiet), new_item, quiet, **how if new_user is None else {})
    wishes: dict[str, Any] = {"exclude_seen": not include_seen, "diversity": diversity}
    wishes |= _candidates(loaded, only, without, quiet)
    if predicts_ratings(loaded):
        _refuse_outside(loaded, liked)
        by = by or "liked"
        wishes |= {"by": by, "liked": liked, "min_probability": min_probability}
    else:
        given = {f"--by {by}": by not in (None, "rated"), "--liked": liked is not None}
        for option, is_given in {**given, "--min-probability": min_probability > 0}.items():
            if is_given:
                refuse_choices(loaded, model, f"recommend {option}", f"leave out {option}")
    if dask is not None:
        _on_cluster(dask, model, str(output), number, wishes, quiet, as_json)
        return
    blocks: Iterable[pd.DataFrame]
    if new_user is not None:
        with remarks(quiet):
            folded = fold_in_file(loaded, new_user, quiet, features, **how)
            blocks, total = (of_new_user(one.recommend(number, **wishes), user) for user, one in folded), len(folded)
    else:
        if all_users:
            from lbg_recsys.ratings.crowd import need_users

            need_users(loaded.matrix, "--all-users")
        chosen = list(dict.fromkeys(loaded.matrix.users if all_users else (find_user(loaded, one) for one in users)))
        blocks, total = loaded.recommend_blocks(chosen, number, **wishes), len(chosen)
    if all_users or output or as_json:
        write_lists(blocks, total, output, quiet, as_json)
    else:
        _show(_with_titles(pd.concat(blocks, ignore_index=True)), total, quiet)


def _on_cluster(
    address: str, model: str, output: str, number: int, wishes: dict[str, Any], quiet: bool, as_json: bool
) -> None:
    """Write the lists of all users by the workers of a cluster."""
    from lbg_recsys.distributed import lists_on_dask

    with client_at(address) as client, bar("recommending", quiet) as progress:
        done = lists_on_dask(model, output, client, number, progress=progress, **wishes)
    _say_written(output, done.rows, done.users, quiet, as_json)
    _say_who_has_none(done.users, done.of, quiet)


def _candidates(model: Any, only: str | None, without: str | None, quiet: bool) -> "dict[str, list[RawId]]":
    """The items that --only and --not leave, as arguments of the models."""
    from lbg_recsys.readers import read_items

    found = {}
    for name, source in (("items", only), ("exclude", without)):
        if source is not None:
            found[name] = list(dict.fromkeys(find_items(model, read_items(source), name_of(source), quiet).values()))
    left = set(found.get("items", model.matrix.items)) - set(found.get("exclude", []))
    if not left:
        raise DataError("--only and --not leave no item to recommend")
    return found


def _refuse_outside(model: "RatingModel", liked: float | None) -> None:
    scale = model.matrix.scale
    if liked is not None and not scale.low <= liked <= scale.high:
        raise ParameterError(f"--liked {liked:g} is off the model's rating scale {scale.low:g}..{scale.high:g}")


def _with_titles(found: "pd.DataFrame") -> "pd.DataFrame":
    """An item without a title is called by its id."""
    if "title" in found:
        found["title"] = [
            str(item) if title is None else title for item, title in zip(found["item"], found["title"], strict=True)
        ]
    return found


def write_lists(blocks: "Iterable[pd.DataFrame]", total: int, output: str | None, quiet: bool, as_json: bool) -> None:
    """Write blocks of lists as they come: memory holds one of them."""
    done = 0
    with bar("recommending", quiet) as progress, block_writer(output, as_json=as_json) as writer:
        for block in blocks:
            writer.write(block)
            done += block["user"].nunique()
            progress(min(done, total), total, "users")
    if output:
        _say_written(output, writer.n_rows, done, quiet, as_json)
    _say_who_has_none(done, total, quiet)


def _say_written(output: str, rows: int, users: int, quiet: bool, as_json: bool) -> None:
    """Say what was written to a file or a folder."""
    if as_json:
        print_json({"output": output, "n_recommendations": rows, "n_users": users})
    elif not quiet:
        echo(f"Wrote {counted(rows, 'recommendation')} for {counted(users, 'user')} to {output}.", err=True)


def _say_who_has_none(listed: int, total: int, quiet: bool) -> None:
    """Count the users without a list."""
    if listed < total and not quiet:
        cause = "all items are known to the user or left out by --only, --not or --min-probability"
        who = f" to {counted(total - listed, 'user')} of {total:,}" if total > 1 else ""
        echo(click.wrap_text(f"Nothing is left to recommend{who}: {cause}.", WIDTH), err=True)


def _show(found: "pd.DataFrame", total: int, quiet: bool) -> None:
    _say_who_has_none(found["user"].nunique(), total, quiet)
    columns = [str(name) for name in found if name != "user" or found["user"].nunique() > 1]
    print_table(columns, found[columns].to_numpy(dtype=object).tolist())
