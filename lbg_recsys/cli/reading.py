"""What the commands that read ratings share: the options that say how, and what was read, in words."""

import logging
import os
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lbg_recsys.catalogue import known_ids
from lbg_recsys.cli.common import WIDTH, counted, parse_columns
from lbg_recsys.cli.completion import complete_ratings
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.terminal import echo
from lbg_recsys.errors import DataError
from lbg_recsys.files import name_of
from lbg_recsys.progress import Progress, bar

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from lbg_recsys.ratings import RatingMatrix, RatingStore

F = TypeVar("F", bound=Callable[..., Any])

# The value of --dask without an address.
THIS_MACHINE = "local"
# For sorting a folder if no size is given, and the least and the greatest size that can be given.
_MEMORY, _LEAST_MEMORY, _MOST_MEMORY = 10**9, 10**6, 10**15


def _delimiter(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return {"tab": "\t", r"\t": "\t"}.get(value, value) if value is not None else None


def format_options(command: F) -> F:
    """How to read a file that does not describe its own format."""
    for option in (
        click.option(
            "--delimiter", callback=_delimiter, help="Separator of the fields; detected by default. 'tab' is \\t."
        ),
        click.option("--header/--no-header", default=None, help="Whether the first line names the columns."),
        click.option(
            "--columns",
            metavar="NAMES",
            callback=lambda ctx, parameter, value: parse_columns(value),
            help="The columns to read, as names or as positions from 1: who,what,stars or 1,2,4.",
        ),
    ):
        command = option(command)
    return command


def as_typed(source: str, scale: tuple[float, float] | None, how: Mapping[str, Any]) -> str:
    """A source of ratings with the options that say how to read it, as they are typed.

    >>> as_typed("a b.csv", (1.0, 5.0), {"columns": [1, 0, 2], "header": False, "delimiter": None})
    "'a b.csv' --columns 2,1,3 --no-header --scale 1 5"
    """
    typed = [source]
    if columns := how.get("columns"):
        typed += ["--columns", ",".join(str(one + 1) if isinstance(one, int) else one for one in columns)]
    if (header := how.get("header")) is not None:
        typed.append("--header" if header else "--no-header")
    if delimiter := how.get("delimiter"):
        typed += ["--delimiter", "tab" if delimiter == "\t" else delimiter]
    return shlex.join(typed + ([] if scale is None else ["--scale", *(f"{end:g}" for end in scale)]))


def scale_option(command: F) -> F:
    """The bounds of the rating scale."""
    return click.option(
        "--scale",
        type=(float, float),
        default=None,
        metavar="LOW HIGH",
        help="Lowest and highest rating; found in the ratings by default.",
    )(command)


def ratings_argument(metavar: str = "RATINGS", **options: Any) -> Callable[[F], F]:
    """Where the ratings are."""
    return click.argument("ratings", metavar=metavar, type=click.Path(), shell_complete=complete_ratings, **options)


def read_matrix(source: str, *, scale: tuple[float, float] | None, quiet: bool, **how: Any) -> "RatingMatrix":
    """Ratings from wherever `read_ratings` finds them, as a matrix; says what was read."""
    return _read(source, scale, quiet, how)[0]


def read_timed(
    source: str, *, scale: tuple[float, float] | None, quiet: bool, **how: Any
) -> tuple["RatingMatrix", "pd.DataFrame"]:
    """Ratings as a matrix, and a table of their times; says what was read."""
    return _read(source, scale, quiet, how, timestamp=True)


def read_store(
    source: str,
    folder: "Path",
    *,
    memory: int | None,
    scale: tuple[float, float] | None,
    quiet: bool,
    cluster: Any = None,
    resume: bool = False,
    **how: Any,
) -> "RatingStore":
    """Ratings sorted into a folder, by a ``cluster`` where one is given; or the store that ``source`` is.

    With ``resume`` a store that the folder has already is opened: the fit that is continued has sorted it.
    """
    from lbg_recsys.datasets import RATING_SETS
    from lbg_recsys.ratings.store import STORE, RatingStore
    from lbg_recsys.readers import CodedRatings

    if source in RATING_SETS:
        raise click.UsageError(f"--memory, --store and --dask are for files and folders: {source} fits into memory")
    if source == "-" and cluster is not None:
        raise click.UsageError("workers read the ratings themselves: write standard input to a file for --dask")
    if os.path.exists(os.path.join(source, STORE)):
        store = RatingStore.open(source, memory=memory)
        if scale is not None or any(value is not None for value in how.values()):
            raise click.UsageError(f"{source} holds sorted ratings: their scale and format are known")
    elif resume and (folder / STORE).exists():
        store = RatingStore.open(folder, memory=memory)
        if not quiet:
            echo(f"The ratings in {folder} are sorted already: {source} is not read again.", err=True)
    else:
        with remarks(quiet), _reading(source, quiet, how) as progress:
            warnings.filterwarnings("ignore", message=".*repeat a", category=UserWarning)  # `facts_of` has them
            if cluster is None:
                coded = CodedRatings(source, **how, progress=progress)
                store = RatingStore.create(folder, coded, memory=memory or _MEMORY, scale=scale, progress=progress)
            else:
                from lbg_recsys.distributed import store_on_dask

                store = store_on_dask(source, folder, cluster, scale=scale, progress=progress, **how)
    if not quiet:
        words = in_words if store.has_ratings else choices_in_words
        echo(f"Read {words(facts_of(store))}.", err=True)
    return store


def features_options(command: F) -> F:
    """Where the features of users and items are."""
    for role in ("user", "item"):
        what = f"Features of the {role}s: a CSV, TSV or Parquet file with {role} and features, or a data set."
        command = click.option(f"--{role}-features", metavar="FILE", type=click.Path(), help=what)(command)
    return command


def read_feature_tables(items: str | None, users: str | None, quiet: bool) -> dict[str, "pd.DataFrame"]:
    """The tables of features of the files by role."""
    from lbg_recsys.readers import read_features

    with remarks(quiet):
        files = {"item": items, "user": users}
        return {role: read_features(source, role) for role, source in files.items() if source is not None}


def features_of(tables: dict[str, "pd.DataFrame"], data: Any, quiet: bool) -> dict[str, "pd.DataFrame"]:
    """The tables by argument of ``fit``, with the ids of the ratings; says how many have ratings and how many not."""
    for role, table in tables.items():
        index = getattr(data, f"{role}s")
        table.index = known_ids(index, [_whole(one) for one in table.index])
        known = int((index.codes(list(table.index)) >= 0).sum())
        if not quiet:
            more = f" and {counted(len(table) - known, 'id')} without ratings" if len(table) > known else ""
            echo(f"Read features of {known:,} of {counted(len(index), role)}{more}.", err=True)
    return {f"{role}_features": table for role, table in tables.items()}


def _whole(given: Any) -> Any:
    """An id as ratings have it: pandas reads a column of integers that has an empty cell as floats."""
    if isinstance(given, float):
        if not given.is_integer():
            raise DataError(f"a row of the features has the id {given}: ids are integers or texts")
        return int(given)
    return given


def dask_option(what: str) -> Callable[[F], F]:
    """The cluster that works."""
    return click.option("--dask", is_flag=False, flag_value=THIS_MACHINE, metavar="[ADDRESS]", help=what)


def client_at(address: str) -> Any:
    """A client of the cluster at the address of --dask.

    Its log is silent: a lost worker only costs time, and an error that ends the command is shown.
    """
    from lbg_recsys.distributed import connected

    client = connected(None if address == THIS_MACHINE else address)
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # which Dask sets when it is imported
    return client


def memory_option(command: F) -> F:
    """How much memory ratings may take."""
    return click.option(
        "--memory",
        metavar="SIZE",
        callback=lambda ctx, parameter, value: parse_size(value),
        help="Sort ratings on disk and hold at most SIZE of them in memory: 2GB, 500MB. Not for bayesian.",
    )(command)


def parse_size(text: str | None) -> int | None:
    """Bytes as people write them.

    >>> parse_size("2GB"), parse_size("1.5 mb"), parse_size(None)
    (2000000000, 1500000, None)
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([kmgt]?)i?b?\s*", text.lower())
    size = float(found[1]) * 1000 ** " kmgt".index(found[2] or " ") if found else 0
    if not _LEAST_MEMORY <= size <= _MOST_MEMORY:
        raise click.BadParameter(
            f"{text!r} is not a size from 1MB to 1000TB: write 2GB or 500MB", param_hint="--memory"
        )
    return int(size)


def read_interactions(
    source: str, *, scale: tuple[float, float] | None, quiet: bool, **how: Any
) -> "RatingMatrix | pd.DataFrame":
    """Ratings as a matrix, or choices without ratings as a table; says what was read."""
    from lbg_recsys import readers

    with remarks(quiet), _reading(source, quiet, how) as progress:
        frame = readers.read_interactions(source, **how, progress=progress)
        matrix = _matrix(frame, scale) if "rating" in frame else None
    if matrix is None:
        return frame
    _say_what_was_read(matrix, quiet)
    return matrix


def say_titles(source: str, how: Mapping[str, Any]) -> None:
    """Say that a file of ratings has titles too, which are read by --titles."""
    from lbg_recsys.columns import find_role
    from lbg_recsys.datasets.by_name import is_rating_set
    from lbg_recsys.readers.files import batches
    from lbg_recsys.readers.layouts import of_interactions

    if is_rating_set(source) or not os.path.isfile(source):
        return
    named: list[str] = []

    def layout(names: Sequence[str] | None, top: Any, columns: Any = None) -> list[str]:
        named.extend(names or ())
        return of_interactions(names, top, columns)

    next(batches(source, layout, **how))
    at = find_role("title", named)
    if at is not None:
        said = f"the column {named[at]!r} of {source} is not used: for titles of the items add --titles"
        echo(click.wrap_text(f"Note: {said} {shlex.quote(source)}.", WIDTH), err=True)


def read_dataset(
    source: str, *, scale: tuple[float, float] | None, quiet: bool, timestamp: bool = False, **how: Any
) -> tuple["RatingMatrix", Any]:
    """The same ratings as a matrix and as Surprise's ``Dataset``, in the file's order: folds depend on it.

    ``timestamp`` asks for the times of the ratings, which ``raw_ratings`` of the dataset then holds.
    """
    from lbg_recsys.algorithms.convert import dataset_of

    matrix, frame = _read(source, scale, quiet, how, timestamp)
    if matrix.n_duplicates:
        frame = frame.drop_duplicates(["user", "item"], keep="last")
    return matrix, dataset_of(frame, (matrix.scale.low, matrix.scale.high))


def read_evaluated(
    source: str,
    *,
    scale: tuple[float, float] | None,
    quiet: bool,
    timestamp: bool,
    **how: Any,
) -> tuple["RatingMatrix", Any]:
    """What is to be split into training and test: the same as `read_dataset`, or choices as a matrix and a table.

    They are choices if there is no rating column, or if all ratings are equal: any algorithm predicts these without
    error.
    """
    from lbg_recsys import readers
    from lbg_recsys.algorithms.convert import dataset_of
    from lbg_recsys.ratings.clicks import as_choices

    with remarks(quiet), _reading(source, quiet, how) as progress:
        frame = readers.read_interactions(source, **how, timestamp=timestamp, progress=progress)
        constant = "rating" in frame and len(frame) > 1 and frame["rating"].nunique(dropna=False) == 1
        matrix = _matrix(frame, scale) if "rating" in frame and not constant else None
    if matrix is not None:
        _say_what_was_read(matrix, quiet)
        frame = frame.drop_duplicates(["user", "item"], keep="last") if matrix.n_duplicates else frame
        return matrix, dataset_of(frame, (matrix.scale.low, matrix.scale.high))
    why = f"all ratings are {frame['rating'].iloc[0]:g}" if constant else f"{name_of(source)} has no rating column"
    if timestamp and not constant and len(how.get("columns") or ()) == 3:
        why += " (the third of --columns is the time; for ratings with times name four)"
    if scale is not None:
        raise click.UsageError(f"--scale is for ratings, but {why}")
    matrix = as_choices(frame.drop(columns="rating") if constant else frame)
    if not quiet:
        echo(f"Read {choices_in_words(facts_of(matrix))}; {why}: only lists are evaluated.", err=True)
    return matrix, frame


def _read(
    source: str, scale: tuple[float, float] | None, quiet: bool, how: dict[str, Any], timestamp: bool = False
) -> tuple["RatingMatrix", "pd.DataFrame"]:
    from lbg_recsys.readers import read_ratings

    with _reading(source, quiet, how) as progress:
        frame = read_ratings(source, **how, timestamp=timestamp, progress=progress)
        matrix = _matrix(frame, scale)
    _say_what_was_read(matrix, quiet)
    return matrix, frame


@contextmanager
def _reading(source: str, quiet: bool, how: Mapping[str, Any]) -> Iterator[Progress]:
    """The bar over reading a table and sorting it into a matrix, which takes about a tenth of the time."""
    _refuse_format_of_sets(source, how)
    with bar("reading", quiet) as progress:
        yield lambda done, total, note: progress(9 * done, 10 * total, note)
        progress(1, 1, "sorted")


def _say_what_was_read(matrix: "RatingMatrix", quiet: bool) -> None:
    from lbg_recsys.ratings.scale import far_from_the_others

    if not quiet:
        echo(f"Read {in_words(facts_of(matrix))}.", err=True)
        if remark := far_from_the_others(matrix.rows.values):
            option = "--scale LOW HIGH refuses ratings that are off the scale"
            echo(click.wrap_text(f"Note: {remark}; {option}", WIDTH), err=True)


def _refuse_format_of_sets(source: str, how: Mapping[str, Any]) -> None:
    from lbg_recsys.datasets import RATING_SETS

    given = [f"--{name}" for name, value in how.items() if value is not None]
    if given and source in RATING_SETS:
        raise click.UsageError(f"{given[0]} is for files: the format of {source} is known")


def _matrix(frame: "pd.DataFrame", scale: tuple[float, float] | None) -> "RatingMatrix":
    from lbg_recsys.ratings import RatingMatrix

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*repeat a", category=UserWarning)  # `facts_of` has them
        return RatingMatrix.from_frame(frame, scale=scale)


def facts_of(matrix: "RatingMatrix | RatingStore") -> dict[str, Any]:
    """What was read, as JSON."""
    scale = matrix.scale
    return {
        "n_users": len(matrix.users),
        "n_items": len(matrix.items),
        "n_ratings": matrix.n_ratings,
        "n_duplicates": matrix.n_duplicates,
        "scale": {
            "low": scale.low,
            "high": scale.high,
            "n_levels": len(scale.levels),
            "discrete": scale.discrete,
        },
    }


def choices_in_words(facts: Mapping[str, Any]) -> str:
    """What was read of choices without ratings, for people.

    >>> choices_in_words({"n_users": 2, "n_items": 1, "n_ratings": 2, "n_duplicates": 3})
    '2 choices of 1 item by 2 users; 3 repeated (user, item) pairs counted once'
    """
    text = f"{counted(facts['n_ratings'], 'choice')} of {counted(facts['n_items'], 'item')}"
    text += f" by {counted(facts['n_users'], 'user')}"
    if facts["n_duplicates"]:
        text += f"; {counted(facts['n_duplicates'], 'repeated (user, item) pair')} counted once"
    return text


def in_words(facts: Mapping[str, Any]) -> str:
    """What was read, for people.

    >>> from lbg_recsys import RatingMatrix
    >>> in_words(facts_of(RatingMatrix.from_arrays([1, 2], [1, 1], [3, 5])))
    '2 ratings of 1 item by 2 users, on the scale 3..5 (3 levels)'
    """
    scale = facts["scale"]
    kind = counted(scale["n_levels"], "level") if scale["discrete"] else "continuous"
    text = f"{counted(facts['n_ratings'], 'rating')} of {counted(facts['n_items'], 'item')}"
    text += f" by {counted(facts['n_users'], 'user')}, on the scale {scale['low']:g}..{scale['high']:g} ({kind})"
    if facts["n_duplicates"]:
        text += f"; {facts['n_duplicates']:,} repeated a (user, item) pair, of which the last counts"
    return text
