"""Whatever the bytes, the readers return a frame or raise `DataError`; nothing else ever comes out.

``LBG_FUZZ_EXAMPLES=60000 pytest tests/readers/test_ratings_fuzz.py`` is the long run.
"""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lbg_recsys.errors import DataError
from lbg_recsys.readers import read_pairs, read_ratings, read_titles
from tests.strategies import fuzzed

bounded = fuzzed(300)
CSV = b"user,item,rating\n" + b"".join(b"%d,%d,%d\n" % (i, i % 7, i % 5 + 1) for i in range(40))


def parquet():
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    table = {"user": [f"u{i}" for i in range(40)], "item": list(range(40)), "rating": [3.5] * 40}
    pq.write_table(pa.table(table), stream, row_group_size=16)
    return stream.getvalue()


SEEDS = {"csv": CSV, "double colon": CSV.replace(b",", b"::"), "gz": gzip.compress(CSV, mtime=0), "parquet": None}


def survives(data, **options):
    for read in (read_ratings, read_pairs, read_titles):
        try:
            result = read(io.BytesIO(data), **options)
        except DataError as error:
            assert str(error)
        else:
            assert len(result) > 0
            if read is read_ratings:
                assert list(result) == ["user", "item", "rating"]
                assert np.isfinite(result["rating"]).all()


@bounded
@given(st.binary(max_size=300))
def test_random_bytes(part, data):
    survives(data)


@bounded
@given(
    st.lists(st.lists(st.text("019-.,;|:\t\"'\r xyé", max_size=4), min_size=1, max_size=5), max_size=6),
    st.sampled_from([",", "\t", "::", ";"]),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, [0, 1, 2], ["user", "item", "rating"]]),
)
def test_random_tables(part, table, delimiter, header, columns):
    data = "\n".join(delimiter.join(row) for row in table).encode()
    survives(data, header=header, columns=columns)
    survives(data, header=header, delimiter=delimiter)


edits = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True), st.sampled_from(["set", "cut", "insert", "end"]), st.binary(max_size=6)
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("kind", SEEDS)
@bounded
@given(edits)
def test_mutated_files(part, kind, changes):
    data = bytearray(SEEDS[kind] or parquet())
    for where, what, piece in changes:
        at = int(where * len(data))
        if what == "set":
            data[at : at + len(piece)] = piece
        elif what == "cut":
            del data[at : at + len(piece)]
        elif what == "insert":
            data[at:at] = piece
        else:
            del data[at:]
    survives(bytes(data))
