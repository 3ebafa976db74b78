"""LBGSelector and LBGClassifier: what is kept, which class, where the threshold lies."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import accuracy_score

from lbg_recsys.text import PLSI, LBGClassifier, LBGMixture, LBGSelector, MixtureOfUnigrams


def two_classes(m=600, n=30, seed=0):
    """Poisson counts: class 1 uses words 0-5 more, and class 0 words 6-11; both have two kinds of documents."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    kind = rng.integers(0, 2, m)
    rates = np.full((m, n), 0.4)
    for label, first in ((1, 0), (0, 6)):
        for k in (0, 1):
            rates[np.ix_((y == label) & (kind == k), range(first + 3 * k, first + 3 * k + 3))] = 1.6
    return sp.csr_array(rng.poisson(rates).astype(float)), y


@pytest.fixture(scope="module")
def data():
    X, y = two_classes()
    return X[:400], y[:400], X[400:], y[400:]


def test_selection_by_threshold_is_the_paper_rule(data):
    X = data[0]
    mixture = LBGMixture(2, n_keywords=5, random_state=0)
    selector = LBGSelector(mixture, rank_by="probability", delta=0.25).fit(X)
    p = LBGMixture(2, n_keywords=5, random_state=0).fit(X).keyword_prob_
    np.testing.assert_array_equal(selector.get_support(), (p >= 0.25).any(axis=0))
    assert selector.transform(X).shape == (400, selector.get_support().sum())
    with pytest.raises(Exception, match="not fitted"):
        selector.estimator.predict(X)  # the given mixture is cloned, not fitted


def test_a_word_that_is_frequent_everywhere_is_no_telling_one(data):
    X = sp.csr_array(np.hstack([data[0].toarray(), np.full((400, 1), 9.0)]))  # word 30 is in every document
    mixture = LBGMixture(2, n_keywords=6, random_state=0)
    telling = LBGSelector(mixture, n_features_to_select=12).fit(X)
    probable = LBGSelector(mixture, rank_by="probability", n_features_to_select=12).fit(X)
    assert probable.scores_.argmax() == 30 and probable.get_support()[30]
    assert not telling.get_support()[30]
    np.testing.assert_array_equal(probable.topics_, probable.estimator_.keyword_prob_.argmax(axis=0))


def test_with_one_topic_words_are_ranked_by_probability(data):
    model = LBGMixture(1, n_keywords=5, random_state=0).fit(data[0])
    assert model.top_keywords(n=30) == model.top_keywords(n=30, by="probability")
    selector = LBGSelector(LBGMixture(1, n_keywords=5, random_state=0)).fit(data[0])
    np.testing.assert_array_equal(selector.scores_, model.keyword_prob_[0])


def test_selection_by_number_takes_the_largest(data):
    selector = LBGSelector(LBGMixture(2, n_keywords=5, random_state=0), n_features_to_select=7).fit(data[0])
    assert selector.get_support().sum() == 7
    assert selector.scores_[selector.get_support()].min() >= selector.scores_[~selector.get_support()].max()
    with pytest.raises(ValueError, match="X has only 30 words"):
        LBGSelector(n_features_to_select=31).fit(data[0])


def test_a_selector_wants_a_mixture_with_keywords(data):
    with pytest.raises(TypeError, match=r"'estimator' parameter of LBGSelector must be an instance of .*LBGMixture"):
        LBGSelector(MixtureOfUnigrams(2)).fit(data[0])


def test_the_default_mixture_has_no_more_topics_than_documents_with_words():
    X = np.zeros((7, 4))
    X[0, 0], X[1, 1], X[2, 2] = 1.0, 2.0, 1.0
    assert LBGSelector().fit(X).estimator_.n_components == 3
    with pytest.raises(ValueError, match="only 0 of n_samples=7 documents have any words"):
        LBGSelector().fit(np.zeros((7, 4)))


def test_renormalised_documents_have_unit_length(data):
    selector = LBGSelector(LBGMixture(2, random_state=0), n_features_to_select=10, renormalize=True).fit(data[0])
    length = np.sqrt(selector.transform(data[0]).power(2).sum(axis=1))
    np.testing.assert_allclose(length[length > 0], 1.0)


@pytest.mark.parametrize(
    "estimator",
    [None, LBGMixture(n_keywords=8), MixtureOfUnigrams(), PLSI(max_iter=300)],
    ids=lambda e: type(e).__name__,
)
def test_the_class_that_explains_a_document_best(data, estimator):
    X, y, new, truth = data
    model = LBGClassifier(estimator, n_topics=2, random_state=0).fit(X, y)
    joint = np.column_stack([m.score_samples(new) for m in model.estimators_]) + model.class_log_prior_
    np.testing.assert_array_equal(model.predict(new), joint.argmax(axis=1))
    np.testing.assert_allclose(model.decision_function(new), joint[:, 1] - joint[:, 0])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(new)).sum(axis=1), 1.0)
    assert accuracy_score(truth, model.predict(new)) > 0.8


def test_all_classes_explain_the_same_keywords_and_share_the_cross_gaussians(data):
    X, y, new, _ = data
    model = LBGClassifier(LBGMixture(n_keywords=4), random_state=0).fit(X, y)
    first, second = model.estimators_
    np.testing.assert_array_equal(first.keywords(new).toarray(), second.keywords(new).toarray())
    np.testing.assert_array_equal(first.cross_variances_, second.cross_variances_)
    with pytest.raises(ValueError, match="do not compare"):
        LBGClassifier(LBGMixture(n_keywords="paper")).fit(X, y)


def test_class_priors(data):
    X, y, new, _ = data
    keep = (y == 0) | (np.arange(len(y)) < 100)
    X, y = X[keep], y[keep]
    empirical = LBGClassifier(n_topics=1, random_state=0).fit(X, y)
    uniform = LBGClassifier(n_topics=1, random_state=0, class_prior="uniform").fit(X, y)
    given = LBGClassifier(n_topics=1, random_state=0, class_prior=[3, 1]).fit(X, y)
    shift = np.log((y == 1).sum() / (y == 0).sum())
    np.testing.assert_allclose(empirical.decision_function(new) - uniform.decision_function(new), shift)
    np.testing.assert_allclose(given.decision_function(new) - uniform.decision_function(new), np.log(1 / 3))
    with pytest.raises(ValueError, match="2 positive numbers"):
        LBGClassifier(class_prior=[1, 2, 3]).fit(X, y)


def test_number_of_topics_by_held_out_likelihood(data):
    X, y, *_ = data
    model = LBGClassifier(LBGMixture(n_keywords=None, length_temper=None), n_topics=[1, 2, 12], random_state=0).fit(
        X, y
    )
    assert [m.n_components for m in model.estimators_] == [2, 2]
    with pytest.raises(ValueError, match="whole numbers from 1 up"):
        LBGClassifier(n_topics=[0, 2]).fit(X, y)


def test_the_threshold_holds_the_wanted_rate_on_new_documents(data):
    X, y, new, truth = data
    plain = LBGClassifier(n_topics=2, random_state=0).fit(X, y)
    strict = LBGClassifier(n_topics=2, max_false_positive_rate=0.01, random_state=0).fit(X, y)
    rate = {m: (m.predict(new)[truth == 0] == 1).mean() for m in (plain, strict)}
    assert rate[plain] > 0.03 and rate[strict] < rate[plain] and rate[strict] <= 0.04
    assert plain.threshold_ == 0.0 < strict.threshold_
    np.testing.assert_allclose(plain.decision_function(new) - strict.decision_function(new), strict.threshold_)
    np.testing.assert_array_equal(strict.predict(new), (strict.decision_function(new) > 0).astype(int))
    all_allowed = LBGClassifier(n_topics=1, max_false_positive_rate=1.0, random_state=0).fit(X, y)
    assert (all_allowed.predict(new)[truth == 1] == 1).mean() > 0.95


def test_bad_labels_are_named(data):
    X, *_ = data
    with pytest.raises(ValueError, match="one class"):
        LBGClassifier().fit(X, np.zeros(400))
    with pytest.raises(ValueError, match="needs two classes, y has 3"):
        LBGClassifier(max_false_positive_rate=0.1).fit(X, np.arange(400) % 3)
    with pytest.raises(ValueError, match="400 documents, y has 3"):
        LBGClassifier().fit(X, [0, 1, 0])
    with pytest.raises(ValueError, match="Negative values"):
        LBGClassifier().fit(-np.ones((4, 2)), [0, 1, 0, 1])


def test_small_and_empty_classes_do_their_best():
    X = np.array([[1.0, 0, 0], [2, 1, 0], [0, 0, 0], [0, 0, 1], [0, 1, 2]])
    model = LBGClassifier(n_topics=4, random_state=0).fit(X, ["a", "a", "a", "b", "b"])
    assert [m.n_components for m in model.estimators_] == [2, 2]
    assert model.predict([[3, 0, 0], [0, 0, 3]]).tolist() == ["a", "b"]
