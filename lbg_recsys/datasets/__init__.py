"""Data sets that know their origin, licence and checksum. For files of your own see `lbg_recsys.readers`.

Nothing heavy is imported before a loader runs.
"""

from lbg_recsys.datasets.book_crossing import load_book_crossing
from lbg_recsys.datasets.by_name import RATING_SETS, load_rating_data
from lbg_recsys.datasets.ciao import load_ciao
from lbg_recsys.datasets.film_facts import load_film_facts
from lbg_recsys.datasets.filmtrust import load_filmtrust
from lbg_recsys.datasets.find import find_dataset
from lbg_recsys.datasets.imdb import load_imdb
from lbg_recsys.datasets.insteval import load_insteval
from lbg_recsys.datasets.labelled_texts import LabelledTexts
from lbg_recsys.datasets.movielens import MovieLens100K, load_movielens_100k
from lbg_recsys.datasets.movielens_1m import load_movielens_1m
from lbg_recsys.datasets.newsgroups import load_20newsgroups
from lbg_recsys.datasets.rating_data import RatingData
from lbg_recsys.datasets.registry import DATASETS, DatasetInfo, dataset_info
from lbg_recsys.datasets.reuters import load_r8, load_r52
from lbg_recsys.datasets.sample_ratings import load_sample
from lbg_recsys.datasets.sms_spam import load_sms_spam
from lbg_recsys.datasets.spambase import Spambase, load_spambase

__all__ = [
    "DATASETS",
    "RATING_SETS",
    "DatasetInfo",
    "LabelledTexts",
    "MovieLens100K",
    "RatingData",
    "Spambase",
    "dataset_info",
    "find_dataset",
    "load_20newsgroups",
    "load_book_crossing",
    "load_ciao",
    "load_film_facts",
    "load_filmtrust",
    "load_imdb",
    "load_insteval",
    "load_movielens_1m",
    "load_movielens_100k",
    "load_r8",
    "load_r52",
    "load_rating_data",
    "load_sample",
    "load_sms_spam",
    "load_spambase",
]
