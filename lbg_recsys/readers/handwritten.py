"""Files that people write by hand: new users, new items and lists of items."""

import io

from lbg_recsys.checks import check_flag
from lbg_recsys.columns import ALIASES, simplify
from lbg_recsys.errors import DataError
from lbg_recsys.readers.blocks import LENIENT, read_blocks
from lbg_recsys.readers.columns import Columns
from lbg_recsys.readers.files import PARQUET, Source, contents
from lbg_recsys.readers.layouts import (
    of_items,
    of_new_choosers,
    of_new_items,
    of_new_users,
)
from lbg_recsys.readers.ratings import read_table


def read_new_users(
    source: Source,
    *,
    ratings: bool = True,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> "dict[int | str | None, dict[int | str, float | None]]":
    """Read what one or several new users rated or took: user -> item or title -> rating.

    Parameters
    ----------
    source : path, ``-`` or binary stream
        A table with item (or title), with rating if there are ratings and with user if there are several users; or
        one item per line. Without a header three columns are user, item and rating.
    ratings : bool, default=True
        Whether two columns without a header are item and rating, and not user and item.
    columns : sequence or mapping, default=None
        Which columns are user, item and rating, as names or positions; see `read_ratings`.
    header : bool, default=None
        Whether the first line names the columns; detected if None.
    delimiter : str, default=None
        What separates the fields; detected if None.

    Returns
    -------
    dict
        The one user of a table without users is None, and so are ratings that the table does not have.

    Raises
    ------
    DataError
        If a user has two ratings of one item, or the file cannot be read.

    Examples
    --------
    >>> read_new_users(io.BytesIO(b"movie,stars\\n7,4.5\\n9,1\\n"))
    {None: {7: 4.5, 9: 1.0}}
    """
    check_flag("ratings", ratings)
    data, origin = contents(source)
    is_free = columns is None and header is None and delimiter is None
    lines = _lines(data, origin) if is_free else []
    if lines and not _is_table(lines[0]) and not (ratings and _are_rated(lines)):
        return {None: dict.fromkeys(_one_per_line(lines))}
    layout = of_new_users if ratings else of_new_choosers
    form = {"columns": columns, "header": header, "delimiter": delimiter}
    table = read_table(_Data(data, origin), layout, **form, encodings=LENIENT, exact=True)
    items = table["item" if "item" in table else "title"].tolist()
    users = table["user"].tolist() if "user" in table else [None] * len(items)
    values = table["rating"].tolist() if "rating" in table else [None] * len(items)
    found: dict[int | str | None, dict[int | str, float | None]] = {}
    for user, item, value in zip(users, items, values, strict=True):
        own = found.setdefault(user, {})
        if value is not None and item in own:
            whose, more = f" by the user {user!r}", ""
            if "user" not in table:
                whose, more = "", "; the ratings of several people need a column user"
            raise DataError(f"{origin}: the item {item!r} is rated twice{whose}: leave one of the ratings out{more}")
        own[item] = value
    return found


def read_new_items(
    source: Source,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> "dict[int | str | None, dict[int | str, float]]":
    """Read ratings of one or several new items: item -> user -> rating.

    Parameters
    ----------
    source : str, path or binary stream
        A table with user and rating, and with item if there are several items.
    columns : sequence or mapping, default=None
        Which columns are user, item and rating, as names or positions; see `read_ratings`.
    header : bool, default=None
        Whether the first line names the columns; detected if None.
    delimiter : str, default=None
        What separates the fields; detected if None.

    Returns
    -------
    dict
        The one item of a table without items is None.

    Raises
    ------
    DataError
        If an item has two ratings by one user, or the file cannot be read.

    Examples
    --------
    >>> read_new_items(io.BytesIO(b"user,stars\\n7,4.5\\n9,1\\n"))
    {None: {7: 4.5, 9: 1.0}}
    """
    data, origin = contents(source)
    form = {"columns": columns, "header": header, "delimiter": delimiter}
    table = read_table(_Data(data, origin), of_new_items, **form, encodings=LENIENT, exact=True)
    users, values = table["user"].tolist(), table["rating"].tolist()
    items = table["item"].tolist() if "item" in table else [None] * len(users)
    found: dict[int | str | None, dict[int | str, float]] = {}
    for user, item, value in zip(users, items, values, strict=True):
        own = found.setdefault(item, {})
        if user in own:
            what, more = f"the item {item!r}", ""
            if "item" not in table:
                what, more = "the new item", "; the ratings of several items need a column item"
            raise DataError(f"{origin}: the user {user!r} rated {what} twice: leave one of the ratings out{more}")
        own[user] = value
    return found


def read_items(source: Source) -> list[int | str]:
    """Read item ids or titles.

    Parameters
    ----------
    source : str, path or binary stream
        One item per line, or a table with a header, or Parquet, with a column item or title.

    Returns
    -------
    list
        Ids or titles, each once.

    Examples
    --------
    >>> read_items(io.BytesIO(b"7\\nEmpire Strikes Back, The (1980)\\n"))
    ['7', 'Empire Strikes Back, The (1980)']
    >>> read_items(io.BytesIO(b"item,title\\n7,Seven\\n"))
    [7]
    """
    data, origin = contents(source)
    if (lines := _lines(data, origin)) and not _is_table(lines[0]):
        return _one_per_line(lines)
    table = read_table(_Data(data, origin), of_items, columns=None, header=None, delimiter=None, encodings=LENIENT)
    return list(dict.fromkeys(next(iter(table.values())).tolist()))


def _lines(data: bytes, origin: str) -> list[str]:
    """The lines of a text; none of a Parquet file."""
    if data.startswith(PARQUET):
        return []
    lines = [line for block in read_blocks(io.BytesIO(data), origin, LENIENT) for line in block.lines]
    if not lines:
        raise DataError(f"{origin} is empty: give one item id or title per line")
    return lines


def _one_per_line(lines: list[str]) -> list[int | str]:
    """Items by their lines, below a name of the column if there is one."""
    is_name = simplify(lines[0]) in (*ALIASES["item"], *ALIASES["title"])
    return [line.strip().strip('"') for line in lines[1 if is_name and len(lines) > 1 else 0 :]]


def _is_table(line: str) -> bool:
    """Whether a first line names several columns, one of which is the item or the title."""
    from lbg_recsys.readers.delimited import DELIMITERS

    wanted = {*ALIASES["item"], *ALIASES["title"]}
    return any(
        len(fields) > 1 and any(simplify(field) in wanted for field in fields)
        for fields in (line.split(delimiter) for delimiter in DELIMITERS)
    )


def _are_rated(lines: list[str]) -> bool:
    """Whether any line ends with a number after a delimiter, and so is not a single item."""
    from lbg_recsys.readers.delimited import DELIMITERS, is_number

    return any(
        len(parts := line.rsplit(sign, 1)) == 2 and is_number(parts[1]) for line in lines for sign in DELIMITERS
    )


class _Data(io.BytesIO):
    """What was read of a file, with the file's name for messages."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name
