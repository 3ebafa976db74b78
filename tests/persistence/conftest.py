"""Small fitted models of every class that has a model file."""

import pytest

from lbg_recsys.ratings import BayesianLBGModel, LBGModel
from lbg_recsys.ratings.plsa import GaussianPLSAModel
from lbg_recsys.text import PLSI, LBGMixture, LBGSelector, MixtureOfUnigrams

MAKERS = {
    "lbg": lambda: LBGModel(n_topics=3, random_state=0, tol=1e-3),
    "lbg-baseline": lambda: LBGModel(n_topics=3, random_state=0, tol=1e-3, baseline=True, point="mean"),
    "bayesian": lambda: BayesianLBGModel(n_components=3, n_sweeps=12, burn_in=4, max_kept=3, random_state=0),
    "plsa": lambda: GaussianPLSAModel(n_topics=3, random_state=0, max_iter=5),
}

TEXTS = ["goal keeper goal", "keeper and penalty", "flour sugar oven", "oven and sugar", "penalty goal", "sugar"]
TEXT_MAKERS = {
    "mixture": lambda: LBGMixture(2, random_state=0),
    "unigrams": lambda: MixtureOfUnigrams(2, random_state=0),
    "plsi": lambda: PLSI(2, random_state=0, max_iter=20),
    "selector": lambda: LBGSelector(LBGMixture(2, random_state=0), n_features_to_select=3),
}


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@pytest.fixture(scope="session", params=sorted(MAKERS))
def fitted(request, sample):
    return MAKERS[request.param]().fit(sample.ratings)


@pytest.fixture(scope="session")
def tiny_model():
    """Two users, three items, so that a file of it is small enough to mutate thoroughly."""
    ratings = (["ann", "ann", "bob"], [7, 8, 9], [5.0, 4.0, 1.0])
    return LBGModel(n_topics=2, random_state=0).fit(ratings, scale=(1, 5))
