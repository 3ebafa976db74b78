"""Which column of a table is the user, the item, the rating: by name, by given names, by position."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from lbg_recsys.checks import is_integer
from lbg_recsys.columns import ALIASES, find_role, simplify
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.words import counted, shown

Columns = Sequence[str | int] | Mapping[str, str | int]

# What messages call the argument that says which columns to take, in Python and on the command line.
_OPTION = "columns (on the command line: --columns)"
# ... and how each of them counts.
_COUNTED = "the first is 1 on the command line, 0 in Python"
# The columns of a file of titles.
TITLES = ["item", "title"]


def check_columns(columns: Any) -> None:
    """None, or names and positions.

    >>> check_columns([0, 2.5])
    Traceback (most recent call last):
    lbg_recsys.errors.ParameterError: columns is [0, 2.5]: give names or positions (0 is the first) of columns
    """
    if columns is None or isinstance(columns, str):  # a single name is refused where it is known how many are needed
        return
    in_order = hasattr(columns, "__getitem__") and getattr(columns, "ndim", 1) == 1
    keys = columns.values() if isinstance(columns, Mapping) else columns if in_order else [None]
    if not all(isinstance(key, str) or is_integer(key) for key in keys):
        raise ParameterError(f"columns is {columns!r}: give names or positions (0 is the first) of columns")


def is_header(fields: Sequence[str], wanted: Sequence[str], columns: Columns | None) -> bool:
    """Whether a first line names its columns: it has a given name, or two of the names we look for."""
    called = _with_items(fields, wanted)
    names = {simplify(field) for field in called}
    if columns is not None:
        given = list(columns.values()) if isinstance(columns, Mapping) else list(columns)
        if any(isinstance(name, str) for name in given):
            return True
    known = sum(any(alias in names for alias in ALIASES[role]) for role in wanted)
    if list(wanted) == TITLES and find_role("item", called) is not None:
        return not any(field.strip().isdigit() for field in fields)  # a film may be called Film
    return known >= min(2, len(wanted))


def find_columns(
    wanted: Sequence[str],
    *,
    names: Sequence[str] | None,
    width: int,
    columns: Columns | None,
    origin: str,
    exact: bool = False,
    enough: Sequence[str] = (),
) -> list[int]:
    """The position of each wanted column; ``names`` is None for a table without a header.

    ``exact``: a table without names must have the wanted columns and no others; otherwise which they are is a guess.
    ``enough``: what could be asked for instead, see `how_to_name`.

    >>> find_columns(["user", "item"], names=["movieId", "userId"], width=2, columns=None, origin="a.csv")
    [1, 0]
    >>> find_columns(["user", "item"], names=None, width=3, columns=[2, 0], origin="a.csv")
    [2, 0]
    """
    if columns is not None:
        found = [_given(role, key, names, width, origin) for role, key in _by_role(wanted, columns)]
    elif names is not None:
        called = _with_items(names, wanted)
        found = [_named(role, called, how_to_name(wanted, enough, names), origin) for role in wanted]
    else:
        found = list(range(len(wanted)))
        if width < len(wanted):
            raise DataError(
                f"{origin} has {counted(width, 'column')} where {len(wanted)} are needed ({', '.join(wanted)}); "
                f"name the delimiter if it is not the one found"
            )
        if exact and width > len(wanted):
            raise DataError(
                f"{origin} has {width} columns and no header; say which are {', '.join(wanted)} with {_OPTION}"
            )
    if len(set(found)) < len(found):
        numbers = ", ".join(str(position + 1) for position in found)
        raise DataError(f"{origin}: the columns {', '.join(wanted)} must be different ones, not numbers {numbers}")
    return found


def _with_items(names: Sequence[str], wanted: Sequence[str]) -> Sequence[str]:
    """The names of columns; in a file of titles one called id has the items, where no other has."""
    if list(wanted) != TITLES or find_role("item", names) is not None:
        return names
    return ["item" if simplify(name) == "id" else name for name in names]


def _by_role(wanted: Sequence[str], columns: Columns) -> list[tuple[str, str | int]]:
    if isinstance(columns, Mapping):
        if unknown := sorted(map(str, set(columns) - set(ALIASES))):
            raise DataError(f"columns has {unknown[0]!r}; it may name {', '.join(ALIASES)}")
        if missing := [role for role in wanted if role not in columns]:
            raise DataError(f"columns does not say which column is the {missing[0]}")
        return [(role, columns[role]) for role in wanted]
    if isinstance(columns, str) or len(columns) < len(wanted):
        given = f"is {columns!r}" if isinstance(columns, str) else f"has {len(columns)} of {len(wanted)} columns"
        clicks = list(wanted) == ["user", "item", "rating"] and len(columns) == 2 and not isinstance(columns, str)
        instead = " (in Python, read_interactions reads users and items without ratings)" if clicks else ""
        typed = "" if list(wanted) == TITLES else f" (on the command line: --columns {','.join(wanted).upper()})"
        raise ParameterError(
            f"columns {given}; give one name or position for each of {', '.join(wanted)}{typed}{instead}"
        )
    return list(zip(wanted, columns, strict=False))


def _given(role: str, key: str | int, names: Sequence[str] | None, width: int, origin: str) -> int:
    if not isinstance(key, str):
        if not 0 <= key < width:
            raise DataError(
                f"{origin} has {width} columns, so there is no column number {key + 1} for the {role} ({_COUNTED})"
            )
        return int(key)
    if names is None:
        raise DataError(f"{origin} has no header, so no column {key!r}; give positions ({_COUNTED})")
    exact = [position for position, name in enumerate(names) if name == key]
    near = exact or [position for position, name in enumerate(names) if simplify(name) == simplify(str(key))]
    if not near:
        is_row = any(name.strip().isdigit() for name in names)
        instead = f"; if this is a row and no header, give positions ({_COUNTED})" if is_row else ""
        raise DataError(f"{origin} has no column {key!r} for the {role}; it has {shown(names)}{instead}")
    return near[0]


def how_to_name(wanted: Sequence[str], enough: Sequence[str], names: Sequence[str]) -> str:
    """How to say which columns of a table are the wanted ones, or those that are ``enough`` without ratings.

    >>> how_to_name(["user", "item", "rating"], ["user", "item"], ["when", "userId", "shelf"])
    'name the columns with --columns userId,ITEM,RATING, or userId,ITEM if there are no ratings (in Python: columns=)'
    >>> how_to_name(TITLES, [], ["this", "what"])
    'call the columns item and title there (in Python: or name them with columns=)'
    """
    if list(wanted) == TITLES:  # --columns is for the ratings beside them
        return "call the columns item and title there (in Python: or name them with columns=)"
    every, few = (",".join(_name_of(role, names) for role in roles) for roles in (wanted, enough))
    every, few = shlex.quote(every), few and shlex.quote(few)
    without = few and f", or {few} if there are no ratings"
    return f"name the columns with --columns {every}{without} (in Python: columns=)"


def _name_of(role: str, names: Sequence[str]) -> str:
    found = find_role(role, names)
    return role.upper() if found is None else names[found]


def _named(role: str, names: Sequence[str], remedy: str, origin: str) -> int:
    found = find_role(role, names)
    if found is not None:
        return found
    raise DataError(f"{origin} has no column that looks like the {role}; it has {shown(names)}: {remedy}")
