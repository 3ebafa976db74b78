"""Text estimators report every step of a fit, forward only, up to the last; the result stays the same."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline

from lbg_recsys.text import PLSI, LBGClassifier, LBGMixture, LBGSelector, MixtureOfUnigrams
from tests.text.test_mixture import planted

MODELS = {
    "one start": LBGMixture(4, length_temper=5.0, random_state=0),
    "consensus": LBGMixture(4, n_init=3, combine="consensus", random_state=0),
    "annealing": LBGMixture(4, length_temper=5.0, anneal=5, init="random", random_state=0),
    "the paper's q": LBGMixture(3, n_keywords="paper", length_temper=None, init="random", n_init=2, random_state=0),
    "out of iterations": LBGMixture(4, length_temper=5.0, init="random", max_iter=2, tol=0, random_state=0),
    "unigrams": MixtureOfUnigrams(4, n_init=2, random_state=0),
    "PLSI": PLSI(4, n_init=2, random_state=0),
    "selector": LBGSelector(LBGMixture(4, n_init=2, random_state=0)),
    "classifier": LBGClassifier(n_topics=2, random_state=0),
    "classifier, the paper's rule": LBGClassifier(n_topics=2, rule="likelihood", random_state=0),
    "classifier of unigrams": LBGClassifier(MixtureOfUnigrams(), n_topics=2, random_state=0),
    "topics tried": LBGClassifier(n_topics=[1, 2], random_state=0),
    "threshold": LBGClassifier(n_topics=[1, 3], max_false_positive_rate=0.1, cv=3, random_state=0),
}
# how many mixtures each of the classifiers fits: classes x (numbers of topics and the one chosen) x (folds and all)
FITS = {
    "classifier": 2,
    "classifier, the paper's rule": 2,
    "classifier of unigrams": 2,
    "topics tried": 2 * 3,
    "threshold": 2 * 3 * 4,
}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def corpus():
    documents, topics = planted(m=120)
    return documents, topics % 2


def steps_of(model, corpus):
    steps = []
    model.fit(*corpus, progress=lambda *step: steps.append(step))
    return steps


@pytest.mark.parametrize("name", MODELS)
def test_steps_go_forward_to_the_last_and_change_no_bit(name, corpus):
    model, silent = clone(MODELS[name]), clone(MODELS[name])
    steps = steps_of(model, corpus)
    done, total = [step[0] for step in steps], {step[1] for step in steps}
    assert len(total) == 1  # one measure throughout, so that time left means something
    assert done == sorted(done) and done[0] == 0 and done[-1] == total.pop()
    silent.fit(*corpus)
    method = "decision_function" if is_classifier(model) else "transform"
    a, b = (getattr(one, method)(corpus[0]) for one in (model, silent))
    np.testing.assert_array_equal(*(one.toarray() if hasattr(one, "toarray") else one for one in (a, b)))


@pytest.mark.parametrize("name", ["one start", "annealing", "out of iterations"])
def test_every_iteration_is_reported(name, corpus):
    model = clone(MODELS[name])
    notes = [note for _, _, note in steps_of(model, corpus)]
    assert sum(note.startswith("log-likelihood") for note in notes) == model.n_iter_ >= 2
    assert notes.count("annealing") == (model.anneal or 0)
    assert ("k-means" in notes) == (model.init == "kmeans")
    assert notes[-1] == f"{model.n_iter_} iterations"


@pytest.mark.parametrize("name", FITS)
def test_every_fit_within_a_classifier_is_reported(name, corpus):
    steps = steps_of(clone(MODELS[name]), corpus)
    ends = [done for done, _, note in steps if note.endswith(" iterations")]
    assert len(ends) == FITS[name]
    weighted = MODELS[name].rule == "auto" and MODELS[name].estimator is None
    assert any(note == "correction" for _, _, note in steps) == weighted
    if not weighted:
        np.testing.assert_allclose(ends, np.arange(1, FITS[name] + 1) / FITS[name] * steps[-1][1])


def test_progress_reaches_a_model_in_a_pipeline_and_through_metadata_routing(corpus):
    steps = []

    def progress(*step):
        steps.append(step)

    make_pipeline(LBGMixture(2, random_state=0)).fit(corpus[0], lbgmixture__progress=progress)
    before = len(steps)
    assert before > 2
    with sklearn.config_context(enable_metadata_routing=True):
        asking = LBGMixture(2, random_state=0).set_fit_request(progress=True)
        make_pipeline(asking).fit(corpus[0], progress=progress)
    assert steps[before:] == steps[:before]


@pytest.mark.parametrize("model", [LBGMixture(2, random_state=0), LBGClassifier(random_state=0)])
def test_batches_are_reported(model, corpus):
    first, later = [], []
    given = {"classes": [0, 1]} if is_classifier(model) else {}
    model = clone(model).partial_fit(*corpus, **given, progress=lambda *step: first.append(step))
    model.partial_fit(*corpus, progress=lambda *step: later.append(step))
    assert len(first) > 2 and first[-1][0] == first[-1][1]
    assert later == [(1, 1, "120 documents")]
