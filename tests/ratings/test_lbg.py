"""LBGModel on the shipped sample: fitting, new users, recommendations."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from lbg_recsys.errors import DataError
from lbg_recsys.ratings import LBGModel, as_matrix
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.ratings.recommend import top_n


@pytest.fixture(scope="module")
def model(sample):
    return LBGModel(n_topics=4, random_state=0, n_init=3).fit(sample.ratings)


@pytest.fixture(scope="module")
def matrix(sample):
    return as_matrix(sample.ratings)


def test_planted_topics_are_found(model, sample):
    """The sample has four planted topics: users of one lie in one posterior."""
    assert model.converged_
    assert np.sort(model.parameters_.lam)[0] > 0.1
    assert (model.posterior().max(axis=1) > 0.9).mean() > 0.9


def test_not_converged_says_so(matrix):
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
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
    model = LBGModel(n_topics=3, random_state=0).fit(matrix)
    before = model.statistics_
    again = model.with_users(matrix).partial_fit(matrix.subset(np.arange(20)))
    np.testing.assert_allclose(again.statistics_.count, before.count, atol=1e-8)
    assert again.statistics_.n_rows == before.n_rows


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
    with pytest.warns(UserWarning, match="1 of 2 rated items are unknown"):
        model.fold_in({item: 5, "never seen": 3})


def test_unknown_users_get_the_prior_and_unknown_items_the_users_mean(model):
    prior = model.predictive(np.array([-1]), np.array([0]))
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
    monkeypatch.setattr("lbg_recsys.ratings.recommend._BLOCK_NUMBERS", 7 * matrix.n_items * model.numbers_per_pair)
    users = list(matrix.users)
    blocks = list(model.recommend_blocks(users, 3))
    assert len(blocks) == -(-len(users) // 7)
    together = model.recommend(users, 3)
    assert together["user"].tolist() == [user for user in users for _ in range(3)]
    one = model.recommend(users[50], 3)
    pd.testing.assert_frame_equal(one, together[together["user"] == users[50]].reset_index(drop=True))


def test_top_n_breaks_ties_like_a_full_sort():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (20, 50)).astype(float)
    full = np.argsort(-scores, axis=1, kind="stable")
    for n in (1, 5, 12, 13, 50, 99):
        np.testing.assert_array_equal(top_n(scores, n), full[:, :n])


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
    items = matrix.items.raws(own.items_of)
    folded = model.fold_in(dict(zip(items, own.values, strict=True)))
    raw = matrix.users.raw(3)
    pairs = [(raw, item) for item in matrix.items]
    np.testing.assert_array_equal(folded.distribution(list(matrix.items)), model.predict_distribution(pairs))
    truth = matrix.values
    users = matrix.users.raws(matrix.user_codes())
    fitted = model.predict_batch(list(zip(users, matrix.items.raws(matrix.items_of), strict=True)))
    assert np.abs(fitted - truth).mean() < np.abs(truth.mean() - truth).mean()
    with pytest.raises(DataError, match="no exact explanation"):
        folded.explain(items[0])
