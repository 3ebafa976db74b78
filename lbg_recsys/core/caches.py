"""What is computed once and not pickled."""

from functools import cached_property
from typing import Any


class WithoutCaches:
    """A class whose pickles leave out its cached properties; they are computed again when they are used.

    What is sent to a worker or kept on a disk does not grow with what was asked before.

    >>> import pickle
    >>> class Squares(WithoutCaches):
    ...     @cached_property
    ...     def all(self):
    ...         return [n**2 for n in range(10**4)]
    >>> squares = Squares()
    >>> before = squares.__getstate__()
    >>> squares.all[3], squares.__getstate__() == before
    (9, True)
    """

    def __getstate__(self) -> dict[str, Any]:
        cached = {name for kind in type(self).__mro__ for name, one in vars(kind).items() if _is_cached(one)}
        return {name: value for name, value in vars(self).items() if name not in cached}


def _is_cached(one: object) -> bool:
    return isinstance(one, cached_property)
