"""Threads inside of one chain, for loops whose rows do not depend on each other: any number gives the bits of one."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from lbg_recsys.core.interrupts import Between, go_on
from lbg_recsys.core.types import Array


class Threads(NamedTuple):
    """A number of threads, and the function that maps a function over them."""

    number: int = 1
    over: Callable[..., Any] = map

    def share_out(
        self, work: Callable[[int, int], None], indptr: Array, step: int, rounds: int = 1, between: Between = go_on
    ) -> None:
        """Call ``work(begin, end)`` for ranges that make up all rows, with about as many entries each.

        They are cut at multiples of ``step``. Each thread has ``rounds`` ranges or fewer; ``between`` is called where
        no thread is at work.
        """
        n = len(indptr) - 1
        inner = np.searchsorted(indptr, np.linspace(0, indptr[-1], self.number * rounds + 1)[1:-1])
        cuts = np.unique([0, *np.minimum(-(-inner // step) * step, n), n])
        for first in range(0, len(cuts) - 1, self.number):
            some = cuts[first : first + self.number + 1].tolist()
            for _ in self.over(work, some[:-1], some[1:]):
                pass
            between()


ALONE = Threads()


@contextmanager
def threads_for(n_chains: int, n_jobs: int) -> Iterator[Threads]:
    """The share of each of several chains in ``n_jobs`` threads, within the context."""
    number = n_jobs // n_chains
    if number <= 1:
        yield ALONE
        return
    with ThreadPoolExecutor(number * n_chains) as pool:
        yield Threads(number, pool.map)
