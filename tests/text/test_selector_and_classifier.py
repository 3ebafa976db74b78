"""LBGSelector and LBGClassifier: what is kept, which class, where the threshold lies."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV

from lbg_recsys.errors import ParameterError
from lbg_recsys.text import PLSI, LBGClassifier, LBGMixture, LBGSelector, MixtureOfUnigrams
from lbg_recsys.text._thresholds import class_thresholds


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
    model = LBGClassifier(estimator, n_topics=2, rule="likelihood", random_state=0).fit(X, y)
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
    with pytest.raises(ValueError, match="are not comparable"):
        LBGClassifier(LBGMixture(n_keywords="paper")).fit(X, y)


@pytest.mark.parametrize("rule", ["weighted", "likelihood"])
def test_class_priors(data, rule):
    X, y, new, _ = data
    keep = (y == 0) | (np.arange(len(y)) < 100)
    X, y = X[keep], y[keep]
    empirical = LBGClassifier(n_topics=1, rule=rule, random_state=0).fit(X, y)
    uniform = LBGClassifier(n_topics=1, rule=rule, random_state=0, class_prior="uniform").fit(X, y)
    given = LBGClassifier(n_topics=1, rule=rule, random_state=0, class_prior=[3, 1]).fit(X, y)
    shift = np.log((y == 1).sum() / (y == 0).sum())
    np.testing.assert_allclose(empirical.decision_function(new) - uniform.decision_function(new), shift)
    np.testing.assert_allclose(given.decision_function(new) - uniform.decision_function(new), np.log(1 / 3))
    with pytest.raises(ValueError, match="2 positive numbers"):
        LBGClassifier(class_prior=[1, 2, 3]).fit(X, y)


def test_number_of_topics_by_held_out_likelihood(data):
    X, y, *_ = data
    mixture = LBGMixture(n_keywords=None, length_temper=None)
    model = LBGClassifier(mixture, n_topics=[1, 2, 12], random_state=0).fit(X, y)
    assert [m.n_components for m in model.estimators_] == [2, 2]
    with pytest.raises(ValueError, match="whole numbers from 1 up"):
        LBGClassifier(n_topics=[0, 2]).fit(X, y)


def test_the_threshold_holds_the_wanted_rate_on_new_documents(data):
    X, y, new, truth = data
    plain = LBGClassifier(n_topics=2, random_state=0).fit(X, y)
    strict = LBGClassifier(n_topics=2, max_false_positive_rate=0.01, random_state=0).fit(X, y)
    rate = {m: (m.predict(new)[truth == 0] == 1).mean() for m in (plain, strict)}
    assert rate[plain] > 0.03 and rate[strict] < rate[plain] and rate[strict] <= 0.04
    assert plain.thresholds_.tolist() == [0.0, 0.0]
    moved = strict.thresholds_[1]
    assert strict.thresholds_[0] == 0.0 < moved
    np.testing.assert_allclose(plain.decision_function(new) - strict.decision_function(new), moved)
    np.testing.assert_array_equal(strict.predict(new), (strict.decision_function(new) > 0).astype(int))
    lax = LBGClassifier(n_topics=2, max_false_positive_rate=0.3, random_state=0).fit(X, y)  # is used up
    assert (
        lax.thresholds_[1] < 0.0
        and (lax.predict(new)[truth == 1] == 1).mean() > (plain.predict(new)[truth == 1] == 1).mean()
    )
    all_allowed = LBGClassifier(n_topics=1, max_false_positive_rate=1.0, random_state=0).fit(X, y)
    assert (all_allowed.predict(new)[truth == 1] == 1).mean() > 0.95


def test_bad_labels_are_named(data):
    X, *_ = data
    with pytest.raises(ValueError, match="one class"):
        LBGClassifier().fit(X, np.zeros(400))
    with pytest.raises(ValueError, match=r"names the class 'spam'; y has \[0, 1\]"):
        LBGClassifier(max_false_positive_rate={"spam": 0.1}).fit(X, np.arange(400) % 2)
    with pytest.raises(ValueError, match="is 2 for 1; it must be from 0 to 1"):
        LBGClassifier(max_false_positive_rate={1: 2}).fit(X, np.arange(400) % 2)
    for odd in ([], np.array([[1, 2], [3, 4]]), [([], [1])]):
        with pytest.raises(ParameterError, match="cv gives no pairs of training and test indices: give a number"):
            LBGClassifier(max_false_positive_rate=0.1, cv=odd).fit(X, np.arange(400) % 2)
    with pytest.raises(ValueError, match="400 documents, y has 3"):
        LBGClassifier().fit(X, [0, 1, 0])
    with pytest.raises(ValueError, match="Negative values"):
        LBGClassifier().fit(-np.ones((4, 2)), [0, 1, 0, 1])


def test_batches_of_a_single_class_for_ever_are_refused(data):
    X, y, *_ = data
    with pytest.raises(ValueError, match=r"at least 2 classes, but classes has one class: 'ham'"):
        LBGClassifier().partial_fit(X, np.full(len(y), "ham"), classes=["ham"])
    with pytest.raises(ValueError, match=r"at least 2 classes, but classes has none"):
        LBGClassifier().partial_fit(X, y, classes=[])


def test_small_and_empty_classes_do_their_best():
    X = np.array([[1.0, 0, 0], [2, 1, 0], [0, 0, 0], [0, 0, 1], [0, 1, 2]])
    model = LBGClassifier(n_topics=4, random_state=0).fit(X, ["a", "a", "a", "b", "b"])
    assert [m.n_components for m in model.estimators_] == [1, 1]  # twenty documents per topic
    assert model.predict([[3, 0, 0], [0, 0, 3]]).tolist() == ["a", "b"]
    paper = LBGClassifier(n_topics=4, rule="likelihood", random_state=0).fit(X, ["a", "a", "a", "b", "b"])
    assert [m.n_components for m in paper.estimators_] == [2, 2]
    assert paper.predict([[3, 0, 0], [0, 0, 3]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("rule", ["weighted", "likelihood"])
def test_a_class_of_one_document_and_a_class_without_known_words(rule):
    X = np.array([[1.0, 0, 0], [2, 1, 0], [0, 0, 3], [0, 0, 0], [0, 0, 0]])
    model = LBGClassifier(rule=rule, random_state=0).fit(X, ["a", "a", "one", "empty", "empty"])
    assert model.predict(X[:2]).tolist() == ["a", "a"]
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_a_document_without_known_words_has_the_class_priors(data):
    X, y, *_ = data
    model = LBGClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 30)))[0], np.bincount(y) / len(y))


def test_the_weighted_rule_is_what_its_attributes_say(data):
    """The score of a document, term by term, from the public attributes."""
    X, y, new, truth = data
    model = LBGClassifier(n_topics=1, random_state=0).fit(X, y)
    m = new[[3]].toarray()[0]
    x, u = m > 0, m / np.linalg.norm(m)
    z = []
    for code, mixture in enumerate(model.estimators_):
        p, c, var = mixture.keyword_prob_[0], mixture.means_[0], mixture.variances_[0]
        draws = u @ np.log(p / p.sum())
        bernoulli = np.log1p(-p[~x]).sum() + np.log(p[x]).sum()
        gauss = (-0.5 * (np.log(2 * np.pi * var) + (m - c) ** 2 / var))[x].sum()
        e = model.exponents_ @ [draws, bernoulli, gauss]
        f = np.concatenate([u, x / np.sqrt(x.sum())]) / np.sqrt(2.0)
        z.append(model.scale_ * e + model.bias_[code] + f @ model.correction_[:, code] + np.log((y == code).mean()))
    np.testing.assert_allclose(model.decision_function(new[[3]])[0], z[1] - z[0])
    assert accuracy_score(truth, model.predict(new)) > 0.85


def test_without_a_ridge_there_is_no_correction(data):
    X, y, new, truth = data
    model = LBGClassifier(ridge=None, random_state=0).fit(X, y)
    assert model.correction_.shape == (0, 2)
    assert accuracy_score(truth, model.predict(new)) > 0.85
    with pytest.raises(ValueError, match=r'rule="weighted" needs an LBGMixture, but estimator is PLSI'):
        LBGClassifier(PLSI(), rule="weighted").fit(X, y)


def test_probabilities_are_calibrated(data):
    X, y, new, truth = data
    weighted, paper = (LBGClassifier(rule=rule, random_state=0).fit(X, y) for rule in ("weighted", "likelihood"))
    loss = {model: log_loss(truth, model.predict_proba(new)) for model in (weighted, paper)}
    assert loss[weighted] < 0.3 and loss[weighted] < loss[paper]
    confidence = weighted.predict_proba(new).max(axis=1)
    assert abs(confidence.mean() - (weighted.predict(new) == truth).mean()) < 0.05


def test_false_positive_rates_of_several_classes():
    X, y = two_classes(m=1500, seed=1)
    kinds = y + 2 * (np.asarray(X[:, :3].sum(axis=1)).ravel() > 3)  # three classes that overlap
    kinds = np.minimum(kinds, 2)
    plain = LBGClassifier(n_topics=1, random_state=0).fit(X[:1000], kinds[:1000])
    limited = LBGClassifier(n_topics=1, max_false_positive_rate={2: 0.01}, random_state=0).fit(X[:1000], kinds[:1000])
    new, truth = X[1000:], kinds[1000:]
    rate = [(model.predict(new)[truth != 2] == 2).mean() for model in (plain, limited)]
    assert rate[0] > 0.03 > rate[1]
    assert limited.thresholds_[:2].tolist() == [0.0, 0.0] and limited.thresholds_[2] > 0.0
    every = LBGClassifier(n_topics=1, max_false_positive_rate=0.2, random_state=0).fit(X[:1000], kinds[:1000])
    for code in range(3):
        assert (every.predict(new)[truth != code] == code).mean() < 0.25
    with pytest.warns(UserWarning, match="no thresholds hold max_false_positive_rate for all of 3 classes") as told:
        LBGClassifier(n_topics=1, max_false_positive_rate=0.0, random_state=0).fit(X[:1000], kinds[:1000])
    assert {one.filename for one in told} == {__file__}


@pytest.mark.parametrize("code", [0, 1])
def test_a_limit_holds_where_many_scores_are_equal(code):
    """Documents without known words all have the class priors: none of them may be given, or all are."""
    scores = np.zeros((100, 2)) + np.log([0.53, 0.47])
    scores[:10, code] += 5.0  # these are allowed, the 40 that follow are equal
    codes = np.full(100, 1 - code)
    codes[50:] = code
    shifted = scores - class_thresholds(scores, codes, {code: 0.3})
    assert (shifted.argmax(axis=1)[:50] == code).mean() == 0.2


def test_batches_come_close_to_one_fit(data):
    X, y, new, truth = data
    whole = LBGClassifier(random_state=0).fit(X, y)
    model = LBGClassifier(random_state=0)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X[:100], y[:100])
    for first in range(0, 400, 100):
        model.partial_fit(X[first : first + 100], y[first : first + 100], classes=[0, 1])
    assert model.class_count_.tolist() == np.bincount(y).tolist()
    one = LBGClassifier(random_state=0).fit(X[:100], y[:100])
    accuracy = {name: accuracy_score(truth, m.predict(new)) for name, m in (("w", whole), ("b", model), ("1", one))}
    assert accuracy["b"] > accuracy["w"] - 0.03 and accuracy["b"] >= accuracy["1"]
    with pytest.raises(ValueError, match=r"y has the classes \[7\]"):
        model.partial_fit(X[:2], [0, 7])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X[:2], [0, 1], classes=[0, 1, 2])


def test_a_class_may_be_missing_in_the_first_batch(data):
    X, y, *_ = data
    model = LBGClassifier(random_state=0).partial_fit(X[y == 0][:50], y[y == 0][:50], classes=[0, 1])
    for first in range(0, 400, 100):
        model.partial_fit(X[first : first + 100], y[first : first + 100])
    assert (model.predict(X) == y).mean() > 0.8


def test_batches_of_one_class_each_teach_the_models_and_leave_the_rule(data):
    X, y, new, truth = data
    model = LBGClassifier(random_state=0)
    for label in (0, 1):
        model.partial_fit(X[y == label][:50], y[y == label][:50], classes=[0, 1])
        assert model.exponents_.tolist() == [1.0, 0.0, 0.0] and not model.correction_.any()
    sorted_batches = log_loss(truth, model.predict_proba(new))
    assert (model.predict(new) == truth).mean() > 0.8
    rest = np.concatenate([np.flatnonzero(y == label)[50:150] for label in (0, 1)])
    model.partial_fit(X[rest], y[rest])
    assert model.correction_.any() and log_loss(truth, model.predict_proba(new)) < sorted_batches
    before = model.correction_.copy()
    model.partial_fit(X[y == 1][150:180], y[y == 1][150:180])
    np.testing.assert_array_equal(model.correction_, before)
    assert model.class_count_.tolist() == [150.0, 180.0]


def test_many_documents_of_few_words_have_several_topics_per_class():
    """Two classes of eight subjects each: one topic per class is too few, and a document per word can teach more."""
    rng = np.random.default_rng(0)
    subject = rng.integers(0, 16, 3000)
    rate = np.full((16, 24), 0.05)
    rate[np.arange(16), np.arange(16)] = rate[np.arange(16), (np.arange(16) + 5) % 16] = 0.9
    X, y = sp.csr_array((rng.random((3000, 24)) < rate[subject]).astype(float)), subject % 2
    found = LBGClassifier(random_state=0).fit(X[:2000], y[:2000])
    assert [len(model.weights_) for model in found.estimators_] == [min(32, n // 24) for n in np.bincount(y[:2000])]
    one = LBGClassifier(n_topics=1, random_state=0).fit(X[:2000], y[:2000])
    loss = {name: log_loss(y[2000:], m.predict_proba(X[2000:])) for name, m in (("auto", found), ("one", one))}
    assert loss["auto"] < 0.9 * loss["one"]
    wide = sp.hstack([X, sp.csr_array((3000, 5000))], format="csr")  # columns that never occur are no words
    assert len(LBGClassifier(random_state=0).fit(wide[:2000], y[:2000]).estimators_[0].weights_) == len(
        found.estimators_[0].weights_
    )
    paper = LBGClassifier(rule="likelihood", random_state=0).fit(X[:2000], y[:2000])
    assert [len(model.weights_) for model in paper.estimators_] == [1, 1]


def test_weights_count_as_copies(data):
    X, y, new, _ = data
    weight = np.arange(400) % 3
    copies = np.repeat(np.arange(400), weight)
    weighted = LBGClassifier(n_topics=1, random_state=0).fit(X, y, sample_weight=weight)
    copied = LBGClassifier(n_topics=1, random_state=0).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.predict_proba(new), copied.predict_proba(new), atol=1e-4)
    np.testing.assert_allclose(weighted.estimators_[0].keyword_prob_, copied.estimators_[0].keyword_prob_)


@pytest.mark.parametrize("model", [LBGMixture, MixtureOfUnigrams, PLSI])
def test_weights_count_in_fit_predict(model, data):
    X, weight = data[0], np.repeat([1.0, 0.0], [100, 300])
    weighted = model(2, random_state=0, max_iter=500).fit_predict(X, sample_weight=weight)
    np.testing.assert_array_equal(weighted, model(2, random_state=0, max_iter=500).fit(X[:100]).predict(X))


def test_jobs_change_no_bit(data):
    X, y, new, _ = data
    one = LBGClassifier(random_state=0).fit(X, y)
    steps = []
    two = LBGClassifier(random_state=0, n_jobs=2).fit(X, y, progress=lambda *step: steps.append(step))
    np.testing.assert_array_equal(one.decision_function(new), two.decision_function(new))
    done = [step[0] for step in steps]
    assert done == sorted(done) and done[-1] == steps[-1][1]


def test_parameters_of_the_default_mixture_can_be_set_and_searched(data):
    X, y, *_ = data
    model = LBGClassifier(n_topics=1, random_state=0)
    assert model.get_params()["estimator__prior_gauss"] == 50.0 and model.estimator is None
    search = GridSearchCV(model, {"estimator__prior_gauss": [5.0, 500.0]}, cv=2).fit(X[:100], y[:100])
    assert search.best_estimator_.estimators_[0].prior_gauss == search.best_params_["estimator__prior_gauss"]
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        model.set_params(estimator__nonsense=1)
    selector = LBGSelector().set_params(estimator__n_components=2)
    assert selector.fit(X).estimator_.n_components == 2


def test_documents_are_validated_and_ranked_once_for_all_classes(data, monkeypatch):
    from lbg_recsys.text import _class_rule, _documents

    X, y, new, _ = data
    calls = []
    monkeypatch.setattr(_class_rule, "ranked_documents", lambda d: calls.append(1) or _documents.ranked_documents(d))
    for rule, ranked in (("likelihood", 1), ("weighted", 0)):
        model = LBGClassifier(rule=rule, random_state=0).fit(X, y)
        calls.clear()
        model.predict(new)
        assert len(calls) == ranked


@pytest.fixture
def counted(monkeypatch):
    """How often documents were checked, and how often ranked, wherever in the room."""
    from lbg_recsys.text import (
        _class_models,
        _class_rule,
        _documents,
        _fitted_mixture,
        _topics,
        classifier,
        mixture,
        plsi,
        selector,
        unigrams,
    )

    calls = {"checked_documents": 0, "ranked_documents": 0}

    def counting(name):
        def count(*arguments, **options):
            calls[name] += 1
            return getattr(_documents, name)(*arguments, **options)

        return count

    rooms = (_class_models, _class_rule, _fitted_mixture, _topics, classifier, mixture, plsi, selector, unigrams)
    for module in rooms:
        for name in calls.keys() & vars(module).keys():
            monkeypatch.setattr(module, name, counting(name))
    return calls


@pytest.mark.filterwarnings("ignore:.*topics are hardly more")
@pytest.mark.parametrize(
    ("model", "ranked"),
    [
        (LBGClassifier(), 1),
        (LBGClassifier(n_topics=[1, 2]), 1),
        (LBGClassifier(n_topics=[1, 2], rule="likelihood"), 1),
        (LBGClassifier(max_false_positive_rate=0.1, cv=3, rule="likelihood"), 1),
        (LBGClassifier(LBGMixture(n_keywords=4), max_false_positive_rate=0.1, cv=3), 1),
        (LBGClassifier(PLSI(), n_topics=[1, 2]), 0),
        (LBGClassifier(MixtureOfUnigrams(), n_topics=[1, 2]), 0),
        (LBGSelector(), 1),
        (LBGMixture(2), 1),
        (MixtureOfUnigrams(2), 0),
        (PLSI(2), 0),
    ],
)
def test_a_fit_checks_and_ranks_documents_once(model, ranked, data, counted):
    X, y, _, _ = data
    model.fit(X, y)
    assert counted == {"checked_documents": 1, "ranked_documents": ranked}


@pytest.mark.parametrize("estimator", [None, LBGMixture(n_keywords=4)])
def test_a_further_batch_is_checked_and_ranked_once(estimator, data, counted):
    X, y, _, _ = data
    model = LBGClassifier(estimator).partial_fit(X, y, classes=np.unique(y))
    counted.update(dict.fromkeys(counted, 0))
    model.partial_fit(X, y)
    assert counted == {"checked_documents": 1, "ranked_documents": 1}


@pytest.mark.parametrize(("dtype", "value"), [(np.float64, 1e154), (np.float32, 1e20)])
@pytest.mark.parametrize("model", [LBGClassifier(), LBGMixture(2), MixtureOfUnigrams(2), PLSI(2), LBGSelector()])
def test_values_that_overflow_are_refused(model, dtype, value):
    X = np.ones((4, 2), dtype=dtype)
    X[2, 1] = value
    with pytest.raises(ValueError, match=r"document 2 has the value .* for word 1; values above .* overflow"):
        model.fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize(("dtype", "value", "least"), [(np.float64, 1e-160, 1e-149), (np.float32, 1e-20, 1e-14)])
@pytest.mark.parametrize("model", [LBGClassifier(), LBGMixture(2), MixtureOfUnigrams(2), PLSI(2), LBGSelector()])
@pytest.mark.filterwarnings("ignore:.*topics are hardly more")
def test_values_that_underflow_are_refused_by_a_fit(model, dtype, value, least):
    """They were NaN before; a new document may be as small as it likes."""
    X = np.kron(np.eye(2, dtype=dtype), np.ones((3, 2), dtype=dtype))
    with pytest.raises(ValueError, match=r"largest value of all documents is .*; values below .* underflow"):
        model.fit(X * dtype(value), [0, 0, 0, 1, 1, 1])
    small = clone(model).fit(X * dtype(least), [0, 0, 0, 1, 1, 1])
    if hasattr(small, "predict_proba"):
        for new in (X * dtype(least), X * dtype(value)):
            assert np.isfinite(small.predict_proba(new)).all()


def test_too_few_documents_for_the_folds_of_a_limit_are_named():
    with pytest.raises(ParameterError, match="no class has more than 3 documents: set cv to at most 3, or give more"):
        LBGClassifier(max_false_positive_rate=0.1).fit(np.eye(6), [0, 0, 0, 1, 1, 2])


@pytest.mark.parametrize("y", [["a", np.nan, "b", "b"], ["a", None, "b", "b"], [0.0, np.nan, 1.0, 1.0]])
@pytest.mark.parametrize("kind", [list, lambda y: np.array(y, dtype=object)])
def test_a_missing_label_is_named(y, kind):
    """In a list of texts NumPy makes NaN the text 'nan', which was a class."""
    for fit in (LBGClassifier().fit, lambda X, y: LBGClassifier().partial_fit(X, y, classes=["a", "b"])):
        with pytest.raises(ValueError, match="Input y contains NaN or None: document 1 has no label; give it one"):
            fit(np.eye(4), kind(y))


def test_labels_of_two_kinds_are_refused():
    with pytest.raises(ValueError, match="labels that are texts and labels that are not: make all of them texts"):
        LBGClassifier().fit(np.eye(4), np.array(["a", 1, "b", 1], dtype=object))
