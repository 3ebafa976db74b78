"""The effects of a user's own ratings on an expected rating of Bayesian LBG; docs/bayesian-lbg.md has the method."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.gibbs.amounts import column_features, standard_amount
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.influence import (
    EntryLikelihood,
    Expectation,
    RowGiven,
    RowSample,
    column_influence,
    cross_covariance,
    lost_without,
    sample_row,
)
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.bayesian.new_users import NewUsers
from lbg_recsys.ratings.bayesian.standardise import INDICATOR_WEIGHT
from lbg_recsys.ratings.matrix import RatingMatrix

# Draws of a user's classes given a kept sweep, in each of two runs, and draws before them that are not used.
_ROUNDS, _SKIPPED = 24, 8
# With at most this many ratings, draws are made without each of them: one may have too much weight for reweighting.
_FEW = 6
# The smallest and the largest noise precision that is used, for ratings with standard deviation 1.
_PRECISIONS = 1e-4, 1e4

Effects = tuple[Floats, Floats]  # by having been given, and by their values


@dataclass(frozen=True)
class _OwnRatings:
    """A user's own ratings: codes of the items, standardised values, levels; (n,) each."""

    items: Ints
    value: Floats
    level: npt.NDArray[np.int16]


@dataclass(frozen=True)
class Influence:
    """What the ratings of users do to their expected ratings, by the kept sweeps of all chains.

    ``draws`` hold the users of ``matrix``: those that the chains were trained on, or others folded in as ``known``
    does. ``n_chains`` is how many chains there are of either orientation.
    """

    draws: Mapping[Side, Draws]
    matrix: RatingMatrix
    known: NewUsers
    features: npt.NDArray[np.float32]  # (users, E): those of the users of ``matrix``
    n_chains: int

    def of(self, user: int, item: int, seed: np.random.SeedSequence) -> Effects:
        """The effects of every rating of a user on the expected rating of an item, in units of the ratings."""
        entries, standard = slice(*self.matrix.rows.indptr[user : user + 2]), self.known.standard
        items, ratings = self.matrix.rows.columns[entries].astype(np.int64), self.matrix.values[entries]
        total = np.zeros((2, len(items)))
        if not (len(items) and self.draws):
            return total[0], total[1]
        own = _OwnRatings(items, standard.values(ratings), self.matrix.scale.nearest(ratings).astype(np.int16))
        for side, of_all in self.draws.items():
            draws = replace(of_all, cuts=of_all.cuts_of(np.array([user])).cuts[:, 0])  # the cut points of this user
            if side is Side.USERS:
                effects = self._as_row(draws, user, item, own, np.random.default_rng(seed))
            else:
                effects = self._as_column(draws, user, item, own)
            for given, valued in effects:
                total += given, valued
        total *= standard.spread / sum(map(len, self.draws.values()))
        return total[0], total[1]

    def _as_column(self, draws: Draws, user: int, item: int, own: _OwnRatings) -> Iterator[Effects]:
        """By each kept sweep that has the user as a column."""
        n, (_, n_components, k) = len(own.items), draws.lam.shape
        own_features = np.repeat(self.features[[user]], 2, axis=0)
        features = column_features(np.array([n, n - 1]), self.known.training.crowd.amounts, own_features)
        for s in range(len(draws)):
            rated_and_item = np.append(own.items, item)
            design = _design(draws.z[s, rated_and_item], k)
            held, share = design[:-1, :-1], draws.share[s].ravel()
            profile = _profile(held.sum(axis=0, keepdims=True), n, share, features[0])
            without = _profile(held.sum(axis=0) - held, n - 1, share, features[1])
            to_prior = np.vstack([draws.eta[s].reshape(n_components * k, -1), draws.omega[s]]).T.astype(np.float64)
            bias = draws.row_bias[s].astype(np.float64)
            precision = _precision(draws.row_weight[s], draws.col_weight[s, user])
            others = draws.row_factor[s, rated_and_item] * draws.steps.row_factor[s]
            expected, pushed = self._expected_factors(draws, s, False, user, own.items)
            design = np.hstack([design, others])
            yield column_influence(
                design[:-1],
                design[-1],
                float(bias[item]),
                _likelihood(draws, s, own, precision[own.items], bias[own.items]),
                self._expectation(draws, s, float(precision[item])),
                np.append((profile @ to_prior)[0], expected),
                np.concatenate(
                    [np.repeat(draws.tau[s], k), draws.col_tau[s : s + 1], draws.factor_prior(False).tau[s]],
                    dtype=float,
                ),
                np.hstack([(profile - without) @ to_prior, pushed]),
            )

    def _expected_factors(self, draws: Draws, s: int, of_row: bool, user: int, items: Ints) -> tuple[Floats, Floats]:
        """What is expected of the user's factors in one sweep, (R,), and what each rating adds to it, (n, R)."""
        prior, n = draws.factor_prior(of_row), len(items)
        push = prior.push[s, items] * prior.push_step[s].astype(np.float64)
        amount, amount_without = standard_amount(np.array([n, n - 1]), self.known.training.crowd.amounts)
        constant, slope = prior.constant[s].astype(np.float64), prior.slope[s].astype(np.float64)
        constant = constant + prior.beta[s].astype(np.float64) @ self.features[user]
        total = push.sum(axis=0)
        mean = constant + slope * amount + total / np.sqrt(n)
        return mean, mean - (constant + slope * amount_without + (total - push) / np.sqrt(max(n - 1, 1)))

    def _as_row(
        self, draws: Draws, user: int, item: int, own: _OwnRatings, rng: np.random.Generator
    ) -> Iterator[Effects]:
        """By each kept sweep that has the user as a row."""
        everything, k = np.arange(len(own.items)), draws.lam.shape[2]
        for s, logits in enumerate(self.known.rates.of_all_sweeps(own.items)):
            evidence = INDICATOR_WEIGHT[Side.USERS] * logits
            with np.errstate(divide="ignore"):  # a class with probability 0
                fixed = np.log(draws.lam[s].astype(np.float64)) + draws.base[s] + evidence.sum(axis=0)
            starts = s, _far_from(s, len(draws), self.n_chains)
            expected, classes, factors, fitted = self._sample(
                draws, s, user, item, own, everything, fixed, starts, rng
            )
            if len(everything) <= _FEW:
                without = (
                    self._sample(draws, s, user, item, own, np.delete(everything, e), fixed, starts, rng)[0].mean()
                    for e in everything
                )
                valued = expected.mean() - np.fromiter(without, np.float64)
            else:
                precision = _precision(draws.col_weight[s, own.items], draws.row_weight[s, user])
                likelihood = _likelihood(draws, s, own, precision, np.zeros(len(precision)))
                valued = lost_without(expected, likelihood.log(fitted))
            moved = cross_covariance(expected, classes[..., None] == np.arange(k))
            mean, pushed = self._expected_factors(draws, s, True, user, own.items)
            # the derivative of an expectation by the mean of a Gaussian is a covariance with its score
            pulled = cross_covariance(expected, draws.factor_prior(True).tau[s] * (factors - mean))
            yield np.tensordot(evidence, moved, 2) + pushed @ pulled, valued

    def _sample(
        self,
        draws: Draws,
        s: int,
        user: int,
        item: int,
        own: _OwnRatings,
        kept: Ints,
        fixed: Floats,
        starts: tuple[int, int],
        rng: np.random.Generator,
    ) -> tuple[Floats, npt.NDArray[np.int8], Floats, npt.NDArray[np.float32]]:
        """Two runs of n draws of a row given one sweep, from those of its ratings that are ``kept``.

        Expected values of the item (2, n), classes (2, n, H), factors (2, n, R), means of these ratings (2, n, kept).
        """
        items, n_components = own.items[kept], draws.lam.shape[1]
        c = draws.c[s, np.append(items, item)] * draws.c_step[s][:, None]
        mean, target = np.ascontiguousarray(c[:-1].transpose(1, 2, 0)), c[-1]
        # the draws are those of a bias whose expected value is 0: what is expected of it joins the items'
        expected = draws.beta.astype(np.float32) @ self.features[user]
        bias = draws.col_bias[s].astype(np.float32) + expected[s]
        precision = _precision(draws.col_weight[s], draws.row_weight[s, user])
        classes, biases = np.empty((2, _ROUNDS, n_components), np.int8), np.empty((2, _ROUNDS))
        fitted = np.empty((2, _ROUNDS, len(kept)), np.float32)
        factors = np.empty((2, _ROUNDS, draws.row_factor.shape[2]))
        others = (draws.col_factor[s, np.append(items, item)] * draws.steps.col_factor[s]).astype(np.float32)
        expected_factors, _ = self._expected_factors(
            draws, s, True, user, own.items
        )  # the presence of the ratings stays known
        given = RowGiven(
            own.value[kept],
            own.level[kept],
            mean,
            fixed,
            bias[items],
            precision[items].astype(np.float32),
            float(draws.row_tau[s]),
            _with_ends(draws.cuts[s]),
            bool(draws.ordinal[s]),
            np.ascontiguousarray(others[:-1]),
            expected_factors.astype(np.float32),
            np.ascontiguousarray(draws.factor_prior(True).tau[s]),
        )
        for run, start in enumerate(starts):
            z = draws.z[start, user].astype(np.int64)
            first = float(draws.row_bias[start, user]) - float(expected[start])
            sample = RowSample(classes[run], factors[run], biases[run], fitted[run])
            sample_row(rng, given, z, first, _SKIPPED, sample)
        means = biases + float(bias[item]) + target[np.arange(n_components), classes].sum(axis=2)
        means += factors @ others[-1]
        return self._expectation(draws, s, float(precision[item])).of(means), classes, factors, fitted

    def _expectation(self, draws: Draws, sweep: int, precision: float) -> Expectation:
        levels = self.known.standard.levels
        return Expectation(precision, draws.cuts[sweep] if draws.ordinal[sweep] else None, levels)


def _far_from(s: int, n_sweeps: int, n_chains: int) -> int:
    """The sweep of the same chain that is half the chain away from sweep ``s``.

    Of chains of an odd length, thinned, some have one sweep more than others.

    >>> [_far_from(s, 7, 2) for s in range(7)]
    [2, 3, 0, 1, 5, 6, 4]
    """
    chain = s * n_chains // n_sweeps
    first, end = (-(-one * n_sweeps // n_chains) for one in (chain, chain + 1))
    return first + (s - first + (end - first) // 2) % (end - first)


def _design(classes: Ints, k: int) -> Floats:
    """One-hot classes of every component, and a constant for the bias."""
    one_hot = (classes[:, :, None] == np.arange(k)).reshape(len(classes), -1)
    return np.column_stack([one_hot, np.ones(len(classes))])


def _profile(counts: Floats, n: int, share: Floats, features: Floats) -> Floats:
    """The profiles phi of columns with n entries each, (columns, D), by how many are of every class."""
    return np.hstack([(counts - n * share) / np.sqrt(max(n, 1)), np.tile(features, (len(counts), 1))])


def _likelihood(draws: Draws, sweep: int, own: _OwnRatings, precision: Floats, offset: Floats) -> EntryLikelihood:
    """Of the user's ratings, by means that lack the ``offset``."""
    if not draws.ordinal[sweep]:
        return EntryLikelihood(precision, value=own.value - offset)
    cuts = _with_ends(draws.cuts[sweep])
    return EntryLikelihood(precision, low=cuts[own.level] - offset, high=cuts[own.level + 1] - offset)


def _precision(others: npt.NDArray[np.float16], own: np.float16) -> Floats:
    """The noise precisions of a user's ratings, by the weights of items and of the user."""
    return np.clip(others.astype(np.float64) * float(own), *_PRECISIONS)


def _with_ends(cuts: Floats) -> Floats:
    """The cut points with those below the lowest and above the highest level."""
    return np.concatenate([[-np.inf], cuts, [np.inf]])
