"""Tables 1 and 4: clusters against classes, on 20 Newsgroups and on Spambase."""

from typing import Any

from lbg_recsys.evaluation.metrics import clustering_accuracy
from lbg_recsys.paper import texts
from lbg_recsys.paper.experiment import AS_IS, LITERAL, RECOMMENDED, Experiment, Row

# The literal algorithm: maximum likelihood, the paper's q, nothing tempered, a random start.
LITERAL_LBG: dict[str, Any] = {
    "n_keywords": "paper",
    "length_temper": None,
    "prior_p": 0.0,
    "prior_gauss": 0.0,
    "init": "random",
}
# The recommended settings of docs/text.md.
TOGETHER: dict[str, Any] = {"n_init": 8, "combine": "consensus"}
SPAM_LBG: dict[str, Any] = {"n_keywords": 12, "length_temper": None}


def _groups(row: str, setting: str, seed: int, quick: bool) -> dict[str, float]:
    """Fit on a random half of the documents, cluster the other half."""
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.metrics import normalized_mutual_info_score

    from lbg_recsys.text import PLSI, LBGMixture, MixtureOfUnigrams

    model: Any
    if row == "LBG" and setting == LITERAL:
        model, name = LBGMixture(20, **LITERAL_LBG, random_state=seed), "tfidf"
    elif row == "LBG":
        model, name = LBGMixture(20, **TOGETHER, random_state=seed), "sublinear"
    elif row == "MOU" and setting == LITERAL:
        model, name = MixtureOfUnigrams(20, init="random", random_state=seed), "counts"
    elif row == "MOU":
        model, name = MixtureOfUnigrams(20, prior=300.0, **TOGETHER, random_state=seed), "sublinear"
    elif row == "pLSI":
        model, name = PLSI(20, random_state=seed), "counts"
    else:
        passes = 3 if quick else 10
        model = LatentDirichletAllocation(20, learning_method="online", max_iter=passes, random_state=seed)
        name = "counts"
    matrices = texts.all_groups(quick)
    train, test = texts.halves(len(matrices.labels), seed)
    matrix = getattr(matrices, name)
    clusters = model.fit(matrix[train]).transform(matrix[test]).argmax(axis=1)
    truth = matrices.labels[test]
    return {
        "accuracy": clustering_accuracy(truth, clusters),
        "nmi": float(normalized_mutual_info_score(truth, clusters)),
    }


TABLE1 = Experiment(
    name="table1",
    title="20 Newsgroups, twenty classes, MAP clustering",
    metrics={"accuracy": "accuracy", "nmi": "NMI"},
    rows=(
        Row(
            "LBG",
            (LITERAL, RECOMMENDED),
            {"accuracy": 0.28},
            "In the literal algorithm a word that is a keyword once has no variance and q diverges, so that topics "
            "collapse to single documents: the paper must have smoothed in a way that it does not describe. With "
            "priors, 60 keywords, a warm start and tempered posteriors the model is well above the paper's figure.",
        ),
        Row(
            "MOU",
            (LITERAL, RECOMMENDED),
            {"accuracy": 0.15},
            "Word counts and a random start are already above the paper's figure; tf-idf, the warm start and the "
            "consensus that LBG has make the mixture of unigrams a strong rival, which the paper does not show.",
        ),
        Row(
            "pLSI",
            (LITERAL,),
            {"accuracy": 0.27},
            "Word counts, one random start, test documents folded in: we recommend nothing else, so the literal "
            "algorithm and the recommended settings are the same. The result is above the paper's figure, as for MOU "
            "and LDA. The likely reason is that the paper retrains for every test document and does not say which "
            "words its code-book kept.",
        ),
        Row(
            "LDA",
            (AS_IS,),
            {"accuracy": 0.12},
            "scikit-learn's online variational Bayes; the cluster of a document is its largest topic. The paper used "
            "another program and does not give its number of passes. As in the paper, LDA is behind MOU and pLSI, "
            "because it is made for several topics per document, not for one.",
        ),
    ),
    measure=_groups,
    data=("20newsgroups",),
    note=(
        "Models are fitted to a random half of the documents; the other half is clustered and mapped one-to-one to "
        "the classes. "
        "The recommended settings were chosen with the labels of the older 11,314 documents of the split by date, "
        "some of which are in either half; benchmarks/bench_text.py tests on the later ones only."
    ),
)


def _spam(row: str, setting: str, seed: int, quick: bool) -> dict[str, float]:
    from lbg_recsys.text import PLSI, LBGMixture, MixtureOfUnigrams

    model: Any
    n_init = 3 if quick else 10
    if row == "LBG" and setting == LITERAL:
        model, name = LBGMixture(2, **LITERAL_LBG, random_state=seed), "tfidf"
    elif row == "LBG":
        model, name = LBGMixture(2, **SPAM_LBG, n_init=n_init, random_state=seed), "tfidf"
    elif row == "MOU" and setting == LITERAL:
        model, name = MixtureOfUnigrams(2, init="random", random_state=seed), "counts"
    elif row == "MOU":
        model, name = MixtureOfUnigrams(2, init="random", n_init=n_init, random_state=seed), "tfidf"
    elif setting == LITERAL:
        model, name = PLSI(2, random_state=seed), "counts"
    else:
        model, name = PLSI(2, n_init=n_init, random_state=seed), "tfidf"
    matrices = texts.spambase()
    matrix = getattr(matrices, name)
    clusters = model.fit(matrix).transform(matrix).argmax(axis=1)
    return {"accuracy": clustering_accuracy(matrices.labels, clusters)}


TABLE4 = Experiment(
    name="table4",
    title="Spambase, two clusters without labels",
    metrics={"accuracy": "accuracy"},
    rows=(
        Row(
            "LBG",
            (LITERAL, RECOMMENDED),
            {"accuracy": 0.78},
            "The literal algorithm, from one random start, is at the paper's figure within its spread over the "
            "seeds, which is wide. Twelve keywords, the default priors and the best of several starts by the bound "
            "are above it, and nearly the same for every seed.",
        ),
        Row(
            "MOU",
            (LITERAL, RECOMMENDED),
            {"accuracy": 0.60},
            "The literal algorithm uses the frequencies as counts and one random start. It is above the paper's "
            "figure already; the paper does not say how its mixture was started and smoothed. The recommended "
            "settings use tf-idf, which gives rare words more weight, and the best of as many starts as LBG has.",
        ),
        Row(
            "pLSI",
            (LITERAL, RECOMMENDED),
            {"accuracy": 0.65},
            "The literal algorithm uses the frequencies as counts and one random start, and is about at the paper's "
            "figure. The recommended settings, tf-idf and the best of as many starts as LBG has, are above it.",
        ),
    ),
    measure=_spam,
    data=("spambase",),
    note=(
        "All e-mails are clustered and mapped one-to-one to the classes. The number of keywords was found on a half "
        "of them; benchmarks/bench_text.py measures the accuracy on another half."
    ),
)
