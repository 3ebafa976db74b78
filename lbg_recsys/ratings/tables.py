"""Columns of tables (pandas, polars, Arrow) and of sparse matrices, found by the names that files have too."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from lbg_recsys.columns import ALIASES, find_role
from lbg_recsys.errors import DataError
from lbg_recsys.words import class_of, shown


def is_table(value: Any) -> bool:
    """Whether a value is a pandas or polars DataFrame or an Arrow table: something with named columns."""
    return hasattr(value, "columns") and hasattr(value, "shape")


def is_series(value: Any) -> bool:
    """Whether a value is a pandas Series: values by an index."""
    return getattr(value, "ndim", 0) == 1 and hasattr(value, "to_dict")


def columns_of(
    table: Any,
    wanted: Sequence[str],
    what: str,
    given: Mapping[str, Any] | None = None,
    *,
    optional: Sequence[str] = (),
) -> list[Any]:
    """The wanted columns of a table, and the optional ones or None.

    A column is found by the names that files may have too (`lbg_recsys.columns.ALIASES`), or by the name that is
    ``given`` for it. If no column has a known name and there are as many columns as are wanted, they are taken in
    their order.

    >>> import pandas as pd
    >>> users, items = columns_of(pd.DataFrame({"movieId": [1], "userId": [2]}), ["user", "item"], "pairs")
    >>> users.name, items.name
    ('userId', 'movieId')

    Raises
    ------
    DataError
        If a column is not found, or is found for two of the wanted, or if two columns have the same name.
    """
    names, given = names_of(table), given or {}
    position = {role: _given(name, role, names) for role, name in given.items()}
    known = {role: at for role in ALIASES if role not in given and (at := find_role(role, names)) is not None}
    if not given and not known and len(names) == len(wanted):
        return [_column(table, names, at) for at in range(len(names))] + [None] * len(optional)
    position |= {role: at for role, at in known.items() if role in wanted or role in optional}
    if missing := [role for role in wanted if role not in position]:
        columns = "column" if len(wanted) == 1 else "columns"
        raise DataError(
            f"{what} need the {columns} {', '.join(wanted)}, and "
            + (f"the {missing[0]} is not among {shown(names)}: {_rename(wanted)}" if names else "the table has none")
        )
    for role, at in position.items():
        if any(at == other for another, other in position.items() if another != role):
            raise DataError(
                f"the column {names[at]!r} cannot be two of {', '.join(position)}; the table has {shown(names)}"
            )
    return [None if role not in position else _column(table, names, position[role]) for role in (*wanted, *optional)]


def names_of(table: Any) -> list[Any]:
    """The names of the columns of a table."""
    return list(getattr(table, "column_names", None) or table.columns)  # the columns of an Arrow table are its data


def _given(name: Any, role: str, names: Sequence[Any]) -> int:
    argument = {"timestamp": "time"}.get(role, role)
    if getattr(name, "shape", ()) or not isinstance(name, Hashable):
        raise DataError(f"{argument} is {class_of(name)}: give the name of a column, one of {shown(names)}")
    if name not in names:
        raise DataError(f"there is no column {name!r} among {shown(names)}: name the {role} with {argument}=")
    return names.index(name)


def _rename(wanted: Sequence[str]) -> str:
    pairs = ", ".join(f"'...': {role!r}" for role in wanted)
    return f"name them, in pandas with frame.rename(columns={{{pairs}}})"


def _column(table: Any, names: Sequence[Any], at: int) -> Any:
    if names.count(names[at]) > 1:
        raise DataError(f"the table has more than one column {names[at]!r}: rename or drop one of them")
    column = table[names[at]]
    # a pandas column keeps its categories; those of other libraries become arrays
    return column if hasattr(column, "iloc") else column.to_numpy()


def split_pairs(pairs: Any) -> tuple[Any, Any]:
    """Users and items of pairs given as a table, an (n, 2) array, or an iterable of (user, item, ...) tuples."""
    if is_table(pairs):
        users, items = columns_of(pairs, ["user", "item"], "pairs")
        return users, items
    if isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.shape[1] >= 2:
        return pairs[:, 0], pairs[:, 1]
    needed = "pairs must be (user, item) tuples or a table of them"
    try:
        rows = pairs if isinstance(pairs, (list, tuple)) else list(pairs)
        if isinstance(rows, tuple) and any(isinstance(row, (list, np.ndarray)) for row in rows):
            raise DataError(f"{needed}, and these are columns: give list(zip(users, items))")
        if any(isinstance(row, str) for row in rows):
            raise DataError(f"{needed}, and one of these is a text: give [(user, item)] for a single pair")
        columns = tuple(zip(*rows, strict=False)) or ((), ())
        return columns[0], columns[1]
    except (TypeError, IndexError) as error:
        raise DataError(f"{needed}: {error}") from error
