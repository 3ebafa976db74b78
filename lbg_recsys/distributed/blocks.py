"""Blocks of rows that Dask workers keep."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np

from lbg_recsys import __version__
from lbg_recsys.core.blocks import block_cuts
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array, Ints
from lbg_recsys.errors import DataError, MissingExtraError
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.scale import RatingScale
from lbg_recsys.ratings.source import Bounds
from lbg_recsys.ratings.store import RatingStore

# Arrays that are too large to exist for each block are summed in so many groups of blocks.
_GROUPS = 8
_SECONDS_TO_ANSWER = 10


@dataclass(frozen=True)
class DaskBlocks:
    """Blocks as futures of a cluster; see `lbg_recsys.core.blocks.Blocks`."""

    client: Any
    futures: list[Any]
    n_rows: Ints
    n_columns: int

    def mapped(self, function: Callable[[SparseRows], SparseRows]) -> "DaskBlocks":
        """The workers keep both."""
        return DaskBlocks(self.client, self.map(function), self.n_rows, self.n_columns)

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
        cuts = block_cuts(self.store.indptr, self.store.block_entries)
        reader = self.client.submit(_same, self.store.block_reader(), pure=False)
        n_blocks = len(cuts) - 1
        futures = self.client.map(_call, [reader] * n_blocks, range(n_blocks), pure=False)
        return DaskBlocks(self.client, futures, np.diff(cuts), len(self.store.items))

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
    cluster = connected(client) if client is None or isinstance(client, str) else client
    _check_workers(cluster, store)
    return DaskRatings(store, cluster)


def connected(address: str | None) -> Any:
    """A client of the cluster at an address, or of a new one on this machine with one thread per worker.

    Parameters
    ----------
    address : str or None
        Where the cluster's scheduler is; None starts one on this machine.

    Returns
    -------
    distributed.Client
        The connection, to be closed by the caller.
    """
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise MissingExtraError("fitting on a cluster", "dask and distributed", "dask") from error
    try:
        if address is None:
            return Client(threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]
        return Client(address, timeout=_SECONDS_TO_ANSWER)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise DataError(
            f"no Dask scheduler answers at {address}: start one (dask scheduler), or give its address as HOST:PORT"
        ) from error


def _check_workers(client: Any, store: RatingStore) -> None:
    found = client.run(_probe, str(store.folder / "ratings.parquet"), on_error="return")
    if not found:
        raise DataError("the Dask cluster has no workers: start some (dask worker SCHEDULER)")
    for worker, answer in found.items():
        if isinstance(answer, BaseException):
            raise DataError(f"the worker {worker} cannot run lbg-recsys: {answer}; install the same packages on it")
        version, sees = answer
        if version != __version__:
            raise DataError(f"the worker {worker} has lbg-recsys {version}, and here it is {__version__}")
        if not sees:
            raise DataError(
                f"the worker {worker} cannot read {store.folder}: put the store into a folder that all workers see"
            )


def _probe(path: str) -> tuple[str, bool]:
    """The version of this package on a worker, and whether the worker sees a file."""
    import os

    import numba  # noqa: F401  # without it nothing could be computed

    return __version__, os.access(path, os.R_OK)
