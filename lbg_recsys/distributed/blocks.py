"""Blocks of rows that Dask workers keep."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import add, itemgetter
from typing import Any

import numpy as np

from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array, Ints
from lbg_recsys.distributed.cluster import check_workers, cluster_of
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.scale import RatingScale
from lbg_recsys.ratings.source import Bounds
from lbg_recsys.ratings.store import STORE, RatingStore

# Arrays that are too large to exist for each block are summed in so many groups of blocks.
_GROUPS = 8


@dataclass(frozen=True)
class DaskBlocks:
    """Blocks as futures of a cluster; see `lbg_recsys.core.blocks.Blocks`."""

    client: Any
    futures: list[Any]
    n_rows: Ints
    n_columns: int

    def mapped(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> "DaskBlocks":
        """The workers keep both."""
        return replace(self, futures=self.map(function, *aligned))

    def counted(self, n_rows: Ints) -> "DaskBlocks":
        """The same blocks with other numbers of rows."""
        return replace(self, n_rows=n_rows)

    def map(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> list[Any]:
        """Futures of the results, which stay on the workers."""
        # a task of its own carries the function with its tables: each worker gets it once, and it can be lost
        sent = self.client.submit(_same, function, pure=False)
        n_blocks = len(self.futures)
        found: list[Any] = self.client.map(_call, [sent] * n_blocks, self.futures, *aligned, pure=False)
        return found

    def total(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> Any:
        """The sum, added in the order of `lbg_recsys.core.blocks.tree_sum` where the results are."""
        return self._sum(self.map(function, *aligned)).result()

    def advance(self, function: Callable[..., tuple[Any, Any]], *aligned: Sequence[Any]) -> tuple[Any, list[Any]]:
        """What stays are futures."""
        both = self.map(function, *aligned)
        summands, staying = (self.client.map(itemgetter(which), both, pure=False) for which in (0, 1))
        return self._sum(summands).result(), staying

    def accumulate(self, function: Callable[..., None], out: Array, *aligned: Sequence[Any]) -> None:
        """Groups of neighbouring blocks are summed one block after another, and the groups then as in `total`."""
        sent = self.client.submit(_same, function, pure=False)
        groups = [group.tolist() for group in np.array_split(np.arange(len(self.futures)), _GROUPS) if len(group)]
        sums = [
            self.client.submit(
                _accumulated,
                sent,
                out.shape,
                [self.futures[number] for number in group],
                *([results[number] for number in group] for results in aligned),
                pure=False,
            )
            for group in groups
        ]
        out += self._sum(sums).result()

    def fetch(self, results: Sequence[Any]) -> Iterator[Any]:
        """The results, one after another."""
        return (future.result() for future in results)

    def _sum(self, parts: list[Any]) -> Any:
        while len(parts) > 1:
            pairs = [self.client.submit(add, *parts[k : k + 2], pure=False) for k in range(0, len(parts) - 1, 2)]
            parts = pairs + parts[len(parts) - len(parts) % 2 :]
        return parts[0]


def _same(value: Any) -> Any:
    return value


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _accumulated(
    function: Callable[..., None], shape: tuple[int, ...], blocks: list[SparseRows], *aligned: list[Any]
) -> Array:
    out = np.zeros(shape)
    for rows, *own in zip(blocks, *aligned, strict=True):
        function(rows, *own, out)
    return out


@dataclass(frozen=True)
class DaskRatings:
    """The ratings of a store, whose blocks the workers of a cluster read and keep."""

    store: RatingStore
    client: Any

    @property
    def scale(self) -> RatingScale:
        """The rating scale."""
        return self.store.scale

    @property
    def n_ratings(self) -> int:
        """How many ratings there are, duplicates counted once."""
        return self.store.n_ratings

    @property
    def extremes(self) -> Bounds:
        """The lowest and the highest rating that was given."""
        return self.store.extremes

    def blocks(self, n_jobs: int = 1) -> DaskBlocks:
        """The users as rows, in blocks; the workers have threads of their own."""
        read = self.store.block_reader()
        sent = self.client.submit(_same, read, pure=False)
        threads = [worker for worker, n in sorted(self.client.nthreads().items()) for _ in range(n)]
        futures: list[Any] = []
        # neighbours are together, so that most sums of neighbours need no network; a lost worker's go elsewhere
        for worker, numbers in zip(threads, np.array_split(np.arange(read.n_blocks), len(threads)), strict=True):
            own = [sent] * len(numbers), numbers.tolist()
            futures += self.client.map(_call, *own, pure=False, workers=[worker], allow_other_workers=True)
        return DaskBlocks(self.client, futures, read.n_rows, len(self.store.items))

    def whole(self) -> RatingMatrix:
        """All ratings in one matrix, here."""
        return self.store.whole()


def on_dask(store: RatingStore, client: Any = None) -> DaskRatings:
    """The ratings of a store for a fit on a Dask cluster.

    Parameters
    ----------
    store : RatingStore
        Its folder must be one that all workers see under the same name.
    client : distributed.Client or str, default=None
        The cluster or its address; None starts one on the cores of this machine.

    Returns
    -------
    DaskRatings
        What the ``fit`` of a model takes.

    Raises
    ------
    DataError
        If nobody answers at the address, or a worker has no lbg-recsys, another version of it, or cannot read the
        store.
    """
    cluster = cluster_of(client)
    check_workers(cluster, store.folder / STORE)
    return DaskRatings(store, cluster)
