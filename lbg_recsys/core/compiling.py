"""The decorator of all compiled functions: numba's, with a cache that may be missing, full or damaged."""

import os
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba

from lbg_recsys.progress import compiling

F = TypeVar("F", bound=Callable[..., Any])

# The ``fastmath`` of kernels: sums may be regrouped (that is what lets them vectorise), but infinities and NaN keep
# their meaning.
FAST = {"contract", "nsz", "reassoc", "arcp"}
REMEDY = "set NUMBA_CACHE_DIR to a folder with free space that you can write to"
_ROOM = 1 << 20  # bytes that a cache should at least be able to take
_told: list[str] = []  # the warning of this process, which is given once


def kernel(**options: Any) -> Callable[[F], F]:
    """``numba.njit(nogil=True, error_model="numpy", **options)``, cached on disk where that is possible.

    No function is passed to C as a callback, so no second entry point is compiled.

    A division by zero is infinite or NaN, as in NumPy. All kernels share this setting: numba compiles its own
    functions, such as the generators of random numbers, again for each combination of settings that calls them.

    Without a folder that can be written to, the function is compiled anew in each process. A cache file that cannot
    be read is replaced, and one that cannot be written is skipped. A `UserWarning` says so once per process.

    >>> @kernel(fastmath=True)
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}

    def compiled(function: F) -> F:
        try:
            found: Any = numba.njit(cache=True, **options)(function)
        except RuntimeError as error:  # numba: "no locator available"
            _tell(f"no folder for compiled code can be written to ({error})")
            found = numba.njit(**options)(function)
            return cast(F, found)
        if hasattr(found, "_cache"):  # not where NUMBA_DISABLE_JIT is set
            found._cache = _OptionalCache(found._cache)
        return cast(F, found)

    return compiled


class _OptionalCache:
    """Numba's cache, whose failures do not end the program."""

    def __init__(self, cache: Any) -> None:
        self._own = cache

    def __getattr__(self, name: str) -> Any:
        if name == "_own":  # while it is being copied or unpickled
            raise AttributeError(name)
        return getattr(self._own, name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled function, or None if it is not there or its file is damaged."""
        found = None
        try:
            found = self._own.load_overload(signature, target)
        except Exception as error:  # whatever a damaged pickle can raise
            _tell(
                f"a file of compiled code in {self._own.cache_path} is damaged ({_reason(error)}) and is replaced", ""
            )
            with suppress(OSError):
                self._own.flush()
        if found is None:
            compiling()
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Store the compiled function if there is room for it."""
        try:
            self._own.save_overload(signature, data)
        except Exception as error:
            _tell(f"compiled code cannot be stored in {self._own.cache_path} ({_reason(error)})")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _tell(problem: str, remedy: str = f"each start compiles again, which takes up to a minute; {REMEDY}") -> None:
    if not _told:
        _told.append(problem)
        warnings.warn(f"{problem}: {remedy}" if remedy else problem, UserWarning, stacklevel=4)


def cache_folder() -> tuple[str | None, str | None]:
    """The folder that numba stores the compiled functions of this package in, and what is wrong with it or None."""

    def probe() -> None:
        """Never compiled: numba derives the folder from the file that it is defined in."""

    try:
        found: Any = numba.njit(cache=True)(probe)
    except RuntimeError:
        return None, f"no folder for compiled code can be written to: each start compiles again; {REMEDY}"
    folder = str(found._cache.cache_path)
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(_ROOM))
            stream.flush()
    except OSError as error:
        reason = error.strerror or error
        return folder, f"compiled code cannot be stored in {folder} ({reason}): each start compiles again; {REMEDY}"
    wanted = os.environ.get("NUMBA_CACHE_DIR")
    if wanted and not os.path.abspath(folder).startswith(os.path.abspath(wanted) + os.sep):
        return folder, f"NUMBA_CACHE_DIR is {wanted}, which cannot be written to: {folder} is used instead; {REMEDY}"
    return folder, None
