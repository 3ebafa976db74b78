"""A model that was saved with its chains continues them as if it had never been saved."""

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys import BayesianLBGModel, LBGModel
from lbg_recsys.errors import ModelFileError, ParameterError
from lbg_recsys.persistence.container import read_container, write_container

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def _model(**more):
    settings = {"n_components": 3, "n_sweeps": 14, "burn_in": 4, "max_kept": 4, "random_state": 0, "warm_start": True}
    return BayesianLBGModel(**{**settings, **more})


@pytest.mark.parametrize("more", [{}, {"orientation": "items", "likelihood": "ordinal", "n_chains": 2}])
@pytest.mark.parametrize("random_state", [0, None])
def test_a_loaded_model_continues_its_chains_with_the_same_bits(more, random_state, sample, tmp_path):
    model = _model(**more, random_state=random_state).fit(sample.ratings)
    path = lbg_recsys.save(model, tmp_path / "model.lbg", chains=True)
    again = lbg_recsys.load(path)
    assert lbg_recsys.save(again, tmp_path / "again.lbg", chains=True).read_bytes() == path.read_bytes()
    for one in (model, again):
        one.n_sweeps = 9
        one.fit(sample.ratings)
        assert one.n_sweeps_ == 23
    pairs = [(user, item) for user in (1, 2, "new") for item in (1, 40, "new")]
    np.testing.assert_array_equal(again.predict_distribution(pairs), model.predict_distribution(pairs))
    np.testing.assert_array_equal(again.rhat_, model.rhat_)
    assert again.training_error_ == model.training_error_
    first = lbg_recsys.save(model, path, chains=True).read_bytes()
    assert lbg_recsys.save(again, path, chains=True).read_bytes() == first


def test_without_chains_a_loaded_model_starts_again(sample, tmp_path):
    model = _model().fit(sample.ratings)
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg"))
    with pytest.raises(ParameterError, match="this model has no chains"):
        lbg_recsys.save(again, tmp_path / "again.lbg", chains=True)
    with pytest.warns(UserWarning, match="the model has no chains to continue, and the fit starts from") as caught:
        assert again.fit(sample.ratings).n_sweeps_ == 14
    assert caught[0].filename == __file__
    model.max_kept = 6
    with pytest.raises(ParameterError, match="changed after the fit"):
        lbg_recsys.save(model, tmp_path / "again.lbg", chains=True)
    with pytest.raises(ParameterError, match="an LBGModel has none"):
        lbg_recsys.save(LBGModel(n_topics=1).fit(sample.ratings), tmp_path / "again.lbg", chains=True)


@pytest.mark.parametrize("far", [-1e8, 3e8])
def test_chains_with_a_level_far_from_all_ratings_are_continued(far, tmp_path):
    triples = ([1, 1, 2, 2, 3], [7, 8, 7, 9, 8], [0, 1, 1, 0, 1])
    model = _model().fit(triples, levels=sorted([0, 1, far]))
    again = lbg_recsys.load(lbg_recsys.save(model, tmp_path / "model.lbg", chains=True))
    for one in (model, again):
        one.n_sweeps = 3
        one.fit(one.matrix)
    assert (again.predict_distribution([(1, 9)]) == model.predict_distribution([(1, 9)])).all()


def _fact(name, value):
    return lambda header, arrays: header["facts"]["chains"][0].update({name: value})


def _all(name, value):
    return lambda header, arrays: arrays[name].__setitem__(..., value)


LIES = {
    "a chain fewer": (lambda h, a: h["facts"]["chains"].pop(), "the arrays are"),
    "an even increment": (_fact("rng", [1, 2, 0, 0]), "even increment"),
    "a state too large": (_fact("rng", [2**128, 1, 0, 0]), "no state of a random generator"),
    "no state": (_fact("rng", []), "no state of a random generator"),
    "a precision of zero": (_fact("noise_rate", 0.0), "precision or stride"),
    "a stride of zero": (_fact("stride", 0), "precision or stride"),
    "more sweeps than were kept": (_fact("kept", 3), "the chains have kept"),
    "a class too many": (lambda h, a: a["chain0_z"].__setitem__((0, 0), 3), "a class or a user that does not exist"),
    "cut points that fall": (lambda h, a: a.update(chain0_cuts=a["chain0_cuts"][::-1].copy()), "do not ascend"),
    "utilities out of sight": (_all("chain1_utility", 3e38), "array chain1_utility has values"),
    "cut points out of sight": (_all("chain1_cuts", 1e308), "array chain1_cuts has values"),
    "users' cut points out of sight": (_all("chain1_own_cuts", 3e38), "array chain1_own_cuts has values"),
    "class means out of sight": (_all("chain0_c", 3e38), "array chain0_c has values"),
    "a prior more precise than any": (_all("chain0_tau", 1e300), "array chain0_tau has values"),
    "no noise": (_all("chain0_row_weight", 3e38), "array chain0_row_weight has values"),
    "no noise, and residuals": (
        lambda h, a: (_all("chain0_row_weight", 9e23)(h, a), _all("chain0_row_bias", 1e4)(h, a)),
        "noise precisions that do not agree with its residuals",
    ),
    "residuals that no kept sweep holds": (
        lambda h, a: (_all("chain1_utility", 5e4)(h, a), _all("chain1_row_bias", -5e4)(h, a)),
        "residuals of up to",
    ),
    "utilities beyond any cut point": (_all("chain1_cuts", 1e9), "cut points that are out of reach"),
    "sweeps without number": (_fact("sweeps", 10**400), "counts its sweeps wrongly"),
    "a training error out of sight": (_fact("errors", [1e300]), "impossible training error"),
    "no utilities": (lambda h, a: a.pop("chain1_utility"), "not of the kind"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_about_a_chain_is_refused(name, sample, tmp_path):
    path = lbg_recsys.save(_model().fit(sample.ratings), tmp_path / "model.lbg", chains=True)
    header, arrays = read_container(path)
    change, message = LIES[name]
    change(header, arrays)
    with open(path, "wb") as stream:
        write_container(stream, header, arrays)
    with pytest.raises(ModelFileError, match=message):
        lbg_recsys.load(path)
