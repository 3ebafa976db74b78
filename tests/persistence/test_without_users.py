"""A file without users holds nothing of them and serves new users as the model with them does."""

import json
import pickle
import zlib

import numpy as np
import pandas as pd
import pytest

import lbg_recsys
from lbg_recsys.errors import DataError, ModelFileError, ParameterError
from lbg_recsys.persistence.container import read_container, write_container
from lbg_recsys.persistence.contents import look_into
from lbg_recsys.ratings import BayesianLBGModel, GaussianPLSAModel, LBGModel
from lbg_recsys.ratings.choice import ChoiceModel

KEPT = {"n_sweeps": 12, "burn_in": 6, "n_components": 3, "random_state": 0}
MODELS = {
    "lbg": LBGModel(n_topics=3, random_state=0),
    "lbg-baseline": LBGModel(n_topics=2, baseline=True, lists="choice", random_state=0),
    "plsa": GaussianPLSAModel(n_topics=2, random_state=0),
    "bayesian": BayesianLBGModel(**KEPT),
    "bayesian-users": BayesianLBGModel(orientation="users", **KEPT),
    "bayesian-items": BayesianLBGModel(orientation="items", likelihood="ordinal", **KEPT),
    "choice": ChoiceModel(),
}
NEW = {"film 3": 5, "film 4": 2, "film 9": 4, "film 11": 1}
WHO = "private person {}".format


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(5)
    rated = rng.random((60, 25)) < 0.4
    users, items = np.nonzero(rated)
    values = rng.integers(1, 6, len(users)).astype(float)
    return pd.DataFrame({"user": [WHO(u) for u in users], "item": [f"film {i}" for i in items], "rating": values})


@pytest.fixture(scope="module", params=MODELS)
def both(request, ratings, tmp_path_factory):
    """A model, and the one that is loaded from its file without users."""
    model = MODELS[request.param]
    more = {}
    if request.param == "bayesian":
        ages = pd.DataFrame({"user": [WHO(u) for u in range(70)], "age": np.arange(70) % 50})
        more["user_features"] = ages
    model.fit(ratings, **more)
    path = tmp_path_factory.mktemp("files") / "model.lbg"
    titles = {f"film {i}": f"Title {i}" for i in range(25)}
    lbg_recsys.save(model, path, titles=titles, ratings=False)
    return model, lbg_recsys.load(path), path


def decompressed(path):
    data = path.read_bytes()
    parts = [data]
    for start in range(len(data)):
        if data[start] == 0x78:  # where a zlib stream may begin
            inflater = zlib.decompressobj()
            try:
                parts.append(inflater.decompress(data[start:]))
            except zlib.error:
                continue
    return b"".join(parts)


@pytest.mark.filterwarnings("ignore")
class TestFile:
    def test_holds_no_user(self, both):
        *_, path = both
        assert b"private person" not in decompressed(path)
        header, arrays = read_container(path)
        assert header["ratings"]["users"] == []
        assert "private" not in json.dumps(header)
        assert not {"indptr", "items_of", "values"} & set(arrays)
        assert not [name for name, array in arrays.items() if 60 in array.shape or 61 in array.shape]

    def test_is_the_same_when_saved_again(self, both, tmp_path):
        _, loaded, path = both
        for ratings in (True, False):
            again = lbg_recsys.save(loaded, tmp_path / "again.lbg", ratings=ratings)
            assert again.read_bytes() == path.read_bytes()

    def test_says_what_it_was_fitted_to(self, both):
        model, loaded, path = both
        about = look_into(path).about
        assert (about["n_users"], about["n_ratings"]) == (model.matrix.n_users, model.matrix.n_ratings)
        assert about["users_in_file"] is False
        assert loaded.matrix.size_in_words.endswith("60 users, not held")

    def test_damage_is_refused(self, both, tmp_path):
        *_, path = both
        for spoil in SPOILT:
            header, arrays = read_container(path)
            spoil(header["ratings"]["crowd"], arrays)
            with open(tmp_path / "bad.lbg", "wb") as stream:
                write_container(stream, header, arrays)
            with pytest.raises(ModelFileError, match="not a model file that can be used"):
                lbg_recsys.load(tmp_path / "bad.lbg")


SPOILT = (
    lambda facts, arrays: facts.update(users=0),
    lambda facts, arrays: facts.update(users=3),  # fewer than have rated one item
    lambda facts, arrays: facts.update(amounts=[1.0, 0.0, 0.0, 2.0]),
    lambda facts, arrays: facts.update(mean=99.0),
    lambda facts, arrays: facts.update(grade=-1.0),
    lambda facts, arrays: arrays["item_totals"].__imul__(9),
    lambda facts, arrays: arrays["level_counts"].__iadd__(1),
    lambda facts, arrays: arrays["pairs_columns"].__isub__(1),
    lambda facts, arrays: arrays["pairs_columns"].__iadd__(1),
    lambda facts, arrays: arrays["pairs_indptr"].__setitem__(1, 10**6),
    lambda facts, arrays: arrays["pairs_values"].__imul__(-1),
    lambda facts, arrays: arrays.pop("average"),
)


@pytest.mark.filterwarnings("ignore")
class TestNewUsers:
    def test_lists_are_those_of_the_whole_model(self, both):
        model, loaded, _ = both
        for wishes in ({}, {"diversity": 0.5}, {"exclude_seen": False, "n": 3}):
            for given in (NEW, {}):
                expected = model.fold_in(given).recommend(**wishes)
                found = loaded.fold_in(given).recommend(**wishes)
                assert found["item"].tolist() == expected["item"].tolist()
                assert np.allclose(found["score"], expected["score"], rtol=1e-4)
                assert found["title"][0].startswith("Title")

    def test_predictions_are_those_of_the_whole_model(self, both):
        model, loaded, _ = both
        if isinstance(model, ChoiceModel):
            return
        items = [*model.matrix.items, "unknown film"]
        expected, found = (one.fold_in(NEW).distribution(items) for one in (model, loaded))
        assert np.array_equal(found, expected)
        pairs = [("nobody", item) for item in items]
        assert np.array_equal(loaded.predict_distribution(pairs), model.predict_distribution(pairs))
        # nor is anybody of the training known: this is what the model knows of all users
        of_one = loaded.predict_batch([(WHO(1), "film 3")])
        assert of_one == loaded.predict_batch([("nobody", "film 3")])
        for by in ("rated", "rating", "sure"):
            expected, found = (one.fold_in(NEW).recommend(by=by) for one in (model, loaded))
            assert np.allclose(found["score"], expected["score"], atol=2e-3)

    def test_explanations_and_similar_items(self, both):
        model, loaded, _ = both
        expected, found = (dict(one.similar_items("film 3", 24)) for one in (model, loaded))
        assert expected.keys() == found.keys()
        assert all(abs(expected[item] - found[item]) < 1e-5 for item in expected)
        whole, part = (one.fold_in(NEW).explain("film 20") for one in (model, loaded))
        if isinstance(model, ChoiceModel):
            assert part.choice_score == pytest.approx(whole.choice_score, rel=1e-4)
            assert part.because[0].item == whole.because[0].item
        else:
            assert part.distribution == whole.distribution

    def test_features_of_a_new_user(self, both):
        model, loaded, _ = both
        if getattr(model, "user_features_", None) is None or not model.user_features_.features:
            return
        expected, found = (one.fold_in(NEW, features={"age": 30}).predict("film 7") for one in (model, loaded))
        assert found == expected

    def test_a_copy_and_a_pickle_serve_too(self, both):
        _, loaded, _ = both
        again = pickle.loads(pickle.dumps(loaded))
        expected, found = (one.fold_in(NEW).recommend(5) for one in (loaded, again))
        assert found.equals(expected)


@pytest.mark.filterwarnings("ignore")
class TestRefusals:
    def test_questions_about_users(self, both):
        _, loaded, _ = both
        with pytest.raises(DataError, match="saved without its users"):
            loaded.recommend(WHO(1))
        with pytest.raises(DataError, match="saved without its users"):
            loaded.explain(WHO(1), "film 3")
        if isinstance(loaded, ChoiceModel):
            return
        with pytest.raises(DataError, match="saved without its users"):
            loaded.similar_users(WHO(1))
        for ask in (
            loaded.topics,
            lambda: loaded.with_item("new", {WHO(1): 3}),
            lambda: loaded.fold_in_item({WHO(1): 3}),
        ):
            with pytest.raises(DataError, match="saved without them"):
                ask()
        if isinstance(loaded, LBGModel):
            with pytest.raises(DataError, match="saved without them"):
                loaded.partial_fit((["x"], ["film 3"], [5.0]))

    def test_chains_need_the_ratings(self, ratings, tmp_path):
        model = BayesianLBGModel(**KEPT).fit(ratings)
        with pytest.raises(ParameterError, match="ratings=False"):
            lbg_recsys.save(model, tmp_path / "m.lbg", chains=True, ratings=False)
        with pytest.raises(ParameterError, match="ratings"):
            lbg_recsys.save(model, tmp_path / "m.lbg", ratings="no")
        assert not list(tmp_path.iterdir())

    def test_a_fit_begins_again(self, both, ratings):
        model, loaded, _ = both
        again = pickle.loads(pickle.dumps(loaded)).fit(ratings)
        assert again.matrix.n_users == 60
        if type(model) is not BayesianLBGModel or not model.user_features_.features:
            assert again.recommend(WHO(1), 3).drop(columns="title").equals(model.recommend(WHO(1), 3))


@pytest.mark.filterwarnings("ignore")
def test_more_items_than_are_inverted(ratings, tmp_path):
    """Beyond the limit the items taken most often predict all others, from pairs as from users."""
    model = ChoiceModel(limit=10).fit(ratings)
    slim = model.without_users()
    expected, found = (one.fold_in(NEW).recommend(25) for one in (model, slim))
    assert found["item"].tolist() == expected["item"].tolist()
    assert np.allclose(found["score"], expected["score"], atol=1e-4)
    expected, found = (one.fold_in(NEW).explain("film 24") for one in (model, slim))
    assert found.choice_score == pytest.approx(expected.choice_score, abs=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_users_with_equally_many_ratings_and_a_new_user_by_items_alone(tmp_path):
    users = [f"u{n}" for n in range(20) for _ in range(6)]
    items = [f"i{(n * 7 + k) % 12}" for n in range(20) for k in range(6)]
    model = LBGModel(n_topics=2, random_state=0).fit((users, items, [1 + n % 5 for n in range(120)]))
    loaded = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "m.lbg", ratings=False))
    expected, found = (one.fold_in(["i1", "i2"]).recommend(3) for one in (model, loaded))
    assert found["item"].tolist() == expected["item"].tolist()
    with pytest.raises(DataError, match="saved without them"):
        print(loaded.fold_in(["i1"]).posterior)


@pytest.mark.filterwarnings("ignore")
def test_one_level(tmp_path):
    """A Bayesian model of equal ratings has no kept sweeps and nothing of users to keep but what lists need."""
    model = BayesianLBGModel(**KEPT).fit((["a", "a", "b", "b"], ["x", "y", "x", "z"], [1, 1, 1, 1]))
    loaded = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "m.lbg", ratings=False))
    assert loaded.fold_in({"y": 1}).recommend(1)["item"].tolist() == ["x"]
