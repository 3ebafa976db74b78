"""Whatever comes in, in whatever order: the statistics hold every rating once, and means stay among the ratings."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import lbg_recsys
from lbg_recsys.persistence.container import read_container, write_container
from lbg_recsys.ratings import LBGModel
from tests.strategies import rating_triples

UPDATES = st.lists(st.tuples(rating_triples(max_users=10, max_items=9), st.booleans()), min_size=1, max_size=6)


def assert_everything_is_counted_once(model):
    matrix, rows, statistics = model.matrix, model.rows_of(model.matrix), model.statistics_
    ratings, total, squares = (
        np.bincount(matrix.item_codes, weights, minlength=matrix.n_items)
        for weights in (None, rows.values, rows.values**2)
    )
    assert statistics.n_rows == matrix.n_users
    np.testing.assert_allclose(statistics.mass.sum(), matrix.n_users, atol=1e-9)
    np.testing.assert_allclose(statistics.count.sum(axis=1), ratings, atol=1e-9)
    np.testing.assert_allclose(statistics.first.sum(axis=1), total, atol=1e-9)
    np.testing.assert_allclose(statistics.second.sum(axis=1), squares, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    rating_triples(),
    UPDATES,
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([0.0, 0.1, 5.0]),
    st.sampled_from([0.2, 1.0]),
)
def test_any_sequence_of_updates(triples, updates, n_topics, baseline, strength, temperature):
    model = LBGModel(
        n_topics=n_topics, baseline=baseline, prior_strength=strength, temperature=temperature, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(triples, scale=(1, 5))
    for more, update in updates:
        model.partial_fit(more, update=update)
        assert_everything_is_counted_once(model)
    model.partial_fit(more)
    values = model.rows_of(model.matrix).values
    assert values.min() - 1e-6 <= model.parameters_.c.min()
    assert model.parameters_.c.max() <= values.max() + 1e-6


def test_a_stream_of_ratings_does_not_carry_the_means_away(sample):
    """Users of films that nobody else rates, who come in small groups and then rate more, one by one."""
    users = sample.ratings["user"].unique()
    for strength in (0.0, 1.0):
        model = LBGModel(n_topics=4, prior_strength=strength, random_state=0)
        model.fit(sample.ratings[sample.ratings["user"].isin(users[:10])], scale=(1, 5))
        for first in range(10, len(users), 10):
            some = users[first : first + 10]
            model.partial_fit(sample.ratings[sample.ratings["user"].isin(some)])
            model.partial_fit((some, [f"{user}'s own" for user in some], 1 + some % 5))
        generator = np.random.default_rng(0)
        for user in users[:50]:
            model.partial_fit(([user], [int(generator.integers(1, 121))], [int(generator.integers(1, 6))]))
        assert_everything_is_counted_once(model)
        assert model.parameters_.c.min() >= 1.0 - 1e-9 and model.parameters_.c.max() <= 5.0 + 1e-9


def test_what_was_counted_survives_a_file(sample, tmp_path):
    """Also in the midst of a pass. A file from before there was such an array counts users by their posteriors."""
    model = LBGModel(n_topics=3, random_state=0, tol=1e-2).fit(sample.ratings)
    path = tmp_path / "model.lbg"
    assert "counted" not in read_container(lbg_recsys.save(model, path))[1]
    one, other = (model.matrix.subset(np.arange(*ends)) for ends in ((0, 90), (60, 200)))
    model.partial_fit(([1, 2, 2], [1, 2, 3], [5, 1, 1])).start_pass().partial_fit(one, update=False)
    again = lbg_recsys.load(lbg_recsys.save(model, path))
    for name in ("lam", "p", "c", "var"):
        after = (getattr(each.partial_fit(other).parameters_, name) for each in (model, again))
        np.testing.assert_array_equal(*after)
    header, arrays = read_container(lbg_recsys.save(model, path))
    del arrays["counted"]
    with open(path, "wb") as stream:
        write_container(stream, header, arrays)
    np.testing.assert_array_equal(lbg_recsys.load(path).counted_, model.posterior())
