"""``lbg-recsys fit``: ratings in, a model file out."""

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.algorithms import (
    MODELS,
    ParametersInHelp,
    cost_in_words,
    named_class,
    params_option,
    parse_params,
)
from lbg_recsys.cli.common import WIDTH, json_option, print_json, quiet_option, seed_option
from lbg_recsys.cli.models import convergence, convergence_in_words, known_ids, remarks
from lbg_recsys.cli.reading import (
    facts_of,
    format_options,
    ratings_argument,
    read_matrix,
    scale_option,
)
from lbg_recsys.cli.writing import output_option
from lbg_recsys.progress import bar

if TYPE_CHECKING:
    from lbg_recsys.ratings import RatingMatrix

DEFAULT = "bayesian"


@click.command(cls=ParametersInHelp)
@ratings_argument
@output_option("The model file to write, model.lbg say.", required=True)
@click.option("--algo", type=click.Choice(list(MODELS)), default=DEFAULT, show_default=True, help="The model to fit.")
@params_option
@click.option(
    "--titles", metavar="FILE", type=click.Path(), help="What the items are called: a file with item and title."
)
@scale_option
@format_options
@seed_option
@quiet_option
@json_option
@click.pass_context
def fit(
    ctx: click.Context,
    /,
    ratings: str,
    output: str,
    algo: str,
    params: tuple[str, ...],
    titles: str | None,
    scale: tuple[float, float] | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Fit a model to RATINGS and save it.

    RATINGS is a CSV, TSV, MovieLens '::' or Parquet file with user, item and rating (gzip is unpacked),
    '-' for standard input, or the name of a data set (lbg-recsys datasets list). The model file needs no training
    data later on: every other command takes it.

    \b
    --algo bayesian         Bayesian LBG: the most accurate, 18 s per 100,000 ratings
    --algo bayesian-strong  the same with more chains: more accurate, 90 s
    --algo lbg              LBG with the settings that predict ratings best, 1 s
    --algo paper            LBG with the paper's settings, 1 s
    --algo plsa             Gaussian pLSA, which the paper compares with, 1 s

    All of them predict, recommend, explain, show topics and find what is similar.

    \b
    Examples:
      lbg-recsys fit sample -o model.lbg
      lbg-recsys fit ratings.csv -o mine.lbg --titles titles.csv --scale 1 5
      lbg-recsys fit sample -o mine.lbg --param n_sweeps=80 --param burn_in=40
      lbg-recsys fit sample -o paper.lbg --algo paper --param n_topics=4
      lbg-recsys fit ratings.csv -o lbg.lbg --algo lbg --columns 1,2,3 --seed 7
    """
    from lbg_recsys import save
    from lbg_recsys.algorithms.fitting import was_cut_short

    model_class = named_class(MODELS[algo].model)
    arguments = {**MODELS[algo].preset, **parse_params(params, model_class)}
    matrix = read_matrix(ratings, scale=scale, quiet=quiet, **how)
    named = _titles(ratings, titles, matrix)
    model = model_class(**arguments, random_state=seed)
    if not quiet and cost_in_words(algo):
        click.echo(click.wrap_text(cost_in_words(algo), WIDTH), err=True)
    with remarks(quiet), bar(f"fitting {type(model).__name__}", quiet) as progress:
        model.fit(matrix, progress=progress)
    save(model, output, titles=named)
    summary: dict[str, Any] = {"model": output, "bytes": os.path.getsize(output), "algorithm": type(model).__name__}
    summary |= {"parameters": model.get_params(), "read": facts_of(matrix), "titles": len(named)}
    summary |= convergence(model)
    if as_json:
        print_json(summary)
    else:
        click.echo(
            click.wrap_text(f"Fitted {type(model).__name__}: {convergence_in_words(convergence(model))}.", WIDTH)
        )
        click.echo(f"Saved {output} ({summary['bytes'] / 1e6:.1f} MB).")
        if not quiet:
            click.echo(
                f"Next: lbg-recsys recommend {shlex.quote(output)} --user {shlex.quote(str(matrix.users.raw(0)))}",
                err=True,
            )
    if was_cut_short(model):
        ctx.exit(130)


def _titles(ratings: str, titles: str | None, matrix: "RatingMatrix") -> dict[Any, str]:
    """Titles of the items that were rated; some of the named data sets have titles of their own."""
    from lbg_recsys.datasets.by_name import TITLED_SETS
    from lbg_recsys.readers.ratings import read_titles

    if titles is None and ratings not in TITLED_SETS:
        return {}
    found = read_titles(titles if titles is not None else ratings)
    named = dict(zip(known_ids(matrix.items, found), found.values(), strict=True))
    return {item: title for item, title in named.items() if item in matrix.items}
