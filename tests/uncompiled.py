"""A plugin of pytest for measuring which lines of compiled functions the tests run, which coverage.py cannot see.

``NUMBA_DISABLE_JIT=1 coverage run -m pytest --tb=no -p tests.uncompiled tests/core`` runs kernels as plain Python,
with the plain forms of those that are written in LLVM's language. That is hundreds of times slower: a test is ended
after some seconds, and fails. Python also refuses divisions by zero that kernels allow. Only the lines count, not the
failures, whose tracebacks pytest cannot show where a test was ended.
"""

import signal

import pytest

from lbg_recsys.core.gibbs import components, factors, simd, vectors

SECONDS = 4


def pytest_configure(config):
    """Put the plain forms in the place of what only a compiler can call."""
    components.sum_blocks = simd.sum_blocks_plain
    for name in ("add_squares", "add_line", "subtract_products"):
        setattr(factors, name, getattr(vectors, f"{name}_plain"))


def _late(_, frame):
    if "coverage" in frame.f_code.co_filename:  # it may hold a lock, which an exception would leave locked for ever
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        return
    raise TimeoutError(f"took more than {SECONDS} s without compiled code")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    """End a test that takes too long."""
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
