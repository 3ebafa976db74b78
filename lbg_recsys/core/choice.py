"""What people take: the best linear prediction of each cell of a users x items matrix from the user's other cells.

X (users x items) holds what each user took, 1 for an item that the user liked and g for one that the user rated but
did not like. Users have weights w, and

    Sigma = X' diag(w) X + diag(lambda),    Q = Sigma^-1,    s_ui = -sum_{j != i} x_uj Q_ji / Q_ii.

With w = 1, g = 0 or 1 and the same lambda for all items this is EASE (Steck 2019). The scores rank items; they are
not probabilities. They are linear in the user's items, so a user who was not in X goes through the same sum, and the
contribution of item j to the score of item i is exactly -x_j Q_ji / Q_ii.

Three forms hold Q; `solve` chooses the smallest:

- `ItemSide`: Q itself, M x M, by a Cholesky factorisation;
- `UserSide`: by the Woodbury identity an N x N matrix. Users with a single item contribute only to the diagonal of
  Sigma, so that N counts the users who have two or more;
- `HeadSide`: where both exceed a limit, Q of the items taken most often (the head). The score of any other item is
  its exact linear prediction from the head's items alone; the other items do not contribute to scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.interrupts import interruptible
from lbg_recsys.core.lapack import invert
from lbg_recsys.core.types import Array, Floats, Ints

Singles = npt.NDArray[np.float32]
# The largest matrix that is inverted: 5 GB while `solve` runs, and 1.6 GB in single precision afterwards.
LIMIT = 20_000
# The penalty's factor, in units of the cube root of the number of choices.
USUAL_FACTOR = 9.0


def diagonal(values: Floats) -> sp.dia_array:
    """The square matrix with these values on its diagonal (scipy has ``diags_array`` from version 1.11 on)."""
    return sp.dia_array((values[None], [0]), shape=(len(values), len(values)))


def graded(values: Floats, liked: float, grade: float) -> Floats:
    """The cells x of ratings: 1 where a rating is at least ``liked``, else ``grade``."""
    return np.where(values >= liked, 1.0, grade)


def user_weights(counts: Ints, power: float) -> Floats:
    """Weights proportional to counts^-power, scaled so that sum w n = sum n; 0 for a user without items."""
    weight = np.where(counts > 0, np.maximum(counts, 1).astype(np.float64) ** -power, 0.0)
    return np.asarray(weight * (counts.sum() / max((weight * counts).sum(), 1e-300)))


def penalties(x: sp.csr_array, factor: float | None, power: float) -> Floats:
    """The penalty of each item: factor r (n_i / n)^power.

    r is the mean square of the stored cells, n_i how often item i was taken (at least 1) and n how often the item of
    an average choice was taken. A positive power penalises popular items more: they have enough data.

    ``factor`` is 9 nnz^1/3 if None, nnz being the number of stored cells. This follows the factors that were best on
    inner splits of data sets of 23,000 to 640,000 choices, from 250 to 1000 (``benchmarks/tune_choice.py``).
    """
    counts = np.bincount(x.indices, minlength=x.shape[1])
    return penalties_by(counts, float(np.square(x.data).sum()), factor, power)


def penalties_by(counts: Ints | Floats, squares: float, factor: float | None, power: float) -> Floats:
    """The same from how often each item was taken, and the sum of the squares of all cells."""
    nnz = int(counts.sum())
    if factor is None:
        factor = USUAL_FACTOR * np.cbrt(nnz)
    taken = np.maximum(counts, 1).astype(np.float64)
    usual = np.square(taken).sum() / taken.sum()
    return np.asarray(factor * (squares / max(nnz, 1)) * (taken / usual) ** power)


class Inverse(Protocol):
    """Q = Sigma^-1, or what stands for it beyond the limit."""

    @property
    def diagonal(self) -> Singles:
        """The diagonal of Q."""

    def times(self, x: sp.csr_array) -> Singles:
        """The product x Q, dense."""

    def column(self, item: int) -> Singles:
        """One column of Q."""

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""


@dataclass(frozen=True)
class ItemSide:
    """Q (items, items)."""

    q: Singles

    @property
    def diagonal(self) -> Singles:
        """The diagonal of Q."""
        return np.asarray(self.q.diagonal())

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return self.q.nbytes

    def times(self, x: sp.csr_array) -> Singles:
        """The product x Q, dense."""
        return np.asarray(x.astype(np.float32) @ self.q)

    def column(self, item: int) -> Singles:
        """One column of Q."""
        return np.asarray(self.q[item])


@dataclass(frozen=True)
class UserSide:
    """Q = D (I - V' K V) D with K = (I + V V')^-1.

    ``scale`` is the diagonal of D, (lambda + what users with a single item contribute)^-1/2, and V = W^1/2 X D has
    the other users as rows.
    """

    k: Singles
    v: sp.csr_array
    scale: Singles
    diagonal: Singles

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return self.k.nbytes + _nbytes(self.v) + self.scale.nbytes + self.diagonal.nbytes

    def times(self, x: sp.csr_array) -> Singles:
        """The product x Q, dense."""
        rows, columns = _places(x)
        cells = x.data.astype(np.float32) * self.scale[columns]
        dense = np.zeros(x.shape[::-1], np.float32)
        dense[columns, rows] = cells
        met = (self.v @ dense).T @ self.k
        product = -np.asarray((self.v.T @ met.T).T)
        product[rows, columns] += cells
        return np.ascontiguousarray(product * self.scale)

    def column(self, item: int) -> Singles:
        """One column of Q."""
        return np.asarray(self.times(_unit(item, len(self.scale)))[0])


@dataclass(frozen=True)
class HeadSide:
    """Q of the items in ``head``, and the weighted cells of these (y_head) and of all other items (y_tail)."""

    head: Ints
    tail: Ints
    inner: ItemSide
    y_head: sp.csr_array
    y_tail: sp.csr_array

    @property
    def diagonal(self) -> Singles:
        """The diagonal of Q for the head; 1 for other items, whose rows `times` gives in units of it."""
        diagonal = np.ones(len(self.head) + len(self.tail), np.float32)
        diagonal[self.head] = self.inner.diagonal
        return diagonal

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return self.inner.nbytes + _nbytes(self.y_head) + _nbytes(self.y_tail)

    def times(self, x: sp.csr_array) -> Singles:
        """The product x Q, dense."""
        product = np.zeros(x.shape, np.float32)
        of_head = self.inner.times(x[:, self.head])
        product[:, self.head] = of_head
        product[:, self.tail] = -((self.y_tail.T @ (self.y_head @ of_head.T)).T)
        rare = x[:, self.tail].tocsr()
        rows, columns = _places(rare)
        product[rows, self.tail[columns]] += rare.data.astype(np.float32)
        return product

    def column(self, item: int) -> Singles:
        """One column of Q."""
        column = np.zeros(len(self.head) + len(self.tail), np.float32)
        place = int(np.searchsorted(self.head, item))
        if place < len(self.head) and self.head[place] == item:
            column[self.head] = self.inner.column(place)
        else:
            cells = self.y_tail[:, [int(np.searchsorted(self.tail, item))]]
            column[self.head] = -self.inner.times(sp.csr_array((self.y_head.T @ cells).T))[0]
            column[item] = 1.0
        return column


def solve(
    x: sp.csr_array, weight: Floats, penalty: Floats | float, *, limit: int = LIMIT
) -> ItemSide | UserSide | HeadSide:
    """The inverse of X' diag(weight) X + diag(penalty) in the smallest form, with at most ``limit`` rows.

    ``penalty`` is one number, or one per item.
    """
    penalty = np.broadcast_to(np.asarray(penalty, dtype=np.float64), x.shape[1])
    y = sp.csr_array(diagonal(np.sqrt(weight)) @ x)
    several = np.diff(y.indptr) > 1
    if min(int(several.sum()), y.shape[1]) > limit:
        return _solve_head(y, penalty, limit)
    return _solve_users(y, several, penalty) if several.sum() < y.shape[1] else _solve_items(y, penalty)


def solve_pairs(pairs: sp.csr_array, penalty: Floats, taken: Ints, *, limit: int = LIMIT) -> ItemSide | HeadSide:
    """The same of X' diag(weight) X itself, a symmetric matrix (items, items); ``taken`` is how often each was."""
    if len(penalty) <= limit:
        return ItemSide(_inverse_of(_dense(pairs, penalty)))
    head, tail = _parted(taken, limit)
    rows = pairs[head]
    inner = ItemSide(_inverse_of(_dense(rows[:, head], penalty[head])))
    return HeadSide(head, tail, inner, sp.csr_array(sp.eye_array(limit, dtype=np.float32)), rows[:, tail])


def _dense(pairs: sp.csr_array, diagonal: Floats) -> Floats:
    sigma = np.asarray(pairs.toarray(order="F"), dtype=np.float64)
    sigma[np.diag_indices(len(sigma))] += diagonal
    return sigma


def _solve_items(y: sp.csr_array, penalty: Floats) -> ItemSide:
    return ItemSide(_inverse(y, penalty))


def solve_items(add_gram: Callable[[Array], None], penalty: Floats) -> ItemSide:
    """The same for more users than memory holds: ``add_gram`` adds X' diag(weight) X to an upper triangle."""
    sigma = np.zeros((len(penalty), len(penalty)), order="F")
    sigma[np.diag_indices(len(penalty))] = penalty
    add_gram(sigma.T)
    return ItemSide(_inverse_of(sigma))


def is_item_side(lengths: Ints, n_items: int, limit: int) -> bool:
    """Whether `solve` would choose `ItemSide` for users with these numbers of items."""
    return n_items <= min(limit, int((lengths > 1).sum()))


def _solve_users(y: sp.csr_array, several: npt.NDArray[np.bool_], penalty: Floats) -> UserSide:
    single = y[~several]
    scale = 1.0 / np.sqrt(penalty + np.bincount(single.indices, np.square(single.data), y.shape[1]))
    v = sp.csr_array(y[several] @ diagonal(scale))
    k = _inverse(sp.csr_array(v.T), np.ones(v.shape[0]))
    v = v.astype(np.float32)
    explained = np.zeros(v.shape[1])
    interruptible(_quadratic, *_columns(v), k, explained)
    return UserSide(k, v, scale.astype(np.float32), ((1.0 - explained) * scale**2).astype(np.float32))


def _solve_head(y: sp.csr_array, penalty: Floats, limit: int) -> HeadSide:
    head, tail = _parted(np.bincount(y.indices, minlength=y.shape[1]), limit)
    single = y.astype(np.float32)
    return HeadSide(head, tail, _solve_items(y[:, head].tocsr(), penalty[head]), single[:, head], single[:, tail])


def _parted(taken: Ints, limit: int) -> tuple[Ints, Ints]:
    """The items taken most often, and all others; both ascend."""
    order = np.argsort(-taken, kind="stable")
    return np.sort(order[:limit]), np.sort(order[limit:])


def _inverse(y: sp.csr_array, diagonal: Floats) -> Singles:
    """(Y'Y + diag(diagonal))^-1."""
    n = y.shape[1]
    sigma = np.zeros((n, n), order="F")
    sigma[np.diag_indices(n)] = diagonal
    y.sort_indices()
    interruptible(gram, y.indptr, y.indices, y.data.astype(np.float64), sigma.T)
    return _inverse_of(sigma)


def _inverse_of(sigma: Floats) -> Singles:
    """The inverse of a matrix of which the lower triangle is given, in Fortran's order; the matrix is lost."""
    n = len(sigma)
    if not invert(sigma):
        raise np.linalg.LinAlgError(f"the {n} x {n} matrix of choices is not positive definite: raise the penalty")
    q = np.empty((n, n), np.float32)
    interruptible(_mirror, sigma.T, q)
    return q


@kernel()
def gram(indptr: Array, indices: Array, data: Array, out: Array) -> None:
    """Add Y'Y to the upper triangle of ``out``; the columns of each row of Y ascend."""
    for row in range(len(indptr) - 1):
        for a in range(indptr[row], indptr[row + 1]):
            line = out[indices[a]]
            for b in range(a, indptr[row + 1]):
                line[indices[b]] += data[a] * data[b]


@kernel()
def _mirror(upper: Array, out: Array) -> None:
    """Copy a symmetric matrix of which only the upper triangle is given."""
    for i in range(len(upper)):
        for j in range(i, len(upper)):
            out[i, j] = out[j, i] = upper[i, j]


@kernel()
def _quadratic(indptr: Array, indices: Array, data: Array, k: Array, out: Array) -> None:
    """The quadratic form v_i' K v_i of every column v_i, given as a row of the transpose."""
    for column in range(len(out)):
        total = 0.0
        for a in range(indptr[column], indptr[column + 1]):
            line = k[indices[a]]
            part = 0.0
            for b in range(indptr[column], indptr[column + 1]):
                part += data[b] * line[indices[b]]
            total += data[a] * part
        out[column] = total


def _columns(v: sp.csr_array) -> tuple[Any, Any, Any]:
    columns = v.tocsc()
    return columns.indptr, columns.indices, columns.data


def _nbytes(x: sp.csr_array) -> int:
    return int(x.data.nbytes + x.indices.nbytes + x.indptr.nbytes)


def _unit(item: int, n_items: int) -> sp.csr_array:
    """A row with a 1 in one column."""
    return sp.csr_array(([1.0], ([0], [item])), shape=(1, n_items))


def _places(x: sp.csr_array) -> tuple[Ints, Ints]:
    """The row and the column of every stored cell."""
    return np.repeat(np.arange(x.shape[0]), np.diff(x.indptr)), x.indices


def scores(inverse: Inverse, x: sp.csr_array) -> Singles:
    """s of all items for the users in the rows of ``x``, each from the user's other items, (users, items)."""
    product = inverse.times(x)
    product /= -inverse.diagonal
    product[_places(x)] += x.data.astype(np.float32)
    return product


def contributions(inverse: Inverse, items: Ints, cells: Floats, item: int) -> Floats:
    """What each of a user's items (codes, with their cells) adds to the score of one item; 0 for the item itself."""
    parts = -cells * inverse.column(item)[items] / float(inverse.diagonal[item])
    return np.asarray(np.where(items == item, 0.0, parts))
