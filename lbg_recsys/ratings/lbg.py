"""The paper's collaborative-filtering model (Eq. 10), independent of Surprise."""

import warnings
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.checks import check_number
from lbg_recsys.core.blocks import digest
from lbg_recsys.core.em.bernoulli_gauss import (
    Prior,
    evidence_tables,
    gather,
    log_joint,
    m_step,
    posterior,
    posterior_by,
)
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.predict_ratings import ColumnTables, level_density, predict_mixture
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.ratings.biases import Biases
from lbg_recsys.ratings.crowd import need_users
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.lbg_fit import Checkpoint, fit_blocks, prior_of
from lbg_recsys.ratings.matrix import RatingMatrix, as_matrix
from lbg_recsys.ratings.questions.explain import Explanation, explain
from lbg_recsys.ratings.questions.topics import TopicTables
from lbg_recsys.ratings.scoring import RatingDistribution
from lbg_recsys.ratings.settings import LBGSettings
from lbg_recsys.ratings.source import Bounds, RatingSource
from lbg_recsys.ratings.topic_model import TopicRatingModel
from lbg_recsys.words import class_of

# Numbers in a table of all level densities that is kept to predict from (32 MB); larger ones are made as needed.
_DENSITY_AT_HAND = 1 << 22


class LBGModel(LBGSettings, TopicRatingModel):
    """A mixture of topics: a user of topic s rates item i with probability p_si, with a rating ~ N(c_si, var_si).

    Attributes
    ----------
    parameters_ : Parameters
        The fitted lam, p, c and var. Without a baseline, c is relative to ``origin_``.
    statistics_ : SufficientStatistics
        The sums that the last M-step used.
    counted_ : ndarray of shape (n_users, n_topics)
        The posterior with which each user is in the statistics; zero for a user who is not.
    origin_ : float
        What is subtracted from ratings without a baseline: 0 unless the scale is far from 0 (see `RatingScale`).
    converged_ : bool
        Whether EM stopped by ``tol``.
    n_iter_ : int
        Number of EM iterations.
    lower_bound_ : float
        Penalised log-likelihood per user.
    history_ : tuple of float
        ``lower_bound_`` after each iteration.

    Examples
    --------
    >>> model = LBGModel(n_topics=2, random_state=0).fit((["a", "a", "b"], ["x", "y", "x"], [5, 4, 1]))
    >>> model.predict_distribution([("b", "y")]).sum().round(6)
    np.float64(1.0)
    """

    MADE_BY_FIT = (
        *(
            "parameters_",
            "statistics_",
            "counted_",
            "biases_",
            "origin_",
            "converged_",
            "n_iter_",
            "lower_bound_",
            "history_",
            "n_steps_",
        ),
        *("_mu", "_tables", "_density"),
    )

    FITS_BLOCKS = True
    n_steps_: int  # calls of `partial_fit` with a decay since the fit or the load
    _usual_length: float | None = None  # ratings of the mean training user, in a view of new users

    # -- fitting -------------------------------------------------------------------------------------------------

    def fit(
        self,
        ratings: Any,
        *,
        scale: Bounds | None = None,
        levels: npt.ArrayLike | None = None,
        progress: Progress = silent,
        checkpoint: Checkpoint | None = None,
    ) -> "LBGModel":
        """Fit to ratings. A fit that fails or is interrupted leaves the model as it was.

        Parameters
        ----------
        ratings : RatingStore, DataFrame, tuple of (users, items, ratings), sparse matrix or RatingMatrix
            As in `RatingModel.fit`. Ratings in a `RatingStore` stay on disk during the fit and are read block by
            block.
        scale : tuple of (float, float), default=None
            Lowest and highest rating; found in the ratings by default.
        levels : array-like, default=None
            All levels of the scale, where they cannot be found in the ratings.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every iteration.
        checkpoint : Checkpoint, default=None
            Where the fit is kept every few iterations, and continued from if it was interrupted; see
            `lbg_recsys.persistence.FitCheckpoint`.

        Returns
        -------
        LBGModel
            The fitted model itself.

        Raises
        ------
        ParameterError
            If a hyper-parameter has a value that is not allowed, or there is a checkpoint and no ``random_state``.
        DataError
            If the ratings cannot be used.

        Examples
        --------
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.matrix
        <RatingMatrix: 3 ratings of 2 items by 2 users>
        """
        return self._fit_to(ratings, scale, levels, progress, partial(self._fit, checkpoint=checkpoint))

    def _fit(self, source: RatingSource, progress: Progress, checkpoint: Checkpoint | None = None) -> None:
        """Run EM from every start. The note of a step is the bound."""
        if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
            raise ParameterError(f"checkpoint is {class_of(checkpoint)}: give a lbg_recsys.persistence.FitCheckpoint")
        if checkpoint is not None and self.random_state is None:
            raise ParameterError("a fit with a checkpoint needs a random_state: give a number")
        ratings = source.blocks(self.n_jobs)
        biases = Biases.fit(ratings) if self.baseline else None
        origin = source.scale.origin
        rows = ratings.mapped(partial(_rows_of, biases=biases, origin=origin))
        facts = {**self.get_params(), **digest(ratings)} if checkpoint is not None else {}
        result = fit_blocks(rows, self, source.scale.rounding_variance, progress, checkpoint, facts)
        tables = evidence_tables(result.parameters, self.indicator_weight)
        posteriors = rows.map(partial(posterior_by, tables=tables, beta=self.temperature))
        matrix = source.whole()  # while a cluster computes them
        mu = np.concatenate(list(rows.fetch(posteriors)))
        # Nothing of the model has changed up to here: a fit that fails or is interrupted leaves the old one whole.
        self._place(matrix, biases, origin)
        self._hold(result.parameters, result.statistics, mu)
        self.counted_, self.n_steps_ = self.posterior(), 0
        self.converged_, self.n_iter_ = result.converged, result.n_iter
        self.lower_bound_, self.history_ = result.lower_bound, result.history
        if not result.converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"EM stopped after max_iter={self.max_iter} iterations while still gaining "
                f"{np.diff(result.history)[-1:].sum():.2g} per user (tol={self.tol:g}): raise max_iter "
                f"(fit --param max_iter={2 * self.max_iter}) or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def start_pass(self) -> "LBGModel":
        """Forget the statistics, keep the parameters: the `partial_fit` calls that follow make up one EM pass.

        Returns
        -------
        LBGModel
            The model itself.

        Examples
        --------
        >>> ratings = (["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4])
        >>> model = LBGModel(n_topics=1).fit(ratings, scale=(1, 5)).start_pass()
        >>> model.statistics_.n_rows, model.partial_fit(ratings).statistics_.n_rows
        (0, 2)
        """
        self.statistics_ = SufficientStatistics.zeros(self.matrix.n_items, self.n_topics)
        self.counted_ = np.zeros((self.matrix.n_users, self.n_topics))
        return self

    def partial_fit(
        self, ratings: Any, *, update: bool = True, decay: float | None = None, progress: Progress = silent
    ) -> "LBGModel":
        """Add new users, new items, or new ratings of known users, without a new fit.

        One E-step is computed for the users in ``ratings`` under the present parameters: their statistics are added
        to those of the model, and replace what these users had added before. One M-step and the posteriors of all
        users under the new parameters follow. A model that was never fitted is fitted.

        With a ``decay`` this is stepwise EM, for an endless stream: the statistics S of the model, of n users, and
        the statistics s of the users in ``ratings``, scaled to n users, become (1 - g) S + g s with
        g = (t + 2) ** -decay in step t = 0, 1, ... after the fit. The model then knows only the users of the latest
        call, so its memory does not grow; others can be folded in.

        Parameters
        ----------
        ratings : DataFrame, tuple of (users, items, ratings), sparse matrix or RatingMatrix
            As in `RatingModel.fit`; on the scale of the model.
        update : bool, default=True
            Whether the M-step follows at once. If False, it waits for the next call, so that a pass over all users in
            pieces is the same as one pass over all of them.
        decay : float, default=None
            Above 0 and at most 1. Above 0.5 the steps converge on a stream that does not change; a smaller decay
            follows a stream that does.
        progress : callable, default=silent
            Called as ``progress(done, total, note)``: as in `fit` by a first call, and once by a later one.

        Returns
        -------
        LBGModel
            The model itself.

        Raises
        ------
        DataError
            If a rating is off the scale of the model.

        Examples
        --------
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.partial_fit((["cid"], ["y"], [2])).recommend("cid")["item"].tolist()
        ['x']
        """
        if not hasattr(self, "matrix"):
            return self.fit(ratings, progress=progress)
        added = as_matrix(ratings)
        if decay is None:
            self._add(added, update)
        else:
            self._step(added, decay)
        progress(1, 1, f"{added.n_ratings:,} ratings")
        return self

    def _add(self, added: RatingMatrix, update: bool) -> None:
        need_users(self.matrix, "partial_fit")
        before = self.matrix
        before.scale.refuse_outsiders(added.values, added.name_of_entry)
        merged, touched = before.merged(added)
        self._grow(merged)
        counted = np.vstack([self.counted_, np.zeros((merged.n_users - before.n_users, self.n_topics))])
        again = touched[counted[touched].any(axis=1)]
        statistics = self.statistics_ - gather(self.rows_of(before.padded(merged).subset(again)), counted[again])
        rows = self.rows_of(merged.subset(touched))
        counted[touched], _ = self._posterior(rows)
        statistics += gather(rows, counted[touched])
        biases = self.biases_.for_users(merged.rows) if self.biases_ is not None else None
        self._place(merged, biases, self.origin_)
        if update:
            self.parameters_ = m_step(statistics, self._prior(statistics, merged.scale.rounding_variance))
        mu, evidence = self._posterior(self.rows_of(merged))
        evidence_of_counted = float(evidence[counted.any(axis=1)].sum())
        self._hold(self.parameters_, replace(statistics, evidence=evidence_of_counted), mu)
        self.counted_ = counted

    def _step(self, batch: RatingMatrix, decay: float) -> None:
        check_number("decay", decay, 0.0, 1.0, low_too=False)
        known = self.matrix
        known.scale.refuse_outsiders(batch.values, batch.name_of_entry)
        items = known.items.extended(batch.items)
        codes = items.codes(batch.items)[batch.item_codes]
        matrix = RatingMatrix.from_codes(
            batch.users, items, batch.user_codes, codes.astype(np.int32), batch.values, scale=known.scale
        )
        self._grow(matrix)
        self._place(matrix, self.biases_.for_users(matrix.rows) if self.biases_ is not None else None, self.origin_)
        rows = self.rows_of(matrix)
        gain = (self.n_steps_ + 2.0) ** -decay
        new = gather(rows, *_evidence(self._posterior(rows)))
        share = gain * self.statistics_.n_rows / new.n_rows
        statistics = replace(self.statistics_ * (1.0 - gain) + new * share, n_rows=self.statistics_.n_rows)
        self._take(m_step(statistics, self._prior(statistics, matrix.scale.rounding_variance)), statistics)
        self.counted_ = np.zeros_like(self.posterior())  # older users are in the statistics too, with less weight
        self.n_steps_ += 1

    # -- what RatingModel asks for -------------------------------------------------------------------------------

    def distribution_of(self, users: Ints, items: Ints) -> RatingDistribution:
        """Each pair's distribution with its indicator set to 1, the leading topic and its posterior."""
        forced = (users >= 0) & (items >= 0) & ~self.matrix.is_rated(users, items)
        prediction = predict_mixture(
            self._mu,
            self._tables,
            users,
            items,
            forced,
            self._levels,
            offset=self.biases_.predict(users, items) if self.biases_ is not None else None,
            density=self._density,
        )
        return RatingDistribution(prediction.probability, prediction.topic, prediction.posterior)

    def rated_probability(self, users: Ints, items: Ints) -> Floats:
        """Sum over topics of the user's posterior times p_si; an unknown item's p is the average one."""
        return np.asarray(np.einsum("ns,ns->n", self._mu[users], self._tables.p[items]))

    def with_users(self, matrix: RatingMatrix) -> "LBGModel":
        """The same parameters and other users."""
        return self._seen_by(matrix, None)

    def with_new_users(self, matrix: RatingMatrix) -> "LBGModel":
        """The same parameters and users who have just begun to rate.

        The paper's model takes every unrated item as refused, so after a few ratings every user would belong to the
        topic that rates least, whatever these ratings are. The evidence of unrated items,
        sum_i log(1 - p_si), is therefore weighed by n / m (at most 1), where n is the user's number of ratings and m
        the mean number of the training users: a user with m ratings or more is treated like a training user.
        """
        return self._seen_by(matrix, self.statistics_.count.sum() / max(self.statistics_.n_rows, 1))

    def _seen_by(self, matrix: RatingMatrix, usual_length: float | None) -> "LBGModel":
        view = type(self)(**self.get_params())
        view._usual_length = usual_length
        biases = self.biases_.for_users(matrix.rows) if self.biases_ is not None else None
        view._place(matrix, biases, self.origin_)
        view._take(self.parameters_, self.statistics_)
        view.counted_ = np.zeros_like(view.posterior())  # the statistics are those of the users it was fitted to
        return view

    def _with_item(self, matrix: RatingMatrix) -> "LBGModel":
        """A copy that has taken in the users who rated the item: one E-step over them and one M-step."""
        raters = np.unique(matrix.user_codes[matrix.item_codes == matrix.n_items - 1]).astype(np.int64)
        return deepcopy(self).partial_fit(matrix.subset(raters))

    @property
    def numbers_per_pair(self) -> int:
        """A distribution; or a posterior beside what it is multiplied with."""
        return max(len(self.levels), 2 * self.n_topics)

    # -- looking inside ------------------------------------------------------------------------------------------

    def posterior(self) -> Floats:  # noqa: D102 - inherited
        return self._mu[:-1]

    def log_joint(self, matrix: RatingMatrix) -> Floats:
        """log lam_s + log Pr(d | s) of the users of a matrix over the model's items, (users, k)."""
        return self._log_joint(self.rows_of(matrix))

    def silence_weight(self, rows: SparseRows) -> Floats:
        """The weight of the items that users did not rate, (users,): 1, or less for new users with few ratings."""
        if self._usual_length is None:
            return np.ones(len(rows))
        return np.minimum(rows.lengths / max(self._usual_length, 1e-300), 1.0)

    def explain(self, user: RawId, item: RawId) -> Explanation:  # noqa: D102 - inherited
        return explain(self, self.user_code(user), self.item_code(item))

    def item_gaussians(self) -> tuple[Floats, Floats]:
        """The parameters; with a baseline, the ratings are those of an unbiased user: N(g + b_i + c_si, var_si)."""
        offset = self.origin_ if self.biases_ is None else self.biases_.overall + self.biases_.items[:-1, None]
        return self.parameters_.c + offset, self.parameters_.var

    def _own_tables(self) -> TopicTables:
        return TopicTables(self.parameters_.lam, self.parameters_.p, self.posterior())

    # -- state ---------------------------------------------------------------------------------------------------

    def assemble(
        self,
        matrix: RatingMatrix,
        biases: Biases | None,
        origin: float,
        parameters: Parameters,
        statistics: SufficientStatistics,
        *,
        posterior: Floats,
        counted: Floats,
    ) -> None:
        """Become the fitted model of these parts: ``posterior`` and ``counted`` are (users, k)."""
        self._place(matrix, biases, origin)
        self._hold(parameters, statistics, posterior)
        self.counted_, self.n_steps_ = counted, 0

    def without_users(self) -> "LBGModel":  # noqa: D102 - inherited
        view, nobody = type(self)(**self.get_params()), np.zeros((0, self.n_topics))
        biases = None if self.biases_ is None else replace(self.biases_, users=np.zeros(1))
        view.assemble(
            self._matrix_without_users(),
            biases,
            self.origin_,
            self.parameters_,
            self.statistics_,
            posterior=nobody,
            counted=nobody,
        )
        for name in ("converged_", "n_iter_", "lower_bound_", "history_"):
            setattr(view, name, getattr(self, name))
        view.titles, view.versions = dict(self.titles), dict(self.versions)
        return view

    def _place(self, matrix: RatingMatrix, biases: Biases | None, origin: float) -> None:
        self.matrix, self.biases_, self.origin_ = matrix, biases, origin

    @property
    def _levels(self) -> Floats:
        """The levels as the means ``c`` are counted; with a baseline, its offsets are added to these."""
        return self.levels if self.biases_ is not None else self.levels - self.origin_

    def _take(self, parameters: Parameters, statistics: SufficientStatistics) -> None:
        """Hold these parameters, and every user's posterior under them (the prior over topics for the unknown)."""
        self.parameters_ = parameters
        mu, _ = self._posterior(self.rows_of(self.matrix))
        self._hold(parameters, statistics, mu)

    def _hold(self, parameters: Parameters, statistics: SufficientStatistics, mu: Floats) -> None:
        self.parameters_, self.statistics_ = parameters, statistics
        self._mu = np.vstack([mu, parameters.lam])
        self._tables = tables = ColumnTables.of(parameters, self.temperature * self.indicator_weight)
        small = tables.c.size * len(self.levels) <= _DENSITY_AT_HAND and self.biases_ is None
        self._density = level_density(tables.c, tables.var, self._levels) if small else None

    def rows_of(self, matrix: RatingMatrix) -> SparseRows:
        """Users as rows of the core: their ratings less the origin, or what the baseline leaves of them."""
        return _rows_of(matrix.rows, self.biases_, self.origin_)

    def _posterior(self, rows: SparseRows) -> tuple[Floats, Floats]:
        """The posteriors of rows under the present parameters (m, k), and the evidence of each (m,)."""
        return posterior(self._log_joint(rows), self.temperature)

    def _log_joint(self, rows: SparseRows) -> Floats:
        weight = None if self._usual_length is None else self.silence_weight(rows)
        return log_joint(rows, self.parameters_, self.indicator_weight, silence_weight=weight)

    def _prior(self, statistics: SufficientStatistics, floor: float) -> Prior:
        return prior_of(statistics, self.prior_strength, floor)

    def _grow(self, matrix: RatingMatrix) -> None:
        """Room for items that came later: until an M-step has seen them, each looks like the average item."""
        if matrix.n_items == self.matrix.n_items:
            return
        self.statistics_ = self.statistics_.padded(matrix.n_items)
        if self.biases_ is not None:
            items = np.zeros(matrix.n_items + 1)
            items[: self.matrix.n_items] = self.biases_.items[:-1]
            self.biases_ = Biases(self.biases_.overall, self.biases_.users, items)
        new = matrix.n_items - self.matrix.n_items
        rate = np.full((new, self.n_topics), 1.0 / max(self.statistics_.n_rows, 1))
        average = [np.repeat(table[-1:], new, axis=0) for table in (self._tables.c, self._tables.var)]
        old = self.parameters_
        self.parameters_ = Parameters(
            old.lam,
            np.vstack([old.p, np.minimum(rate, 0.5)]),
            np.vstack([old.c, average[0]]),
            np.vstack([old.var, average[1]]),
        )


def _evidence(found: tuple[Floats, Floats]) -> tuple[Floats, float]:
    return found[0], float(found[1].sum())


def _rows_of(ratings: SparseRows, biases: Biases | None, origin: float) -> SparseRows:
    if biases is not None:
        return biases.left_over(ratings)
    return ratings.with_values(ratings.values - origin) if origin else ratings
