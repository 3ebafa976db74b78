"""MixtureOfUnigrams and PLSI against their formulas; pictures."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score
from sklearn.naive_bayes import MultinomialNB

from lbg_recsys.core.em.plsi import em_pass
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.errors import MissingExtraError
from lbg_recsys.text import (
    PLSI,
    LBGClassifier,
    LBGMixture,
    MixtureOfUnigrams,
    plot_keywords,
    plot_topics,
)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    topics = rng.integers(0, 3, 150)
    rates = np.full((3, 24), 0.3)
    for s in range(3):
        rates[s, 8 * s : 8 * s + 8] = 3.0
    return rng.poisson(rates[topics]).astype(float), topics


@pytest.mark.parametrize(
    "model", [MixtureOfUnigrams(3, random_state=0), PLSI(3, n_init=3, max_iter=300, random_state=0)]
)
def test_planted_topics_are_found(model, corpus):
    X, topics = corpus
    assert adjusted_rand_score(topics, model.fit(X).labels_) > 0.97
    np.testing.assert_allclose(model.word_prob_.sum(axis=1), 1.0)
    assert {i // 8 for i in np.argsort(-model.word_prob_, axis=1)[:, :5].ravel()} == {0, 1, 2}


def test_unigrams_equal_their_formula(corpus):
    X, _ = corpus
    model = MixtureOfUnigrams(3, random_state=0, prior=2.0).fit(X)
    joint = np.log(model.weights_) + X @ np.log(model.word_prob_).T
    np.testing.assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), np.exp(joint - logsumexp(joint, axis=1)[:, None]), atol=1e-9)
    tempered = MixtureOfUnigrams(3, random_state=0, length_temper=4.0).fit(X)
    power = np.minimum(1, 4.0 / X.sum(axis=1, keepdims=True))
    joint = power * (np.log(tempered.weights_) + X @ np.log(tempered.word_prob_).T)
    expected = np.exp(joint - logsumexp(joint, axis=1)[:, None])
    np.testing.assert_allclose(tempered.predict_proba(X), expected, atol=1e-9)


def test_one_unigram_model_a_class_is_naive_bayes(corpus):
    X, topics = corpus
    ours = LBGClassifier(MixtureOfUnigrams(prior=0.0), n_topics=1).fit(X, topics)
    theirs = MultinomialNB(alpha=1e-9).fit(X, topics)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-6, atol=1e-9)


def test_plsi_pass_equals_its_formula(corpus):
    X = corpus[0][:12]
    rng = np.random.default_rng(1)
    theta, phi = rng.dirichlet(np.ones(3), 12), rng.dirichlet(np.ones(24), 3).T
    csr = sp.csr_array(X)
    rows = SparseRows.from_csr(csr.indptr, csr.indices, csr.data, 24)
    for beta in (1.0, 0.6):
        joint = (theta[:, None, :] * phi[None, :, :]) ** beta
        share = X[:, :, None] * joint / joint.sum(axis=2, keepdims=True)
        new_theta, new_phi, evidence = em_pass(rows, theta, phi, beta)
        np.testing.assert_allclose(new_theta, share.sum(axis=1) / X.sum(axis=1, keepdims=True), atol=1e-12)
        np.testing.assert_allclose(new_phi, share.sum(axis=0) / share.sum(axis=(0, 1)), atol=1e-12)
        assert evidence == pytest.approx((X * np.log(theta @ phi.T)).sum())


def test_plsi_likelihood_never_falls_and_an_empty_document_stays_at_the_weights(corpus):
    X = corpus[0]
    csr = sp.csr_array(X)
    rows = SparseRows.from_csr(csr.indptr, csr.indices, csr.data, 24)
    rng = np.random.default_rng(2)
    theta, phi = rng.dirichlet(np.ones(3), len(X)), rng.dirichlet(np.ones(24), 3).T
    history = []
    for _ in range(30):
        theta, phi, evidence = em_pass(rows, theta, phi)
        history.append(evidence)
    assert np.diff(history).min() > -1e-9
    model = PLSI(3, max_iter=300, random_state=0).fit(X)
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 24)))[0], model.weights_)
    assert model.score_samples(np.zeros((1, 24)))[0] == 0.0


def test_pictures_show_topics_and_keywords(corpus):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X = corpus[0]
    names = [f"w{i}" for i in range(24)]
    model = LBGMixture(3, n_keywords=5, random_state=0).fit(X)
    figure = plot_topics(model, names, n_words=4, n_columns=2)
    shown = [panel for panel in figure.axes if panel.get_visible()]
    assert len(shown) == 3
    assert [tick.get_text() for tick in shown[0].get_yticklabels()] == model.top_keywords(names, 4)[0]
    longest = [[bar.get_width() for bar in panel.patches] for panel in shown]
    order = model._leading_words(4)
    np.testing.assert_allclose(longest, np.take_along_axis(model.keyword_prob_, order, axis=1))
    assert len({panel.get_xlim() for panel in shown}) == 1  # bars of different topics compare
    numbered = [panel.xaxis.get_tick_params()["labelbottom"] for panel in shown]
    assert numbered == [False, True, True]  # the second has an empty place below it
    assert figure.get_supxlabel() == "keyword probability" and figure.get_supylabel() == "word"
    some = plot_topics(model, names, max_topics=2)
    large = np.sort(np.argsort(-model.weights_)[:2])
    assert [panel.get_title().split(" (")[0] for panel in some.axes] == [f"topic {s}" for s in large]
    assert some.get_suptitle() == "The 2 largest of 3 topics" and not figure.get_suptitle()
    axes = plot_keywords(model, X[[0]], names)
    assert len(axes.get_yticklabels()) == np.count_nonzero(X[0])
    blue = [bar for bar in axes.patches if bar.get_facecolor()[2] > 0.6 and bar.get_facecolor()[0] < 0.3]
    assert len(blue) == 5
    short = plot_keywords(model, X[[0]], names, n_words=3)
    assert len(short.get_yticklabels()) == 3  # of a long document
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["keyword", "other word"]
    assert [text.get_text() for text in short.get_legend().get_texts()] == ["keyword"]  # all three are
    assert plot_keywords(model, 0 * X[[0]], names).get_legend() is None
    with pytest.raises(ValueError, match="2 rows"):
        plot_keywords(model, X[:2])
    matplotlib.pyplot.close("all")


def test_words_of_any_kind_are_drawn(corpus, tmp_path):
    """Neither a dollar sign without a formula nor a word as long as the picture stops the drawing."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X = corpus[0]
    words = [rf"$x^{{{i}$" if i % 2 else f"http://{'long' * 30}" for i in range(X.shape[1])]
    model = LBGMixture(3, random_state=0).fit(X)
    figure, axes = plot_topics(model, words), plot_keywords(model, X[[0]], words)
    figure.savefig(tmp_path / "topics.png")
    axes.figure.savefig(tmp_path / "keywords.png")
    shown = [label.get_text() for one in (axes, *figure.axes) for label in one.get_yticklabels()]
    assert max(map(len, shown)) <= 26 and any(label.startswith(r"\$x^{") for label in shown)
    assert axes.get_ylabel() == "word"
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        plot_keywords(model, X[[0]], ["a", "b"])
    matplotlib.pyplot.close("all")


def test_without_matplotlib_the_extra_is_named(corpus, monkeypatch):
    model = LBGMixture(3, random_state=0).fit(corpus[0])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"the extra 'plot' of lbg-recsys"):
        plot_topics(model)
