"""The hyper-parameters of the rating models. Light to import: the command line lists them without the models."""

from dataclasses import dataclass
from typing import Any

from lbg_recsys.settings import AUTO, Settings, named_arguments, setting

POINTS = ("mode", "mean", "median")
ORIENTATIONS = ("users", "items", "both")
LISTS = ("choice", "bernoulli")
# The largest weight of a prior or of indicators: beyond it sums of ratings are lost in rounding.
_STRONGEST = 1e9
LIKELIHOODS = ("gaussian", "ordinal", "mixed")


def _point(default: str) -> Any:
    return setting(
        default,
        """The predicted rating: the mode of the predictive distribution, its mean (least squared error) or its
        median (least absolute error).""",
        choices=POINTS,
    )


def _lists(default: str) -> Any:
    return setting(
        default,
        """The model of what people take that lists use: "choice" is the closed form of ChoiceModel, computed when a
        list is first asked for; "bernoulli" is the Bernoulli part of the model itself.""",
        choices=LISTS,
    )


def _random_state() -> Any:
    return setting(
        None,
        """Seed; the same seed gives the same bits. None draws one. Surprise algorithms also take a numpy
        RandomState.""",
        at_least=0,
    )


def _n_jobs() -> Any:
    return setting(1, "Threads; the result is the same to the last bit for any number.", at_least=1)


def _verbose() -> Any:
    return setting(False, "Show a progress bar on standard error, or ten lines if it is not a terminal.")


@named_arguments
@dataclass(kw_only=True, eq=False, repr=False)
class LBGSettings(Settings):
    """Hyper-parameters of the paper's model; with ``prior_strength=0`` the defaults are the paper's."""

    n_topics: int = setting(5, "Number of topics.", at_least=1)
    point: str = _point("mode")
    temperature: float = setting(
        1.0,
        """Power of the posteriors over topics. 1 is the paper; a smaller value makes over-confident posteriors
        less extreme.""",
        at_least=1e-9,
        at_most=1,
    )
    indicator_weight: float = setting(
        1.0,
        """Weight of *which* items a user rated, relative to *how* they were rated. 1 is the paper, 0 ignores it.""",
        at_least=0,
        at_most=_STRONGEST,
    )
    baseline: bool = setting(False, "Fit the mixture to the residuals of global mean + user bias + item bias.")
    prior_strength: float = setting(
        5.0,
        """Pseudo-ratings that shrink each topic's parameters to the item's own, and an item's own to the average
        item's. 0 is the paper's exact update, with the variance bounded by the rounding of the scale.""",
        at_least=0,
        at_most=_STRONGEST,
    )
    n_init: int = setting(1, "Number of starts; the fit with the highest penalised likelihood is kept.", at_least=1)
    max_iter: int = setting(100, "Maximum number of EM iterations per start.", at_least=1)
    tol: float = setting(1e-4, "EM stops when an iteration gains less penalised log-likelihood per user.", at_least=0)
    lists: str = _lists("bernoulli")
    random_state: int | None = _random_state()
    n_jobs: int = _n_jobs()
    verbose: bool = _verbose()


@named_arguments
@dataclass(kw_only=True, eq=False, repr=False)
class BayesianLBGSettings(Settings):
    """Hyper-parameters of Bayesian LBG."""

    n_components: int | str = setting(
        "auto",
        """Number of components, each with its own classes; "auto" is 4, or 16 without factors.""",
        at_least=1,
        choices=(AUTO,),
    )
    n_classes: int | str = setting(
        "auto", """Number of classes per component; "auto" is 3.""", at_least=2, at_most=127, choices=(AUTO,)
    )
    n_factors: int | str = setting(
        "auto",
        """Number of continuous factors, for what the classes do not explain. "auto" follows the number of ratings
        per user and item: 8 factors up to 8 ratings, 16 at 15, 24 at 35, 40 at 90, never more than 64.""",
        at_least=0,
        at_most=512,
        choices=(AUTO,),
    )
    n_sweeps: int = setting(300, "Gibbs sweeps per chain.", at_least=1)
    burn_in: int | str = setting(
        "auto",
        """Sweeps at the start of each chain that are not used; below n_sweeps. "auto" is a third of n_sweeps.""",
        at_least=0,
        choices=(AUTO,),
    )
    max_seconds: float | None = setting(
        None,
        """Run as many sweeps as this time allows, at most ten times n_sweeps, and do not use the first third of them.
        This replaces n_sweeps and burn_in. The result then depends on the speed of the machine; on a machine's
        first fit this time includes compilation.""",
        above=0,
    )
    n_chains: int = setting(
        1,
        """Chains per orientation and likelihood: with "both" and "mixed", 1 runs four chains and 2 runs eight. More
        chains are a little more accurate, and cost time and memory in proportion.""",
        at_least=1,
    )
    orientation: str = setting(
        "both",
        'Whether "users" or "items" have the classes; "both" averages over chains of both kinds.',
        choices=ORIENTATIONS,
    )
    likelihood: str = setting(
        "mixed",
        """Whether ratings are intervals of a utility ("ordinal") or Gaussian ("gaussian"); "mixed" runs chains of
        both kinds. Scales of more than 25 levels are always Gaussian.""",
        choices=LIKELIHOODS,
    )
    point: str = _point("mean")
    max_kept: int = setting(40, "Sweeps kept per chain, evenly spaced. This bounds the memory.", at_least=2)
    lists: str = _lists("choice")
    warm_start: bool = setting(
        False,
        """A further fit to the same ratings runs n_sweeps more sweeps instead of starting again, unless a parameter
        that the chains depend on has changed: any but n_sweeps, burn_in, max_seconds, point, lists, n_jobs and
        verbose.""",
    )
    random_state: int | None = _random_state()
    n_jobs: int = _n_jobs()
    verbose: bool = _verbose()


@named_arguments
@dataclass(kw_only=True, eq=False, repr=False)
class GaussianPLSASettings(Settings):
    """Hyper-parameters of Gaussian pLSA."""

    n_topics: int = setting(20, "Number of topics (Hofmann's communities).", at_least=1)
    point: str = _point("mean")
    prior_strength: float = setting(
        5.0,
        "Pseudo-ratings that shrink each topic's parameters to the item's own, and these to the average item's.",
        at_least=0,
        at_most=_STRONGEST,
    )
    holdout: float = setting(
        0.1, "Share of the ratings held out; annealing stops by their likelihood.", at_least=0, below=1
    )
    max_iter: int = setting(100, "Maximum number of EM iterations.", at_least=1)
    random_state: int | None = _random_state()
    n_jobs: int = _n_jobs()
    verbose: bool = _verbose()


@named_arguments
@dataclass(kw_only=True, eq=False, repr=False)
class ChoiceSettings(Settings):
    """Hyper-parameters of the choice scores, chosen on inner splits of data sets (benchmarks/tune_choice.py)."""

    grade: float = setting(
        0.6,
        """The weight of an item that a user rated below the upper quarter of the scale, where an item that was liked
        has 1. It has no effect on choices without ratings.""",
        at_least=0,
        at_most=1,
    )
    user_power: float = setting(
        0.5,
        """A user with n items has a weight proportional to n ** -user_power, so that few very active users do not
        dominate. 0 gives all users the same weight.""",
        at_least=0,
        at_most=3,
    )
    penalty: float | None = setting(
        None,
        """The ridge penalty in units of the mean square of the cells; None is 9 times the cube root of the number of
        choices. A larger penalty moves lists towards popular items.""",
        above=0,
        at_most=_STRONGEST,
    )
    item_power: float = setting(
        0.25,
        "The penalty of an item that n users took is proportional to n ** item_power. 0 gives all items the same.",
        at_least=0,
        at_most=3,
    )
    limit: int = setting(
        20_000,
        """The largest matrix that is inverted. Its size is the number of items, or of users with two or more items,
        whichever is smaller; 20,000 takes 5 GB of memory during the fit and 1.6 GB afterwards. Beyond it the items
        taken most often are scored exactly; the others are scored by their exact linear prediction from these items,
        and do not contribute to scores themselves.""",
        at_least=1,
    )
