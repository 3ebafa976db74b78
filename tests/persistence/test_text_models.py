"""Text models come back from a file with all they had: attributes, words, vectorizer, statistics."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

import lbg_recsys
from lbg_recsys.errors import DataError, LBGError, ModelFileError, ParameterError
from lbg_recsys.persistence.container import read_container, write_container
from lbg_recsys.text import PLSI, LBGClassifier, LBGMixture, LBGSelector, MixtureOfUnigrams

TEXTS = ["goal keeper goal", "keeper and penalty", "flour sugar oven", "oven and sugar", "penalty goal", "sugar"] * 3
LABELS = ["ball", "ball", "cake", "cake", "ball", "cake"] * 3

MODELS = {
    "mixture": LBGMixture(2, random_state=0),
    "paper": LBGMixture(2, random_state=0, n_keywords="paper", prior_gauss=np.inf, prior_p=0),
    "unigrams": MixtureOfUnigrams(2, random_state=0),
    "plsi": PLSI(2, random_state=0),
    "selector": LBGSelector(LBGMixture(2, random_state=0), n_features_to_select=3),
    "selector of defaults": LBGSelector(),
    "classifier": LBGClassifier(n_topics=1, random_state=0),
    "classifier of unigrams": LBGClassifier(MixtureOfUnigrams(1), n_topics=(1, 2), class_prior=[0.5, 0.5]),
    "classifier with a threshold": LBGClassifier(n_topics=1, max_false_positive_rate=0.1, cv=2, random_state=0),
}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=[np.float64, np.float32])
def vectorizer(request):
    return TfidfVectorizer(sublinear_tf=True, stop_words=["and"], dtype=request.param).fit(TEXTS)


def same(one, other):
    """Equal to the bit, in type and in dtype."""
    assert type(one) is type(other)
    if dataclasses.is_dataclass(one) or hasattr(one, "get_params"):
        there, here = vars(other), vars(one)
        assert set(here) | {"vectorizer_", "vocabulary_"} == set(there) | {"vectorizer_", "vocabulary_"}
        for name in set(here) & set(there) - {"vectorizer_", "vocabulary_", "n_topics", "class_prior"}:
            same(here[name], there[name])
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for here, there in zip(one, other, strict=True):
            same(here, there)
    else:
        assert one == other


@pytest.mark.parametrize("name", MODELS)
def test_every_fitted_attribute_comes_back(name, vectorizer, tmp_path):
    documents = vectorizer.transform(TEXTS)
    model = clone(MODELS[name]).fit(documents, LABELS)
    path = lbg_recsys.save(model, tmp_path / "model.lbg", vectorizer=vectorizer)
    again = lbg_recsys.load(path)
    same(model, again)
    for method in ("predict_proba", "transform", "score_samples"):
        if hasattr(model, method):
            ours, theirs = getattr(model, method)(documents), getattr(again, method)(documents)
            assert (ours != theirs).sum() == 0
    assert lbg_recsys.save(again, tmp_path / "again.lbg").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["mixture", "paper"])
def test_a_loaded_mixture_learns_on_with_the_same_bits(name, vectorizer, tmp_path):
    model = clone(MODELS[name]).fit(vectorizer.transform(TEXTS[:12]))
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    more = vectorizer.transform(TEXTS[12:])
    same(model.partial_fit(more), again.partial_fit(more))


@pytest.mark.parametrize(
    "settings", [{}, {"use_idf": False}, {"ngram_range": (1, 2), "norm": None}, {"vocabulary": ["goal", "oven"]}]
)
@pytest.mark.parametrize("kind", [TfidfVectorizer, CountVectorizer])
def test_the_vectorizer_comes_back(kind, settings, tmp_path):
    known = kind().get_params()
    vectorizer = kind(**{name: value for name, value in settings.items() if name in known})
    model = MixtureOfUnigrams(2, random_state=0).fit(vectorizer.fit_transform(TEXTS).astype(float))
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg", vectorizer=vectorizer))
    new = ["goal goal of the oven", "flour", ""]
    assert (again.vectorizer_.transform(new) != vectorizer.transform(new)).nnz == 0
    assert again.vectorizer_.transform(new).dtype == vectorizer.transform(new).dtype
    assert again.vectorizer_.get_params() == vectorizer.get_params()
    assert again.vocabulary_ == vectorizer.get_feature_names_out().tolist()
    assert again.top_keywords(again.vocabulary_, 2) == model.top_keywords(vectorizer.get_feature_names_out(), 2)


@pytest.mark.parametrize(
    "labels", [LABELS, [label == "ball" for label in LABELS], [7 if label == "ball" else -1 for label in LABELS]]
)
@pytest.mark.parametrize("dtype", [None, object])
def test_class_labels_keep_their_type(labels, dtype, tmp_path):
    if dtype is object and not isinstance(labels[0], str):
        dtype = np.int32
    documents = CountVectorizer().fit_transform(TEXTS).astype(float)
    model = LBGClassifier(n_topics=1, random_state=0).fit(documents, np.array(labels, dtype=dtype))
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    same(model.predict(documents), again.predict(documents))
    assert again.vectorizer_ is None and again.vocabulary_ is None


def test_names_of_columns_come_back(tmp_path):
    counts = CountVectorizer()
    table = pd.DataFrame(counts.fit_transform(TEXTS).toarray() * 1.0, columns=counts.get_feature_names_out())
    model = LBGMixture(2, random_state=0).fit(table)
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg", vocabulary=table.columns))
    same(model.feature_names_in_, again.feature_names_in_)
    assert again.top_keywords() == model.top_keywords() and again.vocabulary_ == table.columns.tolist()


def _fitted(model=MODELS["mixture"]):
    return clone(model).fit(CountVectorizer().fit_transform(TEXTS).astype(float), LABELS)


def split(text):
    return text.split()


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (LBGMixture, {}, "not fitted"),
        (_fitted, {"vectorizer": TfidfVectorizer()}, "TfidfVectorizer is not fitted"),
        (_fitted, {"vectorizer": CountVectorizer(tokenizer=split)}, "tokenizer of the CountVectorizer is a function"),
        (_fitted, {"vectorizer": HashingVectorizer()}, "a HashingVectorizer cannot be kept"),
        (_fitted, {"vocabulary": ["one"]}, "vocabulary has 1 words, and the model was fitted with 7"),
        (_fitted, {"vocabulary": range(7)}, r"the vocabulary has 0 \(int\): words must be strings"),
        (_fitted, {"vocabulary": ["a"] * 7}, "a word occurs twice"),
        (_fitted, {"vocabulary": ["a"], "vectorizer": TfidfVectorizer()}, "either a vectorizer"),
        (_fitted, {"titles": {1: "One"}}, "titles, chains and ratings are for rating models"),
        (lambda: _fitted().set_params(n_components=3), {}, "n_components is 3, and the model was fitted with 2"),
        (lambda: _fitted().set_params(prior_p=-1), {}, "prior_p"),
        (lambda: _fitted().set_params(random_state=np.random.RandomState(0)), {}, "random_state is a RandomState"),
    ],
)
def test_what_cannot_be_kept_is_refused(model, options, message, tmp_path):
    options = dict(options)
    if getattr(options.get("vectorizer"), "tokenizer", None):
        options["vectorizer"].fit(TEXTS)
    with pytest.raises(LBGError, match=message):
        lbg_recsys.save(model(), tmp_path / "model.lbg", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_file_cannot_ask_for_endless_iterations(tmp_path):
    path = lbg_recsys.save(_fitted(PLSI(2, random_state=0)), tmp_path / "model.lbg")
    header, arrays = read_container(path)
    header["parameters"]["fold_in_iter"] = 2 * 10**12
    with open(path, "wb") as stream:
        write_container(stream, header, arrays)
    with pytest.raises(ModelFileError, match="fold_in_iter"):
        lbg_recsys.load(path)


def test_a_pipeline_is_saved_by_its_last_step(tmp_path):
    pipeline = make_pipeline(TfidfVectorizer(), LBGClassifier()).fit(TEXTS, LABELS)
    with pytest.raises(DataError, match=r"its last step .*save\(pipeline\[-1\], path, vectorizer=pipeline\[0\]\)"):
        lbg_recsys.save(pipeline, tmp_path / "model.lbg")
    lbg_recsys.save(pipeline[-1], tmp_path / "model.lbg", vectorizer=pipeline[0])
    loaded = lbg_recsys.load(tmp_path / "model.lbg")
    again = make_pipeline(loaded.vectorizer_, loaded)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), pipeline.predict_proba(TEXTS))


def test_an_estimator_of_somebody_else_is_refused(tmp_path):
    class Mine(MixtureOfUnigrams):
        pass

    Mine.__module__ = "elsewhere"
    model = _fitted(LBGClassifier(Mine(1)))
    with pytest.raises(DataError, match="a Mine inside the model cannot be kept"):
        lbg_recsys.save(model, tmp_path / "model.lbg")


LIES = {
    "a setting more": (lambda h, a: h["words"]["vectorizer"]["settings"].update(tokenizer="eval"), "settings has"),
    "a class of vectorizers": (lambda h, a: h["words"]["vectorizer"].update({"class": "Pickle"}), "known are Count"),
    "no regular expression": (
        lambda h, a: h["words"]["vectorizer"]["settings"].update(token_pattern="("),
        "settings cannot be used",
    ),
    "a dtype of objects": (
        lambda h, a: h["words"]["vectorizer"]["settings"].update(dtype="object"),
        "dtype is 'object'",
    ),
    "a word fewer": (lambda h, a: h["words"]["vocabulary"].pop(), "not what its vocabulary says"),
    "a word twice": (lambda h, a: h["words"]["vocabulary"].__setitem__(0, "oven"), "occurs twice"),
    "no idf": (lambda h, a: a.pop("idf"), "do not agree with the vectorizer"),
    "a class fewer": (lambda h, a: h["facts"]["classes_"]["values"].pop(), "1 classes with 2 models"),
    "labels of other types": (lambda h, a: h["facts"]["classes_"].update(values=["a", 1]), "are not all str"),
    "labels out of order": (lambda h, a: h["facts"]["classes_"].update(values=["b", "a"]), "do not ascend"),
    "a model of ratings inside": (
        lambda h, a: h["facts"]["estimators_"][0].update({"class": "LBGModel"}),
        "cannot be inside a text model",
    ),
    "a classifier inside": (
        lambda h, a: h["facts"]["estimators_"][0].update({"class": "LBGClassifier"}),
        "parameters are not those of",
    ),
    "topics that are not there": (
        lambda h, a: h["facts"]["estimators_"][0]["parameters"].update(n_components=10**9),
        "has the shape",
    ),
    "no variance": (lambda h, a: a["estimators_.0.variances_"].__setitem__(0, 0), "outside of its range"),
    "an argument out of range": (lambda h, a: h["parameters"].update(cv=0), "the parameters cannot be used"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_about_a_classifier_is_refused(name, tmp_path):
    vectorizer = TfidfVectorizer()
    model = LBGClassifier(n_topics=1, random_state=0).fit(vectorizer.fit_transform(TEXTS), LABELS)
    path = lbg_recsys.save(model, tmp_path / "model.lbg", vectorizer=vectorizer)
    header, arrays = read_container(path)
    change, message = LIES[name]
    change(header, arrays)
    with open(path, "wb") as stream:
        write_container(stream, header, arrays)
    with pytest.raises(ModelFileError, match=message):
        lbg_recsys.load(path)


@pytest.mark.parametrize("vocabulary", [True, 3, "word"])
def test_a_vocabulary_that_is_no_list_is_refused(vocabulary, tmp_path):
    model = LBGMixture(2, random_state=0).fit(CountVectorizer().fit_transform(TEXTS))
    with pytest.raises(ParameterError, match="give a list of words"):
        lbg_recsys.save(model, tmp_path / "model.lbg", vocabulary=vocabulary)
    assert not list(tmp_path.iterdir())
