"""Every example in a docstring runs."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import lbg_recsys

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(lbg_recsys.__path__, "lbg_recsys.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(import_module(name)).failed == 0
