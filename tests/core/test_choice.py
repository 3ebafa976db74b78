"""The closed-form scores of what people take, against the formula written out with dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from lbg_recsys.core import choice


def cells(n_users, n_items, seed=0, share=0.3):
    """Random cells of 1 and .6; some users have one item, the last has none."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((n_users, n_items)) < share, rng.choice([1.0, 0.6], (n_users, n_items)), 0.0)
    x[-1] = 0.0
    x[:3, 1:] = 0.0
    x[:3, 0] = 1.0
    return x


def by_formula(x, weight, penalty, rows):
    """s_ui = -sum_{j != i} x_uj Q_ji / Q_ii, cell by cell."""
    q = np.linalg.inv(x.T @ np.diag(weight) @ x + np.diag(penalty))
    others = np.einsum("uj,ji->uji", rows, q)
    others[:, np.arange(x.shape[1]), np.arange(x.shape[1])] = 0.0
    return -others.sum(axis=1) / np.diag(q)


@pytest.mark.parametrize(("shape", "form"), [((60, 25), choice.ItemSide), ((25, 60), choice.UserSide)])
def test_both_sides_are_the_formula(shape, form):
    x = cells(*shape)
    weight = choice.user_weights((x > 0).sum(axis=1), 0.5)
    penalty = np.linspace(4.0, 9.0, shape[1])
    inverse = choice.solve(sp.csr_array(x), weight, penalty)
    assert isinstance(inverse, form)
    new = cells(8, shape[1], seed=1)
    rows = np.vstack([x, new])
    np.testing.assert_allclose(
        choice.scores(inverse, sp.csr_array(rows)), by_formula(x, weight, penalty, rows), atol=2e-6
    )


def test_users_with_one_item_are_no_rows_of_the_user_side():
    x = cells(25, 60)
    inverse = choice.solve(sp.csr_array(x), np.ones(25), np.full(60, 7.0))
    assert len(inverse.k) == (np.count_nonzero(x, axis=1) > 1).sum() < 25 - 3


@pytest.mark.parametrize("shape", [(60, 25), (25, 60)])
def test_contributions_add_up_to_the_score(shape):
    x = cells(*shape)
    inverse = choice.solve(sp.csr_array(x), np.ones(shape[0]), np.full(shape[1], 5.0))
    items = np.flatnonzero(x[7])
    score = choice.scores(inverse, sp.csr_array(x[[7]]))[0]
    for item in (int(items[0]), int(np.flatnonzero(x[7] == 0)[0])):
        parts = choice.contributions(inverse, items, x[7, items], item)
        assert parts.sum() == pytest.approx(score[item], abs=1e-6)
    assert choice.contributions(inverse, items, x[7, items], int(items[0]))[0] == 0.0


def test_beyond_the_limit_the_head_is_exact_and_other_items_are_predicted_from_it():
    x = cells(60, 25)
    weight = choice.user_weights((x > 0).sum(axis=1), 0.5)
    penalty = np.linspace(4.0, 9.0, 25)
    inverse = choice.solve(sp.csr_array(x), weight, penalty, limit=10)
    assert isinstance(inverse, choice.HeadSide) and len(inverse.head) == 10
    found = choice.scores(inverse, sp.csr_array(x))
    head = x[:, inverse.head]
    np.testing.assert_allclose(
        found[:, inverse.head], by_formula(head, weight, penalty[inverse.head], head), atol=2e-6
    )
    for item in inverse.tail[:4]:
        both = np.append(inverse.head, item)
        exact = by_formula(x[:, both], weight, penalty[both], x[:, both])[:, -1]
        np.testing.assert_allclose(found[:, item], exact, atol=2e-6)
        items = np.flatnonzero(x[7])
        parts = choice.contributions(inverse, items, x[7, items], int(item))
        assert parts.sum() == pytest.approx(found[7, item], abs=1e-6)


def test_the_limit_holds_for_the_smaller_side():
    assert isinstance(
        choice.solve(sp.csr_array(cells(25, 60)), np.ones(25), np.full(60, 7.0), limit=25), choice.UserSide
    )


def test_weights_keep_the_number_of_entries():
    counts = np.array([1, 4, 100, 0])
    weight = choice.user_weights(counts, 0.5)
    assert (weight * counts).sum() == pytest.approx(counts.sum())
    assert weight[0] / weight[2] == pytest.approx(10.0) and weight[3] == 0.0
    np.testing.assert_allclose(choice.user_weights(counts, 0.0), [1, 1, 1, 0])


def test_cells_and_penalties():
    x = choice.graded(np.array([1.0, 4.0, 5.0]), 4.0, 0.6)
    assert x.tolist() == [0.6, 1.0, 1.0]
    rows = sp.csr_array(([0.6, 1.0, 1.0], ([0, 0, 1], [0, 1, 1])), shape=(2, 3))
    mean_square = (0.36 + 2) / 3
    np.testing.assert_allclose(choice.penalties(rows, 300.0, 0.0), np.full(3, 300 * mean_square))
    usual = (1 + 4 + 1) / (1 + 2 + 1)  # an item that nobody took counts as taken once
    expected = 300 * mean_square * np.sqrt(np.array([1, 2, 1]) / usual)
    np.testing.assert_allclose(choice.penalties(rows, 300.0, 0.5), expected)
    np.testing.assert_allclose(choice.penalties(rows, None, 0.5), 9 * 3 ** (1 / 3) / 300 * expected)


def test_one_item_and_no_cells():
    inverse = choice.solve(sp.csr_array(np.ones((3, 1))), np.ones(3), np.array([2.0]))
    np.testing.assert_allclose(choice.scores(inverse, sp.csr_array(np.ones((1, 1)))), [[0.0]], atol=1e-6)
    nothing = sp.csr_array((4, 3))
    np.testing.assert_array_equal(
        choice.scores(choice.solve(nothing, np.ones(4), np.full(3, 2.0)), nothing), np.zeros((4, 3))
    )


def test_bits_do_not_depend_on_the_threads_of_blas():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    x = sp.csr_array(cells(300, 120))
    found = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads):
            found.append(choice.solve(x, np.ones(300), np.full(120, 3.0)).q)
    np.testing.assert_array_equal(*found)
