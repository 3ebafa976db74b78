"""Readers of the user's own files: ratings, pairs, titles and documents.

`read_ratings` also takes the name of a data set, so that readers know `lbg_recsys.datasets`, and not the reverse.
Nothing heavy is imported before a name is used: the help of the command line passes through here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lbg_recsys.readers.coded import CodedRatings
    from lbg_recsys.readers.documents import Documents, read_documents, word_frequencies
    from lbg_recsys.readers.features import read_features
    from lbg_recsys.readers.handwritten import read_items, read_new_items, read_new_users
    from lbg_recsys.readers.ratings import read_interactions, read_pairs, read_ratings, read_titles

_HOME = {
    "CodedRatings": "coded",
    "Documents": "documents",
    "read_documents": "documents",
    "word_frequencies": "documents",
    "read_features": "features",
    "read_items": "handwritten",
    "read_new_items": "handwritten",
    "read_new_users": "handwritten",
    "read_interactions": "ratings",
    "read_pairs": "ratings",
    "read_ratings": "ratings",
    "read_titles": "ratings",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lbg_recsys.readers' has no attribute {name!r}")
    return getattr(import_module(f"lbg_recsys.readers.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
