"""A fit on a cluster is the fit here, whatever the number of workers."""

import numpy as np
import pytest

from lbg_recsys.core.em.bernoulli_gauss import e_step
from lbg_recsys.distributed import on_dask
from lbg_recsys.ratings import LBGModel, as_matrix

distributed = pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")


@pytest.fixture(scope="module")
def matrix(sample):
    return as_matrix(sample.ratings)


def fitted(matrix, n_workers, n_parts):
    with distributed.Client(
        n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=None
    ) as client:
        return LBGModel(n_topics=3, random_state=0).fit(matrix, spread=on_dask(client, n_parts=n_parts))


def test_any_number_of_workers_gives_the_same_bits(matrix):
    one, two = (fitted(matrix, workers, 5) for workers in (1, 2))
    assert one.parameters_.c.tobytes() == two.parameters_.c.tobytes()
    local = LBGModel(n_topics=3, random_state=0).fit(matrix)
    assert one.n_iter_ == local.n_iter_
    np.testing.assert_allclose(one.parameters_.c, local.parameters_.c, atol=1e-8)
    np.testing.assert_allclose(one.lower_bound_, local.lower_bound_)


@pytest.mark.parametrize("n_parts", [1, 3, 1000])
def test_parts_hold_all_rows(matrix, n_parts):
    model = LBGModel(n_topics=2, random_state=0).fit(matrix)
    rows = matrix.rows
    parts = rows.parts(n_parts)
    assert len(parts) == min(n_parts, len(rows))
    assert sum(map(len, parts)) == len(rows)
    assert sum(len(part.values) for part in parts) == matrix.n_ratings
    whole = e_step(rows, model.parameters_)
    total = sum((e_step(part, model.parameters_) for part in parts[1:]), e_step(parts[0], model.parameters_))
    np.testing.assert_allclose(total.second, whole.second, atol=1e-9)
