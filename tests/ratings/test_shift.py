"""Adding a constant to all ratings changes no probability, however large the constant is."""

import warnings

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys import BayesianLBGModel, LBGModel
from lbg_recsys.ratings.plsa import GaussianPLSAModel

MODELS = {
    "paper": lambda: LBGModel(n_topics=3, random_state=0),
    "baseline": lambda: LBGModel(n_topics=3, baseline=True, random_state=0),
    "plsa": lambda: GaussianPLSAModel(n_topics=3, random_state=0),
    "bayesian": lambda: BayesianLBGModel(n_sweeps=12, burn_in=6, n_chains=1, random_state=0),
}
# Rounding may move a draw of a sampler to the next value of eight bits.
CLOSE = {"paper": 1e-6, "baseline": 1e-6, "plsa": 1e-6, "bayesian": 1e-2}


def ratings(shift):
    rng = np.random.default_rng(5)
    users, items = np.nonzero(rng.random((40, 12)) < 0.5)
    likes = (users % 2 == items % 2) * 2
    return users, items, rng.integers(1, 4, len(users)) + likes + shift


def fitted(name, shift):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]().fit(ratings(shift))


@pytest.mark.parametrize("shift", [-1e7, 300.0, 1e7])
@pytest.mark.parametrize("name", MODELS)
def test_probabilities_do_not_depend_on_where_the_scale_begins(name, shift, tmp_path):
    plain, moved = fitted(name, 0.0), fitted(name, shift)
    pairs = [(user, item) for user in range(40) for item in range(12)] + [(99, 3), (3, 99)]
    expected = plain.predict_distribution(pairs)
    assert np.abs(moved.predict_distribution(pairs) - expected).max() < CLOSE[name]
    assert np.abs(moved.predict_batch(pairs) - shift - plain.predict_batch(pairs)).max() < 5 * CLOSE[name]
    new, new_moved = plain.fold_in({0: 5, 1: 1}), moved.fold_in({0: 5 + shift, 1: 1 + shift})
    assert np.abs(new_moved.distribution([2, 3]) - new.distribution([2, 3])).max() < CLOSE[name]
    loaded = lbg_recsys.load(lbg_recsys.save(moved, tmp_path / "moved.lbg"))
    assert (loaded.predict_distribution(pairs) == moved.predict_distribution(pairs)).all()


@pytest.mark.parametrize("shift", [0.0, 1e7])
def test_the_means_of_topics_are_on_the_scale_of_the_ratings(shift):
    means, _ = fitted("paper", shift).item_gaussians()
    assert (means >= shift + 1).all() and (means <= shift + 5).all()


def test_explanations_and_new_ratings_follow_the_scale():
    plain, moved = fitted("paper", 0.0), fitted("paper", 1e7)
    one, other = plain.explain(3, 4), moved.explain(3, 4)
    assert other.topics[0].mean - 1e7 == pytest.approx(one.topics[0].mean, abs=1e-5)
    assert [found.log_odds for found in other.evidence] == pytest.approx(
        [found.log_odds for found in one.evidence], abs=1e-5
    )
    plain.partial_fit(([0, 50], [1, 2], [5, 1]))
    moved.partial_fit(([0, 50], [1, 2], [5 + 1e7, 1 + 1e7]))
    assert np.abs(moved.predict_distribution([(50, 3)]) - plain.predict_distribution([(50, 3)])).max() < 1e-6
