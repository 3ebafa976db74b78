"""The factors of rows and columns: every conditional against its formula."""

import numpy as np
import pytest

from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.gibbs.chain import Chain, ChainSettings
from lbg_recsys.core.gibbs.draws import Draws, factors_in_steps
from lbg_recsys.core.gibbs.factor_priors import draw_expected_factors, expect_factors
from lbg_recsys.core.gibbs.factors import (
    Factors,
    NearFactors,
    Partners,
    conditional_factors,
    draw_factor,
    draw_factors,
    first_factors,
    weighted_squares,
)
from lbg_recsys.core.gibbs.features import Design
from lbg_recsys.core.gibbs.keep import keep
from lbg_recsys.core.sparse import SparseRows

TIMES = 20_000


@pytest.mark.parametrize("n", [0, 1, 3, 4, 9])
def test_weighted_squares_by_einsum(n):
    rng = np.random.default_rng(n)
    others, weight = rng.normal(size=(n, 5)).astype(np.float32), rng.random(n).astype(np.float32)
    out = np.full((5, 5), 7.0, np.float32)
    weighted_squares(others, weight, out)
    expected = np.einsum("e,er,et->rt", weight, others, others)
    np.testing.assert_allclose(np.tril(out), np.tril(expected), atol=1e-5)


def test_the_factors_of_a_row_have_their_posterior():
    rng = np.random.default_rng(0)
    n, rank, own = 6, 3, 1.7
    others, weight = rng.normal(size=(n, rank)).astype(np.float32), rng.gamma(4, 0.3, n).astype(np.float32)
    mean, precision = rng.normal(size=rank).astype(np.float32), np.array([1.0, 3.0, 8.0], np.float32)
    target = rng.normal(size=n)
    squares = np.empty((rank, rank), np.float32)
    weighted_squares(others, weight, squares)
    near = NearFactors(others, weight, squares, mean, precision)
    factor = np.zeros(rank, np.float32)
    res = target.astype(np.float32)
    drawn = np.empty((TIMES, rank))
    for one in drawn:
        draw_factor(near, own, rng.standard_normal(rank, np.float32), res, factor)
        one[:] = factor
    np.testing.assert_allclose(res, target - others @ factor, atol=1e-3)  # it followed every draw
    covariance = np.linalg.inv(np.diag(precision) + own * (others * weight[:, None]).T @ others)
    expected = covariance @ (precision * mean + own * others.T @ (weight * target))
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.02)


@pytest.mark.parametrize("rank", [1, 8, 11])
def test_rows_drawn_together_are_those_drawn_one_by_one(rank):
    """`draw_factors`, in vector registers, against `draw_factor`; more rows than lanes, and an empty one."""
    rng = np.random.default_rng(rank)
    rows, cols = 37, 12
    row, col = np.nonzero(rng.random((rows, cols)) < 0.5)
    row, col = row[row != 5], col[row != 5]
    entries = SparseRows.from_entries(row, col, np.ones(len(row)), rows, cols)
    own = first_factors(rng, rank, cols, np.zeros(rows))
    own.mean[:], own.precision[:] = rng.normal(size=own.mean.shape), rng.gamma(3.0, 1.0, rank)
    others = rng.normal(size=(cols, rank)).astype(np.float32)
    row_weight, col_weight = (rng.gamma(4, 0.3, n).astype(np.float32) for n in (rows, cols))
    noise, res = rng.standard_normal((rows, rank), np.float32), rng.standard_normal(len(row)).astype(np.float32)
    forth = Partners(entries.indptr, entries.columns, np.arange(len(row), dtype=np.int32))
    value, expected_res = own.value.copy(), res.copy()
    mean, apart = conditional_factors(own, others, forth, row_weight, col_weight, noise, res)
    np.testing.assert_array_equal(res, expected_res)
    draw_factors(own, others, forth, row_weight, col_weight, noise, res, 0, len(own.value))
    squares = np.empty((rank, rank), np.float32)
    for j in range(rows):
        part = slice(*entries.indptr[j : j + 2])
        near_others, weight = others[entries.columns[part]], col_weight[entries.columns[part]]
        weighted_squares(near_others, weight, squares)
        near = NearFactors(near_others, weight, squares, own.mean[j], own.precision)
        draw_factor(near, float(row_weight[j]), noise[j], expected_res[part], value[j])
    np.testing.assert_allclose(own.value, value, atol=1e-4)
    np.testing.assert_allclose(res, expected_res, atol=1e-3)
    np.testing.assert_allclose(mean + apart, own.value, atol=1e-4)


def test_the_variance_left_out_is_that_of_products_with_the_columns_factors():
    chain, _, _ = small_chain()
    for _ in range(5):
        chain.sweep()
    drawn = [np.array([v for _, v in chain.mean_factors()], dtype=object) for _ in range(3000)]
    (mean, _), _ = chain.mean_factors()
    row = int(np.diff(chain._of_rows.indptr).argmax())
    part = slice(*chain._of_rows.indptr[row : row + 2])
    cols = chain._of_rows.partner[part]
    x, w = chain.col_factors.value, chain.row_weight[row] * chain.col_weight[cols]
    precision = np.diag(chain.row_factors.precision) + (x[cols] * w[:, None]).T @ x[cols]
    target = chain.res[part] + x[cols] @ chain.row_factors.value[row]
    linear = chain.row_factors.precision * chain.row_factors.mean[row] + (x[cols] * w[:, None]).T @ target
    np.testing.assert_allclose(mean[row], np.linalg.solve(precision, linear), atol=1e-4)
    share = chain.n_col / chain.n_col.sum()
    exact = np.trace(np.linalg.inv(precision) @ ((x * share[:, None]).T @ x))
    assert np.mean([rows[row] for rows, _ in drawn]) == pytest.approx(exact, rel=0.1)


def test_what_is_expected_of_factors_has_its_posterior():
    """One factor, precisions that cannot move: line and pushes are the coefficients of a linear regression."""
    rng = np.random.default_rng(1)
    indptr, partner = np.array([0, 2, 3, 6, 8]), np.array([0, 1, 1, 0, 1, 2, 0, 2], np.int32)
    entries = SparseRows.from_csr(indptr, partner, np.ones(8), 3)
    forth = Partners(entries.indptr, entries.columns, np.arange(8, dtype=np.int32))
    back = Partners(*entries.by_column)
    value, amount = rng.normal(size=(4, 1)).astype(np.float32), rng.normal(size=4).astype(np.float32)
    precision, push_precision = np.full(1, 2.0, np.float32), np.full(1, 1.5, np.float32)
    mean, push, line = (np.zeros((n, 1), np.float32) for n in (4, 3, 2))
    own = Factors(value, mean, push, line, precision, push_precision, amount)
    drawn = np.empty((TIMES, 5))
    for one in drawn:
        draw_expected_factors(
            rng,
            own,
            back,
            np.diff(indptr),
            Gamma(1.0, 1.0),
            rng.standard_normal((5, 1), np.float32),
            np.empty((0, 1)),
        )
        precision[:], push_precision[:] = 2.0, 1.5
        one[:] = np.append(own.line, own.push)
    held = np.zeros((4, 3))
    held[np.repeat(np.arange(4), np.diff(indptr)), partner] = 1
    design = np.column_stack([np.ones(4), amount, held / np.sqrt(np.diff(indptr))[:, None]])
    covariance = np.linalg.inv(2.0 * design.T @ design + np.diag([10.0, 10.0, 1.5, 1.5, 1.5]))
    np.testing.assert_allclose(drawn.mean(axis=0), (covariance @ (2.0 * design.T @ value))[:, 0], atol=0.02)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.03)
    followed = own.mean.copy()
    expect_factors(own, forth)
    np.testing.assert_allclose(own.mean, followed, atol=1e-3)
    np.testing.assert_allclose(own.mean[:, 0], design @ np.append(own.line, own.push), atol=1e-5)


def small_chain(n_factors=3, rows=30, cols=20, designs=()):
    rng = np.random.default_rng(2)
    row, col = np.nonzero(rng.random((rows, cols)) < 0.4)
    entries = SparseRows.from_entries(row, col, rng.normal(size=len(row)), rows, cols)
    middles = np.array([-0.5, 0.5])
    level = np.searchsorted(middles, entries.values).astype(np.int16)
    settings = ChainSettings(n_components=2, n_classes=2, n_factors=n_factors)
    return Chain(entries, level, middles, settings, np.random.SeedSequence(0), *designs), entries, level


def featured_chain():
    rng = np.random.default_rng(5)
    designs = [Design(rng.normal(size=(n, 3)).astype(np.float32), np.array([0, 0, 1])) for n in (30, 20)]
    return small_chain(designs=designs)


@pytest.mark.parametrize("make", [small_chain, featured_chain])
def test_residuals_and_expected_factors_stay_what_they_are_defined_as(make):
    chain, entries, level = make()
    for _ in range(30):
        chain.sweep()
    rows = entries.row_of_entry()
    np.testing.assert_allclose(entries.values - chain.means(rows, entries.columns), chain.res, atol=1e-4)
    means, res = chain.row_factors.mean.copy(), chain.res
    chain.rest()
    chain.wake(entries, level)
    np.testing.assert_allclose(chain.row_factors.mean, means, atol=1e-4)
    np.testing.assert_allclose(chain.res, res, atol=1e-4)


def test_kept_factors_are_those_of_the_chain():
    chain, entries, _ = small_chain()
    for _ in range(5):
        chain.sweep()
    (rows, row_variance), (cols, _) = chain.mean_factors()
    draws = Draws.joined([keep(chain, chain.cuts)])
    product = (draws.row_factor[0, :-1] * draws.product_step[0]) @ draws.col_factor[0, :-1].T.astype(float)
    np.testing.assert_allclose(product, rows @ cols.T, atol=0.05)
    assert (draws.row_weight[0, :-1] < chain.row_weight).all() and row_variance.min() > 0
    row = 4
    columns = entries.columns[entries.indptr[row] : entries.indptr[row + 1]]
    expected = draws.expected_factors(True, columns, float(chain.row_factors.amount[row]), np.empty(0))
    np.testing.assert_allclose(expected[0], chain.row_factors.mean[row], atol=0.1)


def test_kept_coefficients_of_features_are_those_of_the_chain():
    chain, entries, _ = featured_chain()
    for _ in range(5):
        chain.sweep()
    draws = Draws.joined([keep(chain, chain.cuts)])
    assert np.abs(chain.row_factor_features.beta).min() > 0
    indptr, rows, _ = entries.by_column
    col, known = 7, chain.col_factor_features
    partners = rows[indptr[col] : indptr[col + 1]]
    amount = float(chain.col_factors.amount[col])
    expected = draws.expected_factors(False, partners, amount, known.design.values[col])
    np.testing.assert_allclose(expected[0], chain.col_factors.mean[col], atol=0.1)
    without = draws.expected_factors(False, partners, amount, np.zeros(3))
    np.testing.assert_allclose((expected - without)[0], known.beta @ known.design.values[col], atol=1e-2)


def test_factors_in_steps_are_near_and_none_are_none():
    value = np.random.default_rng(3).normal(size=(4, 7, 2)).astype(np.float32)
    steps, unit = factors_in_steps(value)
    np.testing.assert_allclose(steps * unit[:, None], value, atol=np.abs(value).max() / 61)
    steps, unit = factors_in_steps(value[..., :0])
    assert steps.shape == (4, 7, 0) and unit.shape == (4, 0)


def test_first_factors_without_factors_draw_nothing():
    rng, same = np.random.default_rng(0), np.random.default_rng(0)
    first_factors(rng, 0, 5, np.zeros(3))
    assert rng.random() == same.random()
