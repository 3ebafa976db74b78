"""Algorithms by their names on the command line, and parameters as ``name=value``."""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from lbg_recsys import presets
from lbg_recsys.cli.completion import complete_algorithm, complete_param
from lbg_recsys.words import did_you_mean, no_parameter

if TYPE_CHECKING:
    from lbg_recsys.evaluation.lists import Scorer
    from lbg_recsys.evaluation.rivals import Rival
    from lbg_recsys.ratings import RatingMatrix
    from lbg_recsys.settings import Setting

F = TypeVar("F", bound=Callable[..., Any])

ALGO = "-a/--algo"
# Parameters with an option of their own.
ELSEWHERE = {"random_state": "--seed", "verbose": "--quiet"}
_FEATURES = {"item_features": "--item-features", "user_features": "--user-features"}


class Algorithm(NamedTuple):
    """What a name on the command line stands for.

    ``surprise`` is the class that evaluations run and ``model`` the one that `fit` saves, as module:class;
    ``settings`` is the class in `lbg_recsys.ratings.settings` that lists its parameters, and ``preset`` the values
    that the name gives to some of them. ``seconds`` is the CPU time of a fit to MovieLens-100K,
    100,000 ratings, for algorithms that announce it before a fit; other data take up to 3.3 times as long.
    """

    summary: str
    surprise: str
    model: str = ""
    settings: str = ""
    preset: Mapping[str, Any] = MappingProxyType({})
    seconds: float = 0.0


_BAYESIAN = (
    "lbg_recsys.algorithms:BayesianLBGAlgo",
    "lbg_recsys.ratings.bayesian.model:BayesianLBGModel",
    "BayesianLBGSettings",
)
_LBG = ("lbg_recsys.algorithms:LBGAlgo", "lbg_recsys.ratings.lbg:LBGModel", "LBGSettings")

ALGORITHMS = {
    "bayesian": Algorithm("Bayesian LBG", *_BAYESIAN, seconds=20.0),
    "bayesian-strong": Algorithm(
        "Bayesian LBG with more, longer chains", *_BAYESIAN, presets.BAYESIAN_STRONG, seconds=80.0
    ),
    "lbg": Algorithm("LBG with settings tuned for ratings", *_LBG, presets.LBG),
    "paper": Algorithm("LBG as in the paper", *_LBG),
    "choice": Algorithm(
        "who takes what: lists without predicted ratings",
        "",
        "lbg_recsys.ratings.choice:ChoiceModel",
        "ChoiceSettings",
    ),
    "plsa": Algorithm(
        "Gaussian pLSA, which the paper compares with",
        "lbg_recsys.algorithms:GaussianPLSAAlgo",
        "lbg_recsys.ratings.plsa:GaussianPLSAModel",
        "GaussianPLSASettings",
    ),
    "movie-mean": Algorithm("the mean rating of each item", "lbg_recsys.algorithms:MovieMeanAlgo"),
    "baseline": Algorithm("Surprise's BaselineOnly", "surprise:BaselineOnly"),
    "svd": Algorithm("Surprise's SVD", "surprise:SVD"),
    "svdpp": Algorithm("Surprise's SVDpp", "surprise:SVDpp"),
    "nmf": Algorithm("Surprise's NMF", "surprise:NMF"),
    "slope-one": Algorithm("Surprise's SlopeOne", "surprise:SlopeOne"),
    "co-clustering": Algorithm("Surprise's CoClustering", "surprise:CoClustering"),
    "knn": Algorithm("Surprise's KNNBasic", "surprise:KNNBasic"),
    "knn-means": Algorithm("Surprise's KNNWithMeans", "surprise:KNNWithMeans"),
    "knn-baseline": Algorithm("Surprise's KNNBaseline", "surprise:KNNBaseline"),
}

# Those that `fit` saves.
MODELS = {name: one for name, one in ALGORITHMS.items() if one.model}
# Those with Markov chains, which learn from features and times too.
SAMPLED = tuple(name for name, one in MODELS.items() if one.settings == "BayesianLBGSettings")

# Those of `lbg-recsys text`, by their names in Python.
TEXT_MODELS = ("LBGMixture", "LBGClassifier")


def params_option(model: str = "") -> Callable[[F], F]:
    """``-p NAME=VALUE``, repeatable: what `parse_params` reads, of one model or of the algorithm that is named."""
    return click.option(
        "-p",
        "--param",
        "params",
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=None if model else complete_param,
        help=f"Set a parameter of {model or 'the algorithm'}; repeatable. 'lbg-recsys params {model or 'ALGO'}' "
        "lists them.",
    )


def algos_option(default: Sequence[str], what: str) -> Callable[[F], F]:
    """``-a NAME[:PARAM=VALUE,...]``, repeatable: what `factory` reads."""
    return click.option(
        "-a",
        "--algo",
        "algos",
        multiple=True,
        metavar="NAME[:PARAM=VALUE,...]",
        shell_complete=complete_algorithm,
        default=default,
        show_default=True,
        help=what,
    )


def algorithm(name: str, hint: str = ALGO, others: Iterable[str] = ()) -> Algorithm:
    """What a name on the command line stands for; an error lists the ``others`` that may be named there, too."""
    if name not in ALGORITHMS:
        known = [*ALGORITHMS, *others]
        raise click.BadParameter(
            f"there is no algorithm {name!r}{_nearest(name, known)}; there are {', '.join(known)}", param_hint=hint
        )
    return ALGORITHMS[name]


def taken_apart(spec: str) -> tuple[str, list[str]]:
    """The name and the settings of ``NAME[:PARAM=VALUE,...]``.

    >>> taken_apart("paper: n_topics=7, point=mean")
    ('paper', ['n_topics=7', 'point=mean'])
    """
    name, _, settings = spec.partition(":")
    return name.strip(), [part.strip() for part in settings.split(",") if part.strip()]


def put_together(name: str, settings: Iterable[str]) -> str:
    """The name of an algorithm in tables; the inverse of `taken_apart`.

    >>> put_together("paper", ["n_topics=7", "point=mean"]), put_together("svd", [])
    ('paper:n_topics=7,point=mean', 'svd')
    """
    return ":".join(filter(None, [name, ",".join(settings)]))


class ModelName(click.Choice):  # type: ignore[type-arg]  # generic from click 8.2 on
    """``NAME[:PARAM=VALUE,...]`` of a model that `fit` saves; an error suggests the nearest name."""

    def __init__(self) -> None:
        super().__init__(list(MODELS))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text itself."""
        name, _ = taken_apart(value)
        if name not in MODELS:
            self.fail(f"there is no model {name!r}{_nearest(name, MODELS)}; there are {', '.join(MODELS)}", param)
        return value


def cost_in_words(name: str) -> str:
    """What a fit costs, in a sentence; empty for a quick one."""
    seconds = ALGORITHMS[name].seconds
    if not seconds:
        return ""
    return (
        f"Fitting {name}: {seconds:.0f} to {5 * seconds:.0f} s of CPU time per 100,000 ratings. "
        "--algo lbg is less accurate and fitted in about 1 s."
    )


def named_class(path: str) -> Any:
    """The class at a module:class."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def settings_listed(named: Algorithm) -> list["Setting"]:
    """The parameters that ``--param`` may set; cheap, because no model is imported."""
    from lbg_recsys.ratings import settings
    from lbg_recsys.settings import settings_of

    return [one for one in settings_of(getattr(settings, named.settings)).values() if one.name not in ELSEWHERE]


class ParametersInHelp(click.Command):
    """A command whose help ends with the parameters of every model that it can fit."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each class of parameters once, with the algorithms that have it."""
        super().format_epilog(ctx, formatter)
        by_settings: dict[str, list[str]] = {}
        for name, named in MODELS.items():
            by_settings.setdefault(named.settings, []).append(name)
        for names in by_settings.values():
            listed = [(f"{one.name}={one.default}", one.description) for one in settings_listed(MODELS[names[0]])]
            with formatter.section(f"Parameters of {', '.join(names)} (--param)"):
                formatter.write_dl(listed)
                for name in names:
                    if preset := MODELS[name].preset:
                        other = ", ".join(f"{one}={value}" for one, value in preset.items() if one not in ELSEWHERE)
                        formatter.write_text(f"{name} has other defaults: {other}.")


def parse_value(text: str) -> Any:
    """A value in JSON, or a constant as Python writes it; anything else is text. Nothing is evaluated.

    >>> [parse_value(text) for text in ("3", "1e-4", "true", "None", "mean", "[1]")]
    [3, 0.0001, True, None, 'mean', [1]]
    """
    try:
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except (ValueError, RecursionError):
        return text


def parse_params(
    params: Iterable[str],
    cls: type,
    *,
    elsewhere: Mapping[str, str] = MappingProxyType({}),
    hint: str = "--param",
    owner: str | None = None,
) -> dict[str, Any]:
    """``name=value`` texts, each name and value checked against the settings or the constructor of the class.

    ``elsewhere`` has what is set by another option, with that option; ``hint`` is the option that the texts are of,
    and ``owner`` what the class is called there.

    >>> from lbg_recsys import LBGModel
    >>> parse_params(["n_topics=7", "point=mean"], LBGModel)
    {'n_topics': 7, 'point': 'mean'}
    """
    from lbg_recsys.schema import defaults_of, fits, kind_name, signature_of
    from lbg_recsys.settings import Settings, settings_of

    settings = settings_of(cls) if issubclass(cls, Settings) else {}
    elsewhere = {**ELSEWHERE, **elsewhere}
    kinds = {name: kind for name, kind in signature_of(cls).items() if name not in elsewhere}
    defaults = defaults_of(cls)
    found: dict[str, Any] = {}
    for text in params:
        name, sign, value_text = text.partition("=")
        name = name.strip()
        if not sign:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=hint)
        if name in elsewhere:
            raise click.BadParameter(f"{name} is set by {elsewhere[name]}", param_hint=hint)
        if name not in kinds:
            raise click.BadParameter(no_parameter(owner or cls.__name__, name, kinds), param_hint=hint)
        value, kind = parse_value(value_text.strip()), kinds[name]
        if kind is inspect.Parameter.empty:
            kind = _kind_by_default(name, defaults[name]) if name in defaults else Any
        if name in settings:
            settings[name].check(value)
        elif not fits(value, kind):
            raise click.BadParameter(f"{name} is {value_text.strip()!r}, not {kind_name(kind)}", param_hint=hint)
        found[name] = value
    return found


def _kind_by_default(name: str, default: Any) -> Any:
    """The type of a parameter that has no annotation, as those of Surprise.

    None stands for a rate or a penalty that another one sets; ranges of initial values have integer bounds.

    >>> [_kind_by_default(*one) for one in (("n_factors", 100), ("lr_bu", None), ("init_mean", 0))]
    [<class 'int'>, float | None, <class 'float'>]
    """
    if default is None:
        return float | None
    return float if name.startswith("init_") else type(default)


def factory(spec: str) -> tuple[str, Callable[..., Any]]:
    """``svd`` or ``paper:n_topics=10,point=mean`` as a name for tables and a function of the seed.

    The function takes further arguments, such as tables of features, for the algorithms that have them.

    >>> name, make = factory("paper:n_topics=7")
    >>> name, make(3).n_topics, make(3).random_state
    ('paper:n_topics=7', 7, 3)
    """
    from lbg_recsys.algorithms.fitting import settings_of
    from lbg_recsys.schema import signature_of

    name, given = taken_apart(spec)
    named = algorithm(name)
    if not named.surprise:
        raise click.BadParameter(f"{name} predicts no ratings: take another algorithm", param_hint=ALGO)
    cls = named_class(named.surprise)
    params = {**named.preset, **parse_params(given, cls, elsewhere=_FEATURES, hint=ALGO, owner=name)}
    accepted = signature_of(cls)

    def make(seed: int, **beside: Any) -> Any:
        usual = {"verbose": False, "random_state": seed, **beside}  # some of Surprise's print by default
        with settings_of(cls):
            return cls(**params, **{key: value for key, value in usual.items() if key in accepted})

    return put_together(name, given), make


def is_list_maker(spec: str) -> bool:
    """Whether ``NAME[:PARAM=VALUE,...]`` names a model that makes lists and predicts no ratings."""
    return not algorithm(taken_apart(spec)[0]).surprise


def list_maker(spec: str) -> "tuple[str, Rival]":
    """``choice`` or ``choice:penalty=500`` as a name for tables and a function that fits it and scores items."""
    name, given = taken_apart(spec)
    cls = named_class(algorithm(name).model)
    params = parse_params(given, cls, hint=ALGO, owner=name)

    def score(matrix: "RatingMatrix", seed: int) -> "Scorer":
        from lbg_recsys.ratings.choice_scores import Choices

        choices = Choices.of(matrix, cls(**params))
        return lambda users: choices.scores(matrix, users)

    return put_together(name, given), score


def _nearest(name: str, known: Iterable[str]) -> str:
    meant = did_you_mean(name, known)
    return meant and f" ({meant})"
