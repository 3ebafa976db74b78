"""Measures of lists, against the same measures counted item by item."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lbg_recsys.errors import DataError
from lbg_recsys.evaluation import lists, metrics
from lbg_recsys.evaluation.lists import Relevant
from lbg_recsys.ratings import LBGModel, RatingMatrix, as_matrix


@pytest.fixture(scope="module")
def train():
    """Thirty users, twenty-five items of decreasing popularity; the last user has rated all but three items."""
    generator = np.random.default_rng(1)
    taken = generator.random((30, 25)) < np.linspace(0.7, 0.1, 25)
    taken[:, 0], taken[0] = True, True
    taken[29, :22], taken[29, 22:] = True, False
    users, items = np.nonzero(taken)
    return as_matrix((users, items, generator.integers(1, 6, len(users))))


@pytest.fixture(scope="module")
def held_out(train):
    generator = np.random.default_rng(2)
    users, items = np.nonzero(generator.random((30, 25)) < 0.3)
    keep = ~train.is_rated(users, items)
    users, items = users[keep], items[keep]
    return users, items, generator.integers(1, 6, len(users)).astype(float)


def brute_force_scores(train):
    return np.random.default_rng(3).integers(0, 6, (train.n_users, train.n_items)).astype(float)


def test_lists_have_the_best_candidates_and_no_training_item(train):
    table = brute_force_scores(train)
    users = np.array([4, 0, 29, 7])
    found = lists.lister_of_scores(lambda some: table[some], train)(users, 5)
    for user, row in zip(users, found, strict=True):
        candidates = np.setdiff1d(np.arange(25), train.seen(user))
        best = sorted(candidates, key=lambda item: (-table[user, item], item))[:5]
        assert row[row >= 0].tolist() == best
    assert found[1].tolist() == [-1] * 5  # the user who has rated everything
    assert (found[2] >= 0).sum() == 3


def test_scores_are_not_written_to(train):
    table = brute_force_scores(train)
    before = table.copy()
    lists.lister_of_scores(lambda some: table, train)(np.arange(30), 5)
    assert (table == before).all()


def test_lists_of_a_model_are_its_recommendations(train):
    model = LBGModel(n_topics=2, random_state=0).fit(train)
    users = np.array([3, 29, 1])
    found = lists.lister_of_model(model, train, by="rating")(users, 4)
    for user, row in zip(users, found, strict=True):
        expected = model.recommend(train.users.raw(user), 4, by="rating")["item"].tolist()
        assert train.items.raws(row[row >= 0]) == expected
    assert (found[1] >= 0).sum() == 3


def test_measures_are_those_of_single_lists(train, held_out):
    liked = {}
    for user, item, rating in zip(*held_out, strict=True):
        if rating >= 4:
            liked.setdefault(user, set()).add(int(item))
    relevant = Relevant.find(train, *held_out, 4.0)
    users = relevant.users()
    assert users.tolist() == sorted(liked)
    table = brute_force_scores(train)
    found = lists.lister_of_scores(lambda some: table[some], train)(users, 6)
    report = lists.evaluate_lists(found, users, train, relevant)
    rows = [[item for item in row if item >= 0] for row in found.tolist()]
    pairs = [(row, liked[user]) for row, user in zip(rows, users.tolist(), strict=True)]
    assert report.ndcg == pytest.approx(np.mean([metrics.ndcg_at(6, *pair) for pair in pairs]))
    assert report.recall == pytest.approx(np.mean([metrics.recall_at(6, *pair) for pair in pairs]))
    precisions = []
    for row, wanted in pairs:
        at = [rank for rank, item in enumerate(row, 1) if item in wanted]
        precisions.append(sum(count / rank for count, rank in enumerate(at, 1)) / min(6, len(wanted)))
    assert report.map == pytest.approx(np.mean(precisions))
    listed = [item for row in rows for item in row]
    counts = np.bincount(train.item_codes, minlength=25)
    assert report.catalogue == len(set(listed)) / 25
    assert report.novelty == pytest.approx(np.mean([-np.log2(counts[item] / 30) for item in listed]))
    popular = set(sorted(range(25), key=lambda item: -counts[item])[:3])  # a tenth of 25, rounded up
    assert report.popular == pytest.approx(np.mean([item in popular for item in listed]))
    raters = [set(train.user_codes[train.item_codes == item].tolist()) for item in range(25)]
    cosines = [
        len(raters[a] & raters[b]) / np.sqrt(len(raters[a]) * len(raters[b]))
        for row in rows
        for a, b in itertools.combinations(row, 2)
    ]
    assert report.similarity == pytest.approx(np.mean(cosines))
    gains = [metrics.ndcg_at(6, *pair) for pair in pairs]
    assert report.ndcg_error == pytest.approx(np.std(gains, ddof=1) / np.sqrt(len(gains)))
    assert sum(group.n_users for group in report.by_activity) == report.n_users == len(users)
    by_group = sum(group.n_users * group.ndcg for group in report.by_activity) / len(users)
    assert by_group == pytest.approx(report.ndcg)
    sizes = [group.mean_ratings for group in report.by_activity]
    assert sizes == sorted(sizes)


def test_similarity_does_not_depend_on_blocks(train, monkeypatch):
    found = lists.lister_of_scores(lambda some: brute_force_scores(train)[some], train)(np.arange(30), 4)
    whole = lists.intra_list_similarity(found, train)
    monkeypatch.setattr(lists, "_BLOCK_ITEMS", 8)
    assert lists.intra_list_similarity(found, train) == pytest.approx(whole)


def test_items_and_users_unknown_to_training(train):
    """An unknown item counts as missed; an unknown user has no list."""
    users, items = np.array([3, 3, -1]), np.array([-1, 5, 5])
    relevant = Relevant.find(train, users, items, np.full(3, 5.0), 4.0)
    assert relevant.users().tolist() == [3] and relevant.counts[3] == 2
    report = lists.evaluate_lists(np.array([[5, 6]]), np.array([3]), train, relevant)
    assert report.recall == 0.5 and np.isnan(report.ndcg_error)


def test_empty_lists_have_no_variety(train):
    relevant = Relevant.find(train, np.array([0]), np.array([-1]), np.array([5.0]), 4.0)
    report = lists.evaluate_lists(np.full((1, 3), -1), np.array([0]), train, relevant)
    assert (report.ndcg, report.recall, report.map, report.catalogue) == (0, 0, 0, 0)
    assert np.isnan([report.novelty, report.similarity, report.popular]).all()


def test_users_are_chosen_by_seed(train, held_out):
    relevant = Relevant.find(train, *held_out, 4.0)
    some = relevant.users(5, seed=1)
    assert len(some) == 5 and set(some) <= set(relevant.users())
    assert some.tolist() == relevant.users(5, seed=1).tolist() != relevant.users(5, seed=2).tolist()


@given(st.lists(st.integers(1, 20), min_size=1, max_size=40))
def test_activity_groups_follow_the_number_of_ratings(counts):
    counts = np.array(counts)
    group = lists.activity_groups(counts)
    order = np.argsort(counts, kind="stable")
    assert (np.diff(group[order]) >= 0).all() and group.max() == 2
    assert len({(count, which) for count, which in zip(counts, group, strict=True)}) == len(set(counts.tolist()))


def test_mean_over_folds(train, held_out):
    relevant = Relevant.find(train, *held_out, 4.0)
    users = relevant.users()
    table = brute_force_scores(train)
    lister = lists.lister_of_scores(lambda some: table[some], train)
    first, second = (
        lists.evaluate_lists(lister(part, 5), part, train, relevant) for part in (users[:10], users[10:])
    )
    mean = lists.mean_report([first, second])
    assert mean.n_users == len(users) and mean.ndcg == pytest.approx((first.ndcg + second.ndcg) / 2)
    assert mean.ndcg_error == pytest.approx(np.hypot(first.ndcg_error, second.ndcg_error) / 2)
    heavy = [report.by_activity[-1] for report in (first, second)]
    weights = [group.n_users for group in heavy]
    assert mean.by_activity[-1].ndcg == pytest.approx(np.average([g.ndcg for g in heavy], weights=weights))


def test_lists_that_do_not_belong_to_the_ratings_are_named():
    train = RatingMatrix.from_arrays(["ann", "ann", "bob"], ["x", "y", "z"], [5, 1, 4])
    relevant = Relevant.find(train, np.array([0]), np.array([2]), np.array([5.0]), 4.0)
    for arguments, said in (
        ((0, [0], train, relevant), "lists has "),
        (([[3]], [0], train, relevant), "lists has 3 at position 0, 0: give integers from -1 to 2"),
        (([[2]], [1], train, relevant), "the user 1 has no relevant item"),
        (([[2], [1]], [0], train, relevant), "lists has 2 rows and users 1"),
        (([[2]], [0], "train", relevant), "train is a str: give the RatingMatrix"),
        (([[2]], [0], train, None), "relevant is a NoneType"),
        (([[2]], [0], train.subset(np.array([0])), relevant), "found for other ratings than train"),
    ):
        with pytest.raises(DataError, match=said):
            lists.evaluate_lists(*arguments)
