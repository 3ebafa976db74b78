"""Ratings as people have them, and as nobody should."""

import gzip
import io
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from lbg_recsys import readers
from lbg_recsys.errors import DataError, MissingExtraError, ParameterError
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.ids import IdIndex
from lbg_recsys.readers import read_interactions, read_items, read_new_users, read_pairs, read_ratings, read_titles

EXPECTED = [[1, 10, 4.0], [1, 20, 2.5], [2, 10, 5.0]]
ROWS = [("1", "10", "4"), ("1", "20", "2.5"), ("2", "10", "5")]


def text(delimiter=",", header="userId,movieId,rating", end="\n"):
    lines = [header.replace(",", delimiter)] if header else []
    return end.join([*lines, *(delimiter.join(row) for row in ROWS), ""]).encode()


def packed(data):
    return gzip.compress(data, mtime=0)  # the same bytes in every process, as parallel test runs need


def read(data, **options):
    return read_ratings(io.BytesIO(data), **options)


def rows(frame):
    return [list(row) for row in frame.itertuples(index=False)]


@pytest.mark.parametrize("delimiter", [",", "\t", "::", ";", "|"])
@pytest.mark.parametrize("header", ["userId,movieId,rating", "uid,iid,stars", "User ID,Item,Score", ""])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_delimiter_and_header_are_found(delimiter, header, end):
    assert rows(read(text(delimiter, header, end))) == EXPECTED


@pytest.mark.parametrize(
    "data",
    [
        b"rating,item_id,junk,user_id\n4,10,x,1\n2.5,20,x,1\n5,10,x,2\n",
        b"\xef\xbb\xbf" + text(),
        text()[:-1],
        packed(text()),
        packed(text()[:30]) + packed(text()[30:]),
        b'"userId","movieId","rating"\n"1","10","4"\n1,"20",2.5\n2,10,5\n',
        b"user_id:token\titem_id:token\trating:float\n1\t10\t4\n1\t20\t2.5\n2\t10\t5\n",
        b"userId, movieId, rating\n1, 10, 4\n1 , 20, 2.5\n2, 10 , 5\n",
    ],
    ids=["order", "bom", "no last newline", "gz", "gz in two parts", "quotes", "recbole", "blanks"],
)
def test_layouts(data):
    assert rows(read(data)) == EXPECTED


@pytest.mark.parametrize(
    ("columns", "header"),
    [
        (["who", "what", "how"], None),
        ({"rating": "how", "user": "who", "item": "what"}, None),
        ([1, 0, 3], True),
        ({"user": 1, "item": "what", "rating": 3}, None),
    ],
)
def test_columns_given_by_name_or_position(columns, header):
    data = b"what,who,when,how\n10,1,9,4\n20,1,9,2.5\n10,2,9,5\n"
    assert rows(read(data, columns=columns, header=header)) == EXPECTED


def test_positions_without_header():
    assert rows(read(b"4;1;10\n2.5;1;20\n5;2;10\n", columns=[1, 2, 0])) == EXPECTED


def test_ids_keep_their_type():
    frame = read(b"user,item,rating\n007,10,1\n7,20,2\n")
    assert frame["user"].tolist() == ["007", "7"] and frame["item"].tolist() == [10, 20]
    assert frame["user"].cat.categories.dtype == object and frame["item"].cat.categories.dtype == np.int64
    assert frame["rating"].dtype == np.float64
    big = read(b"9007199254740993,-5,1\n1,0,2\n")
    assert big["user"].tolist() == [9007199254740993, 1] and big["item"].tolist() == [-5, 0]
    assert read(b"99999999999999999999,1,1\n")["user"].tolist() == ["99999999999999999999"]
    assert read("zoë,日本,3\n".encode())["item"].tolist() == ["日本"]


def test_an_id_that_is_text_far_down_makes_the_column_text():
    lines = [f"{i},1,3\n" for i in range(200_000)]
    frame = read("".join([*lines, "bob,1,3\n"]).encode())
    assert frame["user"].iloc[0] == "0" and frame["user"].iloc[-1] == "bob" and frame["item"].iloc[0] == 1


def test_timestamps_when_asked_for():
    data = b"1\t10\t4\t881250949\n"
    assert list(read(data)) == ["user", "item", "rating"]
    assert rows(read(data, timestamp=True)) == [[1, 10, 4.0, 881250949]]
    assert rows(read(b"1,10,4,1e300\n", timestamp=True)) == [[1, 10, 4.0, 1e300]]
    for bad in (b"May", b"2015-13-01", b"nan", b""):
        with pytest.raises(DataError, match=f"the timestamp is '{bad.decode()}', which is neither a number nor"):
            read(b"1,10,4," + bad + b"\n", timestamp=True)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (b"1970-01-02", 86_400),
        (b"1970-01-01T00:01:00", 60),
        (b"1970-01-01 00:01:00Z", 60),
        (b"1970-01-01T01:00:00+01:00", 0),
        (b"1969-12-31", -86_400),
    ],
)
def test_dates_are_seconds(text, seconds):
    assert rows(read(b"1,10,4," + text + b"\n", timestamp=True)) == [[1, 10, 4.0, seconds]]


def test_names_of_data_sets(sample):
    assert len(read_ratings("sample")) == len(sample.ratings)
    assert read_titles("sample")[1] == "Crimson Orbit"
    with pytest.raises(DataError, match="has no timestamps"):
        read_ratings("sample", timestamp=True)


@pytest.mark.data
def test_movielens_by_name(movielens):
    assert rows(read_ratings("ml-100k").head(1)) == [[196, 242, 3.0]]


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text())))
    assert rows(read_ratings("-")) == EXPECTED


BAD = [
    (b"", {}, "is empty"),
    (b"\n  \n", {}, "is empty"),
    (b"user,item,rating\n", {}, "header but no rows"),
    (text("\t"), {"delimiter": ","}, r"line 1: no delimiter ','.*looks like '\\t'"),
    (b"1 2 3\n", {}, "no delimiter .* in '1 2 3'"),
    (text(), {"delimiter": ""}, "delimiter is ''"),
    (b"user,item\n1,2\n", {}, "no column that looks like the rating; it has 'user', 'item'"),
    (b"1,2\n3,4\n", {}, "has 2 columns where 3 are needed"),
    (b"1,2,3\n1\n", {}, "line 2: 1 field where the first line has 3"),
    (text(), {"columns": ["userId", "movieId", "stars"]}, "no column 'stars' for the rating; it has 'userId'"),
    (text(), {"columns": [0, 1, 3]}, "3 columns, so there is no column number 4 for the rating"),
    (text(), {"columns": [0, 0, 2]}, "must be different ones, not numbers 1, 1, 3"),
    (text(), {"columns": ["userId"]}, "columns has 1 of 3 columns; give one name or position for each"),
    (text(), {"columns": {"users": 0}}, "columns has 'users'"),
    (text(header=""), {"columns": ["a", "b", "c"], "header": False}, "has no header"),
    (b"1,2,3\n\n1,2,four\n", {}, "line 3: the rating is 'four', which is not a number"),
    (b"1;2;3\n1;4;3,5\n", {}, "line 2: the rating is '3,5', which is not a number: write a decimal point, 3.5"),
    (b"1,2,3\n1,2,1_0\n", {}, "line 2: the rating is '1_0'"),
    (
        b"a,b,c\n1,2,3\n",
        {},
        "line 1: the rating is 'c'.*if this line is a header, name the columns with --columns USER,ITEM,RATING ",
    ),
    (b"1,2,nan\n", {}, "line 1: the rating is 'nan'"),
    (b"1,2,3\n1,2,-inf\n", {}, "line 2: the rating is '-inf', which is not finite"),
    (b"1,2,3\n1,2,\n", {}, "line 2: the rating is ''"),
    (b"1,2,3\n1,,4\n", {}, "line 2: the item is '', which is empty"),
    (b"1,2,3\n1,2\n", {}, "line 2: 2 fields where the first line has 3"),
    (b"1,2,3\n1,2,3,4\n", {}, "line 2: 4 field"),
    (b'1,"2,3\n4,5,6\n', {}, "line 1: a quoted field does not end on its line: close the quote, or take"),
    (b'1,"He"at",3\n4,5,6\n', {}, "line 1: ',' expected after '\"': write a quote inside a quoted field twice"),
    (b'{"user":{"0":1},"item":{"0":2}}', {}, "is JSON, which is not read: save it as CSV"),
    (b'{"user":1,"item":2,"rating":3}\n' * 9999, {}, "is JSON, which is not read"),
    (b'\xef\xbb\xbf[\n {"user": 1}]', {}, "is JSON, which is not read"),
    (b"\x89PNG\r\n\x1a\n\0\0", {}, "line 3: a zero byte|byte 0x89"),
    (b"1,2,3\n1,caf\xe9,3\n", {}, "line 2: byte 0xe9 is not utf-8"),
    ("1,2,3\n".encode("utf-16"), {}, "UTF-16 text; save it as UTF-8"),
    (b"1,2,3 " * 20_000, {}, "line longer than"),
    (packed(text() * 99)[:-12], {}, "cut short"),
    (packed(text())[:-8] + b"12345678", {}, "truncated or damaged: CRC"),
    (b"\x1f\x8brubbish", {}, "truncated or damaged"),
    (b"PAR1 rubbish PAR1", {}, "not a Parquet file"),
]


@pytest.mark.parametrize(("data", "options", "message"), BAD, ids=[message for *_, message in BAD])
def test_bad_input_is_named_with_its_place(data, options, message):
    with pytest.raises(DataError, match=message):
        read(data, **options)


LOG = b"shopper,gizmo,moment\nann,tea,2024-05-01\nann,pot,2024-05-02\nbob,tea,2024-05-03\n"


def test_clicks_with_names_that_nobody_knows():
    enough = "name the columns with --columns USER,ITEM,RATING, or USER,ITEM if there are no ratings"
    for options in ({}, {"header": True}):
        with pytest.raises(DataError, match=enough) as caught:
            read_interactions(io.BytesIO(LOG), **options)
        assert "it has 'shopper', 'gizmo', 'moment'" in str(caught.value)
    with pytest.raises(DataError, match="--columns user_id,product_id,RATING, or user_id,product_id if"):
        read_interactions(io.BytesIO(b"event_time,event_type,product_id,user_id\n1,view,tea,ann\n"))
    with pytest.raises(DataError, match=r"--columns USER,ITEM,RATING \(in Python"):  # where ratings are needed
        read(LOG)
    named = read_interactions(io.BytesIO(LOG), columns=["shopper", "gizmo"])
    assert rows(named) == [["ann", "tea"], ["ann", "pot"], ["bob", "tea"]]


@pytest.mark.parametrize(
    "header", [b"event_time,customer,sku", b"eventTime,visitorid,article_id", b"datetime,visitor,sku_id"]
)
def test_names_of_shops(header):
    log = read_interactions(io.BytesIO(header + b"\n2024-05-01,ann,tea\n2024-05-02,bob,tea\n"))
    assert rows(log) == [["ann", "tea"], ["bob", "tea"]]


@pytest.mark.parametrize("columns", [["shopper", "gizmo", "moment"], [0, 1, 2]])
def test_a_third_column_of_times_is_no_rating(columns):
    found = read_interactions(io.BytesIO(LOG), columns=columns, header=True)
    assert rows(found) == [["ann", "tea"], ["ann", "pot"], ["bob", "tea"]]
    timed = read_interactions(io.BytesIO(LOG), columns=columns, header=True, timestamp=True)
    assert timed.columns.tolist() == ["user", "item", "timestamp"]
    with pytest.raises(DataError, match="no column 'gone' for the rating"):
        read_interactions(io.BytesIO(LOG), columns=["shopper", "gizmo", "gone"])
    with pytest.raises(ParameterError, match="2 of 3 columns; give one name or position for each of user, item, "):
        read_interactions(io.BytesIO(LOG), columns=["shopper", "gizmo"], timestamp=True)


def test_a_header_above_columns_that_were_given_by_position_is_told():
    table = b"who,what,note,stars\n1,2,x,3\n2,2,y,4\n"
    with pytest.raises(DataError, match=r"if this line is a header, say so with --header \(in Python: header=True\)"):
        read(table, columns=[0, 1, 3])
    assert read(table, columns=[0, 1, 3], header=True)["rating"].tolist() == [3, 4]


def test_a_first_line_that_may_be_a_header_is_told():
    with pytest.warns(UserWarning, match="'shopper', 'gizmo' are taken for ids.*--columns shopper,gizmo"):
        read_interactions(io.BytesIO(b"shopper,gizmo\nann,tea\nann,pot\nbob,tea\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_interactions(io.BytesIO(b"ann,tea\nann,pot\nbob,tea\n"))
        read_interactions(io.BytesIO(b"shopper,gizmo\nann,tea\nann,pot\nbob,tea\n"), columns=["shopper", "gizmo"])
        read_interactions(io.BytesIO(b"shopper,gizmo\nann,tea\nann,pot\nbob,tea\n"), header=False)


def test_line_numbers_hold_across_blocks():
    good = b"12345,67890,3\n" * 300_000
    with pytest.raises(DataError, match="line 300002: the rating is 'x'"):
        read(b"user,item,rating\n" + good + b"1,2,x\n")
    with pytest.raises(DataError, match="line 300001: byte 0xff"):
        read(good + b"1,\xff,2\n")


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*gone\.csv"):
        read_ratings(tmp_path / "gone.csv")
    with pytest.raises(DataError, match="is a folder: name a file"):
        read_ratings(tmp_path)
    with pytest.raises(DataError, match="null"):
        read_ratings("a\0b")


def test_ratings_of_new_users():
    assert read_new_users(io.BytesIO(b"movieId,stars\n10,4\n20,2.5\n")) == {None: {10: 4.0, 20: 2.5}}
    assert read_new_users(io.BytesIO(b"user,item,rating\n1,10,4\n2,10,5\n")) == {1: {10: 4.0}, 2: {10: 5.0}}
    assert read_new_users(io.BytesIO(b"9,10,4\n")) == {9: {10: 4.0}}
    assert read_new_users(io.BytesIO(b"9,10,4\n"), columns=[1, 2]) == {None: {10: 4.0}}
    assert read_new_users(io.BytesIO(b"title,rating\nHeat,4\n")) == {None: {"Heat": 4.0}}
    with pytest.raises(DataError, match="4 columns and no header; say which are item, rating"):
        read_new_users(io.BytesIO(b"9,10,4,1\n"))
    with pytest.raises(DataError, match="item 10 is rated twice"):
        read_new_users(io.BytesIO(b"10,4\n10,5\n"))


def test_choices_of_new_users():
    assert read_new_users(io.BytesIO(b"7\nHeat, The\n"), ratings=False) == {None: {"7": None, "Heat, The": None}}
    assert read_new_users(io.BytesIO(b"user,item\na,7\nb,7\n"), ratings=False) == {"a": {7: None}, "b": {7: None}}


def test_items_one_per_line_or_in_a_table(tmp_path):
    assert read_items(io.BytesIO(gzip.compress(b"item\n7\n8\n"))) == ["7", "8"]
    assert read_items(io.BytesIO(b"movieId;title\n7;Heat\n7;Heat\n8;Ran\n")) == [7, 8]
    with pytest.raises(DataError, match="is empty"):
        read_items(io.BytesIO(b"\n"))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (b"a,x,5\n", ["user", "item", "rating"]),
        (b"user,item,rating,count\na,x,5,1\n", ["user", "item", "rating"]),
        (b"a,x\n", ["user", "item"]),
        (b"a,x,881250949\n", ["user", "item"]),
        (b"a,x,2024-05-01T10:00\n", ["user", "item"]),
        (b"user,item,time\na,x,5\n", ["user", "item"]),
        (b"user,item,quantity,date\na,x,5,2024-05-01\n", ["user", "item", "count"]),
    ],
)
def test_interactions_with_and_without_ratings(text, columns):
    assert read_interactions(io.BytesIO(text)).columns.tolist() == columns


def test_pairs():
    assert rows(read_pairs(io.BytesIO(b"item,user\n10,1\n"))) == [[1, 10]]
    assert rows(read_pairs(io.BytesIO(b"1,10\nbob,20\n"))) == [["1", 10], ["bob", 20]]
    with pytest.raises(DataError, match="if this line is a header"):
        read_pairs(io.BytesIO(b"von,an\n1,2\n"))
    assert rows(read_pairs(io.BytesIO(b"von,an\n1,2\n"), columns=["von", "an"])) == [[1, 2]]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("1|Amélie (2001)|x\n2|1984|y\n".encode("latin-1"), {1: "Amélie (2001)", 2: "1984"}),
        ("1|cœur|x\n".encode("cp1252"), {1: "cœur"}),
        (b"1::Toy Story (1995)::Animation|Comedy\n", {1: "Toy Story (1995)"}),
        (b'movieId,title,genres\n1,"American President, The",Drama\n', {1: "American President, The"}),
        ("item,title\nB00,Zoë\n".encode(), {"B00": "Zoë"}),
        (b"title,item\n1984,7\n", {7: "1984"}),
    ],
)
def test_titles(data, expected):
    assert read_titles(io.BytesIO(data)) == expected


class TestParquet:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    def write(self, path, **columns):
        self.pq.write_table(self.pa.table(columns), path, row_group_size=2)
        return path

    def test_integers_and_text(self, tmp_path):
        path = self.write(
            tmp_path / "r.parquet", note=["a", "b", "c"], rating=[4, 2, 5], userId=[1, 1, 2], item=["x", "y", "007"]
        )
        frame = read_ratings(path)
        assert rows(frame) == [[1, "x", 4.0], [1, "y", 2.0], [2, "007", 5.0]]
        assert frame["user"].cat.categories.tolist() == [1, 2] and frame["user"].cat.codes.tolist() == [0, 0, 1]

    def test_text_of_digits_stays_text(self, tmp_path):
        path = self.write(tmp_path / "r.parquet", user=["1", "2"], item=[2**40, 3], rating=[1.0, 2.0])
        frame = read_ratings(path)
        assert frame["user"].tolist() == ["1", "2"] and frame["item"].tolist() == [2**40, 3]

    def test_pandas_categories(self, tmp_path):
        frame = pd.DataFrame({"user": pd.Categorical(["a", "b", "a"]), "item": [1, 2, 3], "rating": [1.0, 2.0, 3.0]})
        frame.to_parquet(tmp_path / "r.parquet")
        assert read_ratings(tmp_path / "r.parquet")["user"].tolist() == ["a", "b", "a"]

    def test_not_seekable(self, tmp_path):
        path = self.write(tmp_path / "r.parquet", user=[1], item=[2], rating=[3.0])

        class Pipe(io.BytesIO):
            def seekable(self):
                return False

        assert rows(read_ratings(Pipe(path.read_bytes()))) == [[1, 2, 3.0]]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (
                {"user": [1, 2, None], "item": [1, 2, 3], "rating": [1.0, 2.0, 3.0]},
                "'user', row 3: the user is missing",
            ),
            ({"user": [1, 2, 3], "item": [1, 2, 3], "rating": [1.0, 2.0, np.inf]}, "row 3: the rating is inf"),
            (
                {"user": [1, 2, 3], "item": [1, 2, 3], "rating": ["1", "2", "3"]},
                "the rating is string, which is not a",
            ),
            ({"user": [1.5, 2.0, 3.0], "item": [1, 2, 3], "rating": [1, 2, 3]}, "the user is double; ids must be"),
            ({"user": [1], "item": [1]}, "no column that looks like the rating"),
            ({"user": [], "item": [], "rating": []}, "no rows"),
        ],
    )
    def test_bad_columns(self, tmp_path, columns, message):
        with pytest.raises(DataError, match=message):
            read_ratings(self.write(tmp_path / "r.parquet", **columns))

    def test_without_pyarrow(self, tmp_path, monkeypatch):
        path = self.write(tmp_path / "r.parquet", user=[1], item=[2], rating=[3.0])
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingExtraError, match="pyarrow: install the extra 'parquet' of"):
            read_ratings(path)

    def test_memory_stays_near_the_result(self, tmp_path):
        """Two million ratings with a fat column beside them: twice the frame, not the file."""
        n = 2_000_000
        rng = np.random.default_rng(0)
        table = self.pa.table(
            {
                "user": rng.integers(0, 50_000, n),
                "item": rng.integers(0, 9_000, n),
                "rating": rng.integers(1, 6, n).astype(float),
                "fat": rng.random(n),
                "fatter": rng.random(n),
            }
        )
        self.pq.write_table(table, tmp_path / "r.parquet", row_group_size=100_000)
        del table
        peak, frame = _peak_of_reading(tmp_path / "r.parquet")
        assert frame < 16 * n
        assert peak < 3 * frame + 40e6


def _peak_of_reading(path):
    """(growth of the peak, size of the frame) in bytes, measured in a process of its own."""
    import subprocess

    code = (
        "import resource, sys, pandas, pyarrow.parquet\n"
        "from lbg_recsys.readers import read_ratings\nfrom lbg_recsys.readers import parquet as parquet_table\n"
        "from lbg_recsys.readers import delimited as text_table\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "before = peak(); frame = read_ratings(sys.argv[1])\n"
        "print(peak() - before, frame.memory_usage(index=False).sum())"
    )
    if sys.platform != "linux":
        pytest.skip("ru_maxrss is in other units here")
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return tuple(map(float, done.stdout.split()))


def test_ids_are_encoded_once(monkeypatch):
    """A frame that was read becomes a matrix with the same codes, and nothing is factorized again."""
    frame = read(b"user,item,rating\nbob,7,1\nann,9,2\nbob,9,3\n")
    monkeypatch.setattr(pd, "factorize", None)
    matrix = RatingMatrix.from_frame(frame)
    assert list(matrix.users) == ["bob", "ann"] and list(matrix.items) == [7, 9]
    assert matrix.user_codes.tolist() == [0, 0, 1] and matrix.item_codes.tolist() == [0, 1, 1]


@pytest.mark.parametrize("rows", [[2, 0, 1], [1], [0, 2], [2, 1, 0, 1]])
def test_categories_that_are_unused_or_out_of_order_make_no_difference(rows):
    frame = read(b"user,item,rating\nbob,7,1\nann,9,2\neve,5,3\n").iloc[rows]
    plain = pd.DataFrame({name: frame[name].tolist() for name in frame})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = RatingMatrix.from_frame(frame), RatingMatrix.from_frame(plain)
    assert list(one.users) == list(other.users) and list(one.items) == list(other.items)
    assert one.user_codes.tolist() == other.user_codes.tolist() and one.values.tolist() == other.values.tolist()


def test_a_missing_category_is_a_missing_id():
    frame = pd.DataFrame({"user": pd.Categorical(["a", None]), "item": [1, 2], "rating": [1.0, 2.0]})
    with pytest.raises(DataError, match="the user id is missing in row 1"):
        RatingMatrix.from_frame(frame)


def test_categorical_ids_are_looked_up_by_category():
    index = IdIndex(["ann", "bob"])
    assert index.codes(pd.Series(pd.Categorical(["bob", "eve", "bob", "ann", None]))).tolist() == [1, -1, 1, 0, -1]


def test_an_id_in_a_file_of_titles_is_the_items():
    assert read_titles(io.BytesIO(b"id,title\n7,Seven\n")) == {7: "Seven"}
    assert read_titles(io.BytesIO(b"title;ID;year\nSeven;7;1995\n")) == {7: "Seven"}
    assert read_titles(io.BytesIO(b"id,item,title\n1,7,Seven\n")) == {7: "Seven"}
    with pytest.raises(DataError, match=r"call the columns item and title there \(in Python: or name them"):
        read_titles(io.BytesIO(b"key,title\n7,Seven\n"))
    with pytest.raises(DataError, match="no column that looks like the user"):
        read_ratings(io.BytesIO(b"id,item,rating\n7,8,5\n"))


def test_two_columns_of_ratings_point_to_the_reader_of_choices():
    with pytest.raises(ParameterError, match=r"has 2 of 3 columns; .* read_interactions reads"):
        read(b"shopper,gizmo\n1,2\n", columns=("shopper", "gizmo"))
    assert len(read_interactions(io.BytesIO(b"shopper,gizmo\n1,2\n"), columns=("shopper", "gizmo"))) == 1


def test_readers_are_listed_before_they_are_imported():
    assert dir(readers) == sorted(readers.__all__)
