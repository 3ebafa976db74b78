"""New items from a few ratings, without a fit."""

import warnings

import numpy as np
import pandas as pd
import pytest

from lbg_recsys import BayesianLBGModel, LBGModel
from lbg_recsys.errors import DataError
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.bayesian.new_items import NewItem
from lbg_recsys.ratings.bayesian.standardise import Standard
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from tests.ratings.bayesian.test_model import generate

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_components": 4, "n_sweeps": 80, "burn_in": 30, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rating, _, known = generate(users=120, items=60)
    users, items = np.nonzero(known)
    return pd.DataFrame({"user": users, "item": items, "rating": rating[known]})


@pytest.fixture(scope="module", params=["users", "items", "both"])
def models(request, table):
    """Of each orientation: fitted without item 7, and fitted with it."""
    settings = QUICK | {"orientation": request.param}
    return BayesianLBGModel(**settings).fit(table[table["item"] != 7]), BayesianLBGModel(**settings).fit(table)


def ratings_of(table, item):
    own = table[table["item"] == item]
    return dict(zip(own["user"], own["rating"], strict=True))


def test_a_folded_item_is_predicted_as_if_it_had_been_fitted(models, table):
    without, with_it = models
    given = ratings_of(table, 7)
    others = [user for user in range(120) if user not in given]
    fitted = with_it.predict_batch([(user, 7) for user in others])
    folded = without.fold_in_item(given).predict(others)
    unknown = without.predict_batch([(user, "unknown") for user in others])
    assert np.sqrt(np.mean((folded - fitted) ** 2)) < 0.5 * np.sqrt(np.mean((unknown - fitted) ** 2))
    assert np.corrcoef(folded, fitted)[0, 1] > 0.8
    assert abs(folded.mean() - fitted.mean()) < 0.15


def test_more_high_ratings_of_a_new_item_predict_higher_ones(models):
    model = models[0]
    users = list(range(40, 120))
    means = [model.fold_in_item(dict.fromkeys(range(20), value)).predict(users).mean() for value in (1.0, 3.0, 5.0)]
    assert means[0] + 0.5 < means[1] < means[2] - 0.5


def test_the_other_items_keep_their_bits(models, table):
    model = models[0]
    grown = model.with_item("new", ratings_of(table, 7), title="A new film")
    pairs = table[table["item"] != 7][["user", "item"]]
    np.testing.assert_array_equal(grown.predict_distribution(pairs), model.predict_distribution(pairs))
    assert "new" not in model.matrix.items and grown.titles["new"] == "A new film"


def test_the_new_item_can_be_in_lists(models):
    grown = models[0].with_item("new", dict.fromkeys(range(60), 5.0))
    listed = grown.recommend(100, 60, by="rating")
    assert listed["item"].tolist().index("new") < 15
    assert "new" in grown.recommend(100, 60)["item"].tolist()
    assert "new" not in grown.recommend(3, 60)["item"].tolist()  # who has rated it
    assert "new" in [item for item, _ in grown.similar_items(0, 60)]
    assert grown.fold_in({"new": 5.0, 3: 4.0}).predict(5) > 1


def test_one_user_or_many_and_whom_to_tell(models):
    folded = models[0].fold_in_item({1: 5.0, 2: 4.0, 3: 5.0})
    assert isinstance(folded.predict(9), float)
    assert folded.predict([9, 10]).shape == (2,) and folded.predict([9])[0] == folded.predict(9)
    assert folded.distribution(9).shape == (5,) and folded.interval([9, 10]).shape == (2, 2)
    whom = folded.users(5)
    assert list(whom) == ["rank", "user", "expected_rating"] and whom["expected_rating"].is_monotonic_decreasing
    assert not {1, 2, 3} & set(whom["user"])
    assert len(folded.users()) == 10
    everybody = folded.users(1000)
    assert len(everybody) == 117
    np.testing.assert_allclose(folded.predict(whom["user"]), whom["expected_rating"])


def test_one_rating_is_enough_for_a_new_item(models):
    low, high = (models[0].fold_in_item({1: value}).predict(list(range(40, 120))).mean() for value in (1.0, 5.0))
    assert 1 < low < high < 5


def test_a_new_item_has_the_usual_amount_of_ratings_by_hand():
    """That of the item of a random rating: of the known items, to the last one, and without those of the new one."""
    counts = [1, 3, 12, 2]  # the last is new
    users, items = (
        np.concatenate(one) for one in ([np.arange(n) for n in counts], [[i] * n for i, n in enumerate(counts)])
    )
    matrix = RatingMatrix.from_arrays(users, items, 1.0 + (users + items) % 5)
    found = NewItem({}, matrix, Standard.of(matrix), np.empty((4, 0), np.float32))._usual_features()
    amount = np.log1p([1, 3, 12])
    np.testing.assert_allclose(found, [1.0, np.average((amount - amount.mean()) / amount.std(), weights=[1, 3, 12])])


def test_what_is_no_new_item_is_refused(models):
    model = models[0]
    with pytest.raises(DataError, match="is known to the model already"):
        model.with_item(3, {1: 5.0})
    with pytest.raises(DataError, match="at least one"):
        model.fold_in_item({})
    with (
        pytest.warns(UserWarning, match="1 of 1 users of a new item is unknown to the model and left out"),
        pytest.raises(DataError, match="no known"),
    ):
        model.fold_in_item({"nobody": 3.0})
    with pytest.raises(DataError, match="of user 1 is off the scale"):
        model.fold_in_item({1: 9.0})
    with pytest.raises(DataError, match="ratings of a new item cannot be read from a list"):
        model.fold_in_item([1, 2])


def test_a_series_and_unknown_users(models):
    model = models[0]
    with pytest.warns(UserWarning, match="1 of 3 users of a new item is unknown .*: 'nobody'"):
        some = model.fold_in_item(pd.Series({1: 5.0, "nobody": 1.0, 2: 4.0}))
    assert some.predict(9) == model.fold_in_item({1: 5.0, 2: 4.0}).predict(9)


def test_lbg_takes_new_items_and_plsa_says_that_it_cannot(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lbg = LBGModel(n_topics=3, random_state=0).fit(table[table["item"] != 7])
        plsa = GaussianPLSAModel(n_topics=2, max_iter=5, random_state=0).fit(table)
    users = list(range(40, 120))
    low, high = (lbg.fold_in_item(dict.fromkeys(range(20), value)).predict(users).mean() for value in (1.0, 5.0))
    assert low < high and "new item" not in lbg.matrix.items
    with pytest.raises(DataError, match="cannot take a new item without a fit"):
        plsa.fold_in_item({1: 5.0})
