"""Whatever the bytes, `load` returns a model that can be used or raises `ModelFileError`; nothing else comes out.

A loaded model predicts, folds in a new user, recommends, explains and learns on, and a checkpoint is continued;
numbers that no fit gives may be refused with a `DataError` then, and nothing may take long or much memory.
``make fuzz`` and ``make stress`` are the long runs (``LBG_FUZZ_EXAMPLES`` cases of each test).
"""

import contextlib
import functools
import hashlib
import io
import re
import resource
import signal
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

import lbg_recsys
from lbg_recsys.cli.models import convergence_in_words
from lbg_recsys.errors import DataError, ModelFileError
from lbg_recsys.persistence import FitCheckpoint
from lbg_recsys.persistence.container import read_container, write_container
from lbg_recsys.persistence.contents import look_into
from lbg_recsys.ratings import BayesianLBGModel, LBGModel
from lbg_recsys.ratings.choice import ChoiceModel
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.text import PLSI, LBGClassifier, LBGMixture, LBGSelector, MixtureOfUnigrams
from tests.strategies import fuzzed

bounded = fuzzed(200)

TEXTS = ["goal keeper goal", "flour oven", "keeper penalty", "oven sugar"]
RATINGS = (["ann", "ann", "bob", 7], [7, 8, 9, "x"], [5.0, 4.0, 1.0, 3.0])
COLUMNS = ("user", "item", "rating")
FILMS = pd.DataFrame({"year": [1990, 1995, 2000, 1970], "kind": ["a", "b", "a", "b"]}, index=[7, 8, 9, "unrated"])
# What using one model may take: the models are tiny, and a minute's work or a gigabyte is an attack that succeeded.
SECONDS, MEGABYTES = 20.0, 512
MODELS = {
    "lbg": LBGModel(n_topics=2, random_state=0),
    "baseline": LBGModel(n_topics=1, random_state=0, baseline=True),
    "bayesian": BayesianLBGModel(n_components=2, n_classes=2, n_sweeps=5, burn_in=2, max_kept=2, random_state=0),
    "chains": BayesianLBGModel(n_components=2, n_classes=2, n_sweeps=5, burn_in=2, max_kept=2, random_state=0),
    "features": BayesianLBGModel(n_components=2, n_classes=2, n_sweeps=5, burn_in=2, max_kept=2, random_state=0),
    "plsa": GaussianPLSAModel(n_topics=2, random_state=0, max_iter=2),
    "choice": ChoiceModel(),
    "clicks": ChoiceModel(penalty=1),
    "lbg-without-users": LBGModel(n_topics=2, random_state=0, lists="choice"),
    "bayesian-without-users": BayesianLBGModel(n_components=2, n_classes=2, n_sweeps=5, burn_in=2, random_state=0),
    "choice-without-users": ChoiceModel(),
    "mixture": LBGMixture(2, random_state=0),
    "paper": LBGMixture(2, random_state=0, n_keywords="paper", prior_gauss=np.inf),
    "unigrams": MixtureOfUnigrams(2, random_state=0),
    "plsi": PLSI(2, random_state=0, max_iter=3),
    "selector": LBGSelector(LBGMixture(1, random_state=0)),
    "classifier": LBGClassifier(n_topics=1, random_state=0),
}
# Kept in its second run, so that it has a best one.
RESUMED = LBGModel(n_topics=2, random_state=0, n_init=2, max_iter=6, tol=0.0)
VECTORIZER = TfidfVectorizer().fit(TEXTS)
DOCUMENTS = VECTORIZER.transform(TEXTS)


@functools.cache  # fitted at first use, so that collecting the tests fits nothing
def file_of(kind):
    """The bytes of a model file, and its header with its arrays."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "checkpoint":
            path = Path(folder, "checkpoint")
            RESUMED.fit(RATINGS, scale=(1, 5), checkpoint=FitCheckpoint(path, every=2))
            return path.read_bytes(), read_container(path)
        model = MODELS[kind]
        if hasattr(model, "get_metadata_routing"):  # an estimator of scikit-learn's kind
            fitted = model.fit(DOCUMENTS, [1, 2, 1, 2])
            path = lbg_recsys.save(fitted, f"{folder}/model.lbg", vectorizer=VECTORIZER)
            return path.read_bytes(), read_container(path)
        options = {"titles": {7: "Seven"}, "chains": kind == "chains", "ratings": "without" not in kind}
        if isinstance(model, ChoiceModel):
            model.fit(RATINGS[:2] if kind == "clicks" else pd.DataFrame(dict(zip(COLUMNS, RATINGS, strict=True))))
        elif kind == "features":
            model.fit(RATINGS, scale=(1, 5), item_features=FILMS)
        else:
            model.fit(RATINGS, scale=(1, 5))
        path = lbg_recsys.save(model, f"{folder}/model.lbg", **options)
        return path.read_bytes(), read_container(path)


kinds = st.sampled_from(sorted([*MODELS, "checkpoint"]))


def resumes(path):
    """Continue the fit of a checkpoint, if it is one."""
    keep = FitCheckpoint(Path(path), resume=True)
    try:
        with at_most(SECONDS):
            model = LBGModel(**RESUMED.get_params()).fit(RATINGS, scale=(1, 5), checkpoint=keep)
    except (ModelFileError, DataError) as error:
        assert str(error).startswith(path) and len(str(error)) < 1000 and str(error).isprintable()
    else:
        assert np.isfinite(model.parameters_.c).all() and 1 <= model.n_iter_ <= RESUMED.max_iter


def survives(data, kind=None):
    with tempfile.NamedTemporaryFile(suffix=".lbg") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # absurd numbers may overflow: they must not do more than that
        stream.write(data)
        stream.flush()
        if kind == "checkpoint":
            resumes(stream.name)
        try:
            found = look_into(stream.name).training
            assert set(found.values()) == {None} or convergence_in_words(found)
        except ModelFileError as error:
            assert str(error).startswith(stream.name) and len(str(error)) < 1000
        try:
            model = lbg_recsys.load(stream.name)
        except ModelFileError as error:
            assert str(error).startswith(stream.name) and len(str(error)) < 1000
            return
        if hasattr(model, "vectorizer_"):
            with at_most(SECONDS):
                used(model)
            return
        asked(model)


@functools.cache
def compile_first(kind):
    """Ask a model of this class once without limits: the first use compiles, which takes up to a minute."""
    for name in MODELS:
        if type(MODELS[name]) is kind:
            with tempfile.NamedTemporaryFile(suffix=".lbg") as stream, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                stream.write(file_of(name)[0])
                stream.flush()
                questions(lbg_recsys.load(stream.name))


def asked(model):
    """Every kind of question, within limits of time and memory."""
    compile_first(type(model))
    before = memory()
    with at_most(SECONDS):
        questions(model)
    assert memory() - before < MEGABYTES * 1024


@contextlib.contextmanager
def at_most(seconds):
    """Fail where the code is after these seconds of CPU time: an endless loop would say nothing."""

    def stop(*_):
        raise AssertionError(f"not done after {seconds} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_an_endless_question_is_stopped():
    with pytest.raises(AssertionError, match=r"not done after 0\.1 s"), at_most(0.1):
        while True:
            pass


def questions(model):
    matrix = model.matrix
    items = [*matrix.items][:50]
    if not isinstance(model, ChoiceModel):
        asked_for = [*matrix.items, "new", "unrated"]
        pairs = [(user, item) for user in [*matrix.users, "new"] for item in asked_for]
        assert model.predict_distribution(pairs).shape == (len(pairs), len(model.levels))
    level = float(matrix.scale.levels[0])
    for question in (
        lambda: model.recommend([*matrix.users][:5], 3),
        lambda: [model.explain(user, item) for user in [*matrix.users][:1] for item in items[:1]],
        lambda: model.similar_items(items[0], 2),
    ):
        with contextlib.suppress(DataError):
            question()
    with contextlib.suppress(DataError):
        person = model.fold_in(items[:2] if isinstance(model, ChoiceModel) else {items[0]: level})
        person.recommend(2, diversity=0.3)
        person.explain(items[-1])
    learns_on(model, items, level)


def learns_on(model, items, level):
    """Two further sweeps, or two further ratings, where a model can learn on; what it then predicts are numbers."""
    with contextlib.suppress(DataError):
        if isinstance(model, LBGModel):
            model.partial_fit((["new", "newer"], [items[0], "another"], [level, level]))
        elif getattr(model, "_training", None) is not None:
            model.warm_start, model.n_sweeps, model.burn_in = True, 2, 0
            model.fit(model.matrix)
        else:
            return
        pairs = [(user, item) for user in [*model.matrix.users][:3] for item in items]
        assert np.isfinite(model.predict_distribution(pairs)).all()


def memory():
    """The largest memory that this process has had so far, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def used(model):
    n_words = model.n_features_in_
    documents = np.arange(3.0 * n_words).reshape(3, n_words) % 3
    if hasattr(model, "predict"):
        assert len(model.predict(documents)) == 3
    else:
        assert len(model.transform(documents)) == 3
    if isinstance(model, LBGMixture):
        with contextlib.suppress(DataError):
            model.partial_fit(documents)
            assert np.isfinite(model.means_).all() and np.isfinite(model.weights_).all()
    if model.vectorizer_ is not None:
        assert model.vectorizer_.transform(TEXTS if model.vectorizer_.input == "content" else []).shape[1] == n_words


def sealed(data):
    """With the checksum that these bytes should have."""
    body = bytes(data[:-32])
    return body + hashlib.sha256(body).digest()


edits = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True), st.sampled_from(["set", "cut", "insert", "end"]), st.binary(max_size=8)
    ),
    min_size=1,
    max_size=4,
)


def edited(data, changes):
    data = bytearray(data)
    for where, what, piece in changes:
        at = int(where * len(data))
        if what == "set":
            data[at : at + len(piece)] = piece
        elif what == "cut":
            del data[at : at + len(piece)]
        elif what == "insert":
            data[at:at] = piece
        else:
            del data[at:]
    return bytes(data)


@bounded
@given(st.binary(max_size=300))
def test_random_bytes(part, data):
    survives(data)
    survives(b"\x89LBG\r\n\x1a\n\x01\0\0\0" + data)


@bounded
@given(kinds, edits)
def test_mutated_files(part, kind, changes):
    survives(edited(file_of(kind)[0], changes), kind)


@bounded
@given(kinds, edits)
def test_mutated_files_with_a_right_checksum(part, kind, changes):
    survives(sealed(edited(file_of(kind)[0], changes)), kind)


numbers = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0, -1, 10**400])
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=6,
)


def places(value, path=()):
    """Every place in nested lists and dictionaries."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def forged(header, arrays):
    stream = io.BytesIO()
    write_container(stream, header, arrays)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("fact", "value"), [("spread", 1.4e154), ("spread", 0.0), ("spread", 5.0), ("centre", 0.9), ("beta", 1.1)]
)
def test_facts_that_no_ratings_have(fact, value, tmp_path):
    """Found by fuzzing: the square of such a spread is no number any more."""
    header, arrays = file_of("plsa")[1]
    path = tmp_path / "forged.lbg"
    path.write_bytes(forged(replaced(header, ("facts", fact), value), arrays))
    with pytest.raises(ModelFileError, match=re.escape(f"{value:g}")):
        lbg_recsys.load(path)


@pytest.mark.parametrize(
    ("kind", "place", "value", "said"),
    [
        ("bayesian", ("parameters", "n_components"), "", "n_components is '', which is not a size"),
        ("bayesian", ("facts", "seed"), -1, "the seed is -1, and it must be at least 0"),
        ("baseline", ("facts", "n_rows"), 10**400, "n_rows is .*not"),
        ("mixture", ("facts", "length_temper_"), -1592.0, "length_temper_ is -1592, and it must be above 0"),
    ],
    ids=["size", "seed", "rows", "temper"],
)
def test_numbers_that_are_none(tmp_path, kind, place, value, said):
    """Found by fuzzing."""
    header, arrays = file_of(kind)[1]
    path = tmp_path / "forged.lbg"
    path.write_bytes(forged(replaced(header, place, value), arrays))
    with pytest.raises(ModelFileError, match=said):
        lbg_recsys.load(path)


def test_chains_of_users_that_are_left_out(tmp_path):
    """Found by fuzzing: there are no ratings that chains could be of."""
    header, arrays = file_of("bayesian-without-users")[1]
    path = tmp_path / "forged.lbg"
    path.write_bytes(forged(replaced(header, ("facts", "chains"), []), arrays))
    with pytest.raises(ModelFileError, match="there are chains, but not the ratings that they were fitted to"):
        lbg_recsys.load(path)


@bounded
@given(kinds, st.data())
def test_another_value_in_the_header(part, kind, data):
    header, arrays = file_of(kind)[1]
    path = data.draw(st.sampled_from([path for path in places(header) if path]))
    survives(forged(replaced(header, path, data.draw(values)), arrays), kind)


@pytest.mark.parametrize("side", ["row", "col"])
@pytest.mark.parametrize("weight", [1e8, 1e12, 1e20])
def test_chains_with_hardly_any_noise_go_on(side, weight):
    """Found by fuzzing: such a weight multiplies the rounding of what factors are drawn from."""
    header, arrays = file_of("chains")[1]
    for chain in range(4):
        name = f"chain{chain}_{side}_weight"
        one = arrays[name].copy()
        one[0] = weight
        survives(forged(header, {**arrays, name: one}), "chains")


def test_priors_that_say_nothing():
    """Precisions of next to nothing: what explains a prediction had a singular matrix."""
    header, arrays = file_of("bayesian")[1]
    survives(forged(header, {**arrays, "items_tau": np.full_like(arrays["items_tau"], 1e-29)}))


@bounded
@given(kinds, st.data())
def test_another_number_or_shape_in_an_array(part, kind, data):
    header, arrays = file_of(kind)[1]
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    if array.size and data.draw(st.booleans()):
        flat = array.reshape(-1).view(np.uint8)
        for place in data.draw(st.lists(st.integers(0, len(flat) - 1), min_size=1, max_size=8)):
            flat[place] = data.draw(st.integers(0, 255))
    else:
        shape = data.draw(st.lists(st.integers(0, 3), max_size=3))
        array = np.resize(array, shape).astype(data.draw(st.sampled_from([array.dtype, "f4", "i1", "i8"])))
    survives(forged(header, {**arrays, name: array}), kind)


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_what_was_not_changed_loads(kind):
    data, (header, arrays) = file_of(kind)
    assert forged(header, arrays) == data == sealed(data)
    with tempfile.NamedTemporaryFile(suffix=".lbg") as stream:
        stream.write(data)
        stream.flush()
        assert type(lbg_recsys.load(stream.name)) is type(MODELS[kind])


def test_a_checkpoint_that_was_not_changed_is_continued(tmp_path):
    data, (header, arrays) = file_of("checkpoint")
    assert forged(header, arrays) == data == sealed(data) and header["number"] == 1 and header["best"]
    path = tmp_path / "checkpoint"
    path.write_bytes(data)
    again = LBGModel(**RESUMED.get_params())
    again.fit(RATINGS, scale=(1, 5), checkpoint=FitCheckpoint(path, resume=True))
    assert again.history_ == RESUMED.history_ and (again.parameters_.c == RESUMED.parameters_.c).all()
