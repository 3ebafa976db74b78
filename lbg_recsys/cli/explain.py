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
from lbg_recsys.cli.terminal import bars, decimals, level_names

if TYPE_CHECKING:
    from lbg_recsys.ratings import Explanation, Influences, RatingModel

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
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=8, show_default=True, help="Ratings and topics to show."
)
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

    Shows its distribution, what speaks for it, and the ratings that put the user there.

    LBG: the topics that speak for it, and why the leading one. Exact: its log-odds against the runner-up are
    the sum of what each of the user's ratings adds, by having been given and by its value.

    All others: how the expected rating is made up, and how much of it there would not be without each of the
    user's ratings. Of a model of plsa this is exact; of a bayesian one it is an average over the kept sweeps
    with the user's noise held: good to a hundredth or two of a rating, less so for a few that contradict
    each other.

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
    if new_user is not None:
        with remarks(quiet):
            explanation = fold_in_file(loaded, new_user, **how).explain(found_item)
    else:
        explanation = loaded.explain(find_user(loaded, str(user)), found_item)
    if as_json:
        facts = asdict(explanation) | {"title": loaded.titles.get(found_item), "distribution": _by_name(explanation)}
        print_json(facts | {"evidence": with_titles(loaded, facts["evidence"])})
    else:
        who = f"User {explanation.user}" if new_user is None else "New user"
        _show(loaded, who, explanation, number)


def _by_name(found: "Explanation | Influences") -> dict[str, float]:
    return dict(zip(level_names(found.distribution), found.distribution.values(), strict=True))


def _show(model: "RatingModel", who: str, found: "Explanation | Influences", number: int) -> None:
    from lbg_recsys.ratings import Explanation

    click.echo(
        f"{who}, item {title_of(model, found.item)}: predicted {found.predicted:.4g}, expected {found.expected:.2f}\n"
    )
    click.echo(bars(_by_name(found)))
    if isinstance(found, Explanation):
        _show_topics(found, number)
        _show_log_odds(model, found, number)
    else:
        _show_parts(found)
        _show_topics(found, number)
        _show_influences(model, found, number)


def _show_topics(found: "Explanation | Influences", number: int) -> None:
    speaking = [topic for topic in found.topics if topic.share >= _NEGLIGIBLE]
    if not speaking:
        return
    click.echo("\nTopics that speak for it (share of the prediction, its mean rating)")
    print_table(
        ["topic", "share", "mean rating"], [[topic.topic, topic.share, topic.mean] for topic in speaking[:number]]
    )
    if len(speaking) > number:
        rest = sum(topic.share for topic in speaking[number:])
        click.echo(f"and {len(speaking) - number} more, together {rest:.4f}")


def _show_log_odds(model: "RatingModel", found: "Explanation", number: int) -> None:
    if found.topic == found.against:
        return  # one topic: there is nothing to weigh
    click.echo(
        f"\nWhy topic {found.topic} and not {found.against}: log-odds {found.log_odds:+.2f} = "
        f"prior {found.from_prior:+.2f}, unrated items {found.from_silence:+.2f},"
        f"\nthis item {found.from_item:+.2f}, and the user's own ratings "
        f"{sum(one.total for one in found.evidence):+.2f}{':' if found.evidence else '.'}"
    )
    if found.evidence:
        _show_evidence(model, found, number, 2)


def _show_parts(found: "Influences") -> None:
    places = decimals(found.distribution, 3)
    click.echo("\nWhat the expected rating is made of")
    print_table(
        ["part", "rating"],
        [
            ["the average rating", f"{found.from_average:+.{places}f}"],
            ["how this item is rated", f"{found.from_item:+.{places}f}"],
            ["how this user rates", f"{found.from_user:+.{places}f}"],
            ["how the user's taste meets the item", f"{found.from_taste:+.{places}f}"],
            ["together", f"={found.expected:.{places}f}"],
        ],
    )
    if not found.topics:
        click.echo(
            "Bayesian LBG adds up many small classes, and none is a topic by itself:"
            "\n`lbg-recsys topics` shows groups of users with like tastes."
        )


def _show_influences(model: "RatingModel", found: "Influences", number: int) -> None:
    if not found.evidence:
        click.echo("\nThe user has no ratings that could have put them there.")
        return
    click.echo("\nHow much of it there would not be without each of the user's own ratings")
    _show_evidence(model, found, number, decimals(found.distribution, 3))
    if any(one.item == found.item for one in found.evidence):
        click.echo(f"The user has rated {title_of(model, found.item)} too: that rating is among them.")
    if len(found.evidence) > 1:
        click.echo("They do not add up: ratings that say the same stand in for each other.")


def _show_evidence(model: "RatingModel", found: "Explanation | Influences", number: int, places: int) -> None:
    if any(one.from_rating_it for one in found.evidence):
        names = {"by rating it": "from_rating_it", "by its value": "from_its_value", "together": "total"}
    else:  # a model that learns nothing from what people rate
        names = {"by its value": "from_its_value"}
    print_table(
        ["rated", "rating", *names],
        [
            [
                title_of(model, one.item),
                f"{one.rating:g}",
                *(f"{getattr(one, name):+.{places}f}" for name in names.values()),
            ]
            for one in found.evidence[:number]
        ],
    )
    if len(found.evidence) > number:
        rest = sum(one.total for one in found.evidence[number:])
        click.echo(f"and {len(found.evidence) - number} more, together {rest:+.{places}f}")
