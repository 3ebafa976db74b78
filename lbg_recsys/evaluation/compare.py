"""Algorithms side by side: the same folds, the same metrics, one table."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.algorithms.convert import matrix_of
from lbg_recsys.algorithms.fitting import fit_whole
from lbg_recsys.checks import check_choice, check_integer
from lbg_recsys.core.types import Bools, Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation import metrics
from lbg_recsys.evaluation.lists import (
    Lister,
    ListReport,
    Relevant,
    Scorer,
    evaluate_lists,
    lister_of_model,
    lister_of_scores,
    mean_report,
)
from lbg_recsys.evaluation.rivals import Rival
from lbg_recsys.evaluation.splits import SPLITS, last_of_each_user, newest
from lbg_recsys.progress import Progress, noted, parts, silent
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.clicks import as_choices

if TYPE_CHECKING:
    import pandas as pd

LIST_LENGTH = 10
Ratings = list[tuple[Any, Any, float]]


@dataclass(frozen=True)
class Comparison:
    """The figures of one algorithm: means over the folds, None for what it does not predict.

    Attributes
    ----------
    algorithm : str
        The name of the algorithm.
    rmse, mae : float or None
        Root mean square error and mean absolute error of predicted ratings.
    log_score : float or None
        Mean logarithm of the predicted probability of the rating.
    coverage : float or None
        Share of ratings inside their predicted intervals.
    lists : ListReport or None
        The evaluation of lists.
    fit_seconds : float
        CPU seconds per fit.
    test_seconds : float or None
        CPU seconds per fold that the predictions of ratings take.
    rmse_error : float or None
        Standard error of ``rmse`` over the held-out ratings.

    Examples
    --------
    >>> from lbg_recsys.algorithms import MovieMeanAlgo, to_surprise
    >>> from lbg_recsys.datasets import load_sample
    >>> algorithms = {"mean": lambda seed: MovieMeanAlgo()}
    >>> (found,) = compare(to_surprise(load_sample()), algorithms, n_folds=2, list_users=0)
    >>> found.algorithm, 0 < found.mae < found.rmse, found.log_score
    ('mean', True, None)
    """

    algorithm: str
    rmse: float | None = None
    mae: float | None = None
    log_score: float | None = None
    coverage: float | None = None
    lists: ListReport | None = None
    fit_seconds: float = 0.0
    test_seconds: float | None = None
    rmse_error: float | None = None

    @property
    def ndcg(self) -> float | None:
        """NDCG of the lists."""
        return self.lists.ndcg if self.lists else None

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values, for JSON.

        Returns
        -------
        dict
            The attributes by name; ``lists`` is a dict too.

        Examples
        --------
        >>> Comparison("mean", rmse=0.94).to_dict()["rmse"]
        0.94
        """
        return asdict(self)


@dataclass
class _Measured:
    """Figures of the single folds."""

    figures: list[dict[str, float]] = field(default_factory=list)
    lists: list[ListReport] = field(default_factory=list)

    def mean(self, name: str) -> Comparison:
        names = {figure: None for row in self.figures for figure in row}  # a dict keeps their order
        means = {figure: float(np.mean([row[figure] for row in self.figures if figure in row])) for figure in names}
        if "rmse_error" in means:  # of a mean of independent folds
            means["rmse_error"] = float(np.linalg.norm([row["rmse_error"] for row in self.figures])) / len(
                self.figures
            )
        return Comparison(name, lists=mean_report(self.lists) if self.lists else None, **means)


@dataclass(frozen=True)
class _Fold:
    """A trainset and a test set; the users whose lists are evaluated, and what they like."""

    trainset: Any
    testset: Ratings
    train: RatingMatrix
    relevant: Relevant
    users: Ints

    def evaluate(self, lister: Lister) -> ListReport:
        return evaluate_lists(lister(self.users, LIST_LENGTH), self.users, self.train, self.relevant)


def compare(
    data: Any,
    algorithms: Mapping[str, Callable[[int], Any]],
    *,
    rivals: Mapping[str, Rival] | None = None,
    split: str = "random",
    n_folds: int = 5,
    seed: int = 0,
    mass: float = 0.9,
    list_users: int = 200,
    progress: Progress = silent,
) -> list[Comparison]:
    """Fit Surprise algorithms to the same training ratings and measure them on the same held-out ratings.

    Parameters
    ----------
    data : surprise.Dataset
        All ratings; with times (the fourth entry of ``raw_ratings``) for the splits "last" and "time".
    algorithms : mapping of str to callable
        Functions of the seed that make a fresh algorithm, by name.
    rivals : mapping of str to callable, default=None
        Further ways to make lists, which predict no ratings: see `rivals.rivals_for`. Only their lists are evaluated.
    split : {"random", "last", "time"}, default="random"
        Cross-validation over random folds; the last rating of each user held out; or the newest ratings, about
        1 / ``n_folds`` of all. The last two have one fold.
    n_folds : int, default=5
        Number of random folds.
    seed : int, default=0
        Seed of folds, algorithms and the choice of users.
    mass : float, default=0.9
        Probability of the central intervals whose coverage is measured.
    list_users : int, default=200
        Users per fold whose lists of ten are evaluated, chosen at random among those with a liked held-out item; 0
        leaves lists out. Candidates are all items but the user's training items.
    progress : callable, default=silent
        Called as ``progress(done, total, note)``.

    Returns
    -------
    list of Comparison
        The algorithms, then the rivals.

    Raises
    ------
    DataError
        If there are too few ratings for the folds, or no times for a split by time.

    Examples
    --------
    >>> from lbg_recsys.algorithms import LBGAlgo, to_surprise
    >>> from lbg_recsys.datasets import load_sample
    >>> algorithms = {"LBG": lambda seed: LBGAlgo(n_topics=2, random_state=seed)}
    >>> found = compare(to_surprise(load_sample()), algorithms, n_folds=2, list_users=0)
    >>> [(one.algorithm, round(one.rmse, 1)) for one in found]
    [('LBG', 0.9)]
    """
    check_choice("split", split, SPLITS)
    rivals = rivals if rivals and list_users else {}
    folds = _folds(data, split, n_folds, seed)
    if len({rating[2] for rating in data.raw_ratings}) == 1:
        warnings.warn(
            f"all ratings are {data.raw_ratings[0][2]:g}: any algorithm predicts them without error; "
            "compare_lists evaluates lists from who took what",
            UserWarning,
            stacklevel=2,
        )
    measured = {name: _Measured() for name in (*algorithms, *rivals)}
    turns = iter(parts(progress, len(folds) * len(measured)))
    for trainset, testset in folds:
        fold = _fold(trainset, testset, list_users, seed)
        for name, make in algorithms.items():
            named = noted(next(turns), name)
            _measure(make(seed), fold, mass, measured[name], named)
            named(1, 1, "")
        for name, rival in rivals.items():
            _measure_rival(rival, fold, seed, measured[name])
            next(turns)(1, 1, name)
    return [one.mean(name) for name, one in measured.items()]


def compare_lists(
    choices: "pd.DataFrame",
    makers: Mapping[str, Rival],
    *,
    split: str = "random",
    n_folds: int = 5,
    seed: int = 0,
    list_users: int = 200,
    progress: Progress = silent,
) -> list[Comparison]:
    """Fit makers of lists to the same choices without ratings and evaluate their lists on the same held-out choices.

    Parameters
    ----------
    choices : DataFrame
        Columns user and item; and timestamp for the splits "last" and "time". A pair counts once.
    makers : mapping of str to callable
        Functions of the training choices and the seed that return scores: see `rivals.rivals_for`.
    split, n_folds, seed, list_users, progress
        See `compare`.

    Returns
    -------
    list of Comparison
        Lists and the CPU seconds of the fits; no predictions are measured.

    Raises
    ------
    DataError
        If there are too few choices for the folds, or no times for a split by time.
    """
    check_choice("split", split, SPLITS)
    check_integer("list_users", list_users, 1)
    choices = choices.drop_duplicates(["user", "item"], keep="last")
    times = choices["timestamp"].to_numpy() if "timestamp" in choices else None
    measured = {name: _Measured() for name in makers}
    folds = _held_out(choices["user"].to_numpy(), times, split, n_folds, seed)
    turns = iter(parts(progress, len(folds) * len(measured)))
    for held_out in folds:
        fold = _fold_of_choices(choices, held_out, list_users, seed)
        for name, maker in makers.items():
            _measure_rival(maker, fold, seed, measured[name])
            next(turns)(1, 1, name)
    if not any(one.lists for one in measured.values()):
        raise DataError("no list can be evaluated: no user has both a training choice and a held-out one")
    return [one.mean(name) for name, one in measured.items()]


def _fold_of_choices(choices: "pd.DataFrame", held_out: Bools, list_users: int, seed: int) -> _Fold:
    train = as_choices(choices.loc[~held_out, ["user", "item"]])
    test = choices[held_out]
    codes = train.users.codes(test["user"]), train.items.codes(test["item"])
    relevant = Relevant.find(train, *codes, np.full(len(test), train.scale.high), train.scale.liked)
    return _Fold(None, [], train, relevant, relevant.users(list_users, seed))


def _folds(data: Any, split: str, n_folds: int, seed: int) -> list[tuple[Any, Ratings]]:
    from surprise.model_selection import KFold

    if split == "random":
        _check_folds(n_folds, len(data.raw_ratings))
        return list(KFold(n_splits=n_folds, random_state=seed, shuffle=True).split(data))
    times = [rating[3] for rating in data.raw_ratings]
    users = np.array([str(rating[0]) for rating in data.raw_ratings])
    known = None if any(moment is None for moment in times) else times
    (held_out,) = _held_out(users, known, split, n_folds, seed)
    rows = list(zip(data.raw_ratings, held_out.tolist(), strict=True))
    trainset = data.construct_trainset([rating for rating, out in rows if not out])
    return [(trainset, data.construct_testset([rating for rating, out in rows if out]))]


def _held_out(users: Any, times: Any, split: str, n_folds: int, seed: int) -> list[Bools]:
    """What each fold holds out."""
    _check_folds(n_folds, len(users) if split == "random" else n_folds)
    if split == "random":
        fold = np.random.default_rng(seed).permutation(len(users)) % n_folds
        return [fold == number for number in range(n_folds)]
    if times is None:
        raise DataError("the ratings have no times: a split by time needs a timestamp column")
    try:
        moments = np.array(times, dtype=np.float64)
    except ValueError as error:
        raise DataError(f"the times of the ratings must be numbers: {error}") from error
    held_out = last_of_each_user(users.astype(str), moments) if split == "last" else newest(moments, 1.0 / n_folds)
    if not held_out.any():
        raise DataError("no user has two ratings, so no last rating can be held out: use another split")
    return [held_out]


def _check_folds(n_folds: int, n_ratings: int) -> None:
    if n_folds < 2:
        raise DataError(f"n_folds is {n_folds}: cross-validation needs at least 2")
    if n_ratings < 2:
        raise DataError("a single rating or choice cannot be split into training and test: evaluate more of them")
    if n_folds > n_ratings:
        raise DataError(f"{n_ratings:,} ratings or choices cannot be split into {n_folds} folds: use fewer folds")


def _fold(trainset: Any, testset: Ratings, list_users: int, seed: int) -> _Fold:
    train = matrix_of(trainset)
    users, items, ratings = zip(*testset, strict=True)
    codes = train.users.codes(users), train.items.codes(items)
    relevant = Relevant.find(train, *codes, np.array(ratings, dtype=np.float64), train.scale.liked)
    return _Fold(trainset, testset, train, relevant, relevant.users(list_users, seed))


def _measure(algorithm: Any, fold: _Fold, mass: float, measured: _Measured, progress: Progress) -> None:
    fitting, listing = parts(progress, 2)
    started = time.process_time()
    fit_whole(algorithm, fold.trainset, fitting)
    fitted = time.process_time()
    predictions = algorithm.test(fold.testset)
    tested = time.process_time()
    truth = np.array([prediction.r_ui for prediction in predictions])
    points = np.array([prediction.est for prediction in predictions])
    row = {
        "rmse": metrics.rmse(truth, points),
        "rmse_error": metrics.rmse_error(truth, points),
        "mae": metrics.mae(truth, points),
        "fit_seconds": fitted - started,
        "test_seconds": tested - fitted,
    }
    if hasattr(algorithm, "predict_distribution"):
        probability = np.array([prediction.details["distribution"] for prediction in predictions])
        scale = algorithm.model_.matrix.scale
        row["log_score"] = metrics.log_score(scale.nearest(truth), probability)
        row["coverage"], _ = metrics.coverage(truth, probability, scale.levels, mass)
    measured.figures.append(row)
    if len(fold.users):
        measured.lists.append(fold.evaluate(_lister(algorithm, fold.train, listing)))


def _measure_rival(rival: Rival, fold: _Fold, seed: int, measured: _Measured) -> None:
    started = time.process_time()
    scores = rival(fold.train, seed)
    measured.figures.append({"fit_seconds": time.process_time() - started})
    if len(fold.users):
        measured.lists.append(fold.evaluate(lister_of_scores(scores, fold.train)))


def _lister(algorithm: Any, train: RatingMatrix, progress: Progress) -> Lister:
    if hasattr(algorithm, "recommend_blocks"):
        return lister_of_model(algorithm, train)
    return lister_of_scores(_estimates(algorithm, train.n_items, progress), train)


def _estimates(algorithm: Any, n_items: int, progress: Progress) -> Scorer:
    """Scores of an algorithm of Surprise, which predicts pair by pair."""

    def scores(users: Ints) -> Floats:
        table = np.empty((len(users), n_items))
        for row, user in enumerate(users.tolist()):
            table[row] = [_estimate(algorithm, user, item) for item in range(n_items)]
            progress(row + 1, len(users), "lists")
        return table

    return scores


def _estimate(algorithm: Any, user: int, item: int) -> float:
    from surprise import PredictionImpossible

    try:
        estimate = algorithm.estimate(user, item)
    except PredictionImpossible:
        return float(algorithm.trainset.global_mean)
    return float(estimate[0] if isinstance(estimate, tuple) else estimate)


def surprise_rivals() -> dict[str, Callable[[int], Any]]:
    """Functions of the seed that make Surprise's algorithms, with its defaults, for comparison."""
    from surprise import SVD, KNNBaseline

    similar = {"name": "pearson_baseline", "user_based": False}
    return {
        "SVD": lambda seed: SVD(random_state=seed),
        "KNNBaseline": lambda seed: KNNBaseline(sim_options=similar, verbose=False),
    }
