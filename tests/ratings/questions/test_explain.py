"""Why a rating is predicted as it is, of models other than LBG."""

from dataclasses import replace

import numpy as np
import pytest

from lbg_recsys import BayesianLBGAlgo, BayesianLBGModel, LBGModel, load, save
from lbg_recsys.algorithms import to_surprise
from lbg_recsys.errors import DataError
from lbg_recsys.ratings import Influences, RatingMatrix
from lbg_recsys.ratings.ids import IdIndex
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.ratings.questions.explain import shares_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_components": 3, "n_sweeps": 30, "burn_in": 10, "random_state": 0}


def planted(users=60, items=30, density=0.5, seed=0):
    """Two kinds of users who like two kinds of items."""
    rng = np.random.default_rng(seed)
    kind = np.where(rng.random(users) < 0.5, 1.0, -1.0)[:, None] * np.where(np.arange(items) % 2, 1.0, -1.0)
    mean = 3.2 + 1.1 * kind + rng.normal(0, 0.4, items) + rng.normal(0, 0.4, users)[:, None]
    rating = np.rint(mean + rng.normal(0, 0.6, mean.shape)).clip(1, 5)
    rows, columns = np.nonzero(rng.random(mean.shape) < density)
    return rows, columns, rating[rows, columns]


@pytest.fixture(scope="module")
def bayesian():
    return BayesianLBGModel(n_components=4, n_sweeps=120, burn_in=40, random_state=0).fit(planted())


@pytest.fixture(scope="module")
def plsa():
    return GaussianPLSAModel(n_topics=3, random_state=0).fit(planted())


@pytest.fixture(params=["bayesian", "plsa"])
def model(request):
    return request.getfixturevalue(request.param)


def own_ratings(model, user):
    own = model.matrix.subset(np.array([model.user_code(user)]))
    return dict(zip(own.items.raws(own.item_codes), own.values.tolist(), strict=True))


def check(why, model, user, item):
    """What holds of every explanation."""
    assert isinstance(why, Influences)
    distribution = model.predict_distribution([(user, item)])[0]
    assert list(why.distribution) == model.levels.tolist()
    np.testing.assert_array_equal(list(why.distribution.values()), distribution)
    np.testing.assert_allclose(why.expected_rating, distribution @ model.levels, atol=1e-9)
    np.testing.assert_allclose(why.prediction, model.predict_batch([(user, item)])[0], atol=1e-9)
    parts = why.from_average + why.from_item + why.from_user + why.from_taste
    np.testing.assert_allclose(why.expected_rating, parts, atol=1e-9)
    effects = [abs(one.effect) for one in why.evidence]
    assert effects == sorted(effects, reverse=True) and np.isfinite(effects).all()
    if why.topics:
        np.testing.assert_allclose(why.expected_rating, sum(one.share * one.mean for one in why.topics), atol=1e-9)


def test_parts_add_up_and_every_rating_is_there(model):
    for user, item in ((0, 0), (7, 12), (31, 29)):
        why = model.explain(user, item)
        check(why, model, user, item)
        assert {one.item: one.rating for one in why.evidence} == own_ratings(model, user)
        assert bool(why.topics) == isinstance(model, GaussianPLSAModel)
        # nobody's expected rating of this item, and the usual rating
        nobody = model.predict_distribution([("nobody", item)])[0] @ model.levels
        np.testing.assert_allclose(why.from_average + why.from_item, nobody, atol=1e-9)
        assert abs(why.from_average - model.matrix.values.mean()) < 0.2


def test_evidence_speaks_for_what_was_planted(model):
    """Who likes an even item likes even ones and no odd ones."""
    for rated in (0, 1, 2, 3):
        (for_even,), (for_odd,) = (model.fold_in({rated: 5}).explain(item).evidence for item in (4, 5))
        assert (for_even.effect > for_odd.effect) == (rated % 2 == 0)


@pytest.mark.parametrize("block", [1, 40, 1 << 20])
def test_evidence_of_pLSA_is_what_folding_in_without_a_rating_says(plsa, block, monkeypatch):
    monkeypatch.setattr("lbg_recsys.ratings.questions.explain._BLOCK_RATINGS", block)
    ratings = own_ratings(plsa, 5)
    why = plsa.explain(5, 3)
    for one in why.evidence:
        rest = {other: rating for other, rating in ratings.items() if other != one.item}
        without = plsa.fold_in(rest).distribution(3) @ plsa.levels
        assert one.from_rating_it == 0
        np.testing.assert_allclose(one.from_its_value, why.expected_rating - without, atol=1e-12)


def averaged(model, ratings, item, copies):
    """The expected rating of a new user, averaged over many draws of it."""
    known, n = model.matrix, len(ratings)
    users = np.repeat(np.arange(copies, dtype=np.int32), n)
    items = np.tile(known.items.codes(list(ratings)).astype(np.int32), copies)
    values = np.tile(list(ratings.values()), copies)
    matrix = RatingMatrix.from_codes(IdIndex(range(copies)), known.items, users, items, values, scale=known.scale)
    view = model.with_users(matrix)
    pairs = [(copy, item) for copy in range(copies)]
    return float((view.predict_distribution(pairs) @ model.levels).mean())


@pytest.mark.parametrize("orientation", ["both", "users", "items"])
def test_evidence_of_bayesian_lbg_is_what_new_users_lose_without_a_rating(orientation):
    model = BayesianLBGModel(n_components=4, n_sweeps=120, burn_in=40, orientation=orientation, random_state=0).fit(
        planted()
    )
    ratings, item, copies = own_ratings(model, 2), 9, 300
    why = model.explain(2, item)
    with_all = averaged(model, ratings, item, copies)
    truth, found = [], []
    for one in why.evidence[:8]:
        rest = {other: rating for other, rating in ratings.items() if other != one.item}
        truth.append(with_all - averaged(model, rest, item, copies))
        found.append(one.effect)
    assert np.corrcoef(truth, found)[0, 1] > 0.95
    assert 0.7 < np.dot(truth, found) / np.dot(found, found) < 1.4


@pytest.mark.parametrize("orientation", ["users", "items"])
def test_a_single_rating_is_all_that_two_users_differ_by(orientation):
    """Even where it counts for so much that no draw looks as it would without."""
    model = BayesianLBGModel(n_components=4, n_sweeps=120, burn_in=40, orientation=orientation, random_state=0).fit(
        planted()
    )
    low, high = (model.fold_in({4: rating}).explain(6).evidence[0].effect for rating in (1.0, 5.0))
    change = averaged(model, {4: 5.0}, 6, 300) - averaged(model, {4: 1.0}, 6, 300)
    assert low < 0 < high and abs(high - low - change) < 0.15 * abs(change)


def test_a_new_user_without_ratings_has_no_evidence(model):
    why = model.fold_in({}).explain(3)
    assert why.evidence == () and np.isfinite(why.expected_rating)
    parts = why.from_average + why.from_item + why.from_user + why.from_taste
    np.testing.assert_allclose(why.expected_rating, parts, atol=1e-9)


def test_unknown_ids_are_named(model):
    for user, item, message in (("x", 3, "user 'x'"), (3, "x", "item 'x'")):
        with pytest.raises(DataError, match=message):
            model.explain(user, item)


@pytest.mark.parametrize("kind", [BayesianLBGModel, GaussianPLSAModel])
def test_ratings_that_are_all_equal_do_nothing(kind):
    model = kind(random_state=0).fit(([1, 1, 2], [1, 2, 2], [4, 4, 4]))
    why = model.explain(1, 1)
    check(why, model, 1, 1)
    assert why.expected_rating == 4 and [one.effect for one in why.evidence] == [0, 0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_classes": 2},
        {"n_classes": 5, "n_components": 1},
        {"likelihood": "ordinal", "orientation": "users"},
        {"likelihood": "ordinal", "orientation": "items"},
        {"likelihood": "gaussian", "n_chains": 2},
        {"max_kept": 2},
        {"n_sweeps": 1, "burn_in": 0},
        {"n_sweeps": 37},  # 27 kept sweeps of each of two chains, of which every second is used: 14 and 13
    ],
    ids=str,
)
def test_every_kind_of_chain_explains_itself(parameters):
    model = BayesianLBGModel(**QUICK | parameters).fit(planted(users=12, items=9))
    for user, item in ((0, 0), (5, 8)):
        why = model.explain(user, item)
        check(why, model, user, item)
        assert len(why.evidence) == len(own_ratings(model, user)) and why.evidence[0].effect != 0


def test_continuous_scales():
    rows, columns, ratings = planted(users=15, items=10)
    ratings = ratings + np.random.default_rng(0).random(len(ratings))
    for model in (BayesianLBGModel(**QUICK), GaussianPLSAModel(n_topics=2, random_state=0)):
        model.fit((rows, columns, ratings))
        assert not model.matrix.scale.discrete
        check(model.explain(0, 3), model, 0, 3)


@pytest.mark.parametrize("weights", [(0.0, 1.0), (6e4, 1.0), (6e4, 6e4), (0.0, 0.0)], ids=str)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_noise_that_is_all_or_nothing(weights):
    """Half precision makes zero of a tiny precision, and of one beyond its range the largest there is."""
    model = BayesianLBGModel(**QUICK).fit(planted(users=12, items=9))
    for side, draws in model._draws.items():
        row, col = (
            np.full_like(old, w) for old, w in zip((draws.row_weight, draws.col_weight), weights, strict=True)
        )
        model._draws[side] = replace(draws, row_weight=row, col_weight=col)
    for user, item in ((0, 0), (5, 8)):
        effects = [one.effect for one in model.explain(user, item).evidence]
        assert np.isfinite(effects).all() and np.abs(effects).max() < 8


def test_a_loaded_model_gives_the_same_answer_again_and_again(bayesian, tmp_path):
    why = bayesian.explain(4, 7)
    assert bayesian.explain(4, 7) == why
    assert load(save(bayesian, tmp_path / "model.lbg")).explain(4, 7) == why


def test_the_algorithm_explains_under_its_own_name(sample):
    trainset = to_surprise(sample).build_full_trainset()
    algo = BayesianLBGAlgo(**QUICK).fit(trainset)
    user, item = trainset.to_raw_uid(0), trainset.to_raw_iid(0)
    assert algo.explain(user, item) == algo.model_.explain(user, item)


def test_topics_of_a_prediction_are_by_hand_and_the_largest_share_comes_first():
    posterior, density = np.array([0.2, 0.5, 0.3]), np.array([[0.5, 0.5], [0.1, 0.2], [0.0, 0.9]])
    found = shares_of(posterior, density, np.array([1.0, 2.0]))
    mass = [0.2 * 1.0, 0.5 * 0.3, 0.3 * 0.9]
    assert [one.topic for one in found] == [2, 0, 1]
    np.testing.assert_allclose([one.share for one in found], np.array(mass)[[2, 0, 1]] / sum(mass))
    np.testing.assert_allclose([one.mean for one in found], [2.0, 1.5, 5 / 3])


def test_what_is_printed_of_topics_adds_up(sample):
    why = LBGModel(n_topics=4, random_state=0).fit(sample.ratings).explain(3, 8)
    head, *lines = str(why).split("Log-odds of topic ")[1].splitlines()
    beside = [float(line.rpartition(" ")[2]) for line in lines[:3]]
    expected = [why.from_being_rated, why.from_prior, why.from_silence]
    np.testing.assert_allclose(beside, expected, atol=5.1e-4)
    assert abs(sum(expected) + sum(one.both for one in why.evidence) - why.log_odds) < 1e-9
    assert f"{why.log_odds:+.2f}" in head
