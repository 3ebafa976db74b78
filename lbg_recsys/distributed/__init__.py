"""The same fits on Dask: the blocks of a store are read and kept by the workers, and sums come back.

    from dask.distributed import Client
    from lbg_recsys.distributed import on_dask

    store = RatingStore.create("/shared/store", CodedRatings("/shared/ratings"))
    LBGModel(n_topics=20).fit(on_dask(store, Client("scheduler:8786")))

Parameters and statistics are sent, some k numbers per item; ratings are not. The sums are added as in one process:
any number of workers gives the bits of a fit without Dask. A block that is lost with its worker is read again.
"""

from lbg_recsys.distributed.blocks import DaskBlocks, DaskRatings, on_dask
from lbg_recsys.distributed.chains import fit_chains
from lbg_recsys.distributed.cluster import connected
from lbg_recsys.distributed.documents import documents_on_dask
from lbg_recsys.distributed.lists import lists_on_dask
from lbg_recsys.distributed.shuffle import store_on_dask

__all__ = [
    "DaskBlocks",
    "DaskRatings",
    "connected",
    "documents_on_dask",
    "fit_chains",
    "lists_on_dask",
    "on_dask",
    "store_on_dask",
]
