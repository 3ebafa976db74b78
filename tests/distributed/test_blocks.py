"""A fit on a cluster is the fit here, whatever the number of workers."""

from itertools import chain

import numpy as np
import pytest

from lbg_recsys.core import blocks
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.distributed import on_dask
from lbg_recsys.ratings import ChoiceModel, GaussianPLSAModel, LBGModel, RatingStore
from lbg_recsys.readers import CodedRatings

distributed = pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
SETTINGS = {"n_topics": 3, "random_state": 0, "max_iter": 15, "tol": 0.0, "baseline": True}
pytestmark = pytest.mark.filterwarnings("ignore:EM stopped after max_iter")


@pytest.fixture(scope="module")
def store(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ratings")
    sample.ratings.to_csv(folder / "ratings.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_ENTRIES", 500)
        return RatingStore.create(folder / "store", CodedRatings(folder / "ratings.csv"))


@pytest.fixture(scope="module")
def local(store):
    return LBGModel(**SETTINGS).fit(store)


def test_workers_give_the_bits_of_one_process(store, local, client):
    found = LBGModel(**SETTINGS).fit(on_dask(store, client))
    assert found.history_ == local.history_
    assert found.parameters_.c.tobytes() == local.parameters_.c.tobytes()
    assert found.posterior().tobytes() == local.posterior().tobytes()


def test_mixing_weights_stay_on_the_workers(store, client):
    settings = {"n_topics": 3, "random_state": 0, "max_iter": 25}
    here = GaussianPLSAModel(**settings).fit(store)
    there = GaussianPLSAModel(**settings).fit(on_dask(store, client))
    assert there.n_iter_ > 10  # the weights were fetched once
    assert here.history_ == there.history_
    assert here.parameters_.var.tobytes() == there.parameters_.var.tobytes()
    assert here.mixing_.tobytes() == there.mixing_.tobytes()


def test_choices_on_workers(store, client):
    here, there = (ChoiceModel().fit(data) for data in (store, on_dask(store, client)))
    users = np.arange(50)
    # the inverse is kept in single precision: sums of another order can change its last digit
    scores = [model._choices.scores(here.matrix, users) for model in (here, there)]
    np.testing.assert_allclose(*scores, atol=1e-7)


def test_sums_are_those_of_one_process(store, client):
    here, there = store.blocks(), on_dask(store, client).blocks()
    assert here.total(SparseRows.column_counts).tolist() == there.total(SparseRows.column_counts).tolist()
    lengths = [np.concatenate(list(one.fetch(one.map(len_of)))).tolist() for one in (here, there)]
    assert lengths[0] == lengths[1] == np.diff(store.indptr).tolist()


def len_of(rows):
    return rows.lengths


def test_each_thread_has_neighbouring_blocks(store, client):
    found = on_dask(store, client).blocks()
    assert len(found.n_rows) > 4  # two threads with several blocks each
    distributed.wait(list(found.groups))
    holders = [client.who_has([group])[group.key][0] for group in found.groups]
    assert len(holders) == len(set(holders)) == 2
    first = list(found.fetch(found.map(first_columns)))
    np.testing.assert_equal(first, [store.block_reader()(number).columns[:3] for number in range(len(found.n_rows))])


def first_columns(rows):
    return rows.columns[:3]


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 7, 10, 33])
@pytest.mark.parametrize("n_workers", [1, 2, 3, 20])
def test_sums_of_groups_are_those_of_the_tree(n_blocks, n_workers):
    values = np.random.default_rng(n_blocks).normal(size=n_blocks) * 10.0 ** np.arange(-8, 8).take(
        np.arange(n_blocks), mode="wrap"
    )
    groups = [
        blocks.subtrees(blocks.Subtree(0, int(number), values[number]) for number in share)
        for share in np.array_split(np.arange(n_blocks), n_workers)
        if len(share)
    ]
    while len(groups) > 1:
        groups = [blocks.subtrees(chain.from_iterable(groups[k : k + 2])) for k in range(0, len(groups), 2)]
    assert blocks.root_sum(groups[0]) == blocks.tree_sum(values.tolist())
