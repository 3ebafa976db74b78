"""Asked before it was fitted, an object says so, whatever it was asked for."""

from typing import TYPE_CHECKING, NoReturn

from lbg_recsys.errors import NotFittedError


class FitFirst:
    """For classes whose ``fit`` makes the attributes in `MADE_BY_FIT` and all whose name begins or ends with ``_``.

    Python comes here only for attributes that are not there, so that nothing has to be checked anywhere else.
    """

    MADE_BY_FIT: tuple[str, ...] = ()

    if not TYPE_CHECKING:  # a type checker would take it for leave to use any name

        def __getattr__(self, name: str) -> NoReturn:
            kind = type(self)
            private = (name.startswith("_") or name.endswith("_")) and not name.startswith("__")
            if private or name in kind.MADE_BY_FIT:
                raise NotFittedError(f"this {kind.__name__} is not fitted (it has no {name} yet): call fit first")
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
