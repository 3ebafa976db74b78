"""``lbg-recsys evaluate``: algorithms side by side on held-out ratings, as predictors and as makers of lists."""

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.algorithms import (
    ALGORITHMS,
    MODELS,
    SAMPLED,
    algos_option,
    factory,
    is_list_maker,
    list_maker,
    taken_apart,
)
from lbg_recsys.cli.common import WIDTH, json_option, print_json, print_table, quiet_option, seed_option
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.pictures import plot_option
from lbg_recsys.cli.reading import (
    as_typed,
    facts_of,
    features_of,
    features_options,
    format_options,
    ratings_argument,
    read_evaluated,
    read_feature_tables,
    scale_option,
)
from lbg_recsys.cli.terminal import echo
from lbg_recsys.files import name_of
from lbg_recsys.progress import bar

if TYPE_CHECKING:
    from lbg_recsys.evaluation.compare import Comparison
    from lbg_recsys.evaluation.lists import ListReport
    from lbg_recsys.evaluation.rivals import Rival

SPLITS = ("random", "last", "time")  # as in evaluation.splits, which would import numpy for every --help
_LONG = 10.0  # a fit of at least this many seconds is announced
_LEVEL = 4  # the largest number of equally good algorithms that are named
DEFAULT = ("bayesian", "lbg", "paper", "baseline", "svd")


@click.command()
@ratings_argument()
@algos_option(DEFAULT, "An algorithm to compare; repeatable.")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Number of folds.")
@click.option(
    "--mass",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Probability that the interval contains the rating.",
)
@click.option(
    "--split",
    type=click.Choice(SPLITS),
    default="random",
    show_default=True,
    help="Hold out random parts, the last rating of each user, or the newest ratings.",
)
@click.option(
    "--list-users",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="Users per fold whose lists of ten are evaluated; 0 leaves lists out.",
)
@click.option(
    "--rivals/--no-rivals", default=True, help="Also evaluate the lists of popularity, EASE and implicit ALS."
)
@features_options
@plot_option
@scale_option
@format_options
@seed_option
@quiet_option
@json_option
def evaluate(
    ratings: str,
    algos: tuple[str, ...],
    folds: int,
    mass: float,
    split: str,
    list_users: int,
    rivals: bool,
    item_features: str | None,
    user_features: str | None,
    plot: str | None,
    scale: tuple[float, float] | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Compare algorithms on held-out ratings of RATINGS.

    The first table has RMSE, MAE, the log score and the coverage of intervals (where an algorithm predicts a
    distribution), and the CPU seconds to fit and to test. The second evaluates lists of ten items: NDCG, recall and
    MAP of the held-out items that the user liked; catalogue, the share of all items that are in at least one list;
    novelty (mean bits of information per item), similarity of the items in a list, and the share of items from the
    most popular tenth. The third has the NDCG of the least, the medium and the most active third of users.

    bayesian, the default model of fit, takes most of the time: 20 to 100 s per 100,000 ratings and fold. To leave it
    out, name the others with -a.

    RATINGS may also be clicks or purchases without ratings (see lbg-recsys fit --help), or equal ratings. Then choice
    is compared with the rivals, and only by lists.

    --split random cross-validates over --folds folds. --split last holds out the last rating of each user, --split
    time the newest 1/FOLDS of all ratings; both need times in RATINGS.

    The algorithms are bayesian, bayesian-strong, lbg, paper, plsa, movie-mean and choice (only lists) of this
    package, and baseline, svd, svdpp, nmf, slope-one, co-clustering, knn, knn-means and knn-baseline of Surprise, all
    with the same folds. --item-features and --user-features are for bayesian and bayesian-strong, as in fit; the
    other algorithms are fitted without them. A dash means that an algorithm does not predict this (most predict no
    distribution).

    \b
    Examples:
      lbg-recsys evaluate sample --folds 2
      lbg-recsys evaluate sample -a paper:n_topics=4,point=mean -a svd --json
      lbg-recsys evaluate ml-100k -a lbg -a choice --split last
      lbg-recsys evaluate ratings.csv -a lbg --folds 2 --plot table.png
      lbg-recsys evaluate clicks.csv --folds 2
      lbg-recsys evaluate ratings.csv --folds 2 --item-features item_facts.csv
    """
    from lbg_recsys.evaluation.compare import compare, compare_lists
    from lbg_recsys.evaluation.rivals import Rivals, rivals_for

    listing = dict(list_maker(spec) for spec in algos if is_list_maker(spec))
    made = dict(factory(spec) for spec in algos if not is_list_maker(spec))
    files = {"--item-features": item_features, "--user-features": user_features}
    typed = [part for option, file in files.items() if file is not None for part in (option, file)]
    if typed and not any(taken_apart(spec)[0] in SAMPLED for spec in algos):
        named = " or -a ".join(SAMPLED)
        raise click.UsageError(f"{typed[0]} needs an algorithm that learns from features: -a {named}")
    tables = read_feature_tables(item_features, user_features, quiet)
    matrix, data = read_evaluated(ratings, scale=scale, quiet=quiet, timestamp=split != "random", **how)
    others = rivals_for(matrix) if rivals and list_users else Rivals({}, [])
    is_clicks = hasattr(data, "columns")
    if is_clicks and typed:
        raise click.UsageError(f"{typed[0]} needs ratings, and {name_of(ratings)} has none: leave it out")
    beside = features_of(tables, matrix, quiet)
    made = {name: partial(make, **beside) for name, make in made.items()}
    if is_clicks:
        listing = _for_clicks(algos, list_users) or listing
    elif not quiet:
        _say_cost(algos, matrix.n_ratings * (folds - 1 if split == "random" else 1))
    parting: dict[str, Any] = {"split": split, "n_folds": folds, "seed": seed, "list_users": list_users}
    with remarks(quiet), bar("evaluating", quiet) as progress:
        if is_clicks:
            results = compare_lists(data, listing | others.found, **parting, progress=progress)
        else:
            results = compare(data, made, rivals=listing | others.found, mass=mass, **parting, progress=progress)
    left_out = list(others.left_out)
    if list_users and not any(one.lists for one in results):
        left_out.append(
            "No list was evaluated: no user has both a training rating and a held-out one that is liked; another "
            "--split or more --folds may have such users"
        )
    if plot:
        from lbg_recsys.cli.pictures import draw_comparison

        draw_comparison(results, plot)
    if as_json:
        settings = {"split": split, "folds": folds, "seed": seed, "mass": mass, "list_users": list_users}
        facts = {"ratings": facts_of(matrix), **settings, "left_out": left_out}
        print_json({**facts, "results": [result.to_dict() for result in results]})
    else:
        show_comparison(results, mass, () if quiet else left_out)
        if not quiet:
            echo(f"\n{best_in_words(results, as_typed(ratings, scale, how), shlex.join(typed))}", err=True)


def _for_clicks(algos: tuple[str, ...], list_users: int) -> "dict[str, Rival]":
    """The default for choices without ratings; an error if an algorithm needs ratings."""
    if not list_users:
        raise click.UsageError("--list-users 0 leaves nothing to evaluate: there are no ratings to predict")
    if algos == DEFAULT:
        return dict([list_maker("choice")])
    needy = [spec for spec in algos if not is_list_maker(spec)]
    if needy:
        raise click.UsageError(
            f"--algo {needy[0]} predicts ratings, and there is nothing to predict: leave it out, or use choice"
        )
    return {}


def _say_cost(algos: tuple[str, ...], n_ratings: int) -> None:
    """Say how long the slow algorithms will take to fit this many ratings."""
    for name in (spec.partition(":")[0].strip() for spec in algos):
        seconds = ALGORITHMS[name].seconds * n_ratings / 100_000
        if seconds >= _LONG:
            others = " ".join(f"-a {one}" for one in algos if not one.startswith(name))
            rest = f"; without it: {others}" if others else ""
            said = f"Fitting {name} takes about {seconds:.0f} s of CPU time{rest}."
            echo(click.wrap_text(said, WIDTH), err=True)


def best_in_words(compared: "list[Comparison]", ratings: str, features: str = "") -> str:
    """The best algorithms, and the command that fits one of them if it is of this package.

    ``features`` are the options that name them, for an algorithm that takes them.
    """
    rated = {one.algorithm: (one.rmse, one.rmse_error) for one in compared if one.rmse is not None}
    listed = {one.algorithm: (one.lists.ndcg, one.lists.ndcg_error) for one in compared if one.lists is not None}
    said, named = [], []
    for what, measure, figures, sign, direction in (
        ("ratings", "RMSE", rated, 1, "lower"),
        ("lists", "NDCG", listed, -1, "higher"),
    ):
        if figures:
            best, *others = sorted(figures, key=lambda name: sign * figures[name][0])
            figure, error = figures[best]
            level = [name for name in others if abs(figures[name][0] - figure) <= (error or 0.0)]
            named += [best, *level]
            if level:
                names = [best, *level][:_LEVEL]  # names have commas
                more = [f"{len(level) + 1 - _LEVEL} more"] if len(level) >= _LEVEL else []
                listing = "; ".join([*names, *more])
                said.append(f"For {what}, the best are tied ({measure} {figure:.4f} ± {error:.4f}): {listing}.")
            else:
                lead = f", {abs(figures[others[0]][0] - figure):.4f} {direction} than {others[0]}" if others else ""
                verb = "is best here" if others else "was the only algorithm"
                said.append(f"For {what}, {best} {verb} ({measure} {figure:.4f}{lead}).")
    ours = [name for name in (*named, *sorted(rated, key=rated.__getitem__)) if taken_apart(name)[0] in MODELS]
    default = "bayesian" if rated else "choice"  # without ratings only lists were evaluated
    algo = ours[0] if ours else default
    beside = f" {features}" if features and taken_apart(algo)[0] in SAMPLED else ""
    return "\n".join([*said, f"Next: lbg-recsys fit {ratings} -o model.lbg --algo {shlex.quote(algo)}{beside}"])


def show_comparison(compared: "list[Comparison]", mass: float, left_out: Sequence[str] = ()) -> None:
    """Tables of 80 columns: predicted ratings, lists, lists by activity. Empty columns are left out.

    ``left_out`` are sentences on what is not in the tables.
    """
    _show_predictions(compared, mass)
    show_lists({result.algorithm: result.lists for result in compared if result.lists is not None})
    for sentence in left_out:
        echo(click.wrap_text(f"{sentence}.", WIDTH), err=True)


def _show_predictions(compared: "list[Comparison]", mass: float) -> None:
    results = [result for result in compared if result.rmse is not None]
    if not results:
        return
    columns: dict[str, list[Any]] = {
        name: [getattr(result, name) for result in results] for name in ("rmse", "mae", "log_score", "coverage")
    }
    columns = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    columns["fit_seconds"] = [f"{result.fit_seconds:.2f}" for result in results]
    columns["test_seconds"] = [f"{result.test_seconds:.2f}" for result in results]
    rows = [[result.algorithm, *values] for result, *values in zip(results, *columns.values(), strict=True)]
    print_table(["algorithm", *columns], rows)
    if "coverage" in columns:
        echo(f"coverage: share of the ratings inside their {mass:.0%} intervals")


def show_lists(reports: "dict[str, ListReport]") -> None:
    """Two tables: lists in figures, and their NDCG by activity of users."""
    if not reports:
        return
    first = next(iter(reports.values()))
    error = max(one.ndcg_error for one in reports.values())
    known = f"; standard error of NDCG at most {error:.3f}" if error == error else ""  # NaN for a single list
    echo(f"\nLists of {first.length} items, {first.n_users:,} evaluated{known}")
    figures = ("ndcg", "recall", "map", "catalogue", "novelty", "similarity", "popular")
    rows = [[name, *(getattr(one, figure) for figure in figures)] for name, one in reports.items()]
    print_table(["algorithm", *figures], rows)
    groups = [(group.name, f"{group.name} ({group.mean_ratings:.0f} items)") for group in first.by_activity]
    echo("\nndcg by activity of users (mean number of training items)")
    found = {name: {group.name: group.ndcg for group in one.by_activity} for name, one in reports.items()}
    rows = [[name, *(by_name.get(group) for group, _ in groups)] for name, by_name in found.items()]
    print_table(["algorithm", *(title for _, title in groups)], rows)
