"""What Bayesian LBG says of users: new ones drawn into kept sweeps, and how likely anyone is to rate an item."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lbg_recsys.core.draws import Draws, in_steps
from lbg_recsys.core.foldin import class_rates, fold_col, fold_row
from lbg_recsys.core.gibbs import USER_NOISE_SHAPE, column_features
from lbg_recsys.core.rows import Codes, Floats, Ints
from lbg_recsys.ratings.matrix import RatingMatrix

# The weight of who-rated-what in a row's classes, by whether users are the rows (chosen on inner splits).
INDICATOR_WEIGHT = {True: 0.01, False: 0.02}
# How far the classes move the odds of being rated (chosen on inner splits).
RATED_POWER = 0.1
# Kept sweeps that the probability of being rated averages over: it is smooth, and each costs a pass over the ratings.
_RATED_SWEEPS = 8


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


def fold_in_users(
    draws: Mapping[bool, Draws],
    new: RatingMatrix,
    training: RatingMatrix,
    standard: Standard,
    seed: np.random.SeedSequence,
) -> dict[bool, Draws]:
    """The kept sweeps with the users of another matrix in the place of the training users."""
    rng = np.random.default_rng(seed)
    return {
        user_rows: (_as_rows if user_rows else _as_cols)(one, new, training, standard, rng)
        for user_rows, one in draws.items()
    }


def _as_rows(
    draws: Draws, new: RatingMatrix, training: RatingMatrix, standard: Standard, rng: np.random.Generator
) -> Draws:
    shape = (len(draws), new.n_users + 1)
    z = np.empty((*shape, draws.z.shape[2]), np.int8)
    bias, weight = np.empty(shape, np.float16), np.empty(shape, np.float16)
    z[:, -1], bias[:, -1], weight[:, -1] = draws.z[:, -1], draws.row_bias[:, -1], draws.row_weight[:, -1]
    for user in range(new.n_users):
        items, value, level = _ratings_of(new, user, standard)
        rates = _rates(draws, *_raters(training), items, np.arange(len(draws)))
        drawn = np.empty((len(draws), z.shape[2]), np.int8), np.empty(len(draws)), np.empty(len(draws))
        fold_row(
            rng,
            value,
            level,
            draws.c[:, items] * draws.c_step[:, None, :, None],
            (INDICATOR_WEIGHT[True] * _logit(rates)).astype(np.float32),
            draws.lam,
            draws.base,
            draws.col_bias[:, items].astype(np.float32),
            draws.col_weight[:, items].astype(np.float32),
            draws.scalars[:, 0],
            _noise(draws),
            _closed(draws.cuts),
            draws.ordinal,
            *drawn,
        )
        z[:, user], bias[:, user], weight[:, user] = drawn[0], drawn[1], np.minimum(drawn[2], 6e4)
    return replace(draws, z=z, row_bias=bias, row_weight=weight)


def _as_cols(
    draws: Draws, new: RatingMatrix, training: RatingMatrix, standard: Standard, rng: np.random.Generator
) -> Draws:
    shape = (len(draws), new.n_users + 1)
    means = np.empty((len(draws), *draws.lam.shape[1:2], new.n_users + 1, draws.lam.shape[2]), np.float32)
    bias, weight = np.empty(shape, np.float16), np.empty(shape, np.float16)
    means[:, :, -1] = draws.c[:, -1] * draws.c_step[:, :, None]
    bias[:, -1], weight[:, -1] = draws.col_bias[:, -1], draws.col_weight[:, -1]
    usual = np.diff(training.indptr)
    for user in range(new.n_users):
        items, value, level = _ratings_of(new, user, standard)
        drawn = np.empty(draws.lam.shape, np.float32), np.empty(len(draws)), np.empty(len(draws))
        fold_col(
            rng,
            value,
            level,
            draws.z[:, items],
            draws.share,
            column_features(np.array([len(items)]), usual)[0],
            draws.eta.astype(np.float32),
            draws.omega.astype(np.float32),
            draws.tau,
            draws.row_bias[:, items].astype(np.float32),
            draws.row_weight[:, items].astype(np.float32),
            draws.scalars[:, 1],
            _noise(draws),
            _closed(draws.cuts),
            draws.ordinal,
            *drawn,
        )
        means[:, :, user], bias[:, user], weight[:, user] = drawn[0], drawn[1], np.minimum(drawn[2], 6e4)
    packed = [in_steps(one) for one in means]
    c, steps = (np.stack(part) for part in zip(*packed, strict=True))
    return replace(draws, c=c, c_step=steps, col_bias=bias, col_weight=weight)


def _ratings_of(matrix: RatingMatrix, user: int, standard: Standard) -> tuple[Ints, Floats, Ints]:
    place = slice(matrix.indptr[user], matrix.indptr[user + 1])
    values = matrix.values[place]
    return matrix.items_of[place].astype(np.int64), standard.values(values), matrix.scale.nearest(values)


def _noise(draws: Draws) -> Floats:
    """The Gamma prior of a user's noise precision in every kept sweep, (S, 2)."""
    return np.column_stack([np.full(len(draws), USER_NOISE_SHAPE), draws.scalars[:, 2]]).astype(np.float64)


def _closed(cuts: Floats) -> Floats:
    ends = np.full((len(cuts), 1), np.inf)
    return np.concatenate([-ends, cuts, ends], axis=1)


def _logit(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1.0 - p)))


def rated_log_odds(
    draws: Mapping[bool, Draws],
    trained: Mapping[bool, Draws],
    matrix: RatingMatrix,
    training: RatingMatrix,
    users: Ints,
    items: Ints,
) -> Floats:
    """The log-odds that each user rates each item: the item's own, moved by how the classes of both sides rate.

    logit p_i + ``RATED_POWER`` * sum_h [logit p[h, i, z_h] - logit p_i], averaged over some kept sweeps; with items
    as rows the rate is that of the user's column under the item's class. ``draws`` hold the users of ``matrix``,
    ``trained`` those of ``training`` (they differ where users were folded in).
    """
    popularity = np.bincount(training.items_of, minlength=training.n_items)
    item_odds = _logit(np.append((popularity + 0.5) / (training.n_users + 1.0), 0.5 / (training.n_users + 1.0)))
    moved = np.zeros(len(users))
    count = 0
    for user_rows, one in draws.items():
        rows, cols = (users, items) if user_rows else (items, users)
        sweeps = np.unique(np.linspace(0, len(one) - 1, _RATED_SWEEPS).astype(int))
        known, place = np.unique(cols, return_inverse=True)
        pointer, holders = _raters(training) if user_rows else (matrix.indptr, matrix.items_of)
        rates = _rates(trained[user_rows], pointer, holders, np.maximum(known, 0), sweeps)
        for s, rate in zip(sweeps, rates, strict=True):
            table = _logit(rate)
            table -= (table * one.lam[s]).sum(axis=2, keepdims=True)
            table[known < 0] = 0.0
            classes = one.z[s][rows]
            for h in range(classes.shape[1]):
                moved += table[place, h, classes[:, h]]
            count += 1
    return np.asarray(item_odds[items] + RATED_POWER * moved / max(count, 1))


def _raters(matrix: RatingMatrix) -> tuple[Ints, Codes]:
    """The users of every item: pointer and codes, as the matrix holds the items of every user."""
    order = np.argsort(matrix.items_of, kind="stable")
    pointer = np.append(0, np.bincount(matrix.items_of, minlength=matrix.n_items).cumsum())
    return pointer.astype(np.int64), matrix.user_codes()[order]


def _rates(draws: Draws, pointer: Ints, holders: Codes, cols: Ints, sweeps: Ints) -> Floats:
    """p[h, i, s] of some columns, given the rows that hold each, under some kept sweeps: (sweeps, columns, H, K)."""
    rates = np.empty((len(sweeps), len(cols), *draws.lam.shape[1:]))
    for place, s in enumerate(sweeps):
        class_rates(pointer, holders, draws.z[s, :-1], draws.lam.shape[2], cols, rates[place])
    return rates
