"""How many entries rows or columns have, as a feature of them."""

from typing import NamedTuple

import numpy as np

from lbg_recsys.core.types import Array


class Amounts(NamedTuple):
    """The distribution of log(1 + entries): its mean, spread (1 if all are equal), least and largest."""

    mean: float
    spread: float
    low: float
    high: float

    @classmethod
    def of(cls, counts: Array) -> "Amounts":
        """From the numbers of entries of some columns, at least one."""
        usual = np.log1p(counts)
        spread = float(usual.std())
        return cls(float(usual.mean()), spread if spread > 0 else 1.0, float(usual.min()), float(usual.max()))


def standard_amount(n_entries: Array, among: Amounts) -> Array:
    """The logarithm of the number of entries of rows or columns, (n,), as a feature of them.

    It is standardised by the numbers of entries ``among`` and clipped to their range, because a line fitted to them
    does not extrapolate.
    """
    amount = (np.log1p(n_entries).clip(among.low, among.high) - among.mean) / among.spread
    return np.asarray(amount, np.float64)


def column_features(n_col: Array, among: Amounts, known: Array | None = None) -> Array:
    """The features of columns besides their profiles, (columns, 2 + E).

    A constant, the `standard_amount`, and what is ``known`` besides the entries (columns, E).
    """
    columns = [np.ones(len(n_col)), standard_amount(n_col, among)]
    return np.column_stack(columns if known is None else [*columns, known])
