"""How often the classes of users rate each item, in every kept sweep with users as rows."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.caches import WithoutCaches
from lbg_recsys.core.gibbs.class_rates import class_logits
from lbg_recsys.core.gibbs.draws import Draws, in_steps
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.types import Ints
from lbg_recsys.ratings.bayesian.standardise import INDICATOR_WEIGHT
from lbg_recsys.ratings.matrix import RatingMatrix


class Evidence(NamedTuple):
    """The evidence of rating an item about the user's classes: weighted logits less those of class 0."""

    steps: npt.NDArray[np.int8]  # (S, items, H, K - 1), in units of
    unit: npt.NDArray[np.float32]  # (S, H)


class ItemRates(WithoutCaches):
    """The rates of classes, from the ratings of the training or, without its users, from the evidence kept of them.

    The evidence of all items, one byte each, takes a pass over the training ratings per kept sweep: it is computed
    for the first new user and cached. A pickle leaves it out unless the training ratings are missing. There are no
    rates if no kept sweep has users as rows.
    """

    def __init__(self, draws: Mapping[Side, Draws], training: RatingMatrix, kept: Evidence | None = None) -> None:
        self._of_sides, self._training, self._kept = draws, training, kept

    @property
    def _draws(self) -> Draws:
        return self._of_sides[Side.USERS]

    def logits(self, sweep: int, items: Ints) -> npt.NDArray[np.float32]:
        """The `class_logits` of some items, (items, H, K); from kept evidence, those less the logits of class 0."""
        logits = np.zeros((len(items), *self._draws.lam.shape[1:]), np.float32)
        if self._kept is not None:
            steps, unit = self._kept.steps[sweep, items], self._kept.unit[sweep]
            logits[:, :, 1:] = steps * (unit / np.float32(INDICATOR_WEIGHT[Side.USERS]))[:, np.newaxis]
            return logits
        raters = self._training.rows.transposed
        class_logits(raters.indptr, raters.columns, self._draws.z[sweep, :-1], items, logits)
        return logits

    def of_all_sweeps(self, items: Ints) -> Iterator[npt.NDArray[np.float32]]:
        """The logits of some items in each kept sweep."""
        return (self.logits(sweep, items) for sweep in range(len(self._draws)))

    @cached_property
    def evidence(self) -> Evidence:
        """The evidence of all items."""
        if self._kept is not None:
            return self._kept
        items, (n_sweeps, n_components, k) = np.arange(self._training.n_items), self._draws.lam.shape
        evidence = np.empty((n_sweeps, len(items), n_components, k - 1), np.int8)
        unit = np.empty((n_sweeps, n_components), np.float32)
        for sweep, logits in enumerate(self.of_all_sweeps(items)):
            difference = logits[:, :, 1:] - logits[:, :, :1]
            evidence[sweep], unit[sweep] = in_steps(INDICATOR_WEIGHT[Side.USERS] * difference.swapaxes(0, 1))
        return Evidence(evidence, unit)
