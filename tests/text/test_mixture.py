"""LBGMixture beyond the equations: recovery, batches, restarts, pictures of words, and bad input."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from lbg_recsys.core.em.bernoulli_gauss import gather
from lbg_recsys.text import LBGMixture, LBGSelector
from lbg_recsys.text._documents import ranked_documents


def planted(m=400, n=60, k=4, own=8, seed=0):
    """Counts of k topics with ``own`` words of their own each, the rest shared; and the topics."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, k, m)
    rates = np.full((k, n), 0.3)
    for s in range(k):
        rates[s, s * own : (s + 1) * own] = 4.0
    return sp.csr_array(rng.poisson(rates[topics]).astype(float)), topics


@pytest.fixture(scope="module")
def corpus():
    return planted()


@pytest.fixture(scope="module")
def model(corpus):
    return LBGMixture(4, n_keywords=8, random_state=0).fit(corpus[0])


def test_planted_topics_and_keywords_are_found(corpus, model):
    _, topics = corpus
    assert adjusted_rand_score(topics, model.labels_) > 0.97
    assert model.converged_ and model.n_iter_ >= 2 and np.isfinite(model.lower_bound_)
    for s in range(4):
        mine = np.bincount(model.labels_[topics == s]).argmax()
        assert set(np.argsort(-model.keyword_prob_[mine])[:8]) == set(range(8 * s, 8 * s + 8))


def test_a_sample_has_the_topics_and_keywords_of_the_model_that_wrote_it(model):
    X, topics = model.sample(500, n_words=60)
    assert X.shape == (500, 60) and (X.sum(axis=1) == 60).all() and len(set(topics)) == 4
    again = LBGMixture(4, n_keywords=8, random_state=1, n_init=3).fit(X)
    assert adjusted_rand_score(topics, again.labels_) > 0.95
    for s in range(4):
        mine = np.bincount(again.labels_[topics == s]).argmax()
        wanted = set(np.argsort(-model.keyword_prob_[s])[:8])
        assert len(set(np.argsort(-again.keyword_prob_[mine])[:8]) & wanted) >= 7


def test_sample_refuses_no_documents(model):
    with pytest.raises(ValueError, match="n_samples is 0"):
        model.sample(0)


def test_a_sample_that_no_memory_holds_is_refused_before_it_is_drawn(model):
    with pytest.raises(ValueError, match="10000000000 documents of 100 words are too many at once"):
        model.sample(10**10)


def test_a_long_sample_tells_how_far_it_is(model):
    told = []
    X, topics = model.sample(10_050, n_words=3, progress=lambda done, total, note: told.append((done, total)))
    assert told == [(10_000, 10_050), (10_050, 10_050)]
    assert X.shape == (10_050, 60) and (X.sum(axis=1) == 3).all() and X.indices.dtype == np.int32
    np.testing.assert_array_equal(np.unique(topics), np.arange(4))


def test_fitted_attributes_have_their_shapes_and_ranges(corpus, model):
    k, n = 4, 60
    for table in (model.keyword_prob_, model.means_, model.variances_):
        assert table.shape == (k, n)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert ((model.keyword_prob_ > 0) & (model.keyword_prob_ < 1)).all() and (model.variances_ > 0).all()
    assert model.cross_means_.shape == model.cross_variances_.shape == (n,)
    np.testing.assert_array_equal(model.n_keywords_, [8] * 4)
    np.testing.assert_array_equal(model.labels_, model.predict(corpus[0]))


def test_keywords_are_at_most_so_many_largest_words(corpus, model):
    X = corpus[0][:20]
    x = model.keywords(X)
    assert x.dtype == bool and x.shape == X.shape
    dense = X.toarray()
    for values, chosen in zip(dense, x.toarray(), strict=True):
        assert chosen.sum() == min(8, np.count_nonzero(values))
        assert values[chosen].min() >= values[~chosen].max()


def test_top_keywords_by_given_and_by_seen_names(corpus, model):
    names = [f"word{i}" for i in range(60)]
    words = model.top_keywords(names, 8)
    assert len(words) == 4 and all(len(row) == 8 for row in words)
    assert {word for row in words for word in row} == set(names[:32])
    assert model.top_keywords(n=1)[0][0].startswith("x")
    with pytest.raises(ValueError, match="feature_names has 3 names"):
        model.top_keywords(names[:3])


def test_batches_come_close_to_one_fit(corpus):
    X, topics = corpus
    model = LBGMixture(4, n_keywords=8, random_state=0)
    for first in range(0, 400, 100):
        model.partial_fit(X[first : first + 100])
    assert model._statistics.n_rows == 400 and model._totals.n_rows == 400
    assert adjusted_rand_score(topics, model.predict(X)) > 0.95
    whole = LBGMixture(4, n_keywords=8, random_state=0).fit(X)
    assert model.score(X) == pytest.approx(whole.score(X), rel=0.05)
    np.testing.assert_allclose(model.cross_means_, whole.cross_means_, atol=1e-3)


def test_first_batch_is_a_fit_and_an_empty_batch_changes_nothing(corpus):
    X = corpus[0]
    model = LBGMixture(4, random_state=0).partial_fit(X)
    np.testing.assert_array_equal(model.keyword_prob_, LBGMixture(4, random_state=0).fit(X).keyword_prob_)
    before = model.keyword_prob_.copy()
    model.partial_fit(sp.csr_array((2, 60)))
    np.testing.assert_array_equal(model.keyword_prob_, before)
    with pytest.raises(ValueError, match="60 features"):
        model.partial_fit(X[:, :10])


def test_paper_rule_goes_on_in_batches(corpus):
    X = corpus[0]
    model = LBGMixture(4, n_keywords="paper", random_state=0).partial_fit(X[:200]).partial_fit(X[200:])
    assert (model.n_keywords_ >= 1).all() and (model.n_keywords_ <= 60).all()


def test_same_seed_same_bits_and_first_restarts_do_not_depend_on_how_many_follow(corpus):
    X = corpus[0]
    a, b = (LBGMixture(4, random_state=3, n_init=2).fit(X) for _ in range(2))
    np.testing.assert_array_equal(a.means_, b.means_)
    bounds = [LBGMixture(4, random_state=3, n_init=n, init="random").fit(X).lower_bound_ for n in (1, 2, 4)]
    assert bounds[0] <= bounds[1] <= bounds[2]


def test_consensus_of_restarts_beats_their_average():
    X, topics = planted(m=300, n=200, k=8, own=5, seed=5)
    X = TfidfTransformer(sublinear_tf=True).fit_transform(X)
    alone = [
        adjusted_rand_score(topics, LBGMixture(8, n_keywords=10, random_state=s).fit(X).labels_) for s in range(8)
    ]
    joint = LBGMixture(8, n_keywords=10, random_state=0, n_init=8, combine="consensus").fit(X)
    assert adjusted_rand_score(topics, joint.labels_) > np.mean(alone) + 0.02


@pytest.mark.parametrize(
    "change",
    [
        {"n_keywords": 3},
        {"n_keywords": None},
        {"n_keywords": "paper"},
        {"length_temper": None},
        {"length_temper": 2.0},
        {"evidence": "bernoulli"},
        {"prior_p": 50.0},
        {"prior_gauss": 1.0},
        {"prior_gauss": np.inf},
        {"init": "random"},
        {"anneal": 5},
        {"max_iter": 1},
        {"random_state": 1, "init": "random"},
        {"n_init": 4, "init": "random"},
        {"n_init": 4, "init": "random", "combine": "consensus"},
        {"tol": 0.5},
        {"prior_gauss": 0.0, "var_floor": 0.1},
    ],
    ids=str,
)
def test_every_parameter_has_an_effect(change):
    X, _ = planted(m=60, n=30, k=3, own=3, seed=1)
    base = {"n_keywords": 8, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, other = LBGMixture(3, **base).fit(X), LBGMixture(3, **{**base, **change}).fit(X)
    assert not np.array_equal(one.means_, other.means_) or not np.array_equal(one.keyword_prob_, other.keyword_prob_)
    assert np.isfinite(other.score_samples(X)).all()


def test_an_infinite_prior_leaves_the_topics_one_gaussian_a_word(corpus):
    model = LBGMixture(4, n_keywords=8, prior_gauss=np.inf, random_state=0).fit(corpus[0])
    np.testing.assert_allclose(model.means_, np.tile(model.means_[0], (4, 1)), rtol=1e-6)


def test_bic_prefers_the_planted_number_of_topics():
    X, _ = planted(m=400, n=16, k=2, own=5, seed=2)
    bic = {k: LBGMixture(k, n_keywords=5, length_temper=None, random_state=0).fit(X).bic(X) for k in (1, 2, 6)}
    assert bic[2] == min(bic.values())
    model = LBGMixture(2, random_state=0).fit(X)
    n_parameters = 1 + 3 * 2 * 16 + 2 * 16
    assert model.bic(X) - model.aic(X) == pytest.approx(n_parameters * (np.log(400) - 2))


def test_an_empty_document_gets_the_weights_and_warns_nobody(corpus):
    X = sp.vstack([corpus[0], sp.csr_array((3, 60))], format="csr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LBGMixture(4, n_keywords=8, random_state=0).fit(X)
        np.testing.assert_allclose(model.predict_proba(X)[-3:], np.tile(model.weights_, (3, 1)))
        assert np.isfinite(model.score_samples(X)).all()
    alone = LBGMixture(4, n_keywords=8, random_state=0).fit(corpus[0])
    np.testing.assert_array_equal(model.means_, alone.means_)  # no evidence, no influence


def test_a_vocabulary_of_one_word():
    X = np.array([[1.0], [2.0], [0.5], [4.0]])
    model = LBGMixture(2, random_state=0).fit(X)
    assert np.isfinite(model.predict_proba(X)).all() and np.isfinite(model.score(X))


@pytest.mark.parametrize("n_init", [1, 3])
def test_as_many_topics_as_documents(n_init):
    X = np.eye(3) + 0.1
    model = LBGMixture(3, random_state=0, n_init=n_init, combine="consensus").fit(X)
    assert model.labels_.shape == (3,)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, -2.0], [3.0, 4.0]], "Negative values"),
        ([[1.0, np.nan], [3.0, 4.0]], "NaN"),
        ([[1.0, np.inf], [3.0, 4.0]], "infinity"),
        ([[1.0, 2.0]], "n_samples=1 should be >= n_components=2"),
        ([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]], "only 1 of n_samples=3 documents have any words"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        ([1.0, 2.0], "Expected 2D array"),
    ],
)
def test_bad_input_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        LBGMixture(2).fit(X)


@pytest.mark.parametrize(
    "bad",
    [
        {"n_components": 0},
        {"n_keywords": 0},
        {"n_keywords": "papper"},
        {"length_temper": 0.0},
        {"prior_p": -1.0},
        {"prior_gauss": "auto"},
        {"init": "kmean"},
        {"combine": "vote"},
        {"anneal": 0},
        {"var_floor": 0.0},
        {"max_iter": 0},
    ],
    ids=str,
)
def test_bad_parameters_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        LBGMixture().set_params(**bad).fit(np.ones((9, 3)))


def test_the_input_is_left_as_it_was():
    X = sp.csr_array((np.array([1.0, 0.0, 2.0, 3.0]), np.array([1, 0, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    before = (X.data.copy(), X.indices.copy(), X.indptr.copy())
    LBGMixture(1).fit(X)  # stored zeros, duplicates and unsorted indices on purpose
    for old, new in zip(before, (X.data, X.indices, X.indptr), strict=True):
        np.testing.assert_array_equal(old, new)


def test_memory_never_grows_to_documents_times_words():
    """2,000 documents of 100,000 words would be 1.6 GB dense; the tables of two topics are 1.6 MB each."""
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random(60_000), (rng.integers(0, 2_000, 60_000), rng.integers(0, 100_000, 60_000))))
    tracemalloc.start()
    try:
        model = LBGMixture(2, max_iter=5, tol=10.0, random_state=0).fit(X)
        model.predict(X), model.score_samples(X), model.keywords(X), model.sample(3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6


def test_no_settling_is_said():
    X, _ = planted(m=100, seed=3)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        LBGMixture(4, max_iter=1).fit(X)


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline, LBGSelector])
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_warnings_name_the_line_of_the_user(wrap, method):
    X = np.kron(np.eye(2), np.ones((20, 6))) + 0.01
    model = wrap(LBGMixture(2, prior_p=1e6, random_state=0))
    with pytest.warns(UserWarning, match="2 of 2 topics are hardly") as told:
        getattr(model, method)(X)
    assert told[0].filename == __file__


@pytest.mark.parametrize("n_keywords", [8, "paper"])
def test_verbose_shows_how_a_fit_goes_on(corpus, n_keywords, capsys):
    """The paper's q restarts EM after every change of the keywords; the iterations count on."""
    options = {
        "n_keywords": n_keywords,
        "length_temper": 5.0,
        "tol": 0.0,
        "max_iter": 23,
        "init": "random",
        "random_state": 0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LBGMixture(4, **options).fit(corpus[0])
        assert capsys.readouterr() == ("", "")
        fitted = LBGMixture(4, **options, verbose=1).fit(corpus[0])
    output, error = capsys.readouterr()
    lines = error.splitlines()
    assert output == "" and len(lines) <= 10 and all(line.startswith("fitting LBGMixture ") for line in lines)
    assert f", {fitted.n_iter_} iterations, 0 s left" in lines[-1] or (
        f"log-likelihood {fitted.history_[-1]:.4f}" in lines[-1]
    )
    assert len(fitted.history_) == fitted.n_iter_ > 10


def test_single_precision_is_stored_and_computed_with_in_double_precision():
    X = sp.csr_array(np.random.default_rng(0).integers(0, 5, (40, 12)).astype(np.float32))
    single, double = ranked_documents(X), ranked_documents(X.astype(np.float64))
    assert single.values.dtype == np.float32 and single.values.nbytes * 2 == double.values.nbytes
    mu = np.random.default_rng(1).dirichlet(np.ones(3), size=40)
    sums, expected = gather(single, mu), gather(double, mu)
    for name in ("count", "first", "second"):
        np.testing.assert_array_equal(getattr(sums, name), getattr(expected, name))


def test_topics_that_died_out_are_told():
    """Two subjects under a prior of a million documents: both topics are the average."""
    X = np.kron(np.eye(2), np.ones((20, 6))) + 0.01
    with pytest.warns(UserWarning, match=r"2 of 2 topics are hardly more than the average of all; lower prior_p"):
        LBGMixture(2, prior_p=1e6, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LBGMixture(2, n_keywords=6, random_state=0).fit(X)


def test_where_topics_die_out_the_fit_is_done_again_with_a_cooler_temper():
    """Words of two subjects that have small values in long documents: the 60 largest tell nothing, all words do."""
    rng, topics = np.random.default_rng(0), np.arange(300) % 2
    rate = np.full((2, 600), 0.2)
    rate[0, :40] = rate[1, 40:80] = 0.9
    value = np.where(np.arange(600) < 80, 0.1, 1.0) * rng.uniform(0.5, 1.0, (300, 600))
    X = sp.csr_array((rng.random((300, 600)) < rate[topics]) * value)
    with pytest.warns(UserWarning, match="hardly more than the average"):
        short = LBGMixture(2, n_keywords=60, length_temper=5.0, random_state=0).fit(X)
    steps = []
    model = LBGMixture(2, random_state=0).fit(X, progress=lambda *step: steps.append(step))
    assert adjusted_rand_score(topics, model.labels_) > 0.9 > 0.1 > adjusted_rand_score(topics, short.labels_)
    assert (short.length_temper_, short.n_keywords_[0]) == (5.0, 60)
    assert (model.length_temper_, model.n_keywords_[0]) == (20.0, 600)
    done = [step[0] for step in steps]
    assert done == sorted(done) and {step[1] for step in steps} == {steps[0][1]}
    assert any("again with length_temper=10" in step[2] for step in steps)
    same = LBGMixture(2, n_keywords=None, length_temper=model.length_temper_, random_state=0).fit(X)
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(model.fit(X).predict_proba(X), same.predict_proba(X))  # also when fitted again


def test_where_no_topic_dies_out_one_fit_suffices(corpus):
    model = LBGMixture(4, n_keywords=8, random_state=0).fit(corpus[0])
    given = LBGMixture(4, n_keywords=8, length_temper=5.0, random_state=0).fit(corpus[0])
    assert model.length_temper_ == 5.0
    np.testing.assert_array_equal(model.keyword_prob_, given.keyword_prob_)
