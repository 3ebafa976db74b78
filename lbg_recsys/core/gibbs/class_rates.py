"""The rates at which rows of each class have an entry in a column, as log-odds."""

import math

import numpy as np

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.gibbs.components import class_rate
from lbg_recsys.core.types import Array


@kernel()
def class_logits(col_ptr: Array, col_rows: Array, z: Array, cols: Array, logits: Array) -> None:
    """logits[e, h, s] = logit p[h, cols[e], s] less its mean over the classes, p the `class_rate` of some columns.

    Column i has entries with the rows ``col_rows[col_ptr[i]:col_ptr[i + 1]]``; ``z`` (rows, H) are the classes. The
    logits of a column without entries are 0.
    """
    rows, n_components = z.shape
    k = logits.shape[2]
    size = np.zeros((n_components, k))
    for j in range(rows):
        for h in range(n_components):
            size[h, z[j, h]] += 1.0
    logits[:] = 0
    for e in range(cols.shape[0]):
        begin, end = col_ptr[cols[e]], col_ptr[cols[e] + 1]
        if begin == end:
            continue
        for entry in range(begin, end):
            for h in range(n_components):
                logits[e, h, z[col_rows[entry], h]] += 1
        for h in range(n_components):
            total = 0.0
            for s in range(k):
                p = class_rate(logits[e, h, s], end - begin, size[h, s], rows)
                logits[e, h, s] = math.log(p / (1.0 - p))
                total += logits[e, h, s]
            for s in range(k):
                logits[e, h, s] -= total / k


@kernel()
def add_chosen(rows: Array, lines: Array, z: Array, table: Array, total: Array) -> None:
    """total[e] += sum_h table[lines[e], h, class of row rows[e] in component h]."""
    for e in range(rows.shape[0]):
        classes, line = z[rows[e]], table[lines[e]]
        for h in range(classes.shape[0]):
            total[e] += line[h, classes[h]]
