"""Hypothesis strategies that all tests share."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def rating_triples(draw, max_users=8, max_items=7, levels=(1.0, 2.0, 3.0, 4.0, 5.0)):
    """(users, items, ratings): some pairs of a small grid, each rated once, at least two of them."""
    n_users, n_items = draw(st.integers(1, max_users)), draw(st.integers(2, max_items))
    pairs = [(u, i) for u in range(n_users) for i in range(n_items)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=2, max_size=len(pairs), unique=True))
    ratings = draw(st.lists(st.sampled_from(levels), min_size=len(chosen), max_size=len(chosen)))
    users, items = zip(*chosen, strict=True)
    return list(users), [f"item {i}" for i in items], np.array(ratings)
