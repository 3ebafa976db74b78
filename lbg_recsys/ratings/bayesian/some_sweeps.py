"""The kept sweeps that newcomers are drawn into, and that tastes and explanations are taken from."""

from collections.abc import Iterator, Mapping
from typing import Any

from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side

# Sweeps of either orientation. Each costs a new user time; with twice as many, the errors of new users of
# MovieLens-100K and FilmTrust are the same to within 0.4%.
MOST = 40


class SomeSweeps(Mapping[Side, Draws]):
    """At most `MOST` of the kept sweeps of each side, evenly spaced; they share memory with all of them.

    A pickle has all sweeps, once.
    """

    def __init__(self, draws: Mapping[Side, Draws]) -> None:
        self._all = draws
        self._some = {side: one.thinned(MOST) for side, one in draws.items()}

    def __getitem__(self, side: Side) -> Draws:
        return self._some[side]

    def __iter__(self) -> Iterator[Side]:
        return iter(self._some)

    def __len__(self) -> int:
        return len(self._some)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._all,)
