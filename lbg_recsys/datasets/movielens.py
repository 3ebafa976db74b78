"""MovieLens-100K: ratings, features of films and users, and the official splits."""

import os
import re
from io import BytesIO
from typing import TYPE_CHECKING

from lbg_recsys.datasets.fetch import Located, locate
from lbg_recsys.datasets.rating_data import RatingData
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.errors import DatasetError
from lbg_recsys.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary"),
    *("Drama", "Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi"),
    *("Thriller", "War", "Western"),
)
SPLITS = ("u1", "u2", "u3", "u4", "u5", "ua", "ub")


class MovieLens100K(RatingData):
    """MovieLens-100K as DataFrames.

    Attributes
    ----------
    ratings : DataFrame
        Columns user, item, rating, timestamp (all int64), in the order of ``u.data``.
    items : DataFrame
        Indexed by item id: title, year (Int16, missing for one film) and genres (tuples).
    users : DataFrame
        Indexed by user id: age (int64), sex and occupation (categories).
    scale : tuple of float
        (1, 5).
    found_in : str
        Where the bytes came from, in words.

    Examples
    --------
    >>> from lbg_recsys.datasets import load_movielens_100k
    >>> train, test = load_movielens_100k().split("u1")  # doctest: +SKIP
    >>> len(train), len(test)                            # doctest: +SKIP
    (80000, 20000)
    """

    def split(self, name: str) -> "tuple[pd.DataFrame, pd.DataFrame]":
        """Return an official split.

        The archive's own script cuts the splits from ``u.data`` by position. The same cut is made here, so it works
        for every source, and the parts are byte for byte the official ones.

        Parameters
        ----------
        name : {"u1", "u2", "u3", "u4", "u5", "ua", "ub"}
            ``u1`` to ``u5`` are five folds; ``ua`` and ``ub`` have ten test ratings per user.

        Returns
        -------
        train, test : DataFrame
            The two parts.

        Raises
        ------
        DatasetError
            If there is no such split.
        """
        if name not in SPLITS:
            raise DatasetError(f"MovieLens-100K has no split {name!r}; it has {', '.join(SPLITS)}")
        if name in ("ua", "ub"):
            nth = self.ratings.groupby("user").cumcount().to_numpy()
            first = 0 if name == "ua" else 10
            test = (nth >= first) & (nth < first + 10)
        else:
            fold = int(name[1]) - 1
            size = len(self.ratings) // 5
            row = self.ratings.index.to_numpy()
            test = (row >= fold * size) & (row < (fold + 1) * size)
        order = ["user", "item"]
        return (
            self.ratings[~test].sort_values(order, kind="stable", ignore_index=True),
            self.ratings[test].sort_values(order, kind="stable", ignore_index=True),
        )


def load_movielens_100k(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> MovieLens100K:
    """Load MovieLens-100K from ``path``, the environment, the cache, or by download.

    The environment variables are ``SURPRISE_DATA_FOLDER`` (Surprise's own layout) and ``LBG_DATA_HOME``. Copies whose
    checksum is not the known one are never used.

    Parameters
    ----------
    path : path, default=None
        ``u.data`` itself, the archive, or a folder that holds either.
    download : bool, default=True
        Whether to download the data if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    MovieLens100K
        Ratings, items and users.

    Examples
    --------
    >>> movies = load_movielens_100k()                              # doctest: +SKIP
    >>> movies.ratings.shape, movies.items.loc[1, "title"]          # doctest: +SKIP
    ((100000, 4), 'Toy Story')
    """
    import pandas as pd

    info = dataset_info("ml-100k")
    located = locate(info, path, download=download, progress=progress)
    ratings = pd.read_csv(
        BytesIO(located.read(info.main)),
        sep="\t",
        names=["user", "item", "rating", "timestamp"],
        dtype="int64",
    )
    return MovieLens100K(ratings, _items(located), _users(located), (1, 5), located.found_in)


def _items(located: Located) -> "pd.DataFrame":
    """Titles from whichever of the two item files this copy has; none of them leaves the titles empty."""
    import pandas as pd

    official, recbole, *_ = located.info.extras
    rows: list[tuple[int, str, int | None, tuple[str, ...]]] = []
    for file, parse in ((official, _parse_official), (recbole, _parse_recbole)):
        try:
            rows = parse(located.read(file))
        except DatasetError:
            continue  # the other file may be there; ratings are usable without titles
        break
    frame = pd.DataFrame(rows, columns=["item", "title", "year", "genres"])
    return frame.astype({"item": "int64", "year": "Int16", "title": object}).set_index("item")


def _users(located: Located) -> "pd.DataFrame":
    """Features of the users from whichever of the two user files this copy has; no rows if it has neither."""
    import pandas as pd

    *_, official, recbole = located.info.extras
    columns = ["user", "age", "sex", "occupation"]
    table = pd.DataFrame({name: [] for name in columns})
    for file, separator, header in ((official, "|", None), (recbole, "\t", 0)):
        try:
            data = located.read(file)
        except DatasetError:
            continue  # the other file may be there; ratings are usable without features
        table = pd.read_csv(BytesIO(data), sep=separator, header=header, names=[*columns, "zip_code"])[columns]
        break
    kinds = {"user": "int64", "age": "int64", "sex": "category", "occupation": "category"}
    return table.astype(kinds).set_index("user")


def _parse_official(data: bytes) -> list[tuple[int, str, int | None, tuple[str, ...]]]:
    rows = []
    for line in data.decode("latin-1").splitlines():
        (
            item,
            title,
            *_,
        ) = (fields := line.split("|"))
        genres = tuple(genre for genre, flag in zip(GENRES, fields[5:], strict=True) if flag == "1")
        rows.append((int(item), *_title_and_year(title), genres))
    return rows


def _parse_recbole(data: bytes) -> list[tuple[int, str, int | None, tuple[str, ...]]]:
    rows = []
    for line in data.decode("utf-8").splitlines()[1:]:
        item, title, year, genres = line.split("\t")
        # Their script cut the last bracket off every title, year or not, and misspelt the one unknown film.
        whole = "unknown" if year == "unkonwn" else f"{title} ({year})"
        found = set(genres.split(" "))
        rows.append((int(item), *_title_and_year(whole), tuple(g for g in GENRES if g in found)))
    return rows


def _title_and_year(text: str) -> tuple[str, int | None]:
    """Split off the year, the last bracket of four digits: ``Toy Story (1995)``.

    >>> _title_and_year("Land Before Time III: The Time of the Great Giving (1995) (V)")
    ('Land Before Time III: The Time of the Great Giving (V)', 1995)
    """
    match = re.search(r"\s*\((\d{4})\)(?!.*\(\d{4}\))", text)
    if match is None:
        return text.strip(), None
    return (text[: match.start()] + text[match.end() :]).strip(), int(match[1])
