"""Mixtures of documents from partitions."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from lbg_recsys.distributed import documents_on_dask
from lbg_recsys.errors import DataError
from lbg_recsys.text import LBGMixture, _start

pytestmark = pytest.mark.filterwarnings("ignore:.*topics are hardly more", "ignore:EM has not converged")
PAPER = {"n_keywords": "paper", "length_temper": None, "init": "random", "max_iter": 12}


@pytest.fixture(scope="module")
def documents():
    """Documents of five topics, some of them without words."""
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(200, 0.05), 5)
    lengths, topics = rng.integers(0, 40, 300), rng.integers(5, size=300)
    counts = [rng.multinomial(n, words[topic]) for n, topic in zip(lengths, topics, strict=True)]
    return sp.csr_array(np.array(counts, dtype=np.float64))


def test_one_partition_needs_no_list(documents, client, tmp_path):
    sp.save_npz(tmp_path / "all.npz", documents)
    for one in (documents, tmp_path / "all.npz", str(tmp_path / "all.npz")):
        assert documents_on_dask(one, client).n_rows.tolist() == [300]


@pytest.mark.parametrize("settings", [{}, PAPER, {"anneal": 3, "n_init": 2, "combine": "consensus"}])
def test_partitions_give_the_fit_of_one_matrix(documents, client, tmp_path, settings):
    here = LBGMixture(5, random_state=0, **settings)
    posteriors = here.fit_transform(documents)
    parts = [documents[first:last] for first, last in ((0, 90), (90, 91), (91, 91), (91, 300))]
    sp.save_npz(tmp_path / "last.npz", parts.pop())
    there = LBGMixture(5, random_state=0, **settings)
    found = there.fit_transform(documents_on_dask([*parts, tmp_path / "last.npz"], client))
    np.testing.assert_allclose(found, posteriors, rtol=0, atol=1e-8)
    np.testing.assert_allclose(there.means_, here.means_, rtol=0, atol=1e-8)
    assert there.labels_.tolist() == here.labels_.tolist() and there.n_iter_ == here.n_iter_
    assert there.lower_bound_ == pytest.approx(here.lower_bound_, abs=1e-8)
    np.testing.assert_allclose(there.transform(documents), here.transform(documents), atol=1e-8)


def test_seeds_are_drawn_from_a_sample(documents, client, monkeypatch):
    monkeypatch.setattr(_start, "_SEEDS", 50)
    models = [LBGMixture(5, random_state=0) for _ in range(2)]
    for model, cut in zip(models, (100, 170), strict=True):
        model.fit(documents_on_dask([documents[:cut], documents[cut:]], client))
    np.testing.assert_allclose(models[0].means_, models[1].means_, atol=1e-8)


def test_empty_partitions_are_left_out_with_a_warning(documents, client):
    with pytest.warns(UserWarning, match="partition 1 of the documents has no row: it is left out"):
        assert documents_on_dask([documents[:9], documents[:0]], client).n_rows.tolist() == [9]


def test_a_path_is_where_this_process_stands(documents, client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sp.save_npz("damaged.npz", -documents)
    with pytest.raises(DataError, match=re.escape(f"({tmp_path / 'damaged.npz'})")):
        documents_on_dask(["damaged.npz"], client)


def test_what_cannot_be_used_is_named(documents, client, tmp_path):
    (tmp_path / "damaged.npz").write_bytes(b"PK no archive")
    for partitions, message in (
        ([documents, documents[:, :90]], "partition 1 of the documents has 90 words, and partition 0 has 200"),
        ([documents, -documents], "partition 1 of the documents cannot be used: Negative values"),
        ([tmp_path / "damaged.npz"], r"partition 0 of the documents \(.*damaged\.npz\) cannot be used"),
        ([], "there are no partitions"),
        ([documents[:0]], "no partition has a document"),
    ):
        with pytest.raises(DataError, match=message):
            documents_on_dask(partitions, client)
    few = documents_on_dask([documents[:1], sp.csr_array((4, 200))], client)
    with pytest.raises(DataError, match="only 1 of 5 documents have any words"):
        LBGMixture(5).fit(few)
    with pytest.raises(DataError, match="take no sample_weight"):
        LBGMixture(1).fit(few, sample_weight=np.ones(5))
