"""``lbg-recsys explain``: why an item is recommended, and why a rating is predicted as it is."""

from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.catalogue import title_of
from lbg_recsys.cli.common import WIDTH, counted, json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.completion import complete_item, complete_user
from lbg_recsys.cli.models import (
    feature_option,
    find_item,
    find_user,
    fold_in_file,
    load_model,
    model_argument,
    new_user_called,
    new_user_option,
    remarks,
)
from lbg_recsys.cli.reading import format_options
from lbg_recsys.cli.terminal import bars, decimals, echo

if TYPE_CHECKING:
    from lbg_recsys.ratings import Explanation, Influences, RatingModel
    from lbg_recsys.ratings.choice_scores import ChoiceExplanation

_NEGLIGIBLE = 0.001


@click.command()
@model_argument
@click.option("--user", metavar="ID", shell_complete=complete_user, help="The user.")
@new_user_option
@feature_option("the new user")
@click.option("--item", metavar="ID", shell_complete=complete_item, required=True, help="The item: its id or title.")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="Ratings, topics and features to show.",
)
@format_options
@quiet_option
@json_option
def explain(
    model: str,
    user: str | None,
    new_user: str | None,
    features: dict[str, Any],
    item: str,
    number: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Explain a recommendation by the user's own items.

    For models whose lists use a choice score (not paper and plsa), the output begins with it: it says whether the
    user will take the item, and the contribution of each of the user's items to it is exact. Then follow the
    predicted rating with its distribution, and the user's ratings that explain it.

    For models of lbg and paper, the rating is explained by topics. This is exact: the log-odds of the leading topic
    against the next one that differs from it are the sum of parts for the prior, the unrated items, the item itself
    and each of the user's ratings, which count by the item being rated and by the value.

    For models of bayesian and plsa, the output shows the parts of the expected rating, and the change in it if each
    of the user's ratings were removed. This is exact for plsa. For bayesian it is an average over the kept sweeps
    with the user's noise held fixed, correct to one or two hundredths of a rating, and less so for ratings that
    contradict each other. An item that has features and no ratings is explained by its parts and features alone.

    \b
    Examples:
      lbg-recsys explain model.lbg --user 3 --item "Crimson Comet"
      lbg-recsys explain model.lbg --user 3 --item 8 -n 3 --json
      lbg-recsys explain model.lbg --new-user my_ratings.csv --item 8
    """
    if (user is None) == (new_user is None):
        raise click.UsageError("name the user: --user ID or --new-user FILE")
    if features and new_user is None:
        raise click.UsageError("--feature is for a new user: give --new-user FILE")
    from lbg_recsys.ratings.questions.facts import explanation_facts

    loaded = load_model(model, quiet)
    found_item = find_item(loaded, item)
    if new_user is not None:
        with remarks(quiet):
            folded = fold_in_file(loaded, new_user, quiet, features, **how)
            found = [(new_user_called(user_id), one.explain(found_item)) for user_id, one in folded]
    else:
        with remarks(quiet):
            found = [(f"User {user}", loaded.explain(find_user(loaded, str(user)), found_item))]
    if as_json:
        facts = [explanation_facts(loaded, explanation, number) for _, explanation in found]
        if new_user is not None:
            facts = [
                one if who is None else {**one, "user": who} for one, (who, _) in zip(facts, folded, strict=True)
            ]
        print_json(facts)
        return
    for turn, (who, explanation) in enumerate(found):
        echo("\n" if turn else "", nl=False)
        _show(loaded, who, explanation, number)


def _by_name(found: "Explanation | Influences") -> dict[str, float]:
    from lbg_recsys.ratings.questions.predictions import level_names

    return dict(zip(level_names(found.distribution), found.distribution.values(), strict=True))


def _show(model: Any, who: str, found: "ChoiceExplanation | Explanation | Influences", number: int) -> None:
    from lbg_recsys.ratings import Explanation
    from lbg_recsys.ratings.choice_scores import ChoiceExplanation

    if isinstance(found, ChoiceExplanation):
        taken = all(one.rating is None for one in found.because)
        score = f"choice score {found.choice_score:.4f}"
        _show_heading(model, who, found, score, seen=found.seen, verb="took" if taken else "rated")
        _show_choice(model, found, number)
        if found.score not in (None, found.choice_score):
            echo(f"\nList score: {found.score:.4f}, with the probability that anybody likes it")
        return
    if found.choice is not None:
        _show_heading(model, who, found, f"choice score {found.choice.choice_score:.4f}", seen=found.seen)
        _show_choice(model, found.choice, number)
        echo()
    rating = f"prediction {found.prediction:.4g}, expected rating {found.expected_rating:.2f}"
    _show_heading(model, who, found, rating, seen=found.seen and found.choice is None)  # otherwise it is shown above
    echo(bars(_by_name(found)))
    _show_score(model, found)
    if isinstance(found, Explanation):
        _show_topics(found, number)
        _show_log_odds(model, found, number)
    else:
        _show_parts(found)
        _show_features(found, number)
        _show_topics(found, number)
        _show_influences(model, found, number)


def _show_heading(model: Any, who: str, found: Any, said: str, *, seen: bool, verb: str = "rated") -> None:
    echo(f"{who}, item {title_of(model, found.item)}: {said}")
    echo(f"The user {verb} this item already.\n" if seen else "")


def _show_score(model: "RatingModel", found: "Explanation | Influences") -> None:
    """The score that the item has in the user's list, and what it is made of."""
    if found.score is None:
        echo("\nThe item has no ratings, so it is in no list.")
        return
    least, power = model.matrix.scale.liked, model.liked_power
    liked = sum(share for level, share in found.distribution.items() if level >= least - model.matrix.scale.tolerance)
    taken = "probability of being rated" if found.choice is None else "choice score"
    factor = f" x {liked:.4f}{'^0.5' if power < 1 else ''} (probability of {least:g} or more)" if power else ""
    score = f"List score: {found.score:.4f} = {taken}{factor}"
    echo(f"\n{click.wrap_text(score, WIDTH)}")


def _show_choice(model: Any, found: "ChoiceExplanation", number: int) -> None:
    """The user's items that contribute to the recommendation."""
    if not found.because:
        echo("Nothing is known about the user: the score says how many users take the item.")
        return
    rows = []
    for one in found.because[:number]:
        rating = "" if one.rating is None else f" {one.rating:g}"
        verb = "took" if one.rating is None else "rated"
        rows.append([f"because the user {verb} {title_of(model, one.item)}{rating}", f"{one.contribution:+.4f}"])
    if len(found.because) > number:
        rest = sum(one.contribution for one in found.because[number:])
        rows.append([counted(len(found.because) - number, "other item"), f"{rest:+.4f}"])
    rows.append(["from_popularity: how many users take it", f"{found.from_popularity:+.4f}"])
    rows.append(["choice_score", f"={found.choice_score:.4f}"])
    print_table(["why it is in the list", "contribution"], rows)


def _show_topics(found: "Explanation | Influences", number: int) -> None:
    shown = [topic for topic in found.topics if topic.share >= _NEGLIGIBLE][:number]
    if not shown:
        return
    echo("\nTopics of the prediction (share of the prediction, mean rating of the topic)")
    print_table(["topic", "share", "mean"], [[topic.topic, topic.share, topic.mean] for topic in shown])
    if others := found.topics[len(shown) :]:
        echo(f"and {len(others)} more, share {sum(topic.share for topic in others):.4f}")


def _signed(number: float) -> str:
    """A number with its sign and two decimals; what rounds to zero is +0.00."""
    return f"{round(number, 2) + 0.0:+.2f}"


def _show_log_odds(model: "RatingModel", found: "Explanation", number: int) -> None:
    if found.topic == found.against:
        return  # one topic, or copies of one: there are no log-odds to explain
    why = (
        f"Why topic {found.topic} and not {found.against}: log-odds {_signed(found.log_odds)} = "
        f"from_prior {_signed(found.from_prior)}, from_silence (unrated items) {_signed(found.from_silence)}, "
        f"from_being_rated {_signed(found.from_being_rated)}, and the user's ratings "
        f"{_signed(sum(one.both for one in found.evidence))}{':' if found.evidence else '.'}"
    )
    echo(f"\n{click.wrap_text(why, WIDTH)}")
    if found.evidence:
        _show_evidence(model, found, number, 2)


def _show_parts(found: "Influences") -> None:
    places = decimals(found.distribution, 3)
    echo("\nWhat the expected rating is made of")
    print_table(
        ["part", "contribution"],
        [
            ["from_average: anybody's rating of the items rated most", f"{found.from_average:+.{places}f}"],
            ["from_item: how this item is rated", f"{found.from_item:+.{places}f}"],
            ["from_user: how this user rates", f"{found.from_user:+.{places}f}"],
            ["from_taste: the user's taste for this item", f"{found.from_taste:+.{places}f}"],
            ["expected_rating", f"={found.expected_rating:.{places}f}"],
        ],
    )
    if not found.topics:
        echo(
            "Bayesian LBG adds up many small classes, and none is a topic by itself:"
            "\n`lbg-recsys topics` shows groups of users with similar tastes."
        )


def _show_features(found: "Influences", number: int) -> None:
    if not found.features:
        return
    places = decimals(found.distribution, 3)
    echo("\nWhat features add to the expected rating, before any ratings, relative to the average item or user")
    rows = [[one.of, one.feature, f"{one.effect:+.{places}f}"] for one in found.features[:number]]
    print_table(["of", "feature", "effect"], rows)
    if len(found.features) > number:
        echo(f"and {len(found.features) - number} more")


def _show_influences(model: "RatingModel", found: "Influences", number: int) -> None:
    if found.score is None:
        return  # nobody rated both the item and the user's items
    if not found.evidence:
        echo("\nThe user has no ratings that could explain the expected rating.")
        return
    echo("\nWhat each of the user's ratings adds to the expected rating")
    _show_evidence(model, found, number, decimals(found.distribution, 3))
    if len(found.evidence) > 1:
        echo("These do not add up: if ratings agree, removing one of them changes little.")


def _show_evidence(model: "RatingModel", found: "Explanation | Influences", number: int, places: int) -> None:
    if any(one.from_rating_it for one in found.evidence):
        names = ["from_rating_it", "from_its_value", found.quantity]
    else:  # a model that does not learn from which items are rated
        names = ["from_its_value"]
    print_table(
        ["title" if model.titles else "item", "rating", *names],
        [
            [title_of(model, one.item), f"{one.rating:g}", *(f"{getattr(one, name):+.{places}f}" for name in names)]
            for one in found.evidence[:number]
        ],
    )
    if len(found.evidence) > number:
        rest = sum(one.both for one in found.evidence[number:])
        echo(f"and {len(found.evidence) - number} more, together {rest:+.{places}f}")
