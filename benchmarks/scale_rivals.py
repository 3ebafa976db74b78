"""What other libraries do with the same ratings: a fit each, by name; returns the number of iterations."""

import numpy as np
import scipy.sparse as sp


def implicit_als(matrix, size, iterations):
    """Alternating least squares of implicit, on which ratings count as confidences."""
    from implicit.als import AlternatingLeastSquares

    rows = matrix.rows
    table = sp.csr_matrix((rows.values.astype(np.float32), rows.columns, rows.indptr), (len(rows), rows.n_columns))
    model = AlternatingLeastSquares(factors=size, iterations=iterations, num_threads=1, random_state=0)
    model.fit(table, show_progress=False)
    return iterations


def myfm(matrix, size, iterations):
    """The Gibbs sampler of myFM: one regression on the user and the item of each rating."""
    from myfm import MyFMRegressor

    n = matrix.n_ratings
    columns = np.column_stack([matrix.user_codes, matrix.item_codes + matrix.n_users]).ravel()
    table = sp.csr_matrix((np.ones(2 * n), columns, np.arange(n + 1) * 2), (n, matrix.n_users + matrix.n_items))
    groups = [matrix.n_users, matrix.n_items]
    MyFMRegressor(rank=size, random_seed=0).fit(
        table, matrix.values, group_shapes=groups, n_iter=iterations, n_kept_samples=iterations // 2
    )
    return iterations


def surprise_svd(matrix, size, iterations):
    """Surprise's SVD by stochastic gradient descent."""
    import pandas as pd
    from surprise import SVD, Dataset, Reader

    frame = pd.DataFrame({"user": matrix.user_codes, "item": matrix.item_codes, "rating": matrix.values})
    reader = Reader(rating_scale=(matrix.scale.low, matrix.scale.high))
    trainset = Dataset.load_from_df(frame, reader).build_full_trainset()
    SVD(n_factors=size, n_epochs=iterations, random_state=0).fit(trainset)
    return iterations


RIVALS = {"implicit": implicit_als, "myfm": myfm, "scikit-surprise": surprise_svd}
