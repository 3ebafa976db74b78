"""``lbg-recsys forced-prediction``: the paper's protocol for collaborative filtering."""

import json
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.algorithms import algos_option, factory
from lbg_recsys.cli.common import json_option, plain, print_json, print_table, quiet_option, seed_option
from lbg_recsys.cli.completion import complete_ratings
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.pictures import plot_option
from lbg_recsys.cli.reading import facts_of, format_options, read_matrix, scale_option
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.writing import output_option, suffix_of
from lbg_recsys.files import atomic_write
from lbg_recsys.progress import bar

if TYPE_CHECKING:
    from lbg_recsys.evaluation.forced import ForcedResult

DEFAULT = ("movie-mean", "plsa", "paper", "lbg", "lbg:point=median")


@click.command("forced-prediction")
@click.argument("ratings", metavar="[RATINGS]", default="ml-100k", type=click.Path(), shell_complete=complete_ratings)
@algos_option(DEFAULT, "An algorithm to compare; repeatable. The names are those of evaluate.")
@click.option("--splits", type=click.IntRange(min=1), default=3, show_default=True, help="Splits of the users.")
@click.option("--draws", type=click.IntRange(min=1), default=10, show_default=True, help="Hidden ratings per user.")
@click.option(
    "--train-share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Share of the users to train with.",
)
@output_option("Save the table as .json or .md.", suffixes=(".json", ".md"))
@plot_option
@scale_option
@format_options
@seed_option
@quiet_option
@json_option
def forced_prediction(
    ratings: str,
    algos: tuple[str, ...],
    splits: int,
    draws: int,
    train_share: float,
    output: str | None,
    plot: str | None,
    scale: tuple[float, float] | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Predict one hidden rating per user, as the paper does.

    A model is fitted to all ratings of some users. For each other user, one random rating is hidden and predicted
    from the rest. RATINGS is ml-100k by default, the paper's data; the figures of the paper are then shown below
    ours. The paper writes its RMSE without the root, so compare it with our MSE.

    \b
    Examples:
      lbg-recsys forced-prediction sample --splits 1 --draws 2
      lbg-recsys forced-prediction sample -a paper --splits 1 -o table.md
      lbg-recsys forced-prediction sample -a paper --draws 2 --plot table.png
    """
    from lbg_recsys.evaluation.forced import PAPER
    from lbg_recsys.evaluation.forced import forced_prediction as run

    made = dict(factory(spec) for spec in algos)
    matrix = read_matrix(ratings, scale=scale, quiet=quiet, **how)
    seeds = range(seed, seed + splits)
    with remarks(quiet), bar("forced prediction", quiet) as progress:
        results = run(matrix, made, seeds=seeds, n_draws=draws, train_share=train_share, progress=progress)
    paper = PAPER if ratings == "ml-100k" else ()
    facts = {
        "ratings": facts_of(matrix),
        "seeds": list(seeds),
        "draws": draws,
        "train_share": train_share,
        "results": [result.to_dict() for result in results],
        "paper": [{"algorithm": row.name, "mae": row.mae, "mse": row.rmse} for row in paper],
    }
    if plot:
        from lbg_recsys.cli.pictures import draw_forced

        draw_forced(results, paper, plot)
    if output:
        with atomic_write(output, "w") as stream:
            if suffix_of(output) == ".json":
                stream.write(json.dumps(plain(facts), indent=2, allow_nan=False) + "\n")
            else:
                stream.write(_markdown(results, paper))
    if as_json:
        print_json(facts)
    else:
        show_forced(results, paper)
    if output and not quiet and not as_json:
        echo(f"Wrote the table to {output}.", err=True)


def show_forced(results: "list[ForcedResult]", paper: Any) -> None:
    """The table, with the paper's rows below ours; then how each algorithm learned about its test users."""
    print_table(_HEADERS, _rows(results, paper))
    for manner in dict.fromkeys(result.test_users for result in results):
        echo(f"{'; '.join(result.algorithm for result in results if result.test_users == manner)}: {manner}.")


_METRICS = ("mae", "rmse", "mse", "log_score")
_HEADERS = ["algorithm", *_METRICS]


def _rows(results: "list[ForcedResult]", paper: Any) -> list[list[Any]]:
    def shown(result: "ForcedResult", metric: str) -> str:
        value, error = getattr(result, metric), getattr(result, f"{metric}_error")
        if value is None:
            return "-"
        return f"{value:.3f}" if error is None else f"{value:.3f}±{error:.3f}"

    rows = [[result.algorithm, *(shown(result, m) for m in _METRICS)] for result in results]
    return rows + [[f"{row.name} (paper)", f"{row.mae:.3f}", "-", f"{row.rmse:.3f}", "-"] for row in paper]


def _markdown(results: "list[ForcedResult]", paper: Any) -> str:
    lines = [_HEADERS, ["---"] * len(_HEADERS), *_rows(results, paper)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    manners = dict.fromkeys(result.test_users for result in results)
    notes = [f"{'; '.join(r.algorithm for r in results if r.test_users == manner)}: {manner}." for manner in manners]
    return "\n".join([table, "", *notes, "", "The paper prints MSE under the name RMSE.", ""])
