"""Documents from what people have: a folder of text files, a CSV with a text column, an svmlight file."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lbg_recsys.checks import check_choice, check_integer
from lbg_recsys.datasets.by_name import is_text_set, load_text_data
from lbg_recsys.errors import DataError, LBGError, ParameterError
from lbg_recsys.files import check_path, why_not_opened
from lbg_recsys.progress import Progress, parts, silent
from lbg_recsys.readers.blocks import warn_of_encoding, whole_text

_SVMLIGHT = re.compile(r"\s*[-+.\w]+(\s+\d+:[-+.\w]+)+\s*(#.*)?")


@dataclass(frozen=True)
class Documents:
    """Names, and either texts or a matrix of word frequencies; labels where they are known.

    Attributes
    ----------
    names : list of str
        The names of the documents.
    texts : list of str or None
        Their texts.
    matrix : sparse matrix or None
        Their word frequencies, of shape (n_documents, n_columns).
    labels : list of str or None
        Their classes.
    columns : list of int or None
        The indices in the file of the columns of ``matrix``, in their order; only those that occur.

    Examples
    --------
    >>> len(Documents(["1", "2"], ["win a prize", "see you"], None, ["spam", "ham"]))
    2
    """

    names: list[str]
    texts: list[str] | None
    matrix: Any | None
    labels: list[str] | None
    columns: list[int] | None = None

    def __len__(self) -> int:
        return len(self.names)


def read_documents(
    source: str,
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    progress: Progress = silent,
) -> Documents:
    """Read documents, with classes where the source has them.

    Parameters
    ----------
    source : str
        A folder of text files (its subfolders are the classes), a table with a column of texts, an svmlight file, or
        the name of a data set of texts such as ``sms-spam`` (a file or folder of that name is ``./sms-spam``).
    text_column, label_column : str, default=None
        The columns of texts and of classes in a table; found by name if None.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    Documents
        Names, texts or word frequencies, and classes.

    Raises
    ------
    DataError
        If there is no document, or the source cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "texts.csv")
    ...     _ = path.write_text("text,label\\nwin a prize,spam\\nsee you,ham\\n")
    ...     found = read_documents(str(path))
    >>> found.texts, found.labels
    (['win a prize', 'see you'], ['spam', 'ham'])
    """
    check_path(source)
    for name, column in (("text_column", text_column), ("label_column", label_column)):
        if column is not None and not isinstance(column, str):
            raise ParameterError(f"{name} is {column!r}: give the name of a column")
    if is_text_set(source):
        return _of_set(source, progress)
    path = Path(source)
    try:
        if path.is_dir():
            found = _read_folder(path, progress)
        elif _looks_like_svmlight(path):
            found = _read_svmlight(path)
        else:
            from lbg_recsys.readers.text_tables import read_text_table  # it needs NumPy, and --help comes by here

            names, texts, labels = read_text_table(source, text_column, label_column)
            found = Documents(names, texts, None, labels)
    except (OSError, UnicodeEncodeError) as error:  # the latter: a name that no file can have
        raise DataError(why_not_opened(getattr(error, "filename", None) or source, error)) from error
    progress(1, 1, "read")
    if not len(found):
        raise DataError(f"{source} holds no documents")
    return found


def word_frequencies(
    *sources: Documents, min_df: int, stop_words: str, progress: Progress = silent
) -> tuple[list[Any], list[str], Any]:
    """A matrix of tf-idf weights (sublinear, unit length) for each source, by the words of the first.

    Parameters
    ----------
    *sources : Documents
        What `read_documents` read.
    min_df : int
        Words in fewer documents than this are left out.
    stop_words : str
        Frequent words to leave out: "english" or "none".
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    matrices : list
        One matrix per source.
    words : list of str
        The words of their columns.
    vectorizer : TfidfVectorizer or None
        None where the sources hold word frequencies already.

    Raises
    ------
    ParameterError
        If an argument is none of these.
    DataError
        If the sources are of different kinds, or have no word.

    Examples
    --------
    >>> documents = Documents(["1", "2"], ["win a prize", "see you"], None, ["spam", "ham"])
    >>> (matrix,), words, _ = word_frequencies(documents, min_df=1, stop_words="none")
    >>> matrix.shape, words
    ((2, 4), ['prize', 'see', 'win', 'you'])
    """
    check_integer("min_df", min_df, 1)
    check_choice("stop_words", stop_words, ("english", "none"))
    if not sources or not all(isinstance(one, Documents) for one in sources):
        raise ParameterError("give one or more Documents, such as read_documents returns")
    if any((one.texts is None) != (sources[0].texts is None) for one in sources):
        raise DataError("one source has texts and the other has word frequencies: give two of the same kind")
    if sources[0].texts is None:
        known = sources[0].columns or []
        return [_columns_of(one, known) for one in sources], [f"word {column}" for column in known], None
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        sublinear_tf=True, min_df=min_df, stop_words=None if stop_words == "none" else stop_words
    )
    jobs = zip(sources, parts(progress, len(sources)), strict=True)
    first, *others = (_reporting(one.texts or [], part) for one, part in jobs)
    try:
        matrices = [vectorizer.fit_transform(first), *map(vectorizer.transform, others)]
    except ValueError as error:
        raise DataError(_no_word(len(sources[0]), min_df, stop_words)) from error
    return matrices, vectorizer.get_feature_names_out().tolist(), vectorizer


def _no_word(n_documents: int, min_df: int, stop_words: str) -> str:
    """Why no word is left, and what to do.

    >>> _no_word(75, 1000, "none")
    'no word is in at least 1,000 of 75 documents: lower --min-df (in Python: min_df), or give more documents'
    """
    remedies = ["lower --min-df (in Python: min_df)"] if min_df > 1 else []
    if stop_words != "none" and min_df <= n_documents:
        remedies.append("keep stop words with --stop-words none (in Python: stop_words)")
    aside = "" if stop_words == "none" else ", stop words aside,"
    instead = ", ".join([*remedies, "or give more documents"]).removeprefix("or ")
    return f"no word{aside} is in at least {min_df:,} of {n_documents:,} documents: {instead}"


def matrix_for(model: Any, source: Documents) -> Any:
    """The documents of a source by the words of a text model that was saved with them."""
    if source.texts is not None:
        if model.vectorizer_ is None:
            raise DataError("the model was saved without its vectorizer, so it takes svmlight files only")
        return model.vectorizer_.transform(source.texts)
    names = model.vocabulary_ or []
    if model.vectorizer_ is not None or not all(name.startswith("word ") for name in names):
        raise DataError("the model was fitted to texts: give a folder of texts or a CSV, not an svmlight file")
    return _columns_of(source, [int(name.removeprefix("word ")) for name in names])


def _reporting(texts: list[str], progress: Progress) -> Iterator[str]:
    """The texts, and a report whenever one is taken."""
    for done, text in enumerate(texts, start=1):
        yield text
        progress(done, len(texts), "counting words")


@contextmanager
def failing_as_data_errors() -> Iterator[None]:
    """What scikit-learn refuses, as a sentence."""
    from sklearn.utils._param_validation import InvalidParameterError

    try:
        yield
    except LBGError:
        raise  # a sentence already
    except InvalidParameterError as error:
        raise ParameterError(str(error).splitlines()[0]) from error
    except ValueError as error:
        raise DataError(str(error).splitlines()[0]) from error


def _of_set(name: str, progress: Progress) -> Documents:
    """All documents of a data set, named by their numbers."""
    found = load_text_data(name, progress=progress)
    labels = [found.target_names[target] for target in found.target]
    progress(1, 1, "read")
    return Documents([str(row) for row in range(1, len(labels) + 1)], found.data, None, labels)


def _read_folder(folder: Path, progress: Progress) -> Documents:
    """Files directly in it have no class; files in its folders have the folder's name as their class."""
    files = []
    for path in folder.rglob("*"):
        if path.is_file() and not _hidden(path.relative_to(folder)):
            files.append(path)
            progress(0, 1, f"{len(files):,} files found")
    files.sort()
    classes = [path.relative_to(folder).parts[0] if path.parent != folder else None for path in files]
    if None in classes and any(classes):
        loose = files[classes.index(None)]
        raise DataError(f"{folder} has class folders and also the file {loose.name}: move it into one of them")
    names = [path.relative_to(folder).as_posix() for path in files]
    texts, others = [], []
    for done, path in enumerate(files, start=1):
        text, lines = whole_text(path.read_bytes(), str(path))
        texts.append(text)
        others += [f"{path}, line {lines[0]}"] if lines else []
        progress(done, len(files), "files")
    if others:
        warn_of_encoding(f"{len(others):,} of {len(files):,} files of {folder}", others[0])
    return Documents(names, texts, None, None if None in classes else [str(one) for one in classes])


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _looks_like_svmlight(path: Path) -> bool:
    with open(path, encoding="utf-8", errors="replace") as stream:
        lines = [
            line for _, line in zip(range(20), stream, strict=False) if line.strip() and not line.startswith("#")
        ]
    return bool(lines) and all(_SVMLIGHT.fullmatch(line.rstrip("\n")) for line in lines)


def _read_svmlight(path: Path) -> Documents:
    import numpy as np
    import scipy.sparse as sp
    from sklearn.datasets import load_svmlight_file

    try:
        matrix, target = load_svmlight_file(os.fspath(path), dtype=float, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path} is not an svmlight file that can be read: {error}") from error
    labels = [f"{value:g}" for value in target]
    # Only the columns that occur: one line may name column 30,000,000, and models keep a number per column and topic.
    used, inverse = np.unique(matrix.indices, return_inverse=True)
    compact = sp.csr_matrix((matrix.data, inverse, matrix.indptr), shape=(len(labels), len(used)))
    return Documents([str(row) for row in range(1, len(labels) + 1)], None, compact, labels, used.tolist())


def _columns_of(source: Documents, known: list[int]) -> Any:
    """The matrix of a source by the columns of another; columns that are not among them are left out."""
    if source.columns == known or source.matrix is None:
        return source.matrix
    import numpy as np
    import scipy.sparse as sp

    position = {column: number for number, column in enumerate(known)}
    own = [position.get(column, -1) for column in source.columns or []]
    entries = source.matrix.tocoo()
    target = np.array(own)[entries.col] if own else entries.col
    kept = target >= 0
    return sp.csr_matrix((entries.data[kept], (entries.row[kept], target[kept])), shape=(len(source), len(known)))
