"""EASE against its formula, popularity, and what is offered when."""

import sys
import types

import numpy as np
import pytest

from lbg_recsys.algorithms import to_surprise
from lbg_recsys.algorithms.convert import matrix_of
from lbg_recsys.evaluation import rivals
from lbg_recsys.evaluation.lists import Relevant, hits, lister_of_scores, ndcg
from lbg_recsys.ratings import as_matrix


@pytest.fixture(scope="module")
def matrix(sample):
    return as_matrix(sample.ratings)


@pytest.mark.parametrize(("variant", "grade"), [("liked", 0.0), ("all", 1.0), ("graded", 0.3)])
@pytest.mark.parametrize("n_users", [None, 40], ids=["more users than items", "more items than users"])
def test_ease_is_its_formula(matrix, variant, grade, n_users):
    train = matrix if n_users is None else matrix.subset(np.arange(n_users))
    x = np.zeros((train.n_users, train.n_items))
    x[train.user_codes, train.item_codes] = np.where(train.values >= 4, 1.0, grade)
    precision = np.linalg.inv(x.T @ x + 50.0 * np.eye(train.n_items))
    weights = -precision / np.diag(precision)
    np.fill_diagonal(weights, 0.0)
    users = np.array([5, 0, 17])
    assert rivals.ease(train, variant=variant, penalty=50.0)(users) == pytest.approx((x @ weights)[users], abs=2e-5)


def test_penalty_is_the_best_of_its_neighbours_on_the_inner_split(matrix):
    chosen = rivals.choose_penalty(matrix, seed=3)
    held_out = rivals.random_share(matrix.n_ratings, 0.2, 3)
    inner = rivals.replace(matrix, rows=matrix.rows.filtered(~held_out))
    entries = matrix.user_codes[held_out], matrix.item_codes[held_out], matrix.values[held_out]
    relevant = Relevant.find(inner, *entries, 4.0)
    users = relevant.users()

    def quality(penalty):
        lists = lister_of_scores(rivals.ease(inner, penalty=penalty), inner)(users, 10)
        return ndcg(hits(lists, users, relevant), relevant.counts[users]).mean()

    assert quality(chosen) >= max(quality(chosen / 2), quality(chosen * 2)) - 1e-12


def test_nobody_who_likes_anything_leaves_the_penalty_alone():
    few = as_matrix((["a", "a", "b"], ["x", "y", "x"], [1, 2, 1]), scale=(1, 5))
    assert rivals.choose_penalty(few) == 200.0
    assert rivals.ease(few)(np.array([0, 1])).shape == (2, 2)


def test_popularity_is_the_number_of_ratings(matrix):
    scores = rivals.popularity(matrix)(np.array([0, 3]))
    assert (scores == np.bincount(matrix.item_codes)).all() and scores.shape == (2, matrix.n_items)


def test_what_is_left_out_is_said(matrix, monkeypatch):
    monkeypatch.setattr(rivals, "find_spec", lambda name: None)
    size = min(matrix.n_items, matrix.n_users)
    every, nothing = rivals.rivals_for(matrix), rivals.rivals_for(matrix, largest=size - 1)
    assert list(every.found) == ["popularity", "EASE, liked", "EASE, all", "EASE, graded"]
    assert every.left_out == ["implicit ALS is left out: the library implicit is not installed"]
    assert list(nothing.found) == ["popularity"]
    assert f"EASE is left out: it would invert a matrix of {size:,} rows" in nothing.left_out[0]
    # a user with a single item is no row of the matrix, so this one is small
    many = as_matrix(([*range(9), 0], [*range(9), 1], [1, 2] * 5))
    assert "EASE, all" in rivals.rivals_for(many, largest=1).found


def test_choices_have_one_variant_of_ease():
    clicks = as_matrix((["a", "a", "b"], ["x", "y", "x"], [1, 1, 1]))
    found = rivals.rivals_for(clicks).found
    assert "EASE" in found and "EASE, liked" not in found
    assert found["EASE"](clicks, 0)(np.array([1])).argmax() == 1


def test_implicit_takes_part_where_it_is_installed(matrix, monkeypatch):
    class Factors:
        def __init__(self, factors, regularization, random_state, num_threads):
            self.seed = random_state

        def fit(self, x, show_progress):
            assert (x.shape, x.nnz, set(x.data)) == ((matrix.n_users, matrix.n_items), matrix.n_ratings, {1.0})
            self.user_factors = np.arange(2.0 * matrix.n_users).reshape(-1, 2)
            self.item_factors = np.full((matrix.n_items, 2), self.seed)

    als = types.ModuleType("implicit.als")
    als.AlternatingLeastSquares = Factors
    monkeypatch.setitem(sys.modules, "implicit.als", als)
    monkeypatch.setattr(rivals, "find_spec", lambda name: name == "implicit")
    fit = rivals.rivals_for(matrix).found["implicit ALS"]
    assert fit(matrix, 2)(np.array([1, 0]))[:, 0].tolist() == [10.0, 2.0]
    monkeypatch.setattr(rivals, "find_spec", lambda name: None)
    assert "implicit ALS" not in rivals.rivals_for(matrix).found


@pytest.mark.data
def test_ease_has_the_known_quality_on_movielens(movielens):
    """An earlier survey found NDCG .368 (lambda 200, liked ratings), .362 (lambda 500, all) and .185 on this fold."""
    from surprise.model_selection import KFold

    folds = KFold(n_splits=5, random_state=0, shuffle=True).split(to_surprise(movielens))
    trainset, testset = next(iter(folds))
    train = matrix_of(trainset)
    users, items, ratings = zip(*testset, strict=True)
    relevant = Relevant.find(train, train.users.codes(users), train.items.codes(items), np.array(ratings), 4.0)
    found = relevant.users()
    assert len(found) == 916

    def quality(scores):
        return ndcg(hits(lister_of_scores(scores, train)(found, 10), found, relevant), relevant.counts[found]).mean()

    assert quality(rivals.ease(train, variant="liked", penalty=200.0)) == pytest.approx(0.368, abs=6e-4)
    assert quality(rivals.ease(train, variant="all", penalty=500.0)) == pytest.approx(0.362, abs=6e-4)
    assert quality(rivals.popularity(train)) == pytest.approx(0.185, abs=6e-4)
