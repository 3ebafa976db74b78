"""Parquet, read in batches of rows: only the needed columns, each id kept once."""

from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from lbg_recsys.errors import DataError, MissingExtraError
from lbg_recsys.progress import Progress
from lbg_recsys.readers.columns import Columns, find_columns
from lbg_recsys.readers.ids import Coded, NoRowsError, Table
from lbg_recsys.readers.layouts import Layout, enough_of

_BATCH = 1 << 18
_NUMBERS = ("rating", "count", "timestamp")


def parquet_batches(
    stream: IO[bytes], origin: str, wanted: Sequence[str] | Layout, columns: Columns | None, progress: Progress
) -> Iterator[Table]:
    """The wanted columns, batch by batch: ``rating``, ``count`` and ``timestamp`` as numbers, the others as ids."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("reading Parquet", "pyarrow", "parquet") from error
    try:
        with pq.ParquetFile(stream, page_checksum_verification=True) as file:
            yield from _batches(file, origin, wanted, columns, progress)
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, MemoryError, OverflowError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise DataError(f"{origin} is not a Parquet file that can be read: {reason}") from error


def _batches(
    file: Any, origin: str, wanted: Sequence[str] | Layout, columns: Columns | None, progress: Progress
) -> Iterator[Table]:
    import pyarrow as pa

    names = file.schema_arrow.names
    enough: list[str] = []
    if callable(wanted):
        layout, wanted = wanted, wanted(names, [], columns)
        enough = enough_of(layout, wanted)
    positions = find_columns(wanted, names=names, width=len(names), columns=columns, origin=origin, enough=enough)
    chosen = [names[position] for position in positions]
    if twice := [name for name in chosen if names.count(name) > 1]:
        raise DataError(f"{origin} has more than one column {twice[0]!r}; rename one of them")
    if not file.metadata.num_rows:
        raise NoRowsError(f"{origin} has columns but no rows")
    done = 0
    for arrays in file.iter_batches(batch_size=_BATCH, columns=chosen, use_threads=False):
        batch: Table = {}
        for role, name in zip(wanted, chosen, strict=True):
            array = arrays.column(arrays.schema.get_field_index(name))
            where = f"{origin}, column {name!r}"
            if array.null_count:
                row = done + np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0] + 1
                raise DataError(f"{where}, row {row}: the {role} is missing; leave such rows out")
            if role in _NUMBERS:
                batch[role] = _numbers(array, role, where, done)
            elif pa.types.is_integer(array.type):
                batch[role] = _compact(array.to_numpy(), where)
            else:
                coded = _text(array, role, where).dictionary_encode()
                batch[role] = Coded(coded.dictionary.to_pylist(), coded.indices.to_numpy())
        yield batch
        done += arrays.num_rows
        progress(done, file.metadata.num_rows, "rows")


def _numbers(array: Any, role: str, where: str, done: int) -> np.ndarray:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise DataError(f"{where}: the {role} is {kind}, which is not a number")
    values: np.ndarray = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    good = np.isfinite(values)
    if role == "count":
        good &= (values >= 1) & (values % 1 == 0)
    if not good.all():
        first = int(np.argmin(good))
        rule = ", not a whole number of at least 1" if role == "count" else ""
        raise DataError(
            f"{where}, row {done + first + 1}: the {role} is {values[first]:g}{rule}; leave such rows out"
        )
    return values


def _compact(values: np.ndarray, where: str) -> np.ndarray:
    if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
        raise DataError(f"{where}: the id {values.max()} does not fit into 64 bits with sign; store it as text")
    small = values.size == 0 or (values.min() >= -(2**31) and values.max() < 2**31)
    return values.astype(np.int32 if small else np.int64)


def _text(array: Any, role: str, where: str) -> Any:
    """Ids as text, whatever Arrow calls it. A float or a date is no id: which digits count is anybody's guess."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise DataError(f"{where}: the {role} is {kind}; ids must be whole numbers or text")
    return array.cast(pa.large_string())
