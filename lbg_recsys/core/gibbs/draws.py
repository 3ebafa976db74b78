"""Kept sweeps of chains, in a compact form.

The Monte Carlo error of a kept sweep is larger than the rounding here: class means are stored in steps of 1/31 of
the largest mean of their component, one byte each, and biases and noise precisions in half precision. The last row
and the last column of every array stand for a row or column without entries (code -1) and are drawn from the priors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.types import Array

# The steps from zero to the largest class mean of a component. On held-out ratings of three data sets, RMSE and log
# loss differ by less than 0.0001 from those with 127 steps, and the model file is a sixth smaller.
STEPS = 31.0
# The same for factors and for expected factors, which are averages over many pushes.
FACTOR_STEPS, PUSH_STEPS = 31.0, 7.0
# The smallest positive number of half precision, and a round number below its largest.
SMALLEST, LARGEST = float(np.nextafter(0, 1, dtype=np.float16)), 6e4
_LARGEST_SINGLE = 3e38  # the same for single precision
_SMALL = 1 << 19  # bytes that are copied in less time than it takes to go through the sweeps


# The arrays of `Draws` whose second axis is the rows, and those whose second axis is the columns.
_OF_ROWS_AND_COLUMNS = (
    ("z", "row_bias", "row_weight", "row_factor", "col_push"),
    ("c", "col_bias", "col_weight", "col_factor", "row_push"),
)


class PairCuts(NamedTuple):
    """The cut points of n users, and which of the n users every pair has."""

    cuts: Array  # (S, n, levels - 1)
    owner: Array  # (pairs,)


class FactorSteps(NamedTuple):
    """The units of factors and pushes, (S, R) each; see `Draws`."""

    row_factor: Array
    col_factor: Array
    row_push: Array
    col_push: Array

    def stacked(self) -> Array:
        """As `Draws.factor_step` has them, (S, 4, R)."""
        return np.stack(self, axis=1)


class FactorPrior(NamedTuple):
    """What is expected of the factors of rows, or of columns, and how far they are from it."""

    constant: Array  # (S, R)
    slope: Array  # (S, R): by the standardised amount of entries
    push: Array  # (S, partners + 1, R) int8
    push_step: Array  # (S, R)
    beta: Array  # (S, R, E): by features
    tau: Array  # (S, R): precisions


@dataclass(frozen=True)
class Draws:
    """Kept sweeps of chains with the same rows, along the first axis of every array; see `Chain` for the names.

    S is the number of sweeps, H the number of components, K that of classes, R that of factors and D that of features
    of a column.
    ``c_step`` is the unit of ``c``. ``share`` is the share of every class among the entries, and ``base`` the
    constant part of the indicator evidence; new rows and columns need them and the fields below them.
    """

    z: Array  # (S, rows + 1, H) int8
    c: Array  # (S, columns + 1, H, K) int8
    c_step: Array  # (S, H) float32
    row_bias: Array  # (S, rows + 1) float16
    col_bias: Array  # (S, columns + 1) float16
    row_weight: Array  # (S, rows + 1) float16
    col_weight: Array  # (S, columns + 1) float16
    cuts: Array  # (S, levels - 1) float32
    ordinal: Array  # (S,) bool: which sweeps have an ordinal likelihood
    lam: Array  # (S, H, K) float32
    tau: Array  # (S, H) float32
    eta: Array  # (S, H, K, D) float16
    omega: Array  # (S, D) float16
    share: Array  # (S, H, K) float32
    base: Array  # (S, H, K) float32
    row_tau: Array  # (S,) float32
    col_tau: Array  # (S,) float32
    noise_rate: Array  # (S,) float32
    noise_shape: Array  # (S, 2) float32: of the noise precisions of users, and of items
    beta: Array  # (S, E) float16: coefficients of the E features of the rows, which are expected of their biases
    own_cuts: Array  # (S, users + 1, levels - 1) float16: those of each user; (S, users + 1, 0) if all have ``cuts``
    cut_tau: Array  # (S, levels - 1) float32: precisions of what users add to each; (S, 0) if all have ``cuts``
    occasion: Array  # (S, n) int8: effects of n occasions of the ratings, in units of ``occasion_step``
    occasion_step: Array  # (S,) float32
    occasion_tau: (
        Array  # (S, kinds) float32: precisions of the effects of each kind of occasion, (S, 0) without times
    )
    row_factor: Array  # (S, rows + 1, R) int8: those of `lbg_recsys.core.gibbs.factors`, R = 0 if there are none
    col_factor: Array  # (S, columns + 1, R) int8
    row_push: Array  # (S, columns + 1, R) int8: what each column adds to the expected factors of its rows
    col_push: Array  # (S, rows + 1, R) int8
    factor_step: Array  # (S, 4, R) float32: the units of the four above, in their order; see `steps`
    # constant and slope of what is expected of a row's factors, and then of a column's, besides; see `factor_prior`
    factor_line: Array  # (S, 4, R) float32
    factor_tau: Array  # (S, 2, R) float32: the precisions of the factors of rows, and of columns; see `factor_prior`
    row_factor_beta: Array  # (S, R, E) float16: coefficients of the features of rows in their expected factors
    col_factor_beta: Array  # (S, R, E) float16: of the features of columns in theirs

    def __len__(self) -> int:
        return len(self.z)

    @property
    def shaping(self) -> Array:
        """The sweeps whose level distributions are averaged, (S,) bool: the ordinal ones, or all if none is ordinal.

        A Gaussian that is cut into levels cannot be as skewed as ratings are. Gaussian sweeps predict the mean best.
        """
        return self.ordinal if self.ordinal.any() else np.ones(len(self), np.bool_)

    def cuts_of(self, users: Array) -> PairCuts:
        """The cut points of some users; a user may occur several times."""
        if not self.own_cuts.shape[2]:
            return PairCuts(self.cuts[:, np.newaxis], np.zeros(len(users), np.int64))
        known, owner = distinct(np.where(users < 0, self.own_cuts.shape[1] - 1, users))
        return PairCuts(single(self.own_cuts, known), owner)

    @property
    def steps(self) -> FactorSteps:
        """The units of the factors and of the pushes."""
        return FactorSteps(*np.moveaxis(self.factor_step, 1, 0))

    @property
    def product_step(self) -> Array:
        """The unit of the products of a row's and a column's factors, (S, R)."""
        return np.asarray(self.steps.row_factor * self.steps.col_factor)

    @property
    def user_noise_shape(self) -> Array:
        """The shape of the noise precisions of users, (S,)."""
        return self.noise_shape[:, 0]

    @property
    def item_noise_shape(self) -> Array:
        """The shape of the noise precisions of items, (S,)."""
        return self.noise_shape[:, 1]

    def factor_prior(self, of_rows: bool) -> FactorPrior:
        """What is expected of the factors of rows, or of columns."""
        row_constant, row_slope, col_constant, col_slope = np.moveaxis(self.factor_line, 1, 0)
        row_tau, col_tau = np.moveaxis(self.factor_tau, 1, 0)
        if of_rows:
            own = self.row_push, self.steps.row_push, self.row_factor_beta, row_tau
            return FactorPrior(row_constant, row_slope, *own)
        own = self.col_push, self.steps.col_push, self.col_factor_beta, col_tau
        return FactorPrior(col_constant, col_slope, *own)

    def expected_factors(self, of_rows: bool, partners: Array, amount: float, known: Array) -> Array:
        """What is expected of the factors of a row (column) with entries with these columns (rows), (S, R) float32.

        ``amount`` is the `standard_amount` of its entries, ``known`` (E,) are its features.
        """
        prior = self.factor_prior(of_rows)
        ones = np.ones(len(partners), np.float32)  # a product is faster than a sum, and exact for whole numbers
        pushed = ones @ part(prior.push, partners).astype(np.float32) * prior.push_step
        line = prior.constant + prior.slope * np.float32(amount) + self.known_factors(of_rows, known)
        return np.asarray(line + pushed / np.float32(max(len(partners), 1) ** 0.5))

    def known_factors(self, of_rows: bool, known: Array) -> Array:
        """What features (..., E) of a row (column) add to its expected factors, (S, ..., R) float32."""
        beta = self.factor_prior(of_rows).beta
        found = np.einsum("sre,...e->s...r", beta.astype(np.float32), known.astype(np.float32), optimize=False)
        return np.asarray(found)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    def some(self, most: int) -> list[int]:
        """The numbers of at most ``most`` sweeps, evenly spaced over all chains."""
        return sorted({int(s) for s in np.linspace(0, len(self) - 1, most)})

    def thinned(self, most: int) -> "Draws":
        """At most ``most`` of the sweeps, evenly spaced; what belongs to rows or columns shares the memory."""
        step = -(-len(self) // most)
        if step <= 1:
            return self
        shared = {name for side in _OF_ROWS_AND_COLUMNS for name in side} | {"own_cuts", "occasion"}
        parts = {field.name: getattr(self, field.name)[::step] for field in fields(self)}
        # kernels take the others as they are, and were compiled for contiguous ones
        return Draws(**{name: part if name in shared else np.ascontiguousarray(part) for name, part in parts.items()})

    def without(self, side: Side, rows_of: Side) -> "Draws":
        """Without the known users or items, ``rows_of`` being whose sweeps these are: the unknown one stays."""
        of_rows, of_columns = _OF_ROWS_AND_COLUMNS
        names = list(of_rows if side is rows_of else of_columns)
        if side is Side.USERS:
            names.append("own_cuts")
        parts = {name: np.ascontiguousarray(getattr(self, name)[:, -1:]) for name in names}
        # occasions belong to users too: the times of ratings are as private as the ratings
        return replace(self, **parts, occasion=self.occasion[:, :0], occasion_tau=self.occasion_tau[:, :0])

    def pieces(self) -> list["Draws"]:
        """Each kept sweep by itself, sharing the memory."""
        return [Draws(*(getattr(self, field.name)[s : s + 1] for field in fields(self))) for s in range(len(self))]

    @staticmethod
    def joined(parts: Sequence["Draws"]) -> "Draws":
        """The sweeps of several chains with the same rows, one after another."""
        return Draws(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Draws)))


def cuts_in_single(cuts: Array) -> Array:
    """Cut points in single precision; the cut point below a level that is far from all ratings is clipped."""
    return np.clip(cuts, -_LARGEST_SINGLE, _LARGEST_SINGLE).astype(np.float32)


def cuts_in_half(cuts: Array) -> Array:
    """Cut points in half precision; those of a level far from all others are clipped, where no utility ever is."""
    return np.clip(cuts, -LARGEST, LARGEST).astype(np.float16)


def in_half(weight: Array) -> Array:
    """Noise precisions in half precision, clipped to its positive numbers."""
    return np.clip(weight, SMALLEST, LARGEST).astype(np.float16)


def distinct(codes: Array) -> tuple[Array, Array]:
    """The distinct codes, and the place of every code among them; the pairs of one list all have the same user."""
    if len(codes) and (codes == codes[0]).all():
        return codes[:1], np.zeros(len(codes), np.int64)
    known, place = np.unique(codes, return_inverse=True)
    return known, place


def part(array: Array, codes: Array) -> Array:
    """Some of the rows or columns along the second axis, contiguous.

    >>> part(np.arange(12).reshape(4, 3)[::2], np.array([0, -1])).tolist()
    [[0, 2], [6, 8]]
    """
    first, n = (int(codes[0]), len(codes)) if len(codes) else (0, 0)
    if n > 1 and first >= 0 and codes[-1] - first == n - 1 and (codes[1:] > codes[:-1]).all():
        return np.ascontiguousarray(array[:, first : first + n])
    if array.flags.c_contiguous or array.nbytes < _SMALL:
        return array.take(codes, axis=1)
    # `take` copies all of an array that is not contiguous first, as those of `Draws.thinned` are not
    out = np.empty((len(array), n, *array.shape[2:]), array.dtype)
    for sweep, own in zip(array, out, strict=True):
        sweep.take(codes, axis=0, out=own, mode="wrap")
    return out


def single(effect: Array, codes: Array) -> Array:
    """Some columns of an array in half precision, in single precision: kernels cannot read half precision."""
    return part(effect, codes).astype(np.float32)


def factors_in_steps(value: Array, largest: float = FACTOR_STEPS) -> tuple[Array, Array]:
    """Factors (..., n, R) as whole numbers of steps, int8, and the steps (..., R); ``largest`` is the largest one."""
    steps = np.maximum(np.abs(value).max(axis=-2, initial=0.0), 1e-6) / largest
    return np.rint(value / steps[..., np.newaxis, :]).astype(np.int8), steps.astype(np.float32)


def in_steps(c: Array) -> tuple[Array, Array]:
    """Means (..., H, columns, K) as whole numbers of steps (..., columns, H, K), and the steps (..., H)."""
    steps = np.maximum(np.abs(c).max(axis=(-2, -1)), 1e-6) / STEPS
    counts = np.rint(c / steps[..., None, None]).astype(np.int8)
    return np.ascontiguousarray(counts.swapaxes(-3, -2)), steps.astype(np.float32)
