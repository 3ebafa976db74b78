"""Keeping the current draw of a chain in the compact form of `Draws`."""

import numpy as np

from lbg_recsys.core.gibbs.amounts import Amounts, column_features
from lbg_recsys.core.gibbs.chain import Chain
from lbg_recsys.core.gibbs.components import absence_evidence
from lbg_recsys.core.gibbs.draws import (
    PUSH_STEPS,
    Draws,
    cuts_in_half,
    cuts_in_single,
    factors_in_steps,
    in_half,
    in_steps,
)
from lbg_recsys.core.types import Array


def keep(chain: Chain, cuts: Array) -> Draws:
    """The current draw of a chain, with the cut points that its predictions use."""
    settings = chain.settings
    n_entries = chain.n_col.sum()
    # what is kept predicts ratings of unknown days and moments, and items at their last level
    row_weight, col_weight = settings.side.rows_and_columns(_widened(chain.user_weight, chain), chain.item_weight)
    factors, (row_weight, col_weight) = _factors(chain, row_weight, col_weight)
    levels = chain.occasions.last_levels(len(chain.item_weight))
    row_level, col_level = settings.side.rows_and_columns(0.0, levels)
    occasion, occasion_step = chain.occasions.kept()
    means, steps = in_steps(np.concatenate([chain.c.transpose(0, 2, 1), _unknown_means(chain)], axis=1))
    row_unknown, col_unknown = _unknown_noise(chain)
    unknown_class = (chain.rng.random((settings.n_components, 1)) > chain.lam.cumsum(axis=1)[:, :-1]).sum(axis=1)
    one_sweep = {
        "z": np.vstack([chain.z, unknown_class.astype(np.int8)]),
        "c": means,
        "c_step": steps,
        "row_bias": np.append(chain.row_bias + row_level, 0.0).astype(np.float16),
        "col_bias": np.append(chain.col_bias + col_level, _unknown_profile(chain) @ chain.omega).astype(np.float16),
        "row_weight": in_half(np.append(row_weight, row_unknown)),
        "col_weight": in_half(np.append(col_weight, col_unknown)),
        "cuts": cuts_in_single(cuts[1:-1]),
        "ordinal": np.array(settings.ordinal),
        "lam": chain.lam.astype(np.float32),
        "tau": chain.tau.astype(np.float32),
        "eta": chain.eta.astype(np.float16),
        "omega": chain.omega.astype(np.float16),
        "share": (chain.counts.sum(axis=2) / n_entries).astype(np.float32),
        "base": _evidence_base(chain),
        "row_tau": np.float32(chain.row_tau),
        "col_tau": np.float32(chain.col_tau),
        "noise_rate": np.float32(_noise_rate(chain)),
        "noise_shape": np.array([chain.user_noise_shape, chain.item_noise_shape], np.float32),
        "beta": chain.row_features.beta[0].astype(np.float16),
        "row_factor_beta": chain.row_factor_features.beta.astype(np.float16),
        "col_factor_beta": chain.col_factor_features.beta.astype(np.float16),
        "own_cuts": _cuts_of_users(chain, cuts),
        "occasion": occasion,
        "occasion_step": np.float32(occasion_step),
        "occasion_tau": chain.occasions.tau.astype(np.float32),
        "cut_tau": chain.cut_tau[1 : -1 if settings.own_cuts else 1].astype(np.float32),
        **factors,
    }
    return Draws(**{name: np.asarray(array)[np.newaxis] for name, array in one_sweep.items()})


def _widened(weight: Array, chain: Chain) -> Array:
    """Users' noise precisions that include the variance of the effects of an unknown day and moment."""
    return np.asarray(weight / (1.0 + weight * np.float32(chain.occasions.spread)))


def _noise_rate(chain: Chain) -> float:
    """The rate of the prior of such precisions."""
    return chain.noise_rate + chain.user_noise_shape * chain.occasions.spread


def _factors(chain: Chain, row_weight: Array, col_weight: Array) -> tuple[dict[str, Array], tuple[Array, Array]]:
    """The expected factors and their priors, and noise precisions that include the variance of the factors.

    An average over expected factors has less Monte Carlo error than one over drawn ones: half as many sweeps, or
    fewer, predict as well. The unknown row and column have the factors that are expected without entries.
    """
    rows, cols = chain.row_factors, chain.col_factors
    means, weights = [rows.value, cols.value], [row_weight, col_weight]
    if chain.settings.n_factors:
        found = chain.mean_factors()
        means = [mean for mean, _ in found]
        usual = [np.float32(weight.mean()) for weight in weights]
        weights = [
            weight / (1.0 + weight * partner * variance)
            for weight, partner, (_, variance) in zip(weights, reversed(usual), found, strict=True)
        ]
    unknown = (side.line[0] + side.line[1] * side.amount.min() for side in (rows, cols))
    no_push = np.zeros(chain.settings.n_factors, np.float32)
    values = [np.vstack([mean, last]) for mean, last in zip(means, unknown, strict=True)]
    pushes = [np.vstack([side.push, no_push]) for side in (rows, cols)]
    kept, steps = zip(
        *(factors_in_steps(one) for one in values),
        *(factors_in_steps(one, PUSH_STEPS) for one in pushes),
        strict=True,
    )
    return {
        **dict(zip(("row_factor", "col_factor", "row_push", "col_push"), kept, strict=True)),
        "factor_step": np.stack(steps),
        "factor_line": np.vstack([rows.line, cols.line]),
        "factor_tau": np.stack([rows.precision, cols.precision]),
    }, (weights[0], weights[1])


def _cuts_of_users(chain: Chain, cuts: Array) -> Array:
    """The cut points of every user and last the common ones, (users + 1, levels - 1), in ascending order."""
    n_users = len(chain.row_bias if chain.settings.user_rows else chain.col_bias)
    if not chain.settings.own_cuts:
        return np.empty((n_users + 1, 0), np.float16)
    own = np.broadcast_to((cuts[:, np.newaxis] + chain.own_cuts)[1:-1], (len(cuts) - 2, n_users))
    return cuts_in_half(np.vstack([own.T, cuts[1:-1]]))


def _unknown_profile(chain: Chain) -> Array:
    """The profile and features of a column without entries of which nothing is known, (D,)."""
    profile = np.zeros(chain.settings.n_components * chain.settings.n_classes)
    return np.append(
        profile, column_features(np.zeros(1), Amounts.of(chain.n_col), np.zeros((1, chain.col_design.width)))
    )


def _unknown_means(chain: Chain) -> Array:
    """The expected class means of a column without entries, (H, 1, K)."""
    return np.asarray(chain.eta @ _unknown_profile(chain))[:, None, :].astype(np.float32)


def _unknown_noise(chain: Chain) -> tuple[float, float]:
    """Noise precisions of an unknown row and column, which include the variance of their biases and means."""
    settings = chain.settings
    usual = chain.user_noise_shape / _noise_rate(chain)
    rows, cols = chain.row_factors, chain.col_factors
    row = 1.0 / chain.row_tau + float(np.sum(np.square(cols.value).mean(axis=0) / rows.precision))
    col = 1.0 / chain.col_tau + float(np.sum(1.0 / chain.tau))
    col += float(np.sum(np.square(rows.value).mean(axis=0) / cols.precision))
    if settings.user_rows:
        return 1.0 / (1.0 / usual + row), 1.0 / (1.0 + usual * col)
    return 1.0 / (1.0 + usual * row), 1.0 / (1.0 / usual + col)


def _evidence_base(chain: Chain) -> Array:
    """indicator_weight * sum_i log(1 - p[h, i, s]), the evidence of a row without entries, (H, K)."""
    n_components, k, _ = chain.c.shape
    base = np.zeros((n_components, k))
    for h in range(n_components):
        size = np.bincount(chain.z[:, h], minlength=k).astype(np.float64)
        absence_evidence(chain.counts[h], chain.n_col, size, len(chain.z), chain.settings.indicator_weight, base[h])
    return base.astype(np.float32)
