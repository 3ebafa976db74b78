"""One definition of each hyper-parameter: model, algorithm, command line, model file and docstring agree."""

import inspect
from dataclasses import dataclass

import pytest
from sklearn.base import clone

from lbg_recsys.cli.algorithms import MODELS, factory, named_class
from lbg_recsys.core.levels import POINTS as CORE_POINTS
from lbg_recsys.errors import ParameterError
from lbg_recsys.ratings import settings as ratings_settings
from lbg_recsys.ratings.bayesian import training
from lbg_recsys.settings import Settings, setting, settings_of

NAMES = sorted(MODELS)
BESIDE_SURPRISE = [name for name in NAMES if MODELS[name].surprise]


def classes_of(name):
    """The model and, if there is one, the Surprise algorithm that a name stands for."""
    return [named_class(place) for place in (MODELS[name].model, MODELS[name].surprise) if place]


@dataclass(kw_only=True, eq=False, repr=False)
class Example(Settings):
    """An example."""

    size: int | str = setting(3, "How many.", at_least=1, at_most=9, choices=("auto",))
    share: float = setting(0.5, "How much.", above=0, below=1)
    loud: bool = setting(False, "Whether.")


class Documented(Example):
    """A class of these settings.

    Examples
    --------
    >>> Documented().size
    3
    """


@pytest.mark.parametrize("name", BESIDE_SURPRISE)
def test_model_and_algorithm_have_the_same_signature(name):
    model, algorithm = named_class(MODELS[name].model), named_class(MODELS[name].surprise)
    listed = getattr(ratings_settings, MODELS[name].settings)
    assert algorithm.MODEL is model
    # the algorithm takes the arguments of the model's fit that a trainset does not have, features, as settings too
    of_fit = inspect.signature(model.fit).parameters
    own = [one for one in inspect.signature(algorithm).parameters.values() if one.name not in of_fit]
    assert own == list(inspect.signature(model).parameters.values())
    assert inspect.signature(model) == inspect.signature(listed)
    assert {one.name: one.default for one in settings_of(model).values()} == model().get_params()


@pytest.mark.parametrize("name", NAMES)
def test_defaults_and_presets_are_allowed(name):
    model = named_class(MODELS[name].model)
    model(**MODELS[name].preset).check_settings()


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_describes_every_parameter(name):
    for cls in classes_of(name):
        for one in settings_of(cls).values():
            assert (
                f"\n{one.name} : {one.kind}, default={one.shown_default}\n    {one.description[:20]}" in cls.__doc__
            )
        assert cls.__doc__.count("Parameters\n----------") == 1


@pytest.mark.parametrize("name", NAMES)
def test_fit_help_and_params_list_every_parameter(name, run):
    shown, listed = run("fit", "--algo", "paper", "--help").stdout, run("params", name).stdout
    for one in settings_of(named_class(MODELS[name].model)).values():
        if one.name not in ("random_state", "verbose"):  # --seed and --quiet
            assert f"  {one.name}=" in shown
            assert f"{one.name} : {one.kind}, default={MODELS[name].preset.get(one.name, one.default)!r}" in listed


@pytest.mark.parametrize("name", NAMES)
def test_clone_copies_parameters(name):
    for cls in classes_of(name):
        changed = cls(**MODELS[name].preset, **({"random_state": 7} if "random_state" in settings_of(cls) else {}))
        assert clone(changed).get_params() == changed.get_params()


def test_names_of_choices_agree_with_what_implements_them():
    assert ratings_settings.POINTS == CORE_POINTS
    assert set(ratings_settings.ORIENTATIONS) == set(training.ORIENTATIONS)
    assert set(ratings_settings.LIKELIHOODS) == set(training.LIKELIHOODS)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"size": 0}, "size is 0: give 'auto' or an integer of at least 1 and up to 9"),
        ({"size": "many"}, "size is 'many': give 'auto' or an integer of at least 1 and up to 9"),
        ({"size": True}, "size is True: give 'auto' or an integer"),
        ({"share": 1.0}, "share is 1.0: give a number above 0 and below 1"),
        ({"share": float("nan")}, "share is nan: give a number above 0 and below 1"),
        ({"loud": 1}, "loud is 1: give True or False"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_its_remedy(values, message):
    with pytest.raises(ParameterError) as caught:
        Example(**values).check_settings()
    assert str(caught.value).startswith(message)


def test_allowed_values_pass():
    Example(size="auto", share=0.1, loud=True).check_settings()
    Example(size=9).check_settings()


def test_unknown_names_are_refused():
    with pytest.raises(TypeError, match="sise"):
        Example(sise=3)
    said = "Example has no parameter 'sise' \\(did you mean 'size'\\?\\); it has size, share, loud"
    with pytest.raises(ParameterError, match=said):
        Example().set_params(sise=3)


@pytest.mark.parametrize("name", MODELS)
def test_a_wrong_argument_of_a_constructor_names_the_model_and_the_nearest_parameter(name):
    for path in filter(None, (MODELS[name].model, MODELS[name].surprise)):
        cls = named_class(path)
        known = next(iter(settings_of(cls)))
        with pytest.raises(TypeError, match=f"^{cls.__name__} has no parameter '{known}_' .did you mean '{known}'"):
            cls(**{f"{known}_": 3})
        with pytest.raises(TypeError, match=f"^{cls.__name__} takes its parameters by name: {known}="):
            cls(3)


def test_the_parameters_stand_before_the_other_sections():
    assert Documented.__doc__.index("Parameters") < Documented.__doc__.index("size : ")
    assert Documented.__doc__.index("loud : bool, default=False") < Documented.__doc__.index("Examples")


@pytest.mark.parametrize(
    "spec, said",
    [
        ("svd:n_factors=x", "n_factors is 'x', not int"),
        ("svd:n_factors=2.5", "n_factors is '2.5', not int"),
        ("svd:lr_all=fast", "lr_all is 'fast', not float"),
        ("svd:lr_bu=fast", "lr_bu is 'fast', not float or none"),
        ("bayesian:item_features=films.csv", "item_features is set by --item-features"),
        ("svd:biased=1", "biased is '1', not bool"),
        ("knn:sim_options=cosine", "sim_options is 'cosine', not dict"),
    ],
)
def test_values_of_the_wrong_type_for_an_algorithm_of_surprise(desk, run, spec, said):
    assert said in run("evaluate", "ratings.csv", "-a", spec, code=2).stderr


def test_values_of_the_right_type_for_an_algorithm_of_surprise():
    for spec in (
        "svd:init_mean=0.5,lr_bu=0.01,reg_all=1",
        'knn:k=20,sim_options={"name":"cosine"}',
        "nmf:init_low=0",
    ):
        made = factory(spec)[1](0)
        assert type(made).__module__.startswith("surprise")  # it was made: nothing was refused


def test_a_misspelt_model(desk, run):
    said = " ".join(run("fit", "ratings.csv", "-o", "m.lbg", "--algo", "baysian", code=2).stderr.split())
    assert "there is no model 'baysian' (did you mean 'bayesian'?); there are bayesian," in said
