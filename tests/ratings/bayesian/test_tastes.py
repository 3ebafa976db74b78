"""Similarities and topics of models without one table of topics: Bayesian LBG by tastes, pLSA by communities."""

import math
import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lbg_recsys
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.errors import ParameterError
from lbg_recsys.ratings import BayesianLBGModel, LBGModel
from lbg_recsys.ratings.bayesian.tastes import Tastes
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.ratings.questions.similar import item_profiles

# few sweeps make a test fast, and the sampler has not converged
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_components": 3, "n_classes": 3, "n_sweeps": 12, "burn_in": 4, "random_state": 0}


def some_ratings(n_users=9, n_items=7, share=0.6):
    rng = np.random.default_rng(4)
    users, items = np.nonzero(rng.random((n_users, n_items)) < share)
    return users, items, rng.integers(1, 6, len(users))


@cache
def small(**options):
    return BayesianLBGModel(**QUICK | options).fit(some_ratings(), scale=(1, 5))


def two_kinds(n_users=60, n_items=30, seed=0):
    """Users of even number love the first half of the items and hate the second, the others the other way round."""
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((n_users, n_items)) < 0.5)
    likes = (users % 2 == 0) == (items < n_items // 2)
    return users, items, np.clip(np.where(likes, 4, 2) + rng.integers(-1, 2, len(users)), 1, 5)


@pytest.fixture(scope="module")
def planted():
    return BayesianLBGModel(n_components=4, n_sweeps=60, burn_in=30, random_state=0).fit(two_kinds())


# -- alike in taste ------------------------------------------------------------------------------------------------


def without_the_common(counts):
    """Taking away the mean and (with ten pseudo-entries) the slope over the standardised log of 1 + count."""
    amount = np.log1p(counts)
    amount = (amount - amount.mean()) / (amount.std() or 1.0)
    n = len(counts)
    return np.eye(n) - np.ones((n, n)) / n - np.outer(amount, amount) / (n + 10.0)


def counts(model):
    """How many ratings each user and each item has, by code."""
    users, items, _ = some_ratings()
    return np.bincount(model.matrix.users.codes(users)), np.bincount(model.matrix.items.codes(items))


def dense_tastes(model):
    """Every kept sweep's table of tastes, users by items, by loops over what is stored."""
    clean_users, clean_items = map(without_the_common, counts(model))
    for side, draws in model._draws.items():
        for s in range(len(draws)):
            n_rows, n_cols = draws.z.shape[1] - 1, draws.c.shape[1] - 1
            table = np.zeros((n_rows, n_cols))
            for j in range(n_rows):
                for i in range(n_cols):
                    for h in range(draws.z.shape[2]):
                        table[j, i] += draws.c_step[s, h] * draws.c[s, i, h, draws.z[s, j, h]]
                    f = draws.row_factor[s, j] * draws.steps.row_factor[s]
                    table[j, i] += f @ (draws.col_factor[s, i] * draws.steps.col_factor[s])
            yield clean_users @ (table if side is Side.USERS else table.T) @ clean_items


@pytest.mark.parametrize("of_users", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"orientation": "users"}, {"likelihood": "gaussian", "orientation": "items"}]
)
def test_similarity_by_brute_force(options, of_users):
    model = small(**options)
    weight = counts(model)[1 if of_users else 0]
    products = 0.0
    for table in dense_tastes(model):
        mine = table if of_users else table.T
        products = products + (mine * weight) @ mine.T
    norm = np.sqrt(np.diag(products))
    expected = products / norm[:, None] / norm
    ids = model.matrix.users if of_users else model.matrix.items
    ask = model.similar_users if of_users else model.similar_items
    for own, raw in enumerate(ids):
        np.testing.assert_allclose(model.similarity(of_users, own, "taste"), expected[own], atol=1e-6)
        found = ask(raw, 4)
        best = [code for code in np.argsort(-expected[own], kind="stable") if code != own][:4]
        assert [one for one, _ in found] == [ids.raw(code) for code in best]
        np.testing.assert_allclose([score for _, score in found], expected[own, best], atol=1e-6)


@st.composite
def random_sides(draw):
    """The kept sweeps of a small model with any classes and class means in the place of its own."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sparse = draw(st.booleans())  # class means that are mostly nothing: some have no taste at all

    def other(draws):
        c = rng.integers(-127, 128, draws.c.shape).astype(np.int8)
        if sparse:
            c[:, rng.random(c.shape[1]) < 0.7] = 0
        return replace(draws, z=rng.integers(0, 3, draws.z.shape).astype(np.int8), c=c)

    return {side: other(draws) for side, draws in small()._draws.items()}, rng


def relabelled(draws, rng):
    """The same sweeps with the classes of every component of every sweep numbered otherwise."""
    z, c = draws.z.copy(), draws.c.copy()
    for s in range(len(draws)):
        for h in range(z.shape[2]):
            new = rng.permutation(c.shape[3]).astype(np.int8)
            z[s, :, h] = new[draws.z[s, :, h]]
            c[s, :, h, new] = draws.c[s, :, h].T
    return replace(draws, z=z, c=c)


@given(random_sides(), st.sampled_from(Side))
@settings(max_examples=30, deadline=None)
def test_similarity_is_a_correlation_and_knows_no_class_numbers(sides, side):
    draws, rng = sides
    matrix = small().matrix
    tastes = Tastes(draws, matrix, 0)
    n = matrix.n_users if side is Side.USERS else matrix.n_items
    table = np.stack([tastes.similarity(side, own) for own in range(n)])
    assert np.abs(table).max() <= 1.0
    np.testing.assert_allclose(table, table.T, atol=1e-9)
    own = np.diag(table)
    assert np.all((abs(own - 1.0) < 1e-9) | (table == 0.0).all(axis=1))  # nobody is more alike, or there is no taste
    others = Tastes({side: relabelled(one, rng) for side, one in draws.items()}, matrix, 0)
    again = np.stack([others.similarity(side, code) for code in range(n)])
    np.testing.assert_allclose(again, table, atol=1e-9)
    np.testing.assert_allclose(others.membership(3), tastes.membership(3), atol=1e-9)


def test_planted_kinds_are_alike(planted):
    for user in (0, 1, 10, 33):
        assert {one % 2 for one, score in planted.similar_users(user, 15) if score > 0} == {user % 2}
    for item in (0, 14, 15, 29):
        assert {one < 15 for one, _ in planted.similar_items(item, 8)} == {item < 15}
    assert planted.similar_users(0, 59)[-1][1] < -0.3


def test_a_metric_that_the_model_does_not_have_is_refused(planted):
    assert planted.similar_items(3, 2, metric="taste") == planted.similar_items(3, 2)
    with pytest.raises(ParameterError, match="metric is 'kl': choose one of 'taste'"):
        planted.similar_items(3, metric="kl")
    lbg = LBGModel(n_topics=2, random_state=0).fit(two_kinds())
    assert lbg.similar_users(3) == lbg.similar_users(3, metric="hellinger")
    with pytest.raises(ParameterError, match="metric is 'taste': choose one of 'hellinger', 'kl'"):
        lbg.similar_users(3, metric="taste")


# -- groups of users -----------------------------------------------------------------------------------------------


def test_planted_groups_are_found(planted):
    member = planted.posterior(2)
    assert member.shape == (60, 2)
    np.testing.assert_allclose(member.sum(axis=1), 1.0)
    kind = np.arange(60) % 2
    assert np.array_equal(member.argmax(axis=1) == member[0].argmax(), kind == 0)
    found = planted.topics(4, n_topics=2)
    assert [topic.weight for topic in found] == sorted(member.mean(axis=0), reverse=True)
    for topic in found:
        first = topic.topic == member[0].argmax()
        assert all((one.item < 15) == first for one in topic.loves) and len(topic.loves) == 4
        assert all((one.item < 15) != first for one in topic.hates) and len(topic.hates) == 4
        assert all(one.rating > one.rating_of_all for one in topic.loves)


def test_tables_of_groups_by_hand(planted):
    tables, (users, items, _) = planted.topic_tables(2), two_kinds()
    member = planted.posterior(2)
    for s in range(2):
        assert tables.weight[s] == pytest.approx(member[:, s].mean())
        for i in range(30):
            raters = users[items == planted.matrix.items.raw(i)]
            average = (len(raters) + 0.5) / 61
            rate = (member[planted.matrix.users.codes(raters), s].sum() + 5 * average) / (member[:, s].sum() + 5)
            assert tables.rate[i, s] == pytest.approx(rate)


def test_a_new_user_is_of_the_group_of_its_kind(planted):
    everybody = planted.posterior()
    assert everybody.shape == (60, 5)
    two = planted.posterior(2)
    loving = {item: 5 if item < 15 else 1 for item in range(5, 25)}
    view = planted.fold_in(loving)._view
    assert view.posterior(2)[0].argmax() == two[0].argmax()
    assert planted.fold_in(loving).posterior.shape == (5,)
    hating = {item: 6 - rating for item, rating in loving.items()}
    assert planted.fold_in(hating)._view.posterior(2)[0].argmax() == two[1].argmax()
    # the training users as new ones are alike as they were
    again = planted.with_users(planted.matrix)
    close = np.corrcoef(again.similarity(True, 0, "taste"), planted.similarity(True, 0, "taste"))[0, 1]
    assert close > 0.95


def test_new_users_as_columns_have_factors_in_the_unit_of_the_training():
    """Of somebody with the factors of a training user, in other steps, the tastes are the same."""
    model = small(n_factors=4, orientation="items", n_sweeps=40, burn_in=20)
    draws = model._draws[Side.ITEMS]
    steps = draws.steps._replace(col_factor=draws.steps.col_factor / 2)
    other = replace(draws, col_factor=2 * draws.col_factor, factor_step=steps.stacked())
    view = Tastes({Side.ITEMS: other}, model.matrix, 0, trained=model._tastes)
    for side in Side:
        np.testing.assert_allclose(view.similarity(side, 1), model._tastes.similarity(side, 1), atol=1e-6)


def test_who_is_folded_into_a_view_is_compared_with_the_training(planted):
    some = planted.matrix.subset(np.arange(5))
    view = planted.with_users(some)
    again = view.with_users(some)
    np.testing.assert_array_equal(again.posterior(2), view.posterior(2))
    for of_users in (True, False):
        np.testing.assert_array_equal(again.similarity(of_users, 0, "taste"), view.similarity(of_users, 0, "taste"))


def test_the_same_bits_from_a_file_from_a_pickle_and_again(planted, tmp_path):
    lbg_recsys.save(planted, tmp_path / "model.lbg")
    loaded = lbg_recsys.load(tmp_path / "model.lbg")
    before = len(pickle.dumps(loaded))
    assert "_sweeps" not in vars(loaded._tastes)  # nothing is prepared before it is asked for
    for again in (loaded, pickle.loads(pickle.dumps(planted)), planted):
        assert again.topics(3, n_topics=3) == planted.topics(3, n_topics=3)
        assert again.similar_users(5) == planted.similar_users(5)
        assert again.similar_items(5) == planted.similar_items(5)
    assert len(pickle.dumps(loaded)) == before


@pytest.mark.parametrize("options", [{"orientation": "users"}, {"orientation": "items"}, {"likelihood": "gaussian"}])
def test_models_of_one_side_have_groups_too(options):
    model = BayesianLBGModel(n_components=4, n_sweeps=40, burn_in=20, random_state=0, **options).fit(two_kinds())
    kind = model.posterior(2).argmax(axis=1)
    share = np.mean(kind == np.arange(60) % 2)
    assert max(share, 1 - share) >= 0.95  # topics have no order


@pytest.mark.parametrize(
    "triples",
    [
        (["a", "b", "b"], ["x", "x", "y"], [3, 3, 3]),  # nothing is sampled where all are equal
        (["a"], ["x"], [4]),
        (["a", "a"], ["x", "y"], [4, 1]),
        (["a", "b"], ["x", "x"], [4, 1]),
        (["a", "b", "c"], ["x", "x", "y"], [4, 1, 2]),
    ],
)
def test_tiny_models_answer(triples):
    model = BayesianLBGModel(**QUICK | {"random_state": None}).fit(triples)
    users, items = sorted(set(triples[0])), sorted(set(triples[1]))
    found = model.topics(n_topics=4)
    assert 1 <= len(found) <= len(users)
    assert sum(topic.weight for topic in found) == pytest.approx(1.0)
    for ask, raws in ((model.similar_users, users), (model.similar_items, items)):
        for raw in raws:
            assert sorted(one for one, _ in ask(raw)) == [one for one in raws if one != raw]
            assert all(-1.0 <= score <= 1.0 for _, score in ask(raw))
    if len(set(triples[2])) == 1 and len(users) > 1:
        assert model.similar_users("a") == [("b", 0.0)] and len(found) == 1
        assert found[0].loves == found[0].hates == ()
    assert model.fold_in({"x": triples[2][0]}).posterior.sum() == pytest.approx(1.0)


def test_numbers_of_groups_and_items_are_checked(planted):
    for n_topics in (0, 2.5, "3", True):
        with pytest.raises(ParameterError, match=f"n_topics is {n_topics!r}: give an integer of at least 1"):
            planted.topics(n_topics=n_topics)
    with pytest.raises(ParameterError, match="n is 0: give an integer of at least 1"):
        planted.topics(0)
    for model in (LBGModel, GaussianPLSAModel):
        fitted = model(n_topics=3, random_state=0).fit(two_kinds())
        assert len(fitted.topics(1)) == 3
        with pytest.raises(ParameterError, match="fitted with 3 topics and cannot show 4"):
            fitted.topics(n_topics=4)


# -- communities ---------------------------------------------------------------------------------------------------


def test_communities_by_hand():
    """Profiles ~ lam_s p_si N(t; m + d c_si, d^2 var_si) over levels t, for the mean m and the spread d of all."""
    users, items, ratings = two_kinds(n_items=8)
    model = GaussianPLSAModel(n_topics=2, random_state=0).fit((users, items, ratings))
    lam, p, c, var = (getattr(model.parameters_, name) for name in ("lam", "p", "c", "var"))
    own = np.zeros((8, 2, 5))
    for i in range(8):
        for s in range(2):
            mean, spread = ratings.mean() + ratings.std() * c[i, s], ratings.std() * math.sqrt(var[i, s])
            density = np.array([math.exp(-0.5 * ((t - mean) / spread) ** 2) for t in (1, 2, 3, 4, 5)])
            own[i, s] = lam[s] * p[i, s] * density / density.sum()
        own[i] /= own[i].sum()
        # the mixture's mean rating of an item is near that of its ratings
        assert own[i].sum(axis=0) @ model.levels == pytest.approx(
            ratings[items == model.matrix.items.raw(i)].mean(), abs=0.5
        )
    np.testing.assert_allclose(item_profiles(model), own.reshape(8, -1), atol=1e-12)
    expected = 1 - np.sqrt(np.maximum(1 - np.sqrt(own * own[3]).sum(axis=(1, 2)), 0))
    for item, score in model.similar_items(model.matrix.items.raw(3), 7):
        assert score == pytest.approx(expected[model.matrix.items.code(item)])
    mixing = model.mixing_
    divergence = ((mixing - mixing[5]) * (np.log(mixing) - np.log(mixing[5]))).sum(axis=1)
    for user, score in model.similar_users(model.matrix.users.raw(5), 59, metric="kl"):
        assert score == pytest.approx(math.exp(-0.5 * divergence[model.matrix.users.code(user)]))


def test_communities_find_what_was_planted():
    model = GaussianPLSAModel(n_topics=2, random_state=0).fit(two_kinds())
    kind = model.posterior().argmax(axis=1)
    assert abs(np.mean(kind == np.arange(60) % 2) - 0.5) > 0.45
    first = kind[0]
    for topic in model.topics(3):
        assert topic.weight == pytest.approx(model.mixing_[:, topic.topic].mean())
        assert all((one.item < 15) == (topic.topic == first) for one in topic.loves)
    np.testing.assert_allclose(model.fold_in({1: 5, 20: 1}).posterior.sum(), 1.0)
