"""Which columns distinguish a topic from the others."""

import numpy as np

from lbg_recsys.core.types import Floats


def telling(weight: Floats, rate: Floats) -> Floats:
    """p_si log(p_si / p_i) with p_i = sum_t lam_t p_ti, (n, k): a column's share in what sets a topic apart.

    Large where a column is frequent in the topic and rarer elsewhere; the sum over the columns of a distribution is
    its Kullback-Leibler divergence from the average topic. With one topic all values are zero.

    Parameters
    ----------
    weight : array of shape (k,)
        lam, the weights of the topics.
    rate : array of shape (n, k)
        p, the probability of each column in each topic.

    Examples
    --------
    >>> import numpy as np
    >>> rate = np.array([[0.9, 0.9], [0.5, 0.1]])  # the first column is frequent in both topics
    >>> telling(np.array([0.5, 0.5]), rate).round(2).tolist()
    [[0.0, 0.0], [0.26, -0.11]]
    """
    rate = np.maximum(rate, 1e-300)
    overall = rate @ weight
    return np.asarray(rate * np.log(rate / overall[:, None]))
