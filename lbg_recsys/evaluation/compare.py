"""Surprise algorithms side by side: the same folds, the same metrics, one table."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lbg_recsys.algorithms.fitting import fit_whole
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation import metrics
from lbg_recsys.progress import Progress, noted, parts, silent

_LIST_LENGTH = 10


@dataclass(frozen=True)
class Comparison:
    """One algorithm's means over the folds; what it cannot say is None. Times are CPU seconds."""

    name: str
    rmse: float
    mae: float
    log_score: float | None
    coverage: float | None
    ndcg: float | None
    fit_seconds: float
    test_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def compare(
    data: Any,
    algorithms: Mapping[str, Callable[[int], Any]],
    *,
    n_folds: int = 5,
    seed: int = 0,
    mass: float = 0.9,
    ranking_users: int = 100,
    progress: Progress = silent,
) -> list[Comparison]:
    """Cross-validate Surprise algorithms, each given as a function of the seed that makes a fresh one.

    ``coverage`` is that of central intervals of ``mass``. ``ndcg`` is NDCG@10 over ``ranking_users`` random users
    with a liked item among their test ratings (0 leaves it out): candidates are all items but the user's training
    items.
    """
    from surprise.model_selection import KFold

    if n_folds < 2:
        raise DataError(f"n_folds is {n_folds}: cross-validation needs at least 2")
    if n_folds > len(data.raw_ratings):
        raise DataError(f"{len(data.raw_ratings)} rating(s) cannot be parted into {n_folds} folds: give more ratings")
    folds = list(KFold(n_splits=n_folds, random_state=seed, shuffle=True).split(data))
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in algorithms}
    turns = iter(parts(progress, n_folds * len(algorithms)))
    for trainset, testset in folds:
        listeners = _listeners(trainset, testset, ranking_users, seed)
        for name, make in algorithms.items():
            named = noted(next(turns), name)
            figures[name].append(_one_fold(make(seed), trainset, testset, mass, listeners, named))
            named(1, 1, "")
    return [_mean(name, rows) for name, rows in figures.items()]


def _one_fold(
    algorithm: Any,
    trainset: Any,
    testset: list[tuple[Any, Any, float]],
    mass: float,
    listeners: dict[int, set[int]],
    progress: Progress,
) -> dict[str, float]:
    fitting, ranking = parts(progress, 2)
    started = time.process_time()
    fit_whole(algorithm, trainset, fitting)
    fitted = time.process_time()
    predictions = algorithm.test(testset)
    tested = time.process_time()
    truth = np.array([prediction.r_ui for prediction in predictions])
    points = np.array([prediction.est for prediction in predictions])
    row = {
        "rmse": metrics.rmse(truth, points),
        "mae": metrics.mae(truth, points),
        "fit_seconds": fitted - started,
        "test_seconds": tested - fitted,
    }
    if hasattr(algorithm, "predict_distribution"):
        probability = np.array([prediction.details["distribution"] for prediction in predictions])
        scale = algorithm.model_.matrix.scale
        row["log_score"] = metrics.log_score(scale.nearest(truth), probability)
        row["coverage"], _ = metrics.coverage(truth, probability, scale.levels, mass)
    if listeners:
        row["ndcg"] = _ndcg(algorithm, trainset, listeners, ranking)
    return row


def _listeners(trainset: Any, testset: list[tuple[Any, Any, float]], count: int, seed: int) -> dict[int, set[int]]:
    """Random users (inner ids) of whom the test set holds liked items that training knows, and these items."""
    low, high = trainset.rating_scale
    liked: dict[int, set[int]] = {}
    for user, item, rating in testset:
        inner_user, inner_item = _inner(trainset.to_inner_uid, user), _inner(trainset.to_inner_iid, item)
        if rating >= low + 0.75 * (high - low) and min(inner_user, inner_item) >= 0:
            liked.setdefault(inner_user, set()).add(inner_item)
    chosen = np.random.default_rng(seed).permutation(sorted(liked))[:count]
    return {int(user): liked[int(user)] for user in chosen}


def _inner(translate: Callable[[Any], int], raw_id: Any) -> int:
    try:
        return translate(raw_id)
    except ValueError:
        return -1


def _ndcg(algorithm: Any, trainset: Any, listeners: dict[int, set[int]], progress: Progress) -> float:
    values = []
    for user, relevant in listeners.items():
        if hasattr(algorithm, "recommend"):
            listed = algorithm.recommend(trainset.to_raw_uid(user), _LIST_LENGTH)["item"]
            ranked = [trainset.to_inner_iid(item) for item in listed]
        else:
            scores = np.array([_estimate(algorithm, user, item) for item in range(trainset.n_items)])
            scores[[item for item, _ in trainset.ur[user]]] = -np.inf
            ranked = metrics.top_n(scores[None, :], _LIST_LENGTH)[0].tolist()
        values.append(metrics.ndcg_at(_LIST_LENGTH, ranked, relevant))
        progress(len(values), len(listeners), "ranking")
    return float(np.mean(values))


def _estimate(algorithm: Any, user: int, item: int) -> float:
    from surprise import PredictionImpossible

    try:
        estimate = algorithm.estimate(user, item)
    except PredictionImpossible:
        return float(algorithm.trainset.global_mean)
    return float(estimate[0] if isinstance(estimate, tuple) else estimate)


def _mean(name: str, rows: list[dict[str, float]]) -> Comparison:
    def average(metric: str) -> float | None:
        values = [row[metric] for row in rows if metric in row]
        return float(np.mean(values)) if values else None

    names = ("rmse", "mae", "log_score", "coverage", "ndcg", "fit_seconds", "test_seconds")
    return Comparison(name, **{metric: average(metric) for metric in names})  # type: ignore[arg-type]
