"""``lbg-recsys demo``: the main job in two minutes."""

import shlex
import time
from typing import Any

import click

from lbg_recsys.cli.algorithms import factory, list_maker
from lbg_recsys.cli.common import json_option, print_json, quiet_option, seed_option
from lbg_recsys.cli.completion import complete_ratings
from lbg_recsys.cli.evaluate import best_in_words, show_comparison
from lbg_recsys.cli.forced import show_forced
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.reading import facts_of, read_dataset
from lbg_recsys.cli.terminal import echo
from lbg_recsys.progress import bar

# Few and quick enough for two cores and three minutes, installation included.
COMPARED = {
    "bayesian": "bayesian:n_jobs=2",
    "lbg": "lbg",
    "paper": "paper",
    "plsa": "plsa",
    "baseline": "baseline",
    "svd": "svd",
    "knn-baseline": "knn-baseline",
}
_LIST_USERS = 50  # Surprise scores a list item by item, which takes most of the time
FORCED = {
    "movie-mean": "movie-mean",
    "plsa": "plsa",
    "paper": "paper",
    "lbg, median": "lbg:point=median",
}


@click.command()
@click.argument("ratings", metavar="[RATINGS]", default="ml-100k", type=click.Path(), shell_complete=complete_ratings)
@click.option("--folds", type=click.IntRange(min=2), default=3, show_default=True, help="Number of folds.")
@seed_option
@quiet_option
@json_option
def demo(ratings: str, folds: int, seed: int, quiet: bool, as_json: bool) -> None:
    """Compare with Surprise, and run the paper's experiment.

    This is what make demo runs: cross-validation of our algorithms beside Surprise's, then the paper's forced
    prediction beside the paper's figures. RATINGS may be any other ratings. Algorithms have the names that fit and
    evaluate take.

    \b
    Examples:
      lbg-recsys demo sample --folds 2
      lbg-recsys demo sample --folds 2 --json
    """
    from lbg_recsys.evaluation.compare import compare
    from lbg_recsys.evaluation.forced import PAPER, forced_prediction
    from lbg_recsys.evaluation.rivals import rivals_for

    started = time.perf_counter()
    matrix, data = read_dataset(ratings, scale=None, quiet=quiet)
    rivals = rivals_for(matrix)
    with remarks(quiet), bar("evaluating", quiet) as progress:
        compared = compare(
            data,
            _made(COMPARED),
            n_folds=folds,
            seed=seed,
            rivals=dict([list_maker("choice")]) | rivals.found,
            list_users=_LIST_USERS,
            progress=progress,
        )
    if not as_json:
        echo(f"\nCross-validation, {folds} folds; a dash means that no distribution is predicted")
        show_comparison(compared, 0.9, rivals.left_out)
    with remarks(quiet), bar("forced prediction", quiet) as progress:
        forced = forced_prediction(matrix, _made(FORCED), seeds=[seed, seed + 1], n_draws=5, progress=progress)
    paper = PAPER if ratings == "ml-100k" else ()
    if as_json:
        results = {"evaluate": [r.to_dict() for r in compared], "forced_prediction": [r.to_dict() for r in forced]}
        print_json({"read": facts_of(matrix), "folds": folds, "seed": seed, **results})
        return
    echo("\nForced prediction, as in the paper (which prints MSE under the name RMSE)")
    show_forced(forced, paper)
    if not quiet:
        echo(f"\nDone in {time.perf_counter() - started:.0f} s.", err=True)
        echo(best_in_words(compared, shlex.quote(ratings)), err=True)


def _made(specs: dict[str, str]) -> dict[str, Any]:
    return {name: factory(spec)[1] for name, spec in specs.items()}
