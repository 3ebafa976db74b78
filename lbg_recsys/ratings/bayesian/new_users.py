"""New users of Bayesian LBG: drawn into every kept sweep, as a row where users are rows and as a column elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.gibbs.chain import USER_NOISE_SHAPE, column_features
from lbg_recsys.core.gibbs.class_rates import class_logits
from lbg_recsys.core.gibbs.draws import Draws, cuts_in_half, in_half, in_steps, single
from lbg_recsys.core.gibbs.new_rows import fold_col, fold_row
from lbg_recsys.core.types import Ints
from lbg_recsys.ratings.bayesian.standardise import INDICATOR_WEIGHT, Standard
from lbg_recsys.ratings.matrix import RatingMatrix

Arrays = tuple[npt.NDArray[Any], ...]
Rated = tuple[int, np.random.Generator, Arrays]  # a user, its random stream and its ratings


class NewUsers:
    """Draws new users into kept sweeps.

    Whatever is taken from the sweeps is taken for the items that the new users have rated, and let go when they are
    drawn. What is prepared for the first one and held is the evidence that rating an item at all is for each class, a
    byte each: it takes a pass over the ratings per kept sweep. A pickle leaves it out.
    """

    def __init__(self, draws: Mapping[bool, Draws], training: RatingMatrix, standard: Standard) -> None:
        self._draws, self.training, self.standard = draws, training, standard

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._draws, self.training, self.standard)

    def item_logits(self, items: Ints) -> Iterator[npt.NDArray[np.float32]]:
        """By kept sweep with users as rows: the `class_logits` of some items, (items, H, K), in the same array."""
        z, users = self._draws[True].z, self.training.rows.transposed  # of each item, who rated it
        logits = np.empty((len(items), *self._draws[True].lam.shape[1:]), np.float32)
        for classes in z:
            class_logits(users.indptr, users.columns, classes[:-1], items, logits)
            yield logits

    @cached_property
    def _evidence(self) -> Arrays:
        """The weighted logits of all items' rates less those of class 0, (S, items, H, K - 1), in steps (S, H)."""
        items, (n_sweeps, n_components, k) = np.arange(self.training.n_items), self._draws[True].lam.shape
        evidence = np.empty((n_sweeps, len(items), n_components, k - 1), np.int8)
        steps = np.empty((n_sweeps, n_components), np.float32)
        for s, logits in enumerate(self.item_logits(items)):
            difference = logits[:, :, 1:] - logits[:, :, :1]
            evidence[s], steps[s] = in_steps(INDICATOR_WEIGHT[True] * difference.swapaxes(0, 1))
        return evidence, steps

    def draw(self, new: RatingMatrix, seed: np.random.SeedSequence) -> dict[bool, Draws]:
        """The kept sweeps with the users of another matrix in the place of the training users.

        Every user has a random stream of its own: its draws do not depend on those who come after it, but for the
        rounding of class means, the steps of which all share. Without ratings a user is what the unknown one is.
        """
        streams = [np.random.default_rng(one) for one in seed.spawn(new.n_users)]
        items, place = np.unique(new.rows.columns.astype(np.int64), return_inverse=True)
        value, level = self.standard.values(new.values), new.scale.nearest(new.values)
        rated: list[Rated] = []
        for user in np.flatnonzero(new.rows.lengths).tolist():
            own = slice(*new.rows.indptr[user : user + 2])
            rated.append((user, streams[user], (place[own], value[own], level[own])))
        return {
            user_rows: self._as_rows(new, items, rated) if user_rows else self._as_columns(new, items, rated)
            for user_rows in self._draws
        }

    def _as_rows(self, new: RatingMatrix, items: Ints, rated: Sequence[Rated]) -> Draws:
        draws = self._draws[True]
        unknown = draws.z[:, -1:], *_in_single([-1], draws.row_bias, draws.row_weight)
        z, bias, weight = (np.repeat(one, new.n_users + 1, axis=1) for one in unknown)
        cuts = _unknown_cuts(draws, new.n_users + 1)
        given = self._given_to_row(items) if rated else ()
        for user, rng, ratings in rated:
            arguments: Arrays = (*ratings, *given, z[:, user], bias[:, user], weight[:, user], cuts[:, user])
            fold_row(rng, *arguments)
        effects = {"row_bias": bias.astype(np.float16), "row_weight": in_half(weight)}
        return replace(draws, z=z, **effects, own_cuts=cuts_in_half(cuts))

    def _as_columns(self, new: RatingMatrix, items: Ints, rated: Sequence[Rated]) -> Draws:
        draws = self._draws[False]
        unknown = draws.c[:, -1] * draws.c_step[:, :, np.newaxis], *_in_single([-1], draws.col_bias, draws.col_weight)
        means = np.repeat(unknown[0][:, :, np.newaxis], new.n_users + 1, axis=2)
        bias, weight = (np.repeat(one, new.n_users + 1, axis=1) for one in unknown[1:])
        cuts = _unknown_cuts(draws, new.n_users + 1)
        features = column_features(new.rows.lengths, self.training.rows.lengths).astype(np.float32)
        given = _given_to_column(draws, items) if rated else ()
        for user, rng, ratings in rated:
            drawn = means[:, :, user], bias[:, user], weight[:, user], cuts[:, user]
            arguments: Arrays = (*ratings, features[user], *given, *drawn)
            fold_col(rng, *arguments)
        c, steps = in_steps(means)
        effects = {"col_bias": bias.astype(np.float16), "col_weight": in_half(weight)}
        return replace(draws, c=c, c_step=steps, **effects, own_cuts=cuts_in_half(cuts))

    def _given_to_row(self, items: Ints) -> Arrays:
        """What `fold_row` takes of the kept sweeps."""
        draws = self._draws[True]
        with np.errstate(divide="ignore"):  # a class that nobody can have
            base = np.log(draws.lam) + draws.base
        evidence, steps = self._evidence
        columns = evidence.take(items, axis=1), steps, base, *_in_single(items, draws.col_bias, draws.col_weight)
        return draws.c.take(items, axis=1), draws.c_step, *columns, draws.scalars[:, 0], *_noise_and_cuts(draws)


def _given_to_column(draws: Draws, items: Ints) -> Arrays:
    """What `fold_col` takes of the kept sweeps."""
    priors = draws.share, draws.eta.astype(np.float32), draws.omega.astype(np.float32), draws.tau
    rows = draws.z.take(items, axis=1), *priors, *_in_single(items, draws.row_bias, draws.row_weight)
    return *rows, draws.scalars[:, 1], *_noise_and_cuts(draws)


def _in_single(codes: npt.ArrayLike, *effects: npt.NDArray[np.float16]) -> Arrays:
    """The biases and noise precisions of some rows or columns, in single precision."""
    return tuple(single(effect, np.asarray(codes)) for effect in effects)


def _unknown_cuts(draws: Draws, n_users: int) -> npt.NDArray[np.float32]:
    """The common cut points for so many users, as `Draws` has everybody's own."""
    return np.repeat(draws.cuts[:, np.newaxis, : draws.own_cuts.shape[2]], n_users, axis=1)


def _noise_and_cuts(draws: Draws) -> Arrays:
    """The Gamma prior of a user's noise precision (S, 2); the common cuts with both ends; the precisions of what
    users add to them; and whether a sweep uses any of these.
    """
    noise = np.column_stack([np.full(len(draws), USER_NOISE_SHAPE), draws.scalars[:, 2]])
    ends = np.full((len(draws), 1), np.inf)
    return noise.astype(np.float64), np.concatenate([-ends, draws.cuts, ends], axis=1), draws.cut_tau, draws.ordinal
