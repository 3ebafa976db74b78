"""Algorithms by their names on the command line, and parameters as ``name=value``."""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeVar

import click

from lbg_recsys.presets import LBG_FOR_LISTS, LBG_FOR_RATINGS

F = TypeVar("F", bound=Callable[..., Any])

# name -> module:class. Models are what `fit` saves; the others are Surprise algorithms to compare.
MODELS = {
    "lbg": "lbg_recsys.ratings.lbg:LBGModel",
    "lbg-ratings": "lbg_recsys.ratings.lbg:LBGModel",
    "lbg-lists": "lbg_recsys.ratings.lbg:LBGModel",
    "bayesian": "lbg_recsys.ratings.bayesian.model:BayesianLBGModel",
    "plsa": "lbg_recsys.ratings.plsa:GaussianPLSAModel",
}
ALGORITHMS = {
    "lbg": "lbg_recsys.algorithms:LBGAlgo",
    "lbg-ratings": "lbg_recsys.algorithms:LBGAlgo",
    "lbg-lists": "lbg_recsys.algorithms:LBGAlgo",
    "bayesian": "lbg_recsys.algorithms:BayesianLBGAlgo",
    "plsa": "lbg_recsys.algorithms:GaussianPLSAAlgo",
    "movie-mean": "lbg_recsys.algorithms:MovieMeanAlgo",
    "baseline": "surprise:BaselineOnly",
    "svd": "surprise:SVD",
    "svdpp": "surprise:SVDpp",
    "nmf": "surprise:NMF",
    "slope-one": "surprise:SlopeOne",
    "co-clustering": "surprise:CoClustering",
    "knn": "surprise:KNNBasic",
    "knn-means": "surprise:KNNWithMeans",
    "knn-baseline": "surprise:KNNBaseline",
}

_ALGO = "-a/--algo"

# Settings that a name stands for: lbg as it predicts ratings or makes lists best; lbg alone is the paper's model.
SETTINGS: dict[str, Mapping[str, Any]] = {"lbg-ratings": LBG_FOR_RATINGS, "lbg-lists": LBG_FOR_LISTS}

params_option = click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of the algorithm; repeatable.",
)


def algos_option(default: Sequence[str], what: str) -> Callable[[F], F]:
    """``-a NAME[:PARAM=VALUE,...]``, repeatable: what `factory` reads."""
    return click.option(
        "-a",
        "--algo",
        "algos",
        multiple=True,
        metavar="NAME[:PARAM=VALUE,...]",
        default=default,
        show_default=True,
        help=what,
    )


def named_class(table: dict[str, str], name: str) -> Any:
    """The class behind a name on the command line."""
    if name not in table:
        raise click.BadParameter(
            f"there is no algorithm {name!r}{_nearest(name, table)}; there are {', '.join(table)}",
            param_hint=_ALGO,
        )
    module, _, attribute = table[name].partition(":")
    return getattr(import_module(module), attribute)


def parse_value(text: str) -> Any:
    """A value as JSON writes it, or Python its constants; whatever is neither is text. Nothing is ever evaluated.

    >>> [parse_value(text) for text in ("3", "1e-4", "true", "None", "mean", "[1]")]
    [3, 0.0001, True, None, 'mean', [1]]
    """
    try:
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except (ValueError, RecursionError):
        return text


def parse_params(
    params: Iterable[str], cls: type, *, elsewhere: Mapping[str, str] = MappingProxyType({}), hint: str = "--param"
) -> dict[str, Any]:
    """``name=value`` texts, each name and value checked against the constructor of the class.

    ``elsewhere`` has what is set by another option, with that option; ``hint`` is the option that the texts are of.

    >>> from lbg_recsys import LBGModel
    >>> parse_params(["n_topics=7", "point=mean"], LBGModel)
    {'n_topics': 7, 'point': 'mean'}
    """
    from lbg_recsys.schema import fits, kind_name, signature_of

    elsewhere = {"random_state": "--seed", "verbose": "--quiet", **elsewhere}
    kinds = {name: kind for name, kind in signature_of(cls).items() if name not in elsewhere}
    found: dict[str, Any] = {}
    for text in params:
        name, sign, value_text = text.partition("=")
        name = name.strip()
        if not sign:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=hint)
        if name in elsewhere:
            raise click.BadParameter(f"{name} is set by {elsewhere[name]}", param_hint=hint)
        if name not in kinds:
            raise click.BadParameter(
                f"{cls.__name__} has no parameter {name!r}{_nearest(name, kinds)}; it has {', '.join(kinds)}",
                param_hint=hint,
            )
        value = parse_value(value_text.strip())
        if kinds[name] is not inspect.Parameter.empty and not fits(value, kinds[name]):
            raise click.BadParameter(
                f"{name} is {value_text.strip()!r}, not {kind_name(kinds[name])}", param_hint=hint
            )
        found[name] = value
    return found


def factory(spec: str) -> tuple[str, Callable[[int], Any]]:
    """``svd`` or ``lbg:n_topics=10,point=mean`` as a name for tables and a function of the seed.

    >>> name, make = factory("lbg:n_topics=7")
    >>> name, make(3).n_topics, make(3).random_state
    ('lbg n_topics=7', 7, 3)
    """
    from lbg_recsys.algorithms.fitting import settings_of
    from lbg_recsys.schema import signature_of

    name, _, settings = spec.partition(":")
    cls = named_class(ALGORITHMS, name.strip())
    given = [part.strip() for part in settings.split(",") if part.strip()]
    params = {**SETTINGS.get(name.strip(), {}), **parse_params(given, cls, hint=_ALGO)}
    accepted = signature_of(cls)

    def make(seed: int) -> Any:
        usual = {"verbose": False, "random_state": seed}  # some of Surprise's print unless told not to
        with settings_of(cls):
            return cls(**params, **{key: value for key, value in usual.items() if key in accepted})

    return " ".join([name.strip(), *given]), make


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
