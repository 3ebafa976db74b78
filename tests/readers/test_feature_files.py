"""Files of features."""

import gzip
import warnings

import pytest

from lbg_recsys.errors import DataError
from lbg_recsys.readers import read_features


def read(path, data, role="item"):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_features(path, role)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "films.csv"


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_delimiters_are_detected(path, sign):
    rows = [["movieId", "year", "mood"], ["7", "1990", '"sad, slow; grey"'], ["8", "", "gay"]]
    table = read(path, "".join(sign.join(row) + "\n" for row in rows))
    assert table.index.tolist() == [7, 8] and table["year"].iloc[0] == 1990
    assert table["mood"].tolist() == ["sad, slow; grey", "gay"]


def test_packed_text_and_a_byte_order_mark(path):
    assert read(path, gzip.compress("\ufeffitem;year\n\n1;1990\n".encode()))["year"].tolist() == [1990]


@pytest.mark.parametrize(
    "data, said",
    [
        ("", "films.csv is empty: give a header with item and features"),
        ("item,year\n", "films.csv has a header but no rows below it"),
        ("item,year\n\n1,1990\n2,1991,5\n", "films.csv, line 4: 3 fields where the header has 2"),
        ("item,year\n1,1990\n2\n", "films.csv, line 3: 1 field where the header has 2"),
        ("item,year,x\n1,1990,2,\n", "films.csv, line 2: 4 fields where the header has 3"),
        ("item,x,year,x\n1,2,3,4\n", "films.csv has more than one column 'x': rename"),
        (",item,year\n0,1,1990\n", "films.csv: column 1 has no name: name it, or leave it out"),
        ('item,mood\n1,"sad\n2,gay\n', "films.csv, line 2: quotes that do not close"),
        ("item,year\n1,1990\n1,1991\n", "films.csv: the item 1 comes twice: keep one row per item"),
        ("year,mood\n1990,sad\n", "films.csv has no column of item ids among 'year', 'mood'"),
        (b"\x89PNG\r\n\x1a\n\0\0", "films.csv, line 3: a zero byte, so this is not a text file"),
        ("item,mood\n1,tr\u00e8s\n".encode("latin-1"), "films.csv, line 2: byte 0xe8 is not utf-8 text"),
        (b"PAR1 and more", "films.csv is not a Parquet file that can be read"),
        (b"\x1f\x8b and more", "films.csv cannot be unpacked"),
    ],
)
def test_what_cannot_be_read_is_named(path, data, said):
    with pytest.raises(DataError, match=said):
        read(path, data)


def test_columns_that_are_no_features_are_named(path):
    with pytest.warns(UserWarning, match="films.csv: columns .* are no features and not used: 'name', 'date'"):
        assert list(read(path, "item,name,year,date\n1,Alien,1979,2020-01-01\n")) == ["year"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(read(path, "item,year\n1,1979\n")) == ["year"]
