"""Documents as they come in and as the models want them: checked once, at the edge."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_non_negative, validate_data

from lbg_recsys.core.em.keywords import ranked
from lbg_recsys.core.sparse import SparseRows


def checked_documents(estimator: Any, X: Any, *, reset: bool) -> sp.csr_array:
    """``X`` as a canonical CSR array of float64 or float32: sorted, no duplicates, no stored zeros.

    Refuses, with scikit-learn's own messages, NaN, infinity, negative values, a wrong number of words.
    """
    X = validate_data(
        estimator, X, reset=reset, accept_sparse="csr", accept_large_sparse=True, dtype=[np.float64, np.float32]
    )
    check_non_negative(X, type(estimator).__name__)
    documents = sp.csr_array(X, copy=True) if sp.issparse(X) else sp.csr_array(X)
    documents.sum_duplicates()
    documents.eliminate_zeros()
    return documents


def n_filled(documents: sp.csr_array) -> int:
    """How many documents have words: no more topics than that can be fitted to them."""
    return int(np.count_nonzero(np.diff(documents.indptr)))


def enough_documents(documents: sp.csr_array, n_components: int) -> sp.csr_array:
    """The documents that have words; an error where there are fewer of them than topics.

    An empty document is no evidence for any topic: it is left out of fits and gets the topics' weights after.
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


def ranked_documents(documents: sp.csr_array) -> SparseRows:
    """Documents with their words from the most to the least frequent."""
    return ranked(documents.indptr, documents.indices, documents.data, documents.shape[1])
