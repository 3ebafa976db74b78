"""What every loader of ratings returns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class RatingData:
    """Ratings, and what is known about users and items besides.

    Attributes
    ----------
    ratings : DataFrame
        Columns user, item, rating, ``timestamp`` (seconds since 1970) where the data set has times, and further
        facts about the single rating where it has any. The rows are in the order of the file.
    items : DataFrame
        Indexed by item id: titles and features of the items. It has no columns where nothing is known.
    users : DataFrame
        Indexed by user id: features of the users. It has no columns where nothing is known.
    scale : tuple of float
        Lowest and highest rating.
    found_in : str
        Where the bytes came from, in words.

    Examples
    --------
    >>> from lbg_recsys.datasets import load_sample
    >>> sample = load_sample()
    >>> sample, sample.scale
    (<RatingData: 6,065 ratings of 120 items by 200 users>, (1, 5))
    >>> sample.items.loc[8, "title"]
    'Silent Comet'
    """

    ratings: "pd.DataFrame"
    items: "pd.DataFrame"
    users: "pd.DataFrame"
    scale: tuple[float, float]
    found_in: str

    def __repr__(self) -> str:
        size = f"{len(self.ratings):,} ratings of {len(self.items):,} items by {len(self.users):,} users"
        return f"<{type(self).__name__}: {size}>"


def ids_only(ratings: "pd.DataFrame", column: str) -> "pd.DataFrame":
    """Return a frame without columns, indexed by the ids in a column of the ratings: nothing else is known."""
    import pandas as pd

    return pd.DataFrame(index=pd.Index(ratings[column].unique(), name=column).sort_values())
