"""Every public call with arguments that make no sense: an answer, or an error that is documented."""

import copy
import functools
import inspect
import io
import os
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lbg_recsys
from lbg_recsys import datasets, readers, text
from lbg_recsys import report as reports
from lbg_recsys.errors import LBGError
from lbg_recsys.evaluation import calibration, lists, metrics, splits
from lbg_recsys.ratings import BayesianLBGModel, GaussianPLSAModel, LBGModel, RatingMatrix, matrix
from lbg_recsys.ratings.choice import ChoiceModel
from tests.strategies import odd_values

EXAMPLES = int(os.environ.get("LBG_ODD_EXAMPLES", "60"))
MODELS = {
    "lbg": lambda: LBGModel(n_topics=2, random_state=0),
    "plsa": lambda: GaussianPLSAModel(n_topics=2, max_iter=3, random_state=0),
    "bayesian": lambda: BayesianLBGModel(n_components=2, n_sweeps=6, burn_in=3, random_state=0),
    "choice": lambda: ChoiceModel(),
    "lbg without users": lambda: LBGModel(n_topics=2, random_state=0),
}
CALLS = (
    *("fit", "predict_batch", "predict_distribution", "interval", "predictions", "recommend", "similar_items"),
    *("similar_users", "topics", "explain", "fold_in", "fold_in_item", "with_item", "partial_fit"),
    "recommend_blocks",
)
OF_NEW_ITEMS = ("predict", "distribution", "interval", "users")
OF_NEW_USERS = ("predict", "distribution", "interval", "predictions", "recommend", "explain")
ESTIMATORS = {
    "mixture": lambda: text.LBGMixture(n_components=2, max_iter=3, random_state=0),
    "classifier": lambda: text.LBGClassifier(n_topics=1, random_state=0),
    "selector": lambda: text.LBGSelector(text.LBGMixture(n_components=2, max_iter=3, random_state=0)),
    "unigrams": lambda: text.MixtureOfUnigrams(n_components=2, max_iter=3, random_state=0),
    "plsi": lambda: text.PLSI(n_components=2, max_iter=3, random_state=0),
}
OF_ESTIMATORS = (
    *("fit", "fit_predict", "fit_transform", "predict", "predict_proba", "predict_log_proba", "decision_function"),
    *("score", "score_samples", "transform", "inverse_transform", "topics", "get_feature_names_out"),
    *("partial_fit", "keywords", "top_keywords", "sample", "bic", "aic"),
)
FILES = {
    "read_ratings": b"user,item,rating\n1,item 1,3\n2,item 2,5\n",
    "read_interactions": b"user,item\n1,item 1\n2,item 2\n",
    "read_pairs": b"user,item\n1,item 1\n",
    "read_titles": b"item,title\nitem 1,A title\n",
    "read_items": b"item 1\nitem 2\n",
    "read_new_users": b"item,rating\nitem 1,3\n",
    "read_new_items": b"user,rating\n1,3\n",
    "read_features": b"item,year\nitem 1,1999\n",
    "CodedRatings": b"user,item,rating\n1,item 1,3\n2,item 2,5\n",
    "read_documents": b"text,label\nwin a prize,spam\n",
}
LEVEL, PROBABILITY = np.array([0, 2, 1]), np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7], [0.0, 1.0, 0.0]])
POINTS = {"truth": [1.0, 3.0, 2.0], "predicted": [1.5, 2.5, 2.0]}
STATED = {"truth_level": LEVEL, "probability": PROBABILITY}
COLUMNS = {"users": [0, 1, 2], "items": ["item 1", "item 2", "item 1"], "ratings": [1.0, 3.0, 5.0]}
TRAIN = RatingMatrix.from_arrays([0, 0, 1], ["x", "y", "z"], [5, 1, 4])
# Functions of modules and classes, with arguments such as they should be.
FUNCTIONS = {
    **{(metrics, name): POINTS for name in ("mae", "mse", "rmse", "rmse_error")},
    **{(metrics, name): STATED for name in ("log_score", "ranked_probability_score")},
    (metrics, "expected_calibration_error"): STATED,
    (metrics, "pit_histogram"): {**STATED, "generator": np.random.default_rng(0)},
    (metrics, "coverage"): {"truth": [1.0, 3.0, 2.0], "probability": PROBABILITY, "levels": [1.0, 2.0, 3.0]},
    **{(metrics, name): {"n": 2, "ranked": [3, 1], "relevant": {1}} for name in ("ndcg_at", "recall_at")},
    (metrics, "clustering_accuracy"): {"truth": [*"aab"], "clusters": [0, 0, 1]},
    (metrics, "top_n"): {"scores": PROBABILITY, "n": 2},
    (calibration, "reliability"): STATED,
    (lists, "evaluate_lists"): {
        "lists": [[2]],
        "users": [0],
        "train": TRAIN,
        "relevant": lists.Relevant.find(TRAIN, np.array([0]), np.array([2]), np.array([5.0]), 4.0),
    },
    (splits, "random_share"): {"n_ratings": 10, "share": 0.5, "seed": 0},
    (splits, "newest"): {"times": [3, 1, 2], "share": 0.5},
    (splits, "last_of_each_user"): {"users": [0, 0, 1], "times": [3, 1, 2], "n": 1},
    (matrix, "as_matrix"): {"ratings": tuple(COLUMNS.values()), "scale": (1, 5), "levels": None},
    (RatingMatrix, "from_arrays"): COLUMNS,
    (RatingMatrix, "from_frame"): {"frame": pd.DataFrame({name[:-1]: values for name, values in COLUMNS.items()})},
    (datasets, "dataset_info"): {"name": "sample"},
    (datasets, "load_rating_data"): {"name": "sample"},
}
OF_WORDS = {"min_df": 1, "stop_words": "none"}
# A call with the wrong number or names of arguments is Python's TypeError; all that are made here are right.
DOCUMENTED = LBGError
OF_SCIKIT_LEARN = (LBGError, ValueError, TypeError)  # what its own checks raise


@functools.cache
def model_of(kind):
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((8, 6)) < 0.6)
    ratings = rng.integers(1, 6, len(users)).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[kind]()
        names = [f"item {i}" for i in items]
        if isinstance(model, ChoiceModel):
            model.fit((users, names))
        else:
            model.fit((users, names, ratings))
        return model.without_users() if "without" in kind else model


@functools.cache
def estimator_of(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ESTIMATORS[kind]().fit(*DOCUMENTS)


DOCUMENTS = (
    np.array([[2.0, 1, 0, 0], [1, 3, 0, 1], [0, 0, 2, 2], [0, 1, 1, 3], [4, 1, 0, 0], [0, 0, 5, 1]]),
    [*"aabbab"],
)


def call(of, name, data, /, documented=DOCUMENTED, odd=odd_values, **others):
    """Some of the arguments odd, the others such as they should be."""
    usual = {
        "ratings": ([0, 1, 2], ["item 1", "item 2", "item 1"], [1.0, 3.0, 5.0]),
        "choices": ([0, 1], ["item 1", "item 2"]),
        "pairs": [(0, "item 1"), (1, "nothing")],
        "user": 0,
        "item": "item 1",
        "items": ["item 1"],
        "title": "A title",
        "exclude": None,
        "features": None,
        "users": [0, 1],
        "X": DOCUMENTS[0],
        "y": DOCUMENTS[1],
        **others,
    }
    if name in ("fold_in", "fold_in_item", "with_item"):
        usual |= {"ratings": {"item 1": 3} if name == "fold_in" else {0: 3, 1: 4}, "item": "new"}
    signature = inspect.signature(getattr(of, name))
    arguments = {}
    for parameter in signature.parameters.values():
        if parameter.name in ("progress", "spread") or parameter.kind in (
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        ):
            continue
        if data.draw(st.integers(0, 2)) == 0:
            arguments[parameter.name] = data.draw(odd)
        elif parameter.name in usual:
            arguments[parameter.name] = usual[parameter.name]
        elif parameter.default is inspect.Parameter.empty:
            arguments[parameter.name] = data.draw(odd)
    try:
        found = getattr(of, name)(**arguments)
        return list(found) if isinstance(found, Iterator | readers.CodedRatings) else found
    except documented as error:
        assert len(str(error)) > 10, f"{name}({arguments}): {error!r} says nothing"
    return None


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors(kind, data):
    model = model_of(kind)
    names = [name for name in CALLS if hasattr(model, name)]
    name = data.draw(st.sampled_from(names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in ("fit", "partial_fit"):  # these change the model
            model = type(model)(**model.get_params())
        call(model, name, data)


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_for_new_users(kind, data):
    model = model_of(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given_items = ["item 1"] if isinstance(model, ChoiceModel) else {"item 1": 3, "item 2": 5}
        person = model.fold_in(given_items)
        name = data.draw(st.sampled_from([name for name in OF_NEW_USERS if hasattr(person, name)]))
        call(person, name, data)


@pytest.mark.parametrize("kind", ["lbg", "bayesian"])
@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_for_new_items(kind, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        item = model_of(kind).fold_in_item({0: 3, 1: 5})
        call(item, data.draw(st.sampled_from(OF_NEW_ITEMS)), data)


def is_moderate(value):
    """No size that would take the memory or the time that it asks for; what is beyond all memory is refused."""
    return not isinstance(value, int | np.integer) or abs(int(value)) <= 10**4 or abs(int(value)) >= 2**62


moderate_values = odd_values.filter(is_moderate)


@pytest.mark.parametrize(("of", "name"), FUNCTIONS, ids=[name for _, name in FUNCTIONS])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_of_functions(of, name, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(of, name, data, odd=moderate_values, **FUNCTIONS[of, name])


@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_of_reports(data):
    usual = {"model": model_of("lbg"), "ratings": None, "refit": False, "examples": 0, "list_users": 5, "seed": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(reports, "report_html", data, odd=moderate_values, **usual)


# Sweeps and topics as many as they are asked for would take years.
small_values = odd_values.filter(lambda value: not isinstance(value, int | np.integer) or abs(int(value)) <= 5)


@pytest.mark.parametrize("kind", [*MODELS, *ESTIMATORS])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_of_constructors(kind, data):
    """A constructor stores its arguments; `fit` checks them."""
    model = (MODELS | ESTIMATORS)[kind]()
    names = data.draw(st.lists(st.sampled_from(sorted(model.get_params(deep=False))), max_size=2, unique=True))
    changed = type(model)(**model.get_params(deep=False) | {name: data.draw(small_values) for name in names})
    documented = OF_SCIKIT_LEARN if kind in ESTIMATORS else DOCUMENTED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if kind in ESTIMATORS:
                changed.fit(*DOCUMENTS)
            else:
                ratings = (COLUMNS["users"], COLUMNS["items"], COLUMNS["ratings"])
                changed.fit(ratings[:2] if kind == "choice" else ratings)
        except documented as error:
            assert len(str(error)) > 10, f"{names}: {error!r} says nothing"


@pytest.mark.parametrize("kind", ESTIMATORS)
@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_of_text_estimators(kind, data):
    model = estimator_of(kind)
    name = data.draw(st.sampled_from([name for name in OF_ESTIMATORS if hasattr(model, name)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name.startswith("fit"):
            model = ESTIMATORS[kind]()
        elif name == "partial_fit":  # it changes the model
            model = copy.deepcopy(model)
        call(model, name, data, OF_SCIKIT_LEARN, moderate_values)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("name", ["X", "sample_weight"])
def test_integers_beyond_all_floats_are_refused(kind, name):
    huge = {"X": {"X": [[10**400, 1, 1, 1]] * 6}, "sample_weight": {"sample_weight": [10**400] * 6}}[name]
    model = ESTIMATORS[kind]()
    if name in inspect.signature(model.fit).parameters:
        with pytest.raises(LBGError, match=f"{name} has an integer beyond the range of float64"):
            model.fit(**{"X": DOCUMENTS[0], "y": DOCUMENTS[1], **huge})


@pytest.fixture(scope="module")
def _elsewhere(tmp_path_factory):
    """Names of files that are odd are those of files in a folder of this module."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("odd"))
    yield
    os.chdir(before)


# Neither standard input nor a place outside the folder.
odd_sources = odd_values.filter(lambda value: not isinstance(value, str) or not set(value) & {*"-/."})


@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize("name", FILES)
@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_of_readers(name, data):
    source = "odd.csv" if name in ("read_documents", "CodedRatings") else io.BytesIO(FILES[name])
    with open("odd.csv", "wb") as stream:
        stream.write(FILES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(readers, name, data, odd=odd_sources, source=source, role="item")


@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_of_word_frequencies(data):
    documents = readers.Documents(["1", "2"], ["win a prize", "see you"], None, ["spam", "ham"])
    sources = [data.draw(st.one_of(odd_values, st.just(documents))) for _ in range(data.draw(st.integers(0, 2)))]
    if data.draw(st.booleans()):
        sources = [documents]
    given_or_odd = {name: data.draw(st.one_of(st.just(usual), odd_values)) for name, usual in OF_WORDS.items()}
    try:
        readers.word_frequencies(*sources, **given_or_odd)
    except LBGError as error:
        assert len(str(error)) > 10


@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize("kind", [*MODELS, *ESTIMATORS])
@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_documented_errors_of_save(kind, data):
    """A disk that is full, or a name that the system refuses, is its own OSError."""
    model = model_of(kind) if kind in MODELS else estimator_of(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(lbg_recsys, "save", data, (LBGError, OSError), odd_sources, model=model, path="odd.lbg", titles=None)


@pytest.mark.usefixtures("_elsewhere")
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(st.text(max_size=5), st.binary(max_size=3), st.floats(), st.integers(), st.none()),
    st.binary(max_size=300),
)
def test_only_documented_errors_of_load(path, content):
    """See `tests.persistence` for files that are nearly models."""
    assume(not isinstance(path, (str, bytes)) or not os.path.exists(path))  # which the test of save has written
    with open("odd.lbg", "wb") as stream:
        stream.write(content)
    for one, refused in ((path, (LBGError, OSError)), ("odd.lbg", LBGError)):
        with pytest.raises(refused):
            lbg_recsys.load(one)
