"""Metrics on cases worked by hand."""

import numpy as np
import pytest

from lbg_recsys.core import levels
from lbg_recsys.evaluation import metrics

LEVELS = np.arange(1.0, 6.0)
TRUTH = np.array([5.0, 1.0])
PROBABILITY = np.array([[0.1, 0.1, 0.1, 0.2, 0.5], [0.4, 0.3, 0.1, 0.1, 0.1]])


def test_points():
    assert levels.mean(PROBABILITY, LEVELS).tolist() == pytest.approx([3.9, 2.2])
    assert levels.mode(PROBABILITY, LEVELS).tolist() == [5.0, 1.0]
    assert levels.median(PROBABILITY, LEVELS).tolist() == [4.0, 2.0]
    first, second = 3.9, 0.1 * 1 + 0.1 * 4 + 0.1 * 9 + 0.2 * 16 + 0.5 * 25
    assert levels.std(PROBABILITY, LEVELS)[0] == pytest.approx(np.sqrt(second - first**2))
    assert levels.at_least(PROBABILITY, LEVELS, 4.0).tolist() == pytest.approx([0.7, 0.2])


def test_intervals():
    low, high = levels.interval(PROBABILITY, LEVELS, 0.8)
    assert low.tolist() == [2.0, 1.0]  # exactly a tenth may lie outside on either side
    assert high.tolist() == [5.0, 4.0]
    low, high = levels.interval(PROBABILITY, LEVELS, 0.4)
    assert low.tolist() == [4.0, 1.0]
    assert high.tolist() == [5.0, 2.0]
    with pytest.raises(ValueError, match="mass is 1"):
        levels.interval(PROBABILITY, LEVELS, 1.0)


def test_point_errors():
    guess = np.array([4.0, 3.0])
    assert metrics.mae(TRUTH, guess) == 1.5
    assert metrics.mse(TRUTH, guess) == 2.5
    assert metrics.rmse(TRUTH, guess) == pytest.approx(np.sqrt(2.5))


def test_probabilistic_scores():
    level = np.array([4, 0])
    assert metrics.log_score(level, PROBABILITY) == pytest.approx((np.log(0.5) + np.log(0.4)) / 2)
    first = 0.1**2 + 0.2**2 + 0.3**2 + 0.5**2
    second = 0.6**2 + 0.3**2 + 0.2**2 + 0.1**2
    assert metrics.ranked_probability_score(level, PROBABILITY) == pytest.approx((first + second) / 2)
    assert metrics.coverage(TRUTH, PROBABILITY, LEVELS, 0.4) == (1.0, 1.0)


def test_calibrated_statements_have_no_calibration_error():
    rng = np.random.default_rng(0)
    probability = rng.dirichlet(np.ones(5), 20000)
    level = (probability.cumsum(axis=1) < rng.random((20000, 1))).sum(axis=1)
    assert metrics.expected_calibration_error(level, probability) < 0.005
    np.testing.assert_allclose(metrics.pit_histogram(level, probability, rng), 0.1, atol=0.01)
    sharp = probability**3 / (probability**3).sum(axis=1, keepdims=True)
    assert metrics.expected_calibration_error(level, sharp) > 0.05
    assert abs(metrics.pit_histogram(level, sharp, rng) - 0.1).max() > 0.03


def test_rankings():
    assert metrics.ndcg_at(10, [1, 2, 3], {1, 2, 3}) == pytest.approx(1.0)
    assert metrics.ndcg_at(10, [9, 1], {1}) == pytest.approx(1 / np.log2(3))
    assert metrics.ndcg_at(2, [9, 8, 1], {1}) == 0.0
    assert metrics.recall_at(2, [1, 9, 2], {1, 2}) == 0.5
    assert metrics.recall_at(2, [1], set()) == metrics.ndcg_at(2, [1], set()) == 0.0


def test_top_n_breaks_ties_like_a_full_sort():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (20, 50)).astype(float)
    full = np.argsort(-scores, axis=1, kind="stable")
    for n in (1, 5, 12, 13, 50, 99):
        np.testing.assert_array_equal(metrics.top_n(scores, n), full[:, :n])
