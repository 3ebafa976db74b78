"""What we know about each data set: origin, licence, citation, files, checksums, where to look.

This is the only place that holds a checksum, a size or an address; everything else asks here.
"""

from dataclasses import dataclass
from difflib import get_close_matches

from lbg_recsys.errors import DatasetError


@dataclass(frozen=True)
class KnownFile:
    """One file, known by its bytes."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Member:
    """A known file inside an archive; ``skip_lines`` lines before it belong to somebody else's format."""

    path: str
    file: KnownFile
    skip_lines: int = 0


@dataclass(frozen=True)
class Source:
    """An archive to fetch: from an https address, or as a wheel from the package registry.

    ``archive`` says which bytes to expect where the publisher keeps them fixed. Where it is None
    (the archive is rebuilt now and then) its members are still checked one by one.
    """

    label: str
    file_name: str
    max_bytes: int
    members: tuple[Member, ...]
    url: str = ""
    wheel: str = ""
    archive: KnownFile | None = None


@dataclass(frozen=True)
class Home:
    """A folder to look in: below an environment variable, or below the user's home where that is unset."""

    variable: str
    folders: tuple[str, ...]
    default: str = ""


@dataclass(frozen=True)
class DatasetInfo:
    """All that is known about a data set. ``main`` is the file without which there is nothing to load."""

    name: str
    title: str
    summary: str
    origin: str
    licence: str
    citation: str
    main: KnownFile
    extras: tuple[KnownFile, ...] = ()
    homes: tuple[Home, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def files(self) -> tuple[KnownFile, ...]:
        """The known files, the indispensable one first."""
        return (self.main, *self.extras)

    @property
    def size(self) -> int:
        """Bytes of the indispensable file."""
        return self.main.size

    @property
    def sha256(self) -> str:
        """SHA-256 of the indispensable file."""
        return self.main.sha256


_U_DATA = KnownFile("u.data", 1_979_173, "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490")
_U_ITEM = KnownFile("u.item", 236_344, "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701")
_RECBOLE_ITEM = KnownFile("ml-100k.item", 66_632, "51d7cdf777ce5c0f5b32c1d947a4a81fe07d75e78abbe761e0cd4d0756064532")
_SPAMBASE = KnownFile("spambase.data", 702_942, "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12")
# scikit-learn keeps the collection as a pickle whose bytes depend on who made it; this is one widely used copy.
_NEWS_PICKLE = KnownFile(
    "20news-bydate_py3.pkz", 15_261_792, "8392434bc4dc89041f794f3380163a7aff08c0f4a53e5d01941111129aaafcf5"
)
_NEWS_ARCHIVE = KnownFile(
    "20news-bydate.tar.gz", 14_464_277, "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"
)

DATASETS: dict[str, DatasetInfo] = {
    info.name: info
    for info in (
        DatasetInfo(
            name="ml-100k",
            title="MovieLens-100K",
            summary="100,000 ratings (1..5) of 1,682 films by 943 users, with titles, years and genres",
            origin="https://grouplens.org/datasets/movielens/100k/",
            licence="research use with acknowledgement; no redistribution, no commercial use without permission",
            citation=(
                "F. Maxwell Harper and Joseph A. Konstan (2015): The MovieLens Datasets: History and Context. "
                "ACM Transactions on Interactive Intelligent Systems 5(4), 19. doi:10.1145/2827872"
            ),
            main=_U_DATA,
            extras=(_U_ITEM, _RECBOLE_ITEM),
            homes=(
                Home("SURPRISE_DATA_FOLDER", ("ml-100k/ml-100k",), default=".surprise_data"),
                Home("LBG_DATA_HOME", ("ml-100k", "ml-100k/ml-100k", "surprise/ml-100k/ml-100k")),
            ),
            sources=(
                Source(
                    label="GroupLens",
                    url="https://files.grouplens.org/datasets/movielens/ml-100k.zip",
                    file_name="ml-100k.zip",
                    max_bytes=8_000_000,
                    archive=KnownFile(
                        "ml-100k.zip",
                        4_924_029,
                        "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
                    ),
                    members=(Member("ml-100k/u.item", _U_ITEM), Member("ml-100k/u.data", _U_DATA)),
                ),
                Source(
                    label="package registry (wheel of recbole 1.2.1)",
                    wheel="recbole==1.2.1",
                    file_name="recbole-1.2.1-py3-none-any.whl",
                    max_bytes=8_000_000,
                    archive=KnownFile(
                        "recbole-1.2.1-py3-none-any.whl",
                        2_130_151,
                        "9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407",
                    ),
                    members=(
                        Member("recbole/dataset_example/ml-100k/ml-100k.item", _RECBOLE_ITEM),
                        Member("recbole/dataset_example/ml-100k/ml-100k.inter", _U_DATA, skip_lines=1),
                    ),
                ),
            ),
        ),
        DatasetInfo(
            name="20newsgroups",
            title="20 Newsgroups (by date)",
            summary="18,846 articles from 20 newsgroups, 11,314 of them for training, headers stripped",
            origin="http://qwone.com/~jason/20Newsgroups/",
            licence="no licence stated; public newsgroup postings distributed for research",
            citation=(
                "Ken Lang (1995): NewsWeeder: Learning to Filter Netnews. "
                "Proceedings of the 12th International Conference on Machine Learning, 331-339"
            ),
            main=_NEWS_PICKLE,
            homes=(
                Home("SCIKIT_LEARN_DATA", ("",), default="scikit_learn_data"),
                Home("LBG_DATA_HOME", ("20newsgroups", "scikit_learn")),
            ),
            sources=(
                Source(
                    label="figshare",
                    url="https://ndownloader.figshare.com/files/5975967",
                    file_name="20news-bydate.tar.gz",
                    max_bytes=20_000_000,
                    archive=_NEWS_ARCHIVE,
                    members=(),  # scikit-learn unpacks it: see newsgroups.py
                ),
            ),
        ),
        DatasetInfo(
            name="spambase",
            title="Spambase",
            summary="4,601 e-mails (1,813 spam) as 48 word and 6 character frequencies, in per cent",
            origin="https://archive.ics.uci.edu/dataset/94/spambase",
            licence="CC BY 4.0",
            citation=(
                "Mark Hopkins, Erik Reeber, George Forman and Jaap Suermondt (1999): Spambase. "
                "UCI Machine Learning Repository. doi:10.24432/C53G6X"
            ),
            main=_SPAMBASE,
            homes=(Home("LBG_DATA_HOME", ("uci/spambase", "spambase")),),
            sources=(
                Source(
                    label="UCI",
                    url="https://archive.ics.uci.edu/static/public/94/spambase.zip",
                    file_name="spambase.zip",
                    max_bytes=4_000_000,
                    members=(Member("spambase.data", _SPAMBASE),),
                ),
            ),
        ),
        DatasetInfo(
            name="sample",
            title="Sample",
            summary="generated from the model: 200 users, 120 invented films, four planted topics, 1..5 stars",
            origin="datasets/generate_sample.py in the source tree of lbg-recsys",
            licence="BSD-3-Clause, as lbg-recsys itself",
            citation="none needed: every name and number in it is invented",
            main=KnownFile("ratings.csv", 51_702, "ad761f667e43b1c251ff18592a22d030ff5a03eac3cdeb2691d9265810506c40"),
            extras=(
                KnownFile("titles.csv", 3_893, "057ee9f8e272c23408a78e8b072c20326681927daac7fd9fc2a65ae4e9860f02"),
                KnownFile("users.csv", 2_141, "2efc784bfec074073e1abb952e44c56953ba9a95b70a7639f958f845baaa8e57"),
            ),
        ),
    )
}


def dataset_info(name: str) -> DatasetInfo:
    """Look up a data set by name; an unknown name suggests the nearest.

    >>> dataset_info("ml-100k").title
    'MovieLens-100K'
    >>> dataset_info("movielens100k")
    Traceback (most recent call last):
    ...
    lbg_recsys.errors.DatasetError: no data set is called 'movielens100k'; did you mean 'ml-100k'?
    """
    if name in DATASETS:
        return DATASETS[name]
    # A title is a name people try, so it counts when looking for the nearest one.
    spellings = {spelling.lower(): info.name for info in DATASETS.values() for spelling in (info.name, info.title)}
    near = get_close_matches(name.lower(), spellings, n=1, cutoff=0.5)
    hint = f"did you mean {spellings[near[0]]!r}?" if near else f"known: {', '.join(DATASETS)}"
    raise DatasetError(f"no data set is called {name!r}; {hint}")
