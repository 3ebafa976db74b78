"""Similar users and items in Bayesian LBG, by taste: it has no single table of topics to compare by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lbg_recsys.core.caches import WithoutCaches
from lbg_recsys.core.gibbs.amounts import Amounts, column_features
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.tastes import common_line, correlation, features, gram
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.crowd import need_users
from lbg_recsys.ratings.matrix import RatingMatrix

# Kept sweeps of each side, evenly spaced: on MovieLens-100K nine of ten items and eight of ten users most alike
# are those of all sweeps.
_SWEEPS = 32
# Groups are found by tastes for at most this many items, the most rated, and users, evenly spaced.
_ITEMS = 200
_USERS = 10_000
_STARTS = 4


@dataclass(frozen=True)
class _Sweep:
    """A kept sweep by the side that is its rows, with the common line and the feature products of users and items."""

    rows: Side
    number: int
    line: dict[Side, Floats]
    gram: dict[Side, Floats]


class Tastes(WithoutCaches):
    """The tastes of users for items in some kept sweeps; see `lbg_recsys.core.gibbs.tastes`.

    Users count by their ratings in a comparison of items, items by theirs in one of users. What is needed again is
    prepared at the first question and held (a few numbers per user and item); a pickle leaves it out. ``trained`` is
    given for users who were folded in: what people share and how they are grouped is then that of the training.
    ``grams`` (sweeps, D, D) are the feature products of the users of the training where these are left out:
    items can be compared, and there are no groups.
    """

    def __init__(
        self,
        draws: Mapping[Side, Draws],
        matrix: RatingMatrix,
        seed: int,
        trained: "Tastes | None" = None,
        grams: Floats | None = None,
    ) -> None:
        self._draws, self._matrix, self._seed, self._grams = draws, matrix, seed, grams
        # users folded into a view are not in the training ratings
        self._trained: Tastes | None = trained and (trained._trained or trained)

    # -- alike ---------------------------------------------------------------------------------------------------

    def similarity(self, side: Side, own: int) -> Floats:
        """The correlation of tastes of one user with all users, or of one item with all items, (n,).

        E<T_u, T_v> / sqrt(E|T_u|^2 E|T_v|^2), E over kept sweeps: uncertain tastes have low similarities.
        """
        square = self._squares_of_users if side is Side.USERS else self._squares_of_items
        product = np.zeros_like(square)
        for sweep in self._sweeps:
            x = self._features(sweep, side)
            product += x @ (sweep.gram[side.other] @ x[own])
        return correlation(product / max(len(self._sweeps), 1), square, own)

    @cached_property
    def _squares_of_users(self) -> Floats:
        return self._squares(Side.USERS)

    @cached_property
    def _squares_of_items(self) -> Floats:
        return self._squares(Side.ITEMS)

    def _squares(self, side: Side) -> Floats:
        """E|T|^2 of every user or item."""
        square = np.zeros(self._matrix.n_users if side is Side.USERS else self._matrix.n_items)
        for sweep in self._sweeps:
            x = self._features(sweep, side)
            square += np.einsum("nd,nd->n", x @ sweep.gram[side.other], x)
        return square / max(len(self._sweeps), 1)

    # -- groups --------------------------------------------------------------------------------------------------

    def membership(self, groups: int) -> Floats:
        """The probability of each user to be in each group, (users, groups or fewer); the largest group comes first.

        It is the share of kept sweeps in which the user's taste is nearest to the group's.
        """
        need_users((self._trained or self)._matrix, "a group of users")
        centres = (self._trained or self).centres(groups)
        half_squares = 0.5 * (centres**2).sum(axis=1)
        member = np.zeros((self._matrix.n_users, len(centres)))
        everybody = np.arange(len(member))
        for x, y in self._for_leading_items():
            member[everybody, (x @ (y.T @ centres.T) - half_squares).argmax(axis=1)] += 1.0
        if not self._sweeps:
            member[:, 0] = 1.0
        return member / max(len(self._sweeps), 1)

    @cached_property
    def _centres(self) -> dict[int, Floats]:
        return {}

    def centres(self, groups: int) -> Floats:
        """The groups that users form by their mean tastes, (groups, items): there are fewer if tastes are fewer."""
        if groups not in self._centres:
            n_users = self._matrix.n_users
            some = np.linspace(0, n_users - 1, min(n_users, _USERS)).astype(np.int64)
            tastes = np.zeros((len(some), len(self._leading_items)))
            for x, y in self._for_leading_items():
                tastes += x[some] @ y.T
            # rounded, so that rounding errors do not separate equal tastes into groups
            tastes = np.round(tastes / max(len(self._sweeps), 1), 9)
            self._centres[groups] = _centres_of(tastes, groups, self._seed)
        return self._centres[groups]

    def _for_leading_items(self) -> Iterator[tuple[Floats, Floats]]:
        """In every sweep, features of all users and of the most often rated items, weighted by their ratings."""
        items = (self._trained or self)._leading_items
        root = np.sqrt(self._weight[Side.ITEMS][items])[:, np.newaxis]
        for sweep in self._sweeps:
            yield self._features(sweep, Side.USERS), root * self._features(sweep, Side.ITEMS)[items]

    @cached_property
    def _leading_items(self) -> Ints:
        return np.argsort(-self._weight[Side.ITEMS], kind="stable")[:_ITEMS]

    # -- what both are made of -----------------------------------------------------------------------------------

    @cached_property
    def _sweeps(self) -> list[_Sweep]:
        if self._trained is not None:
            return self._trained._sweeps
        return [self._prepared(place, *one) for place, one in enumerate(_compared(self._draws))]

    def grams(self) -> Floats:
        """The feature products of users in each of the sweeps, (sweeps, D, D)."""
        return np.array([sweep.gram[Side.USERS] for sweep in self._sweeps])

    def _prepared(self, place: int, rows: Side, number: int) -> _Sweep:
        sweep = _Sweep(rows, number, {}, {})
        if self._grams is not None:
            sweep.gram[Side.USERS] = self._grams[place]
        for side in Side if self._grams is None else (Side.ITEMS,):
            x = features(self._draws[rows], number, side is rows, self._unit(sweep))
            sweep.line[side] = common_line(x, self._amount[side])
            sweep.gram[side] = gram(x - self._amount[side] @ sweep.line[side], self._weight[side])
        return sweep

    def _features(self, sweep: _Sweep, side: Side) -> Floats:
        """The features of all users or items, less their common line."""
        x = features(self._draws[sweep.rows], sweep.number, side is sweep.rows, self._unit(sweep))
        x -= self._amount[side] @ sweep.line[side]
        return x

    def _unit(self, sweep: _Sweep) -> Floats:
        """The unit of the factors of columns: new users as columns have factors in other steps."""
        return np.asarray((self._trained or self)._draws[sweep.rows].steps.col_factor[sweep.number])

    @cached_property
    def _amount(self) -> dict[Side, Floats]:
        """A constant and the standardised logarithm of the number of ratings, (n, 2), of users and of items."""
        crowd = (self._trained or self)._matrix.crowd
        return {
            Side.USERS: column_features(self._matrix.rows.lengths, crowd.amounts),
            Side.ITEMS: column_features(crowd.per_item, Amounts.of(crowd.per_item)),
        }

    @cached_property
    def _weight(self) -> dict[Side, Floats]:
        """The share of the training's ratings that each user and each item has."""
        training = (self._trained or self)._matrix
        amount = {Side.USERS: training.rows.lengths, Side.ITEMS: training.crowd.per_item}
        return {side: counts / max(counts.sum(), 1) for side, counts in amount.items()}


def n_compared(draws: Mapping[Side, Draws]) -> int:
    """How many of the kept sweeps tastes are compared in."""
    return len(_compared(draws))


def _compared(draws: Mapping[Side, Draws]) -> list[tuple[Side, int]]:
    """The sweeps that tastes are compared in: whose rows, and the number of each."""
    return [(rows, s) for rows, one in draws.items() for s in one.some(_SWEEPS)]


def _centres_of(tastes: Floats, groups: int, seed: int) -> Floats:
    """The centres of ``groups`` by k-means, the largest group first; groups that nobody is in are left out."""
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    state = int(np.random.SeedSequence(seed).generate_state(1)[0])
    means = KMeans(min(groups, len(tastes)), n_init=_STARTS, random_state=state)
    with warnings.catch_warnings(), threadpool_limits(1):  # threads would add up in any order, and bits differ
        warnings.simplefilter("ignore", ConvergenceWarning)  # there are fewer different tastes than groups
        size = np.bincount(means.fit_predict(tastes), minlength=means.n_clusters)
    return np.asarray(means.cluster_centers_[np.argsort(-size, kind="stable")[: np.count_nonzero(size)]])
