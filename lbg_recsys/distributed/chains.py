"""The chains of Bayesian LBG as tasks of a cluster.

A chain has a random stream of its own and shares nothing with the others: where it runs does not change the result.
It begins on a worker, which has been sent the ratings, and returns its kept sweeps. A chain that is lost with its
worker begins again.
"""

from typing import Any

from lbg_recsys.core.gibbs.chains import Run, Start, run_all
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Array
from lbg_recsys.distributed.cluster import check_workers, cluster_of, gathered
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress
from lbg_recsys.ratings import BayesianLBGModel
from lbg_recsys.ratings.bayesian.training import Training, entries_of
from lbg_recsys.ratings.matrix import RatingMatrix


def fit_chains(model: BayesianLBGModel, ratings: Any, client: Any = None, **beside: Any) -> BayesianLBGModel:
    """Fit Bayesian LBG with its chains on the workers of a Dask cluster, with the same bits as on one machine.

    There are ``n_chains`` chains per orientation and likelihood, four by default; more workers than chains have
     nothing to do. This process holds the ratings and, at the end, the kept sweeps.

    Parameters
    ----------
    model : BayesianLBGModel
        The model to fit. ``warm_start`` has no effect on this fit; one on this machine can continue it.
    ratings : DataFrame, RatingMatrix or RatingStore
        What `BayesianLBGModel.fit` takes.
    client : distributed.Client or str, default=None
        The cluster or its address; None starts one on the cores of this machine.
    **beside
        Further arguments of `BayesianLBGModel.fit`.

    Returns
    -------
    BayesianLBGModel
        The fitted model itself; if the fit fails, it is as it was.

    Raises
    ------
    DataError
        If no scheduler answers at the address, or a worker has no lbg-recsys or another version of it.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> here = {"n_workers": 1, "processes": False, "dashboard_address": None}  # a cluster inside this process
    >>> from lbg_recsys.datasets import load_sample
    >>> model = BayesianLBGModel(n_sweeps=20, likelihood="gaussian", orientation="users", random_state=0)
    >>> with Client(**here) as client:
    ...     model = fit_chains(model, load_sample().ratings, client)
    >>> model.n_sweeps_, model.predict_distribution([(3, 8)]).shape
    (20, (1, 5))
    """
    cluster = cluster_of(client)
    check_workers(cluster)
    fitted = _Elsewhere(**model.get_params())
    fitted.client = cluster
    fitted.fit(ratings, **beside)
    own = {*model.get_params(), "client"}
    vars(model).update({name: value for name, value in vars(fitted).items() if name not in own})
    return model


class _Elsewhere(BayesianLBGModel):
    """A model whose chains run on a cluster."""

    client: Any

    def _run(self, training: Training, burn_in: int, progress: Progress) -> bool:
        if self.max_seconds is not None:
            raise ParameterError("max_seconds is for chains that run here: give n_sweeps on a cluster")
        training.runs = _run_on(self.client, training, self.n_sweeps, burn_in, progress)
        return True


def _run_on(client: Any, training: Training, n_sweeps: int, burn_in: int, progress: Progress) -> list[Run]:
    # the ratings are the result of a task, which a worker can run again if the one that held them is lost
    matrix = client.submit(_itself, training.matrix, pure=False)
    sides = {start.settings.side for start in training.starts}
    entries = {side: client.submit(entries_of, matrix, training.standard, side, pure=False) for side in sides}
    waiting = [
        client.submit(_finished, start, entries[start.settings.side], n_sweeps, burn_in, pure=False)
        for start in training.starts
    ]
    done = []
    for number, future in enumerate(waiting, start=1):
        done += gathered(client, [future])
        progress(number * n_sweeps // len(waiting), n_sweeps, f"{number} of {len(waiting)} chains")
    return done


def _itself(matrix: RatingMatrix) -> RatingMatrix:
    return matrix


def _finished(start: Start, ratings: tuple[SparseRows, Array], n_sweeps: int, burn_in: int) -> Run:
    run = start.run(*ratings)
    run_all([run], n_sweeps, burn_in, 1)
    run.chain.rest()  # so that less is sent
    return run
