"""scikit-learn's own checks, and its tools around our estimators."""

import traceback
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from lbg_recsys.text import PLSI, LBGClassifier, LBGMixture, LBGSelector, MixtureOfUnigrams

# Two topics: scikit-learn's sparse checks expect as many columns of predict_proba as their labels have classes (two,
# or four where the tags allow more than two), whatever n_components says. No other check depends on it.
MODELS = [
    LBGMixture(2),
    LBGMixture(2, n_keywords="paper", length_temper=None, init="random", n_init=2),
    MixtureOfUnigrams(2),
    PLSI(2, max_iter=500),
    LBGSelector(),
    LBGClassifier(),
    LBGClassifier(LBGMixture(n_keywords=20, prior_gauss=1.0), n_topics=[1, 2]),
]
CONTAINERS = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_array]
MIXTURES = [LBGMixture(2, random_state=0), MixtureOfUnigrams(2, random_state=0), PLSI(2, random_state=0)]

TEXTS = [
    "the striker scored a goal past the keeper",
    "a late goal won the match for the keeper and his team",
    "the keeper saved the penalty and the match",
    "the team scored and the match was theirs",
    "mix flour and sugar and put it in the oven",
    "butter, sugar and eggs for the cake",
    "bake the cake in a hot oven with butter",
    "flour, eggs and butter in the oven make a cake",
] * 3
LABELS = np.array((["ball"] * 4 + ["cake"] * 4) * 3)


# The starts of several topics are random draws of documents: a document that counts twice and two equal documents are
# drawn in another order. The classifier has one topic per class and no random start.
_EQUIVALENCE = {
    f"check_sample_weight_equivalence_on_{kind}_data": "random starts draw documents" for kind in ("dense", "sparse")
}


def expected_failures(model):
    """Checks that an estimator with random starts cannot meet."""
    return {} if is_classifier(model) or isinstance(model, LBGSelector) else _EQUIVALENCE


@parametrize_with_checks(MODELS, expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [LBGMixture(), MixtureOfUnigrams(), PLSI()], ids=lambda model: type(model).__name__)
def test_of_the_default_number_of_topics_only_the_columns_of_predict_proba_are_in_the_way(model):
    """The checks of sparse input ask a density for two or four columns; with eight topics there are eight."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, on_skip=None, on_fail=None, expected_failed_checks=expected_failures(model))
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert set(failed) == {"check_estimator_sparse_array", "check_estimator_sparse_matrix"}
    for error in failed.values():
        told = "".join(traceback.format_exception(error))
        assert "assert probs.shape == expected_probs_shape" in told


@pytest.fixture(scope="module")
def X():
    return TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(TEXTS)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_clone_has_the_same_parameters_and_no_fit(model, X):
    copy = clone(clone(model).fit(X, LABELS))
    assert repr(copy) == repr(model)
    assert not [name for name in vars(copy) if name.endswith("_") and not name.startswith("_")]


@pytest.mark.parametrize("model", MIXTURES, ids=lambda model: type(model).__name__)
def test_pipeline_from_raw_text_finds_the_two_subjects(model):
    pipeline = make_pipeline(TfidfVectorizer(stop_words="english"), clone(model))
    labels = pipeline.fit_predict(TEXTS)
    assert len(set(labels[LABELS == "ball"])) == len(set(labels[LABELS == "cake"])) == 1
    assert len(set(labels)) == 2
    assert pipeline.predict(["goal for the team"])[0] == labels[0]


@pytest.mark.parametrize("last", [LinearSVC(), KMeans(2, n_init=1, random_state=0)])
def test_selector_before_an_svm_or_kmeans(last):
    selector = LBGSelector(LBGMixture(2, random_state=0), delta=0.3, renormalize=True)
    pipeline = make_pipeline(TfidfVectorizer(stop_words="english"), selector, last).fit(TEXTS, LABELS)
    kept = pipeline[:-1].get_feature_names_out()
    assert 0 < len(kept) < len(pipeline[0].get_feature_names_out())
    assert {"keeper", "cake"} <= set(kept)
    predicted = pipeline.predict(TEXTS)
    assert len({(a, b) for a, b in zip(predicted, LABELS, strict=True)}) == 2


def test_grid_search_over_a_classifier_and_over_a_mixture(X):
    pipeline = Pipeline([("tfidf", TfidfVectorizer()), ("model", LBGClassifier(LBGMixture(), n_topics=1))])
    grid = {"model__estimator__n_keywords": [2, None], "model__n_topics": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(TEXTS, LABELS)
    assert search.best_score_ > 0.9
    # scored by `score`, the log Pr(d) of held-out documents: those of two subjects want two topics
    unsupervised = GridSearchCV(LBGMixture(random_state=0), {"n_components": [1, 2]}, cv=3).fit(X)
    assert unsupervised.best_params_ == {"n_components": 2}
    one, two = unsupervised.cv_results_["mean_test_score"]
    assert two == unsupervised.best_score_ > one + 0.1


def test_the_default_mixture_of_a_classifier_can_be_written_out_and_searched(X):
    """What the documentation says None stands for gives the same bits, and its parameters can be searched."""
    for rule, written in (
        ("weighted", LBGMixture(n_keywords=None, prior_gauss=50)),
        ("likelihood", LBGMixture(n_keywords=None, length_temper=None, prior_p=5, prior_gauss=50)),
    ):
        expected = LBGClassifier(rule=rule, random_state=0).fit(X, LABELS).decision_function(X)
        got = LBGClassifier(written, rule=rule, random_state=0).fit(X, LABELS).decision_function(X)
        np.testing.assert_array_equal(got, expected)
        grid = {"estimator__n_keywords": [1, None], "estimator__prior_gauss": [5, 50]}
        model = LBGClassifier(rule=rule, random_state=0)
        assert GridSearchCV(model, grid, cv=3).fit(X, LABELS).best_score_ > 0.9


def test_probabilities_of_a_fitted_classifier(X):
    """What check_decision_proba_consistency asks, of data that are not negative: one order by either method."""
    model = LBGClassifier(n_topics=1, random_state=0)
    assert not hasattr(model, "predict_proba")
    shares = cross_val_predict(model, X, LABELS, cv=3, method="predict_log_proba")
    loss = -cross_val_score(model, X, LABELS, cv=3, scoring="neg_log_loss").mean()
    assert 0.0 < loss == pytest.approx(-shares[np.arange(len(LABELS)), (LABELS == "cake").astype(int)].mean())
    model.fit(X, LABELS)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    share = np.linspace(0.3, 0.7, 8)[:, None]
    mixed = share * X[:8].toarray() + (1 - share) * X[[4, 5, 6, 7, 0, 1, 2, 3]].toarray()  # not all sure of a class
    order = np.argsort(model.decision_function(mixed))
    assert (np.diff(model.predict_proba(mixed)[order, 1]) >= 0).all()


def test_feature_union_and_pandas_output(X):
    pandas = pytest.importorskip("pandas")
    union = FeatureUnion([("lbg", LBGMixture(2, random_state=0)), ("plsi", PLSI(3, random_state=0))])
    union.set_output(transform="pandas")
    frame = pandas.DataFrame(X.toarray(), columns=[f"w{i}" for i in range(X.shape[1])], index=range(100, 124))
    out = union.fit_transform(frame)
    assert list(out.index) == list(frame.index)
    assert list(out.columns) == ["lbg__lbgmixture0", "lbg__lbgmixture1", *(f"plsi__plsi{i}" for i in range(3))]
    np.testing.assert_allclose(out.iloc[:, :2].sum(axis=1), 1.0)
    selector = LBGSelector(LBGMixture(2, random_state=0), n_features_to_select=4, renormalize=True)
    selected = selector.set_output(transform="pandas").fit_transform(frame)
    assert list(selected.columns) == list(selector.get_feature_names_out()) and len(selected.columns) == 4
    np.testing.assert_allclose(selected, Normalizer().transform(frame[selected.columns].to_numpy()))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_metadata_routing_may_be_on(model, X):
    """They work where routing is enabled; weights reach only who asks for them."""
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(Normalizer(), clone(model)).fit(X, LABELS)
        if is_classifier(model):
            assert cross_val_score(pipeline, X, LABELS, cv=2).mean() > 0.8
        weight = np.ones(len(LABELS))
        with pytest.raises(UnsetMetadataPassedError):
            make_pipeline(clone(model)).fit(X, LABELS, sample_weight=weight)
        make_pipeline(clone(model).set_fit_request(sample_weight=True)).fit(X, LABELS, sample_weight=weight)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("container", "index"),
    [(np.asarray, None), *((kind, index) for kind in CONTAINERS for index in (np.int32, np.int64))],
)
def test_any_container_and_index_width_gives_the_same_bits(model, container, index, X):
    given = X.toarray() if container is np.asarray else container(X)
    for name in ("indptr", "indices"):
        if hasattr(given, name):
            setattr(given, name, getattr(given, name).astype(index))
    expected = clone(model).set_params(**_seeded(model)).fit(X, LABELS)
    got = clone(model).set_params(**_seeded(model)).fit(given, LABELS)
    method = "decision_function" if is_classifier(model) else "transform"
    a, b = getattr(expected, method)(X), getattr(got, method)(given)
    dense = [v.toarray() if sp.issparse(v) else v for v in (a, b)]
    np.testing.assert_array_equal(*dense)


@pytest.mark.parametrize("model", [*MIXTURES, LBGSelector()], ids=lambda model: type(model).__name__)
def test_float32_stays_float32(model, X):
    fitted = clone(model).fit(X.astype(np.float32))
    assert fitted.transform(X.astype(np.float32)).dtype == np.float32
    if hasattr(fitted, "means_"):
        assert fitted.means_.dtype == fitted.keyword_prob_.dtype == fitted.weights_.dtype == np.float32
    double = clone(model).fit(X)
    assert double.transform(X).dtype == np.float64
    if not isinstance(model, LBGSelector):
        assert fitted.score_samples(X.astype(np.float32)).dtype == np.float32
        assert double.score_samples(X).dtype == np.float64
        np.testing.assert_allclose(fitted.score_samples(X.astype(np.float32)), double.score_samples(X), rtol=1e-3)
        np.testing.assert_array_equal(fitted.predict(X.astype(np.float32)), double.predict(X))


def test_a_classifier_weighs_its_classes_in_float64(X):
    single = LBGClassifier(random_state=0).fit(X.astype(np.float32), LABELS)
    odds = single.decision_function(X.astype(np.float32))
    assert odds.dtype == np.float64
    np.testing.assert_allclose(odds, single.decision_function(X.astype(np.float32).astype(np.float64)), rtol=1e-12)


def test_scores_of_several_classes_are_log_odds_that_can_be_calibrated_one_by_one(X):
    """CalibratedClassifierCV fits a sigmoid per class: scores with another constant per document would ruin it."""
    labels = np.array((["ball"] * 2 + ["goal"] * 2 + ["cake"] * 4) * 3)
    model = LBGClassifier(random_state=0).fit(X, labels)
    proba = model.predict_proba(X)
    others = np.column_stack([np.delete(proba, place, axis=1).sum(axis=1) for place in range(3)])
    np.testing.assert_allclose(model.decision_function(X), np.log(proba / others), rtol=1e-9)
    certain = LBGClassifier(rule="likelihood", random_state=0).fit(1e3 * X, labels)
    odds = certain.decision_function(1e3 * X)
    assert np.isfinite(odds).all()
    np.testing.assert_array_equal(certain.classes_[odds.argmax(axis=1)], certain.predict(1e3 * X))
    assert CalibratedClassifierCV(clone(model), cv=3).fit(X, labels).score(X, labels) == 1.0


def _seeded(model):
    if isinstance(model, LBGSelector):
        return {"estimator": LBGMixture(2, random_state=0)}
    return {"random_state": 0}
