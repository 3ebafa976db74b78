"""New users of Bayesian LBG: drawn into every kept sweep, as a row where users are rows and as a column elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.caches import WithoutCaches
from lbg_recsys.core.gibbs.amounts import column_features, standard_amount
from lbg_recsys.core.gibbs.draws import Draws, cuts_in_half, factors_in_steps, in_half, in_steps, part, single
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.new_factors import KeptFactors
from lbg_recsys.core.gibbs.new_rows import (
    KeptColumns,
    KeptRows,
    NewColumn,
    NewPrior,
    NewRatings,
    NewRow,
    draw_new_column,
    draw_new_row,
    new_ratings,
)
from lbg_recsys.core.types import Ints
from lbg_recsys.ratings.bayesian.item_rates import ItemRates
from lbg_recsys.ratings.bayesian.standardise import Standard
from lbg_recsys.ratings.matrix import RatingMatrix


@dataclass(frozen=True)
class _NewUser:
    """A new user with at least one rating: code, random stream and ratings."""

    code: int
    rng: np.random.Generator
    ratings: NewRatings


class NewUsers(WithoutCaches):
    """Draws new users into kept sweeps.

    The parts of the sweeps that are copied are those of the items that the new users have rated; they are released
    when the users are drawn.
    """

    def __init__(
        self, draws: Mapping[Side, Draws], training: RatingMatrix, standard: Standard, rates: ItemRates
    ) -> None:
        self._draws, self.training, self.standard, self.rates = draws, training, standard, rates

    @cached_property
    def _eta(self) -> npt.NDArray[np.float32]:
        """What features add to class means, in single precision: the conversion took 10% of a new user's list."""
        return self._draws[Side.ITEMS].eta.astype(np.float32)

    def draw(
        self, new: RatingMatrix, known: npt.NDArray[np.float32], seed: np.random.SeedSequence
    ) -> dict[Side, Draws]:
        """The kept sweeps with the users of another matrix instead of the training users.

        ``known`` (users, E) are their features.

        Every user has its own random stream: its draws do not depend on the users after it, except for the rounding
        of class means, whose steps all users share. A user without ratings has the parameters of the unknown user.
        """
        streams = [np.random.default_rng(one) for one in seed.spawn(new.n_users)]
        items, code = np.unique(new.rows.columns.astype(np.int64), return_inverse=True)
        value, level = self.standard.values(new.values), new.scale.nearest(new.values).astype(np.int16)
        users: list[_NewUser] = []
        for user in np.flatnonzero(new.rows.lengths).tolist():
            own = slice(*new.rows.indptr[user : user + 2])
            ratings = new_ratings(code[own], value[own], level[own], len(new.scale.levels))
            users.append(_NewUser(user, streams[user], ratings))
        return {
            side: (self._as_rows if side is Side.USERS else self._as_columns)(new, known, items, users)
            for side in self._draws
        }

    def _as_rows(
        self, new: RatingMatrix, known: npt.NDArray[np.float32], items: Ints, users: Sequence[_NewUser]
    ) -> Draws:
        draws, n = self._draws[Side.USERS], new.n_users + 1
        # everybody begins as the unknown user, who is the last row
        z = np.repeat(draws.z[:, -1:], n, axis=1)
        bias, weight = _unknown(draws.row_bias, n), _unknown(draws.row_weight, n)
        cuts, expected = _unknown_cuts(draws, n), draws.beta.astype(np.float32) @ known.T
        factors = _unknown_factors(draws.row_factor, draws.steps.row_factor, n)
        factors[:, :-1] += draws.known_factors(True, known)
        if users:
            columns, prior = self._kept_columns(items), _prior(draws, draws.row_tau)
            amount = standard_amount(new.rows.lengths, self.training.crowd.amounts)
            for user in users:
                own = user.code
                near = kept_factors(draws, True, items, user.ratings.items, amount[own], known[own])
                out = NewRow(z[:, own], factors[:, own], bias[:, own], weight[:, own], cuts[:, own])
                # the draw is that of a bias whose expected value is 0: what is expected of it joins the items'
                shifted = columns._replace(bias=columns.bias + expected[:, own, np.newaxis])
                draw_new_row(user.rng, user.ratings, shifted, near, prior, out)
        bias[:, :-1] += expected
        effects = {"row_bias": bias.astype(np.float16), "row_weight": in_half(weight)}
        row_factor, step = factors_in_steps(factors)
        steps = draws.steps._replace(row_factor=step).stacked()
        return replace(draws, z=z, **effects, own_cuts=cuts_in_half(cuts), row_factor=row_factor, factor_step=steps)

    def _as_columns(
        self, new: RatingMatrix, known: npt.NDArray[np.float32], items: Ints, users: Sequence[_NewUser]
    ) -> Draws:
        draws, n = self._draws[Side.ITEMS], new.n_users + 1
        # everybody begins as the unknown user, who is the last column
        unknown = draws.c[:, -1] * draws.c_step[:, :, np.newaxis]
        means = np.repeat(unknown[:, :, np.newaxis], n, axis=2)
        bias, weight = _unknown(draws.col_bias, n), _unknown(draws.col_weight, n)
        cuts = _unknown_cuts(draws, n)
        factors = _unknown_factors(draws.col_factor, draws.steps.col_factor, n)
        if width := known.shape[1]:
            bias[:, :-1] += draws.omega[:, -width:].astype(np.float32) @ known.T
            means[:, :, :-1] += np.swapaxes(draws.eta[..., -width:].astype(np.float32) @ known.T, 2, 3)
            factors[:, :-1] += draws.known_factors(False, known)
        if users:
            features = column_features(new.rows.lengths, self.training.crowd.amounts, known).astype(np.float32)
            amount = standard_amount(new.rows.lengths, self.training.crowd.amounts).astype(np.float32)
            rows, prior = kept_rows(draws, items, self._eta), _prior(draws, draws.col_tau)
            for user in users:
                own = user.code
                near = kept_factors(draws, False, items, user.ratings.items, float(amount[own]), known[own])
                out = NewColumn(means[:, :, own], factors[:, own], bias[:, own], weight[:, own], cuts[:, own])
                draw_new_column(user.rng, user.ratings, features[own], rows, near, prior, out)
        c, steps = in_steps(means)
        col_factor, step = factors_in_steps(factors)
        factor_step = draws.steps._replace(col_factor=step).stacked()
        effects = {"col_bias": bias.astype(np.float16), "col_weight": in_half(weight)}
        return replace(
            draws,
            c=c,
            c_step=steps,
            **effects,
            own_cuts=cuts_in_half(cuts),
            col_factor=col_factor,
            factor_step=factor_step,
        )

    def _kept_columns(self, items: Ints) -> KeptColumns:
        draws, (evidence, steps) = self._draws[Side.USERS], self.rates.evidence
        with np.errstate(divide="ignore"):  # in place of log(0), for a class without users
            base = (np.log(draws.lam) + draws.base).astype(np.float64)
        return KeptColumns(
            part(draws.c, items),
            draws.c_step,
            part(evidence, items),
            steps,
            base,
            single(draws.col_bias, items),
            single(draws.col_weight, items),
        )


def kept_rows(draws: Draws, items: Ints, eta: npt.NDArray[np.float32] | None = None) -> KeptRows:
    """What a new column needs of some rows; ``eta`` is that of the draws, if it is at hand in single precision."""
    return KeptRows(
        part(draws.z, items),
        draws.share,
        draws.eta.astype(np.float32) if eta is None else eta,
        draws.omega.astype(np.float32),
        draws.tau,
        single(draws.row_bias, items),
        single(draws.row_weight, items),
    )


def kept_factors(
    draws: Draws, of_row: bool, partners: Ints, own: Ints, amount: float, known: npt.NDArray[np.float32]
) -> KeptFactors:
    """What the factors of a new row (or column) need of some columns (rows), of which ``own`` are those it rates.

    ``amount`` is the `standard_amount` of its ratings, ``known`` (E,) are its features.
    """
    others, step = draws.row_factor, draws.steps.row_factor
    if of_row:
        others, step = draws.col_factor, draws.steps.col_factor
    return KeptFactors(
        part(others, partners),
        np.ascontiguousarray(step),
        draws.expected_factors(of_row, partners[own], amount, known),
        np.ascontiguousarray(draws.factor_prior(of_row).tau),
    )


def _unknown_factors(kept: npt.NDArray[np.int8], step: npt.NDArray[np.float32], n: int) -> npt.NDArray[np.float32]:
    """The factors of the unknown row or column n times, (S, n, R)."""
    return np.repeat(kept[:, -1:] * step[:, np.newaxis], n, axis=1)


def _prior(draws: Draws, tau: npt.NDArray[np.float32]) -> NewPrior:
    """The priors of a new user, ``tau`` (S,) being the precisions of users' biases."""
    ends = np.full((len(draws), 1), np.inf)
    return NewPrior(
        tau,
        draws.user_noise_shape.astype(np.float64),
        draws.noise_rate.astype(np.float64),
        np.concatenate([-ends, draws.cuts, ends], axis=1),
        draws.cut_tau,
        draws.ordinal,
    )


def _unknown(effect: npt.NDArray[np.float16], n: int) -> npt.NDArray[np.float32]:
    """The last column, that of an unknown row or column, n times in single precision, (S, n)."""
    return np.repeat(single(effect, np.array([-1])), n, axis=1)


def _unknown_cuts(draws: Draws, n: int) -> npt.NDArray[np.float32]:
    """The common cut points n times, in the shape of ``own_cuts``."""
    return np.repeat(draws.cuts[:, np.newaxis, : draws.own_cuts.shape[2]], n, axis=1)
