"""What people give and should not, or may: bad arguments, many ids, nothing fitted yet."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from surprise import AlgoBase, Dataset, Reader

from lbg_recsys import BayesianLBGAlgo, BayesianLBGModel, GaussianPLSAAlgo, LBGAlgo, MovieMeanAlgo, load, save
from lbg_recsys.algorithms import to_surprise
from lbg_recsys.errors import DataError, LBGError, NotFittedError, ParameterError
from lbg_recsys.ratings import LBGModel, as_matrix
from lbg_recsys.ratings.choice import ChoiceModel
from lbg_recsys.ratings.plsa import GaussianPLSAModel

TRIPLES = ([1, 1, 2, 2, 3], [7, 8, 7, 9, 8], [5.0, 4.0, 1.0, 2.0, 3.0])


@pytest.fixture(scope="module")
def model():
    return LBGModel(n_topics=2, random_state=0).fit(TRIPLES, scale=(1, 5))


# -- one or many ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [list, np.array, pd.Series, pd.Index], ids=lambda many: many.__name__)
def test_lists_arrays_series_and_indices_are_many(model, many):
    assert model.recommend(many([1, 2]), 1)["user"].tolist() == [1, 2]
    user = model.fold_in({7: 5})
    np.testing.assert_array_equal(user.predict(many([8, 9])), [user.predict(8), user.predict(9)])
    assert user.distribution(many([8, 9])).shape == (2, 5)
    assert user.interval(many([8, 9])).shape == (2, 2)


def test_anything_else_is_one(model):
    assert model.recommend(np.int64(1), 1).equals(model.recommend(1, 1))
    assert type(model.fold_in({7: 5}).predict(np.int64(8))) is float
    pairs = LBGModel(n_topics=1).fit(([(1, 2), (1, 3)], [(7, 8), (7, 9)], [1, 5]))
    assert len(pairs.recommend((1, 2))) == 1
    assert type(pairs.fold_in({(7, 8): 1}).predict((7, 9))) is float
    for users in ({1, 2}, {1: "a"}.keys()):
        with pytest.raises(DataError, match=r"unhashable.*a list for many"):
            model.recommend(users)


@pytest.mark.parametrize("n", [0, -1, 2.5, "3", True, None])
def test_lists_of_no_length_are_refused(model, n):
    for ask in (
        lambda: model.recommend(1, n),
        lambda: model.fold_in({7: 5}).recommend(n),
        lambda: model.similar_items(7, n),
        lambda: model.similar_users(1, n),
    ):
        with pytest.raises(DataError, match=f"n is {n!r}: give an integer of at least 1"):
            ask()


@pytest.mark.parametrize("by", ["rating", "rated", "liked"])
def test_a_list_longer_than_the_catalogue_takes_no_more_memory_than_the_catalogue(model, by):
    assert len(model.recommend([1, 2, 3], 10**15, by=by)) == 4
    assert len(model.recommend([1, 2, 3], 10**15, by=by, exclude_seen=False)) == 9


def test_equal_items_are_in_order_whatever_the_scale_and_the_rounding(monkeypatch):
    users, items = [0] * 20 + [1] * 2, [*range(20), 20, 21]
    wide = LBGModel(n_topics=1, random_state=0).fit((users, items, [1e6] * 20 + [0, 1e6]), levels=[0, 5e5, 1e6])
    exact, rng = wide.expected_of_users, np.random.default_rng(0)
    monkeypatch.setattr(wide, "expected_of_users", lambda users: exact(users) + rng.uniform(-10, 10, (1, 22)))
    assert wide.recommend(1, 5, by="rating")["item"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("algorithm", [LBGModel, GaussianPLSAModel])
def test_blocks_are_bounded_whatever_the_levels_and_topics(algorithm, monkeypatch):
    users, items = np.nonzero(np.ones((20, 10)))
    ratings = np.random.default_rng(0).integers(0, 101, 200)
    model = algorithm(n_topics=8, random_state=0).fit((users, items, ratings), scale=(0, 100))
    monkeypatch.setattr(
        "lbg_recsys.ratings.questions.recommend._BLOCK_NUMBERS", 5000 if algorithm is LBGModel else 40000
    )
    sizes = [block["user"].nunique() for block in model.recommend_blocks(range(20), 1, exclude_seen=False)]
    assert sizes == [4] * 5  # 4 users x 10 items x 101 levels (x 8 topics)


# -- new users -----------------------------------------------------------------------------------------------------


def test_a_series_of_ratings_is_a_new_user(model):
    ratings = {7: 5.0, 9: 1.0}
    expected = model.fold_in(ratings).posterior
    np.testing.assert_array_equal(model.fold_in(pd.Series(ratings)).posterior, expected)
    np.testing.assert_array_equal(model.fold_in(pd.Series([5, 1], index=[7, 9])).posterior, expected)


@pytest.mark.parametrize("ratings", [None, "7", 7])
def test_what_is_neither_a_mapping_nor_a_list_is_no_new_user(model, ratings):
    with pytest.raises(DataError, match=rf"from an? {type(ratings).__name__}, '?\w+'?: give \{{item: rating"):
        model.fold_in(ratings)


@pytest.mark.parametrize(("rating", "message"), [(None, "for item 7 is nan"), ("good", "must be numbers")])
def test_ratings_of_a_new_user_are_named(model, rating, message):
    with pytest.raises(DataError, match=message):
        model.fold_in({8: 1, 7: rating})


# -- arguments -----------------------------------------------------------------------------------------------------

NUMBER, INTEGER, SHARE = "give a number", "an integer of at least", "at least 0 and below 1"


@pytest.mark.parametrize(
    ("kind", "name", "value", "remedy"),
    [
        (LBGModel, "temperature", "a", NUMBER),
        (LBGModel, "temperature", None, NUMBER),
        (LBGModel, "temperature", True, NUMBER),
        (LBGModel, "n_topics", True, INTEGER),
        (LBGModel, "max_iter", 2.5, INTEGER),
        (LBGModel, "max_iter", None, INTEGER),
        (LBGModel, "tol", float("inf"), NUMBER),
        (LBGModel, "baseline", None, "give True or False"),
        (LBGModel, "point", [], "choose one of"),
        (LBGModel, "random_state", -1, "give None or an integer of at least 0"),
        (LBGModel, "random_state", 1.5, "give None or an integer of at least 0"),
        (GaussianPLSAModel, "n_topics", 2.5, INTEGER),
        (GaussianPLSAModel, "n_topics", "5", INTEGER),
        (GaussianPLSAModel, "max_iter", 2.5, INTEGER),
        (GaussianPLSAModel, "holdout", "a", SHARE),
        (GaussianPLSAModel, "holdout", 1.0, SHARE),
        (GaussianPLSAModel, "holdout", float("nan"), SHARE),
        (GaussianPLSAModel, "prior_strength", -1, NUMBER),
        (GaussianPLSAModel, "prior_strength", float("nan"), NUMBER),
        (GaussianPLSAModel, "random_state", -1, "give None or an integer of at least 0"),
        *((BayesianLBGModel, name, True, INTEGER) for name in ("n_chains", "n_sweeps")),
        (BayesianLBGModel, "burn_in", True, "give 'auto' or an integer of at least 0"),
        (LBGModel, "n_init", np.True_, INTEGER),
    ],
)
def test_bad_parameters_are_named_with_a_remedy(kind, name, value, remedy):
    with pytest.raises(DataError) as caught:
        kind(**{name: value}).fit(TRIPLES)
    assert str(caught.value).startswith(f"{name} is {value!r}: ") and remedy in str(caught.value)


@pytest.mark.parametrize("mass", ["a", None, True, 0, 1, -0.5, float("nan")])
def test_an_interval_holds_some_of_the_mass(model, mass):
    with pytest.raises(ParameterError) as caught:
        model.interval([(1, 9)], mass=mass)
    assert str(caught.value) == f"mass is {mass!r}: give a number above 0 and below 1"


@pytest.mark.parametrize("seed", ["x", 1.5, -1])
def test_bad_seeds_of_algorithms_are_named(seed, sample):
    with pytest.raises(DataError, match=f"random_state is {seed!r}: give None"):
        LBGAlgo(random_state=seed).fit(to_surprise(sample).build_full_trainset())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": "abc"}, "levels is 'abc': give finite numbers"),
        ({"levels": []}, r"levels is \[\]: give finite numbers"),
        ({"levels": [1, np.nan]}, "levels is .*: give finite numbers"),
        ({"scale": ("1", "5")}, r"scale \('1', '5'\) is not valid: give two numbers"),
        ({"scale": (1, 2, 3)}, r"scale \(1, 2, 3\) is not valid"),
        ({"scale": 5}, "scale 5 is not valid"),
        ({"scale": (None, 5)}, "is not valid"),
    ],
)
def test_bad_scales_are_named(options, message):
    with pytest.raises(DataError, match=message):
        as_matrix(TRIPLES, **options)


# -- nothing fitted yet --------------------------------------------------------------------------------------------

CALLS = {
    "predict": lambda one: one.predict(1, 7),
    "test": lambda one: one.test([(1, 7, 3.0)]),
    "estimate": lambda one: one.estimate(0, 0),
    "predict_batch": lambda one: one.predict_batch([(1, 7)]),
    "predict_distribution": lambda one: one.predict_distribution([(1, 7)]),
    "interval": lambda one: one.interval([(1, 7)]),
    "recommend": lambda one: one.recommend(1),
    "recommend_blocks": lambda one: list(one.recommend_blocks([1])),
    "fold_in": lambda one: one.fold_in({7: 5}),
    "explain": lambda one: one.explain(1, 7),
    "similar_items": lambda one: one.similar_items(7),
    "similar_users": lambda one: one.similar_users(1),
    "topics": lambda one: one.topics(),
    "posterior": lambda one: one.posterior(),
    "start_pass": lambda one: one.start_pass(),
}
CLASSES = [
    *(LBGModel, BayesianLBGModel, GaussianPLSAModel),
    *(LBGAlgo, BayesianLBGAlgo, GaussianPLSAAlgo, MovieMeanAlgo),
]


@pytest.mark.parametrize(
    ("kind", "call"),
    [(kind, call) for kind in CLASSES for call in CALLS if hasattr(kind, call)],
    ids=lambda given: getattr(given, "__name__", given),
)
def test_nothing_goes_before_fit(kind, call):
    with pytest.raises(NotFittedError, match=f"this {kind.__name__} is not fitted .*: call fit first"):
        CALLS[call](kind())


@pytest.mark.parametrize("kind", CLASSES)
def test_before_fit_only_what_fit_makes_is_missing(kind, tmp_path):
    fresh = kind()
    assert not hasattr(fresh, "model_") and not hasattr(fresh, "matrix")
    assert all(getattr(fresh, name) == p.default for name, p in inspect.signature(kind).parameters.items())
    with pytest.raises(AttributeError, match="has no attribute 'recomend'") as caught:
        _ = fresh.recomend
    assert not isinstance(caught.value, LBGError)
    with pytest.raises(NotFittedError, match="fit"):
        save(fresh, tmp_path / "model.lbg")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [*CLASSES, ChoiceModel])
def test_only_names_that_fit_makes_are_blamed_on_a_missing_fit(kind):
    fresh, model = kind(), kind(**({"n_sweeps": 3, "burn_in": 1} if "Bayesian" in kind.__name__ else {}))
    frame = pd.DataFrame(dict(zip(("user", "item", "rating"), TRIPLES, strict=True)))
    trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    model.fit(trainset if issubclass(kind, AlgoBase) else frame)
    made = set(vars(model)) - set(vars(fresh)) - {"_training"}
    assert made
    for name in made:
        with pytest.raises(NotFittedError, match=f"it has no {name} yet"):
            getattr(fresh, name)
    for name in ("_typo", "typo_", "__typo__"):
        for one in (fresh, model):
            with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as caught:
                getattr(one, name)
            assert not isinstance(caught.value, LBGError)


def test_an_update_of_nothing():
    with pytest.raises(NotFittedError, match="call fit first"):
        LBGAlgo().partial_fit(TRIPLES)


def test_plsa_reports_its_iterations_and_is_the_same_for_it():
    steps = []
    silent = GaussianPLSAModel(n_topics=2, max_iter=8, random_state=0).fit(TRIPLES)
    model = GaussianPLSAModel(n_topics=2, max_iter=8, random_state=0)
    model.fit(TRIPLES, progress=lambda *step: steps.append(step))
    first, *iterations, last = steps
    notes = [f"log-likelihood {value:.4f}" for value in model.history_]
    assert iterations == [(number, 8, note) for number, note in enumerate(notes, 1)]
    assert (first[:2], last) == ((0, 8), (8, 8, f"{model.n_iter_} iterations"))
    assert len(model.history_) == model.n_iter_ and np.isfinite(model.history_).all()
    np.testing.assert_array_equal(model.mixing_, silent.mixing_)
    np.testing.assert_array_equal(model.parameters_.c, silent.parameters_.c)


# -- ratings that say nothing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LBGModel, GaussianPLSAModel, BayesianLBGModel])
def test_equal_ratings_are_told_once_and_name_the_model_for_choices(model):
    with pytest.warns(UserWarning, match=r"all ratings are equal: 3 times 1, .*ChoiceModel") as told:
        model().fit((["a", "a", "b"], ["x", "y", "x"], [1, 1, 1]))
    assert len([one for one in told if "equal" in str(one.message)]) == 1
    assert told[0].filename == __file__


@pytest.mark.parametrize("algorithm", [LBGAlgo, GaussianPLSAAlgo, BayesianLBGAlgo])
def test_a_surprise_user_with_equal_ratings_is_told(algorithm):
    frame = pd.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"], "rating": [1.0, 1.0, 1.0]})
    trainset = Dataset.load_from_df(frame, Reader(rating_scale=(0, 1))).build_full_trainset()
    with pytest.warns(UserWarning, match=r"all ratings are equal: .*ChoiceModel"):
        algorithm().fit(trainset)


@pytest.mark.parametrize("rating", [1.0, 4.0])
def test_a_bayesian_fit_to_equal_ratings_predicts_them_on_any_scale(rating, tmp_path):
    users, items = np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)
    model = BayesianLBGModel(n_sweeps=8, burn_in=4, random_state=0)
    with pytest.warns(UserWarning, match="all ratings are equal"):
        model.fit((users, items, np.full(24, rating)), scale=(1, 5))
    pairs = [(0, 0), (0, 99), (99, 0), (99, 99)]
    assert model.predict_batch(pairs).tolist() == [rating] * 4
    assert model.fold_in({0: 5}).predict([1, 2]).tolist() == [rating] * 2
    assert model.recommend(0, exclude_seen=False)["expected_rating"].tolist() == [rating] * 4
    save(model, tmp_path / "equal.lbg", chains=True)
    assert load(tmp_path / "equal.lbg").predict_batch(pairs).tolist() == [rating] * 4


def test_equal_ratings_on_a_continuous_scale_are_predicted_between_its_levels():
    model = BayesianLBGModel(n_sweeps=8, burn_in=4, random_state=0)
    with pytest.warns(UserWarning, match="all ratings are equal"):
        model.fit((["a", "a", "b"], ["x", "y", "x"], [4.03] * 3), scale=(0, 10))
    assert model.predict_batch([("a", "x"), ("?", "x")]) == pytest.approx([4.03] * 2)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: model.fit(([0, 1], ["a", "b"], [1, 2]), scale=(0, 10**400)), "not valid"),
        (lambda model: model.fit(([0, 1], ["a", "b"], [1, 2]), levels=[1, 10**400]), "finite numbers"),
        (lambda model: model.fit(([0, 1], ["a", "b"], [1, 2]), levels=range(10_001)), "at most 10,000"),
        (lambda model: model.interval([(0, "a")], 10**400), "mass is 1000"),
        (lambda model: model.fold_in(["a", ["b"]]), "unhashable list"),
        (lambda model: model.fold_in(np.array(5)), "5"),
    ],
)
def test_arguments_that_no_number_or_id_can_be(ask, message):
    """Found by calling everything with odd values: each was an error of Python's or numpy's."""
    model = LBGModel(n_topics=1).fit(([0, 1, 1], ["a", "b", "a"], [1, 2, 3]))
    with pytest.raises(DataError, match=message):
        ask(model)


def test_odd_arguments_of_other_models():
    ratings = ([0, 1, 1], ["a", "b", "a"], [1, 2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bayesian = BayesianLBGModel(n_components=1, n_sweeps=4, burn_in=2, random_state=0).fit(ratings)
    with pytest.raises(DataError, match="features are 3"):
        bayesian.fold_in({"a": 3}, features=3)
    with pytest.raises(DataError, match="unhashable"):
        bayesian.with_item(np.array([1]), {0: 3}, features={})
    choices = ChoiceModel().fit(ratings[:2])
    with pytest.raises(DataError, match="min_probability"):
        choices.recommend(0, min_probability=np.array([]))
    with pytest.raises(DataError, match="one id where many"):
        choices.fold_in(np.array(5))


@pytest.mark.parametrize("time", [5, 100_000_000_001, np.array([[1, 2], [3, 4]]), [[1], [2, 3]]])
def test_times_that_are_not_one_per_rating(time):
    with pytest.raises(DataError, match="one time per rating"):
        BayesianLBGModel(n_sweeps=4, burn_in=2).fit(([0, 1], ["a", "b"], [1, 2]), time=time)
