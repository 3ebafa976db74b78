"""Rows in blocks: what an E-step runs over, wherever the rows are.

A fit never sees all rows at once. It asks `Blocks` for sums over the blocks. The blocks are cut and the sums added
by rules that depend on the rows alone, so that rows in memory, on disk or on a cluster give the same bits, with any
number of threads, workers and partitions.
"""

import math
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from operator import iadd
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array, Ints

S = TypeVar("S")
T = TypeVar("T")

# The approximate number of entries per block: 12 MB. Smaller blocks need more additions of statistics, larger blocks
# more memory.
BLOCK_ENTRIES = 1 << 20


class Blocks(Protocol):
    """Consecutive rows in blocks, here or elsewhere.

    What `map` finds stays where the block is; ``aligned`` are results of `map`, of which each call of the function
    gets the one of its block.
    """

    @property
    def n_columns(self) -> int:
        """The number of columns, the same for all blocks."""

    @property
    def n_rows(self) -> Ints:
        """The number of rows of each block."""

    def mapped(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> "Blocks":
        """The blocks that the function returns for these: the same rows with other entries, or in another form."""

    def counted(self, n_rows: Ints) -> "Blocks":
        """The same blocks with these numbers of rows, after a function of `mapped` has removed some."""

    def map(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> Sequence[Any]:
        """One result of ``function(rows, *one of each aligned)`` per block."""

    def total(self, function: Callable[..., T], *aligned: Sequence[Any]) -> T:
        """The sum of these results, added as in `tree_sum`."""

    def advance(self, function: Callable[..., tuple[T, Any]], *aligned: Sequence[Any]) -> tuple[T, Sequence[Any]]:
        """The sum of the first of two results per block, as of `total`, and the second ones, as of `map`."""

    def accumulate(self, function: Callable[..., None], out: Array, *aligned: Sequence[Any]) -> None:
        """Let ``function(rows, *one of each aligned, out)`` add to a large array, for each block."""

    def fetch(self, results: Sequence[Any]) -> Iterator[Any]:
        """The results of `map`, here, in the order of the blocks."""


def block_size(n_entries: int) -> int:
    """Entries per block, up to the end of a row, chosen so that the number of blocks is a power of two.

    Two, four or eight workers or threads then have equal shares, and each share is one node of `tree_sum`.

    >>> [block_size(n) for n in (10, 10**6, 10**7, 10**8)]
    [10, 1000000, 1250000, 781250]
    """
    doublings = round(math.log2(max(n_entries, 1) / BLOCK_ENTRIES))
    return max(-(-n_entries // (1 << max(doublings, 0))), 1)


def block_cuts(indptr: Ints, size: int) -> Ints:
    """Where blocks begin, and the number of rows as the last: row j is in block ``indptr[j] // size``.

    >>> block_cuts(np.array([0, 3, 4, 9, 10]), 4).tolist()
    [0, 2, 3, 4]
    """
    number = indptr[:-1] // size
    begins = np.flatnonzero(np.append(True, number[1:] != number[:-1])) if len(number) else np.zeros(1, np.int64)
    return np.append(begins, len(number))


class Subtree(NamedTuple):
    """A node in the tree of `tree_sum`: the sum of parts ``number << level`` to ``(number + 1) << level``."""

    level: int
    number: int
    total: Any


def subtrees(parts: Iterable[Subtree], add: Callable[[Any, Any], Any] = iadd) -> list[Subtree]:
    """The same sums of neighbouring parts in as few nodes of the tree as hold them; ``add`` may change its left one.

    >>> [(node.level, node.number) for node in subtrees(Subtree(0, number, 1.0) for number in range(5, 10))]
    [(0, 5), (1, 3), (1, 4)]
    """
    held: list[Subtree] = []
    for part in parts:
        held.append(part)
        while len(held) > 1 and held[-2].level == held[-1].level and held[-2].number % 2 == 0:
            right, left = held.pop(), held.pop()
            held.append(Subtree(left.level + 1, left.number // 2, add(left.total, right.total)))
    return held


def tree_sum(parts: Iterable[T]) -> T:
    """The sum of at least one part as a balanced tree over their order; at most a logarithm of them are held.

    The left operand of an addition may be changed.

    >>> tree_sum(["a", "b", "c"])
    'abc'
    """
    total: T = root_sum(subtrees(Subtree(0, number, part) for number, part in enumerate(parts)))
    return total


def root_sum(nodes: Sequence[Subtree]) -> Any:
    """The sum of all parts from those of `subtrees` that begin with the first part."""
    return reduce(lambda right, left: left + right, [node.total for node in reversed(nodes)])


def in_order(function: Callable[[S], T], items: Sequence[S], n_jobs: int) -> Iterator[T]:
    """``map`` in ``n_jobs`` threads: results in the order of the items; at most ``n_jobs`` of them wait to be taken.

    >>> list(in_order(len, ["a", "bb", "ccc"], 2))
    [1, 2, 3]
    """
    if min(n_jobs, len(items)) <= 1:
        yield from map(function, items)
        return
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(n_jobs) as threads:
        for item in items:
            waiting.append(threads.submit(function, item))
            if len(waiting) == n_jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def random_states(
    generator: np.random.Generator, sizes: Iterable[int], draw: Callable[[np.random.Generator, int], Any]
) -> list[Mapping[str, Any]]:
    """The generator as it is before each of several draws; it ends as if all had been one draw.

    Blocks that draw from these (`generator_at`) have the numbers that all rows together would have.
    """
    states = []
    for size in sizes:
        states.append(generator.bit_generator.state)
        draw(generator, size)
    return states


def generator_at(state: Mapping[str, Any]) -> np.random.Generator:
    """The generator that is in a state of `random_states`."""
    generator = np.random.default_rng()
    generator.bit_generator.state = state
    return generator


def digest(blocks: Blocks) -> dict[str, object]:
    """How many rows and columns there are, and a checksum of what the rows hold."""
    checks = list(blocks.fetch(blocks.map(_checksum)))
    return {"rows": int(blocks.n_rows.sum()), "columns": blocks.n_columns, "checksum": zlib.crc32(b"".join(checks))}


def _checksum(rows: SparseRows) -> bytes:
    found = 0
    for array in (rows.indptr, rows.columns, rows.values):
        found = zlib.crc32(np.ascontiguousarray(array).data, found)
    return found.to_bytes(4, "little")


@dataclass(frozen=True)
class LocalBlocks:
    """Blocks that this process reads one after another, or ``n_jobs`` at a time in threads: kernels hold no lock."""

    read: Callable[[int], Any]
    n_rows: Ints
    n_columns: int
    n_jobs: int = 1
    in_memory: bool = True

    @classmethod
    def of(cls, rows: SparseRows, n_jobs: int = 1, size: int | None = None) -> "LocalBlocks":
        """Rows in memory, in blocks of ``size`` entries, which are views."""
        cuts = block_cuts(rows.indptr, size or block_size(len(rows.columns)))
        parts = [rows] if len(cuts) == 2 else [rows.part(first, last) for first, last in pairwise(cuts.tolist())]
        return cls(parts.__getitem__, np.diff(cuts), rows.n_columns, n_jobs)

    @classmethod
    def single(cls, rows: Any, shape: tuple[int, int]) -> "LocalBlocks":
        """All rows, in whatever form, as one block."""
        return cls([rows].__getitem__, np.array([shape[0]]), shape[1])

    def mapped(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> "LocalBlocks":
        """The other entries are kept where the rows are in memory, and made at each reading where they are not."""
        if self.in_memory:
            return replace(self, read=list(self._each(function, *aligned)).__getitem__)
        return replace(self, read=lambda number: self._one(function, aligned, number))

    def counted(self, n_rows: Ints) -> "LocalBlocks":
        """The same blocks with other numbers of rows."""
        return replace(self, n_rows=n_rows)

    def map(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> list[Any]:
        """One result per block."""
        return list(self._each(function, *aligned))

    def total(self, function: Callable[..., T], *aligned: Sequence[Any]) -> T:
        """The sum over all blocks."""
        return tree_sum(self._each(function, *aligned))

    def advance(self, function: Callable[..., tuple[T, Any]], *aligned: Sequence[Any]) -> tuple[T, list[Any]]:
        """Memory holds statistics of at most log2(blocks) blocks, and what `map` keeps of all."""
        staying: list[Any] = []

        def summands() -> Iterator[T]:
            for summand, own in self._each(function, *aligned):
                staying.append(own)
                yield summand

        return tree_sum(summands()), staying

    def accumulate(self, function: Callable[..., None], out: Array, *aligned: Sequence[Any]) -> None:
        """One block after another, in one thread."""
        for number in range(len(self.n_rows)):
            function(self.read(number), *(results[number] for results in aligned), out)

    def fetch(self, results: Sequence[Any]) -> Iterator[Any]:
        """The results are here."""
        return iter(results)

    def _each(self, function: Callable[..., T], *aligned: Sequence[Any]) -> Iterator[T]:
        """Results in the order of the blocks, of which at most ``n_jobs`` wait to be taken."""
        return in_order(partial(self._one, function, aligned), range(len(self.n_rows)), self.n_jobs)

    def _one(self, function: Callable[..., T], aligned: Sequence[Sequence[Any]], number: int) -> T:
        return function(self.read(number), *(results[number] for results in aligned))
