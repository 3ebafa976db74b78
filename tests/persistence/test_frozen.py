"""Files of every format version there ever was load, and predict what they predicted."""

import json
from pathlib import Path

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys import LBGModel
from lbg_recsys.persistence import CLASSES, FORMAT
from lbg_recsys.ratings.matrix import one_user
from tests.persistence.conftest import dense

FROZEN = Path(__file__).parent / "frozen"
FILES, TEXT_FILES = sorted(FROZEN.glob("v*.lbg")), sorted(FROZEN.glob("text-*.lbg"))
CHOICE_FILES = sorted(FROZEN.glob("clicks-*.lbg"))
CLASSIFIER_FILES = sorted(FROZEN.glob("classes-*.lbg"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_frozen_file_predicts_what_it_did(path):
    model = lbg_recsys.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    pairs = [tuple(pair) for pair in expected["pairs"]]
    users, items = model.codes_of(pairs)
    # unknown users and items are predicted better than when files were frozen, except by LBG
    same = (users >= 0) & (items >= 0) | isinstance(model, LBGModel)
    assert same.sum() >= 10
    found = model.predict_distribution(pairs)
    # utilities are sums in single precision, whose order is the compiler's
    np.testing.assert_allclose(found[same], np.array(expected["distribution"])[same], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert model.recommend([1, 2], 5, by="rating")["item"].tolist() == expected["recommended"]
    new_user = model.fold_in({1: 5.0, 40: 2.0})
    np.testing.assert_allclose(new_user.distribution([3, 4]).sum(axis=1), 1.0)
    if expected["new_user"] is not None:
        # folded in as a training user would be: since then, what a new user did not rate counts less
        view = model.with_users(one_user({1: 5.0, 40: 2.0}, model.matrix.items, model.matrix.scale))
        found = view.predict_distribution([(view.matrix.users.raw(0), item) for item in (3, 4)])
        np.testing.assert_allclose(found, expected["new_user"], rtol=1e-6, atol=1e-9)
    assert model.titles[1] == expected["title_of_1"] and 2 not in model.titles


@pytest.mark.parametrize("path", TEXT_FILES, ids=lambda path: path.stem)
def test_a_frozen_text_model_transforms_as_it_did(path):
    model = lbg_recsys.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    transformed = dense(model.transform(model.vectorizer_.transform(expected["texts"])))
    np.testing.assert_allclose(transformed, expected["transformed"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("path", CLASSIFIER_FILES, ids=lambda path: path.stem)
def test_a_frozen_classifier_gives_the_probabilities_it_did(path):
    model = lbg_recsys.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    proba = model.predict_proba(model.vectorizer_.transform(expected["texts"]))
    np.testing.assert_allclose(proba, expected["proba"], rtol=1e-9, atol=1e-12)
    assert model.predict(model.vectorizer_.transform(expected["texts"])).tolist() == expected["classes"]


@pytest.mark.parametrize("path", CHOICE_FILES, ids=lambda path: path.stem)
def test_a_frozen_choice_model_recommends_what_it_did(path):
    model = lbg_recsys.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    found = model.recommend([1, 2], 5)
    assert found["item"].tolist() == expected["recommended"]
    np.testing.assert_allclose(found["score"], expected["scores"], rtol=1e-5)


def test_every_class_and_every_version_is_frozen():
    found = {
        (
            path.stem.removeprefix("text-").removeprefix("clicks-").removeprefix("classes-").partition("-")[0],
            type(lbg_recsys.load(path)).__name__,
        )
        for path in (*FILES, *TEXT_FILES, *CLASSIFIER_FILES, *CHOICE_FILES)
    }
    assert {(f"v{FORMAT}", name) for name in CLASSES} <= found
    assert {version for version, _ in found} == {f"v{version}" for version in range(1, FORMAT + 1)}
