"""Readers of the user's own files: ratings, pairs, titles and documents.

`read_ratings` also takes the name of a data set, so that readers know `lbg_recsys.datasets`, and not the reverse.
"""

from lbg_recsys.readers.coded import CodedRatings
from lbg_recsys.readers.documents import Documents, read_documents, word_frequencies
from lbg_recsys.readers.features import read_features
from lbg_recsys.readers.ratings import (
    read_interactions,
    read_items,
    read_new_items,
    read_new_users,
    read_pairs,
    read_ratings,
    read_titles,
)

__all__ = [
    "CodedRatings",
    "Documents",
    "read_documents",
    "read_features",
    "read_interactions",
    "read_items",
    "read_new_items",
    "read_new_users",
    "read_pairs",
    "read_ratings",
    "read_titles",
    "word_frequencies",
]
