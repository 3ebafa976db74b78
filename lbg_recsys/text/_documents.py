"""Input documents, checked once, in the form that the models use."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, check_non_negative, validate_data

from lbg_recsys.core.blocks import Blocks, LocalBlocks
from lbg_recsys.core.em.keywords import ranked
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Bools, Floats
from lbg_recsys.errors import DataError

# The largest values accepted: sums of their squares do not overflow in the dtype of the data. The largest value of a
# fit must be at least the inverse of this, so that variances do not underflow.
_LARGEST = {"float64": 1e150, "float32": 1e15}


def checked_documents(estimator: Any, X: Any, *, reset: bool) -> sp.csr_array:
    """``X`` as a canonical CSR array of float64 or float32: sorted, no duplicates, no stored zeros.

    Refuses, with scikit-learn's own messages, NaN, infinity, negative values, a wrong number of words; and values
    whose squares would overflow or, in a fit (``reset``), all underflow.
    """
    with _within_range("X"):
        X = validate_data(
            estimator, X, reset=reset, accept_sparse="csr", accept_large_sparse=True, dtype=[np.float64, np.float32]
        )
    check_non_negative(X, type(estimator).__name__)
    documents = sp.csr_array(X, copy=True) if sp.issparse(X) else sp.csr_array(X)
    documents.sum_duplicates()
    documents.eliminate_zeros()
    limit = _LARGEST[documents.dtype.name]
    if documents.nnz and documents.data.max() > limit:
        entry = int(documents.data.argmax())
        row = int(np.searchsorted(documents.indptr, entry, side="right")) - 1
        raise DataError(
            f"document {row} has the value {documents.data[entry]:g} for word {documents.indices[entry]}; values "
            f"above {limit:g} ({documents.dtype}) overflow when squared: scale the documents, for example "
            "to unit length with sklearn.preprocessing.normalize"
        )
    if reset and documents.nnz and documents.data.max() < 1.0 / limit:
        raise DataError(
            f"the largest value of all documents is {documents.data.max():g}; values below {1.0 / limit:g} "
            f"({documents.dtype}) underflow when squared: scale the documents, for example to unit length with "
            "sklearn.preprocessing.normalize"
        )
    return documents


@dataclass(frozen=True)
class Training:
    """The documents that a fit uses, which of all documents they are, and how often each counts (None: once)."""

    documents: sp.csr_array
    used: Bools
    weight: Floats | None

    @property
    def block(self) -> LocalBlocks:
        """The documents as one block."""
        return LocalBlocks.single(self.documents, self.documents.shape)

    @property
    def all_used(self) -> bool:
        """Whether no document was left out."""
        return bool(self.used.all())


def checked_weight(sample_weight: Any, documents: sp.csr_array) -> Floats | None:
    """Weights (m,) of the documents as float64, not negative; None stays None."""
    if sample_weight is None:
        return None
    with _within_range("sample_weight"):
        weight = _check_sample_weight(sample_weight, documents, dtype=np.float64, ensure_non_negative=True)
    return np.asarray(weight)


@contextmanager
def _within_range(name: str) -> Iterator[None]:
    """Refuse integers that are too large for a floating-point number, which scikit-learn's checks let through."""
    try:
        yield
    except OverflowError as error:
        raise DataError(f"{name} has an integer beyond the range of float64: scale the values") from error


def training_documents(documents: sp.csr_array, n_components: int, weight: Floats | None = None) -> Training:
    """The documents that have words and a weight; an error where there are fewer of them than topics.

    An empty document is no evidence for any topic: fits leave it out, and its posteriors are the topics' weights.
    """
    if weight is not None and not (weight > 0).all():
        counted = weight > 0
        found = training_documents(documents[counted], n_components, weight[counted])
        used = counted.copy()
        used[counted] = found.used
        return Training(found.documents, used, found.weight)
    used = np.diff(documents.indptr) > 0
    filled = enough_documents(documents, n_components)
    return Training(filled, used, weight if weight is None else weight[used])


def n_filled(documents: sp.csr_array) -> int:
    """How many documents have words: no more topics than that can be fitted to them."""
    return int(np.count_nonzero(np.diff(documents.indptr)))


def enough_documents(documents: sp.csr_array, n_components: int) -> sp.csr_array:
    """The documents that have words; an error where there are fewer of them than topics.

    An empty document is no evidence for any topic: fits leave it out, and its posteriors are the topics' weights.
    """
    if documents.shape[0] < n_components:
        raise ValueError(
            f"n_samples={documents.shape[0]} should be >= n_components={n_components}: "
            "give more documents or ask for fewer topics"
        )
    filled = n_filled(documents)
    if filled < n_components:
        raise ValueError(
            f"only {filled} of n_samples={documents.shape[0]} documents have any words, and "
            f"n_components={n_components} topics are to be fitted: check the vocabulary or ask for fewer topics"
        )
    return documents if filled == documents.shape[0] else documents[np.diff(documents.indptr) > 0]


def filled_blocks(documents: Blocks, n_components: int) -> Blocks:
    """Blocks of the documents that have words; an error where there are fewer of them than topics."""
    n_rows = np.array(list(documents.fetch(documents.map(n_filled))))
    if n_rows.sum() < n_components:
        raise DataError(
            f"only {n_rows.sum()} of {documents.n_rows.sum()} documents have any words, and "
            f"n_components={n_components} topics are to be fitted: check the vocabulary or ask for fewer topics"
        )
    if (n_rows == documents.n_rows).all():
        return documents
    return documents.mapped(_with_words).counted(n_rows)


def _with_words(documents: sp.csr_array) -> sp.csr_array:
    return documents[np.diff(documents.indptr) > 0]


def ranked_documents(documents: sp.csr_array) -> SparseRows:
    """Documents with their words from the most to the least frequent."""
    return ranked(documents.indptr, documents.indices, documents.data, documents.shape[1])
