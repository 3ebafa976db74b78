"""``lbg-recsys topics``: what the users of each topic rate, love and hate."""

from typing import TYPE_CHECKING

import click

from lbg_recsys.catalogue import title_of
from lbg_recsys.cli.common import json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.models import load_rating_model, model_argument, remarks
from lbg_recsys.cli.pictures import plot_option
from lbg_recsys.cli.terminal import decimals, echo

if TYPE_CHECKING:
    from lbg_recsys.ratings import RatingModel
    from lbg_recsys.ratings.questions.topics import Topic


@click.command()
@model_argument
@click.option("-n", "--number", type=click.IntRange(min=1), default=5, show_default=True, help="Items of each kind.")
@click.option(
    "-k",
    "--topics",
    "n_topics",
    type=click.IntRange(min=1),
    help="How many topics to find, for a bayesian model: 5 by default. Other models have a fixed number.",
)
@plot_option
@quiet_option
@json_option
def topics(model: str, number: int, n_topics: int | None, plot: str | None, quiet: bool, as_json: bool) -> None:
    """Show what the users of each topic rate, love and hate.

    A topic is a group of users who rate alike; its weight is the share of the users who are in it. Typical items are
    rated by more of its users than of others; probability is how likely its users rate them. Loved and hated items
    are those that its users rate furthest above and below everybody's mean; difference says how far. The topics of
    lbg, paper and plsa are the model's own. Those of a bayesian model are found after the fit, by
    similar tastes in draws from the posterior; a user whose topic differs between draws is in several.

    \b
    Examples:
      lbg-recsys topics model.lbg
      lbg-recsys topics model.lbg -n 3 --json
      lbg-recsys topics model.lbg --plot topics.png
      lbg-recsys topics bayesian.lbg -k 3
    """
    loaded = load_rating_model(model, quiet, "topics")
    with remarks(quiet):
        found = loaded.topics(number, n_topics=n_topics)
    if plot:
        from lbg_recsys.cli.pictures import draw_topics

        draw_topics(found, loaded.titles, plot)
    if as_json:
        from lbg_recsys.ratings.questions.facts import topic_facts

        print_json([topic_facts(loaded, topic) for topic in found])
    else:
        _show(loaded, found)


def _show(model: "RatingModel", found: "list[Topic]") -> None:
    places = decimals(model.levels, 2)
    for topic in found:
        echo(f"Topic {topic.topic}: weight {topic.weight:.3f}")
        kinds = (topic.typical, topic.loves, topic.hates)
        rows = []
        for row in range(max(map(len, kinds))):
            typical, loves, hates = (kind[row] if row < len(kind) else None for kind in kinds)
            rows.append(
                [
                    f"{title_of(model, typical.item)}" if typical else "",
                    f"{typical.probability:.3f}" if typical else "",
                    f"{title_of(model, loves.item)}" if loves else "",
                    f"{loves.difference:+.{places}f}" if loves else "",
                    f"{title_of(model, hates.item)}" if hates else "",
                    f"{hates.difference:+.{places}f}" if hates else "",
                ]
            )
        print_table(["typical", "probability", "loves", "difference", "hates", "difference"], rows)
        echo()
