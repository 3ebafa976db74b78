"""Bayesian LBG: several classes a user whose means add up, averaged over the posterior."""

import logging
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.core import predictive
from lbg_recsys.core.draws import predict, tilt
from lbg_recsys.core.ensemble import Run, agreement, gather, give_back, run_all
from lbg_recsys.core.gibbs import Chain, ChainSettings, Entries
from lbg_recsys.core.grid import predict_items
from lbg_recsys.core.rows import Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.ratings import bayesian_state
from lbg_recsys.ratings.base import Predictive, RatingModel
from lbg_recsys.ratings.bayesian_rated import RatedOdds
from lbg_recsys.ratings.bayesian_users import INDICATOR_WEIGHT, NewUsers, Standard
from lbg_recsys.ratings.matrix import Bounds, RatingMatrix, as_matrix
from lbg_recsys.schema import State, signature_of

log = logging.getLogger(__name__)

ORIENTATIONS = {"users": (True,), "items": (False,), "both": (True, False)}
LIKELIHOODS = {"gaussian": (False,), "ordinal": (True,), "mixed": (False, True)}
# With more levels than this an ordinal likelihood learns nothing that a Gaussian does not know.
MAX_ORDINAL_LEVELS = 25
# Pairs whose predictions are traced for R-hat, and the R-hat above which a fit warns.
TRACED_PAIRS = 200
RHAT_LIMIT = 1.1


class BayesianLBGModel(RatingModel):
    """The Latent Bernoulli-Gauss model with additive classes and a full posterior; see docs/bayesian-lbg.md.

    Parameters
    ----------
    n_components, n_classes : components H, and classes K of each.
    n_sweeps, burn_in : Gibbs sweeps of a chain, of which the first ``burn_in`` are not used.
    n_chains : chains per orientation and likelihood.
    orientation : who has the classes: ``"users"``, ``"items"``, or chains of ``"both"`` kinds, averaged.
    likelihood : ratings as intervals of a utility (``"ordinal"``), as Gaussians (``"gaussian"``), or chains of both
        kinds (``"mixed"``). Scales of more than 25 levels are Gaussian always.
    point : ``"mean"`` (least squared error), ``"median"`` (least absolute error) or ``"mode"``.
    max_kept : sweeps kept per chain, evenly spaced; this bounds the memory.
    warm_start : a further ``fit`` on the same ratings runs ``n_sweeps`` more sweeps instead of starting again.
    random_state, n_jobs : the same seed gives the same bits for any number of threads.

    Fitted: ``n_sweeps_`` (run so far), ``rhat_`` (per traced pair), ``converged_``, ``training_error_`` (after each
    sweep), ``nbytes_`` (of the kept sweeps).

    >>> ratings = (["a", "a", "b", "b"], ["x", "y", "x", "y"], [5, 4, 1, 2])
    >>> model = BayesianLBGModel(n_sweeps=20, burn_in=10, random_state=0).fit(ratings)
    >>> model.predict_distribution([("a", "x")]).sum().round(6)
    np.float64(1.0)
    """

    def __init__(
        self,
        *,
        n_components: int = 16,
        n_classes: int = 3,
        n_sweeps: int = 250,
        burn_in: int = 60,
        n_chains: int = 1,
        orientation: str = "both",
        likelihood: str = "mixed",
        point: str = "mean",
        max_kept: int = 64,
        warm_start: bool = False,
        random_state: int | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.n_components = n_components
        self.n_classes = n_classes
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.orientation = orientation
        self.likelihood = likelihood
        self.point = point
        self.max_kept = max_kept
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- fitting -------------------------------------------------------------------------------------------------

    def fit(
        self,
        ratings: Any,
        *,
        scale: Bounds | None = None,
        levels: npt.ArrayLike | None = None,
        callback: Callable[[int, float], None] | None = None,
    ) -> "BayesianLBGModel":
        """Fit to a DataFrame, a (users, items, ratings) tuple, a Surprise trainset or a `RatingMatrix`.

        ``callback(sweep, training_error)`` is called after every sweep, the error being the root mean square
        residual of the current draws in units of the ratings. Ctrl-C after the burn-in keeps what there is.
        """
        matrix = as_matrix(ratings, scale=scale, levels=levels)
        runs = getattr(self, "_runs", None)
        begun = self.warm_start and runs is not None and all(run.n_gathered for run in runs)
        continued = begun and _same_ratings(self.matrix, matrix)
        self._check_parameters(burn_in=0 if continued else self.burn_in)
        if not continued:
            self.matrix = matrix
            self.standard_ = Standard.of(matrix)
            self._runs = self._start() if len(matrix.scale.levels) > 1 else []
            self.training_error_: list[float] = []
        else:
            for side, draws in self._draws.items():
                give_back(draws, self._side(side))

        def after_sweep(sweep: int, error: float) -> None:
            self.training_error_.append(error * self.standard_.spread)
            if callback is not None:
                callback(sweep, self.training_error_[-1])

        finished = not self._runs or run_all(
            self._runs, self.n_sweeps, 0 if continued else self.burn_in, self.n_jobs, after_sweep
        )
        self._gather()
        self._judge(finished)
        return self

    def _start(self) -> list[Run]:
        matrix, standard = self.matrix, self.standard_
        levels = matrix.scale.levels
        kinds = LIKELIHOODS[self.likelihood]
        if len(levels) > MAX_ORDINAL_LEVELS or not matrix.scale.discrete:
            if True in kinds:
                log.info("%d levels: Gaussian chains take the place of the ordinal ones", len(levels))
            kinds = (False,) * len(kinds)
        settings = [
            ChainSettings(
                n_components=self.n_components,
                n_classes=self.n_classes,
                ordinal=ordinal,
                user_rows=user_rows,
                indicator_weight=INDICATOR_WEIGHT[user_rows],
            )
            for user_rows in ORIENTATIONS[self.orientation]
            for ordinal in kinds
            for _ in range(self.n_chains)
        ]
        seeds = np.random.SeedSequence(self.random_state).spawn(len(settings) + 1)
        rng = np.random.default_rng(seeds[-1])
        users = rng.integers(matrix.n_users, size=TRACED_PAIRS)
        items = rng.integers(matrix.n_items, size=TRACED_PAIRS)
        entries = {side: entries_of(matrix, standard, side) for side in ORIENTATIONS[self.orientation]}
        stride = -(-(self.n_sweeps - self.burn_in) // self.max_kept)
        runs = []
        for one, seed in zip(settings, seeds, strict=False):
            chain = Chain(entries[one.user_rows], standard.middles, one, seed)
            pairs = (users, items) if one.user_rows else (items, users)
            runs.append(Run(chain, *pairs, self.max_kept, stride, len(levels) <= MAX_ORDINAL_LEVELS))
        return runs

    def _gather(self) -> None:
        self._draws = {side: gather(runs) for side in ORIENTATIONS[self.orientation] if (runs := self._side(side))}
        self._know_users()
        self._count()

    def _know_users(self) -> None:
        self._new_users = NewUsers(self._draws, self.matrix, self.standard_)
        self._rated = RatedOdds(self._draws, self.matrix)

    def _side(self, user_rows: bool) -> list[Run]:
        return [run for run in self._runs if run.chain.settings.user_rows == user_rows]

    def _count(self) -> None:
        self.n_sweeps_ = len(self.training_error_)
        self.nbytes_ = sum(draws.nbytes for draws in self._draws.values())

    def _judge(self, finished: bool) -> None:
        self.rhat_ = agreement(self._runs) if self._runs else np.ones(1)
        high = float(np.nanmedian(self.rhat_)) if np.isfinite(self.rhat_).any() else 1.0
        self.converged_ = finished and high <= RHAT_LIMIT
        if not finished:
            warnings.warn(
                f"interrupted after {self.n_sweeps_} sweeps: the model is what they gave; "
                "warm_start=True and fit again continue",
                UserWarning,
                stacklevel=3,
            )
        elif high > RHAT_LIMIT:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"the chains have not met: the median split R-hat of {TRACED_PAIRS} predictions is {high:.2f} "
                f"(limit {RHAT_LIMIT}); raise n_sweeps and burn_in, or warm_start=True and fit again",
                ConvergenceWarning,
                stacklevel=3,
            )

    # -- what RatingModel asks for -------------------------------------------------------------------------------

    def predictive(self, users: Ints, items: Ints) -> Predictive:
        """The distribution of each pair: the average over kept sweeps, tilted to its expected rating."""
        if not self._draws:
            return Predictive(np.ones((len(users), len(self.levels))))
        sums = (
            predict(draws, *((users, items) if user_rows else (items, users)), self.standard_.levels)
            for user_rows, draws in self._draws.items()
        )
        return Predictive(self._average(sums))

    def predictive_of_items(self, users: Ints) -> Floats:
        """The distributions of all items for some (known) users, (users, items, levels), to within 1e-6."""
        if not self._draws:
            return super().predictive_of_items(users)
        n_items = self.matrix.n_items
        sums = (
            predict_items(draws, users, user_rows, n_items, self.standard_.levels)
            for user_rows, draws in self._draws.items()
        )
        pairs = ((probability.reshape(-1, len(self.levels)), mean.ravel()) for probability, mean in sums)
        return self._average(pairs).reshape(len(users), n_items, len(self.levels))

    def _average(self, sums: Iterable[tuple[Floats, Floats]]) -> Floats:
        """The distributions (n, levels) from the sums of each side over its kept sweeps: their average, tilted."""
        probability, mean = (sum(side) for side in zip(*sums, strict=True))
        probability /= sum(draws.shaping.sum() for draws in self._draws.values())
        tilt(probability, self.levels, self.standard_.raw(mean / sum(map(len, self._draws.values()))))
        return np.asarray(probability)

    def rated_probability(self, users: Ints, items: Ints) -> Floats:
        """How likely each user is to rate each item, from the rates at which like classes do."""
        return np.asarray(1.0 / (1.0 + np.exp(-self._rated.log_odds(self._draws, self.matrix, users, items))))

    def with_users(self, matrix: RatingMatrix) -> "BayesianLBGModel":
        """The same kept sweeps with other users: their own parameters are drawn given each of them."""
        view = type(self)(**self.get_params())
        view.matrix, view.standard_ = matrix, self.standard_
        seed = np.random.SeedSequence(self.random_state).spawn(1)[0]
        view._draws = self._new_users.draw(matrix, seed)
        view._new_users, view._rated = self._new_users, self._rated
        return view

    def get_params(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {name: getattr(self, name) for name in signature_of(type(self))}

    # -- model files ---------------------------------------------------------------------------------------------

    STATE = bayesian_state.STATE

    def to_state(self) -> State:
        """All that makes this fitted model besides its matrix: the kept sweeps, not the chains."""
        facts = {"converged": self.converged_, "training_error": self.training_error_}
        facts["rhat"] = bayesian_state.plain_rhat(self.rhat_)
        return State(self.get_params(), facts, bayesian_state.arrays_of(self._draws))

    @classmethod
    def from_state(cls, state: State, matrix: RatingMatrix) -> "BayesianLBGModel":
        """The model that `to_state` took apart; facts and arrays are as `STATE` says."""
        model = cls(**state.parameters)
        model._check_parameters(burn_in=0)
        sides = ORIENTATIONS[model.orientation] if len(matrix.scale.levels) > 1 else ()
        model.matrix, model.standard_ = matrix, Standard.of(matrix)
        model._draws = bayesian_state.draws_of(state.arrays, sides)
        model._know_users()
        model.converged_, model.training_error_ = state.facts["converged"], state.facts["training_error"]
        model.rhat_ = np.array(state.facts["rhat"], dtype=np.float64)
        model._count()
        return model

    def _check_parameters(self, burn_in: int) -> None:
        for name, low in (("n_components", 1), ("n_classes", 2), ("n_sweeps", 1), ("n_chains", 1), ("n_jobs", 1)):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < low:
                raise DataError(f"{name} is {value!r}: give an integer of at least {low}")
        if self.n_classes > 127:
            raise DataError(f"n_classes is {self.n_classes}: at most 127, a handful is plenty")
        if not isinstance(self.max_kept, (int, np.integer)) or self.max_kept < 2:
            raise DataError(f"max_kept is {self.max_kept!r}: keep at least 2 sweeps of a chain")
        if not isinstance(burn_in, (int, np.integer)) or not 0 <= burn_in < self.n_sweeps:
            raise DataError(
                f"burn_in is {burn_in!r} of n_sweeps={self.n_sweeps}: it must leave sweeps to keep, "
                "so give an integer from 0 to n_sweeps - 1"
            )
        for name, choices in (
            ("orientation", ORIENTATIONS),
            ("likelihood", LIKELIHOODS),
            ("point", predictive.POINTS),
        ):
            if getattr(self, name) not in choices:
                raise DataError(f"{name} is {getattr(self, name)!r}: choose one of {', '.join(map(repr, choices))}")


def entries_of(matrix: RatingMatrix, standard: Standard, user_rows: bool) -> Entries:
    """The ratings as a chain takes them, users or items as rows."""
    users, items = matrix.user_codes(), matrix.items_of
    value, level = standard.values(matrix.values), matrix.scale.nearest(matrix.values)
    if user_rows:
        return Entries.of(users, items, value, level, matrix.n_users, matrix.n_items)
    return Entries.of(items, users, value, level, matrix.n_items, matrix.n_users)


def _same_ratings(one: RatingMatrix, other: RatingMatrix) -> bool:
    return (
        one.n_users == other.n_users
        and one.n_items == other.n_items
        and np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.items_of, other.items_of)
        and np.array_equal(one.values, other.values)
    )
