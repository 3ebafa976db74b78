"""Tables 2 and 3 and figure 1: the words that LBG selects, as a filter for k-means and for a linear SVM."""

from functools import partial
from typing import Any

import numpy as np

from lbg_recsys.evaluation.metrics import clustering_accuracy
from lbg_recsys.paper import texts
from lbg_recsys.paper.clustering import LITERAL_LBG
from lbg_recsys.paper.experiment import AS_IS, LITERAL, RECOMMENDED, TELLING, Experiment, Figures, Row

Pair = tuple[str, str]

CLOSE: dict[str, Pair] = {
    "windows_graphics": ("comp.os.ms-windows.misc", "comp.graphics"),
    "mideast_politics": ("talk.politics.mideast", "talk.politics.misc"),
    "baseball_hockey": ("rec.sport.baseball", "rec.sport.hockey"),
    "religion_christian": ("talk.religion.misc", "soc.religion.christian"),
}
UNRELATED: dict[str, Pair] = {
    "windows_autos": ("comp.os.ms-windows.misc", "rec.autos"),
    "mac_atheism": ("comp.sys.mac.hardware", "alt.atheism"),
    "atheism_motorcycles": ("alt.atheism", "rec.motorcycles"),
    "baseball_forsale": ("rec.sport.baseball", "misc.forsale"),
}
_PAPER: dict[str, tuple[float, ...]] = {
    "LBG": (0.6325, 0.7275, 0.52875, 0.57625, 0.9375, 0.9725, 0.94125, 0.93),
    "LDA": (0.775, 0.5775, 0.53, 0.58375, 0.84125, 0.90125, 0.5825, 0.89),
    "All words": (0.5025, 0.58625, 0.50375, 0.505, 0.95375, 0.96875, 0.88875, 0.93),
}
# Thresholds on p_si, chosen once for all pairs.
_DELTA_KMEANS, _DELTA_SVM = 0.02, 0.01


def _weighted(matrices: texts.Matrices, setting: str) -> Any:
    """tf-idf as in the paper, or sublinear."""
    return matrices.tfidf if setting == LITERAL else matrices.sublinear


def _selected(matrix: Any, setting: str, delta: float, n_topics: int, seed: int) -> Any:
    """The columns that LBG keeps; in our settings every document is brought back to unit length.

    By the paper's rule these are the words with p_si >= delta. `TELLING` keeps as many words, those that tell topics
    apart best, so that only the ranking differs.
    """
    from lbg_recsys.text import LBGMixture, LBGSelector

    options = LITERAL_LBG if setting == LITERAL else {}
    mixture = LBGMixture(n_topics, **options, random_state=seed)
    selector = LBGSelector(mixture, rank_by="probability", delta=delta, renormalize=setting != LITERAL)
    selector.fit(matrix)
    if setting == TELLING:
        n_words = max(int(selector.get_support().sum()), 1)
        selector.set_params(rank_by="telling", n_features_to_select=n_words).fit(matrix)
    return selector.transform(matrix)


def _lda(counts: Any, n_topics: int, seed: int) -> Any:
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(n_topics, learning_method="batch", max_iter=20, random_state=seed).fit_transform(
        counts
    )


def _kmeans(pairs: dict[str, Pair], row: str, setting: str, seed: int, quick: bool) -> Figures:
    from sklearn.cluster import KMeans

    figures = {}
    for name, (first, second) in pairs.items():
        matrices = texts.pair(first, second, seed)
        if row == "LBG":
            space = _selected(_weighted(matrices, setting), setting, _DELTA_KMEANS, 2, seed)
        elif row == "LDA":
            space = _lda(matrices.counts, 2, seed)
        else:
            space = matrices.sublinear
        clusters = KMeans(2, n_init=1 if quick else 5, random_state=seed).fit_predict(space)
        figures[name] = clustering_accuracy(matrices.labels, clusters)
    return figures


def _table(name: str, title: str, pairs: dict[str, Pair], columns: slice, remarks: dict[str, str]) -> Experiment:
    paper = {row: dict(zip(pairs, values[columns], strict=True)) for row, values in _PAPER.items()}
    return Experiment(
        name=name,
        title=title,
        metrics={key: " / ".join(group.split(".", 1)[1] for group in pair) for key, pair in pairs.items()},
        rows=(
            Row("LBG", (LITERAL, RECOMMENDED, TELLING), paper["LBG"], remarks["LBG"]),
            Row("LDA", (AS_IS,), paper["LDA"], remarks["LDA"]),
            Row("All words", (AS_IS,), paper["All words"], remarks["All words"]),
        ),
        measure=partial(_kmeans, pairs),
        data=("20newsgroups",),
        note="400 random documents of each class; accuracy under the best one-to-one mapping. The words of LBG are "
        "selected by the paper's rule, p >= delta; the line of telling words has as many, ranked by "
        "p log(p / average p).",
    )


TABLE2 = _table(
    "table2",
    "k-means on selected words, semantically close classes",
    CLOSE,
    slice(0, 4),
    {
        "LBG": "With the words of the literal algorithm k-means is below the paper except for one pair, whose spread "
        "over the seeds is wide: without priors a rare word may be as probable a keyword as a telling word. With "
        "priors, and documents scaled back to unit length after the selection, it is above the paper except for "
        "mideast / politics. The same number of words, ranked by how well they distinguish the topics, does as well "
        "or better in every pair, and far better for baseball / hockey and religion / christian.",
        "LDA": "k-means on the topic proportions of a two-topic LDA. Two topics find one division of the documents, "
        "which need not be the division into classes: ours succeeds for other pairs than the paper's, best for "
        "mideast / politics and not at all for windows / graphics.",
        "All words": "With sublinear tf-idf of unit length plain k-means is stronger than in the paper, which does "
        "not say how it weighted the words.",
    },
)
TABLE3 = _table(
    "table3",
    "k-means on selected words, unrelated classes",
    UNRELATED,
    slice(4, 8),
    {
        "LBG": "As in the paper, unrelated classes are easy, and with the recommended settings LBG's words do as "
        "well as all words, for either ranking. Those of the literal algorithm are below the paper, and vary from "
        "seed to seed: without priors rare words may be as probable keywords as telling words.",
        "LDA": "k-means on the topic proportions of a two-topic LDA. It is above the paper where it finds the "
        "classes, which is in other pairs than in the paper: not in windows / autos, where it divides the documents "
        "differently.",
        "All words": "Sublinear tf-idf of unit length; about as strong as in the paper in windows / autos and "
        "stronger in the other pairs. The paper does not say how it weighted the words.",
    },
)

SHARES = (5, 10, 15, 20, 25, 30)
_SVM_PAIRS = {
    "a": ("misc.forsale", "rec.sport.baseball"),
    "b": ("comp.graphics", "comp.os.ms-windows.misc"),
}


def _svm(row: str, setting: str, seed: int, quick: bool) -> Figures:
    """A linear SVM on a share of the documents, its accuracy on the others; the filters see no labels."""
    from sklearn.svm import LinearSVC

    figures = {}
    for pair, (first, second) in _SVM_PAIRS.items():
        matrices = texts.pair(first, second, seed)
        if row == "LBG":
            space = _selected(_weighted(matrices, setting), setting, _DELTA_SVM, 20, seed)
        elif row == "LDA":
            space = _lda(matrices.counts, 20, seed)
        else:
            space = matrices.sublinear
        order = np.random.default_rng(seed).permutation(len(matrices.labels))
        for share in SHARES:
            cut = max(2, share * len(order) // 100)
            train, test = order[:cut], order[cut:]
            machine = LinearSVC(random_state=seed).fit(space[train], matrices.labels[train])
            figures[f"{pair}@{share}"] = machine.score(space[test], matrices.labels[test])
    return figures


FIGURE1 = Experiment(
    name="figure1",
    title="Linear SVM on selected words, by share of training data",
    metrics={f"{pair}@{share}": f"{pair} {share}%" for pair in _SVM_PAIRS for share in SHARES},
    rows=(
        Row(
            "Raw",
            (AS_IS,),
            remark="All words, sublinear tf-idf of unit length. The paper shows curves, not numbers; as in the "
            "paper, the close pair b is harder.",
        ),
        Row(
            "LBG",
            (LITERAL, RECOMMENDED, TELLING),
            remark="In the paper's curves LBG's words are comparable with raw data, slightly better for small "
            "training sets, and ahead of LDA. The same holds for ours with the recommended settings, but the gain "
            "for small training sets is within the spread over the seeds. The literal algorithm, on plain tf-idf "
            "without renormalising, is level with raw data for large training sets and no better for small ones: "
            "that gain was not reproduced. The ranking of the words makes no difference to the SVM.",
        ),
        Row(
            "LDA",
            (AS_IS,),
            remark="The proportions of twenty topics by scikit-learn's variational Bayes; the paper used another "
            "program. As in the paper, they are behind the words at every share, because twenty numbers keep less "
            "of a document.",
        ),
    ),
    measure=_svm,
    data=("20newsgroups",),
    note="a: misc.forsale against rec.sport.baseball; b: comp.graphics against comp.os.ms-windows.misc.",
)
