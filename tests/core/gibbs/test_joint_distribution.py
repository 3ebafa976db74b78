"""The sampler as a whole: Geweke's joint-distribution test, and what must hold after any sweep.

After Geweke (2004): draw parameters and data from the model, then alternate a few sweeps of the sampler with new data
given the parameters. Both are samples of the same joint distribution, so all their averages agree. Profiles and cut
points, which follow the data by other rules than Bayes', are held still; everything else is the code that runs.
"""

import numpy as np
import pytest

from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.gibbs.chain import Chain, ChainSettings
from lbg_recsys.core.gibbs.factor_priors import expect_factors
from lbg_recsys.core.gibbs.features import Design
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.noise_shapes import USUAL_SHAPE
from lbg_recsys.core.gibbs.occasions import Kind
from lbg_recsys.core.gibbs.ordinal import count_neighbours
from lbg_recsys.core.gibbs.ridge import SHRINKAGE
from lbg_recsys.core.sparse import SparseRows

SPREAD = Gamma(6.0, 6.0)  # narrow priors: the test needs moments that exist
MIDDLES = np.array([-0.6, 0.1, 0.7])
CUT_SPREAD = Gamma(60.0, 0.6)  # so narrow that cut points out of order, which the prior leaves out, do not occur


def make_chain(likelihood, side, spread=SPREAD):
    rng = np.random.default_rng(3)
    row, col = np.nonzero(rng.random((8, 6)) < 0.7)
    value = rng.normal(size=len(row))
    entries = SparseRows.from_entries(row, col, value, 8, 6)
    level = np.searchsorted(MIDDLES, value).astype(np.int16)
    settings = ChainSettings(
        n_components=2,
        n_classes=3,
        n_factors=2,
        likelihood=likelihood,
        side=side,
        indicator_weight=0.0,
        spread=spread,
        follow_profiles=False,
        follow_cuts=False,
        cut_spread=CUT_SPREAD,
        learn_noise_shapes=likelihood is Likelihood.ORDINAL,
    )
    groups = np.array([0, 0, 1])
    # small, as with large ones classes hardly change and the averages of sweeps are uncertain
    designs = (Design(0.2 * rng.normal(size=(n, 3)).astype(np.float32), groups) for n in (8, 6))
    users, items = (row, col) if side is Side.USERS else (col, row)
    occasions = [make_kind(rng, users, drifts=False), make_kind(rng, items, drifts=True)]
    chain = Chain(entries, level, MIDDLES, settings, np.random.SeedSequence(1), *designs, occasions)
    chain.sweeps = 10  # users' own cut points are held for as many sweeps
    return chain


def make_kind(rng, owner, drifts):
    """Two occasions of each owner, the second of a drift after the first."""
    code = 2 * owner + rng.integers(2, size=len(owner))
    chained = np.tile([False, drifts], owner.max() + 1)
    return Kind(code.astype(np.int32), chained, drifts)


def draw_prior(chain, rng):
    """Parameters from their priors."""
    settings, (a, b) = chain.settings, SPREAD
    h, k, n = chain.c.shape
    chain.tau[:] = rng.gamma(a, 1 / b, h)
    chain.lam[:] = rng.dirichlet(np.ones(k), h)
    chain.z[:] = np.stack([rng.choice(k, len(chain.z), p=lam) for lam in chain.lam], axis=1)
    own = slice(-chain.col_design.width, None)
    for coefficients, shrinkage in ((chain.eta, chain.eta_shrinkage), (chain.omega, chain.omega_shrinkage)):
        shrinkage[own] = rng.gamma(a, 1 / b, 2)[chain.col_design.groups]
        coefficients[:] = rng.normal(size=coefficients.shape) / np.sqrt(shrinkage)
    known = chain.row_features
    chain.row_tau, chain.col_tau = rng.gamma(a, 1 / b, 2)
    known.kappa = rng.gamma(a, 1 / b, 2)[known.design.groups]
    known.beta[:] = rng.normal(size=known.beta.shape) / np.sqrt(known.kappa * chain.row_tau)
    noise = rng.normal(size=(h, k, n)) / np.sqrt(chain.tau)[:, None, None]
    chain.c[:] = chain.eta @ chain.phi + noise
    noise = rng.normal(size=len(chain.row_bias)) / np.sqrt(chain.row_tau)
    chain.row_bias[:] = known.design.values @ known.beta[0] + noise
    chain.col_bias[:] = chain.omega @ chain.phi + rng.normal(size=n) / np.sqrt(chain.col_tau)
    chain.noise_rate = rng.gamma(a, 1 / b)
    draw_occasions(chain.occasions, rng)
    draw_factor_prior(chain.row_factors, chain._of_rows, chain.row_factor_features, rng)
    draw_factor_prior(chain.col_factors, chain._of_cols, chain.col_factor_features, rng)
    user, item = (chain.row_weight, chain.col_weight) if settings.user_rows else (chain.col_weight, chain.row_weight)
    if settings.learn_noise_shapes:
        chain.user_noise_shape, chain.item_noise_shape = USUAL_SHAPE * np.exp(rng.normal(size=2))
    user[:] = rng.gamma(chain.user_noise_shape, 1 / chain.noise_rate, len(user))
    item[:] = rng.gamma(chain.item_noise_shape, 1 / chain.item_noise_shape, len(item))
    inner = slice(1, -1)
    chain.cut_tau[inner] = rng.gamma(CUT_SPREAD[0], 1 / CUT_SPREAD[1], len(MIDDLES))
    if settings.ordinal:
        own = chain.own_cuts[inner]
        own[:] = rng.normal(size=own.shape) / np.sqrt(chain.cut_tau[inner, None])


def draw_occasions(occasions, rng):
    """Effects of days, and levels of drifts, from their prior."""
    occasions.tau[:] = rng.gamma(SPREAD.shape, 1 / SPREAD.rate, len(occasions.tau))
    for kind, effect, tau in zip(occasions.kinds, occasions.effects, occasions.tau, strict=True):
        effect[:] = rng.normal(size=len(effect)) / np.sqrt(tau)
        effect[1:] += np.where(kind.chained[1:], effect[:-1], 0.0)  # no more than two follow each other


def draw_factor_prior(factors, partners, known, rng):
    """Factors from their prior."""
    factors.precision[:], factors.push_precision[:] = rng.gamma(SPREAD.shape, 1 / SPREAD.rate, (2, 2))
    known.kappa = rng.gamma(SPREAD.shape, 1 / SPREAD.rate, 2)[known.design.groups]
    known.beta[:] = rng.normal(size=known.beta.shape) / np.sqrt(factors.precision[:, None] * known.kappa)
    factors.line[:] = rng.normal(size=factors.line.shape) / np.sqrt(SHRINKAGE)
    factors.push[:] = rng.normal(size=factors.push.shape) / np.sqrt(factors.push_precision)
    expect_factors(factors, partners)
    factors.mean[:] += known.design.values @ known.beta.T
    factors.value[:] = factors.mean + rng.normal(size=factors.mean.shape) / np.sqrt(factors.precision)


def draw_data(chain, rng):
    """Utilities, and levels where there are any, from their distribution given the parameters."""
    rows, cols = chain.entries.row_of_entry(), chain.entries.columns
    scale = 1 / np.sqrt(chain.row_weight[rows] * chain.col_weight[cols])
    chain.res[:] = rng.normal(size=len(rows)) * scale
    chain.utility[:] = chain.means(rows, cols) + chain.occasions.of_entries(len(rows)) + chain.res
    points = MIDDLES[:, None] + chain.own_cuts[1:-1, chain.owner]
    chain.level[:] = (points < chain.utility).sum(axis=0)
    chain._neighbours[:] = count_neighbours(chain.level, chain.owner, chain.own_cuts.shape)


def features(chain):
    """First and second moments, or logarithms, of everything that is drawn."""
    return [
        np.log(chain.tau).mean(),
        np.log(chain.noise_rate),
        np.log(chain.row_tau),
        np.log(chain.col_tau),
        np.log(chain.lam).mean(),
        np.log(chain.row_weight).mean(),
        np.log(chain.col_weight).mean(),
        chain.c.mean(),
        np.square(chain.c).mean(),
        np.square(chain.row_bias).mean(),
        np.square(chain.col_bias).mean(),
        np.square(chain.eta).mean(),
        np.square(chain.omega).mean(),
        np.log(chain.eta_shrinkage).mean(),
        np.log(chain.omega_shrinkage).mean(),
        np.log(chain.row_features.kappa).mean(),
        np.square(chain.eta[..., -3:]).mean(),
        np.log(np.square(chain.row_features.beta).mean()),
        np.tanh((chain.row_features.design.values @ chain.row_features.beta[0] * chain.row_bias).mean()),
        *regression_features(chain.row_factor_features, chain.row_factors),
        *regression_features(chain.col_factor_features, chain.col_factors),
        (chain.z[:, 0] == chain.z[:, 1]).mean(),
        (chain.z == 0).mean(),
        np.log(np.square(chain.res).mean()),
        np.tanh(chain.utility).mean(),
        (chain.level == 0).mean(),
        (chain.row_bias * chain.row_weight).mean(),
        *(one for factors in (chain.row_factors, chain.col_factors) for one in factor_features(factors)),
        *np.log(chain.occasions.tau),
        *(np.log(np.square(effect).mean()) for effect in chain.occasions.effects),
        np.tanh((chain.occasions.effects[1][::2] * chain.occasions.effects[1][1::2]).mean()),
        *(ordinal_features(chain) if chain.settings.ordinal else []),
    ]


def regression_features(known, factors):
    expected = known.design.values @ known.beta.T
    return [
        np.log(known.kappa).mean(),
        np.log(np.square(known.beta).mean()),
        np.tanh((expected * factors.value).mean()),
    ]


def factor_features(factors):
    return [
        np.log(factors.precision).mean(),
        np.log(factors.push_precision).mean(),
        np.log(np.square(factors.value).mean()),
        np.log(np.square(factors.push).mean()),
        np.square(factors.line).mean(),
        np.tanh((factors.value * factors.mean).mean()),
    ]


def ordinal_features(chain):
    own = chain.own_cuts[1:-1]
    bias = chain.row_bias if chain.settings.user_rows else chain.col_bias
    return [
        np.log(chain.cut_tau[1:-1]).mean(),
        np.square(own).mean(),
        (own[0] * own[2]).mean(),
        (own * bias).mean(),
        np.log(chain.user_noise_shape),
        np.log(chain.item_noise_shape),
        np.log(chain.user_noise_shape) * np.log(chain.user_weight).mean(),
    ]


def geweke(chain, times, n_sweeps, seed):
    """z-scores of what sweeps change in draws of parameters and data from the model.

    Every time begins with a draw of its own, so the times are independent, and their spread tells the error.
    """
    rng = np.random.default_rng(seed)
    changes = []
    for _ in range(times):
        draw_prior(chain, rng)
        draw_data(chain, rng)
        before = np.array(features(chain))
        for _ in range(n_sweeps):
            chain.sweep()
            draw_data(chain, rng)
        changes.append(np.array(features(chain)) - before)
    return np.mean(changes, axis=0) / (np.std(changes, axis=0, ddof=1) / np.sqrt(times))


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", Likelihood)
@pytest.mark.parametrize("side", Side)
def test_the_sampler_leaves_the_joint_distribution_alone(likelihood, side):
    scores = geweke(make_chain(likelihood, side), 1000, 4, seed=11)
    assert np.abs(scores).max() < 4.5, scores.round(1)


@pytest.mark.slow
def test_the_joint_distribution_test_notices_a_wrong_prior():
    scores = geweke(make_chain(Likelihood.GAUSSIAN, Side.USERS, spread=Gamma(6.0, 8.0)), 1000, 4, seed=11)
    assert np.abs(scores).max() > 6.0


@pytest.mark.parametrize("likelihood", Likelihood)
def test_residuals_counts_and_profiles_stay_what_they_are_defined_as(likelihood):
    rng = np.random.default_rng(0)
    row, col = np.nonzero(rng.random((40, 25)) < 0.4)
    value = rng.normal(size=len(row))
    entries = SparseRows.from_entries(row, col, value, 40, 25)
    level = np.searchsorted(MIDDLES, value).astype(np.int16)
    settings = ChainSettings(n_components=3, n_classes=5, likelihood=likelihood, indicator_weight=0.02)
    chain = Chain(entries, level, MIDDLES, settings, np.random.SeedSequence(0))
    for _ in range(30):
        chain.sweep()
    rows = entries.row_of_entry()
    np.testing.assert_allclose(chain.utility - chain.means(rows, entries.columns), chain.res, atol=1e-4)
    if likelihood is Likelihood.ORDINAL:
        points = chain.cuts[1:-1, None] + chain.own_cuts[1:-1, rows]
        np.testing.assert_array_equal((points < chain.utility).sum(axis=0), level)
    else:
        np.testing.assert_array_equal(chain.utility, entries.values.astype(np.float32))
    counts, phi, gram, res, utility = chain.counts, chain.phi, chain.gram, chain.res, chain.utility
    chain.rest()
    assert not hasattr(chain, "counts")
    chain.wake(entries, level)
    np.testing.assert_array_equal(chain.counts, counts)
    np.testing.assert_array_equal(chain.utility, utility)
    np.testing.assert_allclose(chain.phi, phi, atol=1e-6)
    np.testing.assert_allclose(chain.gram, gram, atol=1e-6)
    np.testing.assert_allclose(chain.res, res, atol=1e-4)
