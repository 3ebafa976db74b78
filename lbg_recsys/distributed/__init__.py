"""The same two EM functions on Dask: workers gather statistics of their users, sums come back, one M-step follows.

    from dask.distributed import Client
    from lbg_recsys.distributed import on_dask

    LBGModel(n_topics=20).fit(ratings, spread=on_dask(Client("scheduler:8786")))

Only parameters and statistics travel, k numbers an item; the ratings are sent to the workers once. The sums are added
in a fixed order, so that the same number of parts gives the same bits with any number of workers.
"""

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.errors import MissingExtraError
from lbg_recsys.ratings.lbg import OverAllRows, Spread

__all__ = ["on_dask"]


def on_dask(client: Any = None, *, n_parts: int = 8) -> Spread:
    """Spread the rows in ``n_parts`` parts over a Dask cluster; without a client, over the cores of this machine."""
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise MissingExtraError("fitting on a cluster", "dask and distributed", "dask") from error
    cluster: Any = Client() if client is None else client  # type: ignore[no-untyped-call]

    def spread(rows: SparseRows) -> OverAllRows:
        parts = cluster.scatter(rows.parts(n_parts))

        def over_all_rows(gather_statistics: Callable[[SparseRows], SufficientStatistics]) -> SufficientStatistics:
            found: list[SufficientStatistics] = cluster.gather(cluster.map(gather_statistics, parts, pure=False))
            return reduce(add, found)

        return over_all_rows

    return spread
