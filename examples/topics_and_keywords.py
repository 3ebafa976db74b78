# %% [markdown]
# # Topics and keywords of 20 Newsgroups
#
# `LBGMixture` clusters documents and shows the words that distinguish each cluster. If the data set is not on this
# machine (`lbg-recsys datasets fetch 20newsgroups` downloads it), a small generated corpus is used.

# %%
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from lbg_recsys.datasets import load_20newsgroups
from lbg_recsys.errors import DatasetError
from lbg_recsys.evaluation.metrics import clustering_accuracy
from lbg_recsys.text import LBGMixture, LBGSelector


def generated_corpus(n_documents=300):
    """Three subjects with words of their own, in a sea of common ones."""
    rng = np.random.default_rng(0)
    subjects = ["engine wheel brake gear road", "goal keeper league season coach", "orbit rocket lunar probe launch"]
    common = ["people", "time", "thing", "idea", "question", "answer", "point", "case", "reason", "world"]
    labels = rng.integers(0, 3, n_documents)
    texts = [" ".join([*rng.choice(subjects[label].split(), 12), *rng.choice(common, 12)]) for label in labels]
    return texts, labels


try:
    groups = load_20newsgroups(categories=["rec.autos", "rec.sport.hockey", "sci.space"])
    texts, labels = groups.data, groups.target
except DatasetError:
    texts, labels = generated_corpus()

# %%
vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=3)
matrix = vectorizer.fit_transform(texts)
mixture = LBGMixture(n_components=3, random_state=0).fit(matrix)
print(f"accuracy against the true groups: {clustering_accuracy(labels, mixture.labels_):.3f}")
print(mixture.topics(vectorizer.get_feature_names_out(), matrix))

# %% [markdown]
# The same model selects words: those that distinguish a topic from the others are the input of a linear SVM.

# %%
selector = LBGSelector(LBGMixture(n_components=3, random_state=0), delta=0.02, renormalize=True)
pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=3), selector, LinearSVC())
half = len(texts) // 2
pipeline.fit(texts[:half], labels[:half])
kept = selector.get_support().sum()
print(
    f"{kept} of {len(selector.get_support())} words kept; accuracy {pipeline.score(texts[half:], labels[half:]):.3f}"
)
