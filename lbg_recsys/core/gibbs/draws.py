"""Kept sweeps of a chain, compact, and predictions from them.

A kept sweep is not one number more accurate than its own Monte Carlo error, so class means are stored in steps of
1/127 of their component's largest, one byte each, and biases and noise as half precision. The last row and the last
column of every array stand for the unknown (code -1): they come from the priors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numba import njit

from lbg_recsys.core.gibbs.chain import Chain, column_features
from lbg_recsys.core.gibbs.components import absence_evidence
from lbg_recsys.core.gibbs.normal import normal_cdf
from lbg_recsys.core.gibbs.ridge import FAST
from lbg_recsys.core.types import Array

# The numbers of half precision: the smallest that is not zero, and a round one below the largest.
SMALLEST, _MOST = float(np.nextafter(0, 1, dtype=np.float16)), 6e4
_MOST_SINGLE = 3e38  # the same of single precision: the cut point below a level that is far from all ratings


@dataclass(frozen=True)
class Draws:
    """Kept sweeps along the first axis of every array; see `Chain` for the names.

    ``c_step`` is the unit of ``c``; ``share`` is q, the classes' shares among the entries, and ``base`` the
    constant part of the indicator evidence: they and the rest below serve new rows and columns.
    """

    z: Array  # (S, rows + 1, H) int8
    c: Array  # (S, columns + 1, H, K) int8
    c_step: Array  # (S, H) float32
    row_bias: Array  # (S, rows + 1) float16
    col_bias: Array  # (S, columns + 1) float16
    row_weight: Array  # (S, rows + 1) float16
    col_weight: Array  # (S, columns + 1) float16
    cuts: Array  # (S, levels - 1) float32
    ordinal: Array  # (S,) bool
    lam: Array  # (S, H, K) float32
    tau: Array  # (S, H) float32
    eta: Array  # (S, H, K, D) float16
    omega: Array  # (S, D) float16
    share: Array  # (S, H, K) float32
    base: Array  # (S, H, K) float32
    scalars: Array  # (S, 3) float32: row_tau, col_tau, noise_rate
    own_cuts: Array  # (S, users + 1, levels - 1) float16: those of each user; no columns where all have ``cuts``
    cut_tau: Array  # (S, levels - 1) float32: precisions of what users add to each; no columns either

    def __len__(self) -> int:
        return len(self.z)

    @property
    def shaping(self) -> Array:
        """Which sweeps give a distribution its shape: the ordinal ones, where there are any.

        A Gaussian cut into levels cannot be skewed as ratings are; what Gaussian sweeps know best is the mean.
        """
        return self.ordinal if self.ordinal.any() else np.ones(len(self), np.bool_)

    def cuts_of(self, users: Array) -> tuple[Array, Array]:
        """Cut points (S, n, levels - 1), and which of the n are those of each user."""
        if not self.own_cuts.shape[2]:
            return self.cuts[:, np.newaxis], np.zeros(len(users), np.int64)
        some, place = np.unique(np.where(users < 0, self.own_cuts.shape[1] - 1, users), return_inverse=True)
        return single(self.own_cuts, some), place

    @property
    def nbytes(self) -> int:
        """Memory of all arrays."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    def some(self, most: int) -> list[int]:
        """The numbers of at most so many sweeps, evenly spaced over all chains."""
        return sorted({int(s) for s in np.linspace(0, len(self) - 1, most)})

    def pieces(self) -> list["Draws"]:
        """Each kept sweep by itself, sharing the memory."""
        return [Draws(*(getattr(self, field.name)[s : s + 1] for field in fields(self))) for s in range(len(self))]

    @staticmethod
    def joined(parts: Sequence["Draws"]) -> "Draws":
        """The sweeps of several chains of one orientation, one after another."""
        return Draws(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Draws)))


def keep(chain: Chain, cuts: Array) -> Draws:
    """The current draw of a chain, with the cut points that its predictions use."""
    settings = chain.settings
    entries_of = chain.n_col.sum()
    means, steps = in_steps(np.concatenate([chain.c.transpose(0, 2, 1), _unknown_means(chain)], axis=1))
    row_unknown, col_unknown = _unknown_noise(chain)
    unknown_class = (chain.rng.random((settings.n_components, 1)) > chain.lam.cumsum(axis=1)[:, :-1]).sum(axis=1)
    column = {
        "z": np.vstack([chain.z, unknown_class.astype(np.int8)]),
        "c": means,
        "c_step": steps,
        "row_bias": np.append(chain.row_bias, 0.0).astype(np.float16),
        "col_bias": np.append(chain.col_bias, _unknown_profile(chain) @ chain.omega).astype(np.float16),
        "row_weight": in_half(np.append(chain.row_weight, row_unknown)),
        "col_weight": in_half(np.append(chain.col_weight, col_unknown)),
        "cuts": np.clip(cuts[1:-1], -_MOST_SINGLE, _MOST_SINGLE).astype(np.float32),
        "ordinal": np.array(settings.ordinal),
        "lam": chain.lam.astype(np.float32),
        "tau": chain.tau.astype(np.float32),
        "eta": chain.eta.astype(np.float16),
        "omega": chain.omega.astype(np.float16),
        "share": (chain.counts.sum(axis=2) / entries_of).astype(np.float32),
        "base": _evidence_base(chain),
        "scalars": np.array([chain.row_tau, chain.col_tau, chain.noise_rate], np.float32),
        "own_cuts": _cuts_of_users(chain, cuts),
        "cut_tau": chain.cut_tau[1 : -1 if settings.own_cuts else 1].astype(np.float32),
    }
    return Draws(**{name: array[np.newaxis] for name, array in column.items()})


def _cuts_of_users(chain: Chain, cuts: Array) -> Array:
    """The cut points of every user, and last the common ones; rounding leaves them in order."""
    n_users = len(chain.row_bias if chain.settings.user_rows else chain.col_bias)
    if not chain.settings.own_cuts:
        return np.empty((n_users + 1, 0), np.float16)
    own = np.broadcast_to((cuts[:, np.newaxis] + chain.own_cuts)[1:-1], (len(cuts) - 2, n_users))
    return cuts_in_half(np.vstack([own.T, cuts[1:-1]]))


def cuts_in_half(cuts: Array) -> Array:
    """Cut points in half precision, which ends where utilities never come: those of a level far from all others."""
    return np.clip(cuts, -_MOST, _MOST).astype(np.float16)


def in_half(weight: Array) -> Array:
    """Noise precisions in half precision: beyond its smallest number all is noise, beyond its largest nothing is."""
    return np.clip(weight, SMALLEST, _MOST).astype(np.float16)


def single(effect: Array, codes: Array) -> Array:
    """Some columns of an array in half precision, which kernels do not know, in single precision."""
    return effect.take(codes, axis=1).astype(np.float32)


def in_steps(c: Array) -> tuple[Array, Array]:
    """Means (..., H, columns, K) as whole steps (..., columns, H, K), and the steps (..., H)."""
    steps = np.maximum(np.abs(c).max(axis=(-2, -1)), 1e-6) / 127.0
    whole = np.rint(c / steps[..., None, None]).astype(np.int8)
    return np.ascontiguousarray(whole.swapaxes(-3, -2)), steps.astype(np.float32)


def _unknown_profile(chain: Chain) -> Array:
    """The profile and features of a column without entries."""
    profile = np.zeros(chain.settings.n_components * chain.settings.n_classes)
    return np.append(profile, column_features(np.zeros(1), chain.n_col))


def _unknown_means(chain: Chain) -> Array:
    return np.asarray(chain.eta @ _unknown_profile(chain))[:, None, :].astype(np.float32)


def _unknown_noise(chain: Chain) -> tuple[float, float]:
    """Noise precisions that also hold what is not known of an unknown row's or column's bias and means."""
    settings = chain.settings
    usual = settings.user_noise_shape / chain.noise_rate
    row = 1.0 / chain.row_tau
    col = 1.0 / chain.col_tau + float(np.sum(1.0 / chain.tau))
    if settings.user_rows:
        return 1.0 / (1.0 / usual + row), 1.0 / (1.0 + usual * col)
    return 1.0 / (1.0 + usual * row), 1.0 / (1.0 / usual + col)


def _evidence_base(chain: Chain) -> Array:
    """power * sum_i log(1 - p[h, i, s]) of the indicator evidence, (H, K)."""
    n_components, k, _ = chain.c.shape
    base = np.zeros((n_components, k))
    for h in range(n_components):
        size = np.bincount(chain.z[:, h], minlength=k)
        absence_evidence(chain.counts[h], chain.n_col, size, len(chain.z), chain.settings.indicator_weight, base[h])
    return base.astype(np.float32)


@njit(nogil=True, cache=True, fastmath=FAST)
def _add_sweeps(
    rows: Array,
    cols: Array,
    z: Array,
    c: Array,
    c_step: Array,
    row_bias: Array,
    col_bias: Array,
    row_weight: Array,
    col_weight: Array,
    cuts: Array,
    owner: Array,
    ordinal: Array,
    shaping: Array,
    values: Array,
    probability: Array,
    mean: Array,
) -> None:
    """Add each kept sweep's distribution of every pair (if it is ``shaping``) and its expected value to the sums."""
    last = cuts.shape[2]
    for s in range(z.shape[0]):
        for e in range(rows.shape[0]):
            j, i = rows[e], cols[e]
            m = np.float32(row_bias[s, j] + col_bias[s, i])
            for h in range(z.shape[2]):
                m += c_step[s, h] * c[s, i, h, z[s, j, h]]
            if not ordinal[s]:
                mean[e] += m
            if not shaping[s]:
                continue
            root = math.sqrt(row_weight[s, j] * col_weight[s, i])
            before = 0.0
            expected = 0.0
            for b in range(last + 1):
                upto = normal_cdf((cuts[s, owner[e], b] - m) * root) if b < last else 1.0
                probability[e, b] += upto - before
                expected += values[b] * (upto - before)
                before = upto
            if ordinal[s]:
                mean[e] += expected


def predict(draws: Draws, users: Array, items: Array, user_rows: bool, values: Array) -> tuple[Array, Array]:
    """Sums over kept sweeps of level distributions (n, levels) and of expected ratings (n,) of pairs.

    Distributions are those of the `Draws.shaping` sweeps, ratings those of all. ``values`` are the levels,
    standardised as the chain's ratings were. A Gaussian sweep's expected rating is the mean of its Gaussian, an
    ordinal one's that of its distribution.
    """
    probability = np.zeros((len(users), len(values)))
    mean = np.zeros(len(users))
    rows, cols = (users, items) if user_rows else (items, users)
    # only what the pairs need: a single pair should not cost a pass over everything kept
    some_rows, rows = np.unique(np.where(rows < 0, draws.z.shape[1] - 1, rows), return_inverse=True)
    some_cols, cols = np.unique(np.where(cols < 0, draws.c.shape[1] - 1, cols), return_inverse=True)
    _add_sweeps(
        rows,
        cols,
        draws.z.take(some_rows, axis=1),
        draws.c.take(some_cols, axis=1),
        draws.c_step,
        single(draws.row_bias, some_rows),
        single(draws.col_bias, some_cols),
        single(draws.row_weight, some_rows),
        single(draws.col_weight, some_cols),
        *draws.cuts_of(users),
        draws.ordinal,
        draws.shaping,
        values,
        probability,
        mean,
    )
    return probability, mean


def inside(mean: Array, levels: Array) -> Array:
    """Means that a distribution over all the levels can have: a thousandth of the scale away from its ends."""
    margin = 1e-3 * (levels[-1] - levels[0])
    return np.clip(mean, levels[0] + margin, levels[-1] - margin)


def tilt(probability: Array, levels: Array, mean: Array) -> None:
    """Tilt each distribution exponentially, in place, until it has the given mean (or the next one `inside`).

    p_l becomes proportional to p_l exp(theta l): of all distributions with that mean the nearest one
    (Kullback-Leibler).
    """
    _tilt(probability, levels, inside(mean, levels))


@njit(nogil=True, cache=True)
def _tilt(probability: Array, levels: Array, mean: Array) -> None:
    """Newton's method on theta, and bisection where that would go to and fro, as it does between two levels."""
    n = levels.shape[0]
    width = levels[n - 1] - levels[0]
    weight = np.empty(n)
    for e in range(probability.shape[0]):
        theta, low, high = 0.0, -math.inf, math.inf
        reach, before = 5.0, math.inf
        for _ in range(100):
            total = first = second = 0.0
            # exp(theta l) relative to the level at the end where it is largest, as a running product
            factor, ratio, step = 1.0, 1.0, 0.0
            end, way = (n - 1, -1) if theta > 0.0 else (0, 1)
            for place in range(n):
                b = end + way * place
                if place > 0:
                    gap = abs(levels[b] - levels[b - way])
                    if gap != step:  # once for all levels of a regular scale: exp is what tilting costs
                        ratio, step = math.exp(-abs(theta) * gap / width), gap
                    factor *= ratio
                at = (levels[b] - mean[e]) / width
                weight[b] = (probability[e, b] + 1e-12) * factor
                total += weight[b]
                first += weight[b] * at
                second += weight[b] * at * at
            first /= total
            if abs(first) < 1e-10:
                break
            low, high = (low, theta) if first > 0.0 else (theta, high)
            # a step that overshoots would leave the region where Newton's quadratic is any good
            newton = first / max(second / total - first * first, 1e-9)
            if abs(newton) > reach:
                newton = math.copysign(reach, newton)
                reach *= 2.0
            theta -= newton
            if not low < theta < high or (abs(first) > 0.5 * before and high - low < math.inf):
                theta = 0.5 * (low + high)
            before = abs(first)
        for b in range(n):
            probability[e, b] = weight[b] / total
