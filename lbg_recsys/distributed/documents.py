"""Documents in partitions, for fits of `LBGMixture` on a cluster."""

import os
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from lbg_recsys.distributed.blocks import DaskBlocks
from lbg_recsys.distributed.cluster import check_workers, cluster_of, gathered
from lbg_recsys.errors import DataError
from lbg_recsys.text import LBGMixture
from lbg_recsys.text._documents import checked_documents


class _About(NamedTuple):
    """What the client learns of a partition."""

    n_rows: int
    n_columns: int


def documents_on_dask(partitions: Iterable[Any], client: Any = None) -> DaskBlocks:
    """Partitions of documents for `LBGMixture.fit`, which the workers of a Dask cluster check and keep.

    Parameters
    ----------
    partitions : iterable of sparse matrices, futures, delayed objects or paths, or one matrix or path
        Matrices of documents by words with the same words, as of a vectorizer that was fitted before. A path is a
        file of `scipy.sparse.save_npz` that all workers see. Partitions without documents are left out with a
        warning.
    client : distributed.Client or str, default=None
        The cluster or its address; None starts one on the cores of this machine.

    Returns
    -------
    DaskBlocks
        What `LBGMixture.fit` takes. The documents are in the order of the partitions; the fit is the same for any
        number of workers, and for other partitions up to rounding. With ``init="kmeans"`` seeds are drawn from a
        sample of 20,000 documents.

    Raises
    ------
    DataError
        If a partition cannot be read, holds invalid values, or has other words than the first one. The message names
        the partition.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> here = {"n_workers": 1, "processes": False, "dashboard_address": None}  # a cluster inside this process
    >>> parts = [sp.csr_array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), sp.csr_array([[1.0, 2.0, 0.0]])]
    >>> with Client(**here) as client:
    ...     mixture = LBGMixture(n_components=2, random_state=0).fit(documents_on_dask(parts, client))
    >>> len(mixture.labels_), bool(mixture.labels_[0] == mixture.labels_[2])
    (3, True)
    """
    # a path is made of characters and a matrix of rows, but each is one partition
    alone = isinstance(partitions, (str, os.PathLike)) or sp.issparse(partitions)
    parts = [partitions] if alone else list(partitions)
    if not parts:
        raise DataError("there are no partitions of documents: at least one is needed")
    cluster = cluster_of(client)
    check_workers(cluster)
    checked = [cluster.submit(_checked, _there(one, cluster), number, pure=False) for number, one in enumerate(parts)]
    abouts = gathered(cluster, cluster.map(_about, checked, pure=False))
    for number, about in enumerate(abouts):
        if about.n_columns != abouts[0].n_columns:
            raise DataError(
                f"partition {number} of the documents has {about.n_columns} words, and partition 0 has "
                f"{abouts[0].n_columns}: make all with the same vectorizer"
            )
    kept = [number for number, about in enumerate(abouts) if about.n_rows]
    if not kept:
        raise DataError("no partition has a document: at least one is needed")
    for number in sorted({*range(len(abouts))} - {*kept}):
        warnings.warn(f"partition {number} of the documents has no row: it is left out", UserWarning, stacklevel=2)
    n_rows = np.array([abouts[number].n_rows for number in kept])
    own = [checked[number] for number in kept]
    return DaskBlocks.placed(cluster, list, own, n_rows=n_rows, n_columns=abouts[0].n_columns)


def _there(partition: Any, client: Any) -> Any:
    """A partition as a worker can take it, wherever the worker was started."""
    if isinstance(partition, (str, os.PathLike)):
        return os.path.abspath(partition)
    return client.compute(partition) if hasattr(partition, "dask") else partition


def _about(documents: sp.csr_array) -> _About:
    return _About(*documents.shape)


def _checked(documents: Any, number: int) -> sp.csr_array:
    where = f"partition {number} of the documents"
    try:
        if isinstance(documents, (str, os.PathLike)):
            where = f"{where} ({os.fspath(documents)})"
            documents = sp.load_npz(documents)
        if not documents.shape[0]:
            return sp.csr_array(documents)
        return checked_documents(LBGMixture(), documents, reset=True)
    except Exception as error:  # whatever a damaged file can raise
        raise DataError(f"{where} cannot be used: {str(error).splitlines()[0]}") from error
