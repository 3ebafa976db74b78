"""Sorting ratings by user on disk.

There are two passes. The first takes the ratings, whose ids are numbered on the way, in runs that fit into memory,
and writes each run sorted by user. The second merges the runs, a range of users at a time. Of a pair that comes twice
the last rating counts.
"""

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from lbg_recsys.core.blocks import block_cuts, block_size
from lbg_recsys.core.sparse import SparseRows, stable_order
from lbg_recsys.core.types import Codes, Floats, Ints
from lbg_recsys.errors import MissingExtraError
from lbg_recsys.files import naming
from lbg_recsys.progress import Progress
from lbg_recsys.ratings.ids import IdIndex
from lbg_recsys.ratings.matrix import whose_rating
from lbg_recsys.ratings.scale import RatingScale

# While a run is sorted or merged.
_BYTES_PER_RATING = 96
_LEAST_RUN = 1 << 16
# Distinct ratings that are remembered to find the scale: a scale with more is continuous.
_MOST_VALUES = 1 << 20


class Sorting:
    """Runs of ratings, each sorted by user and in the order of reading for each user, in files."""

    def __init__(self, folder: Path, memory: int) -> None:
        self._folder = folder
        self._run_size = max(memory // _BYTES_PER_RATING, _LEAST_RUN)
        self._pending: list[tuple[Codes, Codes, Floats]] = []
        self._n_pending = 0
        self._runs: list[tuple[Codes, Codes, Floats]] = []  # users, items, ratings: maps of files
        self.counts: Ints = np.zeros(0, np.int64)  # ratings per user, duplicates included
        self.values: Floats = np.zeros(0)  # the distinct ratings

    def add(self, users: Codes, items: Codes, values: Floats) -> None:
        """Append a batch."""
        counts = np.bincount(users, minlength=len(self.counts))
        counts[: len(self.counts)] += self.counts
        self.counts = counts
        self.values = np.unique(np.append(self.values, values))
        if len(self.values) > _MOST_VALUES:
            self.values = np.append(self.values[: _MOST_VALUES - 1], self.values[-1])
        self._pending.append((users, items, values))
        self._n_pending += len(users)
        if self._n_pending >= self._run_size:
            self.flush()

    def flush(self) -> None:
        """Write what is pending as a run."""
        if not self._pending:
            return
        users, items, values = (np.concatenate(column) for column in zip(*self._pending, strict=True))
        self._pending, self._n_pending = [], 0
        order = stable_order(users, len(self.counts))
        maps = []
        for name, column in (("users", users), ("items", items), ("ratings", values)):
            path = self._folder / f"{len(self._runs)}.{name}"
            with naming(path), open(path, "wb") as stream:
                stream.write(column[order].data)
            maps.append(np.asarray(np.memmap(path, column.dtype, "r")))
        self._runs.append(tuple(maps))  # type: ignore[arg-type]

    def merge(self, path: Path, users: IdIndex, items: IdIndex, scale: RatingScale, progress: Progress) -> Ints:
        """Write all ratings sorted by user and item, a row group per block; the number of each user's ratings."""
        lengths = np.zeros(len(users), np.int64)
        cuts = block_cuts(np.append(0, np.cumsum(self.counts)), self._run_size)
        with naming(path), GroupWriter(path, block_size(int(self.counts.sum()))) as writer:
            for first, last in pairwise(cuts.tolist()):
                user, item, value = self._between(first, last)
                scale.refuse_outsiders(value, partial(_whose, users, items, user, item))
                rows = SparseRows.from_entries(user - first, item, value, last - first, len(items))
                lengths[first:last] = rows.lengths
                writer.add(rows)
                progress(last, len(users), "users sorted")
        return lengths

    def _between(self, first: int, last: int) -> tuple[Codes, Codes, Floats]:
        """Users, items and ratings of the users ``first:last``, in the order of reading for each user."""
        pieces = []
        for users, items, values in self._runs:
            begin, end = np.searchsorted(users, [first, last])
            pieces.append((users[begin:end], items[begin:end], values[begin:end]))
        users, items, values = (np.concatenate(column) for column in zip(*pieces, strict=True))
        return users, items, values


def _whose(users: IdIndex, items: IdIndex, user: Codes, item: Codes, row: int) -> str:
    return whose_rating(users, items, user[row], item[row])


class GroupWriter:
    """Writes consecutive rows to Parquet; a row group ends where a block does."""

    def __init__(self, path: Path | IO[bytes], block_entries: int) -> None:
        pa, pq = arrow()
        self._pa = pa
        schema = pa.schema([("item", pa.int32()), ("rating", pa.float64())])
        self._file = pq.ParquetWriter(
            path,
            schema,
            compression="zstd",
            use_dictionary=["rating"],
            column_encoding={"item": "DELTA_BINARY_PACKED"},
            write_page_checksum=True,
        )
        self._pending: list[SparseRows] = []
        self._size, self._block, self._written = block_entries, 0, 0

    def __enter__(self) -> "GroupWriter":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()
        self._file.close()

    def add(self, rows: SparseRows) -> None:
        """Append rows."""
        begins = rows.indptr + self._written
        for first, last in pairwise(block_cuts(begins, self._size).tolist()):
            block = int(begins[first]) // self._size
            if block != self._block:
                self._flush()
                self._block = block
            self._pending.append(rows.part(first, last))
        self._written += int(rows.indptr[-1])

    def _flush(self) -> None:
        if self._pending:
            columns = np.concatenate([rows.columns for rows in self._pending])
            values = np.concatenate([rows.values for rows in self._pending])
            table = self._pa.table({"item": columns, "rating": values})
            self._file.write_table(table, row_group_size=max(len(columns), 1))
        self._pending = []


def arrow() -> tuple[Any, Any]:
    """Pyarrow and its Parquet module."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("sorting ratings on disk", "pyarrow", "parquet") from error
    return pa, pq
