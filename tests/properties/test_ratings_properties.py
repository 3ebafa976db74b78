"""What must hold for any ratings at all."""

import warnings
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lbg_recsys.core import levels
from lbg_recsys.core.em.bernoulli_gauss import e_step
from lbg_recsys.ratings import LBGModel, as_matrix
from tests.lists import brute_force_list
from tests.strategies import rating_triples

SETTINGS = settings(max_examples=60, deadline=None)


def fitted(triples, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LBGModel(random_state=0, **options).fit(triples, scale=(1, 5))


@SETTINGS
@given(
    rating_triples(),
    st.integers(1, 4),
    st.floats(0.1, 1.0),
    st.floats(0.0, 2.0),
    st.booleans(),
    st.one_of(st.just(0.0), st.floats(0.5, 10.0)),
)
def test_penalised_likelihood_never_falls(triples, n_topics, temperature, weight, baseline, strength):
    model = fitted(
        triples,
        n_topics=n_topics,
        temperature=temperature,
        indicator_weight=weight,
        baseline=baseline,
        prior_strength=strength,
        tol=0.0,
        max_iter=25,
    )
    gains = np.diff(model.history_)
    assert (gains >= -1e-8 * np.abs(model.history_[:-1])).all()


@SETTINGS
@given(rating_triples(), st.integers(1, 4), st.booleans(), st.sampled_from([0.0, 5.0]))
def test_distributions_are_distributions(triples, n_topics, baseline, strength):
    model = fitted(triples, n_topics=n_topics, baseline=baseline, prior_strength=strength)
    pairs = [(u, i) for u in [*model.matrix.users, "nobody"] for i in [*model.matrix.items, "nothing"]]
    probability = model.predict_distribution(pairs)
    assert probability.shape == (len(pairs), 5)
    assert (probability >= 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-9)
    low, high = model.interval(pairs, 0.8).T
    middle = levels.median(probability, model.levels)
    assert ((low <= middle) & (middle <= high)).all()


@SETTINGS
@given(rating_triples(), st.integers(1, 3), st.data())
def test_statistics_add_over_any_partition(triples, n_topics, data):
    model = fitted(triples, n_topics=n_topics)
    rows = model.rows_of(model.matrix)
    cut = data.draw(st.integers(0, len(rows)))
    whole = e_step(rows, model.parameters_)
    parts = e_step(rows.part(0, cut), model.parameters_) + e_step(rows.part(cut, len(rows)), model.parameters_)
    assert whole.n_rows == parts.n_rows
    for name in ("evidence", "mass", "count", "first", "second"):
        np.testing.assert_allclose(getattr(whole, name), getattr(parts, name), atol=1e-9)


@SETTINGS
@given(rating_triples(), st.integers(1, 4), st.booleans(), st.floats(0.2, 1.0))
def test_folding_in_a_training_user_changes_nothing(triples, n_topics, baseline, temperature):
    """Of a user with fewer ratings than the average one, what is not rated counts less: such users are left out."""
    model = fitted(triples, n_topics=n_topics, baseline=baseline, temperature=temperature)
    lengths = np.diff(model.matrix.rows.indptr)
    for code, raw in enumerate(model.matrix.users):
        if lengths[code] < lengths.mean():
            continue
        own = slice(model.matrix.rows.indptr[code], model.matrix.rows.indptr[code + 1])
        items = model.matrix.items.raws(model.matrix.item_codes[own])
        user = model.fold_in(dict(zip(items, model.matrix.values[own], strict=True)))
        np.testing.assert_allclose(user.posterior, model.posterior()[code], rtol=1e-9, atol=1e-12)
        every = list(model.matrix.items)
        expected = model.predict_distribution([(raw, item) for item in every])
        np.testing.assert_allclose(user.distribution(every), expected, rtol=1e-9, atol=1e-12)


@SETTINGS
@given(rating_triples(), st.integers(1, 4), st.floats(0.2, 1.0), st.floats(0.0, 1.0), st.booleans())
def test_explanations_add_up(triples, n_topics, temperature, weight, baseline):
    model = fitted(
        triples, n_topics=n_topics, temperature=temperature, indicator_weight=weight, baseline=baseline, point="mean"
    )
    for user in model.matrix.users:
        for item in model.matrix.items:
            why = model.explain(user, item)
            parts = why.from_prior + why.from_silence + why.from_being_rated
            parts += sum(one.log_odds for one in why.evidence)
            np.testing.assert_allclose(why.log_odds, parts, atol=1e-8)
            np.testing.assert_allclose(why.expected_rating, sum(t.share * t.mean for t in why.topics), atol=1e-8)
            np.testing.assert_allclose(why.prediction, model.predict_batch([(user, item)])[0], atol=1e-9)


@SETTINGS
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 5)), min_size=1, max_size=30))
def test_of_repeated_pairs_the_last_one_counts(triples):
    users, items, ratings = zip(*triples, strict=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matrix = as_matrix((users, items, ratings))
    last = {(u, i): float(r) for u, i, r in triples}
    assert matrix.n_ratings == len(last)
    assert matrix.n_duplicates == len(triples) - len(last)
    assert bool(caught) == bool(matrix.n_duplicates)
    rows = matrix.users.raws(matrix.user_codes)
    columns = matrix.items.raws(matrix.item_codes)
    assert dict(zip(zip(rows, columns, strict=True), matrix.values.tolist(), strict=True)) == last


@SETTINGS
@given(
    rating_triples(max_items=12),
    st.sampled_from(["rating", "rated", "liked"]),
    st.integers(1, 13),
    st.integers(1, 5),
    st.booleans(),
    st.integers(1, 6),
)
def test_lists_are_those_of_a_full_sort(triples, by, n, n_topics, exclude_seen, items_first):
    model = fitted(triples, n_topics=n_topics)
    users = list(model.matrix.users)
    with mock.patch("lbg_recsys.ratings.questions.recommend._ROUND", items_first):
        table = model.recommend(users, n, by=by, exclude_seen=exclude_seen)
    for user in users:
        own = table[table["user"] == user]
        items, score, rating = brute_force_list(model, user, n, by, exclude_seen)
        assert own["item"].tolist() == items and own["rank"].tolist() == list(range(1, len(items) + 1))
        np.testing.assert_array_equal(own["score"], score)
        np.testing.assert_array_equal(own["expected_rating"], rating)
