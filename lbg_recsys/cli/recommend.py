"""``lbg-recsys recommend``: lists for one user, a new one, or all."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.common import counted, json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.models import find_user, fold_in_file, load_model, model_argument, remarks, title_of
from lbg_recsys.cli.reading import format_options
from lbg_recsys.cli.writing import TABLES, block_writer, output_option
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import bar

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings import RatingModel


@click.command()
@model_argument
@click.option("--user", "users", metavar="ID", multiple=True, help="Whom to recommend to; repeatable.")
@click.option("--all-users", is_flag=True, help="Recommend to every user, block by block in bounded memory.")
@click.option(
    "--new-user",
    metavar="FILE",
    type=click.Path(),
    help="A user the model does not know: a file with item and rating.",
)
@click.option("-n", "--number", type=click.IntRange(min=1), default=10, show_default=True, help="Items a list.")
@click.option(
    "--by",
    type=click.Choice(["rating", "rated", "liked"]),
    default="liked",
    show_default=True,
    help="Rank by expected rating, by the probability of being rated, or of being rated and liked.",
)
@click.option(
    "--liked", type=float, metavar="RATING", help="Where liked begins; the scale's upper quarter by default."
)
@click.option("--include-seen", is_flag=True, help="Also list what the user has rated already.")
@output_option("Where the lists go: .csv, .tsv, .jsonl or .parquet; standard output by default.", suffixes=TABLES)
@format_options
@quiet_option
@json_option
def recommend(
    model: str,
    users: tuple[str, ...],
    all_users: bool,
    new_user: str | None,
    number: int,
    by: str,
    liked: float | None,
    include_seen: bool,
    output: str | None,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Recommend items that a user has not rated.

    A table for one user; with --all-users or -o a line for each user and rank. --new-user takes somebody who was
    not there when the model was fitted, by a file of items and ratings: nothing is fitted again.

    \b
    Examples:
      lbg-recsys recommend model.lbg --user 3
      lbg-recsys recommend model.lbg --user 3 --user 4 -n 5 --by rating --json
      lbg-recsys recommend model.lbg --new-user my_ratings.csv
      lbg-recsys recommend model.lbg --all-users -o recs.csv
      lbg-recsys recommend model.lbg --all-users -n 3 -o recs.parquet
    """
    import pandas as pd

    if bool(users) + all_users + (new_user is not None) != 1:
        raise click.UsageError("say for whom: --user ID, --all-users or --new-user FILE")
    loaded = load_model(model, quiet)
    _refuse_outside(loaded, liked)
    wishes: dict[str, Any] = {"exclude_seen": not include_seen, "by": by, "liked": liked}
    blocks: Iterable[pd.DataFrame]
    if new_user is not None:
        with remarks(quiet):
            blocks, total = [fold_in_file(loaded, new_user, **how).recommend(number, **wishes)], 1
    else:
        chosen = list(loaded.matrix.users) if all_users else [find_user(loaded, user) for user in users]
        blocks, total = loaded.recommend_blocks(chosen, number, **wishes), len(chosen)
    named = (_with_titles(loaded, block) for block in blocks)
    if all_users or output:
        write_lists(named, total, output, quiet, as_json)
    else:
        _show(loaded, pd.concat(named, ignore_index=True), by, quiet, as_json)


def _refuse_outside(model: "RatingModel", liked: float | None) -> None:
    scale = model.matrix.scale
    if liked is not None and not scale.lower <= liked <= scale.upper:
        raise ParameterError(f"--liked {liked:g} is off the model's rating scale {scale.lower:g}..{scale.upper:g}")


def _with_titles(model: "RatingModel", found: "pd.DataFrame") -> "pd.DataFrame":
    if model.titles:
        found.insert(3, "title", [title_of(model, item) for item in found["item"]])
    return found


def write_lists(blocks: "Iterable[pd.DataFrame]", total: int, output: str | None, quiet: bool, as_json: bool) -> None:
    """Write blocks of lists as they come: memory holds one of them."""
    done = 0
    kind = ".jsonl" if as_json else ".csv"
    with bar("recommending", quiet) as progress, block_writer(output, default=kind) as writer:
        for block in blocks:
            writer.write(block)
            done += block["user"].nunique()
            progress(min(done, total), total, "users")
    if output and not quiet:
        written = f"{counted(writer.n_rows, 'recommendation')} for {counted(total, 'user')}"
        click.echo(f"Wrote {written} to {output}.", err=True)


def _show(model: "RatingModel", found: "pd.DataFrame", by: str, quiet: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict(orient="records"))
        return
    several = found["user"].nunique() > 1
    # the score of --by rating is the expected rating, which has its column already
    columns = [*(["user"] if several else []), "rank", "item", *(["title"] if model.titles else [])]
    columns += ["rating"] if by == "rating" else ["score", "rating"]
    headers = {"score": "liked" if by == "liked" else "rated", "rating": "expected rating"}
    rows = found[columns].to_numpy(dtype=object).tolist()
    if not rows and not quiet:
        click.echo("Nothing is left to recommend: the user has rated everything.", err=True)
    print_table([headers.get(name, name) for name in columns], rows)
