"""Sufficient statistics: what an M-step needs, additive over any partition of the rows.

So the same two functions do batch, out-of-core, incremental and distributed fitting.
"""

from dataclasses import dataclass, replace

import numpy as np

from lbg_recsys.core.types import Floats


@dataclass(frozen=True)
class SufficientStatistics:
    """Sums over rows weighted by the posteriors mu; ``a + b`` are the statistics of both sets of rows."""

    n_rows: float  # their number, or the sum of their weights
    evidence: float  # sum of the rows' (tempered) log-likelihoods under the parameters of the E-step
    mass: Floats  # (k,)    sum_j mu_sj
    count: Floats  # (n, k)  sum_j mu_sj x_ji
    first: Floats  # (n, k)  sum_j mu_sj x_ji m_ji
    second: Floats  # (n, k)  sum_j mu_sj x_ji m_ji^2

    @classmethod
    def zeros(cls, n_columns: int, n_topics: int) -> "SufficientStatistics":
        """The statistics of no rows at all."""
        table = (n_columns, n_topics)
        return cls(0, 0.0, np.zeros(n_topics), np.zeros(table), np.zeros(table), np.zeros(table))

    def __add__(self, other: "SufficientStatistics") -> "SufficientStatistics":
        return SufficientStatistics(
            self.n_rows + other.n_rows,
            self.evidence + other.evidence,
            self.mass + other.mass,
            self.count + other.count,
            self.first + other.first,
            self.second + other.second,
        )

    def __iadd__(self, other: "SufficientStatistics") -> "SufficientStatistics":
        """The sum in the arrays of this one: large tables are added block after block."""
        for name in ("mass", "count", "first", "second"):
            getattr(self, name).__iadd__(getattr(other, name))
        return replace(self, n_rows=self.n_rows + other.n_rows, evidence=self.evidence + other.evidence)

    def __mul__(self, factor: float) -> "SufficientStatistics":
        """The statistics of rows that each count ``factor`` times."""
        tables = (factor * table for table in (self.mass, self.count, self.first, self.second))
        return SufficientStatistics(factor * self.n_rows, factor * self.evidence, *tables)

    def __sub__(self, other: "SufficientStatistics") -> "SufficientStatistics":
        """Remove rows; what rounding leaves below zero is set to zero."""
        return SufficientStatistics(
            self.n_rows - other.n_rows,
            self.evidence - other.evidence,
            np.maximum(self.mass - other.mass, 0.0),
            np.maximum(self.count - other.count, 0.0),
            self.first - other.first,
            self.second - other.second,
        )

    def over_topics(self) -> "SufficientStatistics":
        """The same rows as those of a single topic."""
        sums = (a.sum(axis=-1, keepdims=True) for a in (self.mass, self.count, self.first, self.second))
        return SufficientStatistics(self.n_rows, self.evidence, *sums)

    def padded(self, n_columns: int) -> "SufficientStatistics":
        """The same statistics with room for columns that came later."""
        extra = ((0, n_columns - len(self.count)), (0, 0))
        return SufficientStatistics(
            self.n_rows,
            self.evidence,
            self.mass,
            np.pad(self.count, extra),
            np.pad(self.first, extra),
            np.pad(self.second, extra),
        )
