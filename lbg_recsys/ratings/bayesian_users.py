"""New users of Bayesian LBG: drawn into every kept sweep, as a row where users are rows and as a column elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.draws import Draws, in_half, in_steps
from lbg_recsys.core.foldin import fold_col, fold_row
from lbg_recsys.core.gibbs import USER_NOISE_SHAPE, column_features
from lbg_recsys.core.rated import class_logits
from lbg_recsys.core.rows import Floats, Ints
from lbg_recsys.ratings.bayesian_rated import raters
from lbg_recsys.ratings.matrix import RatingMatrix

Arrays = tuple[npt.NDArray[Any], ...]

# The weight of who-rated-what in a row's classes, by whether users are the rows (chosen on inner splits).
INDICATOR_WEIGHT = {True: 0.01, False: 0.02}


@dataclass(frozen=True)
class Standard:
    """Ratings with mean 0 and spread 1, on which the priors of the chains are made."""

    centre: float
    spread: float
    levels: Floats  # standardised

    @classmethod
    def of(cls, matrix: RatingMatrix) -> "Standard":
        """From the mean and standard deviation of the ratings (the step of the scale where all are equal)."""
        centre = float(matrix.values.mean())
        spread = float(matrix.values.std())
        if spread <= 1e-9 * matrix.scale.step:
            spread = matrix.scale.step
        return cls(centre, spread, (matrix.scale.levels - centre) / spread)

    @property
    def middles(self) -> Floats:
        """Half-way between neighbouring levels."""
        return (self.levels[1:] + self.levels[:-1]) / 2.0

    def values(self, ratings: Floats) -> Floats:
        """Ratings, standardised."""
        return (ratings - self.centre) / self.spread

    def raw(self, values: Floats) -> Floats:
        """Standardised ratings on their own scale again."""
        return values * self.spread + self.centre


class NewUsers:
    """Draws new users into kept sweeps.

    What does not depend on the user is prepared for the first one and then held: the evidence that rating an item at
    all is for each class, a byte each (as much memory as the class means of the items, and a pass over the ratings
    per kept sweep), and the small arrays in single precision. A pickle leaves it out.
    """

    def __init__(self, draws: Mapping[bool, Draws], training: RatingMatrix, standard: Standard) -> None:
        self._draws, self._training, self._standard = draws, training, standard

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._draws, self._training, self._standard)

    @cached_property
    def _given(self) -> dict[bool, Arrays]:
        return {
            user_rows: _given_to_row(one, self._training) if user_rows else _given_to_column(one)
            for user_rows, one in self._draws.items()
        }

    def draw(self, new: RatingMatrix, seed: np.random.SeedSequence) -> dict[bool, Draws]:
        """The kept sweeps with the users of another matrix in the place of the training users.

        Every user has a random stream of its own: its draws do not depend on those who come after it.
        """
        streams = [np.random.default_rng(one) for one in seed.spawn(new.n_users)]
        return {
            user_rows: (self._as_rows if user_rows else self._as_columns)(new, streams) for user_rows in self._draws
        }

    def _as_rows(self, new: RatingMatrix, streams: list[np.random.Generator]) -> Draws:
        draws = self._draws[True]
        z = np.empty((len(draws), new.n_users + 1, draws.z.shape[2]), np.int8)
        bias, weight = np.empty(z.shape[:2], np.float32), np.empty(z.shape[:2], np.float32)
        z[:, -1], bias[:, -1], weight[:, -1] = draws.z[:, -1], draws.row_bias[:, -1], draws.row_weight[:, -1]
        for user, rng in enumerate(streams):
            ratings = _ratings_of(new, user, self._standard)
            drawn = z[:, user], bias[:, user], weight[:, user]
            arguments: tuple[Any, ...] = (rng, *ratings, *self._given[True], *drawn)
            fold_row(*arguments)
        return replace(draws, z=z, row_bias=bias.astype(np.float16), row_weight=in_half(weight))

    def _as_columns(self, new: RatingMatrix, streams: list[np.random.Generator]) -> Draws:
        draws = self._draws[False]
        n_sweeps, n_components, n_classes = draws.lam.shape
        means = np.empty((n_sweeps, n_components, new.n_users + 1, n_classes), np.float32)
        bias, weight = (np.empty((n_sweeps, new.n_users + 1), np.float32) for _ in range(2))
        means[:, :, -1] = draws.c[:, -1] * draws.c_step[:, :, None]
        bias[:, -1], weight[:, -1] = draws.col_bias[:, -1], draws.col_weight[:, -1]
        features = column_features(np.diff(new.indptr), np.diff(self._training.indptr)).astype(np.float32)
        for user, rng in enumerate(streams):
            ratings = _ratings_of(new, user, self._standard)
            drawn = means[:, :, user], bias[:, user], weight[:, user]
            arguments: tuple[Any, ...] = (rng, *ratings, features[user], *self._given[False], *drawn)
            fold_col(*arguments)
        c, steps = in_steps(means)
        return replace(draws, c=c, c_step=steps, col_bias=bias.astype(np.float16), col_weight=in_half(weight))


def _given_to_row(draws: Draws, training: RatingMatrix) -> Arrays:
    """What `fold_row` takes of the kept sweeps."""
    evidence, steps = _evidence(draws, training)
    with np.errstate(divide="ignore"):  # a class that nobody can have
        base = np.log(draws.lam) + draws.base
    columns = draws.col_bias.astype(np.float32), draws.col_weight.astype(np.float32)
    return draws.c, draws.c_step, evidence, steps, base, *columns, draws.scalars[:, 0], *_noise_and_cuts(draws)


def _given_to_column(draws: Draws) -> Arrays:
    """What `fold_col` takes of the kept sweeps."""
    priors = draws.share, draws.eta.astype(np.float32), draws.omega.astype(np.float32), draws.tau
    rows = draws.row_bias.astype(np.float32), draws.row_weight.astype(np.float32)
    return draws.z, *priors, *rows, draws.scalars[:, 1], *_noise_and_cuts(draws)


def _noise_and_cuts(draws: Draws) -> Arrays:
    """The Gamma prior of a user's noise precision (S, 2), the cuts with both ends, and whether they are used."""
    noise = np.column_stack([np.full(len(draws), USER_NOISE_SHAPE), draws.scalars[:, 2]])
    ends = np.full((len(draws), 1), np.inf)
    return noise.astype(np.float64), np.concatenate([-ends, draws.cuts, ends], axis=1), draws.ordinal


def _evidence(draws: Draws, training: RatingMatrix) -> Arrays:
    """The weighted logits of every item's rates, (S, items, H, K), in steps (S, H)."""
    pointer, holders = raters(training)
    items = np.arange(training.n_items)
    logits = np.empty((len(items), *draws.lam.shape[1:]), np.float32)
    evidence, steps = np.empty((len(draws), *logits.shape), np.int8), np.empty(draws.lam.shape[:2], np.float32)
    for s in range(len(draws)):
        class_logits(pointer, holders, draws.z[s, :-1], items, logits)
        evidence[s], steps[s] = in_steps(INDICATOR_WEIGHT[True] * logits.swapaxes(0, 1))
    return evidence, steps


def _ratings_of(matrix: RatingMatrix, user: int, standard: Standard) -> tuple[Ints, Floats, Ints]:
    place = slice(matrix.indptr[user], matrix.indptr[user + 1])
    values = matrix.values[place]
    return matrix.items_of[place].astype(np.int64), standard.values(values), matrix.scale.nearest(values)
