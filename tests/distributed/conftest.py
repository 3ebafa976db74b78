"""A cluster inside of this process: its workers are threads."""

import pytest


@pytest.fixture(scope="package")
def client():
    distributed = pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
    pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    with distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        yield client
