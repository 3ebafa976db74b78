"""Data sets that know their origin, licence and checksum; a reader for ratings in files of your own.

Nothing heavy is imported before a loader runs.
"""

from lbg_recsys.datasets.find import find_dataset
from lbg_recsys.datasets.movielens import MovieLens100K, load_movielens_100k
from lbg_recsys.datasets.newsgroups import Newsgroups, load_20newsgroups
from lbg_recsys.datasets.registry import DATASETS, DatasetInfo, dataset_info
from lbg_recsys.datasets.sample_ratings import Sample, load_sample
from lbg_recsys.datasets.spambase import Spambase, load_spambase
from lbg_recsys.readers.ratings import read_item_ratings, read_pairs, read_ratings, read_titles

__all__ = [
    "DATASETS",
    "DatasetInfo",
    "MovieLens100K",
    "Newsgroups",
    "Sample",
    "Spambase",
    "dataset_info",
    "find_dataset",
    "load_20newsgroups",
    "load_movielens_100k",
    "load_sample",
    "load_spambase",
    "read_item_ratings",
    "read_pairs",
    "read_ratings",
    "read_titles",
]
