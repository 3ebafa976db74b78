"""Blocks of rows that Dask workers keep."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain, pairwise
from operator import add, iadd, itemgetter
from typing import Any

import numpy as np

from lbg_recsys.core.blocks import Subtree, root_sum, subtrees
from lbg_recsys.core.types import Array, Ints
from lbg_recsys.distributed.cluster import NO_WORKERS, check_workers, cluster_of, gathered, is_reached
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.scale import RatingScale
from lbg_recsys.ratings.source import Bounds
from lbg_recsys.ratings.store import STORE, RatingStore

# The number of sums that one task adds, and the most copies of arrays that are too large to have one per block.
_TOGETHER = 8


class Kept(list[Any]):
    """Futures of lists, one per group of blocks, with one result per block: they stay on the workers."""


@dataclass(frozen=True)
class DaskBlocks:
    """Blocks in groups of neighbours, one per thread of a cluster; see `lbg_recsys.core.blocks.Blocks`.

    A step of a fit is one task per group, so that the cost of tasks does not grow with the number of blocks, and sums
    inside a group need no network. `documents_on_dask` and `DaskRatings` make them.

    Attributes
    ----------
    client : distributed.Client
        The cluster.
    groups : list of distributed.Future
        The groups of blocks on the workers.
    n_rows : int array
        The number of rows of each block.
    n_columns : int
        The number of columns of every block.
    direct : bool
        Whether sums come from the workers, and not by way of the scheduler.

    Examples
    --------
    >>> from dask.distributed import Client, wait
    >>> from scipy.sparse import csr_array
    >>> from lbg_recsys.distributed import documents_on_dask
    >>> here = {"n_workers": 1, "processes": False, "dashboard_address": None}  # a cluster inside this process
    >>> with Client(**here) as client:
    ...     blocks = documents_on_dask([csr_array([[2.0, 1.0], [0.0, 3.0]]), csr_array([[1.0, 2.0]])], client)
    ...     _ = wait(blocks.groups)
    >>> blocks.n_rows.tolist(), blocks.n_columns
    ([2, 1], 2)
    """

    client: Any
    groups: Kept
    n_rows: Ints
    n_columns: int
    direct: bool  # whether sums come here from the workers, or by way of the scheduler

    @classmethod
    def placed(cls, client: Any, make: Callable[..., list[Any]], blocks: Sequence[Any], **about: Any) -> "DaskBlocks":
        """Make the blocks on the workers: ``make`` returns a thread's share of them; lost ones are made again."""
        threads = [worker for worker, n in sorted(client.nthreads().items()) for _ in range(n)]
        if not threads:  # they have gone since they were checked
            raise DataError(NO_WORKERS)
        sent = client.submit(_same, make, pure=False)
        groups = [
            client.submit(_call, sent, list(blocks[share]), workers=[worker], allow_other_workers=True, pure=False)
            for worker, share in zip(threads, _cuts(len(blocks), len(threads)), strict=False)
        ]
        return cls(client, Kept(groups), direct=is_reached(client), **about)

    def mapped(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> "DaskBlocks":
        """The blocks that a function makes of these; the workers keep the old and the new ones."""
        return replace(self, groups=self.map(function, *aligned))

    def counted(self, n_rows: Ints) -> "DaskBlocks":
        """The same blocks with other numbers of rows."""
        return replace(self, n_rows=n_rows)

    def map(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> Kept:
        """One result of the function per block; the results stay on the workers."""
        return Kept(self._each(_mapped, function, aligned))

    def total(self, function: Callable[..., Any], *aligned: Sequence[Any]) -> Any:
        """The sum of the results of the function, added on the workers in the order of `core.blocks.tree_sum`."""
        return self._sum(self._each(_summed, function, aligned))

    def advance(self, function: Callable[..., tuple[Any, Any]], *aligned: Sequence[Any]) -> tuple[Any, Kept]:
        """The sum of the first results of the function, and futures of the second ones, which stay on the workers."""
        both = self._each(_advanced, function, aligned)
        sums, staying = (self.client.map(itemgetter(which), both, pure=False) for which in (0, 1))
        return self._sum(sums), Kept(staying)

    def accumulate(self, function: Callable[..., None], out: Array, *aligned: Sequence[Any]) -> None:
        """Let the function add to a large array, for each block.

        At most eight such arrays exist at a time; the last bits of the sum can differ with the number of workers.
        """
        sent, own = self._sent(function), self._own(aligned)
        shares = _cuts(len(self.groups), _TOGETHER)
        parts = [
            self.client.submit(_accumulated, sent, out.shape, *(list(one[share]) for one in own), pure=False)
            for share in shares
        ]
        out += gathered(self.client, [self.client.submit(_added, parts, pure=False)])[0]

    def fetch(self, results: Sequence[Any]) -> Iterator[Any]:
        """The results of `map`, one block after another."""
        return (one for future in results for one in gathered(self.client, [future], self.direct)[0])

    def _each(self, task: Callable[..., Any], function: Callable[..., Any], aligned: Sequence[Sequence[Any]]) -> Any:
        """One future per group, of what the task finds with its number of blocks before, its blocks and theirs."""
        sent, own = self._sent(function), self._own(aligned)
        firsts = [share.start for share in self._shares()]
        return self.client.map(task, [sent] * len(firsts), firsts, *own, pure=False)

    def _sent(self, function: Callable[..., Any]) -> Any:
        # a task of its own carries the function with its tables: each worker gets it once, and it can be lost
        return self.client.submit(_same, function, pure=False)

    def _own(self, aligned: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The groups, and what belongs to them, group by group."""
        shares = self._shares()
        own = [one if isinstance(one, Kept) else [list(one[share]) for share in shares] for one in aligned]
        return [self.groups, *own]

    def _shares(self) -> list[slice]:
        return _cuts(len(self.n_rows), len(self.groups))

    def _sum(self, parts: list[Any]) -> Any:
        while len(parts) > _TOGETHER:
            firsts = range(0, len(parts), _TOGETHER)
            parts = [self.client.submit(_joined, parts[first : first + _TOGETHER], pure=False) for first in firsts]
        if self.direct:  # one step less than a sum that a worker makes and sends
            return _root(gathered(self.client, parts, direct=True))
        return gathered(self.client, [self.client.submit(_root, parts, pure=False)])[0]


def _cuts(n_blocks: int, n_groups: int) -> list[slice]:
    """Which blocks each group has: as many as any other, up to one."""
    cuts = np.linspace(0, n_blocks, min(n_groups, n_blocks) + 1).astype(int).tolist()
    return [slice(first, last) for first, last in pairwise(cuts)]


def _same(value: Any) -> Any:
    return value


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _results(function: Callable[..., Any], blocks: list[Any], aligned: Sequence[list[Any]]) -> Iterator[Any]:
    return (function(*one) for one in zip(blocks, *aligned, strict=True))


def _mapped(function: Callable[..., Any], _: int, blocks: list[Any], *aligned: list[Any]) -> list[Any]:
    return list(_results(function, blocks, aligned))


def _summed(function: Callable[..., Any], first: int, blocks: list[Any], *aligned: list[Any]) -> list[Subtree]:
    found = enumerate(_results(function, blocks, aligned), start=first)
    return subtrees(Subtree(0, number, part) for number, part in found)


def _advanced(
    function: Callable[..., Any], first: int, blocks: list[Any], *aligned: list[Any]
) -> tuple[list[Subtree], list[Any]]:
    staying: list[Any] = []

    def summand(*arguments: Any) -> Any:
        part, own = function(*arguments)
        staying.append(own)
        return part

    return _summed(summand, first, blocks, *aligned), staying


def _accumulated(function: Callable[..., None], shape: tuple[int, ...], *groups: list[list[Any]]) -> Array:
    out = np.zeros(shape)
    for one in zip(*map(chain.from_iterable, groups), strict=True):
        function(*one, out)
    return out


def _added(parts: list[Array]) -> Array:
    return reduce(iadd, parts, np.zeros_like(parts[0]))


def _joined(parts: list[list[Subtree]]) -> list[Subtree]:
    return subtrees(chain.from_iterable(parts), add)  # not in place: an operand may be needed once more


def _root(parts: list[list[Subtree]]) -> Any:
    return root_sum(_joined(parts))


@dataclass(frozen=True)
class DaskRatings:
    """The ratings of a store, whose blocks the workers of a cluster read and keep; `on_dask` makes them.

    Attributes
    ----------
    store : RatingStore
        The ratings.
    client : distributed.Client
        The cluster.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dask.distributed import Client
    >>> from lbg_recsys.readers import CodedRatings
    >>> here = {"n_workers": 1, "processes": False, "dashboard_address": None}  # a cluster inside this process
    >>> with TemporaryDirectory() as folder, Client(**here) as client:
    ...     _ = Path(folder, "ratings.csv").write_text("user,item,rating\\nann,tea,5\\nbob,tea,2\\nann,pot,4\\n")
    ...     store = RatingStore.create(f"{folder}/store", CodedRatings(f"{folder}/ratings.csv"))
    ...     ratings = on_dask(store, client)
    >>> ratings.n_ratings, ratings.extremes
    (3, (2.0, 5.0))
    """

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
        return DaskBlocks.placed(
            self.client,
            partial(_mapped, read, 0),
            range(read.n_blocks),
            n_rows=read.n_rows,
            n_columns=len(self.store.items),
        )

    def whole(self) -> RatingMatrix:
        """All ratings in one matrix in this process."""
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
        If there is no scheduler at the address, or a worker has no lbg-recsys, another version of it, or cannot read
        the store.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> here = {"n_workers": 1, "processes": False, "dashboard_address": None}  # a cluster inside this process
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from lbg_recsys import LBGModel
    >>> from lbg_recsys.readers import CodedRatings
    >>> with TemporaryDirectory() as folder, Client(**here) as client:
    ...     _ = Path(folder, "ratings.csv").write_text("user,item,rating\\nann,tea,5\\nbob,tea,2\\nann,pot,4\\n")
    ...     store = RatingStore.create(f"{folder}/store", CodedRatings(f"{folder}/ratings.csv"))
    ...     model = LBGModel(n_topics=1).fit(on_dask(store, client))
    >>> model.recommend("bob")["item"].tolist()
    ['pot']
    """
    cluster = cluster_of(client)
    check_workers(cluster, store.folder / STORE)
    return DaskRatings(store, cluster)
