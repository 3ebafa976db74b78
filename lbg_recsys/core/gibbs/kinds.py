"""The two choices that make a kind of chain: who its rows are, and how a rating follows from its utility."""

from enum import Enum
from typing import TypeVar

_T = TypeVar("_T")


class Side(Enum):
    """The side that a chain has as rows, which carry the classes; the other side are its columns.

    >>> Side.ITEMS.other
    <Side.USERS: 'users'>
    """

    USERS = "users"
    ITEMS = "items"

    @property
    def other(self) -> "Side":
        """The side that is not this one."""
        return Side.ITEMS if self is Side.USERS else Side.USERS

    def rows_and_columns(self, users: _T, items: _T) -> tuple[_T, _T]:
        """What belongs to the rows and what belongs to the columns, of two things in the order users, items.

        >>> Side.ITEMS.rows_and_columns("users", "items")
        ('items', 'users')
        """
        return (users, items) if self is Side.USERS else (items, users)


class Likelihood(Enum):
    """How a rating follows from its utility: it is the utility, or the level whose interval holds the utility."""

    GAUSSIAN = "gaussian"
    ORDINAL = "ordinal"
