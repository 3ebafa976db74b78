"""Tables of what is known about items or users besides ratings."""

import io
import os
import warnings
from typing import TYPE_CHECKING

from lbg_recsys.checks import check_choice
from lbg_recsys.columns import find_role
from lbg_recsys.datasets.by_name import is_rating_set, load_rating_data
from lbg_recsys.errors import DataError, MissingExtraError
from lbg_recsys.readers.blocks import read_blocks
from lbg_recsys.readers.files import PARQUET, contents
from lbg_recsys.readers.quoted import delimiter_of, rows_of
from lbg_recsys.words import shown

if TYPE_CHECKING:
    import pandas as pd

_NOT_FEATURES = ("title", "timestamp")  # columns of item files that name things or say when


def read_features(source: str | os.PathLike[str], role: str) -> "pd.DataFrame":
    """Read features of the ``role`` "item" or "user" from a CSV, TSV or Parquet file, or of a data set by its name.

    Parameters
    ----------
    source : path or str
        A file with a header and a column of ids (item, movieId, ...), or the name of a data set. The delimiter is a
        comma, a semicolon, a tab or ``|``.
    role : {"item", "user"}
        Who the features are of.

    Returns
    -------
    DataFrame
        Indexed by id. Titles and times are left out; a warning names the columns of a file that are. The members of
        sets are separated by ``|``.

    Raises
    ------
    DataError
        If the file cannot be read, has no column of ids or two columns of one name, or an id comes twice.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "films.csv")
    ...     _ = path.write_text("item;year;genres\\n1;1979;Horror|Sci-Fi\\n")
    ...     read_features(path, "item")["genres"].tolist()
    ['Horror|Sci-Fi']
    """
    check_choice("role", role, ("item", "user"))
    if is_rating_set(source):
        data = load_rating_data(str(source))
        table = data.items if role == "item" else data.users
        return table.drop(columns=[name for name in _NOT_FEATURES if name in table])
    raw, origin = contents(source)
    table = _from_parquet(raw, origin) if raw.startswith(PARQUET) else _from_text(raw, origin, role)
    names = [str(name) for name in table.columns]
    at = find_role(role, names)
    if at is None:
        raise DataError(f"{origin} has no column of {role} ids among {shown(names)}: name one of them {role}")
    ids = table[table.columns[at]]
    if ids.duplicated().any():
        raise DataError(f"{origin}: the {role} {ids[ids.duplicated()].iloc[0]} comes twice: keep one row per {role}")
    others = [place for other in _NOT_FEATURES if (place := find_role(other, names)) is not None]
    if others:
        warnings.warn(
            f"{origin}: columns with the names of titles and times are no features and not used: "
            f"{shown([names[place] for place in others])}; rename a column that is a feature",
            UserWarning,
            stacklevel=2,
        )
    return table.drop(columns=table.columns[others]).set_index(names[at])


def _from_parquet(data: bytes, origin: str) -> "pd.DataFrame":
    import pandas as pd

    try:
        return pd.read_parquet(io.BytesIO(data))
    except ImportError as error:
        raise MissingExtraError("reading Parquet", "pyarrow", "parquet") from error
    except (OSError, ValueError) as error:  # Arrow's own errors are of these kinds
        reason = str(error).splitlines()[0][:200]
        raise DataError(f"{origin} is not a Parquet file that can be read: {reason}") from error


def _from_text(data: bytes, origin: str, role: str) -> "pd.DataFrame":
    """A delimited text. Lines are checked here: pandas fills short ones and renames columns of one name."""
    import pandas as pd

    blocks = list(read_blocks(io.BytesIO(data), origin))
    lines = [f"{line}\n" for block in blocks for line in block.lines]
    if len(lines) < 2:
        what = "has a header but no rows below it" if lines else "is empty"
        raise DataError(f"{origin} {what}: give a header with {role} and features, and one row per {role}")
    delimiter = delimiter_of(lines[0], lambda names: find_role(role, names) is not None)
    numbers = [number for block in blocks for number in block.numbers]
    _check_lines(lines, numbers, delimiter, origin)
    return pd.read_csv(io.StringIO("".join(lines)), sep=delimiter)


def _check_lines(lines: list[str], numbers: list[int], delimiter: str, origin: str) -> None:
    """Refuse lines that are not as long as the header, and names of columns that come twice."""
    rows = rows_of(lines, numbers, delimiter, origin)
    _, names = next(rows)
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"{origin} has more than one column {twice[0]!r}: rename or drop one of them")
    if "" in names:
        raise DataError(
            f"{origin}: column {names.index('') + 1} has no name: name it, or leave it out (an index that pandas "
            "wrote: to_csv(index=False))"
        )
    for _ in rows:
        pass
