"""``lbg-recsys explain``: why a rating is predicted as it is."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.common import json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.models import (
    find_item,
    find_user,
    fold_in_file,
    load_model,
    model_argument,
    remarks,
    title_of,
    with_titles,
)
from lbg_recsys.cli.reading import format_options
from lbg_recsys.cli.terminal import bars, level_names
from lbg_recsys.errors import DataError

if TYPE_CHECKING:
    from lbg_recsys.ratings import Explanation, RatingModel

_NEGLIGIBLE = 0.001


@click.command()
@model_argument
@click.option("--user", metavar="ID", help="The user.")
@click.option(
    "--new-user",
    metavar="FILE",
    type=click.Path(),
    help="A user the model does not know: a file with item and rating.",
)
@click.option("--item", metavar="ID", required=True, help="The item: its id or title.")
@click.option("-n", "--number", type=click.IntRange(min=1), default=8, show_default=True, help="Ratings to show.")
@format_options
@quiet_option
@json_option
def explain(
    model: str,
    user: str | None,
    new_user: str | None,
    item: str,
    number: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Explain a prediction by the user's own ratings.

    Shows its distribution, the topics that speak for it, and the ratings that put the user there.
    The evidence is exact: the log-odds of the leading topic against the runner-up are the sum of what each
    of the user's ratings adds, by having been given and by its value.

    \b
    Examples:
      lbg-recsys explain model.lbg --user 3 --item "Crimson Comet"
      lbg-recsys explain model.lbg --user 3 --item 8 -n 3 --json
      lbg-recsys explain model.lbg --new-user my_ratings.csv --item 8
    """
    if (user is None) == (new_user is None):
        raise click.UsageError("say for whom: --user ID or --new-user FILE")
    loaded = load_model(model, quiet)
    found_item = find_item(loaded, item)
    if not hasattr(loaded, "explain"):
        raise DataError(f"a {type(loaded).__name__} has no exact explanation; fit with --algo lbg for one")
    if new_user is not None:
        with remarks(quiet):
            explanation = fold_in_file(loaded, new_user, **how).explain(found_item)
    else:
        explanation = loaded.explain(find_user(loaded, str(user)), found_item)
    if as_json:
        facts = asdict(explanation) | {"title": loaded.titles.get(found_item), "distribution": _by_name(explanation)}
        print_json(facts | {"evidence": with_titles(loaded, facts["evidence"])})
    else:
        _show(loaded, explanation, number)


def _by_name(found: "Explanation") -> dict[str, float]:
    return dict(zip(level_names(found.distribution), found.distribution.values(), strict=True))


def _show(model: "RatingModel", found: "Explanation", number: int) -> None:
    click.echo(
        f"User {found.user}, item {title_of(model, found.item)}: predicted {found.predicted:.4g}, "
        f"expected {found.expected:.2f}\n"
    )
    click.echo(bars(_by_name(found)))
    click.echo("\nTopics that speak for it (share of the prediction, its mean rating)")
    shown = [topic for topic in found.topics if topic.share >= _NEGLIGIBLE]
    print_table(["topic", "share", "mean rating"], [[topic.topic, topic.share, topic.mean] for topic in shown])
    if found.topic == found.against:
        return  # one topic: there is nothing to weigh
    click.echo(
        f"\nWhy topic {found.topic} and not {found.against}: log-odds {found.log_odds:+.2f} = "
        f"prior {found.from_prior:+.2f}, unrated items {found.from_silence:+.2f},"
        f"\nthis item {found.from_item:+.2f}, and the user's own ratings "
        f"{sum(one.total for one in found.evidence):+.2f}:"
    )
    print_table(
        ["rated", "rating", "by rating it", "by its value", "together"],
        [
            [
                title_of(model, one.item),
                f"{one.rating:g}",
                *(f"{part:+.2f}" for part in (one.from_rating_it, one.from_its_value, one.total)),
            ]
            for one in found.evidence[:number]
        ],
    )
    if len(found.evidence) > number:
        rest = sum(one.total for one in found.evidence[number:])
        click.echo(f"and {len(found.evidence) - number} more, together {rest:+.2f}")
