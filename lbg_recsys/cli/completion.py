"""Shell completion: users and items of the model file that a command names, algorithms, parameters, data sets."""

import os
import re
from collections.abc import Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

# More would scroll off a terminal.
_SHOWN = 50
_SPECIAL = re.compile(r"([^\w@%+=:,./-])")


def complete_user(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Ids of users that begin with what was typed."""
    model = _model_of(ctx)
    return _items(_beginning(model.matrix.users, typed)) if model is not None else []


def complete_item(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Titles and ids of items that begin with what was typed, in capitals or not."""
    model = _model_of(ctx)
    if model is None:
        return []
    titles = {item: title for item, title in dict(model.titles).items() if title and title.isprintable()}
    begun = typed.casefold()
    by_title = [(title, str(item)) for item, title in titles.items() if title.casefold().startswith(begun)]
    by_id = [(text, titles.get(item, "")) for item, text in _texts(model.matrix.items) if text.startswith(typed)]
    return _items((by_title if typed or not by_id else []) + by_id)


def complete_algorithm(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of algorithms, with what they are."""
    from lbg_recsys.cli.algorithms import ALGORITHMS

    return _items([(name, one.summary) for name, one in ALGORITHMS.items() if name.startswith(typed)])


def complete_algorithm_or_text_model(
    ctx: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Names of all that ``params`` lists the parameters of."""
    from lbg_recsys.cli.algorithms import TEXT_MODELS

    text_models = [(name, "") for name in TEXT_MODELS if name.startswith(typed)]
    return [*complete_algorithm(ctx, parameter, typed), *_items(text_models)]


def complete_dataset(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of data sets, with what they are."""
    from lbg_recsys.datasets import DATASETS

    return _items([(name, info.summary) for name, info in DATASETS.items() if name.startswith(typed)])


def complete_ratings(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of data sets of ratings, and files. Bash completes files if there is no name: with nothing typed, too."""
    from lbg_recsys.datasets.by_name import RATING_SETS

    return _sets_and_files(RATING_SETS, typed)


def complete_documents(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of data sets of texts, files and folders."""
    from lbg_recsys.datasets.by_name import TEXT_SETS

    return _sets_and_files(TEXT_SETS, typed)


def complete_param(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of the parameters of the algorithm of ``--algo``, or of the default one, with what they are."""
    from lbg_recsys.cli.algorithms import MODELS, settings_listed, taken_apart

    name, _ = taken_apart(ctx.params.get("algo") or "bayesian")
    listed = settings_listed(MODELS[name])
    return _items([(f"{one.name}=", one.description) for one in listed if one.name.startswith(typed)])


def _sets_and_files(sets: Iterable[str], typed: str) -> list[CompletionItem]:
    from lbg_recsys.datasets import DATASETS

    offered = sets if typed or not _is_bash() else ()
    names = [(name, DATASETS[name].summary) for name in offered if name.startswith(typed)]
    return [*_items(names), CompletionItem(typed, type="file")]


def _model_of(ctx: click.Context) -> Any:
    """The model of the file on the command line, or None: a completion never fails."""
    from lbg_recsys import load

    # click gives up at an option that has no value yet, and leaves what stands before it in ctx.args
    path = ctx.params.get("model") or next(iter(ctx.args), None)
    try:
        model = load(path) if path else None
    except Exception:  # the command itself reports what is wrong with the file
        return None
    return model if hasattr(model, "matrix") else None


def _texts(ids: Iterable[Any]) -> list[tuple[Any, str]]:
    return [(one, str(one)) for one in ids if str(one).isprintable()]


def _beginning(ids: Iterable[Any], typed: str) -> list[tuple[str, str]]:
    return [(text, "") for _, text in _texts(ids) if text.startswith(typed)]


def _items(found: list[tuple[str, str]]) -> list[CompletionItem]:
    return [CompletionItem(_quoted(text), help=note or None) for text, note in found[:_SHOWN]]


def _quoted(text: str) -> str:
    """As the shell takes it: bash inserts a completion as it is, zsh and fish quote it themselves."""
    return _SPECIAL.sub(r"\\\1", text) if _is_bash() else text


def _is_bash() -> bool:
    return os.environ.get("_LBG_RECSYS_COMPLETE", "").startswith("bash")
