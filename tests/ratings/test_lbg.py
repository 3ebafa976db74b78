"""LBGModel on the shipped sample: fitting, new users, recommendations."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from lbg_recsys.core.em.bernoulli_gauss import e_step, gather
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation.metrics import clustering_accuracy
from lbg_recsys.ratings import LBGModel, as_matrix
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.ratings.questions.similar import item_profiles


@pytest.fixture(scope="module")
def model(sample):
    return LBGModel(n_topics=4, random_state=0, n_init=3).fit(sample.ratings)


@pytest.fixture(scope="module")
def matrix(sample):
    return as_matrix(sample.ratings)


def test_planted_topics_are_found(model, sample):
    """The sample has four planted topics: users of one lie in one posterior, and love the films planted for it."""
    assert model.converged_
    planted = sample.users.loc[list(model.matrix.users), "topic"].to_numpy()
    found = model.posterior().argmax(axis=1)
    assert clustering_accuracy(planted, found) > 0.98
    favourite = model.parameters_.c.argmax(axis=1)
    loved_by = sample.items.loc[list(model.matrix.items), "topic"].to_numpy()
    named = {topic: np.bincount(found[planted == topic]).argmax() for topic in np.unique(planted)}
    assert np.mean([named[topic] == s for topic, s in zip(loved_by, favourite, strict=True)]) > 0.9


def test_not_converged_says_so(matrix):
    with pytest.warns(ConvergenceWarning, match=r"raise max_iter \(fit --param max_iter=\d+\) or tol"):
        model = LBGModel(n_topics=4, max_iter=2, random_state=0).fit(matrix)
    assert not model.converged_
    assert model.n_iter_ == 2
    assert model.lower_bound_ == model.history_[-1]


def test_same_seed_same_bits(matrix):
    first, second, other = (LBGModel(n_topics=3, random_state=seed).fit(matrix) for seed in (1, 1, 2))
    assert first.parameters_.c.tobytes() == second.parameters_.c.tobytes()
    assert first.parameters_.c.tobytes() != other.parameters_.c.tobytes()


def test_restarts_keep_the_best(matrix):
    single = LBGModel(n_topics=4, random_state=0).fit(matrix)
    best = LBGModel(n_topics=4, random_state=0, n_init=5).fit(matrix)
    assert best.lower_bound_ >= single.lower_bound_


@pytest.mark.parametrize("kind", [LBGModel, GaussianPLSAModel])
def test_an_interrupted_fit_leaves_the_old_model_whole(kind, matrix, monkeypatch):
    model = kind(n_topics=2, random_state=0).fit(matrix)
    pairs = [(user, item) for user in list(matrix.users)[:5] for item in list(matrix.items)[:5]]
    before = model.predict_distribution(pairs)

    def interrupt(*_):
        raise KeyboardInterrupt

    home = f"{kind.__module__}_fit"
    monkeypatch.setattr(f"{home}.m_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit((list(matrix.users)[::-1], list(matrix.items)[0:1] * matrix.n_users, [1, 5] * 100))
    np.testing.assert_array_equal(model.predict_distribution(pairs), before)
    assert model.matrix is matrix


@pytest.mark.parametrize("baseline", [False, True])
def test_a_pass_in_pieces_equals_a_pass(matrix, baseline):
    start = LBGModel(n_topics=3, random_state=0, baseline=baseline, indicator_weight=0.5).fit(matrix)
    whole, pieces = start.with_users(matrix), start.with_users(matrix)
    whole.start_pass().partial_fit(matrix)
    pieces.start_pass()
    cuts = [0, 10, 90, 91, matrix.n_users]
    for first, last in itertools.pairwise(cuts):
        piece = matrix.subset(np.arange(first, last))
        pieces.partial_fit(piece, update=last == matrix.n_users)
    np.testing.assert_allclose(pieces.statistics_.count, whole.statistics_.count, atol=1e-9)
    for name in ("lam", "p", "c", "var"):
        np.testing.assert_allclose(getattr(pieces.parameters_, name), getattr(whole.parameters_, name), atol=1e-9)


def test_partial_fit_replaces_the_statistics_of_known_users(matrix):
    """The same ratings again change nothing after a fit; after an update they take out what was put in then."""
    model = LBGModel(n_topics=3, random_state=0).fit(matrix)
    before, own = model.statistics_, matrix.subset(np.arange(20))
    model.partial_fit(own)
    np.testing.assert_allclose(model.statistics_.count, before.count, atol=1e-8)
    assert model.statistics_.n_rows == before.n_rows
    assert model.statistics_.evidence == pytest.approx(e_step(model.rows_of(matrix), model.parameters_).evidence)
    rest, counted = model.statistics_ - gather(own.rows, model.counted_[:20]), model.counted_.copy()
    model.partial_fit((["new"], [next(iter(matrix.items))], [5])).partial_fit(own)
    np.testing.assert_array_equal(model.counted_[20:200], counted[20:])
    now = rest + gather(model.matrix.subset(np.arange(200, 201)).rows, model.counted_[200:])
    now += gather(own.rows, model.counted_[:20])
    for name in ("mass", "count", "first", "second"):
        np.testing.assert_allclose(getattr(model.statistics_, name), getattr(now, name), atol=1e-8)


def test_a_view_of_other_users_takes_them_in_as_new(matrix):
    """Their ratings are not in the statistics yet, so that there is nothing to take out."""
    half = matrix.subset(np.arange(100))
    view = LBGModel(n_topics=3, random_state=0).fit(half).with_users(matrix.subset(np.arange(100, 200)))
    view.partial_fit(view.matrix)
    assert view.statistics_.n_rows == 200
    np.testing.assert_allclose(view.statistics_.count.sum(axis=1), np.bincount(matrix.item_codes), atol=1e-8)


def test_partial_fit_takes_new_users_and_items(matrix, sample):
    model = LBGModel(n_topics=3, random_state=0).fit(matrix)
    known = next(iter(matrix.items))
    new = pd.DataFrame(
        {"user": ["zoe", "zoe", "yan"], "item": [known, "brand new", "brand new"], "rating": [5, 4, 1]}
    )
    model.partial_fit(new)
    assert "zoe" in model.matrix.users
    assert model.statistics_.n_rows == matrix.n_users + 2
    distribution = model.predict_distribution([("zoe", "brand new"), ("yan", known)])
    np.testing.assert_allclose(distribution.sum(axis=1), 1.0)
    code = model.matrix.items.code("brand new")
    assert model.statistics_.count[code].sum() == pytest.approx(2.0)
    with pytest.raises(DataError, match="off the scale"):
        model.partial_fit((["zoe"], [known], [11]))


def test_partial_fit_fits_what_was_never_fitted(matrix):
    assert LBGModel(n_topics=2, random_state=0).partial_fit(matrix).matrix.n_users == matrix.n_users


def test_fold_in_of_a_new_user(model):
    item, other = list(model.matrix.items)[:2]
    user = model.fold_in({item: 5})
    assert user.predict(other) in model.levels
    assert user.predict([item, other]).shape == (2,)
    assert user.distribution(other).sum() == pytest.approx(1.0)
    assert user.interval(other).shape == (2,)
    recommended = user.recommend(5)
    assert len(recommended) == 5
    assert item not in set(recommended["item"])
    assert user.explain(other).item == other
    with pytest.raises(DataError, match="rating 9 for item"):
        model.fold_in({item: 9})
    with pytest.warns(UserWarning, match="of a new user is unknown to the model and left out"):
        model.fold_in({item: 5, "never seen": 3})


@pytest.fixture(scope="module")
def active_and_idle():
    """Two kinds of people: active ones rate most items of the first half, idle ones two items of the second."""
    rng = np.random.default_rng(0)
    active = [(f"a{u}", i) for u in range(60) for i in range(40) if rng.random() < 0.7]
    idle = [(f"i{u}", i) for u in range(60) for i in rng.choice(np.arange(40, 80), 2, replace=False).tolist()]
    users, items = zip(*active, *idle, strict=True)
    return LBGModel(n_topics=2, random_state=0).fit((users, items, rng.integers(1, 6, len(users))))


def test_a_new_user_with_few_ratings_is_not_taken_for_an_idle_one(active_and_idle):
    model = active_and_idle
    codes = model.matrix.users.codes(["a0", "i0"])
    of_active, of_idle = model.posterior()[codes].argmax(axis=1)
    assert of_active != of_idle
    assert model.fold_in({0: 3, 1: 3}).posterior[of_active] > 0.9
    assert model.fold_in({50: 3, 51: 3}).posterior[of_idle] > 0.9
    assert set(model.fold_in({0: 3}).recommend(10)["item"]) < set(range(40))


def test_a_new_user_with_the_usual_number_of_ratings_is_treated_like_a_training_user(active_and_idle):
    model = active_and_idle
    user = model.matrix.users.code("a0")
    own = model.matrix.subset(np.array([user]))
    folded = model.fold_in(dict(zip(model.matrix.items.raws(own.item_codes), own.values.tolist(), strict=True)))
    np.testing.assert_array_equal(folded.posterior, model.posterior()[user])


def test_the_evidence_of_a_new_user_adds_up(active_and_idle):
    found = active_and_idle.fold_in({0: 3, 1: 5}).explain(7)
    parts = found.from_prior + found.from_silence + found.from_being_rated
    parts += sum(one.log_odds for one in found.evidence)
    assert parts == pytest.approx(found.log_odds)


def test_unknown_users_get_the_prior_and_unknown_items_the_users_mean(model):
    prior = model.distribution_of(np.array([-1]), np.array([0]))
    assert prior.topic[0] == model.parameters_.lam.argmax()
    assert prior.topic_posterior[0] == pytest.approx(model.parameters_.lam.max())
    user = next(iter(model.matrix.users))
    distribution = model.predict_distribution([(user, "never seen")])[0]
    topic = model.posterior()[0].argmax()
    p, c = model.parameters_.p[:, topic], model.parameters_.c[:, topic]
    assert distribution @ model.levels == pytest.approx((p * c).sum() / p.sum(), abs=0.25)


def test_recommendations(model, matrix):
    user = next(iter(matrix.users))
    seen = set(matrix.items.raws(matrix.seen(0)))
    for by in ("rating", "rated", "liked"):
        listed = model.recommend(user, 7, by=by)
        assert listed["rank"].tolist() == list(range(1, 8))
        assert (np.diff(listed["score"]) <= 0).all()
        assert not seen & set(listed["item"])
    everything = model.recommend(user, 10**6, exclude_seen=False)
    assert len(everything) == matrix.n_items
    rest = model.recommend(user, 10**6)
    assert len(rest) == matrix.n_items - len(seen)
    with pytest.raises(DataError, match="unknown to the model"):
        model.recommend("nobody")
    with pytest.raises(DataError, match="by is 'best'"):
        model.recommend(user, by="best")
    with pytest.raises(DataError, match="n is 0"):
        model.recommend(user, 0)


def test_scores_mean_what_they_say(model, matrix):
    """liked = probability of being rated x probability of a liked level; rated = posterior-weighted p."""
    user = next(iter(matrix.users))
    liked, rated = (
        model.recommend(user, 10**6, by=by).set_index("item")["score"].sort_index() for by in ("liked", "rated")
    )
    pairs = [(user, item) for item in liked.index]
    tail = model.predict_distribution(pairs)[:, model.levels >= 4].sum(axis=1)
    np.testing.assert_allclose(liked, rated * tail, atol=1e-12)
    expected = model.parameters_.p[model.matrix.items.codes(list(rated.index))] @ model.posterior()[0]
    np.testing.assert_allclose(rated, expected, atol=1e-12)


def test_many_users_come_in_blocks(model, matrix, monkeypatch):
    monkeypatch.setattr(
        "lbg_recsys.ratings.questions.recommend._BLOCK_NUMBERS", 7 * matrix.n_items * model.numbers_per_pair
    )
    users = list(matrix.users)
    blocks = list(model.recommend_blocks(users, 3))
    assert len(blocks) == -(-len(users) // 7)
    together = model.recommend(users, 3)
    assert together["user"].tolist() == [user for user in users for _ in range(3)]
    one = model.recommend(users[50], 3)
    pd.testing.assert_frame_equal(one, together[together["user"] == users[50]].reset_index(drop=True))


@pytest.mark.parametrize("metric", ["hellinger", "kl"])
def test_similar(model, metric):
    item = next(iter(model.matrix.items))
    found = model.similar_items(item, 5, metric=metric)
    assert len(found) == 5
    assert item not in dict(found)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    user = next(iter(model.matrix.users))
    topic = model.posterior()[0].argmax()
    for other, _ in model.similar_users(user, 5, metric=metric):
        assert model.posterior()[model.matrix.users.code(other)].argmax() == topic
    with pytest.raises(DataError, match="metric is 'cosine'"):
        model.similar_items(item, metric="cosine")


@pytest.mark.parametrize("baseline", [False, True])
def test_profiles_of_items_by_hand(baseline):
    """Pr(topic s, level t | rated) ~ lam_s p_si N(t; g + b_i + c_si, var_si), Gaussians sum to 1 over the levels."""
    generator = np.random.default_rng(0)
    users, items = np.nonzero(generator.random((60, 8)) < 0.6)
    ratings = np.clip(np.rint(1 + items % 5 + generator.normal(0, 0.5, len(users))), 1, 5)
    model = LBGModel(n_topics=2, baseline=baseline, random_state=0).fit((users, items, ratings), scale=(1, 5))
    lam, p, c, var = (getattr(model.parameters_, name) for name in ("lam", "p", "c", "var"))
    own, expected = np.zeros((8, 2, 5)), np.zeros(8)
    for i in range(8):
        offset = model.biases_.overall + model.biases_.items[i] if baseline else 0.0
        for s in range(2):
            weights = [math.exp(-((t - offset - c[i, s]) ** 2) / (2 * var[i, s])) for t in (1, 2, 3, 4, 5)]
            own[i, s] = lam[s] * p[i, s] * np.array(weights) / sum(weights)
        own[i] /= own[i].sum()
        mean = ratings[items == model.matrix.items.raw(i)].mean()
        assert own[i].sum(axis=0) @ [1, 2, 3, 4, 5] == pytest.approx(mean, abs=0.6)
    np.testing.assert_allclose(item_profiles(model), own.reshape(8, -1), atol=1e-12)
    expected = 1 - np.sqrt(np.maximum(1 - np.sqrt(own * own[3]).sum(axis=(1, 2)), 0))
    for item, score in model.similar_items(model.matrix.items.raw(3), 7):
        assert score == pytest.approx(expected[model.matrix.items.code(item)])
    alike = model.similar_items(0, 1)[0][0]
    assert alike == 5  # the only other item that is rated 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 0}, "n_topics is 0"),
        ({"n_topics": 2.5}, "n_topics is 2.5"),
        ({"temperature": 0.0}, "temperature is 0.0"),
        ({"temperature": 2.0}, "temperature is 2.0"),
        ({"point": "best"}, "point is 'best'"),
        ({"prior_strength": -1}, "prior_strength is -1"),
        ({"indicator_weight": float("nan")}, "indicator_weight is nan"),
        ({"max_iter": 0}, "max_iter is 0"),
    ],
)
def test_bad_parameters_are_named_when_fitting(matrix, options, message):
    with pytest.raises(DataError, match=message):
        LBGModel(**options).fit(matrix)


@pytest.mark.parametrize(
    "triples",
    [
        (["a"], ["x"], [3]),  # one user, one item, one rating
        (["a", "a", "a"], ["x", "y", "z"], [1, 3, 5]),  # one user
        (["a", "b", "c"], ["x", "x", "x"], [1, 3, 5]),  # one item
        (["a", "b"], ["x", "y"], [4, 4]),  # all ratings equal
    ],
)
@pytest.mark.parametrize("strength", [0.0, 5.0])
@pytest.mark.parametrize("baseline", [False, True])
def test_degenerate_ratings_have_sensible_results(triples, strength, baseline):
    """More topics than users as well: everything stays finite and on the scale."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LBGModel(n_topics=7, prior_strength=strength, baseline=baseline, random_state=0).fit(triples)
    probability = model.predict_distribution([("a", "x"), ("nobody", "x"), ("a", "nothing")])
    assert np.isfinite(probability).all()
    points = model.predict_batch([("a", "x"), ("nobody", "nothing")])
    assert ((points >= min(triples[2])) & (points <= max(triples[2]))).all()


def test_gaussian_plsa(matrix):
    model = GaussianPLSAModel(n_topics=4, random_state=0).fit(matrix)
    np.testing.assert_allclose(model.mixing_.sum(axis=1), 1.0)
    own = matrix.subset(np.array([3]))
    items = matrix.items.raws(own.item_codes)
    folded = model.fold_in(dict(zip(items, own.values, strict=True)))
    raw = matrix.users.raw(3)
    pairs = [(raw, item) for item in matrix.items]
    np.testing.assert_array_equal(folded.distribution(list(matrix.items)), model.predict_distribution(pairs))
    truth = matrix.values
    users = matrix.users.raws(matrix.user_codes)
    fitted = model.predict_batch(list(zip(users, matrix.items.raws(matrix.item_codes), strict=True)))
    assert np.abs(fitted - truth).mean() < np.abs(truth.mean() - truth).mean()
    assert folded.explain(items[0]).evidence == model.explain(raw, items[0]).evidence


@pytest.mark.parametrize("decay", [None, 0.7])
def test_partial_fit_is_reported(decay, sample):
    first, later = [], []
    model = LBGModel(n_topics=2, random_state=0)
    model.partial_fit(sample.ratings, decay=decay, progress=lambda *step: first.append(step))
    model.partial_fit(sample.ratings.head(50), decay=decay, progress=lambda *step: later.append(step))
    assert len(first) > 2 and first[-1][0] == first[-1][1] and later == [(1, 1, "50 ratings")]
