"""Small models of every kind, their files, and a client that needs no socket."""

import warnings

import pytest

import lbg_recsys
from lbg_recsys.ratings import GaussianPLSAModel

pytest.importorskip("starlette", reason="the extra serve is not installed: pip install '.[serve]'")
pytest.importorskip("uvicorn", reason="the extra serve is not installed: pip install '.[serve]'")

KINDS = ("bayesian", "lbg", "plsa", "clicks")


def _fitted(kind, ratings, seed=0):
    makers = {
        "bayesian": lambda: lbg_recsys.BayesianLBGModel(n_components=4, n_sweeps=30, burn_in=10, random_state=seed),
        "lbg": lambda: lbg_recsys.LBGModel(n_topics=4, random_state=seed),
        "plsa": lambda: GaussianPLSAModel(n_topics=3, max_iter=10, random_state=seed),
        "clicks": lambda: lbg_recsys.ChoiceModel(penalty=20 + seed),
    }
    data = ratings[["user", "item"]] if kind == "clicks" else ratings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return makers[kind]().fit(data)


@pytest.fixture(scope="session")
def model_files(tmp_path_factory, sample):
    """Kind -> model file with titles."""
    folder = tmp_path_factory.mktemp("served")
    titles = sample.items["title"].to_dict()
    return {
        kind: lbg_recsys.save(_fitted(kind, sample.ratings), folder / f"{kind}.lbg", titles=titles) for kind in KINDS
    }


@pytest.fixture(scope="session")
def fitted():
    """``fitted(kind, ratings, seed)`` fits a small model."""
    return _fitted
