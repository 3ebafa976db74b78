"""``lbg-recsys evaluate``: algorithms side by side by Surprise's cross-validation."""

from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.algorithms import algos_option, factory
from lbg_recsys.cli.common import json_option, print_json, print_table, quiet_option, seed_option
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.pictures import plot_option
from lbg_recsys.cli.reading import facts_of, format_options, ratings_argument, read_dataset, scale_option
from lbg_recsys.progress import bar

if TYPE_CHECKING:
    from lbg_recsys.evaluation.compare import Comparison

DEFAULT = ("lbg", "lbg-ratings", "baseline", "svd")


@click.command()
@ratings_argument
@algos_option(DEFAULT, "An algorithm to compare; repeatable.")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Parts of the ratings.")
@click.option(
    "--mass",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Probability that the intervals hold.",
)
@click.option(
    "--ranking-users",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Users over whom NDCG@10 is taken; 0 leaves it out.",
)
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
    ranking_users: int,
    plot: str | None,
    scale: tuple[float, float] | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Cross-validate algorithms side by side on RATINGS.

    Reports RMSE, MAE, the log score and the coverage of intervals (where an algorithm predicts a distribution),
    NDCG@10, and the CPU seconds to fit and to test.

    The algorithms are lbg (the paper's), lbg-ratings and lbg-lists (lbg with the settings that predict ratings and
    make lists best), bayesian, plsa and movie-mean of this package, and baseline, svd, svdpp, nmf, slope-one,
    co-clustering, knn, knn-means and knn-baseline of Surprise, all with the same folds. What an algorithm cannot say
    (most give no distribution) is left out of its line.

    \b
    Examples:
      lbg-recsys evaluate sample --folds 2
      lbg-recsys evaluate sample -a lbg:n_topics=4,point=mean -a svd --json
      lbg-recsys evaluate ratings.csv -a lbg --folds 2 --plot table.png
    """
    from lbg_recsys.evaluation.compare import compare

    made = dict(factory(spec) for spec in algos)
    matrix, data = read_dataset(ratings, scale=scale, quiet=quiet, **how)
    with remarks(quiet), bar("cross-validating", quiet) as progress:
        results = compare(
            data,
            made,
            n_folds=folds,
            seed=seed,
            mass=mass,
            ranking_users=ranking_users,
            progress=progress,
        )
    if plot:
        from lbg_recsys.cli.pictures import draw_comparison

        draw_comparison(results, plot)
    if as_json:
        settings = {"folds": folds, "seed": seed, "mass": mass, "ranking_users": ranking_users}
        print_json({"read": facts_of(matrix), **settings, "results": [result.to_dict() for result in results]})
    else:
        show_comparison(results, mass)


def show_comparison(results: "list[Comparison]", mass: float) -> None:
    """A table of 80 columns; a column that nobody fills is left out."""
    columns: dict[str, list[Any]] = {
        "RMSE": [result.rmse for result in results],
        "MAE": [result.mae for result in results],
        "log score": [result.log_score for result in results],
        f"in {mass:.0%}": [result.coverage for result in results],
        "NDCG@10": [result.ndcg for result in results],
    }
    columns = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    columns["fit s"] = [f"{result.fit_seconds:.2f}" for result in results]
    columns["test s"] = [f"{result.test_seconds:.2f}" for result in results]
    rows = [[result.name, *values] for result, *values in zip(results, *columns.values(), strict=True)]
    print_table(["algorithm", *columns], rows)
