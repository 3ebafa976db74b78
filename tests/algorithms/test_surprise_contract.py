"""Our algorithms inside Surprise: cross-validation, searches, dumps, and the habits of its users."""

import inspect

import numpy as np
import pandas as pd
import pytest
from surprise import AlgoBase, Dataset, Reader, dump
from surprise.model_selection import GridSearchCV, RandomizedSearchCV, cross_validate, train_test_split

from lbg_recsys import GaussianPLSAAlgo, LBGAlgo, MovieMeanAlgo
from lbg_recsys.algorithms import to_surprise
from lbg_recsys.errors import DataError, ParameterError

ALL = [LBGAlgo, GaussianPLSAAlgo, MovieMeanAlgo]
DISTRIBUTIONAL = [LBGAlgo, GaussianPLSAAlgo]


@pytest.fixture(scope="module")
def data(sample):
    return Dataset.load_from_df(sample.ratings[["user", "item", "rating"]], Reader(rating_scale=(1, 5)))


@pytest.fixture(scope="module")
def split(data):
    return train_test_split(data, test_size=0.2, random_state=0)


def seeded(algorithm):
    return algorithm(random_state=0) if "random_state" in inspect.signature(algorithm).parameters else algorithm()


@pytest.mark.parametrize("algorithm", ALL)
def test_cross_validate(algorithm, data):
    result = cross_validate(seeded(algorithm), data, measures=["rmse", "mae"], cv=3, verbose=False)
    assert len(result["test_rmse"]) == 3
    assert (result["test_rmse"] < 1.5).all()


@pytest.mark.parametrize("algorithm", ALL)
def test_a_testset_at_once_equals_one_by_one(algorithm, split):
    trainset, testset = split
    testset = [
        *testset[:50],
        ("nobody", testset[0][1], 3.0),
        (testset[0][0], "nothing", 3.0),
        ("nobody", "nothing", 3.0),
    ]
    fitted = seeded(algorithm).fit(trainset)
    together = fitted.test(testset)
    for prediction, (user, item, rating) in zip(together, testset, strict=True):
        assert prediction == fitted.predict(user, item, rating)
    assert fitted.test([]) == []


@pytest.mark.parametrize("algorithm", DISTRIBUTIONAL)
def test_details_are_plain_values(algorithm, split):
    trainset, testset = split
    prediction = seeded(algorithm).fit(trainset).test(testset)[0]
    details = prediction.details
    assert details["was_impossible"] is False
    assert type(details["distribution"]) is list
    assert sum(details["distribution"]) == pytest.approx(1.0)
    assert {type(value) for value in details.values()} <= {bool, list, float, int}
    assert prediction == prediction._replace(details=dict(details))


@pytest.mark.parametrize("algorithm", ALL)
def test_dump_before_and_after_fit(algorithm, split, tmp_path):
    trainset, testset = split
    fresh = seeded(algorithm)
    dump.dump(tmp_path / "fresh", algo=fresh)
    _, fresh = dump.load(tmp_path / "fresh")
    predictions = fresh.fit(trainset).test(testset)
    dump.dump(tmp_path / "fitted", predictions, fresh)
    stored, again = dump.load(tmp_path / "fitted")
    assert stored == predictions
    assert again.test(testset) == predictions


@pytest.mark.parametrize("algorithm", [LBGAlgo, GaussianPLSAAlgo])
def test_same_seed_same_bits_and_refitting_resets(algorithm, split, data):
    trainset, testset = split
    first = algorithm(random_state=7).fit(trainset).test(testset)
    used = algorithm(random_state=7)
    used.fit(data.build_full_trainset())
    assert used.fit(trainset).test(testset) == first
    state = np.random.RandomState(3)
    assert algorithm(random_state=state).fit(trainset).test(testset) == algorithm(
        random_state=np.random.RandomState(3)
    ).fit(trainset).test(testset)
    np.random.seed(5)  # noqa: NPY002  # Surprise's users do so
    with_global = algorithm().fit(trainset).test(testset)
    np.random.seed(5)  # noqa: NPY002  # Surprise's users do so
    assert algorithm().fit(trainset).test(testset) == with_global


CHANGES = {
    LBGAlgo: {
        "n_topics": 2,
        "point": "mean",
        "temperature": 0.2,
        "indicator_weight": 0.1,
        "baseline": True,
        "prior_strength": 0.5,
        "n_init": 4,
        "max_iter": 2,
        "tol": 5.0,
        "random_state": 5,
    },
    GaussianPLSAAlgo: {
        "n_topics": 3,
        "point": "mode",
        "prior_strength": 0.5,
        "holdout": 0.4,
        "max_iter": 2,
        "random_state": 5,
    },
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("algorithm", "name"), [(algorithm, name) for algorithm, changes in CHANGES.items() for name in changes]
)
def test_every_parameter_has_an_effect(algorithm, name, split):
    trainset, testset = split
    base = {"random_state": 0, "max_iter": 30}
    usual = algorithm(**base).fit(trainset).test(testset)
    changed = algorithm(**base | {name: CHANGES[algorithm][name]}).fit(trainset).test(testset)
    assert usual != changed


def test_all_parameters_are_covered_and_nothing_swallows_typos():
    for algorithm, changes in CHANGES.items():
        # "lists" changes lists and no prediction (tests/ratings/test_choice_lists.py); "n_jobs" changes no bit
        assert set(changes) == set(inspect.signature(algorithm).parameters) - {"verbose", "lists", "n_jobs"}
        with pytest.raises(TypeError, match="n_topcis"):
            algorithm(n_topcis=3)


def test_verbose_changes_nothing_but_the_screen(split, capsys):
    trainset, testset = split
    loud = LBGAlgo(random_state=0, verbose=True).fit(trainset).test(testset[:2], verbose=True)
    assert loud == LBGAlgo(random_state=0).fit(trainset).test(testset[:2])
    output, error = capsys.readouterr()
    assert "est = " in output and error.splitlines()[-1].endswith(" iterations, 0 s left")


def test_grid_search_in_two_processes(data):
    grid = {"n_topics": [2, 4], "point": ["mode", "mean"], "random_state": [0]}
    search = GridSearchCV(LBGAlgo, grid, measures=["rmse", "mae"], cv=2, n_jobs=2, refit=True)
    search.fit(data)
    assert search.best_params["rmse"]["point"] == "mean"
    best = cross_validate(LBGAlgo(**search.best_params["rmse"]), data, cv=search.cv, verbose=False)
    assert set(best) >= {"test_rmse", "test_mae"}
    assert search.predict("u001", "nothing").est >= 1


def test_randomized_search(data):
    search = RandomizedSearchCV(
        LBGAlgo, {"n_topics": [2, 3, 4, 5], "temperature": [0.3, 1.0]}, n_iter=3, cv=2, random_state=0, n_jobs=2
    )
    search.fit(data)
    assert len(search.cv_results["params"]) == 3
    assert 0 < search.best_score["rmse"] < 1.5


@pytest.mark.parametrize("algorithm", DISTRIBUTIONAL)
@pytest.mark.parametrize("scale", [(1, 5), (0.5, 5), (-10, 10), (0, 1)], ids=lambda scale: f"{scale[0]}..{scale[1]}")
def test_any_scale(algorithm, scale):
    rng = np.random.default_rng(0)
    step = 0.5 if scale == (0.5, 5) else 1.0
    levels = np.arange(scale[0], scale[1] + step / 2, step)
    items = rng.permuted(np.tile(np.arange(20), (30, 1)), axis=1)[:, :10].ravel()
    frame = pd.DataFrame({"user": np.repeat(np.arange(30), 10), "item": items, "rating": rng.choice(levels, 300)})
    trainset = Dataset.load_from_df(frame, Reader(rating_scale=scale)).build_full_trainset()
    fitted = algorithm(n_topics=3, random_state=0).fit(trainset)
    np.testing.assert_allclose(fitted.model_.levels, levels)
    predictions = fitted.test(trainset.build_testset())
    assert all(scale[0] <= prediction.est <= scale[1] for prediction in predictions)
    assert len(predictions[0].details["distribution"]) == len(levels)


def test_off_scale_trainsets_are_refused():
    frame = pd.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [1, 9]})
    trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    with pytest.raises(DataError, match=r"rating 9 of user 2 for item 1 is off the scale 1\.\.5"):
        LBGAlgo().fit(trainset)


def test_the_models_offers_under_the_algorithms_name(split):
    trainset, testset = split
    fitted = LBGAlgo(random_state=0, point="mean").fit(trainset)
    np.testing.assert_allclose(fitted.predict_batch(testset), [p.est for p in fitted.test(testset)])
    np.testing.assert_allclose(
        fitted.predict_distribution(testset[:1])[0], fitted.test(testset[:1])[0].details["distribution"]
    )
    assert fitted.interval(testset, 0.5).shape == (len(testset), 2)
    user, item = testset[0][:2]
    assert len(fitted.recommend(user, 3)) == 3
    assert len(next(fitted.recommend_blocks([user], 3))) == 3
    assert fitted.explain(user, item).user == user
    assert len(fitted.similar_items(item, 2)) == len(fitted.similar_users(user, 2)) == 2
    assert fitted.topics(2) == fitted.model_.topics(2)
    before = fitted.predict(user, item).est
    fitted.partial_fit(([user], [item], [5.0 if before < 3 else 1.0]))
    assert fitted.predict(user, item).est != before
    assert fitted.fold_in({item: 5}).predict(item) <= 5


def test_new_users_and_items_are_predicted_alike_one_by_one_and_together(split):
    """Surprise's trainset does not know them; the model does."""
    trainset, testset = split
    fitted = LBGAlgo(random_state=0, point="mean").fit(trainset)
    user, item = testset[0][:2]
    inner = trainset.to_inner_uid(user), trainset.to_inner_iid(item)
    fitted.partial_fit((["zoe"] * 3 + [user], ["brand new", item, testset[1][1], "brand new"], [5, 1, 5, 1]))
    pairs = [("zoe", item), (user, "brand new"), ("zoe", "brand new"), (user, item), ("nobody", "nothing")]
    together = fitted.test([(*pair, 3.0) for pair in pairs])
    assert [fitted.predict(*pair, 3.0) for pair in pairs] == together
    np.testing.assert_array_equal(fitted.predict_batch(pairs), [prediction.est for prediction in together])
    assert fitted.predict("zoe", item).est != fitted.predict("nobody", item).est
    assert fitted.estimate(*inner)[0] == fitted.predict(user, item).est


def test_predict_keeps_surprises_contract(split, capsys):
    trainset, testset = split
    fitted = LBGAlgo(random_state=0, point="mean").fit(trainset)
    user, item, rating = testset[0]
    prediction = fitted.predict(user, item, r_ui=rating, clip=False, verbose=True)
    assert str(prediction) in capsys.readouterr().out
    assert prediction == fitted.predict(user, item, rating)
    assert (prediction.uid, prediction.iid, prediction.r_ui) == (user, item, rating)
    assert fitted.predict(user, item).r_ui is None
    assert prediction.details["was_impossible"] is False
    assert prediction.est == AlgoBase.predict(fitted, user, item).est
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("algorithm", ALL)
def test_a_fit_that_fails_leaves_the_old_one(algorithm, split):
    trainset, testset = split
    fitted = seeded(algorithm).fit(trainset)
    before = fitted.test(testset)
    frame = pd.DataFrame({"user": [testset[0][0]] * 2, "item": [testset[0][1], "other"], "rating": [1, np.nan]})
    bad = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    with pytest.raises(DataError, match=f"of user {testset[0][0]!r} for item 'other' is nan"):
        fitted.fit(bad)
    assert fitted.test(testset) == before == [fitted.predict(*one) for one in testset]
    assert fitted.trainset is trainset


def test_movie_mean_is_the_mean(split):
    trainset, _ = split
    fitted = MovieMeanAlgo().fit(trainset)
    item = trainset.to_raw_iid(0)
    assert fitted.predict("nobody", item).est == pytest.approx(np.mean([r for _, r in trainset.ir[0]]))
    unknown = fitted.predict("nobody", "nothing")
    assert unknown.details["was_impossible"]
    assert unknown.est == pytest.approx(trainset.global_mean)


def test_a_table_is_no_data_set_with_a_scale(sample):
    with pytest.raises(ParameterError, match=r"^data is a DataFrame: give what a loader of lbg_recsys\.datasets"):
        to_surprise(sample.ratings)
