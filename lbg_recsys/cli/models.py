"""What the commands with a model file share: load it, find ids and titles in it."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lbg_recsys.catalogue import Catalogue, as_integer, as_known, known_ids
from lbg_recsys.cli.common import WIDTH, counted
from lbg_recsys.cli.terminal import echo
from lbg_recsys.errors import DataError, OffScaleError
from lbg_recsys.files import name_of
from lbg_recsys.words import class_of

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings import RatingModel
    from lbg_recsys.ratings.ids import RawId

F = TypeVar("F", bound=Callable[..., Any])

model_argument = click.argument("model", metavar="MODEL", type=click.Path(dir_okay=False))


@contextmanager
def remarks(quiet: bool) -> Iterator[None]:
    """Warnings as sentences on standard error; none with --quiet.

    Only one warning is shown about folds that have not converged: these differ only in their figures.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore" if quiet else "always")
        yield
    alike: dict[str, list[str]] = {}
    for warning in caught:
        if issubclass(warning.category, UserWarning | RuntimeWarning):  # other categories are for programmers
            message = str(warning.message)
            of_fit = warning.category.__name__ == "ConvergenceWarning"  # scikit-learn's, not imported for this
            same = alike.setdefault(f"{warning.filename}:{warning.lineno}" if of_fit else message, [])
            if of_fit or not same:
                same.append(message)
    for messages in alike.values():
        more = f" (and {counted(len(messages) - 1, 'more such note')})" if len(messages) > 1 else ""
        echo(click.wrap_text(f"Note: {messages[0]}{more}", WIDTH), err=True)


def load_model(path: str, quiet: bool) -> Any:
    """The model of ratings or choices of a file; warnings as remarks."""
    from lbg_recsys import load
    from lbg_recsys.ratings import RatingModel
    from lbg_recsys.ratings.choice import ChoiceModel

    with remarks(quiet):
        model = load(path)
    if not isinstance(model, RatingModel | ChoiceModel):
        raise DataError(f"{path} holds a text model ({type(model).__name__}): give the file of a rating model")
    return model


def load_rating_model(path: str, quiet: bool, question: str) -> Any:
    """The rating model of a file; a model of choices without ratings cannot answer the question."""
    model = load_model(path, quiet)
    refuse_choices(model, path, question)
    return model


def refuse_choices(
    model: Any, path: str, question: str, instead: str = "ask recommend, similar --item, explain or info"
) -> None:
    """Raise `DataError` if the model is one of choices, which knows nothing of ratings.

    ``instead`` is what may be asked of it.
    """
    if not predicts_ratings(model):
        raise DataError(
            f"{path} holds a ChoiceModel, which knows what people take but not how they rate it, so {question} needs "
            f"another model: fit one to ratings, or {instead}"
        )


def predicts_ratings(model: Any) -> bool:
    """Whether a model predicts ratings, and not only what people take."""
    return hasattr(model, "distribution_of")


def convergence(model: Any) -> dict[str, Any]:
    """How training went, for machines."""
    from lbg_recsys.persistence.contents import of_training
    from lbg_recsys.persistence.kind import TRAINING

    return of_training({name: getattr(model, f"{name}_", None) for name in TRAINING})


def convergence_in_words(facts: Mapping[str, Any], row: str = "user") -> str:
    """How training went, for people; the log-likelihood is one per ``row``."""
    known = {name: fact for name, fact in facts.items() if fact is not None}
    if not known:
        return ""  # nothing was iterated
    words = f"{known['n_sweeps']} sweeps" if "n_sweeps" in known else f"{known['n_iter']} iterations"
    of_older_file = "rhat_median" in known and "monte_carlo_error" not in known
    if "converged" in known and not of_older_file:  # older files say it of R-hats, by another rule
        words = ("converged after " if known["converged"] else "stopped before convergence after ") + words
    if "monte_carlo_error" in known:
        words += f", Monte Carlo error of expected ratings {known['monte_carlo_error']:.3f}"
    elif of_older_file:
        words += f", median R-hat {known['rhat_median']:.2f}, {known['rhat_share']:.0%} above 1.1"
    elif "n_sweeps" in known:
        words += ", too few to assess convergence"
    if "lower_bound" in known:
        words += f", penalised log-likelihood {known['lower_bound']:.4f} per {row}"
    return words


def find_user(
    model: "RatingModel", text: str, remedy: str = "give the ratings of a new one by --new-user FILE"
) -> "RawId":
    """The id of the user named ``text``; an error with this ``remedy`` if the model does not know the user."""
    users = model.matrix.users
    found = as_known(users, text)
    if found is None and not len(users):
        raise DataError(
            f"the model knows no user {text!r}: it was saved without its users (fit --drop-users); {remedy}"
        )
    if found is None:
        # no user ids are named: they may be private
        raise DataError(f"the model knows no user {text!r} (it knows {len(users):,} users); {remedy}")
    return found


def known_or_new_user(model: "RatingModel", text: str, quiet: bool) -> "RawId":
    """The id of the user named ``text``; a note says if the model does not know the user."""
    (user,) = known_ids(model.matrix.users, [as_integer(text)])
    if user not in model.matrix.users and not quiet:
        without = (
            "" if model.matrix.left_out is None else ", because it was saved without its users (fit --drop-users)"
        )
        said = f"the model knows no user {text!r}{without}: this is the prediction for an unknown user"
        remedy = "--new-user FILE predicts from a user's own ratings"
        echo(click.wrap_text(f"Note: {said}; {remedy}.", WIDTH), err=True)
    return user


def find_item(model: Any, text: str) -> "RawId":
    """The id of the item named ``text``: by its id, its title, or a part of the title that no other item has.

    It may have features and no ratings.
    """
    catalogue = Catalogue(model)
    found = catalogue.find_any(text)
    if found is None:
        raise DataError(catalogue.complaint(text))
    return found


def find_items(model: Any, given: Iterable[Any], given_in: str, quiet: bool) -> "dict[Any, RawId]":
    """The ids of the items named by texts; a note names unknown ones, which are left out."""
    found, remark = Catalogue(model).find_all(given, given_in)
    if remark and not quiet:
        echo(click.wrap_text(f"Note: {remark}", WIDTH), err=True)
    return found


def fold_in_file(
    model: Any, source: str, quiet: bool, features: Mapping[str, Any] | None = None, **how: Any
) -> "list[tuple[RawId | None, Any]]":
    """The new users of a file, folded in: pairs of an id (None if the file has no users) and the folded user.

    ``features`` are those of the only one, from --feature.
    """
    from lbg_recsys.readers import read_new_users

    takes_ratings = predicts_ratings(model) or len(model.matrix.scale.levels) > 1
    found = read_new_users(source, ratings=takes_ratings, **how)
    source = name_of(source)
    beside = _beside(model, features, len(found), f"new user, and {source} has {len(found):,}")
    has_ratings = any(value is not None for own in found.values() for value in own.values())
    if has_ratings != takes_ratings and not quiet:
        rest = ", and ratings are predicted for an unknown user" if predicts_ratings(model) else ""
        without = f"it has no ratings: lists follow from the items alone{rest}"
        needless = "its ratings are not used: the model was fitted to choices without ratings"
        echo(click.wrap_text(f"Note: {source}: {needless if has_ratings else without}.", WIDTH), err=True)
    given = [item for own in found.values() for item in own]
    try:
        meant = find_items(model, given, source, quiet)
    except DataError as error:
        if not all(set(str(item)) & set(",;\t|") for item in given):
            raise
        raise DataError(f"{error}; if its lines have several columns, name them with --columns USER,ITEM") from error
    folded = []
    for user, own in found.items():
        known = {meant[item]: value for item, value in own.items() if item in meant}
        if not known:
            if not quiet:
                echo(f"Note: {source}: the user {user} has no known item and is left out.", err=True)
            continue
        if len(known) < sum(item in meant for item in own):
            raise DataError(f"{source}: two names of one item are given for one user: leave one of them out")
        with _of_file(source if user is None else f"{source}, user {user!r}"):
            folded.append((user, model.fold_in(known if has_ratings and takes_ratings else list(known), **beside)))
    return folded


@contextmanager
def _of_file(place: str | None) -> Iterator[None]:
    """Name a rating off the scale with its place in the file."""
    try:
        yield
    except OffScaleError as error:
        raise OffScaleError(f"{place}: {error.what}", error.remedy) from error


def new_user_called(user: "RawId | None") -> str:
    """What a new user of a file is called on screen; None is the only one."""
    return "New user" if user is None else f"New user {user}"


def of_new_user(found: "pd.DataFrame", user: "RawId | None") -> "pd.DataFrame":
    """A table about a new user, with the id that the file has."""
    return found if user is None else found.assign(user=[user] * len(found))


new_user_option = click.option(
    "--new-user",
    metavar="FILE",
    type=click.Path(),
    help="Users the model does not know: a file with item (or title), rating if there are ratings, and user if "
    "there are several.",
)

new_item_option = click.option(
    "--new-item",
    metavar="FILE",
    type=click.Path(),
    help="Items the model does not know: a file with user, rating and, if there are several, item.",
)


def feature_option(what: str) -> Callable[[F], F]:
    """``--feature NAME=VALUE``, repeatable: a mapping of the features of ``what`` by name."""
    return click.option(
        "--feature",
        "features",
        multiple=True,
        metavar="NAME=VALUE",
        callback=lambda ctx, parameter, value: parse_features(value),
        help=f"A feature of {what}, for a model that was fitted with such features; repeatable.",
    )


def parse_features(texts: Iterable[str]) -> dict[str, Any]:
    """Features by name; numbers stay texts, because they may name categories.

    >>> parse_features(["year=1999", "genres=Drama|War", "new=True"])
    {'year': '1999', 'genres': 'Drama|War', 'new': True}
    """
    found = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--feature")
        found[name] = {"True": True, "False": False}.get(value, value)
    return found


def _beside(model: Any, features: Mapping[str, Any] | None, number: int, said: str) -> dict[str, Any]:
    """The features of the only new user or item as an argument of the models."""
    if not features:
        return {}
    if not hasattr(model, "features_"):
        raise DataError(f"--feature needs a model that learns from features, and this is {class_of(model)}")
    if number != 1:
        raise DataError(f"--feature describes one {said}: make a file of each")
    return {"features": features}


def with_new_items(
    model: Any, source: str | None, quiet: bool, features: Mapping[str, Any] | None = None, **how: Any
) -> "tuple[Any, list[RawId]]":
    """The model with the new items of a file, and their ids; that of a file without an item column is "new item".

    ``features`` are those of the only one, from --feature. They may be all that is known of it: without a file.
    """
    from lbg_recsys.readers import read_new_items

    if source is None and not features:
        return model, []
    if not predicts_ratings(model):
        raise DataError(
            "--new-item has ratings, and a ChoiceModel predicts none: leave it out, or give a model that was fitted "
            "to a file with ratings"
        )
    found = {None: {}} if source is None else read_new_items(source, **how)
    source = None if source is None else name_of(source)
    beside = _beside(model, features, len(found), f"new item, and {source} has {len(found):,}")
    added: list[RawId] = []
    with remarks(quiet):
        for item, own in found.items():
            users = known_ids(model.matrix.users, own)
            if source is not None and not any(user in model.matrix.users for user in users):
                raise DataError(
                    f"{source}: no rating of the new item{'' if item is None else f' {item!r}'} is by a user that "
                    "the model knows; at least one must be"
                )
            added.append("new item" if item is None else item)
            with _of_file(source if item is None else f"{source}, item {item!r}"):
                model = model.with_item(added[-1], dict(zip(users, own.values(), strict=True)), **beside)
    return model, added
