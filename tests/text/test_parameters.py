"""Each parameter of a text estimator has one default and one range, wherever it is named."""

import ast
import inspect
import re

import pytest

from lbg_recsys.text import PLSI, LBGClassifier, LBGMixture, LBGSelector, MixtureOfUnigrams

every_estimator = pytest.mark.parametrize(
    "estimator", [LBGClassifier, LBGMixture, LBGSelector, MixtureOfUnigrams, PLSI]
)


def defaults(estimator):
    return {name: one.default for name, one in inspect.signature(estimator).parameters.items()}


def documented(estimator):
    """The defaults in the docstring by name; those that are said to be as in another model are that model's."""
    section = re.split(r"\n\w+\n-+\n", inspect.getdoc(estimator))[1]
    found = {}
    for names, kind in re.findall(r"^(\w[\w, ]*) : (.*)$", section, re.MULTILINE):
        own = re.search(r"default=(.+)$", kind)
        for name in names.split(", "):
            found[name] = ast.literal_eval(own[1]) if own else defaults(LBGMixture)[name]
    return found


@every_estimator
def test_the_docstring_has_the_defaults_of_the_constructor(estimator):
    assert documented(estimator) == defaults(estimator)


@every_estimator
def test_every_parameter_is_checked(estimator):
    assert set(estimator._parameter_constraints) == set(defaults(estimator))
