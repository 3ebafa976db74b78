"""Ratings on disk, sorted by user, for fits that never hold them all in memory.

A store is a folder:

    store.json        sizes, the rating scale, the number of ratings per block; written last
    users.parquet     the ids by their codes, and how many ratings each user has
    items.parquet     the ids by their codes
    ratings.parquet   item and rating, sorted by user and item; a row group is a block of `lbg_recsys.core.blocks`

A cluster writes several such files at a time, ratings-00000.parquet and so on, of consecutive users.

Codes and entries are those of a `RatingMatrix` of the same ratings. So are the blocks of a single file, and fits to
them are equal bit for bit.
"""

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.blocks import LocalBlocks, block_cuts, block_size, in_order
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Codes, Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.files import atomic_write, naming, private_folder, sweep_folders
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings.ids import IdIndex
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.scale import RatingScale
from lbg_recsys.ratings.sorting import Sorting, arrow
from lbg_recsys.ratings.source import Bounds

STORE = "store.json"
_FORMAT = 1
_BYTES_PER_RATING = 12  # of a matrix in memory


class CodedSource(Protocol):
    """Ratings in batches of codes, such as `lbg_recsys.readers.CodedRatings`."""

    @property
    def has_ratings(self) -> bool:
        """Whether there are ratings, and not only who took what; known after the last batch."""

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        """Codes of users, codes of items, ratings; a code is the number of ids that came before."""

    def users(self) -> Iterable[Any]:
        """The ids of the users by their codes, after the last batch."""

    def items(self) -> Iterable[Any]:
        """The ids of the items by their codes, after the last batch."""


@dataclass(frozen=True)
class RatingStore:
    """Sorted ratings in a folder; make one with `create`, open it again with `open`.

    Attributes
    ----------
    folder : Path
        The folder.
    users, items : IdIndex
        The ids by their codes.
    scale : RatingScale
        The rating scale.
    indptr : int array of shape (n_users + 1,)
        Where the ratings of each user begin.
    extremes : tuple of (float, float)
        The lowest and the highest rating that was given.
    n_ratings : int
        Number of ratings, without duplicates.
    n_duplicates : int
        Number of ratings that were replaced, because a later one is of the same user and item.
    block_entries : int
        Ratings per block, about.
    parts : int array
        The first user of each file, and the number of users.
    has_ratings : bool
        False if only who took what is known, and all ratings are 1.
    memory : int or None
        The bytes that `whole` may take in memory: a larger matrix is kept in a temporary file.

    Examples
    --------
    >>> import tempfile
    >>> from lbg_recsys.datasets import load_sample
    >>> from lbg_recsys.readers import CodedRatings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_sample().ratings.to_parquet(f"{folder}/ratings.parquet")
    ...     store = RatingStore.create(f"{folder}/store", CodedRatings(f"{folder}/ratings.parquet"), memory=10**9)
    >>> store.n_ratings, len(store.users), len(store.items)
    (6065, 200, 120)
    """

    folder: Path
    users: IdIndex
    items: IdIndex
    scale: RatingScale
    indptr: Ints
    extremes: Bounds
    n_duplicates: int
    block_entries: int
    parts: Ints
    has_ratings: bool = True
    memory: int | None = None

    @property
    def n_ratings(self) -> int:
        """How many ratings there are, duplicates counted once."""
        return int(self.indptr[-1])

    def blocks(self, n_jobs: int = 1) -> LocalBlocks:
        """The users as rows, in blocks that are read when they are needed."""
        read = self.block_reader()
        return LocalBlocks(read, read.n_rows, len(self.items), n_jobs, in_memory=False)

    def block_reader(self) -> "BlockReader":
        """The function that reads a block by its number, for this process or another one."""
        return BlockReader(self.folder, self.indptr, self.parts, self.block_entries, len(self.items))

    def whole(self) -> RatingMatrix:
        """All ratings in one matrix."""
        on_disk = self.memory is not None and _BYTES_PER_RATING * self.n_ratings > self.memory
        columns, values = self._mapped() if on_disk else self._joined()
        rows = SparseRows(self.indptr, columns, values, len(self.items))
        return RatingMatrix(self.users, self.items, self.scale, rows, self.n_duplicates)

    def _joined(self) -> tuple[Codes, Floats]:
        """Items and ratings of all blocks in memory."""
        columns, values = np.empty(self.n_ratings, np.int32), np.empty(self.n_ratings)
        done = 0
        for rows in self._each_block():
            columns[done : done + len(rows.columns)] = rows.columns
            values[done : done + len(rows.columns)] = rows.values
            done += len(rows.columns)
        return columns, values

    def _mapped(self) -> tuple[Codes, Floats]:
        """Items and ratings of all blocks in files without a name.

        They are written before they are mapped, so that a full disk is an error and does not end the process later.
        """
        at = self.folder if os.access(self.folder, os.W_OK) else Path(tempfile.gettempdir())
        with naming(at), tempfile.TemporaryFile(dir=at) as items, tempfile.TemporaryFile(dir=at) as ratings:
            for rows in self._each_block():
                items.write(rows.columns.data)
                ratings.write(rows.values.data)
            columns = np.memmap(items, np.int32, "c", shape=(self.n_ratings,))
            values = np.memmap(ratings, np.float64, "c", shape=(self.n_ratings,))
        return np.asarray(columns), np.asarray(values)

    def _each_block(self) -> Iterator[SparseRows]:
        read = self.block_reader()
        return in_order(read, range(read.n_blocks), 2)  # decoding holds no lock

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, memory: int | None = None) -> "RatingStore":
        """Open a store that `create` made.

        Parameters
        ----------
        folder : path-like
            The folder of the store.
        memory : int, default=None
            Bytes that `whole` may take in memory; a larger matrix is kept in a temporary file. Not bounded by
            default.

        Returns
        -------
        RatingStore
            The store.

        Raises
        ------
        DataError
            If the folder is not a store, or the store is damaged or of another format.

        Examples
        --------
        >>> import tempfile
        >>> from lbg_recsys.readers import CodedRatings
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "ratings.csv").write_text("user,item,rating\\nann,tea,5\\nbob,tea,2\\n")
        ...     _ = RatingStore.create(f"{folder}/store", CodedRatings(f"{folder}/ratings.csv"))
        ...     list(RatingStore.open(f"{folder}/store").users)
        ['ann', 'bob']
        """
        pa, pq = arrow()
        path = Path(folder)
        try:
            facts = json.loads((path / STORE).read_text(encoding="utf-8"))
            if facts["format"] != _FORMAT:
                raise DataError(f"{path} is a store of format {facts['format']}, and this version reads {_FORMAT}")
            users = pq.read_table(path / "users.parquet")
            items = pq.read_table(path / "items.parquet")
            counts = users["ratings"].to_numpy()
            return cls(
                path,
                IdIndex(users["id"].to_pylist()),
                IdIndex(items["id"].to_pylist()),
                RatingScale(np.array(facts["levels"]), facts["discrete"]),
                np.append(0, np.cumsum(counts)),
                tuple(facts["extremes"]),
                facts["duplicates"],
                facts["block_entries"],
                np.array(facts.get("parts", [0, len(counts)])),
                facts.get("has_ratings", True),
                memory,
            )
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{path} is not a store of ratings, or it is damaged: {error}") from error

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        ratings: CodedSource,
        *,
        memory: int = 1 << 30,
        scale: Bounds | None = None,
        levels: npt.ArrayLike | None = None,
        progress: Progress = silent,
    ) -> "RatingStore":
        """Sort ratings into a folder.

        Parameters
        ----------
        folder : str or path-like
            Where the store is to be; it is made if it is not there, and must be empty.
        ratings : CodedRatings
            The ratings in batches.
        memory : int, default=1 GB
            The memory in bytes that sorting takes, apart from the ids.
        scale : tuple of (float, float), default=None
            Lowest and highest rating; found in the ratings by default.
        levels : array-like, default=None
            All levels of the scale, where they cannot be found in the ratings.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` while the sorted runs are merged.

        Examples
        --------
        >>> import tempfile
        >>> from lbg_recsys.readers import CodedRatings
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "ratings.csv")
        ...     _ = path.write_text("user,item,rating\\nann,tea,5\\nbob,tea,3\\nann,pot,4\\n")
        ...     RatingStore.create(Path(folder, "store"), CodedRatings(path)).whole()
        <RatingMatrix: 3 ratings of 2 items by 2 users>
        """
        path = Path(folder)
        arrow()
        with new_folder(path), private_folder(path) as made:  # a kill leaves nothing but this folder
            sorting = Sorting(made, memory)
            for users, items, values in ratings:
                sorting.add(users, items, values)
            sorting.flush()
            index = IdIndex(ratings.users()), IdIndex(ratings.items())
            found = RatingScale.find(sorting.values, scale, levels)
            lengths = sorting.merge(made / part_name(0, 1), *index, found, progress)
            duplicates = int(sorting.counts.sum() - lengths.sum())
            extremes = float(sorting.values[0]), float(sorting.values[-1])
            parts = np.array([0, len(lengths)])
            (made / part_name(0, 1)).replace(path / part_name(0, 1))
            write_facts(path, *index, lengths, found, extremes, duplicates, parts, ratings.has_ratings)
        return cls.open(path, memory=memory)


@contextmanager
def new_folder(path: Path) -> Iterator[None]:
    """A folder that is made or is empty; after an exception it is as before."""
    made = not path.exists()
    path.mkdir(exist_ok=True)
    sweep_folders(path)
    if any(path.iterdir()):
        raise DataError(f"the folder {path} is not empty: name another one, or remove what is in it")
    try:
        yield
    except BaseException:
        for file in path.iterdir():
            shutil.rmtree(file) if file.is_dir() else file.unlink()
        if made:
            path.rmdir()
        raise


def part_name(number: int, n_parts: int) -> str:
    """The name of a file of ratings."""
    return "ratings.parquet" if n_parts == 1 else f"ratings-{number:05d}.parquet"


def write_facts(
    path: Path,
    users: IdIndex,
    items: IdIndex,
    lengths: Ints,
    scale: RatingScale,
    extremes: Bounds,
    duplicates: int,
    parts: Ints,
    has_ratings: bool,
) -> None:
    """Write everything else of a store, after its ratings; it is then complete."""
    if duplicates:
        of = f"{duplicates} of {duplicates + int(lengths.sum())} ratings"
        warnings.warn(f"{of} repeat a (user, item) pair; the last of each counts", UserWarning, stacklevel=3)
    _write_ids(path / "users.parquet", users, lengths)
    _write_ids(path / "items.parquet", items)
    facts = {
        "format": _FORMAT,
        "levels": scale.levels.tolist(),
        "discrete": scale.discrete,
        "extremes": list(extremes),
        "duplicates": duplicates,
        "block_entries": block_size(duplicates + int(lengths.sum())),
        "parts": parts.tolist(),
        "has_ratings": has_ratings,
    }
    with atomic_write(path / STORE, "w") as stream:
        json.dump(facts, stream)


class BlockReader:
    """Reads one block of a store by its number; it can be sent to other processes that see the file."""

    def __init__(self, folder: Path, indptr: Ints, parts: Ints, block_entries: int, n_columns: int) -> None:
        self._folder, self._indptr, self._n_columns = folder, indptr, n_columns
        self._cuts, self._groups = [0], []  # the first user of each block; its file and row group
        for number, (first, last) in enumerate(pairwise(parts.tolist())):
            cuts = block_cuts(indptr[first : last + 1] - indptr[first], block_entries)[1:]
            self._cuts += (first + cuts).tolist()
            self._groups += [(part_name(number, len(parts) - 1), group) for group in range(len(cuts))]

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self._groups)

    @property
    def n_rows(self) -> Ints:
        """The number of users of each block."""
        return np.diff(self._cuts)

    def __call__(self, number: int) -> SparseRows:
        """The rows of one block."""
        pa, pq = arrow()
        first, last = self._cuts[number], self._cuts[number + 1]
        indptr = self._indptr[first : last + 1] - self._indptr[first]
        name, group = self._groups[number]
        try:
            with pq.ParquetFile(self._folder / name, page_checksum_verification=True) as file:
                table = file.read_row_group(group, use_threads=False)
            columns, values = table["item"].to_numpy(), table["rating"].to_numpy()
            if len(columns) != indptr[-1]:
                raise ValueError(f"{len(columns)} ratings where {indptr[-1]} are listed")
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DataError(
                f"{self._folder / name}, block {number} of {self.n_blocks}, cannot be read: "
                f"{str(error).splitlines()[0]}; "
                "make the store again"
            ) from error
        return SparseRows.from_csr(indptr, columns, values, self._n_columns)


def _write_ids(path: Path, ids: IdIndex, counts: Ints | None = None) -> None:
    pa, pq = arrow()
    table = {"id": list(ids), **({} if counts is None else {"ratings": counts})}
    with naming(path):
        pq.write_table(pa.table(table), path)
