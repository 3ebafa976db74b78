"""Fits of Bayesian LBG on the sample's ratings: begun, continued, interrupted, assessed, saved, used."""

import itertools
import math
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import lbg_recsys
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.errors import DataError, NotFittedError
from lbg_recsys.ratings import BayesianLBGModel
from lbg_recsys.ratings.bayesian.training import TRACED_PAIRS

# few sweeps make a test fast, and the sampler has not converged
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_components": 3, "n_sweeps": 20, "burn_in": 8, "random_state": 0}


@pytest.fixture(scope="module")
def ratings(sample):
    return sample.ratings[["user", "item", "rating"]].head(1200)


def interrupt(done, total, note):
    if done:
        raise KeyboardInterrupt


# -- new users without ratings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", ["users", "items", "both"])
def test_a_new_user_without_ratings_is_an_unknown_one(ratings, orientation):
    model = BayesianLBGModel(**QUICK | {"orientation": orientation}).fit(ratings)
    items = list(model.matrix.items)
    expected = model.predict_batch([("nobody", item) for item in items])
    popularity = np.bincount(model.matrix.item_codes)
    for given in ({}, {"no such item": 5.0}):
        user = model.fold_in(given)
        np.testing.assert_array_equal(user.predict(items), expected)
        for by in ("rating", "rated", "liked"):
            listed = user.recommend(len(items), by=by)
            assert len(listed) == len(items) and np.isfinite(listed[["score", "expected_rating"]]).all(axis=None)
        rated = user._view.rated_probability(np.zeros(len(items), np.int64), np.arange(len(items)))
        assert np.corrcoef(rated, popularity)[0, 1] > 0.9


def test_new_users_with_and_without_ratings_come_together(ratings):
    model = BayesianLBGModel(**QUICK).fit(ratings)
    one = model.matrix.subset(np.arange(2))
    emptied = replace(one, rows=one.rows.filtered(one.user_codes == 1))
    alone, together = model.with_users(one)._draws[Side.ITEMS], model.with_users(emptied)._draws[Side.ITEMS]
    np.testing.assert_array_equal(alone.col_bias[:, 1], together.col_bias[:, 1])
    np.testing.assert_array_equal(together.col_bias[:, 0], together.col_bias[:, -1])


# -- seeds -------------------------------------------------------------------------------------------------------


def test_without_a_seed_new_users_are_still_the_same_each_time_and_from_a_file(ratings, tmp_path):
    model = BayesianLBGModel(**QUICK | {"random_state": None}).fit(ratings)
    items = list(model.matrix.items)
    given = {items[0]: 5.0, items[3]: 2.0}
    expected = model.fold_in(given).distribution(items)
    np.testing.assert_array_equal(model.fold_in(given).distribution(items), expected)
    loaded = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    np.testing.assert_array_equal(loaded.fold_in(given).distribution(items), expected)
    assert loaded.random_state is None and loaded.seed_ == model.seed_
    other = BayesianLBGModel(**QUICK | {"random_state": None}).fit(ratings)
    assert other.seed_ != model.seed_


def test_a_seed_that_is_none_is_named(ratings):
    with pytest.raises(DataError, match="random_state is -1"):
        BayesianLBGModel(**QUICK | {"random_state": -1}).fit(ratings)


# -- continuing --------------------------------------------------------------------------------------------------


def test_warm_start_goes_on_with_the_same_ratings_only(ratings):
    model = BayesianLBGModel(**QUICK | {"warm_start": True}).fit(ratings)
    assert model.fit(ratings.copy()).n_sweeps_ == 40
    renamed = ratings.assign(user=ratings.user + 1000)
    assert model.fit(renamed).n_sweeps_ == 20
    assert set(model.matrix.users) == set(renamed.user)
    relabelled = renamed.assign(item=renamed.item + 1000)
    assert model.fit(relabelled).n_sweeps_ == 20
    assert model.fit(relabelled, scale=(0, 5)).n_sweeps_ == 20
    assert len(model.levels) == 6
    assert model.fit(relabelled.assign(rating=6 - relabelled.rating), scale=(0, 5)).n_sweeps_ == 20


def test_warm_start_with_other_chains_starts_again(ratings):
    model = BayesianLBGModel(**QUICK | {"warm_start": True}).fit(ratings)
    for name, value in {"n_classes": 4, "n_chains": 2, "orientation": "users", "max_kept": 5}.items():
        setattr(model, name, value)
        assert model.fit(ratings).n_sweeps_ == 20, name
    model.point, model.n_jobs, model.n_sweeps = "median", 2, 5
    assert model.fit(ratings).n_sweeps_ == 25


# -- interrupts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_interrupted_in_its_burn_in_leaves_the_model_as_it_was(ratings, sample, n_jobs):
    model = BayesianLBGModel(**QUICK | {"n_jobs": n_jobs}).fit(ratings)
    pairs = ratings[["user", "item"]].head(50)
    before = model.predict_distribution(pairs)
    with pytest.raises(KeyboardInterrupt):
        model.fit(sample.ratings[["user", "item", "rating"]], progress=interrupt)
    np.testing.assert_array_equal(model.predict_distribution(pairs), before)
    assert model.matrix.n_ratings == 1200 and model.n_sweeps_ == 20
    unknown = BayesianLBGModel(**QUICK)
    with pytest.raises(KeyboardInterrupt):
        unknown.fit(ratings, progress=interrupt)
    with pytest.raises(NotFittedError, match="call fit first"):
        unknown.predict_distribution(pairs)


# -- convergence -------------------------------------------------------------------------------------------------


def test_a_sampler_that_has_not_converged_is_reported_with_figures_and_a_remedy(ratings):
    with pytest.warns(ConvergenceWarning, match="has not converged.*--param n_sweeps=24") as caught:
        model = BayesianLBGModel(n_sweeps=12, burn_in=0, random_state=0).fit(ratings)
    assert not model.converged_ and len(model.rhat_) == TRACED_PAIRS
    assert model.rhat_share_ == np.mean(model.rhat_ > 1.1) > 0.5 and model.rhat_median_ == np.median(model.rhat_)
    error, limit = model.monte_carlo_error_, 0.15 * model.training_error_[-1]
    assert error > limit
    assert f"is {error:.4f} and should be at most {limit:.4f}, 15% of the training" in str(caught[0].message)


def test_a_sampler_that_has_converged_is_not_reported(ratings):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = BayesianLBGModel(n_components=3, n_factors=0, n_sweeps=1000, burn_in=200, random_state=0).fit(ratings)
    assert model.converged_ and model.monte_carlo_error_ < 0.15 * model.training_error_[-1]


def test_too_few_sweeps_to_tell_are_not_called_converged(ratings):
    with pytest.warns(ConvergenceWarning, match=r"too few sweeps to assess.*at least 4") as caught:
        model = BayesianLBGModel(n_sweeps=4, burn_in=1, random_state=0).fit(ratings)
    assert "nan" not in str(caught[0].message)
    assert not model.converged_
    assert np.isnan([model.rhat_share_, model.rhat_median_, model.monte_carlo_error_]).all()
    with pytest.warns(ConvergenceWarning, match="has not converged"):
        BayesianLBGModel(n_sweeps=5, burn_in=1, random_state=0).fit(ratings)


@pytest.mark.parametrize(("seconds", "sweeps", "kept"), [(0.5, 12, 8), (37.5, 300, 12)])
def test_a_fit_makes_the_most_of_its_time(ratings, monkeypatch, seconds, sweeps, kept):
    """A clock that moves by an eighth of a second per sweep; the first third of the sweeps is not used."""
    passed = itertools.count(0.0, 0.125)
    clock = SimpleNamespace(monotonic=lambda: next(passed))
    monkeypatch.setattr("lbg_recsys.core.gibbs.chains.time", clock)
    seen = []
    model = BayesianLBGModel(max_seconds=seconds, max_kept=16, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(ratings, progress=lambda *step: seen.append(step))
    assert model.n_sweeps_ == sweeps  # one more would end after the time
    assert [len(draws) for draws in model._draws.values()] == [2 * kept, 2 * kept]
    assert seen[-1][1] == math.ceil(seconds) and f"sweep {model.n_sweeps_ - 1}, training error" in seen[-1][2]


# -- memory ------------------------------------------------------------------------------------------------------


def memory(thing, seen):
    """The bytes of all arrays that are held, each counted once."""
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return memory(thing.base, seen) if isinstance(thing.base, np.ndarray) else thing.nbytes
    if isinstance(thing, (dict, list, tuple)):
        return sum(memory(one, seen) for one in (thing.values() if isinstance(thing, dict) else thing))
    return memory(vars(thing), seen) if hasattr(thing, "__dict__") else 0


@pytest.mark.data
def test_a_movielens_model_that_has_been_used_is_small_and_so_is_its_file(movielens, tmp_path):
    frame = movielens.ratings
    model = BayesianLBGModel(n_sweeps=42, burn_in=2, random_state=0)  # as many kept sweeps as the defaults have
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit((frame.user, frame.item, frame.rating))
    assert all(len(draws) == 2 * model.max_kept for draws in model._draws.values())
    assert 20e6 < model.nbytes_ < memory(model, set()) < 40e6  # with its chains and its ratings, by user and by item
    model.fold_in({1: 5.0, 2: 3.0}).recommend(5)
    model.recommend(list(model.matrix.users), 10)
    assert memory(model.choices, set()) > 5e6 and memory(model, set()) < 50e6
    path = lbg_recsys.save(model, tmp_path / "model.lbg", titles=movielens.items["title"].to_dict())
    assert path.stat().st_size < 20e6


def test_a_level_out_of_sight_of_the_ratings_is_refused():
    """A new user's rating of it would be a residual that no chain can compute with."""
    with pytest.raises(DataError, match=r"reaches from 0 to 1e\+19, which is more than 1e\+09 standard deviations"):
        BayesianLBGModel(n_sweeps=2, burn_in=1).fit(([1, 1, 2], [1, 2, 1], [0, 1, 1]), levels=[0, 1, 1e19])
    far = BayesianLBGModel(n_sweeps=4, burn_in=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        far.fit(([1, 1, 2], [1, 2, 1], [0, 1, 1]), levels=[0, 1, 1e8])
    for item in (1, 2):
        assert np.isfinite(far.fold_in({item: 1e8}).distribution([1, 2])).all()


@pytest.mark.parametrize("likelihood", ["mixed", "gaussian"])
def test_ratings_that_items_determine_can_be_saved(likelihood, tmp_path):
    """Nearly no rating lies near a cut point of a Gaussian chain, which a Newton step then moved out of any range."""
    rng = np.random.default_rng(0)
    users, items = np.repeat(np.arange(300), 20), np.concatenate([rng.permutation(60)[:20] for _ in range(300)])
    model = BayesianLBGModel(n_sweeps=60, burn_in=30, likelihood=likelihood, random_state=0)
    model.fit((users, items, 1 + items % 5))
    pairs = list(zip(users[:40].tolist(), items[:40].tolist(), strict=True))
    found = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg")).predict_distribution(pairs)
    assert (found[np.arange(40), items[:40] % 5] > (0.9 if likelihood == "mixed" else 0.4)).all()
