"""The E-step by row and by column."""

import numpy as np

from lbg_recsys.core.em import bernoulli_gauss
from lbg_recsys.core.em.bernoulli_gauss import e_step_by, evidence_tables, posterior_by
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.sparse import SparseRows


def test_entries_by_column_give_the_bits_of_entries_by_row(monkeypatch):
    rng = np.random.default_rng(0)
    n_rows, n_columns, k = 200, 90, 4
    pairs = rng.random((n_rows, n_columns)) < 0.2
    pairs[7], pairs[:, 11] = False, False  # an empty row and an empty column
    user, item = np.nonzero(pairs)
    rows = SparseRows.from_entries(user, item, rng.normal(3, 1, len(user)), n_rows, n_columns)
    shape = (n_columns, k)
    parameters = Parameters(
        np.full(k, 0.25), rng.uniform(0.01, 0.5, shape), rng.normal(3, 1, shape), rng.uniform(0.2, 1, shape)
    )
    tables = evidence_tables(parameters)
    found = []
    for cached in (1 << 30, 0):
        monkeypatch.setattr(bernoulli_gauss, "_CACHED", cached)
        assert (bernoulli_gauss._by_column(rows, k) is None) == bool(cached)
        found.append((e_step_by(rows, tables), posterior_by(rows, tables)))
    (by_row, mu), (by_column, same) = found
    assert mu.tobytes() == same.tobytes()
    assert by_row.evidence == by_column.evidence
    for name in ("mass", "count", "first", "second"):
        assert getattr(by_row, name).tobytes() == getattr(by_column, name).tobytes()
