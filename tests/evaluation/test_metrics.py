"""Metrics on cases worked by hand."""

import numpy as np
import pytest

from lbg_recsys.core import levels
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.evaluation import metrics
from lbg_recsys.evaluation.calibration import reliability

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


def test_lists_are_taken_where_arrays_are():
    assert metrics.rmse([1, 2, 3], [1, 2, 2]) == metrics.rmse(np.array([1.0, 2, 3]), np.array([1.0, 2, 2]))
    assert metrics.mse(np.array([0], np.uint8), np.array([3], np.uint8)) == 9.0
    assert metrics.log_score([4, 0], PROBABILITY.tolist()) == metrics.log_score(np.array([4, 0]), PROBABILITY)
    assert metrics.top_n([[1, 3, 2]], 2).tolist() == [[1, 2]]
    assert metrics.ndcg_at(10, np.array([9, 1]), [1]) == metrics.ndcg_at(10, [9, 1], {1})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: metrics.rmse([1, 2, 3], [1, 2]), "truth has 3 rows and predicted 2: give as many of both"),
        (lambda: metrics.mae([], []), "truth and predicted are empty"),
        (lambda: metrics.mse([1, np.nan], [1, 2]), "truth has nan at position 1: leave it out or give it a value"),
        (lambda: metrics.rmse_error(["a"], [1]), "truth must be numbers: could not convert"),
        (lambda: metrics.mae([[1]], [[1]]), r"truth has the shape \(1, 1\): give a list of values"),
        (
            lambda: metrics.log_score([-1, 0], PROBABILITY),
            "truth_level has -1 at position 0: give integers",
        ),
        (lambda: metrics.log_score([0.5, 0], PROBABILITY), "truth_level has values such as .*0.5.*: give integers"),
        (lambda: metrics.ranked_probability_score([0], PROBABILITY), "truth_level has 1 rows and probability 2"),
        (lambda: reliability([0], [[1.5, 0]]), "probability has 1.5 at position 0, 0: give numbers from 0 to 1"),
        (lambda: metrics.coverage([1], [[1, 0]], [2, 1]), "give them in ascending order"),
        (lambda: metrics.coverage([1], [[1, 0]], [1, 2, 3]), "probability has 2 columns for 3 levels"),
        (lambda: metrics.clustering_accuracy([1, "a", None], [0, 1, 2]), "truth cannot be sorted"),
        (lambda: metrics.recall_at(1, "abc", {"a"}), "ranked is 'abc': give a list of items"),
        (lambda: metrics.ndcg_at(1, [[1]], {1}), "must be lists of ids"),
        (lambda: metrics.top_n([1, 2], 1), "give a table of rows and columns"),
    ],
)
def test_what_cannot_be_measured_is_named(call, said):
    with pytest.raises(DataError, match=said):
        call()


@pytest.mark.parametrize("n_bins", [0, 2.5, "ten", 10**9])
def test_bins_are_some_and_not_too_many(n_bins):
    with pytest.raises(ParameterError, match="n_bins is "):
        metrics.expected_calibration_error([0, 1], PROBABILITY, n_bins)
