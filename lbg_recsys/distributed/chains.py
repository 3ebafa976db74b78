"""The chains of Bayesian LBG as tasks of a cluster.

A chain has a random stream of its own and shares nothing with the others: where it runs does not change a bit. It
travels to a worker once, with the ratings, and comes back as its kept sweeps. A chain that is lost with its worker
begins again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lbg_recsys.core.gibbs.chains import Run, gather, run_all
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.types import Ints
from lbg_recsys.distributed.cluster import check_workers, cluster_of
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings import BayesianLBGModel
from lbg_recsys.ratings.bayesian.size import burn_in_of
from lbg_recsys.ratings.bayesian.training import Training
from lbg_recsys.ratings.features import WITHOUT_FEATURES, FeatureTable
from lbg_recsys.ratings.matrix import RatingMatrix


def fit_chains(model: BayesianLBGModel, ratings: Any, client: Any = None, **beside: Any) -> BayesianLBGModel:
    """Fit Bayesian LBG with its chains on the workers of a Dask cluster, to the bits of a fit on one machine.

    There are ``n_chains`` chains per orientation and likelihood, four by default; more workers than chains have
    nothing to do. This process holds the ratings and, at first, all chains.

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
        If nobody answers at the address, or a worker has no lbg-recsys or another version of it.
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
    """A model whose chains are run by a cluster; what is left to its fit is to take their sweeps."""

    client: Any

    def _fit(
        self,
        matrix: RatingMatrix,
        progress: Progress,
        features: Mapping[Side, FeatureTable] = WITHOUT_FEATURES,
        times: Ints | None = None,
    ) -> None:
        if self.max_seconds is not None:
            raise ParameterError("max_seconds is for chains that run here: give n_sweeps on a cluster")
        training = _Finished(self.get_params(), matrix, features, times)
        burn_in = burn_in_of(self.get_params())
        training.runs = _run_on(self.client, training.runs, self.n_sweeps, burn_in, progress)
        self._training, self._draws, self.warm_start = training, {}, True
        super()._fit(matrix, silent, features, times)
        self._training = Training.__new__(Training)  # one that a warm start can continue
        vars(self._training).update(vars(training))


class _Finished(Training):
    """Chains that have run elsewhere and rest already."""

    def serves(self, *_: Any) -> bool:
        """These are the chains that were asked for."""
        return True

    def give_back(self, _: Mapping[Side, Draws]) -> None:
        """They have their sweeps."""

    def run(self, *_: Any) -> bool:
        """Nothing is left to run."""
        return True

    def gather(self) -> dict[Side, Draws]:
        """The kept sweeps."""
        return {side: gather(runs) for side, runs in self._sides().items()}


def _run_on(client: Any, runs: Sequence[Run], n_sweeps: int, burn_in: int, progress: Progress) -> list[Run]:
    waiting = [client.submit(_finished, run, n_sweeps, burn_in, pure=False) for run in runs]
    done = []
    for number, future in enumerate(waiting, start=1):
        done.append(future.result())
        progress(number * n_sweeps // len(waiting), n_sweeps, f"{number} of {len(waiting)} chains")
    return done


def _finished(run: Run, n_sweeps: int, burn_in: int) -> Run:
    run_all([run], n_sweeps, burn_in, 1)
    run.chain.rest()
    return run
