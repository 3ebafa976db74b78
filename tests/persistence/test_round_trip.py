"""What was saved comes back the same, to the bit."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from surprise import SVD, dump

import lbg_recsys
from lbg_recsys import BayesianLBGModel, LBGAlgo, LBGModel
from lbg_recsys.algorithms import to_surprise
from lbg_recsys.errors import DataError, LBGError, ParameterError
from tests.persistence.conftest import MAKERS

ITEMS_OF_A_NEW_USER = {1: 5.0, 2: 4.0, 40: 1.0}


def test_predictions_are_equal_to_the_bit(fitted, sample, tmp_path):
    again = lbg_recsys.load(lbg_recsys.save(fitted, tmp_path / "model.lbg"))
    pairs = [*sample.ratings[["user", "item"]].itertuples(index=False, name=None), (1, "new"), ("new", 1), (0, 0)]
    assert type(again) is type(fitted)
    assert (again.predict_distribution(pairs) == fitted.predict_distribution(pairs)).all()
    assert (again.predict_batch(pairs) == fitted.predict_batch(pairs)).all()
    assert again.recommend([1, 2], 5).equals(fitted.recommend([1, 2], 5))
    items = list(range(1, 121))
    folded, before = again.fold_in(ITEMS_OF_A_NEW_USER), fitted.fold_in(ITEMS_OF_A_NEW_USER)
    assert (folded.distribution(items) == before.distribution(items)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("far", [-1e8, 1e6, 3e8])
def test_a_level_far_from_all_ratings_can_be_saved(far, tmp_path):
    triples = ([1, 1, 2, 2, 3], [7, 8, 7, 9, 8], [0, 1, 1, 0, 1])
    model = BayesianLBGModel(n_sweeps=8, burn_in=4, random_state=0).fit(triples, levels=sorted([0, 1, far]))
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    assert (again.predict_distribution([(1, 9)]) == model.predict_distribution([(1, 9)])).all()
    folded = again.fold_in({7: 1, 8: 0})
    assert (folded.distribution([7, 9]) == model.fold_in({7: 1, 8: 0}).distribution([7, 9])).all()
    assert np.isfinite(folded.explain(9).expected_rating)


def test_a_saved_model_can_learn_on(sample, tmp_path):
    first, second = sample.ratings[sample.ratings.user <= 150], sample.ratings[sample.ratings.user > 150]
    model = LBGModel(n_topics=3, random_state=0, baseline=True, tol=1e-2).fit(first)
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    model.partial_fit(second)
    again.partial_fit(second)
    for name in ("lam", "p", "c", "var"):
        assert (getattr(model.parameters_, name) == getattr(again.parameters_, name)).all()
    assert again.explain(160, 3) == model.explain(160, 3)
    assert again.similar_items(3) == model.similar_items(3)


def test_a_file_knows_what_its_users_were_counted_with(sample, tmp_path):
    """Old users rate more, before and after a file: what they had added is taken out exactly."""
    model = LBGModel(n_topics=3, random_state=0, tol=1e-2).fit(sample.ratings)
    model.partial_fit(([1, 2, 3], [7, 8, 9], [5, 1, 1]))
    path = lbg_recsys.save(model, tmp_path / "model.lbg")
    again = lbg_recsys.load(path)
    assert lbg_recsys.save(again, tmp_path / "again.lbg").read_bytes() == path.read_bytes()
    for one in (model, again):
        one.partial_fit(([1, 2, 200], [8, 9, 7], [1, 1, 5]))
        ratings = one.matrix.rows.column_counts()
        np.testing.assert_allclose(one.statistics_.count.sum(axis=1), ratings, atol=1e-9)
    np.testing.assert_array_equal(again.parameters_.c, model.parameters_.c)
    model.counted_ = model.counted_ * 0.5
    with pytest.raises(DataError, match="neither one nor zero"):
        lbg_recsys.save(model, path)


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    first = lbg_recsys.save(fitted, tmp_path / "first.lbg", titles={1: "One", 2: "Zwölf"})
    second = lbg_recsys.save(lbg_recsys.load(first), tmp_path / "second.lbg")
    assert first.read_bytes() == second.read_bytes()


def test_ids_keep_their_type_and_titles_their_letters(tmp_path):
    users = ["1", "ann", 1, -7, 2**70, "", "\ud800 lone", "日本"]
    model = LBGModel(n_topics=1).fit((users, [5, "5"] * 4, [1, 2, 3, 4, 5, 1, 2, 3]))
    titles = {5: "Fünf 五", "5": "text", 99: "of an item nobody rated"}
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg", titles=titles))
    assert list(again.matrix.users) == users
    assert [type(user) for user in again.matrix.users] == [type(user) for user in users]
    assert again.titles == {5: "Fünf 五", "5": "text"}
    assert model.titles == {}  # saving changes nothing


def test_the_training_summary_and_the_versions_come_back(sample, tmp_path):
    model = LBGModel(n_topics=2, random_state=3).fit(sample.ratings)
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    assert again.get_params() == model.get_params()
    assert (again.converged_, again.n_iter_) == (model.converged_, model.n_iter_)
    assert (again.lower_bound_, again.history_) == (model.lower_bound_, model.history_)
    assert again.versions["numpy"] == np.__version__
    assert again.matrix.scale.levels.tolist() == [1, 2, 3, 4, 5]
    assert again.matrix.n_duplicates == model.matrix.n_duplicates


def test_a_fitted_algorithm_is_saved_by_its_model(sample, tmp_path):
    trainset = to_surprise(sample).build_full_trainset()
    algo = LBGAlgo(n_topics=np.int64(2), random_state=0).fit(trainset)
    again = lbg_recsys.load(lbg_recsys.save(algo, tmp_path / "model.lbg"))
    assert again.predict_batch([(1, 2)])[0] == algo.predict(1, 2).est


def test_surprise_dump_works_as_well(sample, tmp_path):
    trainset = to_surprise(sample).build_full_trainset()
    algo = LBGAlgo(n_topics=2, random_state=0).fit(trainset)
    predictions = algo.test(trainset.build_testset()[:50])
    file = str(tmp_path / "dumped")
    dump.dump(file, predictions=predictions, algo=algo)
    loaded_predictions, loaded = dump.load(file)
    assert loaded_predictions == predictions
    assert loaded.test(trainset.build_testset()[:50]) == predictions
    with pytest.raises(lbg_recsys.errors.ModelFileError, match=r"surprise\.dump\.load"):
        lbg_recsys.load(file)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LBGModel(), "not fitted"),
        (LBGAlgo(), "fit it first"),
        (SVD(), "surprise.dump"),
        ("a string", "a str cannot be saved"),
    ],
)
def test_what_cannot_be_saved_is_refused_with_a_remedy(model, message, tmp_path):
    with pytest.raises(LBGError, match=message):
        lbg_recsys.save(model, tmp_path / "model.lbg")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("lbg", {"n_topics": 7}, r"n_topics is 7, and the model was fitted with 3: .* set n_topics back to 3"),
        ("plsa", {"n_topics": 2}, r"n_topics is 2, and the model was fitted with 3"),
        ("bayesian", {"n_components": 4}, r"n_components is 4, and the model was fitted with 3"),
        ("bayesian", {"n_classes": 2}, r"n_classes is 2, and the model was fitted with 3"),
        ("bayesian", {"orientation": "users"}, r"cannot be saved, .* arrays of kept sweeps.* fit the model again"),
        ("bayesian", {"max_kept": 2}, r"cannot be saved, .* at most 4 are possible. If a parameter was changed"),
        ("lbg", {"baseline": True}, r"cannot be saved, .* baseline is True, and the biases do not agree"),
        ("lbg", {"point": "best"}, r"point is 'best': choose one of"),
    ],
)
def test_a_parameter_changed_after_the_fit_is_refused(kind, change, message, sample, tmp_path):
    model = MAKERS[kind]().fit(sample.ratings)
    before = {name: getattr(model, name) for name in change}
    vars(model).update(change)
    with pytest.raises(DataError, match=message):
        lbg_recsys.save(model, tmp_path / "model.lbg")
    assert list(tmp_path.iterdir()) == []
    vars(model).update(before)
    lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))


def test_a_parameter_that_training_alone_goes_by_may_change(sample, tmp_path):
    model = MAKERS["lbg"]().fit(sample.ratings)
    model.max_iter, model.point = 7, "median"
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    assert (again.max_iter, again.point) == (7, "median")


@pytest.mark.parametrize("user", [1.5, True, ("a", "b"), None])
def test_ids_of_other_types_are_refused(user, tmp_path):
    model = LBGModel(n_topics=1).fit(([user, "b"], [1, 2], [1, 2])) if user is not None else None
    if model is None:
        model = LBGModel(n_topics=1).fit((["a", "b"], [b"x", b"y"], [1, 2]))
    with pytest.raises(DataError, match="integers and strings"):
        lbg_recsys.save(model, tmp_path / "model.lbg")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(tiny_model, tmp_path, monkeypatch):
    path = lbg_recsys.save(tiny_model, tmp_path / "model.lbg")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"No space left on device.*model\.lbg"):
        lbg_recsys.save(tiny_model, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_refused_with_a_sentence(tiny_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"^\. is a folder: name a file in it$"):
        lbg_recsys.save(tiny_model, ".")
    with pytest.raises(DataError, match=r"^none/x\.lbg cannot be written: there is no folder .*none$"):
        lbg_recsys.save(tiny_model, "none/x.lbg")
    assert not list(tmp_path.iterdir())


def test_titles_that_are_no_strings_leave_the_old_file(tiny_model, tmp_path):
    path = lbg_recsys.save(tiny_model, tmp_path / "model.lbg", titles={7: "Seven"})
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"the title of the item 7 is 1984 \(int\): titles must be strings"):
        lbg_recsys.save(tiny_model, path, titles={7: 1984})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_titles_may_be_a_series(tiny_model, tmp_path):
    path = lbg_recsys.save(tiny_model, tmp_path / "m.lbg", titles=pd.Series(["Seven"], index=[7], name="title"))
    assert lbg_recsys.load(path).titles == {7: "Seven"}
    with pytest.raises(ParameterError, match=r"numbers of rows are no items: give frame.set_index\('item'\)"):
        lbg_recsys.save(tiny_model, path, titles=pd.Series(["Six", "Seven"]))
    with pytest.raises(ParameterError, match="titles has the item 7 more than once"):
        lbg_recsys.save(tiny_model, path, titles=pd.Series(["Six", "Seven"], index=[7, 7]))


def test_titles_in_a_table_are_not_printed(tiny_model, tmp_path):
    titles = pd.DataFrame({"item": [7], "title": ["Seven"]})
    with pytest.raises(
        ParameterError, match=r"^titles is a DataFrame: give a mapping of item ids to titles, or a pandas"
    ):
        lbg_recsys.save(tiny_model, tmp_path / "model.lbg", titles=titles)


def test_numbers_that_no_file_holds_leave_the_old_file(tiny_model, tmp_path):
    path = lbg_recsys.save(tiny_model, tmp_path / "model.lbg")
    before = path.read_bytes()
    broken = lbg_recsys.load(path)
    broken.parameters_.c[0] = np.inf
    with pytest.raises(DataError, match=r"cannot be saved, .* the array c has values"):
        lbg_recsys.save(broken, path)
    broken = lbg_recsys.load(path)
    broken.lower_bound_ = np.nan
    with pytest.raises(DataError, match="a model file cannot hold this"):
        lbg_recsys.save(broken, path)
    assert path.read_bytes() == before


def test_a_link_stays_a_link(tiny_model, tmp_path):
    target = tmp_path / "real.lbg"
    target.touch()
    link = tmp_path / "link.lbg"
    link.symlink_to(target)
    lbg_recsys.save(tiny_model, link)
    assert link.is_symlink()
    assert lbg_recsys.load(target).n_topics == 2


_SAVE_FOR_EVER = """
import sys, lbg_recsys
model = lbg_recsys.load(sys.argv[1])
while True:
    lbg_recsys.save(model, sys.argv[1])
    print(flush=True)
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_whole_file(fitted, tmp_path):
    path = lbg_recsys.save(fitted, tmp_path / "model.lbg")
    whole = path.read_bytes()
    command = [sys.executable, "-c", _SAVE_FOR_EVER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ) as process:
        process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == whole


def test_a_file_is_no_pickle_and_runs_nothing(tiny_model, tmp_path):
    path = lbg_recsys.save(tiny_model, tmp_path / "model.lbg")
    with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, KeyError)):
        pickle.loads(path.read_bytes())
