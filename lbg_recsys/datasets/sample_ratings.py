"""The sample: a small data set drawn from the model itself, shipped with the package, no network needed."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lbg_recsys.datasets.fetch import Located
from lbg_recsys.datasets.registry import dataset_info

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Sample:
    """Frames of the sample.

    Attributes
    ----------
    ratings : DataFrame with the columns user, item, rating (int64).
    items : DataFrame indexed by item id with title and topic (the topic that loves it).
    users : DataFrame indexed by user id with topic (the planted truth).
    """

    ratings: "pd.DataFrame"
    items: "pd.DataFrame"
    users: "pd.DataFrame"

    def to_surprise(self) -> Any:
        """The ratings as a Surprise ``Dataset`` on the scale 1..5, ids as integers."""
        from surprise import Dataset, Reader

        return Dataset.load_from_df(self.ratings, Reader(rating_scale=(1, 5)))


def find_sample() -> Located:
    """Where the package keeps its sample."""
    return Located(dataset_info("sample"), Path(__file__).parent / "sample", "the package")


def load_sample() -> Sample:
    """Load the shipped sample: 200 users, 120 invented films, four planted topics.

    >>> sample = load_sample()
    >>> len(sample.users), len(sample.items), sorted(sample.ratings["rating"].unique().tolist())
    (200, 120, [1, 2, 3, 4, 5])
    >>> sample.items.loc[1, "title"]
    'Crimson Orbit'
    """
    import pandas as pd

    located = find_sample()
    frames = {file.name: pd.read_csv(BytesIO(located.read(file))) for file in located.info.files}
    return Sample(
        ratings=frames["ratings.csv"],
        items=frames["titles.csv"].set_index("item"),
        users=frames["users.csv"].set_index("user"),
    )
