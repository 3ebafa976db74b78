"""The parameters of a Latent Bernoulli-Gauss mixture."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lbg_recsys.core.caches import WithoutCaches
from lbg_recsys.core.types import Floats

# With p = 0 or 1 one unexpected indicator would exclude a topic for ever: p keeps this distance.
P_MARGIN = 1e-9
# The kinds of evidence that a row has for a topic, `lbg_recsys.core.em.class_evidence`.
KINDS = ("draws", "bernoulli", "gauss")


@dataclass(frozen=True)
class Parameters(WithoutCaches):
    """``lam`` (k,), and ``p``, ``c``, ``var`` of shape (n, k); see `lbg_recsys.core` for the symbols."""

    lam: Floats
    p: Floats
    c: Floats
    var: Floats

    def __post_init__(self) -> None:
        table = (self.p.shape[0], len(self.lam))
        for name in ("p", "c", "var"):
            shape = getattr(self, name).shape
            if shape != table:
                raise ValueError(f"{name} has shape {shape}; with these lam and p it must be {table}")

    @property
    def n_topics(self) -> int:
        """k, the number of topics."""
        return len(self.lam)

    @property
    def n_columns(self) -> int:
        """n, the number of items or words."""
        return int(self.p.shape[0])

    @cached_property
    def log_p(self) -> Floats:
        """log p, (n, k)."""
        return np.asarray(np.log(self.p))

    @cached_property
    def log_unset(self) -> Floats:
        """log(1 - p), (n, k)."""
        return np.asarray(np.log1p(-self.p))

    def logit_p(self) -> Floats:
        """log p - log(1 - p): what a set indicator adds to the evidence of an unset one."""
        return np.asarray(self.log_p - self.log_unset)

    def log_silence(self) -> Floats:
        """Sum over all columns of log(1 - p_si), (k,): the Bernoulli evidence of a row with no entries."""
        return np.asarray(self.log_unset.sum(axis=0))

    @cached_property
    def log_draw(self) -> Floats:
        """log(p_si / sum_l p_sl), (n, k): the evidence of a set indicator when their number is given."""
        return np.asarray(self.log_p - np.log(self.p.sum(axis=0)))
