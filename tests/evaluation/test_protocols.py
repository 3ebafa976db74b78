"""Forced prediction and comparisons, on the shipped sample."""

import numpy as np
import pytest
from surprise import SVD, Dataset, Reader

from lbg_recsys import GaussianPLSAAlgo, LBGAlgo, MovieMeanAlgo
from lbg_recsys.algorithms import to_surprise
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation import forced
from lbg_recsys.evaluation.compare import compare
from lbg_recsys.ratings import LBGModel, as_matrix


@pytest.fixture(scope="module")
def matrix(sample):
    return as_matrix(sample.ratings)


def lbg(seed):
    return LBGAlgo(n_topics=4, random_state=seed)


def test_every_kind_of_algorithm_takes_part(matrix):
    steps = []
    algorithms = {
        "Movie mean": lambda seed: MovieMeanAlgo(),
        "LBG": lbg,
        "pLSA": lambda seed: GaussianPLSAAlgo(n_topics=4, random_state=seed),
        "SVD": lambda seed: SVD(n_epochs=5, random_state=seed),
    }
    results = forced.forced_prediction(
        matrix, algorithms, seeds=(0, 1), n_draws=2, progress=lambda *step: steps.append(step)
    )
    by_name = {result.algorithm: result for result in results}
    assert [by_name[name].test_users for name in algorithms] == [
        forced.USERLESS,
        forced.FOLDED,
        forced.FOLDED,
        forced.REFITTED,
    ]
    assert by_name["LBG"].mae < by_name["Movie mean"].mae
    assert by_name["LBG"].log_score is not None
    assert by_name["SVD"].log_score is None
    assert by_name["LBG"].mae_error > 0
    assert by_name["LBG"].rmse ** 2 == pytest.approx(by_name["LBG"].mse, rel=0.05)
    shares = [done / total for done, total, _ in steps]
    assert shares == sorted(shares) and shares[-1] == 1.0
    # of eight turns each moves on between its ends: EM by its iterations, what is refitted by its draws
    for turn, name in enumerate([*algorithms] * 2):
        within = {share for share in shares if turn < 8 * share < turn + 1}
        assert len(within) >= {"Movie mean": 2, "LBG": 5, "pLSA": 5, "SVD": 1}[name]
    again = forced.forced_prediction(matrix, {"LBG": lbg}, seeds=(0, 1), n_draws=2)[0]
    assert again == by_name["LBG"]


def test_a_draw_hides_one_rating_of_each_user(matrix):
    train, draws = forced._prepare(matrix, seed=0, n_draws=3, train_share=0.5)
    for draw in draws:
        assert not set(train.users) & set(draw.given.users)
        for user in range(draw.given.n_users):
            whole = matrix.subset(np.array([matrix.users.code(draw.given.users.raw(user))]))
            left = draw.given.subset(np.array([user]))
            hidden = set(whole.item_codes) - set(left.item_codes)
            assert hidden == {draw.items[user]}
            assert draw.truth[user] == whole.values[whole.item_codes == draw.items[user]][0]
    assert (draws[0].items != draws[1].items).any()


def test_folding_all_test_users_at_once_is_folding_each(matrix):
    """The vectorised protocol gives what a person would get by fold_in, user by user."""
    train, (draw,) = forced._prepare(matrix, seed=0, n_draws=1, train_share=0.5)
    model = LBGModel(n_topics=4, random_state=0).fit(train)
    outcome = forced._evaluate_folded(model, draw)
    errors = []
    for user in range(draw.given.n_users):
        own = draw.given.subset(np.array([user]))
        ratings = dict(zip(matrix.items.raws(own.item_codes), own.values, strict=True))
        known = {item: rating for item, rating in ratings.items() if item in model.matrix.items}
        errors.append(abs(model.fold_in(known).predict(matrix.items.raw(draw.items[user])) - draw.truth[user]))
    assert outcome["mae"] == pytest.approx(np.mean(errors))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"train_share": 1.0}, "train_share is 1.0"), ({"n_draws": 0}, "0 draws"), ({"seeds": ()}, "0 seeds")],
)
def test_bad_protocols_are_named(matrix, options, message):
    with pytest.raises(DataError, match=message):
        forced.forced_prediction(matrix, {"LBG": lbg}, **options)


def test_forced_prediction_needs_users_with_two_ratings():
    with pytest.raises(DataError, match="two or more ratings"):
        forced.forced_prediction(as_matrix((["a", "b"], ["x", "x"], [1, 2])), {"LBG": lbg})


def test_every_prediction_is_counted():
    """Splits differ in how many of their test users have two ratings."""
    generator = np.random.default_rng(0)
    users = np.concatenate([np.repeat(np.arange(0, 40, 2), 6), np.arange(1, 40, 2)])
    items = np.concatenate([generator.permutation(20)[:6] for _ in range(20)] + [generator.integers(0, 20, 20)])
    matrix = as_matrix((users, items, generator.integers(1, 6, len(users))))
    counts = [len(forced._prepare(matrix, seed, 1, 0.5)[1][0].items) for seed in range(4)]
    assert len(set(counts)) > 1
    means = {"mean": lambda seed: MovieMeanAlgo()}
    (result,) = forced.forced_prediction(matrix, means, seeds=range(4), n_draws=2)
    assert result.n_predictions == 2 * sum(counts)


def test_a_split_without_anything_to_hide_is_named():
    users, items = list("aabb") + list("cdefgh"), list("xyxy") + ["x"] * 6
    matrix = as_matrix((users, items, [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]))
    with pytest.raises(DataError, match=r"none of the 4 test users of seed \d has two or more ratings.*other seeds"):
        forced.forced_prediction(matrix, {"mean": lambda seed: MovieMeanAlgo()}, seeds=range(20), n_draws=1)


def test_the_scale_is_that_of_all_ratings():
    """Half stars that only test users gave are levels all the same."""
    users, items = np.repeat(np.arange(4), 4), np.tile(np.arange(4), 4)
    matrix = as_matrix((users, items, [1, 2, 3, 5] * 2 + [1, 2.5, 3.5, 5] * 2))
    train = matrix.subset(np.arange(2))
    model = LBGModel(n_topics=1, random_state=0).fit(train)
    assert model.levels.tolist() == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]
    one = {"LBG": lambda seed: LBGAlgo(n_topics=1, random_state=seed)}
    for result in forced.forced_prediction(matrix, one, seeds=range(4), n_draws=2):
        assert -5.0 < result.log_score < 0.0


def test_one_repetition_has_no_standard_error(matrix):
    from lbg_recsys.cli.forced import _rows

    (result,) = forced.forced_prediction(matrix, {"mean": lambda seed: MovieMeanAlgo()}, seeds=(0,), n_draws=1)
    assert result.mae_error is None
    assert _rows([result], ())[0][1:] == [f"{v:.3f}" for v in (result.mae, result.rmse, result.mse)] + ["-"]


def test_compare_puts_algorithms_side_by_side(sample):
    data = Dataset.load_from_df(sample.ratings[["user", "item", "rating"]], Reader(rating_scale=(1, 5)))
    table = compare(
        data, {"LBG": lbg, "SVD": lambda seed: SVD(n_epochs=5, random_state=seed)}, n_folds=2, list_users=20
    )
    ours, svd = table
    assert ours.log_score is not None
    assert svd.log_score is None
    assert 0.8 < ours.coverage <= 1.0
    assert ours.ndcg > svd.ndcg
    assert ours.fit_seconds > 0
    with pytest.raises(DataError, match="n_folds is 1"):
        compare(data, {"LBG": lbg}, n_folds=1)


def test_rivals_are_evaluated_on_the_same_lists(sample):
    def by_number(train, seed):
        return lambda users: np.tile(np.arange(train.n_items, dtype=float), (len(users), 1))

    steps = []
    table = compare(
        to_surprise(sample),
        {"LBG": lbg, "SVD": lambda seed: SVD(n_epochs=2, random_state=seed)},
        rivals={"last items": by_number},
        n_folds=2,
        list_users=30,
        progress=lambda *step: steps.append(step),
    )
    ours, svd, rival = table
    assert rival.rmse is None and rival.test_seconds is None and rival.ndcg < ours.ndcg
    assert ours.lists.n_users == svd.lists.n_users == rival.lists.n_users == 60
    shares = [done / total for done, total, _ in steps]
    assert shares == sorted(shares) and shares[-1] == 1.0
    (alone,) = compare(
        to_surprise(sample), {"SVD": lambda seed: SVD(n_epochs=2, random_state=seed)}, n_folds=2, list_users=0
    )
    assert alone.lists is None and alone.ndcg is None


def test_last_and_newest_ratings_are_held_out(sample):
    data = to_surprise(sample)
    mean = {"mean": lambda seed: MovieMeanAlgo()}
    with pytest.raises(DataError, match="no times: a split by time needs a timestamp column"):
        compare(data, mean, split="last")
    data.raw_ratings = [
        (user, item, rating, str(row)) for row, (user, item, rating, _) in enumerate(data.raw_ratings)
    ]
    held_out = sample.ratings.groupby("user").tail(1)
    kept = sample.ratings.drop(held_out.index)
    means = kept.groupby("item")["rating"].mean()
    (last,) = compare(data, mean, split="last", list_users=0)
    expected = (held_out["item"].map(means).fillna(kept["rating"].mean()) - held_out["rating"]).abs().mean()
    assert last.mae == pytest.approx(expected)
    (by_time,) = compare(data, mean, split="time", n_folds=5, list_users=0)
    n_kept = int(0.8 * len(sample.ratings))
    means = sample.ratings[:n_kept].groupby("item")["rating"].mean()
    rest = sample.ratings[n_kept:]
    assert by_time.mae == pytest.approx((rest["item"].map(means) - rest["rating"]).abs().mean())
    data.raw_ratings = [(*rating[:3], "yesterday") for rating in data.raw_ratings]
    with pytest.raises(DataError, match="must be numbers"):
        compare(data, mean, split="time")
