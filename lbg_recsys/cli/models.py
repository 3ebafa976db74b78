"""What commands share that use a model file: load it, find ids and titles in it."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.common import WIDTH, counted
from lbg_recsys.errors import DataError

if TYPE_CHECKING:
    from lbg_recsys.ratings import FoldedUser, RatingModel
    from lbg_recsys.ratings.ids import IdIndex, RawId

_INTEGER = re.compile(r"-?[1-9][0-9]*|0")

model_argument = click.argument("model", metavar="MODEL", type=click.Path(dir_okay=False))


@contextmanager
def remarks(quiet: bool) -> Iterator[None]:
    """Warnings as sentences on standard error; none with --quiet.

    Fits of several folds that have not converged say the same with other figures: one speaks for all.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore" if quiet else "always")
        yield
    alike: dict[str, list[str]] = {}
    for warning in caught:
        if issubclass(warning.category, UserWarning | RuntimeWarning):  # others speak to programmers
            message = str(warning.message)
            of_fit = warning.category.__name__ == "ConvergenceWarning"  # scikit-learn's, not imported for this
            alike.setdefault(f"{warning.filename}:{warning.lineno}" if of_fit else message, []).append(message)
    for messages in alike.values():
        more = f" (and {counted(len(messages) - 1, 'more such note')})" if len(messages) > 1 else ""
        click.echo(click.wrap_text(f"Note: {messages[0]}{more}", WIDTH), err=True)


def load_model(path: str, quiet: bool) -> Any:
    """The rating model of a file, whichever it is; warnings as remarks."""
    from lbg_recsys import load
    from lbg_recsys.ratings import RatingModel

    with remarks(quiet):
        model = load(path)
    if not isinstance(model, RatingModel):
        raise DataError(f"{path} holds a text model ({type(model).__name__}): give the file of a rating model")
    return model


def convergence(model: Any) -> dict[str, Any]:
    """How training went, for machines: what the model says of it."""
    names = ("converged_", "n_iter_", "n_sweeps_", "rhat_median_", "rhat_share_", "lower_bound_", "beta_")
    facts = {name.rstrip("_"): getattr(model, name) for name in names if hasattr(model, name)}
    return {name: fact for name, fact in facts.items() if fact == fact}  # R-hat of too few sweeps is NaN: no fact


def convergence_in_words(facts: Mapping[str, Any], row: str = "user") -> str:
    """How training went, for people; the log-likelihood is one per ``row``."""
    words = f"{facts['n_sweeps']} sweeps" if "n_sweeps" in facts else f"{facts['n_iter']} iterations"
    if "converged" in facts:
        words = ("converged after " if facts["converged"] else "stopped before convergence after ") + words
    if "rhat_median" in facts:
        words += f", median R-hat {facts['rhat_median']:.2f}, {facts['rhat_share']:.0%} above 1.1"
    elif "n_sweeps" in facts:
        words += ", too few to judge convergence"
    if "lower_bound" in facts:
        words += f", penalised log-likelihood {facts['lower_bound']:.4f} per {row}"
    return words


def find_user(model: "RatingModel", text: str) -> "RawId":
    """The user that somebody means by ``text``."""
    return _find(model.matrix.users, text, "user", "recommend and explain take a new one by --new-user FILE")


def known_or_new_user(model: "RatingModel", text: str, quiet: bool) -> "RawId":
    """The user that somebody means by ``text``; one that the model does not know is remarked upon."""
    (user,) = known_ids(model.matrix.users, [_as_integer(text)])
    if user not in model.matrix.users and not quiet:
        click.echo(f"Note: the model knows no user {text!r}: this is what it knows of all users.", err=True)
    return user


def find_item(model: "RatingModel", text: str) -> "RawId":
    """The item that somebody means by ``text``: its id, or its title or an unmistakable part of it."""
    index = model.matrix.items
    if (found := _as_known(index, text)) is not None:
        return found
    wanted = text.casefold()
    whole = [item for item, title in model.titles.items() if title.casefold() == wanted]
    part = whole or [item for item, title in model.titles.items() if wanted in title.casefold()]
    if len(part) == 1:
        return part[0]
    if part:
        some = ", ".join(f"{item} ({model.titles[item]})" for item in part[:4])
        raise DataError(f"{text!r} is in {len(part)} titles: {some}{', ...' if len(part) > 4 else ''}; give the id")
    return _find(index, text, "item", "its id or title must be known" if model.titles else "its id must be known")


def known_ids(index: "IdIndex", column: Iterable[Any]) -> list[Any]:
    """Ids as a file has them, each in the type that the model knows it by: 7 and "7" are then the same.

    >>> from lbg_recsys.ratings.ids import IdIndex
    >>> known_ids(IdIndex(["7", "x"]), [7, 8]), known_ids(IdIndex([7]), ["7", "y"])
    (['7', 8], [7, 'y'])
    """
    raw_ids = column.tolist() if hasattr(column, "tolist") else list(column)
    translated = {}
    for raw_id in dict.fromkeys(raw_ids):
        known = raw_id if raw_id in index else _as_known(index, str(raw_id))
        translated[raw_id] = raw_id if known is None else known
    return [translated[raw_id] for raw_id in raw_ids]


def title_of(model: "RatingModel", item: "RawId") -> str:
    """What an item is called: its title, else its id."""
    return model.titles.get(item, str(item))


def with_titles(model: "RatingModel", facts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Facts about items, for machines: each with its title, where the model knows titles."""
    if not model.titles:
        return [dict(one) for one in facts]
    return [{"item": one["item"], "title": model.titles.get(one["item"]), **one} for one in facts]


def fold_in_file(model: "RatingModel", source: str, **how: Any) -> "FoldedUser":
    """A new user from a file of items and ratings."""
    from lbg_recsys.readers import read_item_ratings

    ratings = read_item_ratings(source, **how)
    return model.fold_in(dict(zip(known_ids(model.matrix.items, ratings), ratings.values(), strict=True)))


def _as_known(index: "IdIndex", text: str) -> "RawId | None":
    if text in index:
        return text
    number = _as_integer(text)
    return number if number in index else None


def _as_integer(text: str) -> "int | str":
    """The number that a text is, as readers of files take it."""
    return int(text) if _INTEGER.fullmatch(text) and len(text) < 4000 else text


def _find(index: "IdIndex", text: str, what: str, remedy: str) -> "RawId":
    found = _as_known(index, text)
    if found is None:
        from itertools import islice

        some = ", ".join(str(raw_id)[:20] for raw_id in islice(index, 3))
        raise DataError(f"the model knows no {what} {text!r} (it knows {len(index):,}: {some}, ...); {remedy}")
    return found
