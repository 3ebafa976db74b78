"""Small models of every kind that a report can be on."""

import warnings

import pytest

import lbg_recsys
from lbg_recsys.ratings import GaussianPLSAModel

HOSTILE = (
    "<script>document.title='hacked'</script>\"'><img src=x onerror=\"document.title='hacked'\"> & \u202e\x1b[2J"
)


@pytest.fixture(scope="session")
def models(sample):
    """Kind -> fitted model with titles, the first of which is hostile."""
    titles = sample.items["title"].to_dict()
    titles = {
        item: f"{HOSTILE} {place}" if place < 40 else title for place, (item, title) in enumerate(titles.items())
    }
    small = {
        "bayesian": lbg_recsys.BayesianLBGModel(n_components=3, n_sweeps=30, burn_in=10, random_state=0),
        "lbg": lbg_recsys.LBGModel(n_topics=12, max_iter=20, random_state=0),
        "plsa": GaussianPLSAModel(n_topics=3, max_iter=10, random_state=0),
        "choice": lbg_recsys.ChoiceModel(),
        "clicks": lbg_recsys.ChoiceModel(),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, model in small.items():
            model.fit(sample.ratings[["user", "item"]] if kind == "clicks" else sample.ratings)
            model.titles = titles
    return small
