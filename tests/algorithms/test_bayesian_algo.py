"""Bayesian LBG under Surprise: its contract, its tools, and the same predictions as the model's own."""

import copy

import numpy as np
import pandas as pd
import pytest
from surprise import Dataset, Reader, dump
from surprise.model_selection import GridSearchCV, cross_validate

from lbg_recsys import BayesianLBGAlgo
from lbg_recsys.algorithms import to_surprise
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.datasets import load_sample

# few sweeps make a test fast, and the sampler has not converged
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_components": 4, "n_sweeps": 25, "burn_in": 10, "random_state": 0}


@pytest.fixture(scope="module")
def data(sample):
    frame = sample.ratings[["user", "item", "rating"]].head(1500)
    return Dataset.load_from_df(frame, Reader(rating_scale=(frame.rating.min(), frame.rating.max())))


@pytest.fixture(scope="module")
def fitted(data):
    return BayesianLBGAlgo(**QUICK).fit(data.build_full_trainset())


def test_single_and_batch_predictions_agree_and_details_are_plain(fitted, data):
    testset = data.build_full_trainset().build_testset()[:50]
    for batch, (user, item, truth) in zip(fitted.test(testset), testset, strict=True):
        single = fitted.predict(user, item, truth)
        assert single == batch
        assert not single.details["was_impossible"]
        assert isinstance(single.details["distribution"], list) and isinstance(single.details["std"], float)
    batch = fitted.predict_batch([pair[:2] for pair in testset])
    np.testing.assert_allclose(batch, [one.est for one in fitted.test(testset)])
    expected = fitted.predict_distribution([testset[0][:2]]) @ fitted.model_.levels
    assert fitted.predict(*testset[0][:2]).est == pytest.approx(float(expected[0]))


def test_unknown_ids_are_predicted(fitted):
    for user, item in (("nobody", "nothing"), ("nobody", fitted.trainset.to_raw_iid(0))):
        prediction = fitted.predict(user, item)
        assert not prediction.details["was_impossible"]
        assert fitted.trainset.rating_scale[0] <= prediction.est <= fitted.trainset.rating_scale[1]


def test_surprise_tools_work(data, tmp_path):
    scores = cross_validate(BayesianLBGAlgo(**QUICK), data, cv=2, verbose=False)
    assert (scores["test_rmse"] < 2).all()
    grid = {name: [value] for name, value in QUICK.items()} | {"n_components": [2, 3]}
    search = GridSearchCV(BayesianLBGAlgo, grid, measures=["rmse"], cv=2, n_jobs=2)
    search.fit(data)
    assert search.best_params["rmse"]["n_components"] in (2, 3)
    algorithm = BayesianLBGAlgo(**QUICK)
    dump.dump(str(tmp_path / "before"), algo=algorithm)
    algorithm.fit(data.build_full_trainset())
    dump.dump(str(tmp_path / "after"), algo=algorithm)
    again = dump.load(str(tmp_path / "after"))[1]
    pair = data.raw_ratings[0][:2]
    assert again.predict(*pair) == algorithm.predict(*pair) == copy.deepcopy(algorithm).predict(*pair)
    unfitted = dump.load(str(tmp_path / "before"))[1]
    assert unfitted.fit(data.build_full_trainset()).predict(*pair) == algorithm.predict(*pair)


def test_refitting_starts_again_unless_told_to_continue(data):
    trainset = data.build_full_trainset()
    algorithm = BayesianLBGAlgo(**QUICK)
    pair = data.raw_ratings[0][:2]
    first = algorithm.fit(trainset).predict(*pair)
    assert algorithm.fit(trainset).predict(*pair) == first
    algorithm.warm_start, algorithm.n_sweeps = True, 5
    assert algorithm.fit(trainset).model_.n_sweeps_ == 30
    assert algorithm.predict(*pair) != first


def test_a_continued_fit_has_the_parameters_of_the_algorithm(data):
    trainset, pair = data.build_full_trainset(), data.raw_ratings[0][:2]
    algorithm = BayesianLBGAlgo(**QUICK | {"warm_start": True, "random_state": None}).fit(trainset)
    seed = algorithm.model_.seed_
    algorithm.point = "mode"
    assert algorithm.fit(trainset).model_.n_sweeps_ == 50
    assert algorithm.predict(*pair).est in algorithm.model_.levels and algorithm.model_.seed_ == seed
    for change in ({"n_components": 3}, {"likelihood": "gaussian"}, {"random_state": 7}):
        vars(algorithm).update(change)
        model = algorithm.fit(trainset).model_
        assert model.n_sweeps_ == 25 and model.get_params().items() >= change.items()
    assert model.seed_ == 7 and model._draws[Side.USERS].z.shape[2] == 3


def test_a_continued_fit_that_fails_leaves_the_algorithm_as_it_was(data):
    trainset, pair = data.build_full_trainset(), data.raw_ratings[0][:2]
    algorithm = BayesianLBGAlgo(**QUICK | {"warm_start": True}).fit(trainset)
    before = algorithm.predict(*pair)
    algorithm.n_components = 3

    def fail(done, total, note):
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        algorithm.fit(trainset, progress=fail)
    assert algorithm.predict(*pair) == before and algorithm.model_.n_components == 4


def test_progress_sees_every_sweep_and_verbose_writes_ten_lines_where_there_is_no_terminal(data, capsys):
    seen = []
    quiet = BayesianLBGAlgo(**QUICK).fit(data.build_full_trainset(), progress=lambda *now: seen.append(now))
    errors = quiet.model_.training_error_
    assert seen[1:] == [(sweep, 25, f"training error {error:.3f}") for sweep, error in enumerate(errors, 1)]
    assert capsys.readouterr().err == ""
    BayesianLBGAlgo(**QUICK | {"verbose": True}).fit(data.build_full_trainset())
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert f"25/25, training error {errors[-1]:.3f}, 0 s left" in lines[-1]


def test_what_it_offers_beyond_surprise(fitted):
    user, item = fitted.trainset.to_raw_uid(0), fitted.trainset.to_raw_iid(0)
    low, high = fitted.interval([(user, item)])[0]
    assert low <= fitted.predict(user, item).est <= high
    assert len(fitted.recommend(user, 3)) == 3
    folded = fitted.fold_in({item: fitted.trainset.rating_scale[1]})
    assert fitted.trainset.rating_scale[0] <= folded.predict(item) <= fitted.trainset.rating_scale[1]


def test_features_reach_the_model_by_the_constructor():
    data = load_sample()
    rng = np.random.default_rng(0)
    items = pd.DataFrame({"year": rng.integers(1950, 2000, 120)}, index=data.ratings["item"].unique())
    settings = {"n_components": 2, "n_sweeps": 8, "burn_in": 4, "random_state": 0}
    algo = BayesianLBGAlgo(item_features=items, **settings)
    assert "item_features=<DataFrame of 120 x 1>" in repr(algo)
    algo.fit(to_surprise(data).build_full_trainset())
    assert algo.model_.item_features_.names == ["year"]
    assert algo.fold_in_item({1: 5, 2: 4}).predict(3) > 1
    found = cross_validate(algo, to_surprise(data), measures=["rmse"], cv=2)
    assert np.isfinite(found["test_rmse"]).all()
    grid = {name: [value] for name, value in settings.items()} | {"item_features": [None, items]}
    search = GridSearchCV(BayesianLBGAlgo, grid, measures=["rmse"], cv=2)
    search.fit(to_surprise(data))
    assert len(search.cv_results["mean_test_rmse"]) == 2


def test_times_reach_the_model_by_the_constructor(movielens_like):
    """Cross-validation and grid search know the times of both parts of a fold by the table."""
    table, data, settings = movielens_like
    algo = BayesianLBGAlgo(time=table, **settings).fit(data.build_full_trainset())
    model = algo.model_
    found = algo.test([(1, 2, None), (3, 4, None)])
    times = table.set_index(["user", "item"])["timestamp"]
    asked = [(1, 2), (3, 4)]
    expected = model.predict_distribution(asked, time=[times[pair] for pair in asked])
    np.testing.assert_array_equal([one.details["distribution"] for one in found], expected)
    assert algo.predict(1, 2).est == found[0].est
    scores = cross_validate(BayesianLBGAlgo(time=table, **settings), data, cv=2)
    assert np.isfinite(scores["test_rmse"]).all()
    search = GridSearchCV(
        BayesianLBGAlgo, {name: [value] for name, value in settings.items()} | {"time": [None, table]}, cv=2
    )
    search.fit(data)
    assert search.best_params["rmse"]["time"] is table  # the ratings follow the days


@pytest.fixture
def movielens_like():
    rng = np.random.default_rng(0)
    rows = [
        (user, item, float(np.clip(np.rint(3 + mood + rng.normal(0, 0.3)), 1, 5)), 86400 * day)
        for user in range(30)
        for day in range(4)
        for mood in [rng.normal(0, 1.2)]
        for item in range(5 * day, 5 * day + 5)
    ]
    table = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    data = Dataset.load_from_df(table[["user", "item", "rating"]], Reader(rating_scale=(1, 5)))
    return table, data, {"n_components": 2, "n_sweeps": 40, "burn_in": 20, "random_state": 0}
