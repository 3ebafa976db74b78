"""The kept sweeps that newcomers are drawn into, and that tastes and explanations are taken from."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from lbg_recsys.core.caches import WithoutCaches
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side

# Sweeps of either orientation. Each costs a new user time; with twice as many, the errors of new users of
# MovieLens-100K and FilmTrust are the same to within 0.4%.
MOST = 40


class SomeSweeps(WithoutCaches, Mapping[Side, Draws]):
    """At most `MOST` of the kept sweeps of each side, evenly spaced; they share memory with all of them.

    A pickle has all sweeps, once.
    """

    def __init__(self, draws: Mapping[Side, Draws]) -> None:
        self._all = draws

    @cached_property
    def _some(self) -> dict[Side, Draws]:
        return {side: one.thinned(MOST) for side, one in self._all.items()}

    def __getitem__(self, side: Side) -> Draws:
        return self._some[side]

    def __iter__(self) -> Iterator[Side]:
        return iter(self._some)

    def __len__(self) -> int:
        return len(self._some)
