"""Chains as tasks have the bits of chains here."""

import numpy as np
import pytest

from lbg_recsys.distributed import fit_chains
from lbg_recsys.errors import ParameterError
from lbg_recsys.ratings import BayesianLBGModel

pytestmark = pytest.mark.filterwarnings("ignore:.*sampler has not converged", "ignore:too few sweeps")
SETTINGS = {"n_sweeps": 12, "burn_in": 4, "n_factors": 4, "random_state": 0}


def test_chains_on_workers_give_the_bits_of_one_machine(sample, client):
    here = BayesianLBGModel(**SETTINGS).fit(sample.ratings)
    notes = []
    there = fit_chains(
        BayesianLBGModel(**SETTINGS), sample.ratings, client, progress=lambda *step: notes.append(step[2])
    )
    assert "4 of 4 chains" in notes and type(there) is BayesianLBGModel
    assert there.training_error_ == here.training_error_ and there.rhat_.tolist() == here.rhat_.tolist()
    pairs = [(user, item) for user in list(here.matrix.users)[:9] for item in list(here.matrix.items)[:9]]
    assert there.predict_distribution(pairs).tobytes() == here.predict_distribution(pairs).tobytes()
    for model in (here, there):  # a fit on this machine goes on from there
        model.warm_start = True
        model.fit(sample.ratings)
    assert there.n_sweeps_ == 24 and there.training_error_ == here.training_error_


def test_equal_ratings_and_bad_settings(client):
    equal = (["a", "b"], ["x", "x"], [3, 3])
    with pytest.warns(UserWarning, match="all ratings are equal"):
        model = fit_chains(BayesianLBGModel(**SETTINGS), equal, client)
    assert np.argmax(model.predict_distribution([("a", "x")])) == 0
    with pytest.raises(ParameterError, match="burn_in is 12"):
        fit_chains(BayesianLBGModel(**{**SETTINGS, "burn_in": 12}), equal, client)
