"""A pytest plugin for Surprise's own tests: its algorithm names stand for ours, its missing fixtures are supplied.

The class under test is named by LBG_CONFORMANCE_CLASS; the names it takes over by LBG_CONFORMANCE_NAMES.
"""

import os
from pathlib import Path

import pandas as pd
import pytest
import surprise
from surprise import Dataset, Reader
from surprise.model_selection import PredefinedKFold

import lbg_recsys
from lbg_recsys.datasets import load_sample

ours = getattr(lbg_recsys, os.environ["LBG_CONFORMANCE_CLASS"])
# A few sweeps show conformance as well as hundreds do.
options = {"n_components": 2, "n_sweeps": 12, "burn_in": 6} if ours.__name__ == "BayesianLBGAlgo" else {}
if ours.__name__ != "MovieMeanAlgo":
    options["random_state"] = 0


class Alias(ours):
    """Ours, under any name and whatever options that name would take."""

    def __init__(self, **options_of_others):
        super().__init__(**options)


for name in os.environ["LBG_CONFORMANCE_NAMES"].split():
    setattr(surprise, name, Alias)


def _write(path, frame):
    lines = [f"{user} {item} {rating:g}" for user, item, rating in frame.itertuples(index=False)]
    path.write_text("three lines\nthat Surprise's tests\nskip\n" + "\n".join(lines) + "\n")
    return str(path)


@pytest.fixture(scope="session", autouse=True)
def custom_folds():
    frame = load_sample().ratings[["user", "item", "rating"]]
    here = Path.cwd()
    return _write(here / "custom_train", frame.iloc[::2]), _write(here / "custom_test", frame.iloc[1::2])


@pytest.fixture
def u1_ml100k(custom_folds):
    reader = Reader(line_format="user item rating", sep=" ", skip_lines=3, rating_scale=(1, 5))
    return Dataset.load_from_folds([custom_folds], reader=reader)


@pytest.fixture
def pkf():
    return PredefinedKFold()


@pytest.fixture
def toy_data():
    frame = pd.DataFrame(
        {
            "user": ["user0", "user0", "user0", "user1", "user1", "user2", "user3"],
            "item": ["item0", "item1", "item2", "item0", "item1", "item0", "item2"],
            "rating": [4, 3, 1, 3, 1, 2, 5],
        }
    )
    return Dataset.load_from_df(frame, Reader(rating_scale=(1, 5)))
