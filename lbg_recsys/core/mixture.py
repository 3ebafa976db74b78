"""Predicting a rating from a topic mixture: Pr(m_i = t | d) = sum_s Pr(y = s | d) N(t; c_si, var_si).

The paper writes a density at t for a probability; here the mixture is normalised over the levels of the scale, which
makes it a distribution and leaves the paper's argmax where it was.

Unknown rows and columns have the code -1, which is the last row of every table: the prior over topics for a row, the
topic's rating of an average column for a column.
"""

import math
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from lbg_recsys.core.parameters import Parameters
from lbg_recsys.core.rows import Floats, Ints


@dataclass(frozen=True)
class MixturePrediction:
    """For n pairs: the distribution over the levels (n, L), the leading topic (n,) and its posterior (n,)."""

    probability: Floats
    topic: Ints
    posterior: Floats


@dataclass(frozen=True)
class ColumnTables:
    """The parameters with a last row for the unknown column, whose indicator says nothing."""

    logit_p: Floats  # (n + 1, k)
    c: Floats
    var: Floats

    @classmethod
    def of(cls, parameters: Parameters) -> "ColumnTables":
        """The unknown column is an average one: rated as topic s rates what it rates."""
        share = parameters.p / parameters.p.sum(axis=0)
        c = (share * parameters.c).sum(axis=0)
        var = (share * (parameters.var + (parameters.c - c) ** 2)).sum(axis=0)
        return cls(
            np.vstack([parameters.logit_p(), np.zeros_like(c)]),
            np.vstack([parameters.c, c]),
            np.vstack([parameters.var, var]),
        )


@numba.njit(nogil=True, cache=True)
def _topic_posterior(joint, gain, beta, mu):  # type: ignore[no-untyped-def]
    top = -np.inf
    for s in range(len(mu)):
        mu[s] = beta * (joint[s] + gain[s])
        top = max(top, mu[s])
    total = 0.0
    for s in range(len(mu)):
        mu[s] = math.exp(mu[s] - top)
        total += mu[s]
    lead = 0
    for s in range(len(mu)):
        mu[s] /= total
        if mu[s] > mu[lead]:
            lead = s
    return lead


@numba.njit(nogil=True, cache=True)
def _from_table(joint, gain, beta, users, items, forced, place, density, probability, topic, posterior):  # type: ignore[no-untyped-def]
    n_levels, n_topics = density.shape[1:]
    mu = np.empty(n_topics)
    nothing = np.zeros(n_topics)
    for pair in range(len(users)):
        lead = _topic_posterior(joint[users[pair]], gain[items[pair]] if forced[pair] else nothing, beta, mu)
        topic[pair], posterior[pair] = lead, mu[lead]
        table = density[place[items[pair]]]
        total = 0.0
        for t in range(n_levels):
            mass = 0.0
            for s in range(n_topics):
                mass += mu[s] * table[t, s]
            probability[pair, t] = mass
            total += mass
        for t in range(n_levels):
            probability[pair, t] /= total


@numba.njit(nogil=True, cache=True)
def _from_offsets(joint, gain, beta, users, items, forced, c, var, levels, offset, probability, topic, posterior):  # type: ignore[no-untyped-def]
    n_topics = c.shape[1]
    mu = np.empty(n_topics)
    nothing = np.zeros(n_topics)
    weight = np.empty((len(levels), n_topics))
    for pair in range(len(users)):
        i = items[pair]
        lead = _topic_posterior(joint[users[pair]], gain[i] if forced[pair] else nothing, beta, mu)
        topic[pair], posterior[pair] = lead, mu[lead]
        top = -np.inf  # an offset may push every level far into a tail: compare the logs first
        for t in range(len(levels)):
            for s in range(n_topics):
                d = levels[t] - offset[pair] - c[i, s]
                weight[t, s] = math.log(mu[s] + 1e-300) - 0.5 * (math.log(var[i, s]) + d * d / var[i, s])
                top = max(top, weight[t, s])
        total = 0.0
        for t in range(len(levels)):
            mass = 0.0
            for s in range(n_topics):
                mass += math.exp(weight[t, s] - top)
            probability[pair, t] = mass
            total += mass
        for t in range(len(levels)):
            probability[pair, t] /= total


def level_density(c: Floats, var: Floats, levels: Floats) -> Floats:
    """N(t; c, var) up to a constant for every level: (..., L, k) from (..., k)."""
    distance = levels[:, None] - c[..., None, :]
    return np.asarray(np.exp(-0.5 * distance**2 / var[..., None, :]) / np.sqrt(var[..., None, :]))


def predict_mixture(
    joint: Floats,
    tables: ColumnTables,
    rows: Ints,
    columns: Ints,
    forced: npt.NDArray[np.bool_],
    levels: Floats,
    *,
    beta: float = 1.0,
    indicator_weight: float = 1.0,
    offset: Floats | None = None,
) -> MixturePrediction:
    """The predictive distribution of n (row, column) pairs.

    ``joint`` (m + 1, k) holds each row's log lam_s + log Pr(d | s), ending with the prior; ``forced`` says for which
    pairs the indicator x_i is not in it yet and is set to 1 for the prediction; ``offset`` (n,) is added to the means.
    """
    n = len(rows)
    probability, topic, lead = np.empty((n, len(levels))), np.empty(n, np.int64), np.empty(n)
    gain = indicator_weight * tables.logit_p
    if offset is not None:
        _from_offsets(
            joint, gain, beta, rows, columns, forced, tables.c, tables.var, levels, offset, probability, topic, lead
        )
        return MixturePrediction(probability, topic, lead)
    # The densities of a column serve all its pairs: one table of the columns that occur, then no exp per level.
    occurs = np.zeros(len(tables.c), dtype=bool)
    occurs[columns] = True
    place = np.cumsum(occurs) - 1
    density = level_density(tables.c[occurs], tables.var[occurs], levels)
    _from_table(joint, gain, beta, rows, columns, forced, place, density, probability, topic, lead)
    return MixturePrediction(probability, topic, lead)
