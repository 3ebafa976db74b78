"""Which columns a table of ratings, of choices or of new users has: decided by its first lines."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from lbg_recsys.columns import find_role, simplify
from lbg_recsys.readers.columns import Columns

# The names of the columns (None without a header), the first rows, and the columns that were asked for -> the roles.
Layout = Callable[[Sequence[str] | None, Sequence[Sequence[str]], Columns | None], list[str]]

# Seconds since 1970 are above this from 1973 on; no rating and hardly any count is.
_EARLIEST = 1e8
# Columns of new users that are not the rating.
_NO_RATING = ("user", "item", "title", "timestamp", "count")


def of_interactions(
    names: Sequence[str] | None, top: Sequence[Sequence[str]], columns: Columns | None = None
) -> list[str]:
    """User and item, with the rating or the count where the table has one.

    There is no rating in a table of two columns, in one whose other columns are times or counts, and where two
    columns were asked for. A third column of times, without a header or asked for, is no rating.

    >>> of_interactions(["user", "item", "rating"], []), of_interactions(["userId", "itemId", "date"], [])
    (['user', 'item', 'rating'], ['user', 'item'])
    >>> of_interactions(None, [["7", "x", "881250949"]]), of_interactions(None, [["7", "x", "4"]])
    (['user', 'item'], ['user', 'item', 'rating'])
    """
    if columns is not None:
        clicks = len(columns) == 2 or (len(columns) == 3 and _is_time_column(columns, names, top))
        return ["user", "item"] if clicks else ["user", "item", "rating"]
    if names is None:
        clicks = len(top[0]) == 2 or (len(top[0]) == 3 and all(_is_time(row[-1]) for row in top))
        return ["user", "item"] if clicks else ["user", "item", "rating"]
    has = {role: _has(role, names) for role in ("rating", "count", "timestamp")}
    if has["rating"]:
        return ["user", "item", "rating"]
    if has["count"]:
        return ["user", "item", "count"]
    others = len(names) - sum(_has(role, names) for role in ("user", "item", "timestamp"))
    return ["user", "item", "rating"] if others > 0 else ["user", "item"]


def of_timed_interactions(
    names: Sequence[str] | None, top: Sequence[Sequence[str]], columns: Columns | None = None
) -> list[str]:
    """The same with the time as the last column; of a list of columns that were asked for, the last is the time.

    >>> of_timed_interactions(["user", "item", "date"], [])
    ['user', 'item', 'timestamp']
    """
    if isinstance(columns, Mapping):
        columns = {role: column for role, column in columns.items() if role != "timestamp"}
    elif columns is not None:
        columns = columns[: max(len(columns) - 1, 2)]  # of two the time is missing, and a message says so
    return [*of_interactions(names, top, columns), "timestamp"]


def of_pairs(names: Sequence[str] | None, top: Sequence[Sequence[str]], columns: Columns | None = None) -> list[str]:
    """User and item or, where no column is one, title.

    >>> of_pairs(["user", "title"], []), of_pairs(["title", "item", "user"], [])
    (['user', 'title'], ['user', 'item'])
    """
    return ["user", "item" if names is None or columns is not None else _item_role(names)]


# Of what these read, most users and items are in several rows.
LOGS = (of_interactions, of_timed_interactions)


def of_new_users(
    names: Sequence[str] | None, top: Sequence[Sequence[str]], columns: Columns | None = None
) -> list[str]:
    """Item (or title), with the user and the rating where the table has them.

    A column whose name says nothing else may be the rating; it is then asked for, and not ignored.

    >>> of_new_users(["title", "stars"], []), of_new_users(["user", "title", "date"], [])
    (['title', 'rating'], ['user', 'title'])
    """
    if columns is not None:
        return {1: ["item"], 2: ["item", "rating"]}.get(len(columns), ["user", "item", "rating"])
    if names is None:
        return {1: ["item"], 3: ["user", "item", "rating"]}.get(len(top[0]), ["item", "rating"])
    found = [*(["user"] if _has("user", names) else []), _item_role(names)]
    others = [name for name in names if not any(_has(role, [name]) for role in _NO_RATING)]
    return [*found, "rating"] if others else found


def of_new_items(
    names: Sequence[str] | None, top: Sequence[Sequence[str]], columns: Columns | None = None
) -> list[str]:
    """User and rating, with the item where the table has one."""
    if columns is not None:
        return ["user", "rating"] if len(columns) == 2 else ["user", "item", "rating"]
    if names is None:
        return ["user", "item", "rating"] if len(top[0]) == 3 else ["user", "rating"]
    return ["user", *(["item"] if _has("item", names) else []), "rating"]


def of_new_choosers(
    names: Sequence[str] | None, top: Sequence[Sequence[str]], columns: Columns | None = None
) -> list[str]:
    """Item (or title), with the user and the rating where the table names them."""
    if columns is not None:
        return ["item"] if len(columns) == 1 else ["user", "item"]
    if names is None:
        return ["user", "item"] if len(top[0]) > 1 else ["item"]
    found = [*(["user"] if _has("user", names) else []), _item_role(names)]
    return [*found, "rating"] if _has("rating", names) else found


def of_items(names: Sequence[str] | None, top: Sequence[Sequence[str]], columns: Columns | None = None) -> list[str]:
    """Item or, where no column is one, title."""
    return ["item" if names is None else _item_role(names)]


def enough_of(layout: Layout, wanted: Sequence[str]) -> list[str]:
    """The columns that are enough to ask for if there are no ratings; none where ratings are needed.

    >>> enough_of(of_interactions, ["user", "item", "rating"]), enough_of(of_new_items, ["user", "rating"])
    (['user', 'item'], [])
    """
    for n in range(1, len(wanted)):
        roles = layout(None, [], list(range(n)))
        if len(roles) == n and "rating" not in roles:
            return roles
    return []


def _is_time_column(columns: Columns, names: Sequence[str] | None, top: Sequence[Sequence[str]]) -> bool:
    """Whether the third of the columns that were asked for is one of times, by its name or by what it holds."""
    if isinstance(columns, Mapping):
        return False  # it says which column is the rating
    last = columns[2]
    if names is not None and not isinstance(last, int):
        last = next((at for at, name in enumerate(names) if simplify(name) == simplify(last)), -1)
    if not isinstance(last, int) or not 0 <= last < len(names if names is not None else top[0]):
        return False  # there is no such column, which is said elsewhere
    if names is not None and _has("timestamp", [names[last]]):
        return True
    rows = top if names is None else top[1:]
    return bool(rows) and all(_is_time(row[last]) for row in rows if last < len(row))


def _has(role: str, names: Sequence[str]) -> bool:
    return find_role(role, names) is not None


def _item_role(names: Sequence[str]) -> str:
    return "item" if _has("item", names) or not _has("title", names) else "title"


def _is_time(text: str) -> bool:
    try:
        return float(text) >= _EARLIEST
    except ValueError:
        return _is_date(text)


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True
