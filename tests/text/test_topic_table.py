"""The table of topics: sizes, telling words, representative documents, and how it is shown."""

import numpy as np
import pytest
import scipy.sparse as sp

from lbg_recsys.text import PLSI, LBGMixture, MixtureOfUnigrams


@pytest.fixture(scope="module")
def corpus():
    """Two topics with four words of their own; word 8 is in every document; two thirds are of the first topic."""
    rng = np.random.default_rng(0)
    topics = (np.arange(90) % 3 == 0).astype(int)
    rates = np.full((2, 9), 0.2)
    rates[0, :4], rates[1, 4:8], rates[:, 8] = 3.0, 3.0, 9.0
    return sp.csr_array(1.0 * rng.poisson(rates[topics])), topics


@pytest.mark.parametrize("model", [LBGMixture(2), MixtureOfUnigrams(2), PLSI(2)], ids=lambda m: type(m).__name__)
def test_the_frequent_word_does_not_lead_and_the_topics_are_those_planted(corpus, model):
    X, topics = corpus
    model.set_params(random_state=0).fit(X)
    assert all(row[0] == "x8" for row in model.top_keywords(n=1, by="probability"))
    table = model.topics(X=X, n_words=4)
    assert [set(topic.words) for topic in table] == [{"x0", "x1", "x2", "x3"}, {"x4", "x5", "x6", "x7"}]
    assert [topic.n_documents for topic in table] == [60, 30]
    assert table[0].weight > table[1].weight
    for place, topic in enumerate(table):
        assert len(topic.examples) == 3 and (topics[list(topic.examples)] == place).all()
    with pytest.raises(ValueError, match="by is 'length': choose one of 'telling', 'probability'"):
        model.top_keywords(by="length")


def test_examples_are_the_most_probable_documents_by_name(corpus):
    X, _ = corpus
    model = LBGMixture(2, random_state=0).fit(X)
    names = [f"text {row}" for row in range(90)]
    topic = model.topics(X=X, names=names, n_documents=5)[0]
    posterior = model.predict_proba(X)[:, topic.topic]
    rows = [int(name.removeprefix("text ")) for name in topic.examples]
    np.testing.assert_array_equal(posterior[rows], np.sort(posterior)[::-1][:5])
    with pytest.raises(ValueError, match="names has 2 names, X has 90 documents"):
        model.topics(X=X, names=["a", "b"])


def test_texts_as_names_are_cut_to_a_line(corpus):
    """The table has one line per topic, whatever the names; the examples themselves stay whole."""
    X, _ = corpus
    names = [f"Subject: {row}\n\n{'a long text ' * 20}" for row in range(90)]
    table = LBGMixture(2, random_state=0).fit(X).topics(X=X, names=names, n_documents=2)
    lines = repr(table).splitlines()
    assert len(lines) == 3 and max(map(len, lines)) < 160 and "Subject: " in lines[1] and "…" in lines[1]
    assert table[0].examples[0] in names and "\n" not in table._repr_html_()


@pytest.mark.parametrize("options", [{"n_words": -1}, {"n_documents": -1}])
def test_fewer_words_or_documents_than_none_are_refused(options, corpus):
    model = LBGMixture(3, random_state=0).fit(corpus[0])
    with pytest.raises(ValueError, match="is -1: give an integer of at least 0"):
        model.topics(X=corpus[0], **options)


def test_shown_in_a_terminal_a_notebook_and_a_data_frame(corpus):
    X, _ = corpus
    model = LBGMixture(2, random_state=0).fit(X)
    table = model.topics([f"<{i}>" for i in range(9)], X, n_words=2)
    lines = repr(table).splitlines()
    assert lines[0].split() == ["topic", "weight", "n_documents", "words", "examples"] and len(lines) == 3
    html = table._repr_html_()
    assert html.count("<tr>") == 3 and "&lt;" in html and "<0>" not in html
    frame = table.to_frame()
    assert list(frame.columns) == ["weight", "n_documents", "words", "examples"]
    assert frame["n_documents"].sum() == 90 and frame.index.tolist() == [topic.topic for topic in table]
    plain = model.topics()
    assert "examples" not in repr(plain) and sum(topic.n_documents for topic in plain) == 90
    assert len(table[:1]) == 1 and table[:1][0] == table[0]
