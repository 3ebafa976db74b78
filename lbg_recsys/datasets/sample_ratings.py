"""The sample: a small data set drawn from the model itself, shipped with the package, no network needed."""

from io import BytesIO
from pathlib import Path

from lbg_recsys.datasets.fetch import Located
from lbg_recsys.datasets.rating_data import RatingData
from lbg_recsys.datasets.registry import dataset_info


def find_sample() -> Located:
    """Where the package keeps its sample."""
    return Located(dataset_info("sample"), Path(__file__).parent / "sample", "the package")


def load_sample() -> RatingData:
    """Load the shipped sample: 200 users, 120 invented films, generated with four topics.

    ``items`` has the title and the topic of the users who love the film; ``users`` has the topic of the user.

    Returns
    -------
    RatingData
        Ratings, items, users and the scale.

    Examples
    --------
    >>> sample = load_sample()
    >>> len(sample.users), len(sample.items), sorted(sample.ratings["rating"].unique().tolist())
    (200, 120, [1, 2, 3, 4, 5])
    >>> sample.items.loc[1, "title"]
    'Crimson Orbit'
    """
    import pandas as pd

    located = find_sample()
    frames = {file.name: pd.read_csv(BytesIO(located.read(file))) for file in located.info.files}
    return RatingData(
        ratings=frames["ratings.csv"],
        items=frames["titles.csv"].set_index("item"),
        users=frames["users.csv"].set_index("user"),
        scale=(1, 5),
        found_in=located.found_in,
    )
