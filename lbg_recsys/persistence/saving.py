"""`save` and `load`."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.checks import check_flag
from lbg_recsys.errors import DataError, NotFittedError, ParameterError
from lbg_recsys.files import atomic_write
from lbg_recsys.persistence.container import decoded, encoded, open_container, write_container
from lbg_recsys.persistence.kind import CLASSES, Extras, Kind, kind_of
from lbg_recsys.persistence.schema import AnyArray, Layout, check_contents, check_shapes, listed
from lbg_recsys.settings import AUTO
from lbg_recsys.words import an, class_of

if TYPE_CHECKING:
    import pandas as pd


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    titles: "Mapping[Any, str] | pd.Series[str] | None" = None,
    chains: bool = False,
    vectorizer: Any = None,
    vocabulary: Sequence[str] | None = None,
    ratings: bool = True,
) -> Path:
    """Save a fitted model, or the model of a fitted Surprise algorithm of this package, to a file.

    The file of a rating model holds parameters, everybody's ratings, ids (integers and strings keep their type), the
    rating scale, titles, and how training went; that of a text model holds its parameters, fitted attributes and
    words. The same model gives the same bytes. What is going to be written passes every check of `load` first. It is
    then written beside ``path`` and renamed, so that an error or a kill at any moment leaves the old file.

    Parameters
    ----------
    model : rating model, ChoiceModel, algorithm of this package, or text estimator
        A fitted `LBGModel`, `BayesianLBGModel` or `GaussianPLSAModel`, an algorithm fitted with one of them, or a
        fitted `LBGMixture`, `LBGClassifier`, `LBGSelector`, `MixtureOfUnigrams` or `PLSI`.
    path : str or path-like
        The file to write. Its suffix is ``.lbg`` by custom.
    titles : mapping or Series of titles by item id, default=None
        What items are called. None: the titles that the model was loaded with.
    chains : bool, default=False
        Of a `BayesianLBGModel`: keep the state of the Markov chains too, so that the loaded model can continue them
        with ``warm_start=True`` and ``fit``. The file is larger.
    vectorizer : CountVectorizer or TfidfVectorizer, default=None
        Of a text model: the fitted vectorizer that made its documents. It is kept as its settings, vocabulary and idf
        weights; one with functions (a tokenizer, say) is refused. None: the one that the model was loaded with.
    vocabulary : sequence of str, default=None
        Of a text model: its words in the order of the columns, where no vectorizer is given.
    ratings : bool, default=True
        Of a rating model or a `ChoiceModel`: False leaves out all users and their ratings, and keeps sums over them
        (see docs/model-files.md). The loaded model serves new users by `fold_in`.

    Returns
    -------
    pathlib.Path
        ``path``.

    Raises
    ------
    DataError
        If the model or a title cannot be kept in a file, or ``path`` is a folder or in a folder that does not exist.
    ParameterError
        If a parameter was changed after the fit to a value that does not agree with the fitted arrays.
    NotFittedError
        If the model is not fitted.

    Examples
    --------
    >>> import lbg_recsys, tempfile
    >>> model = lbg_recsys.LBGModel(n_topics=1).fit((["ann", "bob"], [7, 7], [5, 3]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lbg_recsys.save(model, f"{folder}/model.lbg", titles={7: "Seven"})
    ...     again = lbg_recsys.load(path)
    >>> again.titles, bool((again.predict_batch([("ann", 7)]) == model.predict_batch([("ann", 7)])).all())
    ({7: 'Seven'}, True)
    """
    # slow to import, and no file is read with them
    from lbg_recsys.provenance import library_versions
    from lbg_recsys.ratings.tables import is_series

    for name, flag in (("ratings", ratings), ("chains", chains)):
        check_flag(name, flag)
    if is_series(titles):
        titles = _by_index(titles)
    if titles is not None and not isinstance(titles, Mapping):
        raise ParameterError(
            f"titles is {class_of(titles)}: give a mapping of item ids to titles, or a pandas Series"
        )
    if isinstance(vocabulary, str | bytes) or not isinstance(vocabulary, Iterable | None):
        raise ParameterError(f"vocabulary is {vocabulary!r}: give a list of words")
    model = _savable(model)
    kind = kind_of(type(model).__name__)
    own, arrays = kind.take_apart(model, Extras(titles, chains, vectorizer, vocabulary, ratings))
    header = {"class": type(model).__name__, **own, "versions": library_versions()}
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    _rehearse(kind, header, arrays)
    with atomic_write(path) as stream:
        write_container(stream, header, arrays)
    return Path(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` saved.

    Nothing in the file is trusted: keys, types, dtypes, shapes and sizes are checked before memory is allocated,
    values before they are used, and no code runs from the file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    rating model or text estimator
        The model. It gives the same bits as the one that was saved. A text estimator has its vectorizer as
        ``vectorizer_`` and its words as ``vocabulary_``; each is None where it was not saved.

    Raises
    ------
    ModelFileError
        If anything is wrong with the file, or ``path`` is a folder.
    ParameterError
        If ``path`` is not the name of a file.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import lbg_recsys, tempfile
    >>> model = lbg_recsys.LBGModel(n_topics=1).fit((["ann", "bob"], [7, 7], [5, 3]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = load(lbg_recsys.save(model, f"{folder}/model.lbg"))
    >>> loaded
    <LBGModel(n_topics=1), fitted to 2 ratings of 1 item by 2 users>
    """
    with open_container(path) as file:
        kind = kind_of(file.header.get("class"))
        header = kind.checked(file.header)
        layout = kind.layout(header)
        check_shapes(file.directory, layout)
        arrays = file.read()
        check_contents(arrays, layout.arrays)
        return kind.put_together(header, arrays)


def _rehearse(kind: Kind, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Do in memory all that `load` will do with the file, so that what it would refuse is refused now."""
    text = encoded(header)
    try:
        header = kind.checked(decoded(text))
        layout = kind.layout(header)
        _refuse_changed(kind, header["parameters"], arrays, layout)
        check_shapes(listed(arrays), layout)
        check_contents(arrays, layout.arrays)
        kind.put_together(header, dict(arrays))
    except ParameterError:
        raise
    except DataError as error:
        raise DataError(
            f"the model cannot be saved, because the file could not be loaded: {error}. If a parameter was changed "
            "after the fit, set it back or fit the model again"
        ) from error


def _refuse_changed(
    kind: Kind, parameters: Mapping[str, Any], arrays: Mapping[str, AnyArray], layout: Layout
) -> None:
    """Name the parameter that was set after the fit to another size than that of the fitted arrays."""
    lengths = {
        size: length
        for name, array in arrays.items()
        if name in layout.arrays
        for size, length in zip(layout.arrays[name].shape, array.shape, strict=True)
    }
    for size, name in kind.sizes.items():
        value, fitted = parameters[name], lengths.get(size)
        if fitted is not None and value not in (fitted, AUTO):
            raise ParameterError(
                f"{name} is {value!r}, and the model was fitted with {fitted}: fit it again or set {name} back to "
                f"{fitted}, then save it"
            )


def _by_index(titles: Any) -> dict[Any, str]:
    """The titles of a Series by its index, which must be the items."""
    if type(titles.index).__name__ == "RangeIndex" and titles.index.name is None:
        raise ParameterError(
            "titles is a Series without an index of its own, and numbers of rows are no items: give "
            "frame.set_index('item')['title'] or a mapping"
        )
    if not titles.index.is_unique:
        twice = titles.index[titles.index.duplicated()].tolist()[0]
        raise ParameterError(f"titles has the item {twice!r} more than once: give one title per item")
    return dict(titles.to_dict())


def _savable(model: Any) -> Any:
    """The model itself, or that of an algorithm; an error where it has no file or is not fitted."""
    inner = getattr(model, "model_", model)
    name = type(inner).__name__
    ours = type(inner).__module__.startswith("lbg_recsys.")
    if not ours or name not in CLASSES:
        if ours and hasattr(inner, "estimate") and not hasattr(inner, "trainset"):
            raise NotFittedError(
                f"{name} cannot be saved: fit it first (surprise.dump.dump saves algorithms without model_)"
            )
        if hasattr(inner, "named_steps"):
            raise DataError(
                f"{an(name)} cannot be saved here: save its last step with its vectorizer, as in "
                "save(pipeline[-1], path, vectorizer=pipeline[0])"
            )
        raise DataError(
            f"{an(name)} cannot be saved here: give one of {', '.join(CLASSES)} or an algorithm fitted with one; "
            "surprise.dump.dump saves other algorithms"
        )
    kind_of(name).check_fitted(inner)
    return inner
