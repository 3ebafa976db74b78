"""A bar for the fit of a text model, fed by what the model logs of each iteration of EM."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

from lbg_recsys.progress import Progress, bar

if TYPE_CHECKING:
    from lbg_recsys.text import LBGMixture


class _Ticks(logging.Handler):
    """Every record is a step."""

    def __init__(self, progress: Progress, last: int) -> None:
        super().__init__(logging.INFO)
        self._progress, self._last, self._steps = progress, last, count(1)

    def emit(self, record: logging.LogRecord) -> None:
        self._progress(min(next(self._steps), self._last), self._last, record.getMessage())


@contextmanager
def em_bar(mixture: "LBGMixture", quiet: bool) -> Iterator[None]:
    """A bar while a mixture (or its clone) is fitted: scikit-learn's ``fit`` has no callback, but ours can log.

    The bar ends where all starts would have used all of their iterations; EM may converge long before.
    """
    restarts = mixture.n_init + (mixture.combine == "consensus" and mixture.n_init > 1)
    last = max(1, restarts * mixture.max_iter)
    logger = logging.getLogger(type(mixture).__module__)
    with bar(f"fitting {type(mixture).__name__}", quiet) as progress:
        ticks, level, verbose = _Ticks(progress, last), logger.level, mixture.verbose
        logger.addHandler(ticks)
        logger.setLevel(logging.INFO)
        mixture.verbose = 1
        try:
            yield
        finally:
            mixture.verbose = verbose
            logger.setLevel(level)
            logger.removeHandler(ticks)
        progress(last, last, "done")
