"""Spambase: e-mails as word and character frequencies."""

import os
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from lbg_recsys.datasets.fetch import locate
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent

if TYPE_CHECKING:
    import numpy as np

_WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses free "
    "business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85 "
    "technology 1999 parts pm direct cs meeting original project re edu table conference"
)
FEATURES = (
    *(f"word_freq_{word}" for word in _WORDS.split()),
    *(f"char_freq_{char}" for char in ";([!$#"),
    *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
)
_RUN_LENGTHS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Spambase:
    """Spambase as arrays.

    Attributes
    ----------
    data : float array of shape (4601, 54) or (4601, 57)
        Frequencies of words and characters in per cent, and the run lengths of capitals if they were asked for.
    target : int array of shape (4601,)
        1 for spam, 0 for other e-mails.
    feature_names : tuple of str
        Names of the columns.
    found_in : str
        Where the bytes came from, in words.

    Examples
    --------
    >>> load_spambase()  # doctest: +SKIP
    <Spambase: 4,601 e-mails of 54 features>
    """

    data: "np.ndarray"
    target: "np.ndarray"
    feature_names: tuple[str, ...]
    found_in: str

    def __repr__(self) -> str:
        documents, features = self.data.shape
        return f"<{type(self).__name__}: {documents:,} e-mails of {features} features>"


def load_spambase(
    path: str | os.PathLike[str] | None = None,
    *,
    run_lengths: bool = False,
    download: bool = True,
    progress: Progress = silent,
) -> Spambase:
    """Load Spambase from ``path``, the environment (``LBG_DATA_HOME``), the cache, or by download.

    Parameters
    ----------
    path : path, default=None
        The file, the archive, or a folder that holds either.
    run_lengths : bool, default=False
        Whether to keep the three run-length attributes, which count capitals rather than words. The paper left them
        out.
    download : bool, default=True
        Whether to download the data if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    Spambase
        Frequencies, classes and names of the attributes.

    Examples
    --------
    >>> load_spambase().data.shape          # doctest: +SKIP
    (4601, 54)
    """
    import numpy as np

    info = dataset_info("spambase")
    located = locate(info, path, download=download, progress=progress)
    table = np.loadtxt(BytesIO(located.read(info.main)), delimiter=",")
    width = len(FEATURES) if run_lengths else len(FEATURES) - _RUN_LENGTHS
    return Spambase(
        data=np.ascontiguousarray(table[:, :width]),
        target=table[:, -1].astype(np.int64),
        feature_names=FEATURES[:width],
        found_in=located.found_in,
    )
