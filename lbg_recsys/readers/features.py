"""Tables of what is known about items or users besides ratings."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lbg_recsys.columns import find_role, shown
from lbg_recsys.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_NOT_FEATURES = ("title", "timestamp")  # columns of item files that name things or say when


def read_features(source: str | os.PathLike[str], role: str) -> "pd.DataFrame":
    """Read features of the ``role`` "item" or "user" from a CSV, TSV or Parquet file, or of a data set by its name.

    Parameters
    ----------
    source : path or str
        A file with a header and a column of ids (item, movieId, ...), or the name of a data set.
    role : {"item", "user"}
        Who the features are of.

    Returns
    -------
    DataFrame
        Indexed by id. Titles are left out. The members of sets are separated by ``|``.

    Raises
    ------
    DataError
        If the file cannot be read or has no column of ids.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "films.csv")
    ...     _ = path.write_text("item,title,genres\\n1,Alien,Horror|Sci-Fi\\n")
    ...     read_features(path, "item")["genres"].tolist()
    ['Horror|Sci-Fi']
    """
    import pandas as pd

    from lbg_recsys.datasets import RATING_SETS, load_rating_data

    if source in RATING_SETS:
        data = load_rating_data(str(source))
        table = data.items if role == "item" else data.users
        return table.drop(columns=[name for name in _NOT_FEATURES if name in table])
    try:
        if Path(source).suffix in (".parquet", ".pq"):
            table = pd.read_parquet(source)
        else:
            table = pd.read_csv(source, sep="\t" if ".tsv" in Path(source).suffixes else ",", encoding="utf-8-sig")
    except (OSError, ValueError, ImportError) as error:  # pandas' own errors are ValueErrors
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{source} cannot be read as a table of {role} features: {reason}") from error
    names = [str(name) for name in table.columns]
    at = find_role(role, names)
    if at is None:
        raise DataError(f"{source} has no column of {role} ids among {shown(names)}: name one of them {role}")
    others = [place for other in _NOT_FEATURES if (place := find_role(other, names)) is not None]
    return table.set_index(names[at]).drop(columns=[names[place] for place in others])
