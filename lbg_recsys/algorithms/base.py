"""A rating model as a Surprise algorithm: the adapter holds no mathematics."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import wraps
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from surprise import AlgoBase
from surprise.prediction_algorithms.predictions import Prediction
from surprise.utils import get_rng

from lbg_recsys.algorithms.convert import matrix_of
from lbg_recsys.checks import is_integer
from lbg_recsys.core.levels import point, std
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings.fitted import FitFirst
from lbg_recsys.ratings.ids import UNKNOWN, RawId
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.explain import Explanation, Influences
from lbg_recsys.ratings.questions.new_item import FoldedItem
from lbg_recsys.ratings.questions.new_user import FoldedUser
from lbg_recsys.ratings.questions.similar import Similar
from lbg_recsys.ratings.questions.topics import Topics
from lbg_recsys.ratings.scoring import RatingDistribution
from lbg_recsys.settings import Settings, settings_of

if TYPE_CHECKING:
    import pandas as pd


F = TypeVar("F", bound=Callable[..., Any])


def _as_of_model(method: F) -> F:
    """Give a method the signature and the docstring of the model's method of the same name, which it calls."""
    same: Any = wraps(getattr(RatingModel, method.__name__), assigned=("__doc__",), updated=())(method)
    return same  # type: ignore[no-any-return]


class RatingAlgo(Settings, FitFirst, AlgoBase):  # type: ignore[misc]  # Surprise ships no types
    """Surprise's contract on top of a `RatingModel`; the fitted one is ``model_``.

    A subclass names its ``MODEL`` and derives from that model's settings, which give both the same constructor.
    Predictions carry plain Python details: the ``distribution`` over the levels of the scale, its ``std``, and what
    the model adds.
    """

    MADE_BY_FIT: tuple[str, ...] = ("trainset", "model_", "bu", "bi")
    MODEL: ClassVar[type[Any]]

    model_: RatingModel
    random_state: Any

    def fit(self, trainset: Any, progress: Progress = silent) -> "RatingAlgo":
        """Fit to a Surprise trainset. A fit that fails leaves the algorithm as it was.

        Parameters
        ----------
        trainset : surprise.Trainset
            The ratings.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every step. With ``verbose=True`` a bar shows it too, or
            ten lines if standard error is not a terminal.

        Returns
        -------
        RatingAlgo
            The algorithm itself.

        Raises
        ------
        ParameterError
            If a hyper-parameter has a value that is not allowed.
        DataError
            If the ratings cannot be used.

        Examples
        --------
        >>> import pandas as pd
        >>> from surprise import Dataset, Reader
        >>> from lbg_recsys.algorithms import LBGAlgo
        >>> frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 1, 4]})
        >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
        >>> algo = LBGAlgo(n_topics=1, random_state=0).fit(trainset)
        >>> algo.model_.matrix
        <RatingMatrix: 3 ratings of 2 items by 2 users>
        """
        model = self._unfitted_model().fit(matrix_of(trainset), progress=progress, **self._beside_ratings())
        AlgoBase.fit(self, trainset)
        self.model_ = model
        return self

    def _beside_ratings(self) -> dict[str, Any]:
        """Settings that are arguments of the model's ``fit`` and not of its constructor."""
        return {}

    def _unfitted_model(self) -> Any:
        """The model to fit: a new one, or a copy of the present one to go on with."""
        params = {name: value for name, value in self.get_params().items() if name in settings_of(self.MODEL)}
        if not params.get("warm_start") or not hasattr(self, "model_"):
            return self.MODEL(**params | {"random_state": self._seed()})
        model: Any = copy(self.model_)  # which stays as it is if this fit fails
        if not is_integer(self.random_state):
            params["random_state"] = model.random_state  # drawn for the fit that this one continues
        return model.set_params(**params)

    def estimate(self, u: int | str, i: int | str) -> tuple[float, dict[str, Any]]:
        """Predict the rating of a pair of inner ids; Surprise calls this, and `predict` takes raw ids.

        The model's codes are the trainset's inner ids; what `partial_fit` brought has the codes that follow.

        Parameters
        ----------
        u, i : int or str
            Inner ids of the user and the item; strings where Surprise does not know them.

        Returns
        -------
        tuple of float and dict
            The predicted rating, and the details of the prediction.

        Examples
        --------
        >>> import pandas as pd
        >>> from surprise import Dataset, Reader
        >>> from lbg_recsys.algorithms import LBGAlgo
        >>> frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 1, 4]})
        >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
        >>> algo = LBGAlgo(n_topics=1, random_state=0).fit(trainset)
        >>> rating, details = algo.estimate(trainset.to_inner_uid("bob"), trainset.to_inner_iid("y"))
        >>> rating, len(details["distribution"])
        (3.0, 5)
        """
        users = np.array([UNKNOWN if isinstance(u, str) else u], dtype=np.int64)
        items = np.array([UNKNOWN if isinstance(i, str) else i], dtype=np.int64)
        points, details = self._predict(users, items)
        return points[0], details[0]

    def predict(
        self, uid: RawId, iid: RawId, r_ui: float | None = None, clip: bool = True, verbose: bool = False
    ) -> Prediction:
        """Predict the rating of one pair of raw ids, as the model knows them: the trainset may know fewer.

        Parameters
        ----------
        uid, iid : id
            Raw ids of the user and the item. Unknown ones get the prediction for an unknown user or item.
        r_ui : float, default=None
            The true rating, for the result.
        clip : bool, default=True
            Surprise's, and without effect: every prediction lies on the scale.
        verbose : bool, default=False
            Whether to print the prediction.

        Returns
        -------
        surprise.Prediction
            ``est`` is the predicted rating; ``details`` has the ``distribution`` over the levels, its ``std`` and, of
            a model with topics, the leading ``topic`` and its ``topic_posterior``.

        Examples
        --------
        >>> import pandas as pd
        >>> from surprise import Dataset, Reader
        >>> from lbg_recsys.algorithms import LBGAlgo
        >>> frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 1, 4]})
        >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
        >>> algo = LBGAlgo(n_topics=1, random_state=0).fit(trainset)
        >>> prediction = algo.predict("bob", "y")
        >>> prediction.est, len(prediction.details["distribution"])
        (3.0, 5)
        """
        (prediction,) = self._predictions((uid,), (iid,), (r_ui,))
        if verbose:
            print(prediction)  # what Surprise's verbose promises
        return prediction

    def test(self, testset: Sequence[tuple[RawId, RawId, float]], verbose: bool = False) -> list[Prediction]:
        """Predict a whole testset at once: the same predictions as one by one, several times faster.

        Parameters
        ----------
        testset : list of (user, item, rating)
            Raw ids and true ratings, as Surprise's splits make them.
        verbose : bool, default=False
            Whether to print the predictions.

        Returns
        -------
        list of surprise.Prediction
            As of `predict`, in the order of the testset.

        Examples
        --------
        >>> import pandas as pd
        >>> from surprise import Dataset, Reader
        >>> from lbg_recsys.algorithms import LBGAlgo
        >>> frame = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 1, 4]})
        >>> trainset = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
        >>> algo = LBGAlgo(n_topics=1, random_state=0).fit(trainset)
        >>> [prediction.est for prediction in algo.test([("bob", "y", 2.0), ("ann", "x", 5.0)])]
        [3.0, 4.0]
        """
        if not testset:
            return []
        with _collector_paused():
            predictions = self._predictions(*zip(*testset, strict=True))
        if verbose:
            for prediction in predictions:
                print(prediction)
        return predictions

    def _predictions(
        self, users: Sequence[RawId], items: Sequence[RawId], truth: Sequence[float | None]
    ) -> list[Prediction]:
        points, details = self._predict(*self.model_.codes(users, items))
        rows = zip(users, items, truth, points, details, strict=True)
        # as Prediction._make would, without a Python call for each
        return list(map(tuple.__new__, repeat(Prediction), rows))

    def _predict(self, users: Ints, items: Ints) -> tuple[list[float], list[dict[str, Any]]]:
        found, levels = self._distribution_of(users, items), self.model_.levels
        columns: list[npt.NDArray[Any]] = [found.probability, std(found.probability, levels)]
        if found.topic is not None and found.topic_posterior is not None:
            columns += [found.topic, found.topic_posterior]
        details = _details(*(column.tolist() for column in columns))
        return point(found.probability, levels, self.model_.point).tolist(), details

    def _distribution_of(self, users: Ints, items: Ints) -> RatingDistribution:
        return self.model_.distribution_of(users, items)

    def _seed(self) -> int:
        """Surprise's habits: an integer is the seed; None follows numpy's global state, a RandomState itself."""
        if is_integer(self.random_state):
            return int(self.random_state)
        if self.random_state is None or isinstance(self.random_state, np.random.RandomState):
            return int(get_rng(self.random_state).randint(2**31 - 1))
        raise DataError(
            f"random_state is {self.random_state!r}: give None, an integer of at least 0 or a numpy RandomState"
        )

    # -- the model's own offers, under the algorithm's name --------------------------------------------------------

    @_as_of_model
    def predict_distribution(self, pairs: Any) -> Floats:
        """See `RatingModel.predict_distribution`."""
        return self.model_.predict_distribution(pairs)

    @_as_of_model
    def predict_batch(self, pairs: Any) -> Floats:
        """See `RatingModel.predict_batch`."""
        return self.model_.predict_batch(pairs)

    @_as_of_model
    def interval(self, pairs: Any, mass: float = 0.9) -> Floats:
        """See `RatingModel.interval`."""
        return self.model_.interval(pairs, mass)

    @_as_of_model
    def fold_in(self, ratings: Any) -> FoldedUser:
        """See `RatingModel.fold_in`."""
        return self.model_.fold_in(ratings)

    @_as_of_model
    def fold_in_item(self, ratings: Mapping[RawId, float]) -> FoldedItem:
        """See `RatingModel.fold_in_item`."""
        return self.model_.fold_in_item(ratings)

    @_as_of_model
    def explain(self, user: RawId, item: RawId) -> Explanation | Influences:
        """See `RatingModel.explain`."""
        return self.model_.explain(user, item)

    @_as_of_model
    def recommend(self, user: Any, n: int = 10, **options: Any) -> "pd.DataFrame":
        """See `RatingModel.recommend`."""
        return self.model_.recommend(user, n, **options)

    @_as_of_model
    def recommend_blocks(self, users: Any, n: int = 10, **options: Any) -> Iterator["pd.DataFrame"]:
        """See `RatingModel.recommend_blocks`."""
        return self.model_.recommend_blocks(users, n, **options)

    @_as_of_model
    def similar_items(self, item: RawId, n: int = 10, *, metric: str | None = None) -> Similar:
        """See `RatingModel.similar_items`."""
        return self.model_.similar_items(item, n, metric=metric)

    @_as_of_model
    def similar_users(self, user: RawId, n: int = 10, *, metric: str | None = None) -> Similar:
        """See `RatingModel.similar_users`."""
        return self.model_.similar_users(user, n, metric=metric)

    @_as_of_model
    def topics(self, n: int = 5, *, n_topics: int | None = None) -> Topics:
        """See `RatingModel.topics`."""
        return self.model_.topics(n, n_topics=n_topics)


def _details(
    distributions: list[list[float]],
    spreads: list[float],
    topics: list[int] | None = None,
    posteriors: list[float] | None = None,
) -> list[dict[str, Any]]:
    """One dict per prediction, each made by a single display: they take half of the time of `test`."""
    if topics is None or posteriors is None:
        return [
            {"was_impossible": False, "distribution": distribution, "std": spread}
            for distribution, spread in zip(distributions, spreads, strict=True)
        ]
    return [
        {"was_impossible": False, "distribution": distribution, "std": spread, "topic": topic, "topic_posterior": q}
        for distribution, spread, topic, q in zip(distributions, spreads, topics, posteriors, strict=True)
    ]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without the garbage collector: it took more than half of the time for thousands of objects that all survive."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                gc.freeze()  # and thaw: what was made here counts as old, and is not looked through at once
                gc.unfreeze()
            gc.enable()
