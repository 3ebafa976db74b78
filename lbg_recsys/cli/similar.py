"""``lbg-recsys similar``: items or users that are alike."""

import click

from lbg_recsys.catalogue import title_of, with_titles
from lbg_recsys.cli.common import json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.completion import complete_item, complete_user
from lbg_recsys.cli.models import (
    find_item,
    find_user,
    load_model,
    model_argument,
    refuse_choices,
    remarks,
)

_KNOWN = "only users that the model knows can be compared (similar --item compares items)"


@click.command()
@model_argument
@click.option(
    "--item",
    metavar="ID",
    shell_complete=complete_item,
    help="Items rated like this one by the same people: its id or title.",
)
@click.option(
    "--user", metavar="ID", shell_complete=complete_user, help="Users whose topics or tastes are like this one's."
)
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=10, show_default=True, help="Items or users to show."
)
@click.option(
    "--metric",
    type=click.Choice(["hellinger", "kl", "taste"]),
    help="hellinger (the default) or kl, from 0 to 1; for a bayesian model only taste, from -1 to 1.",
)
@quiet_option
@json_option
def similar(
    model: str, item: str | None, user: str | None, number: int, metric: str | None, quiet: bool, as_json: bool
) -> None:
    """Find similar items or similar users.

    Models of lbg, paper and plsa compare users by their topics, and items by which topics
    rate them and how. The distance is the Hellinger distance or the symmetrised Kullback-Leibler divergence of these
    distributions. A bayesian model compares tastes: how a user's ratings of an item differ from what is usual for
    both. The similarity is the correlation of tastes over draws from the posterior; rarely rated items and users with
    few ratings get low similarities.

    \b
    Examples:
      lbg-recsys similar model.lbg --item "Crimson Comet"
      lbg-recsys similar model.lbg --item 8 -n 3 --metric kl --json
      lbg-recsys similar model.lbg --user 3
    """
    if (item is None) == (user is None):
        raise click.UsageError("give either --item ID or --user ID")
    loaded = load_model(model, quiet)
    how = {}
    if user is not None or metric is not None:
        if user is None:
            refuse_choices(loaded, model, "similar --metric", "leave out --metric")
        else:
            refuse_choices(loaded, model, "similar --user", "ask for similar items (--item)")
        if metric is not None and metric not in loaded.METRICS:
            raise click.UsageError(
                f"--metric {metric} is not for {type(loaded).__name__}: choose {' or '.join(loaded.METRICS)}"
            )
        how = {"metric": metric}
    with remarks(quiet):
        if item is not None:
            found = loaded.similar_items(find_item(loaded, item), number, **how)
        else:
            found = loaded.similar_users(find_user(loaded, str(user), _KNOWN), number, metric=metric)
    what = "item" if item is not None else "user"
    named = item is not None and bool(loaded.titles)
    if as_json:
        facts = [{what: raw_id, "similarity": similarity} for raw_id, similarity in found]
        print_json(with_titles(loaded, facts) if named else facts)
        return
    rows = [[raw_id, *([title_of(loaded, raw_id)] if named else []), similarity] for raw_id, similarity in found]
    print_table([what, *(["title"] if named else []), "similarity"], rows)
