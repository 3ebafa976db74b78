"""The chains that train Bayesian LBG: how they begin, when they can go on, what is taken from them."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from lbg_recsys.core.gibbs.chain import ChainSettings
from lbg_recsys.core.gibbs.chains import (
    Run,
    Start,
    agreement,
    gather,
    give_back,
    joint_error,
    monte_carlo_error,
    run_all,
)
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.occasions import Kind
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array, Floats, Ints
from lbg_recsys.progress import Progress
from lbg_recsys.ratings.bayesian.size import Size, burn_in_of, noise_of
from lbg_recsys.ratings.bayesian.standardise import INDICATOR_WEIGHT, Standard
from lbg_recsys.ratings.bayesian.times import Calendar
from lbg_recsys.ratings.features import FeatureTable
from lbg_recsys.ratings.ids import IdIndex
from lbg_recsys.ratings.matrix import RatingMatrix

log = logging.getLogger(__name__)

# The kinds of chains that each value of the parameters ``orientation`` and ``likelihood`` stands for.
ORIENTATIONS = {"users": (Side.USERS,), "items": (Side.ITEMS,), "both": (Side.USERS, Side.ITEMS)}
LIKELIHOODS = {
    "gaussian": (Likelihood.GAUSSIAN,),
    "ordinal": (Likelihood.ORDINAL,),
    "mixed": (Likelihood.GAUSSIAN, Likelihood.ORDINAL),
}
# With more levels than this an ordinal likelihood is no better than a Gaussian one.
MAX_ORDINAL_LEVELS = 25
# Pairs whose predictions are traced for R-hat.
TRACED_PAIRS = 200
# The parameters that determine the chains: if one of them changes, a fit cannot continue the chains.
_MAKING = (*Size._fields, "n_chains", "orientation", "likelihood", "max_kept", "random_state")


class Training:
    """All chains of a fit with the ratings that they are about; ``parameters`` are those of `BayesianLBGModel`.

    A model takes the kept sweeps when a run is complete, so that a run that fails does not change the model.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        matrix: RatingMatrix,
        features: Mapping[Side, FeatureTable],
        times: Ints | None = None,
    ) -> None:
        self.matrix, self.standard, self.features = matrix, Standard.of(matrix), features
        self.times = times
        users, items = matrix.user_codes.astype(np.int64), matrix.item_codes.astype(np.int64)
        self.calendar = None if times is None else Calendar.of(users, items, times)
        self.size = Size.of(parameters, len(matrix.values), matrix.n_users + matrix.n_items)
        self.made_of = {name: parameters[name] for name in _MAKING}
        # without a random_state the seed is random, and kept, because new users are drawn with it too
        self.seed = seed_of(parameters["random_state"])
        self.starts = [] if matrix.is_constant else self._starts(parameters)
        self.runs: list[Run] = []

    def _starts(self, parameters: Mapping[str, Any]) -> list[Start]:
        matrix = self.matrix
        sides, levels = ORIENTATIONS[parameters["orientation"]], matrix.scale.levels
        kinds = LIKELIHOODS[parameters["likelihood"]]
        if len(levels) > MAX_ORDINAL_LEVELS or not matrix.scale.discrete:
            if Likelihood.ORDINAL in kinds:
                log.info("%d levels: Gaussian chains take the place of the ordinal ones", len(levels))
            kinds = (Likelihood.GAUSSIAN,) * len(kinds)
        settings = [
            ChainSettings(
                **self.size._asdict(),
                likelihood=likelihood,
                side=side,
                indicator_weight=INDICATOR_WEIGHT[side],
                own_cuts=Likelihood.ORDINAL in kinds,
                **noise_of(likelihood, kinds, len(matrix.values) / max(matrix.n_users, 1)),
            )
            for side in sides
            for likelihood in kinds
            for _ in range(parameters["n_chains"])
        ]
        seeds = np.random.SeedSequence(self.seed).spawn(len(settings) + 1)
        rng = np.random.default_rng(seeds[-1])
        users = rng.integers(matrix.n_users, size=TRACED_PAIRS)
        items = rng.integers(matrix.n_items, size=TRACED_PAIRS)
        known = {side: table.design(ids_of(matrix, side)) for side, table in self.features.items()}
        most = parameters["max_kept"]
        stride = -(-(parameters["n_sweeps"] - burn_in_of(parameters)) // most)
        if parameters["max_seconds"] is not None:  # not known yet: the first third is dropped at the end
            most, stride = most * 3 // 2, 1
        return [
            Start(
                one,
                seed,
                self.standard.middles,
                one.side.rows_and_columns(*(known[side] for side in Side)),
                self._occasions(one.side),
                one.side.rows_and_columns(users, items),
                most,
                stride,
                match_cuts=len(levels) <= MAX_ORDINAL_LEVELS,
            )
            for one, seed in zip(settings, seeds, strict=False)
        ]

    def begin(self) -> list[Run]:
        """Begin the runs here, unless they have begun."""
        if not self.runs:
            sides = {start.settings.side for start in self.starts}
            entries = {side: entries_of(self.matrix, self.standard, side) for side in sides}
            self.runs = [start.run(*entries[start.settings.side]) for start in self.starts]
        return self.runs

    def _occasions(self, side: Side) -> list[Kind]:
        """The occasions of the entries of a chain with these rows; none without times."""
        if self.calendar is None or self.times is None:
            return []
        matrix = self.matrix
        users, items = matrix.user_codes.astype(np.int64), matrix.item_codes.astype(np.int64)
        codes = self.calendar.codes(users, items, self.times)
        if side is Side.ITEMS:
            codes = codes[matrix.rows.by_column[2]]
        return self.calendar.kinds(codes)

    def serves(
        self,
        parameters: Mapping[str, Any],
        matrix: RatingMatrix,
        features: Mapping[Side, FeatureTable],
        times: Ints | None = None,
    ) -> bool:
        """Whether these chains are what a fit with these parameters to these ratings would go on with."""
        if (times is None) != (self.times is None) or not np.array_equal(times, self.times):  # type: ignore[arg-type]
            return False
        same_parameters = all(parameters[name] == value for name, value in self.made_of.items())
        return same_parameters and self.features == features and same_ratings(self.matrix, matrix)

    def run(self, n_sweeps: int, burn_in: int, n_jobs: int, progress: Progress, seconds: float | None = None) -> bool:
        """Run ``n_sweeps`` more sweeps, or as many as ``seconds`` allow; False if Ctrl-C ended them early."""
        if not self.starts:
            progress(n_sweeps, n_sweeps, "all ratings are equal")
            return True
        return run_all(
            self.begin(), n_sweeps, burn_in, n_jobs, seconds=seconds, unit=self.standard.spread, progress=progress
        )

    def errors(self) -> list[float]:
        """The root mean square residual after each sweep of all chains, in units of the ratings."""
        each = zip(*(run.errors for run in self.runs), strict=False)  # Ctrl-C may leave a chain one sweep ahead
        return [joint_error(errors) * self.standard.spread for errors in each]

    def gather(self) -> dict[Side, Draws]:
        """Take out the kept sweeps, by the side that is the rows, and release the memory of the chains."""
        for run in self.runs:
            run.chain.rest()
        return {side: gather(runs) for side, runs in self._sides().items()}

    def give_back(self, draws: Mapping[Side, Draws]) -> None:
        """Undo `gather`, before the chains go on."""
        for side, runs in self._sides().items():
            give_back(draws[side], runs)
            entries, level = entries_of(self.matrix, self.standard, side)
            for run in runs:
                run.chain.wake(entries, level)

    def rhat(self) -> Floats:
        """The split R-hat of each traced pair."""
        return agreement(self.runs) if self.runs else np.ones(1)

    def monte_carlo_error(self) -> float:
        """The Monte Carlo error of the traced pairs, in units of the ratings."""
        return monte_carlo_error(self.runs) * self.standard.spread if self.runs else 0.0

    def _sides(self) -> dict[Side, list[Run]]:
        sides: dict[Side, list[Run]] = {}
        for run in self.runs:
            sides.setdefault(run.chain.settings.side, []).append(run)
        return sides


def ids_of(matrix: RatingMatrix, side: Side) -> IdIndex:
    """The users or the items."""
    return matrix.users if side is Side.USERS else matrix.items


def seed_of(random_state: int | None) -> int:
    """The seed for NumPy: the number given, or one drawn from the machine's entropy."""
    return int(np.random.SeedSequence(random_state).entropy)  # type: ignore[arg-type]  # an int stays an int


def entries_of(matrix: RatingMatrix, standard: Standard, side: Side) -> tuple[SparseRows, Array]:
    """The ratings as a chain takes them: standardised, with users or items as rows; and the level of each."""
    rows = matrix.rows if side is Side.USERS else matrix.rows.transposed
    return rows.with_values(standard.values(rows.values)), matrix.scale.nearest(rows.values).astype(np.int16)


def same_ratings(one: RatingMatrix, other: RatingMatrix) -> bool:
    """Whether both have the same ratings of the same users and items on the same scale."""
    return (
        one.scale.discrete == other.scale.discrete
        and np.array_equal(one.scale.levels, other.scale.levels)
        and list(one.users) == list(other.users)
        and list(one.items) == list(other.items)
        and np.array_equal(one.rows.indptr, other.rows.indptr)
        and np.array_equal(one.rows.columns, other.rows.columns)
        and np.array_equal(one.values, other.values)
    )
