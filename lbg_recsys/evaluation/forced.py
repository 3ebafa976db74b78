"""The forced-prediction protocol (Breese et al. 1998), as the paper runs it.

A model is fitted to all ratings of some users. For each other user, one random rating is hidden and predicted from
the rest, with its indicator set to 1. This is repeated over splits of the users (seeds) and over hidden ratings
(draws).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.algorithms.convert import trainset_of
from lbg_recsys.algorithms.fitting import fit_whole
from lbg_recsys.core import levels
from lbg_recsys.core.types import Floats
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation import metrics
from lbg_recsys.progress import Progress, noted, parts, silent
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.model import RatingModel

FOLDED = "test users are folded in"
USERLESS = "test users are not needed"
REFITTED = "refitted with the test users' other ratings"


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's table. Its "RMSE" is written as avg((predicted - true)^2), without the root."""

    name: str
    mae: float
    rmse: float


PAPER = (
    PaperRow("Baseline", 0.905, 1.1445),
    PaperRow("Gaussian pLSA", 1.884, 2.1142),
    PaperRow("LBG", 0.776, 1.1183),
)


@dataclass(frozen=True)
class ForcedResult:
    """One algorithm's figures: means over all (seed, draw) repetitions, and the standard errors of these means.

    One repetition has no standard error: it is None then.
    """

    algorithm: str
    test_users: str  # how the algorithm came to know the test users
    n_predictions: int
    mae: float
    mae_error: float | None
    rmse: float
    rmse_error: float | None
    mse: float
    mse_error: float | None
    log_score: float | None
    log_score_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Draw:
    """Test users with one rating each taken out: what is left, and what is to be predicted."""

    given: RatingMatrix
    items: npt.NDArray[np.int64]
    truth: Floats


def forced_prediction(
    matrix: RatingMatrix,
    algorithms: Mapping[str, Callable[[int], Any]],
    *,
    seeds: Sequence[int] = (0, 1, 2),
    n_draws: int = 10,
    train_share: float = 0.5,
    progress: Progress = silent,
) -> list[ForcedResult]:
    """Predict one hidden rating per user, by the protocol of the paper.

    Parameters
    ----------
    matrix : RatingMatrix
        All ratings; at least two users need two or more.
    algorithms : mapping of str to function
        By name, a function of the seed that makes a Surprise algorithm.
    seeds : sequence of int, default=(0, 1, 2)
        Seeds of the splits of the users, one split per seed.
    n_draws : int, default=10
        How often a rating of each test user is hidden, per split.
    train_share : float, default=0.5
        Share of the users to train with.
    progress : function, default=silent
        Called with the steps done, all steps and a note.

    Returns
    -------
    results : list of ForcedResult
        In the order of ``algorithms``.

    Raises
    ------
    DataError
        If there are too few ratings, or nothing is to be done.

    Examples
    --------
    >>> from lbg_recsys.algorithms import MovieMeanAlgo
    >>> from lbg_recsys.datasets import load_sample
    >>> ratings = RatingMatrix.from_frame(load_sample().ratings)
    >>> (found,) = forced_prediction(ratings, {"mean": lambda seed: MovieMeanAlgo()}, seeds=[0], n_draws=2)
    >>> found.n_predictions, round(found.mae, 2)
    (200, 0.93)
    """
    if not 0.0 < train_share < 1.0:
        raise DataError(f"train_share is {train_share}: give a share of the users between 0 and 1")
    if n_draws < 1 or not len(seeds):
        raise DataError(f"{n_draws} draws and {len(seeds)} seeds: at least one of each is needed")
    if np.count_nonzero(matrix.rows.lengths >= 2) < 2:
        raise DataError("forced prediction needs at least two users with two or more ratings")
    repetitions: dict[str, list[dict[str, float]]] = {name: [] for name in algorithms}
    manner: dict[str, str] = {}
    turns, n_predictions = iter(parts(progress, len(seeds) * len(algorithms))), 0
    for seed in seeds:
        train, draws = _prepare(matrix, seed, n_draws, train_share)
        n_predictions += sum(len(draw.items) for draw in draws)
        trainset = trainset_of(train)
        for name, make in algorithms.items():
            named = noted(next(turns), name)
            manner[name], outcomes = _run(make, seed, train, trainset, draws, named)
            repetitions[name] += outcomes
            named(1, 1, "")
    return [_summary(name, manner[name], n_predictions, outcomes) for name, outcomes in repetitions.items()]


def _prepare(matrix: RatingMatrix, seed: int, n_draws: int, train_share: float) -> tuple[RatingMatrix, list[_Draw]]:
    generator = np.random.default_rng(seed)
    order = generator.permutation(matrix.n_users)
    n_train = min(max(1, round(train_share * matrix.n_users)), matrix.n_users - 1)
    train = matrix.subset(np.sort(order[:n_train]))
    test = np.sort(order[n_train:])
    test = test[matrix.rows.lengths[test] >= 2]  # with one rating nothing would be left to predict it from
    if not len(test):
        raise DataError(
            f"none of the {matrix.n_users - n_train} test users of seed {seed} has two or more ratings, of which one "
            "could be hidden: give other seeds, a smaller train_share, or more ratings"
        )
    held = matrix.subset(test)
    return train, [_hide(held, generator) for _ in range(n_draws)]


def _hide(matrix: RatingMatrix, generator: np.random.Generator) -> _Draw:
    """Take one random rating of every user out."""
    rows = matrix.rows
    hidden = rows.start + (generator.random(len(rows)) * rows.lengths).astype(np.int64)
    keep = np.ones(matrix.n_ratings, dtype=bool)
    keep[hidden] = False
    given = RatingMatrix(matrix.users, matrix.items, matrix.scale, rows.filtered(keep))
    return _Draw(given, rows.columns[hidden].astype(np.int64), rows.values[hidden])


def _run(
    make: Callable[[int], Any],
    seed: int,
    train: RatingMatrix,
    trainset: Any,
    draws: list[_Draw],
    progress: Progress,
) -> tuple[str, list[dict[str, float]]]:
    algorithm = make(seed)
    outcomes = []
    if not hasattr(algorithm, "fold_in") and not getattr(algorithm, "ignores_users", False):
        for draw, part in zip(draws, parts(progress, len(draws)), strict=True):
            fresh = fit_whole(make(seed), trainset_of(train, draw.given), part)
            outcomes.append(_evaluate_points(fresh, draw))
        return REFITTED, outcomes
    fitting, *evaluating = parts(progress, 1 + len(draws))
    fit_whole(algorithm, trainset, fitting)
    folded = hasattr(algorithm, "fold_in")
    for draw, part in zip(draws, evaluating, strict=True):
        outcomes.append(_evaluate_folded(algorithm.model_, draw) if folded else _evaluate_points(algorithm, draw))
        part(1, 1, "predicting")
    return FOLDED if folded else USERLESS, outcomes


def _evaluate_folded(model: RatingModel, draw: _Draw) -> dict[str, float]:
    """All test users at once: the model seen by them, their hidden items predicted."""
    items = model.matrix.items.codes(draw.given.items)  # the model's own codes of the items that it knows
    rows = draw.given.rows.filtered(items[draw.given.rows.columns] >= 0)
    codes = items[rows.columns].astype(np.int32)
    seen = RatingMatrix.from_codes(
        draw.given.users, model.matrix.items, rows.row_of_entry(), codes, rows.values, scale=model.matrix.scale
    )
    view = model.with_users(seen)
    probability = view.distribution_of(np.arange(seen.n_users, dtype=np.int64), items[draw.items]).probability
    points = levels.point(probability, view.levels, view.point)
    return _errors(draw.truth, points) | {
        "log_score": metrics.log_score(view.matrix.scale.nearest(draw.truth), probability)
    }


def _evaluate_points(algorithm: Any, draw: _Draw) -> dict[str, float]:
    users = draw.given.users.raws(range(draw.given.n_users))
    items = draw.given.items.raws(draw.items)
    predictions = algorithm.test(list(zip(users, items, draw.truth.tolist(), strict=True)))
    return _errors(draw.truth, np.array([prediction.est for prediction in predictions]))


def _errors(truth: Floats, points: Floats) -> dict[str, float]:
    return {
        "mae": metrics.mae(truth, points),
        "rmse": metrics.rmse(truth, points),
        "mse": metrics.mse(truth, points),
    }


def _summary(name: str, test_users: str, n_predictions: int, outcomes: list[dict[str, float]]) -> ForcedResult:
    figures: dict[str, float | None] = {}
    for metric in ("mae", "rmse", "mse", "log_score"):
        values = [outcome[metric] for outcome in outcomes if metric in outcome]
        figures[metric] = float(np.mean(values)) if values else None
        spread = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        figures[f"{metric}_error"] = spread
    return ForcedResult(name, test_users, n_predictions, **figures)  # type: ignore[arg-type]
