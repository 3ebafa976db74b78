"""Hypothesis strategies that all tests share."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Cases of one run of hypothesis: it remembers them all, which makes long runs slow, and several runs share the cores.
_CASES_AT_ONCE = 7000


def fuzzed(default):
    """Run a test with ``default`` cases, or ``LBG_FUZZ_EXAMPLES``, in parts whose number is its argument ``part``."""
    cases = int(os.environ.get("LBG_FUZZ_EXAMPLES", default))
    parts = -(-cases // _CASES_AT_ONCE)
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    bounded = settings(max_examples=-(-cases // parts), deadline=None, suppress_health_check=quiet)

    def decorate(test):
        return pytest.mark.parametrize("part", range(parts))(bounded(test))

    return decorate


@st.composite
def rating_triples(draw, max_users=8, max_items=7, levels=(1.0, 2.0, 3.0, 4.0, 5.0)):
    """(users, items, ratings): some pairs of a small grid, each rated once, at least two of them."""
    n_users, n_items = draw(st.integers(1, max_users)), draw(st.integers(2, max_items))
    pairs = [(u, i) for u in range(n_users) for i in range(n_items)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=2, max_size=len(pairs), unique=True))
    ratings = draw(st.lists(st.sampled_from(levels), min_size=len(chosen), max_size=len(chosen)))
    users, items = zip(*chosen, strict=True)
    return list(users), [f"item {i}" for i in items], np.array(ratings)


# What people and programs pass by mistake, wherever an argument is expected.
odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, -1, 1, 3, 2**31, 2**63, 10**400]),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.sampled_from(
        [
            [],
            (),
            {},
            set(),
            [[]],
            [None],
            object(),
            np.nan,
            np.float32(2.5),
            np.int8(3),
            np.array([]),
            np.array([[1, 2], [3, 4]]),
            np.array(["a", None], dtype=object),
            np.datetime64("2020-01-01"),
            range(3),
            lambda: None,
            1 + 2j,
            "item 1",
            ["item 1", "item 1"],
            {"item 1": 3},
            {"item 1": "three"},
            {"item 1": None},
            {None: 3},
            [("a",)],
            [(1, 2, 3)],
            [(0, "item 1")],
        ]
    ),
)
