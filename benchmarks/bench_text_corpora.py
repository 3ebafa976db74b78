"""LBGClassifier beside naive Bayes and logistic regression, and the words of topics beside those of other models.

Official splits of 20 Newsgroups (without headers, footers and quotes), R8 and R52; three random splits of SMS spam
and Spambase (30% held out) and of IMDb (half). Words are weighted by sublinear tf-idf; English stop words are left
out, except in a second preparation of SMS spam, whose messages are short. Settings of LBGClassifier were chosen by
cross-validation on training parts. Topic words are evaluated by NPMI, the normalised mutual information of pairs of
the ten leading words of a topic in documents that were held out, and by diversity, the share of different words among
them.
"""

import itertools
import time

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB

from benchmarks.benchmark import Benchmark, Part
from benchmarks.text_ideas import evaluated as evaluated_halves
from benchmarks.text_ideas import largest, tries
from lbg_recsys.core.em.telling import telling
from lbg_recsys.datasets import load_20newsgroups, load_imdb, load_r8, load_r52, load_sms_spam
from lbg_recsys.evaluation.metrics import clustering_accuracy
from lbg_recsys.text import LBGClassifier, LBGMixture, MixtureOfUnigrams

SEEDS = (0, 1, 2)
WORDS = 10
BINS = 15
TOPICS = {"20 Newsgroups": 20, "R8": 8, "IMDb": 8}
CLUSTERS = {"R8": 8, "SMS spam": 2, "IMDb": 2, "20 Newsgroups": 20}


ALL_WORDS = "SMS spam, all words"
DRAWN = ("SMS spam", ALL_WORDS, "IMDb", "Spambase")  # without an official split


# other settings of ours, for a look at what each part does
ONE_SPLIT = ("LBGClassifier(ridge=None)", "LBGClassifier(n_topics=4)", 'LBGClassifier(rule="likelihood")')


def corpora(work):
    """name -> function of a seed that returns (training texts, labels, held-out texts, labels)."""
    if work.quick:
        return {"20 Newsgroups": lambda seed: official(work.newsgroups)}
    return {
        "20 Newsgroups": lambda seed: official(
            lambda subset: load_20newsgroups(subset=subset, remove=("headers", "footers", "quotes"))
        ),
        "R8": lambda seed: official(lambda subset: load_r8(subset=subset)),
        "R52": lambda seed: official(lambda subset: load_r52(subset=subset)),
        "IMDb": lambda seed: drawn(load_imdb(), 0.5, seed),
        "SMS spam": lambda seed: drawn(load_sms_spam(), 0.3, seed),
        ALL_WORDS: lambda seed: drawn(load_sms_spam(), 0.3, seed),
    }


def official(load):
    train, test = load("train"), load("test")
    return train.data, np.asarray(train.target), test.data, np.asarray(test.target)


def drawn(found, share, seed):
    train, test, y_train, y_test = train_test_split(
        found.data, found.target, test_size=share, random_state=seed, stratify=found.target
    )
    return train, y_train, test, y_test


def matrices(work, name, seed=0):
    """Training and held-out tf-idf matrices with their labels."""
    if name == "Spambase":
        spam = work.spambase
        X, y, Z, z = drawn(spam, 0.3, seed)
        weights = TfidfTransformer().fit(X)
        return weights.transform(X), y, weights.transform(Z), z
    train, y, test, z = corpora(work)[name](seed)
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words=None if name == ALL_WORDS else "english", min_df=2)
    return vectorizer.fit_transform(train), y, vectorizer.transform(test), z


def classifiers():
    return {
        "LBGClassifier()": (lambda: LBGClassifier(random_state=0), "lbg-recsys"),
        "LBGClassifier(ridge=None)": (lambda: LBGClassifier(ridge=None, random_state=0), "lbg-recsys"),
        "LBGClassifier(n_topics=4)": (lambda: LBGClassifier(n_topics=4, random_state=0), "lbg-recsys"),
        'LBGClassifier(rule="likelihood")': (
            lambda: LBGClassifier(n_topics=4, rule="likelihood", random_state=0),
            "lbg-recsys",
        ),
        "MultinomialNB(alpha=0.1)": (lambda: MultinomialNB(alpha=0.1), "scikit-learn"),
        "LogisticRegression(C=10)": (lambda: LogisticRegression(C=10, max_iter=200), "scikit-learn"),
    }


def classes(record, work):
    """Accuracy, log loss, expected calibration error and CPU seconds on documents that were held out."""
    compiled = False
    for corpus in (*corpora(work), "Spambase"):
        # the official splits have one row: with one topic per class no fit depends on the seed
        for seed in SEEDS[: work.size(3, 1)] if corpus in DRAWN else SEEDS[:1]:
            data = None
            for name, (make, by) in classifiers().items():
                if seed and name in ONE_SPLIT:
                    continue

                def measure(make=make, corpus=corpus, seed=seed):
                    nonlocal data, compiled
                    data = matrices(work, corpus, seed) if data is None else data
                    if not compiled:
                        X, y, Z, _ = data
                        LBGClassifier().fit(X[:200], y[:200]).predict(Z[:10])
                        compiled = True
                    return evaluated(make(), *data)

                record.row("classes", name, f"{corpus} {seed}", measure, by=by)
    record.finish("classes", classifiers())


def evaluated(model, X, y, Z, z):
    started = time.process_time()
    model.fit(X, y)
    fitted = time.process_time()
    log_proba = np.maximum(model.predict_log_proba(Z), -700.0)
    spent = time.process_time() - fitted
    place = np.searchsorted(model.classes_, z)
    found = {
        "accuracy": float((log_proba.argmax(axis=1) == place).mean()),
        "log_loss": float(-log_proba[np.arange(len(z)), place].mean()),
        "calibration_error": calibration_error(np.exp(log_proba), place),
        "fit_seconds": fitted - started,
        "predict_seconds": spent,
    }
    if len(model.classes_) == 2:
        found["false_positives"] = float((log_proba.argmax(axis=1)[place == 0] == 1).mean())
    return found


def calibration_error(proba, truth):
    """Mean distance of confidence and accuracy over bins of equal width, weighted by their documents."""
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == truth
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gap = np.abs(np.bincount(place, confidence, BINS) - np.bincount(place, right, BINS))
    return float(gap.sum() / len(truth))


def mixtures(k, seed):
    """The models of `clusters`, each a consensus of four starts, and what is done to documents before."""
    together = {"n_init": 4, "combine": "consensus", "random_state": seed}
    return {
        "LBG": (LBGMixture(k, **together), None),
        "LBG, prior_gauss=100": (LBGMixture(k, prior_gauss=100.0, **together), None),
        "LBG, no Gaussian part": (LBGMixture(k, prior_gauss=np.inf, **together), None),
        "LBG, more keywords in longer documents": (LBGMixture(k, n_keywords=None, **together), by_length),
        "LBG, length_temper=20": (LBGMixture(k, length_temper=20.0, **together), None),
        "mixture of unigrams, tempered": (MixtureOfUnigrams(k, length_temper=5.0, **together), None),
    }


def by_length(X):
    """The 6 sqrt(n) largest values of a document of n words: 60 of 100, as many as the default has."""
    return largest(X, lambda n: 6.0 * np.sqrt(n))


def clusters(record, work):
    """What the Gaussian part adds: clusters of held-out documents against their classes."""
    for corpus in [name for name in CLUSTERS if name in corpora(work)]:
        for seed in SEEDS[: work.size(3, 1)]:
            data = None
            for name, (model, before) in mixtures(work.size(CLUSTERS[corpus], 3), seed).items():

                def measure(model=model, before=before, corpus=corpus):
                    nonlocal data
                    data = matrices(work, corpus) if data is None else data
                    X, _, Z, z = data
                    X, Z = (X, Z) if before is None else (before(X), before(Z))
                    found, truth = model.fit(X).predict(Z), np.unique(z, return_inverse=True)[1]
                    return {
                        "accuracy": clustering_accuracy(truth, found),
                        "nmi": float(normalized_mutual_info_score(truth, found)),
                    }

                record.row("clusters", name, f"{corpus} {seed}", measure)
    record.finish("clusters", mixtures(2, 0))


def ideas(record, work):
    """Every idea for better clusters once, on training documents only."""
    for corpus in [name for name in CLUSTERS if name in corpora(work)]:
        data = None
        for seed in SEEDS[: work.size(3, 1)]:
            for name, make in tries(by_length).items():

                def measure(make=make, corpus=corpus, seed=seed):
                    nonlocal data
                    data = matrices(work, corpus)[:2] if data is None else data
                    X, y = (part[:10_000] for part in data)
                    return evaluated_halves(make(work.size(CLUSTERS[corpus], 3), seed), X, np.asarray(y), seed)

                record.row("ideas", name, f"{corpus} {seed}", measure)
    record.finish("ideas", tries(by_length))


def topic_words(record, work):
    """NPMI and diversity of the leading words of topics, of LBG and of other models."""
    rankings = {
        "LBG, telling words": "lbg-recsys",
        "LBG, most probable words": "lbg-recsys",
        "c-TF-IDF on LBG's clusters": "lbg-recsys",
        "NMF": "scikit-learn",
        "LDA": "scikit-learn",
    }
    for corpus in [name for name in corpora(work) if name in TOPICS]:
        data = None
        for seed in SEEDS[: work.size(3, 1)]:
            for name, by in rankings.items():

                def measure(name=name, seed=seed, corpus=corpus):
                    nonlocal data
                    data = counted(work, corpus) if data is None else data
                    return words_evaluated(leading(name, data, work.size(TOPICS[corpus], 3), seed), data["held_out"])

                record.row("topic_words", name, f"{corpus} {seed}", measure, by=by)
    record.finish("topic_words", rankings)


def rankings(record, work):
    """Is it the ranking or the clusters? Three rankings of words for three kinds of clusters of film reviews."""
    corpus = work.size("IMDb", "20 Newsgroups")
    data, k = None, work.size(TOPICS[corpus], 3)
    for seed in SEEDS[: work.size(3, 1)]:
        for name, find in CLUSTERINGS.items():

            def measure(find=find, seed=seed):
                nonlocal data
                data = counted(work, corpus, most=10_000) if data is None else data
                labels = find(data["tfidf"], k, seed)
                ranked = {
                    "telling": telling_of(data["counts"], labels, k),
                    "probability": share_of(data["counts"], labels, k),
                    "c-TF-IDF": class_tfidf(data["counts"], labels, k),
                }
                return {by: words_evaluated(top(weights), data["held_out"]) for by, weights in ranked.items()}

            record.row("rankings", name, f"{corpus} {seed}", measure)
    record.finish("rankings", CLUSTERINGS)


CLUSTERINGS = {
    "LBGMixture()": lambda X, k, seed: LBGMixture(k, random_state=seed).fit(X).labels_,
    "LBGMixture(n_keywords=None, length_temper=20)": lambda X, k, seed: (
        LBGMixture(k, n_keywords=None, length_temper=20.0, random_state=seed).fit(X).labels_
    ),
    "NMF, the heaviest component": lambda X, k, seed: (
        NMF(k, random_state=seed, max_iter=200).fit_transform(X).argmax(axis=1)
    ),
}


def counted(work, corpus, most=None):
    train, _, test, _ = (part[:most] for part in corpora(work)[corpus](0))
    counter = CountVectorizer(stop_words="english", min_df=work.size(5, 2))
    counts = counter.fit_transform(train)
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    return {"counts": counts, "tfidf": tfidf, "held_out": counter.transform(test), "mixtures": {}}


def leading(name, data, k, seed):
    """Columns of the leading words of each topic, (k, 10)."""
    if name == "NMF":
        return top(NMF(k, random_state=seed, max_iter=200).fit(data["tfidf"]).components_)
    if name == "LDA":
        model = LatentDirichletAllocation(k, learning_method="online", max_iter=5, random_state=seed)
        return top(model.fit(data["counts"]).components_)
    if seed not in data["mixtures"]:
        data["mixtures"][seed] = LBGMixture(k, random_state=seed).fit(data["tfidf"])
    mixture = data["mixtures"][seed]
    if name == "c-TF-IDF on LBG's clusters":
        return top(class_tfidf(data["counts"], mixture.labels_, k))
    by = "probability" if name == "LBG, most probable words" else "telling"
    columns = [str(column) for column in range(data["counts"].shape[1])]
    return np.array(mixture.top_keywords(columns, WORDS, by=by), dtype=int)


def share_of(counts, labels, k):
    """The share of each cluster's documents that have a word, (k, n)."""
    member = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(k, len(labels)))
    size = np.maximum(np.bincount(labels, minlength=k), 1)
    return np.asarray((member @ (counts > 0).astype(float)).todense()) / size[:, None]


def telling_of(counts, labels, k):
    """Our ranking for clusters of any model."""
    size = np.bincount(labels, minlength=k)
    return telling(size / size.sum(), share_of(counts, labels, k).T).T


def class_tfidf(counts, labels, k):
    """Frequency of a word in a cluster times log(1 + mean words per cluster / frequency of the word in all)."""
    member = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(k, len(labels)))
    sums = np.asarray((member @ counts).todense())
    share = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1)
    return share * np.log1p(sums.sum() / k / np.maximum(sums.sum(axis=0), 1))


def top(weights):
    return np.argsort(-weights, axis=1, kind="stable")[:, :WORDS]


def words_evaluated(words, documents):
    present = sp.csc_array(documents > 0).astype(float)
    scores = [npmi(present[:, row]) for row in words]
    return {"npmi": float(np.mean(scores)), "diversity": len(np.unique(words)) / words.size}


def npmi(present):
    """Mean NPMI of all pairs of columns; -1 for words that never occur together."""
    n = present.shape[0]
    together = np.asarray((present.T @ present).todense()) / n
    share = np.diag(together)
    found = []
    for i, j in itertools.combinations(range(len(share)), 2):
        both = together[i, j]
        if both == 0.0:
            found.append(-1.0)
        else:
            found.append(1.0 if both == 1.0 else np.log(both / (share[i] * share[j])) / -np.log(both))
    return np.mean(found)


BENCHMARK = Benchmark(
    name="text_corpora",
    what="Text: classes and topic words of six corpora",
    module="benchmarks.bench_text_corpora",
    data=("20newsgroups", "r8", "r52", "sms-spam", "imdb", "spambase"),
    seeds=SEEDS,
    parts={
        "classes": Part(classes, timed=True),
        "clusters": Part(clusters),
        "ideas": Part(ideas),
        "topic_words": Part(topic_words),
        "rankings": Part(rankings),
    },
)

if __name__ == "__main__":
    BENCHMARK.main()
