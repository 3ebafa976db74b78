"""Predicting a rating from a topic mixture: Pr(m_i = t | d) = sum_s Pr(y = s | d) N(t; c_si, var_si).

The paper writes a density at t for a probability; here the mixture is normalised over the levels of the scale, which
makes it a distribution and leaves the paper's argmax where it was.

Unknown rows and columns have the code -1, which is the last row of every table: the prior over topics for a row, the
topic's rating of an average column for a column.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.interrupts import if_many
from lbg_recsys.core.types import Bools, Floats, Ints


class MixturePrediction(NamedTuple):
    """For n pairs: the distribution over the levels (n, L), the leading topic (n,) and its posterior (n,)."""

    probability: Floats
    topic: Ints
    posterior: Floats


class _Pairs(NamedTuple):
    """Row and column of n pairs, and whether to set the indicator of each."""

    rows: Ints
    columns: Ints
    forced: Bools


@dataclass(frozen=True)
class ColumnTables:
    """The parameters with a last row for the unknown column, whose indicator says nothing."""

    odds: Floats  # (n + 1, k)  what setting x_i = 1 multiplies the posterior by
    p: Floats
    c: Floats
    var: Floats

    @classmethod
    def of(cls, parameters: Parameters, power: float) -> "ColumnTables":
        """The unknown column is an average one, rated as topic s rates what it rates.

        ``power`` is the indicators' weight in the (tempered) posterior, beta * w.
        """
        evidence = power * parameters.logit_p()
        evidence -= evidence.max(axis=1, keepdims=True)  # only ratios count, and these cannot overflow
        share = parameters.p / parameters.p.sum(axis=0)
        c = (share * parameters.c).sum(axis=0)
        var = (share * (parameters.var + (parameters.c - c) ** 2)).sum(axis=0)
        return cls(
            np.vstack([np.exp(evidence), np.ones_like(c)]),
            np.vstack([parameters.p, parameters.p.mean(axis=0)]),
            np.vstack([parameters.c, c]),
            np.vstack([parameters.var, var]),
        )


# Sums may be taken in any order (but in the same one for every pair): they then run in vector registers.
_ANY_ORDER = {"reassoc", "contract", "nsz"}


@kernel(fastmath=_ANY_ORDER, inline="always")
def _force(mu: Floats, odds: Floats, forced: bool, out: Floats) -> tuple[int, float]:
    """The posterior with the pair's indicator set (unless ``mu`` has it already), up to its sum.

    Returns the leading topic and the sum.
    """
    total = 0.0
    for s in range(len(mu)):
        out[s] = mu[s] * odds[s] if forced else mu[s]
        total += out[s]
    if total < 1e-300:  # a weight so large that topic and item rule each other out: the item then says nothing
        for s in range(len(mu)):
            out[s] = mu[s]
        total = 1.0
    lead = 0
    for s in range(1, len(mu)):
        if out[s] > out[lead]:
            lead = s
    return lead, total


@kernel(fastmath=_ANY_ORDER, inline="always")
def _normalise(out: Floats) -> None:
    total = 0.0
    for t in range(len(out)):
        total += out[t]
    if total < 1e-300:  # means far off the scale, which no fit gives: nothing is known
        out[:] = 1.0 / len(out)
        return
    scale = 1.0 / total
    for t in range(len(out)):
        out[t] *= scale


@kernel(fastmath=_ANY_ORDER)
def _from_table(mu: Floats, odds: Floats, pairs: _Pairs, line: Ints, density: Floats, out: MixturePrediction) -> None:
    """Predict from the densities (lines, k, L) of the columns: ``line`` (n + 1,) is that of each column."""
    rows, columns, forced = pairs
    probability, topic, posterior = out
    n_topics, n_levels = density.shape[1:]
    weight = np.empty(n_topics)
    for pair in range(len(rows)):
        lead, total = _force(mu[rows[pair]], odds[columns[pair]], forced[pair], weight)
        topic[pair], posterior[pair] = lead, weight[lead] / total
        table = density[line[columns[pair]]]
        levels = probability[pair]
        for s in range(n_topics):
            if weight[s] > 1e-20 * total:  # posteriors are sharp: most topics cannot move a bit of the sum
                for t in range(n_levels):
                    levels[t] += weight[s] * table[s, t]
        _normalise(levels)


@kernel()
def _from_offsets(
    mu: Floats,
    odds: Floats,
    pairs: _Pairs,
    c: Floats,
    var: Floats,
    levels: Floats,
    offset: Floats,
    out: MixturePrediction,
) -> None:
    """Predict with an ``offset`` (n,) of its own for every pair, which is added to the means ``c``."""
    rows, columns, forced = pairs
    probability, topic, posterior = out
    n_topics = c.shape[1]
    weight = np.empty(n_topics)
    exponent = np.empty((n_topics, len(levels)))
    for pair in range(len(rows)):
        i = columns[pair]
        lead, total = _force(mu[rows[pair]], odds[i], forced[pair], weight)
        topic[pair], posterior[pair] = lead, weight[lead] / total
        top = -np.inf  # an offset may push every level far into a tail: compare the logs first
        for s in range(n_topics):
            log_scale = math.log(weight[s] + 1e-300) - 0.5 * math.log(var[i, s])
            for t in range(len(levels)):
                d = levels[t] - offset[pair] - c[i, s]
                exponent[s, t] = log_scale - 0.5 * d * d / var[i, s]
                top = max(top, exponent[s, t])
        density = probability[pair]
        for s in range(n_topics):
            for t in range(len(levels)):
                density[t] += math.exp(exponent[s, t] - top)
        _normalise(density)


@kernel()
def level_density(c: Floats, var: Floats, levels: Floats) -> Floats:
    """N(t; c, var) up to a constant for every level t: (n, k, L) from (n, k)."""
    out = np.empty((c.shape[0], c.shape[1], len(levels)))
    for i in range(c.shape[0]):
        for s in range(c.shape[1]):
            scale = 1.0 / math.sqrt(var[i, s])
            for t in range(len(levels)):
                d = levels[t] - c[i, s]
                out[i, s, t] = scale * math.exp(-0.5 * d * d / var[i, s])
    return out


def predict_mixture(
    mu: Floats,
    tables: ColumnTables,
    rows: Ints,
    columns: Ints,
    forced: Bools,
    levels: Floats,
    *,
    offset: Floats | None = None,
    density: Floats | None = None,
) -> MixturePrediction:
    """The predictive distribution of n (row, column) pairs.

    ``mu`` (m + 1, k) are the posteriors of the rows, and last the prior; ``forced`` (n,) are the pairs whose
    indicator x_i is not in ``mu`` yet and is set to 1 to predict; ``offset`` (n,) is added to the means; ``density``
    is the `level_density` of all columns, if it has been computed already.
    """
    # contiguous: kernels are compiled once more for arrays that are not
    n, pairs = len(rows), _Pairs(np.ascontiguousarray(rows), np.ascontiguousarray(columns), forced)
    out = MixturePrediction(np.zeros((n, len(levels))), np.empty(n, np.int64), np.empty(n))
    if offset is not None:
        if_many(n, _from_offsets, mu, tables.odds, pairs, tables.c, tables.var, levels, offset, out)
        return out
    line = np.arange(len(tables.c))
    if density is None:
        # The densities of a column serve all its pairs: one table of the columns that occur, then no exp per pair.
        occurs = np.zeros(len(tables.c), dtype=bool)
        occurs[columns] = True
        line = np.cumsum(occurs) - 1
        density = level_density(tables.c[occurs], tables.var[occurs], levels)
    if_many(n, _from_table, mu, tables.odds, pairs, line, density, out)
    return out
