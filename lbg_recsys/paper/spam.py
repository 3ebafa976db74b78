"""Figure 2: supervised spam filtering, one model per class, as confusion tables."""

from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.paper import texts
from lbg_recsys.paper.clustering import LITERAL_LBG
from lbg_recsys.paper.experiment import AS_IS, LITERAL, RECOMMENDED, Experiment, Figures, Row

_FOLDS = 5
_QUICK_FOLDS = 2
CAUTIOUS = "LBG, few false positives"
_WANTED_RATE = 0.015


def _density(row: str, setting: str, seed: int) -> Any:
    """A model that `score_samples`: log Pr(d) up to what all classes share."""
    from lbg_recsys.text import PLSI, LBGMixture, MixtureOfUnigrams

    if row == "LBG":
        return LBGMixture(4, **LITERAL_LBG, random_state=seed)
    if row == "MOU":
        return MixtureOfUnigrams(2, init="random" if setting == LITERAL else "kmeans", random_state=seed)
    return PLSI(5, random_state=seed)


def _by_likelihood(
    row: str, setting: str, matrix: Any, labels: Any, train: Any, test: Any, seed: int, n_passes: int
) -> npt.NDArray[np.int64]:
    """One model per class; a document goes to the class that gives it the higher likelihood and prior."""
    scores = []
    for label in (0, 1):
        own = matrix[train][labels[train] == label]
        prior = np.log((labels[train] == label).mean())
        if row == "LDA":
            scores.append(prior + _lda_evidence(own, matrix[test], seed, n_passes))
        else:
            scores.append(prior + _density(row, setting, seed).fit(own).score_samples(matrix[test]))
    return np.asarray(np.argmax(scores, axis=0))


def _lda_evidence(own: Any, test: Any, seed: int, n_passes: int) -> npt.NDArray[np.float64]:
    """log Pr(d) of each document under a class's LDA, its topic proportions at their posterior mean."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(5, learning_method="batch", max_iter=n_passes, random_state=seed).fit(own)
    words = model.components_ / model.components_.sum(axis=1, keepdims=True)
    entries = test.tocoo()
    share = np.log((model.transform(test) @ words)[entries.row, entries.col])
    weighed = np.asarray(entries.data * share, dtype=np.float64)
    return np.asarray(np.bincount(entries.row, weighed, minlength=test.shape[0]), dtype=np.float64)


def _measure(row: str, setting: str, seed: int, quick: bool) -> Figures:
    from sklearn.model_selection import StratifiedKFold

    from lbg_recsys.text import LBGClassifier

    matrices = texts.spambase()
    labels = matrices.labels
    called = np.empty_like(labels)
    for train, test in StratifiedKFold(_QUICK_FOLDS if quick else _FOLDS, shuffle=True, random_state=seed).split(
        labels, labels
    ):
        if row in ("LBG", CAUTIOUS) and setting == RECOMMENDED:
            classifier = LBGClassifier(n_topics=10, rule="likelihood", random_state=seed)
            classifier.set_params(max_false_positive_rate=_WANTED_RATE if row == CAUTIOUS else None)
            called[test] = classifier.fit(matrices.counts[train], labels[train]).predict(matrices.counts[test])
        else:
            matrix = matrices.tfidf if row == "LBG" else matrices.counts
            called[test] = _by_likelihood(
                row, setting, matrix, labels, train, test, seed, n_passes=5 if quick else 20
            )
    ham, spam = labels == 0, labels == 1
    return {
        "accuracy": float((called == labels).mean()),
        "ham_called_spam": float(called[ham].mean()),
        "spam_called_ham": float(1.0 - called[spam].mean()),
    }


FIGURE2 = Experiment(
    name="figure2",
    title="Spambase, one model per class",
    metrics={
        "accuracy": "accuracy",
        "ham_called_spam": "ham called spam",
        "spam_called_ham": "spam called ham",
    },
    rows=(
        Row(
            "LBG",
            (LITERAL, RECOMMENDED),
            remark="The paper prints its tables as a picture. According to its text, LBG has strikingly few false "
            "positives and limited success with false negatives. In the literal algorithm each class has its own "
            "number of keywords, so that the likelihoods are not comparable: most ham is called spam. With the same "
            "keywords in both classes LBG calls less ham spam than LDA, MOU and pLSI, and is the most accurate; the "
            "next row shows what strikingly few false positives, by a threshold, cost.",
        ),
        Row(
            CAUTIOUS,
            (RECOMMENDED,),
            remark="The same with max_false_positive_rate=0.015; the threshold is set inside the training part. "
            "There are few false positives and many false negatives, as the paper reports for its LBG; the literal "
            "algorithm has no threshold.",
        ),
        Row(
            "LDA",
            (AS_IS,),
            remark="Five topics per class; the likelihood of a document is taken at its mean topic proportions, "
            "because that of LDA is intractable. As in the paper, LDA calls more ham spam than LBG with recommended "
            "settings. The paper's figures cannot be read from its picture, and it fitted a number of topics to each "
            "model.",
        ),
        Row(
            "MOU",
            (LITERAL, RECOMMENDED),
            remark="Two topics per class on counts, from a random start or from k-means, which hardly differ. As in "
            "the paper, MOU calls far more ham spam than LBG with recommended settings, because it treats every word "
            "as independent evidence, and misses less spam. The paper's figures cannot be read from its picture.",
        ),
        Row(
            "pLSI",
            (RECOMMENDED,),
            remark="Five topics per class on counts, one random start, test e-mails folded in: literal and "
            "recommended are the same. As in the paper, pLSI calls more ham spam than LBG with recommended settings. "
            "The paper retrains for every e-mail, and its figures cannot be read from its picture.",
        ),
    ),
    measure=_measure,
    data=("spambase",),
    note=(
        "Five-fold cross-validation; the class with the higher likelihood times prior. The recommended settings were "
        "found on a half of the same e-mails; benchmarks/bench_text.py measures with separate e-mails for the choice "
        "of the settings and for the test."
    ),
)
