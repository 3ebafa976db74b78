"""``lbg-recsys fit``: ratings or clicks in, a model file out."""

import os
import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.catalogue import known_ids
from lbg_recsys.cli.algorithms import (
    ALGO,
    MODELS,
    SAMPLED,
    ModelName,
    ParametersInHelp,
    cost_in_words,
    named_class,
    params_option,
    parse_params,
    taken_apart,
)
from lbg_recsys.cli.common import (
    WIDTH,
    json_option,
    print_json,
    quiet_option,
    seed_option,
    size_in_words,
)
from lbg_recsys.cli.info import file_facts
from lbg_recsys.cli.models import convergence, convergence_in_words, remarks
from lbg_recsys.cli.reading import (
    THIS_MACHINE,
    choices_in_words,
    client_at,
    dask_option,
    facts_of,
    features_of,
    features_options,
    format_options,
    memory_option,
    ratings_argument,
    read_feature_tables,
    read_interactions,
    read_store,
    read_timed,
    say_titles,
    scale_option,
)
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.writing import output_option
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.files import name_of, private_folder, remove
from lbg_recsys.progress import bar
from lbg_recsys.schema import signature_of
from lbg_recsys.words import counted, shown

if TYPE_CHECKING:
    from lbg_recsys.ratings import RatingMatrix
    from lbg_recsys.ratings.source import RatingSource

# What is fitted to ratings, and to choices without ratings.
DEFAULT, CHOICE = "bayesian", "choice"
# What is fitted by EM with checkpoints, and what else is fitted over blocks of users.
MIXTURES = ("lbg", "paper")
IN_BLOCKS = (*MIXTURES, "plsa", CHOICE)


@click.command(cls=ParametersInHelp)
@ratings_argument()
@output_option("The model file to write.", required=True)
@click.option(
    "-a",
    "--algo",
    type=ModelName(),
    metavar="NAME[:PARAM=VALUE,...]",
    help=f"The model to fit, perhaps with parameters: {DEFAULT} by default, {CHOICE} for choices without ratings.",
)
@params_option()
@click.option(
    "--titles", metavar="FILE", type=click.Path(), help="Titles of the items: a file with item (or id) and title."
)
@features_options
@click.option(
    "--drop-users",
    is_flag=True,
    help="Leave users and their ratings out of the file, which then serves new users only. Sums over users stay.",
)
@click.option("--time", is_flag=True, help="Learn from the time of each rating: a further column of RATINGS.")
@click.option(
    "--seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Run as many sweeps as this time allows, not a fixed number. On a machine's first fit this time "
    "includes compilation. For bayesian and bayesian-strong.",
)
@memory_option
@click.option(
    "--store",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="Keep the sorted ratings in this new folder, which can be RATINGS later.",
)
@dask_option(
    "Fit on the Dask cluster at HOST:PORT, or on the cores of this machine. Workers sort and keep the ratings; for "
    "bayesian they run the chains.",
)
@click.option(
    "--checkpoint",
    metavar="N",
    type=click.IntRange(min=1),
    help="Save the state of the fit to OUTPUT.checkpoint every N iterations. For lbg and paper.",
)
@click.option("--resume", is_flag=True, help="Continue the fit in OUTPUT.checkpoint; the result is the same.")
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
    algo: str | None,
    params: tuple[str, ...],
    titles: str | None,
    item_features: str | None,
    user_features: str | None,
    drop_users: bool,
    time: bool,
    seconds: float | None,
    memory: int | None,
    store: str | None,
    dask: str | None,
    checkpoint: int | None,
    resume: bool,
    scale: tuple[float, float] | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Fit a model to RATINGS and save it.

    RATINGS is a CSV, TSV, MovieLens '::' or Parquet file with user, item and rating (gzip is unpacked), a folder of
    such files, '-' for standard input, or the name of a data set (lbg-recsys datasets list).

    The commands that use the model file need no training data. The file holds everybody's ratings; with --drop-users
    it holds sums over all users instead, which does not guarantee anonymity.

    \b
    --algo bayesian         Bayesian LBG, 20 to 100 s per 100,000 ratings
    --algo bayesian-strong  the same with more and longer chains, 120 to 400 s
    --algo lbg              LBG with settings tuned for ratings, 1 s
    --algo paper            LBG with the paper's settings, 1 s
    --algo plsa             Gaussian pLSA, which the paper compares with, 1 s
    --algo choice           who takes what; predicts no ratings, 1 s

    All but choice predict ratings and show topics. All recommend, explain and find similar items.

    RATINGS may also be clicks or purchases without ratings: user and item, and perhaps times or counts (in columns
    with such names). The model is then choice, which uses who took what, but not how often.

    --item-features and --user-features are tables of numbers, categories and sets (Drama|War) by id, for --algo
    bayesian and bayesian-strong. How much each column counts is learned. Items of the table without ratings are kept:
    predict uses their features.

    --time learns the effects of a user's day and moment and the drift of items, for the same models. The times are
    seconds since 1970 or dates, in a column called timestamp, time or date, or in the fourth of --columns. They help
    to predict ratings of days that the model knows (predict --time); the effects of a new day are unknown.

    With --memory the ratings may be larger than memory: they are sorted on disk and read in blocks, with the same
    result. An interrupted fit with --checkpoint continues if the same command is run with --resume.

    \b
    Examples:
      lbg-recsys fit sample -o model.lbg
      lbg-recsys fit ratings.csv -o mine.lbg --titles titles.csv --scale 1 5
      lbg-recsys fit sample -o mine.lbg --param n_sweeps=80
      lbg-recsys fit sample -o quick.lbg --seconds 5
      lbg-recsys fit sample -o paper.lbg --algo paper:n_topics=4
      lbg-recsys fit ratings.csv -o lbg.lbg --algo lbg --columns 1,2,3 --seed 7
      lbg-recsys fit clicks.csv -o clicks.lbg
      lbg-recsys fit ratings.csv -o mine.lbg --item-features item_facts.csv
      lbg-recsys fit timed_ratings.csv -o timed.lbg --time
      lbg-recsys fit ratings.csv -o lbg.lbg --algo lbg --memory 2GB
    """
    from lbg_recsys import save
    from lbg_recsys.algorithms.fitting import was_cut_short

    if algo is not None:
        algo, given = taken_apart(algo)
        parse_params(given, named_class(MODELS[algo].model), hint=ALGO, owner=algo)
        params = (*given, *params)  # the last one wins
    _refuse_unknown(params, [algo] if algo is not None else [DEFAULT, CHOICE])
    of_samplers = {
        "--time": time,
        "--seconds": seconds is not None,
        "--item-features": item_features is not None,
        "--user-features": user_features is not None,
    }
    needy = next((option for option, is_given in of_samplers.items() if is_given), None)
    if needy and algo is not None and algo not in SAMPLED:
        raise click.UsageError(f"{needy} needs --algo {' or '.join(SAMPLED)}, not {algo}")
    if seconds is not None:
        if dask is not None:
            raise click.UsageError("--seconds is for chains on this machine: with --dask give --param n_sweeps=N")
        params = (*params, f"max_seconds={seconds}")
    _refuse_unscalable(algo, memory=memory, dask=dask, checkpoint=checkpoint, resume=resume or None)
    tables = read_feature_tables(item_features, user_features, quiet)
    data: Any
    beside: dict[str, Any] = {}
    cluster = None if dask is None else ctx.with_resource(_cluster(dask, store, ratings, algo))
    sorting = cluster is not None and algo in IN_BLOCKS
    if sorting or memory is not None or store is not None or os.path.isdir(ratings):
        if time:
            raise click.UsageError("--time needs the ratings in memory: give one file, without --memory and --store")
        folder = Path(store) if store is not None else ctx.with_resource(private_folder()) / "store"
        at = cluster if sorting else None
        data = read_store(ratings, folder, memory=memory, scale=scale, quiet=quiet, cluster=at, resume=resume, **how)
        algo, remark = _choose(algo, data if data.has_ratings else None, ratings)
        if sorting:
            from lbg_recsys.distributed import on_dask

            data = on_dask(data, cluster)
    elif time:
        data, frame = read_timed(ratings, scale=scale, quiet=quiet, **how)
        beside["time"] = frame[["user", "item", "timestamp"]]
        algo, remark = _choose(algo, data, ratings)
    else:
        data = read_interactions(ratings, scale=scale, quiet=quiet, **how)
        is_rated = not hasattr(data, "columns")
        algo, remark = _choose(algo, data if is_rated else None, ratings, not is_rated and "count" in data)
    if needy and algo not in SAMPLED:  # chosen by the data
        raise click.UsageError(f"{needy} needs ratings that differ, and {name_of(ratings)} has none: leave it out")
    if cluster is not None and not sorting and algo not in SAMPLED:
        raise click.UsageError(f"{name_of(ratings)} has no ratings that differ: with --dask give --algo {algo}")
    model_class = named_class(MODELS[algo].model)
    arguments = {**MODELS[algo].preset, **parse_params(params, model_class, owner=algo)}
    if "random_state" in signature_of(model_class):
        arguments["random_state"] = seed
    model = model_class(**arguments)
    if not quiet:
        for line in filter(None, (remark, cost_in_words(algo))):
            echo(click.wrap_text(line, WIDTH), err=True)
    beside |= features_of(tables, data, quiet)
    if titles is None and not quiet:
        say_titles(ratings, how)
    with remarks(quiet):
        named = _titles(ratings, titles)  # before the fit, so that a wrong file does not waste it
    if titles is not None:
        _check_titles(named, data, titles, quiet)
    kept = Path(f"{output}.checkpoint")
    if checkpoint is not None or resume:
        from lbg_recsys.persistence import FitCheckpoint

        if resume and not quiet and not kept.exists():
            echo(f"Note: there is no {kept}: the fit starts from the beginning.", err=True)
        beside["checkpoint"] = FitCheckpoint(kept, checkpoint or FitCheckpoint.every, resume)
    with remarks(quiet), bar(f"fitting {type(model).__name__}", quiet) as progress:
        if remark:  # which says it before the fit
            warnings.filterwarnings("ignore", message="all ratings are equal", category=UserWarning)
        if cluster is not None and algo in SAMPLED:
            from lbg_recsys.distributed import fit_chains

            fit_chains(model, data, cluster, progress=progress, **beside)
        else:
            model.fit(data, progress=progress, **beside)
        progress(1, 1, "")
    save(model, output, titles=_of_items(named, model.matrix), ratings=not drop_users)
    if "checkpoint" in beside:
        remove(kept)  # the fit is complete
    if as_json:
        print_json(file_facts(output))
    elif not quiet:
        how_it_went = convergence_in_words(convergence(model)) or choices_in_words(facts_of(model.matrix))
        echo(click.wrap_text(f"Fitted {type(model).__name__}: {how_it_went}.", WIDTH))
        echo(f"Saved {output} ({size_in_words(os.path.getsize(output))}).")
        whom = "new-user FILE" if drop_users else f"user {shlex.quote(str(model.matrix.users.raw(0)))}"
        echo(f"Next: lbg-recsys recommend {shlex.quote(output)} --{whom}", err=True)
    if was_cut_short(model):
        ctx.exit(130)


def _refuse_unknown(params: tuple[str, ...], algos: list[str]) -> None:
    """Refuse parameters that none of the models takes, before anything is read; the error is that of the first."""
    errors: list[Exception] = []
    for algo in algos:
        try:
            parse_params(params, named_class(MODELS[algo].model), owner=algo)
            return
        except (click.BadParameter, ParameterError) as error:
            errors.append(error)
    raise errors[0]


def _refuse_unscalable(algo: str | None, **given: Any) -> None:
    """Refuse options that do not apply to a model, before anything is read."""
    every = {"memory": IN_BLOCKS, "dask": (*IN_BLOCKS, *SAMPLED), "checkpoint": MIXTURES, "resume": MIXTURES}
    for name, models in every.items():
        if given[name] is not None and (algo or DEFAULT) not in models:
            raise click.UsageError(f"--{name} needs --algo {' or '.join(models)}, not {algo or DEFAULT}")


def _cluster(address: str, store: str | None, ratings: str, algo: str | None) -> Any:
    """A client of the cluster that fits; workers elsewhere need a folder that they see too."""
    is_store = os.path.exists(os.path.join(ratings, "store.json"))
    if address != THIS_MACHINE and store is None and not is_store and algo in IN_BLOCKS:
        raise click.UsageError(
            "workers read the sorted ratings themselves: give --store FOLDER, a new folder that all of them see"
        )
    return client_at(address)


def _choose(algo: str | None, data: "RatingSource | None", source: str, has_counts: bool = False) -> tuple[str, str]:
    """The model to fit, and a sentence on why where the data say so; None as data are choices without ratings."""
    source = name_of(source)
    if data is None:
        if algo not in (None, CHOICE):
            raise click.UsageError(
                f"{source} has no rating column, which --algo {algo} needs: leave --algo out, or say with --columns "
                "which column is the rating"
            )
        counts = " Counts are not used." if has_counts else ""
        return CHOICE, f"{source} has no rating column: fitting ChoiceModel to who took what.{counts}"
    low, high = data.extremes
    if data.n_ratings < 2 or low != high:
        return algo or DEFAULT, ""
    constant = f"All {data.n_ratings:,} ratings are {low:g} and say nothing about taste"
    if algo in (None, CHOICE):
        return CHOICE, f"{constant}: fitting ChoiceModel to who took what."
    return algo, f"{constant}: predictions will all be the same. --algo {CHOICE} makes lists from who took what."


def _titles(ratings: str, titles: str | None) -> dict[Any, str]:
    """The titles of a file; some of the named data sets have titles of their own."""
    from lbg_recsys.datasets.by_name import TITLED_SETS
    from lbg_recsys.readers.ratings import read_titles

    if titles is None and ratings not in TITLED_SETS:
        return {}
    return read_titles(titles if titles is not None else ratings)


def _check_titles(named: dict[Any, str], data: Any, source: str, quiet: bool) -> None:
    """Refuse titles of other items than those of the ratings; a note counts those that are not used."""
    from lbg_recsys.ratings.ids import IdIndex

    read = getattr(data, "store", data)  # on a cluster
    items = IdIndex(data["item"].unique().tolist()) if hasattr(data, "columns") else read.items
    known = int((items.codes(known_ids(items, named)) >= 0).sum())
    if not known:
        raise DataError(
            f"{source} has titles of none of the {counted(len(items), 'rated item')}: its ids are "
            f"{shown(list(named), 3)}, those of the ratings {shown(list(items), 3)}"
        )
    if known < len(named) and not quiet:
        more = f"{counted(len(named) - known, 'title')} of other items {'is' if len(named) - known == 1 else 'are'}"
        echo(f"Note: {source}: {more} not used.", err=True)


def _of_items(titles: dict[Any, str], matrix: "RatingMatrix") -> dict[Any, str]:
    """The titles of the items that were rated, by the ids of the ratings."""
    ids = known_ids(matrix.items, titles)
    is_rated = matrix.items.codes(ids) >= 0
    return {item: title for item, title, rated in zip(ids, titles.values(), is_rated, strict=True) if rated}
