"""Ratings sorted by the workers of a cluster: one shuffle from partitions of a log to files of consecutive users.

A partition is a file or a partition of a Dask DataFrame. Its worker numbers its ids; the client joins the numberings
(ids are sent, ratings are not), cuts the users into files of about eight blocks, and tells each partition which of
its ids are which. The partitions are then split by file, and a file is sorted and written by the worker that gets its
pieces. Files and blocks depend on the ratings and their order alone, not on workers and partitions.
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.blocks import block_cuts, block_size
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array, Codes, Floats, Ints
from lbg_recsys.distributed.cluster import check_workers, cluster_of, gathered
from lbg_recsys.errors import DataError
from lbg_recsys.files import atomic_write
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings.ids import IdIndex, factorize
from lbg_recsys.ratings.matrix import as_ratings
from lbg_recsys.ratings.scale import RatingScale
from lbg_recsys.ratings.sorting import GroupWriter, arrow
from lbg_recsys.ratings.source import Bounds
from lbg_recsys.ratings.store import RatingStore, new_folder, part_name, write_facts
from lbg_recsys.ratings.tables import columns_of, is_table
from lbg_recsys.readers.coded import CodedRatings, files_of, refuse_difference
from lbg_recsys.readers.ids import Coded, IdColumn, NoRowsError
from lbg_recsys.words import class_of

_BLOCKS_PER_FILE = 8


class Piece(NamedTuple):
    """The ratings of a partition with codes of its own, or those of one file of a partition with codes of all."""

    users: Codes
    items: Codes
    ratings: Floats


class About(NamedTuple):
    """What the client learns of a partition."""

    where: str
    kinds: Mapping[str, str]
    users: Array  # the ids by their codes
    items: Array
    counts: Ints  # ratings by user
    values: Floats  # the distinct ratings


def store_on_dask(
    source: Any,
    folder: str | os.PathLike[str],
    client: Any = None,
    *,
    scale: Bounds | None = None,
    levels: npt.ArrayLike | None = None,
    progress: Progress = silent,
    **how: Any,
) -> RatingStore:
    """Sort ratings into a store on a Dask cluster; no rating passes through this process.

    Parameters
    ----------
    source : dask.dataframe.DataFrame, path or list of paths
        A partition is a partition of the DataFrame, or a file: each must fit into the memory of a worker. Columns are
        found by name as in `RatingMatrix.from_frame` and `CodedRatings`. A folder is all its files.
    folder : path
        A new or empty folder that this process and all workers see under the same name.
    client : distributed.Client or str, default=None
        The cluster or its address; None starts one on the cores of this machine.
    scale : tuple of (float, float), default=None
        Lowest and highest rating; found in the ratings by default.
    levels : array-like, default=None
        All levels of the scale, where they cannot be found in the ratings.
    progress : callable, default=silent
        Called as ``progress(done, total, note)`` after every partition and every file.
    **how
        ``columns``, ``header`` and ``delimiter`` of files; see `CodedRatings`.

    Returns
    -------
    RatingStore
        The store, for `lbg_recsys.distributed.on_dask` or a fit on this machine.

    Raises
    ------
    DataError
        If a partition cannot be read or differs from the others in its columns. The message names the partition, and
        nothing is left in the folder.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> here = {"n_workers": 1, "processes": False, "dashboard_address": None}  # a cluster inside this process
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Client(**here) as client:
    ...     _ = Path(folder, "ratings.csv").write_text("user,item,rating\\nann,tea,5\\nbob,tea,2\\nann,pot,4\\n")
    ...     store_on_dask(f"{folder}/ratings.csv", f"{folder}/store", client).n_ratings
    3
    """
    arrow()
    if is_table(source) and not hasattr(source, "to_delayed"):
        raise DataError(
            f"{class_of(source)} is in the memory of this process: give the model's fit the table itself, "
            "or a Dask DataFrame (dask.dataframe.from_pandas)"
        )
    cluster, path = cluster_of(client), Path(folder)
    with new_folder(path):
        check_workers(cluster, path)
        return _sorted_into(path, cluster, _partitions(source, cluster, how), scale, levels, progress)


def _partitions(source: Any, client: Any, how: Mapping[str, Any]) -> list[Any]:
    """Futures of (About or why there is nothing, Piece)."""
    if hasattr(source, "to_delayed"):
        frames = client.compute(list(source.to_delayed()), sync=False)
        return [
            client.submit(_of_frame, frame, f"partition {number}", pure=False) for number, frame in enumerate(frames)
        ]
    named = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    files = [file.resolve() for one in named for file in files_of(one)]
    return [client.submit(_of_file, file, dict(how), pure=False) for file in files]


def _of_file(path: Path, how: dict[str, Any]) -> tuple[About | str, Piece | None]:
    ratings = CodedRatings(path, **how)
    try:
        columns = [np.concatenate(column) for column in zip(*ratings, strict=True)]
    except NoRowsError as error:
        return str(error), None
    ids = np.asarray(ratings.users()), np.asarray(ratings.items())
    return _described(str(path), ratings.kinds, ids, Piece(*columns))


def _of_frame(frame: Any, where: str) -> tuple[About | str, Piece | None]:
    if not len(frame):
        return f"{where} has no row", None
    try:
        users, items, ratings = columns_of(frame, ["user", "item"], "ratings", optional=["rating"])
        (user_index, user), (item_index, item) = factorize(users, "the user id"), factorize(items, "the item id")
        kinds = {"user": _kind("user", user_index), "item": _kind("item", item_index)}
        values = np.ones(len(user)) if ratings is None else as_ratings(ratings)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    if ratings is not None:
        kinds["rating"] = "numbers"
    ids = np.array(list(user_index), dtype=object), np.array(list(item_index), dtype=object)
    return _described(where, kinds, ids, Piece(user, item, values))


def _kind(role: str, index: IdIndex) -> str:
    """What the ids are; a store keeps those of one type that a Parquet column has."""
    types = {type(one) for one in index}
    kind = {int: "integers", float: "numbers", str: "text"}.get(types.pop()) if len(types) == 1 else None
    if kind is None or (kind == "integers" and not all(-(2**63) <= one < 2**63 for one in index)):
        raise DataError(f"the {role} ids are not all text or all integers of 64 bits: make them text")
    return kind


def _described(
    where: str, kinds: Mapping[str, str], ids: tuple[Array, Array], own: Piece
) -> tuple[About | str, Piece | None]:
    counts = np.bincount(own.users, minlength=len(ids[0]))
    return About(where, dict(kinds), *ids, counts, np.unique(own.ratings)), own


def _sorted_into(
    path: Path,
    client: Any,
    partitions: Sequence[Any],
    scale: Bounds | None,
    levels: npt.ArrayLike | None,
    progress: Progress,
) -> RatingStore:
    users, items = _Numbering("user"), _Numbering("item")
    abouts: list[About] = []
    split: list[tuple[Any, Codes, Codes]] = []
    counts, values = np.zeros(0, np.int64), np.zeros(0)
    described = [client.submit(itemgetter(0), one, pure=False) for one in partitions]
    for number, (one, future) in enumerate(zip(partitions, described, strict=True)):
        (about,) = gathered(client, [future])
        progress(number + 1, 2 * len(partitions), "partitions read")
        if isinstance(about, str):
            warnings.warn(f"{about}: it is left out", UserWarning, stacklevel=3)
            continue
        if abouts:
            refuse_difference(abouts[0].kinds, abouts[0].where, about.kinds, about.where)
        own_users, own_items = users.join(about), items.join(about)
        counts = np.append(counts, np.zeros(len(users) - len(counts), np.int64))
        counts[own_users] += about.counts
        values = np.union1d(values, about.values)
        abouts.append(about._replace(users=np.zeros(0), items=np.zeros(0), counts=np.zeros(0, np.int64)))
        split.append((one, own_users, own_items))
    if not abouts:
        raise DataError("no partition has a row: there are no ratings to read")
    found = RatingScale.find(values, scale, levels)
    for about in abouts:
        found.refuse_outsiders(about.values, partial(_in, about.where))
    size = block_size(int(counts.sum()))
    cuts = block_cuts(np.append(0, np.cumsum(counts)), _BLOCKS_PER_FILE * size)
    pieces = [client.submit(_split, *one, cuts, pure=False) for one in split]
    n_files = len(cuts) - 1
    written = [
        client.submit(
            _write,
            path / part_name(number, n_files),
            [client.submit(itemgetter(number), piece, pure=False) for piece in pieces],
            (first, last, len(items)),
            size,
            pure=False,
        )
        for number, (first, last) in enumerate(pairwise(cuts.tolist()))
    ]
    del pieces
    lengths = []
    for number, future in enumerate(written):
        lengths += gathered(client, [future])
        progress(n_files + number + 1, 2 * n_files, "files sorted")
    joined = np.concatenate(lengths)
    extremes = float(values[0]), float(values[-1])
    duplicates = int(counts.sum() - joined.sum())
    has_ratings = "rating" in abouts[0].kinds
    write_facts(path, users.index(), items.index(), joined, found, extremes, duplicates, cuts, has_ratings)
    return RatingStore.open(path)


def _in(where: str, _: int) -> str:
    return f"in {where}"


class _Numbering:
    """The ids of all partitions in the order of their first appearance."""

    def __init__(self, role: str) -> None:
        self._role, self._ids, self._written = role, IdColumn(integers=False), False

    def __len__(self) -> int:
        return len(self._ids)

    def join(self, about: About) -> Codes:
        """The codes of the ids of a partition among all."""
        ids = getattr(about, f"{self._role}s")
        self._written = about.kinds[self._role] == "written"
        # a CSV file with nothing but numbers has integers, until another one has a name
        dictionary = [str(one) for one in ids] if self._written else ids.tolist()
        return np.asarray(self._ids.encode(Coded(dictionary, np.arange(len(ids)))))

    def index(self) -> IdIndex:
        """All ids."""
        if not self._written:
            return IdIndex(self._ids)
        again = IdColumn()
        again.encode(Coded(list(self._ids), np.arange(len(self))))
        return IdIndex(again.distinct())


def _split(partition: tuple[About, Piece], users: Codes, items: Codes, cuts: Ints) -> list[Piece]:
    """The ratings of a partition by file, in the codes of all, in the order of the partition."""
    own = partition[1]
    user = users[own.users]
    file = np.searchsorted(cuts, user, side="right") - 1
    order = np.argsort(file, kind="stable")
    ends = np.cumsum(np.bincount(file, minlength=len(cuts) - 1))[:-1]
    columns = (np.split(column[order], ends) for column in (user, items[own.items], own.ratings))
    return [Piece(*piece) for piece in zip(*columns, strict=True)]


def _write(path: Path, pieces: list[Piece], about: tuple[int, int, int], block_entries: int) -> Ints:
    """Sort and write the ratings of the users ``first:last``; how many ratings each of them has."""
    first, last, n_items = about
    users, items, ratings = (np.concatenate(column) for column in zip(*pieces, strict=True))
    rows = SparseRows.from_entries(users - first, items, ratings, last - first, n_items)
    with atomic_write(path) as stream, GroupWriter(stream, block_entries) as writer:
        writer.add(rows)
    return rows.lengths
