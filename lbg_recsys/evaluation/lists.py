"""Evaluation of top-N lists: accuracy, variety, popularity. Pure functions over arrays.

A list is a row of item codes, best first, filled up with -1 where fewer items are left. Only users who liked a
held-out item count; candidates are all items but the user's training items; relevance is binary. This is the protocol
of ``benchmarks/bench_topn.py``.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Bools, Codes, Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation import checked
from lbg_recsys.evaluation.metrics import top_n
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.words import class_of

# Scores of all items for some users (codes), (n_users, n_items), the best item highest.
Scorer = Callable[[Ints], Floats]
# Lists of a length for some users (codes), (n_users, length).
Lister = Callable[[Ints, int], Ints]

GROUPS = ("light", "medium", "heavy")
# Scores that are held at once (16 MB), and items whose similarities are.
_BLOCK_NUMBERS, _BLOCK_ITEMS = 1 << 21, 2048
_POPULAR_SHARE = 0.1


# -- lists -----------------------------------------------------------------------------------------------------------


def lister_of_scores(scores: Scorer, train: RatingMatrix) -> Lister:
    """Return lists of the items with the highest scores, training items left out, from blocks of scores."""
    size = max(1, _BLOCK_NUMBERS // max(train.n_items, 1))

    def lists(users: Ints, length: int) -> Ints:
        out = np.full((len(users), length), -1, dtype=np.int64)
        for first in range(0, len(users), size):
            block = users[first : first + size]
            found = np.array(scores(block), dtype=np.float64)  # a copy, because it is written to
            seen = train.rows.take(block)
            found[seen.row_of_entry(), seen.columns] = -np.inf
            best = top_n(found, length)
            usable = np.take_along_axis(found, best, axis=1) > -np.inf
            out[first : first + len(block), : best.shape[1]] = np.where(usable, best, -1)
        return out

    return lists


def lister_of_model(model: Any, train: RatingMatrix, **options: Any) -> Lister:
    """Return lists by a model's own ``recommend_blocks``; options such as ``by`` go to it."""

    def lists(users: Ints, length: int) -> Ints:
        out = np.full((train.n_users, length), -1, dtype=np.int64)
        for table in model.recommend_blocks(train.users.raws(users), length, **options):
            codes = train.users.codes(table["user"]), train.items.codes(table["item"])
            out[codes[0], table["rank"].to_numpy() - 1] = codes[1]
        return out[users]

    return lists


# -- what is relevant ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Relevant:
    """What each user liked among the held-out ratings.

    Attributes
    ----------
    rows : SparseRows
        Users x items of the training ratings: the liked items that training knows.
    counts : int array of shape (n_users,)
        Liked items per user, those that training does not know included: they count as missed.
    """

    rows: SparseRows
    counts: Ints

    @classmethod
    def find(
        cls, train: RatingMatrix, users: Ints | Codes, items: Ints | Codes, ratings: Floats, liked: float
    ) -> "Relevant":
        """Find them in held-out ratings: codes among the training ids, -1 where training has no such id."""
        keep = (ratings >= liked) & (users >= 0)
        known = keep & (items >= 0)
        entries = users[known], items[known], ratings[known]
        rows = SparseRows.from_entries(*entries, train.n_users, train.n_items)
        return cls(rows, np.bincount(users[keep], minlength=train.n_users))

    def users(self, at_most: int | None = None, seed: int = 0) -> Ints:
        """The users who count, ascending; a random choice of ``at_most`` of them where there are more."""
        found = np.flatnonzero(self.counts)
        if at_most is None or at_most >= len(found):
            return found
        return np.sort(np.random.default_rng(seed).permutation(found)[:at_most])


# -- measures per user -----------------------------------------------------------------------------------------------


def hits(lists: Ints, users: Ints, relevant: Relevant) -> Bools:
    """Whether each listed item is relevant, (n_users, length)."""
    repeated = np.repeat(users, lists.shape[1])
    return relevant.rows.contains(repeated, lists.ravel()).reshape(lists.shape)


def ndcg(hit: Bools, n_relevant: Ints) -> Floats:
    """Binary NDCG of each list: gains 1/log2(rank + 1), relative to the best possible list.

    >>> ndcg(np.array([[True, False], [False, True]]), np.array([1, 3])).round(3).tolist()
    [1.0, 0.387]
    """
    gains = 1.0 / np.log2(np.arange(hit.shape[1]) + 2.0)
    best = np.cumsum(gains)[np.minimum(n_relevant, hit.shape[1]) - 1]
    return np.asarray(hit @ gains / best)


def recall(hit: Bools, n_relevant: Ints) -> Floats:
    """The share of each user's relevant items that is listed."""
    return np.asarray(hit.sum(axis=1) / n_relevant)


def average_precision(hit: Bools, n_relevant: Ints) -> Floats:
    """The mean over relevant items of the precision at their rank, 0 for those not listed; its mean is MAP.

    At most as many relevant items count as the list is long, so that 1 can be reached.

    >>> average_precision(np.array([[True, False, True]]), np.array([2])).round(3).tolist()
    [0.833]
    """
    precision = np.cumsum(hit, axis=1) / np.arange(1, hit.shape[1] + 1)
    return np.asarray((precision * hit).sum(axis=1) / np.minimum(n_relevant, hit.shape[1]))


# -- measures of what is listed --------------------------------------------------------------------------------------


def catalogue_coverage(lists: Ints, n_items: int) -> float:
    """The share of all items that is in at least one list. It grows with the number of lists."""
    return len(np.unique(lists[lists >= 0])) / n_items


def novelty(lists: Ints, counts: Ints, n_users: int) -> float:
    """The mean self-information of the listed items in bits: -log2 of the share of users who rated the item."""
    listed = lists[lists >= 0]
    return float(-np.log2(np.maximum(counts[listed], 1) / n_users).mean()) if len(listed) else np.nan


def popular_share(lists: Ints, counts: Ints) -> float:
    """The share of listed items that are in the top decile of items by training ratings."""
    popular = np.zeros(len(counts), dtype=np.bool_)
    popular[np.argsort(-counts, kind="stable")[: int(np.ceil(_POPULAR_SHARE * len(counts)))]] = True
    listed = lists[lists >= 0]
    return float(popular[listed].mean()) if len(listed) else np.nan


def intra_list_similarity(lists: Ints, train: RatingMatrix) -> float:
    """The mean cosine of who rated two items of the same list, over all pairs of all lists; lower is more varied."""
    from scipy.sparse import csr_array

    cells = np.ones(train.n_ratings, dtype=np.float32)
    taken = csr_array((cells, train.rows.columns, train.rows.indptr), shape=(train.n_users, train.n_items)).tocsc()
    total, pairs = 0.0, 0
    size = max(1, _BLOCK_ITEMS // lists.shape[1])
    for first in range(0, len(lists), size):
        block = lists[first : first + size]
        items, position = np.unique(block, return_inverse=True)
        position = position.reshape(block.shape)
        columns = taken[:, np.maximum(items, 0)]
        norm = np.sqrt(np.maximum(np.diff(columns.indptr), 1))
        cosine = (columns.T @ columns).toarray() / norm[:, None] / norm[None, :]
        listed = block >= 0
        both = np.triu(np.ones((lists.shape[1],) * 2, dtype=np.bool_), 1) & listed[:, :, None] & listed[:, None, :]
        total += float(cosine[position[:, :, None], position[:, None, :]][both].sum())
        pairs += int(both.sum())
    return total / pairs if pairs else np.nan


def activity_groups(counts: Ints) -> Ints:
    """Part users into thirds by their number of training ratings: 0 is the least active, 2 the most.

    Users with the same number of ratings are in the same group, so that groups may differ in size.

    >>> activity_groups(np.array([1, 50, 7, 7, 90, 2])).tolist()
    [0, 2, 1, 1, 2, 0]
    """
    order = np.sort(counts)
    bounds = [order[(len(order) * part) // len(GROUPS)] for part in range(1, len(GROUPS))]
    return np.searchsorted(np.asarray(bounds), counts, side="right")


# -- reports ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupReport:
    """Accuracy for the users of one group of activity: means over them, and how many ratings they have."""

    name: str
    n_users: int
    mean_ratings: float
    ndcg: float
    recall: float


@dataclass(frozen=True)
class ListReport:
    """Top-N lists in figures.

    Attributes
    ----------
    length : int
        Items per list.
    n_users : int
        Lists that were evaluated.
    ndcg, recall, map : float
        Means over users; higher is better.
    ndcg_error : float
        Standard error of ``ndcg`` over users.
    catalogue : float
        Share of all items that are in at least one list.
    novelty : float
        Mean self-information of listed items, in bits.
    similarity : float
        Mean cosine of co-rating within lists.
    popular : float
        Share of listed items among the tenth that is rated most often.
    by_activity : tuple of GroupReport
        The same accuracy for the least, the medium and the most active third of users.
    """

    length: int
    n_users: int
    ndcg: float
    ndcg_error: float
    recall: float
    map: float
    catalogue: float
    novelty: float
    similarity: float
    popular: float
    by_activity: tuple[GroupReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def evaluate_lists(lists: Ints, users: Ints, train: RatingMatrix, relevant: Relevant) -> ListReport:
    """Measure lists of users (codes) who have relevant items.

    Parameters
    ----------
    lists : int array of shape (n_users, length)
        Item codes, best first, -1 where a list is shorter; made by a `Lister`.
    users : int array of shape (n_users,)
        Whose lists they are; see `Relevant.users`.
    train : RatingMatrix
        The ratings that the model was fitted to.
    relevant : Relevant
        What these users liked among the held-out ratings.

    Returns
    -------
    report : ListReport
        Accuracy, variety and popularity of the lists.

    Raises
    ------
    DataError
        If there is not a list per user, a code is not among the training ids, or a user has no relevant item.

    Examples
    --------
    >>> train = RatingMatrix.from_arrays(["ann", "ann", "bob"], ["x", "y", "z"], [5, 1, 4])
    >>> relevant = Relevant.find(train, np.array([0]), np.array([2]), np.array([5.0]), liked=4.0)  # ann likes z
    >>> report = evaluate_lists(np.array([[2]]), np.array([0]), train, relevant)
    >>> report.ndcg, report.recall
    (1.0, 1.0)
    """
    lists, users = _checked_lists(lists, users, train, relevant)
    hit, n_relevant = hits(lists, users, relevant), relevant.counts[users]
    gain, found = ndcg(hit, n_relevant), recall(hit, n_relevant)
    item_counts, user_counts = train.rows.column_counts(), train.rows.lengths[users]
    group = activity_groups(user_counts)
    members = {name: np.flatnonzero(group == number) for number, name in enumerate(GROUPS)}
    by_activity = [
        GroupReport(name, len(at), float(user_counts[at].mean()), float(gain[at].mean()), float(found[at].mean()))
        for name, at in members.items()
        if len(at)
    ]
    return ListReport(
        length=lists.shape[1],
        n_users=len(users),
        ndcg=float(gain.mean()),
        ndcg_error=float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else np.nan,
        recall=float(found.mean()),
        map=float(average_precision(hit, n_relevant).mean()),
        catalogue=catalogue_coverage(lists, train.n_items),
        novelty=novelty(lists, item_counts, train.n_users),
        similarity=intra_list_similarity(lists, train),
        popular=popular_share(lists, item_counts),
        by_activity=tuple(by_activity),
    )


def _checked_lists(lists: Any, users: Any, train: Any, relevant: Any) -> tuple[Ints, Ints]:
    """The lists and their users as codes of what was trained on."""
    if not isinstance(train, RatingMatrix):
        raise DataError(f"train is {class_of(train)}: give the RatingMatrix that the model was fitted to")
    if not isinstance(relevant, Relevant):
        raise DataError(f"relevant is {class_of(relevant)}: give Relevant.find(train, users, items, ratings, liked)")
    if len(relevant.counts) != train.n_users or relevant.rows.n_columns != train.n_items:
        raise DataError("relevant was found for other ratings than train: find it with the same")
    codes = checked.integers("lists", lists, -1, train.n_items, 2), checked.integers("users", users, 0, train.n_users)
    checked.same_length("lists", codes[0], "users", codes[1])
    if not codes[0].shape[1]:
        raise DataError("lists have no columns: give lists of at least one item")
    missing = np.flatnonzero(relevant.counts[codes[1]] == 0)
    if len(missing):
        raise DataError(f"the user {codes[1][missing[0]]} has no relevant item: give the lists of relevant.users()")
    return codes


def mean_report(reports: Sequence[ListReport]) -> ListReport:
    """The mean of reports of several folds; numbers of users are added, and groups weigh by their users."""
    figures = ("ndcg", "recall", "map", "catalogue", "novelty", "similarity", "popular")
    means = {name: float(np.mean([getattr(report, name) for report in reports])) for name in figures}
    error = float(np.sqrt(np.sum([report.ndcg_error**2 for report in reports])) / len(reports))
    groups = [[one for report in reports for one in report.by_activity if one.name == name] for name in GROUPS]
    return ListReport(
        length=reports[0].length,
        n_users=sum(report.n_users for report in reports),
        ndcg_error=error,
        by_activity=tuple(_mean_group(parts) for parts in groups if parts),
        **means,
    )


def _mean_group(parts: Sequence[GroupReport]) -> GroupReport:
    n_users = [part.n_users for part in parts]

    def average(figure: str) -> float:
        return float(np.average([getattr(part, figure) for part in parts], weights=n_users))

    return GroupReport(parts[0].name, sum(n_users), average("mean_ratings"), average("ndcg"), average("recall"))
