"""Real documents, with bars below what the benchmark measures: they fail when something breaks, not by chance."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from lbg_recsys.evaluation.metrics import clustering_accuracy
from lbg_recsys.text import LBGClassifier, LBGMixture

pytestmark = pytest.mark.data


def test_spambase_in_two_clusters(spambase):
    X = TfidfTransformer().fit_transform(spambase.data)
    model = LBGMixture(2, n_keywords=12, length_temper=None, n_init=3, random_state=0).fit(X)
    assert clustering_accuracy(spambase.target, model.labels_) > 0.84


def test_spambase_with_labels(spambase):
    y = spambase.target
    model = make_pipeline(TfidfTransformer(), LBGClassifier(random_state=0))
    called = cross_val_predict(model, spambase.data, y, cv=StratifiedKFold(5, shuffle=True, random_state=0))
    assert (called == y).mean() > 0.91
    assert called[y == 0].mean() < 0.08


def test_four_newsgroups_and_new_documents(newsgroups):
    groups = ["rec.sport.hockey", "sci.space", "talk.politics.mideast", "comp.graphics"]
    train, test = (newsgroups(subset=part, categories=groups) for part in ("train", "test"))
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=5)
    X = vectorizer.fit_transform(train.data)
    model = LBGMixture(4, n_init=3, combine="consensus", random_state=0).fit(X)
    assert clustering_accuracy(train.target, model.labels_) > 0.9
    assert clustering_accuracy(test.target, model.predict(vectorizer.transform(test.data))) > 0.85
    words = [set(row) for row in model.top_keywords(vectorizer.get_feature_names_out(), 15)]
    assert sum(any(word in row for row in words) for word in ("hockey", "space", "israel", "graphics")) == 4
    bounded = np.asarray(model.keywords(X).sum(axis=1)).ravel()
    assert bounded.max() <= 60
