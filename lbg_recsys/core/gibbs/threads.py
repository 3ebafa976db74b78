"""Threads inside of one chain, for loops whose rows do not depend on each other: any number gives the bits of one."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple


class Threads(NamedTuple):
    """So many threads, and what maps a function on them."""

    number: int = 1
    over: Callable[..., Any] = map

    def share_out(self, work: Callable[[int, int], None], n: int, step: int) -> None:
        """Call ``work(begin, end)`` for ranges that make up 0..n, cut at multiples of ``step``."""
        length = -(-n // (step * self.number)) * step or 1
        begins = range(0, n, length)
        for _ in self.over(work, begins, (min(begin + length, n) for begin in begins)):
            pass


ALONE = Threads()


@contextmanager
def threads_for(n_chains: int, n_jobs: int) -> Iterator[Threads]:
    """What each of several chains has of ``n_jobs`` threads, while the context lasts."""
    number = n_jobs // n_chains
    if number <= 1:
        yield ALONE
        return
    with ThreadPoolExecutor(number * n_chains) as pool:
        yield Threads(number, pool.map)
