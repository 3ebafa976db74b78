"""Bayesian LBG as a rating model: what it finds, what it promises, what it refuses."""

import pickle
import warnings

import numpy as np
import pytest

from lbg_recsys.core import levels
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.errors import DataError
from lbg_recsys.ratings import BayesianLBGModel
from tests.lists import brute_force_list

# few sweeps make a test fast, and the sampler has not converged
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_components": 4, "n_sweeps": 40, "burn_in": 15, "random_state": 0}


def generate(seed=0, users=150, items=90, density=0.35, noise=0.6):
    """Ratings 1..5 from a model with planted classes: users, items, ratings, and the distribution of every pair."""
    rng = np.random.default_rng(seed)
    z, c = rng.integers(0, 3, (users, 2)), rng.normal(0, 0.7, (2, items, 3))
    mean = rng.normal(0, 0.3, users)[:, None] + rng.normal(0, 0.3, items)
    mean = mean + sum(c[h][:, z[:, h]].T for h in range(2))
    cuts = np.array([-1.2, -0.4, 0.4, 1.2])
    rating = 1 + np.searchsorted(cuts, mean + noise * rng.normal(size=mean.shape)).astype(float)
    from scipy.special import ndtr

    upto = ndtr((cuts - mean[..., None]) / noise)
    truth = np.diff(upto, axis=2, prepend=0, append=1)
    known = rng.random(mean.shape) < density
    return rating, truth, known


def triple(rating, known):
    users, items = np.nonzero(known)
    return users, items, rating[known]


@pytest.fixture(scope="module")
def planted():
    rating, truth, known = generate()
    model = BayesianLBGModel(n_components=6, n_sweeps=120, burn_in=40, random_state=1).fit(triple(rating, known))
    return model, rating, truth, known


def test_planted_classes_are_recovered(planted):
    model, rating, truth, known = planted
    pairs, hidden = np.argwhere(~known), rating[~known]
    error = np.sqrt(np.mean((model.predict_batch(pairs) - hidden) ** 2))
    oracle = np.sqrt(np.mean((truth[~known] @ model.levels - hidden) ** 2))
    users, items, values = triple(rating, known)
    additive = values.mean() + np.zeros(rating.shape)
    additive += (np.bincount(users, values - values.mean()) / np.bincount(users))[:, None]
    additive += np.bincount(items, values - values.mean()) / np.bincount(items)
    biases = np.sqrt(np.mean((additive[~known] - hidden) ** 2))
    assert error < oracle + 0.35 * (biases - oracle), (oracle, error, biases)


def test_distributions_are_calibrated():
    rating, truth, known = generate()
    model = BayesianLBGModel(likelihood="ordinal", n_components=6, n_sweeps=120, burn_in=40, random_state=1)
    model.fit(triple(rating, known))
    pairs, hidden = np.argwhere(~known), rating[~known]
    probability = model.predict_distribution(pairs)
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-9)
    level = (hidden - 1).astype(int)
    for one in range(5):  # among pairs given some probability of a level, that share has it
        given = probability[:, one]
        for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 1.0)):
            group = (given >= low) & (given < high)
            if group.sum() > 400:
                assert abs((level[group] == one).mean() - given[group].mean()) < 0.07
    low, high = model.interval(pairs, 0.8).T
    assert 0.8 <= np.mean((hidden >= low) & (hidden <= high)) <= 0.97
    score = np.log(probability[np.arange(len(level)), level]).mean()
    best = np.log(truth[~known][np.arange(len(level)), level]).mean()
    assert score > best - 0.2


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    data = triple(*generate(2, 40, 30)[::2])
    pairs = [(u, i) for u in range(40) for i in range(0, 30, 7)]
    one, two, other = (
        BayesianLBGModel(**QUICK | {"n_jobs": jobs, "random_state": seed}).fit(data).predict_distribution(pairs)
        for jobs, seed in ((1, 0), (2, 0), (1, 5))
    )
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - other).max() > 1e-3


def test_every_parameter_has_an_effect():
    data = triple(*generate(2, 40, 30)[::2])
    pairs = [(u, i) for u in range(40) for i in range(0, 30, 7)]
    usual = BayesianLBGModel(**QUICK).fit(data).predict_batch(pairs)
    for change in (
        {"n_components": 3},
        {"n_classes": 5},
        {"n_sweeps": 30},
        {"burn_in": 5},
        {"n_chains": 2},
        {"orientation": "users"},
        {"orientation": "items"},
        {"likelihood": "ordinal"},
        {"likelihood": "gaussian"},
        {"point": "median"},
        {"max_kept": 3},
        {"random_state": 3},
    ):
        changed = BayesianLBGModel(**QUICK | change).fit(data).predict_batch(pairs)
        assert np.abs(changed - usual).max() > 1e-6, change


@pytest.mark.parametrize(
    "levels",
    [np.arange(0.5, 5.1, 0.5), np.arange(-10.0, 11.0), np.array([0.1, 0.7, 3.3, 9.9]), np.array([0.0, 1.0])],
    ids=["halves", "-10..10", "odd", "binary"],
)
def test_any_scale(levels):
    rating, _, known = generate(3, 50, 40)
    place = ((rating - 1) / 4 * (len(levels) - 1)).round().astype(int)
    model = BayesianLBGModel(**QUICK).fit(triple(levels[place], known), levels=levels)
    probability = model.predict_distribution(np.argwhere(~known))
    assert probability.shape[1] == len(levels)
    np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-9)
    assert (probability >= 0).all()
    error = np.abs(model.predict_batch(np.argwhere(~known)) - levels[place][~known]).mean()
    assert error < np.abs(levels[place][~known] - np.median(levels[place][known])).mean()


def test_shifting_and_stretching_the_scale_shifts_and_stretches_the_predictions():
    rating, _, known = generate(3, 40, 30)
    pairs = np.argwhere(~known)
    one = BayesianLBGModel(**QUICK).fit(triple(rating, known)).predict_batch(pairs)
    other = BayesianLBGModel(**QUICK).fit(triple(rating * 20 - 100, known), levels=np.arange(-80.0, 1, 20))
    np.testing.assert_allclose(other.predict_batch(pairs), one * 20 - 100, atol=0.5)


def test_many_levels_fall_back_to_gaussian_chains():
    rng = np.random.default_rng(0)
    rating, _, known = generate(3, 40, 30)
    users, items, values = triple(rating + rng.normal(0, 0.2, rating.shape).round(4), known)
    model = BayesianLBGModel(**QUICK | {"likelihood": "ordinal"}).fit((users, items, values))
    assert not any(draws.ordinal.any() for draws in model._draws.values())
    assert np.isfinite(model.predict_batch(np.argwhere(~known))).all()


def test_unknown_users_and_items_come_from_the_priors(planted):
    model, rating, _, known = planted
    average = rating[known].mean()
    assert np.abs(model.predict_batch([("nobody", "nothing"), (0, "nothing")]) - average).max() < 1
    item_mean = [rating[:, i][known[:, i]].mean() for i in range(90)]
    predicted = model.predict_batch([("nobody", i) for i in range(90)])
    assert np.corrcoef(item_mean, predicted)[0, 1] > 0.8
    spread = levels.std(model.predict_distribution([("nobody", 0), (0, 0)]), model.levels)
    assert spread[0] > spread[1]


def test_folding_in_a_training_user_gives_its_predictions(planted):
    model, rating, _, known = planted
    items = list(range(90))
    for user in (3, 77):
        given = {int(i): float(rating[user, i]) for i in np.flatnonzero(known[user])}
        folded = model.fold_in(given)
        own = model.predict_batch([(user, i) for i in items])
        again = folded.predict(items)
        assert np.abs(again - own).mean() < 0.12
        assert np.corrcoef(again, own)[0, 1] > 0.97
    assert model.matrix.n_users == 150  # nothing changed


@pytest.mark.parametrize("orientation", ["users", "items"])
def test_folding_in_works_in_either_orientation(orientation):
    rating, _, known = generate(4, 100, 60)
    model = BayesianLBGModel(orientation=orientation, n_components=6, n_sweeps=90, burn_in=40, random_state=0)
    model.fit(triple(rating, known))
    given = {int(i): float(rating[5, i]) for i in np.flatnonzero(known[5])}
    own = model.predict_batch([(5, i) for i in range(60)])
    assert np.abs(model.fold_in(given).predict(list(range(60))) - own).mean() < 0.15
    alike = model.fold_in({0: 5.0}).predict(list(range(60)))
    assert alike.min() >= 1 and alike.max() <= 5
    assert len(model.fold_in({0: 5.0}).recommend(3, by="rated")) == 3


def test_a_new_user_is_the_same_whoever_comes_after_and_leaves_no_trace_in_a_pickle():
    rating, _, known = generate()
    model = BayesianLBGModel(**QUICK).fit(triple(rating, known))  # its own: nothing was asked of it before
    size = len(pickle.dumps(model))
    alone, again, first = (model.with_users(model.matrix.subset(np.arange(n))) for n in (1, 1, 3))
    for side in first._draws:
        np.testing.assert_array_equal(alone._draws[side].z, again._draws[side].z)
        np.testing.assert_array_equal(alone._draws[side].c, again._draws[side].c)
    np.testing.assert_array_equal(alone._draws[Side.USERS].z[:, 0], first._draws[Side.USERS].z[:, 0])
    np.testing.assert_array_equal(alone._draws[Side.ITEMS].col_bias[:, 0], first._draws[Side.ITEMS].col_bias[:, 0])
    once_more = first.with_users(model.matrix.subset(np.arange(1)))  # a view takes new users as the model does
    np.testing.assert_array_equal(once_more._draws[Side.ITEMS].c, alone._draws[Side.ITEMS].c)
    model.recommend(3)
    assert len(pickle.dumps(model)) == size


@pytest.mark.parametrize("by", ["rating", "rated", "liked"])
def test_lists_say_what_predictions_say(planted, by, monkeypatch):
    """To the last bit, though they are found by faster sums, in which most items need not be looked at."""
    monkeypatch.setattr("lbg_recsys.ratings.questions.recommend._ROUND", 1)
    model, _, _, _ = planted
    users = list(range(40))
    listed = model.recommend(users, 5, by=by)
    assert len(listed) == 200
    for user, table in listed.groupby("user"):
        items, score, rating = brute_force_list(model, user, 5, by)
        assert table["item"].tolist() == items
        np.testing.assert_array_equal(table["score"], score)
        np.testing.assert_array_equal(table["expected_rating"], rating)


def test_recommendations_by_each_criterion(planted):
    model, rating, _, known = planted
    for by in ("rating", "rated", "liked"):
        listed = model.recommend(3, 5, by=by)
        assert listed["score"].is_monotonic_decreasing
        assert not known[3, listed["item"]].any()
    best = model.recommend(3, 5, by="rating")["item"]
    assert rating[3, best].mean() > rating[3, ~known[3]].mean()
    probability = model.rated_probability(np.zeros(90, np.int64), np.arange(90))
    assert ((probability > 0) & (probability < 1)).all()


def test_progress_sees_every_sweep_and_the_error_falls():
    seen = []
    model = BayesianLBGModel(**QUICK).fit(triple(*generate()[::2]), progress=lambda *now: seen.append(now))
    assert [step[:2] for step in seen] == [(sweep, 40) for sweep in range(41)]
    assert "compiles once" in seen[0][2]
    assert [note for *_, note in seen[1:]] == [f"training error {error:.3f}" for error in model.training_error_]
    assert np.mean(model.training_error_[-5:]) < model.training_error_[0]


def test_a_fit_continues_with_warm_start_in_bounded_memory():
    data = triple(*generate(2, 40, 30)[::2])
    model = BayesianLBGModel(**QUICK | {"warm_start": True, "max_kept": 8}).fit(data)
    first, size = model.predict_batch([(0, 0), (1, 1)]), model.nbytes_
    model.n_sweeps = 10
    model.fit(data)
    assert model.n_sweeps_ == 50
    assert np.abs(model.predict_batch([(0, 0), (1, 1)]) - first).max() > 0
    assert model.nbytes_ <= size * 8 / 4
    for draws in model._draws.values():
        assert 2 * 4 <= len(draws) <= 2 * 8


def test_a_pickled_fit_continues_as_the_fit_itself_does():
    data = triple(*generate(2, 40, 30)[::2])
    model = BayesianLBGModel(**QUICK | {"warm_start": True}).fit(data)
    again = pickle.loads(pickle.dumps(model))
    pairs = [(0, 0), (1, 1), (5, 20)]
    np.testing.assert_array_equal(
        model.fit(data).predict_distribution(pairs), again.fit(data).predict_distribution(pairs)
    )
    assert again.n_sweeps_ == 80


def test_an_interrupt_keeps_what_there_is():
    data = triple(*generate(2, 40, 30)[::2])

    def stop_at(last):
        def progress(sweep, total, note):
            if sweep == last:
                raise KeyboardInterrupt

        return progress

    for jobs in (1, 2):
        model = BayesianLBGModel(**QUICK | {"n_jobs": jobs})
        with pytest.warns(UserWarning, match="interrupted after 30 sweeps"):
            model.fit(data, progress=stop_at(30))
        assert not model.converged_
        assert 1 <= model.predict_batch([(0, 0)])[0] <= 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"burn_in": 40, "n_sweeps": 40}, "burn_in is 40 of n_sweeps=40"),
        ({"burn_in": -1}, "burn_in is -1"),
        ({"n_sweeps": 0, "burn_in": 0}, "n_sweeps is 0"),
        ({"n_components": 0}, "n_components is 0"),
        ({"n_classes": 1}, "n_classes is 1"),
        ({"n_classes": 500}, "n_classes is 500"),
        ({"n_chains": 1.5}, "n_chains is 1.5"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"max_kept": 1}, "max_kept is 1"),
        ({"orientation": "rows"}, "orientation is 'rows'"),
        ({"likelihood": "poisson"}, "likelihood is 'poisson'"),
        ({"point": "best"}, "point is 'best'"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(DataError, match=message):
        BayesianLBGModel(**QUICK | settings).fit(([1, 2], [1, 2], [3, 4]))


def test_users_and_items_with_one_rating():
    users, items = np.arange(12), np.arange(12)
    model = BayesianLBGModel(**QUICK).fit((users, items, np.tile([1.0, 3.0, 5.0], 4)))
    predicted = model.predict_batch([(u, i) for u in range(12) for i in range(12)])
    assert np.isfinite(predicted).all() and predicted.min() >= 1 and predicted.max() <= 5


def test_one_rating_in_all():
    model = BayesianLBGModel(**QUICK).fit((["u"], ["i"], [3]), scale=(1, 5))
    assert 2 < model.predict_batch([("u", "i")])[0] < 4


def test_all_ratings_equal():
    rating, _, known = generate(3, 30, 20)
    users, items, _ = triple(rating, known)
    model = BayesianLBGModel(**QUICK).fit((users, items, np.full(len(users), 4.0)), scale=(1, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        probability = model.predict_distribution([(0, 0), ("new", 1)])
    assert levels.mode(probability, model.levels).tolist() == [4.0, 4.0]
    assert np.abs(levels.mean(probability, model.levels) - 4).max() < 0.3


def test_a_scale_with_one_level():
    model = BayesianLBGModel(**QUICK).fit((["a", "b"], ["x", "x"], [7, 7]))
    assert model.predict_batch([("a", "x"), ("new", "new")]).tolist() == [7.0, 7.0]
    assert model.fold_in({"x": 7}).predict("x") == 7.0
