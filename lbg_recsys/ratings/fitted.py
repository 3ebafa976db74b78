"""Attributes that `fit` makes: asking for one before the fit raises `NotFittedError`."""

from typing import TYPE_CHECKING, NoReturn

from lbg_recsys.errors import NotFittedError


class FitFirst:
    """For classes whose ``fit`` makes the attributes named in `MADE_BY_FIT`, together with those of their bases.

    Python calls ``__getattr__`` only for attributes that are missing, so no method has to check for a fit. A
    property that needs the fit is named there too. Any other missing name is a plain AttributeError.
    """

    MADE_BY_FIT: tuple[str, ...] = ()

    if not TYPE_CHECKING:  # a type checker would accept any name because of it

        def __getattr__(self, name: str) -> NoReturn:
            kind = type(self)
            if any(name in vars(base).get("MADE_BY_FIT", ()) for base in kind.__mro__):
                raise NotFittedError(f"this {kind.__name__} is not fitted (it has no {name} yet): call fit first")
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
