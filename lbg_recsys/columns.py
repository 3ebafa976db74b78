"""The names by which columns of files and tables are recognised: one rule for all of them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

# Compared in lower case without punctuation, so that userId, user_id and "User ID" are one name.
ALIASES: dict[str, tuple[str, ...]] = {
    "user": (
        *("user", "userid", "uid", "users", "member", "memberid", "customer", "customerid", "reviewerid"),
        *("visitor", "visitorid"),
    ),
    "item": (
        *("item", "itemid", "iid", "items", "movie", "movieid", "film", "filmid", "book", "bookid", "isbn"),
        *("product", "productid", "asin", "song", "songid", "track", "trackid", "artist", "artistid"),
        *("sku", "skuid", "article", "articleid"),
    ),
    "rating": ("rating", "ratings", "score", "stars", "star", "rate", "value", "bookrating", "overall"),
    "timestamp": ("timestamp", "time", "ts", "unixreviewtime", "date", "datetime", "eventtime"),
    "count": (
        *("count", "counts", "quantity", "qty", "click", "clicks", "clicked", "views", "plays", "playcount"),
        *("purchases",),
    ),
    "title": ("title", "name", "movietitle", "booktitle", "itemtitle", "itemname", "label"),
}

# In a table, the probability of each outcome (a level of the scale, a class) is a column of its own: p_4, p_spam.
PROBABILITY = "p_"


def with_distribution(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row of a table as JSON has it: ``distribution``, by outcome, in place of the columns of probabilities.

    >>> with_distribution({"item": 7, "p_1": 0.25, "p_2": 0.75})
    {'item': 7, 'distribution': {'1': 0.25, '2': 0.75}}
    """
    facts = {name: value for name, value in row.items() if not name.startswith(PROBABILITY)}
    shares = {name[len(PROBABILITY) :]: value for name, value in row.items() if name not in facts}
    return facts | ({"distribution": shares} if shares else {})


def simplify(name: str) -> str:
    """``"User_ID:token"`` and ``userId`` become ``userid`` (RecBole writes a type after a colon)."""
    return re.sub(r"[^a-z0-9]", "", name.partition(":")[0].lower())


def find_role(role: str, names: Sequence[object]) -> int | None:
    """The position of the column that a role is called by, or None; of two such names the more usual one counts.

    >>> find_role("item", ["userId", "movieId", "rating"]), find_role("user", ["who", "what"])
    (1, None)
    """
    simple = [simplify(name) if isinstance(name, str) else None for name in names]
    return next((simple.index(alias) for alias in ALIASES[role] if alias in simple), None)
