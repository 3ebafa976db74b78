"""The share of ratings that are of missed items."""

import numpy as np

from lbg_recsys.core.missing import missed_share


def test_the_fit_finds_the_shares_that_counts_were_drawn_from():
    rng = np.random.default_rng(0)
    x, amount = rng.normal(3, 0.7, 2000), rng.integers(20, 200, 2000).astype(float)
    only = rng.poisson(amount * np.exp(-4 - 1.5 * (x - 3))).astype(float)
    share = missed_share(only, amount, x)
    np.testing.assert_allclose(share.of(np.array([2.0, 3.0, 4.0])), np.exp(-4 - 1.5 * np.array([-1, 0, 1])), rtol=0.1)


def test_the_expected_number_is_the_number_of_only_ratings():
    rng = np.random.default_rng(1)
    x, amount = rng.normal(3, 0.7, 50), rng.integers(1, 30, 50).astype(float)
    only = rng.binomial(amount.astype(int), 0.1).astype(float)
    share = missed_share(only, amount, x)
    assert abs((amount * share.of(x)).sum() - only.sum()) < 1


def test_shares_are_probabilities_where_counts_say_nothing_or_everything():
    one, none = np.ones(5), np.zeros(5)
    for only, amount, x in [
        (none, none, none),
        (none, 10 * one, one),
        (10 * one, 10 * one, none),
        (np.array([9.0, 0, 0, 0, 0]), 9 * one, np.array([0.0, 5, 5, 5, 5])),
    ]:
        share = missed_share(only, amount, x).of(np.array([-50.0, 0.0, 50.0]))
        assert np.all((share >= 0) & (share <= 1)) and np.isfinite(share).all()
