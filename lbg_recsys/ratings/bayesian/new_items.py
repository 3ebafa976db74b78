"""A new item of Bayesian LBG: drawn into every kept sweep, as a row where items are rows and else as a column."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.gibbs.amounts import Amounts, column_features
from lbg_recsys.core.gibbs.class_rates import class_logits
from lbg_recsys.core.gibbs.draws import Draws, in_half, in_steps, part, single
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.new_rows import (
    KeptColumns,
    NewColumn,
    NewPrior,
    NewRow,
    draw_new_column,
    draw_new_row,
    new_ratings,
)
from lbg_recsys.core.types import Floats
from lbg_recsys.ratings.bayesian.new_users import kept_factors, kept_rows
from lbg_recsys.ratings.bayesian.standardise import INDICATOR_WEIGHT, Standard
from lbg_recsys.ratings.matrix import RatingMatrix


class NewItem:
    """The last item of ``matrix``, whose other entries are those that ``draws`` were made from.

    ``known`` (items, E) are the features of all items.

    How many ratings it will have is unknown: amount, bias and shares of classes are a priori the averages of all
    items, weighted by their ratings: the few ratings so far would make it look like a rarely rated, bad item.
    """

    def __init__(
        self,
        draws: Mapping[Side, Draws],
        matrix: RatingMatrix,
        standard: Standard,
        known: npt.NDArray[np.float32],
    ) -> None:
        self._draws, self._matrix, self._known = draws, matrix, known
        own = matrix.rows.transposed.part(matrix.n_items - 1, matrix.n_items)
        self._users = own.columns.astype(np.int64)
        level = matrix.scale.nearest(own.values).astype(np.int16)
        self._ratings = new_ratings(
            np.arange(len(self._users)), standard.values(own.values), level, len(matrix.scale.levels)
        )

    def draw(self, seed: np.random.SeedSequence) -> dict[Side, Draws]:
        """The kept sweeps with the new item after the items that they have."""
        streams = {side: np.random.default_rng(one) for side, one in zip(Side, seed.spawn(2), strict=True)}
        return {
            side: self._as_row(streams[side]) if side is Side.ITEMS else self._as_column(streams[side])
            for side in self._draws
        }

    def _as_row(self, rng: np.random.Generator) -> Draws:
        draws = self._draws[Side.ITEMS]
        n, bias, weight, no_cuts = len(draws), *_empty(draws)
        factors = np.empty((n, draws.row_factor.shape[2]), np.float32)
        out = NewRow(np.empty((n, draws.z.shape[2]), np.int8), factors, bias, weight, no_cuts)
        (_, amount), known = self._usual_features(), self._known[-1]
        near = kept_factors(draws, True, self._users, self._ratings.items, amount, known)
        draw_new_row(rng, self._ratings, self._kept_columns(draws), near, self._prior(draws, draws.row_tau), out)
        return replace(
            draws,
            z=_inserted(draws.z, out.z),
            row_factor=_inserted(draws.row_factor, _in_steps(factors, draws.steps.row_factor)),
            col_push=_inserted(draws.col_push, draws.col_push[:, -1]),
            row_bias=_inserted(draws.row_bias, (bias + self._usual_bias(draws)).astype(np.float16)),
            row_weight=_inserted(draws.row_weight, in_half(weight)),
        )

    def _as_column(self, rng: np.random.Generator) -> Draws:
        draws = self._draws[Side.USERS]
        n, bias, weight, no_cuts = len(draws), *_empty(draws)
        factors = np.empty((n, draws.col_factor.shape[2]), np.float32)
        out = NewColumn(np.empty((n, *draws.c.shape[2:]), np.float32), factors, bias, weight, no_cuts)
        constant, amount = self._usual_features()
        features = np.append([constant, amount], self._known[-1]).astype(np.float32)
        rows, prior = kept_rows(draws, self._users), self._prior(draws, draws.col_tau)
        near = kept_factors(draws, False, self._users, self._ratings.items, amount, self._known[-1])
        draw_new_column(rng, self._ratings, features, rows, near, prior, out)
        # in the steps of the other items, and no further from 0 than the furthest of them
        steps = np.rint(out.c / draws.c_step[:, :, np.newaxis]).clip(-127, 127).astype(np.int8)
        return replace(
            draws,
            c=_inserted(draws.c, steps),
            col_factor=_inserted(draws.col_factor, _in_steps(factors, draws.steps.col_factor)),
            row_push=_inserted(draws.row_push, draws.row_push[:, -1]),
            col_bias=_inserted(draws.col_bias, bias.astype(np.float16)),
            col_weight=_inserted(draws.col_weight, in_half(weight)),
        )

    def _usual_features(self) -> Floats:
        """A constant and the amount of ratings that a rating's item has on average."""
        amounts = self._matrix.rows.column_counts()[:-1]
        return np.asarray(np.average(column_features(amounts, Amounts.of(amounts)), axis=0, weights=amounts))

    def _usual_bias(self, draws: Draws) -> npt.NDArray[np.float32]:
        """The mean bias of items, weighted by their ratings, if they had the features of the new one, (S,)."""
        amounts = self._matrix.rows.column_counts()[:-1]
        biases, share = draws.row_bias[:, :-1].astype(np.float32), amounts / amounts.sum()
        moved = draws.beta.astype(np.float32) @ (self._known[-1] - share @ self._known[:-1])
        return np.asarray(biases @ share + moved, np.float32)

    def _kept_columns(self, draws: Draws) -> KeptColumns:
        """The users who rated the item as columns, and the evidence of these ratings about the item's classes."""
        users, (n_sweeps, n_components, k) = self._users, draws.lam.shape
        evidence = np.empty((n_sweeps, len(users), n_components, k - 1), np.int8)
        steps = np.empty((n_sweeps, n_components), np.float32)
        known = self._matrix.rows.filtered(self._matrix.item_codes < self._matrix.n_items - 1)
        logits = np.empty((len(users), n_components, k), np.float32)
        for s, classes in enumerate(draws.z):
            class_logits(known.indptr, known.columns, classes[:-1], users, logits)
            difference = logits[:, :, 1:] - logits[:, :, :1]
            evidence[s], steps[s] = in_steps(INDICATOR_WEIGHT[Side.ITEMS] * difference.swapaxes(0, 1))
        with np.errstate(divide="ignore"):  # in place of log(0), for a class without items
            base = np.log(draws.share).astype(np.float64)
        bias, weight = single(draws.col_bias, users), single(draws.col_weight, users)
        bias += self._usual_bias(draws)[:, np.newaxis]
        return KeptColumns(part(draws.c, users), draws.c_step, evidence, steps, base, bias, weight)

    def _prior(self, draws: Draws, tau: npt.NDArray[np.float32]) -> NewPrior:
        """The priors of the item, ``tau`` (S,) being the precisions of items' biases; cut points are its raters'."""
        cuts, owner = draws.cuts_of(self._users)
        ends = np.full((len(draws), len(self._users), 1), np.inf, np.float32)
        own = np.concatenate([-ends, cuts.take(owner, axis=1), ends], axis=2).astype(np.float32)
        shape = draws.item_noise_shape.astype(np.float64)
        no_cut_tau = np.empty((len(draws), 0), np.float32)
        common = np.concatenate([-ends[:, 0], draws.cuts, ends[:, 0]], axis=1).astype(np.float64)
        rater_cuts = np.ascontiguousarray(own.swapaxes(1, 2))
        return NewPrior(tau, shape, shape, common, no_cut_tau, draws.ordinal, rater_cuts)


def _in_steps(factors: npt.NDArray[np.float32], step: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """The factors (S, R) of one item in the steps of the others, and no further from 0 than the furthest of them."""
    return np.asarray(np.rint(factors / step).clip(-127, 127), np.int8)


def _empty(draws: Draws) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Room for the biases and noise weights of one new row or column, and for no cut points."""
    n = len(draws)
    return np.empty(n, np.float32), np.empty(n, np.float32), np.empty((n, 0), np.float32)


def _inserted(known: npt.NDArray[np.generic], new: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """``new`` (S, ...) before the last of ``known`` (S, n, ...), which is the row or column without entries."""
    return np.concatenate([known[:, :-1], new[:, np.newaxis], known[:, -1:]], axis=1)
