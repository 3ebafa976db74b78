"""The kinds of models that have files, and how each class is kept."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.container import Container
from lbg_recsys.persistence.schema import AnyArray, Layout, check_values
from lbg_recsys.schema import fits

# The classes that a file may name, and nothing else: a file never says what to import.
CLASSES = {
    "LBGModel": "lbg_recsys.persistence.lbg:LBGFile",
    "BayesianLBGModel": "lbg_recsys.persistence.bayesian:BayesianFile",
    "ChoiceModel": "lbg_recsys.persistence.choice:ChoiceFile",
    "GaussianPLSAModel": "lbg_recsys.persistence.plsa:PLSAFile",
    "LBGMixture": "lbg_recsys.persistence.mixture:MixtureFile",
    "LBGClassifier": "lbg_recsys.persistence.classifier:ClassifierFile",
    "LBGSelector": "lbg_recsys.persistence.selector:SelectorFile",
    "MixtureOfUnigrams": "lbg_recsys.persistence.rivals:UnigramsFile",
    "PLSI": "lbg_recsys.persistence.rivals:PLSIFile",
}

_HEADER = {"class": str, "parameters": dict, "facts": dict, "versions": dict}
# How training went, by the names of facts: the same for every model, None where a model has no such fact
TRAINING = (
    "converged",
    "n_iter",
    "n_sweeps",
    "monte_carlo_error",
    "rhat_median",
    "rhat_share",
    "lower_bound",
    "beta",
)


def with_later_facts(kinds: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a file, with None for optional ones that its version did not have."""
    return {name: None for name, kind in kinds.items() if fits(None, kind)} | dict(facts)


@dataclass(frozen=True)
class Extras:
    """What `lbg_recsys.save` is given beside a model."""

    titles: Mapping[Any, str] | None = None
    chains: bool = False
    vectorizer: Any = None
    vocabulary: Sequence[str] | None = None
    ratings: bool = True


class Kind(ABC):
    """How the fitted models of one class are kept in a file.

    A subclass is light to import: what it needs of the models it imports in its methods, so that a file can be
    looked into without them.

    Attributes
    ----------
    model : str
        The class, as ``module:name``.
    facts : mapping
        The plain values that a fitted model has, by type; those that may be None may be missing in older files.
    sizes : mapping
        Which constructor argument gives which size of the arrays.
    section : str
        The key of the header for what the models of one family share: their ratings or their words.
    """

    model: ClassVar[str]
    facts: ClassVar[Mapping[str, Any]]
    sizes: ClassVar[Mapping[str, str]] = {}
    section: ClassVar[str]

    @abstractmethod
    def check_fitted(self, model: Any) -> None:
        """Raise `NotFittedError` unless the model is fitted."""

    @abstractmethod
    def take_apart(self, model: Any, extras: Extras) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The header of a fitted model, without class and versions, and its arrays."""

    @abstractmethod
    def check_section(self, section: Any) -> None:
        """Raise `DataError` unless the section of the header is as it must be."""

    @abstractmethod
    def layout(self, header: Mapping[str, Any]) -> Layout:
        """The arrays that a checked header announces; what it says of the parameters is checked here."""

    @abstractmethod
    def put_together(self, header: Mapping[str, Any], arrays: dict[str, AnyArray]) -> Any:
        """The model of a header and arrays that are as the layout says; `DataError` where they do not agree."""

    @abstractmethod
    def about(self, header: Mapping[str, Any], file: Container) -> dict[str, Any]:
        """Facts about the ratings or the words of a checked header; reads the file to its end."""

    def checked(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """The header, facts that came after the file was written added, if its plain values are what they must be."""
        check_values(header, _HEADER | {self.section: Any}, "the header")
        facts = with_later_facts(self.facts, header["facts"])
        check_values(facts, self.facts, "the training summary")
        self.check_section(header[self.section])
        if not all(isinstance(version, str) for version in header["versions"].values()):
            raise DataError("the versions of libraries are not all strings")
        return {**header, "facts": facts}

    def summary(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """How training went: the facts that people ask for."""
        return {name: facts[name] for name in TRAINING if name in facts}

    @property
    def model_class(self) -> Any:
        """The class, imported now."""
        return _named(self.model)


def kind_of(name: Any) -> Kind:
    """The kind of a class by its name."""
    if not isinstance(name, str):
        raise DataError(f"the header: class is {repr(name)[:40]}, not str")
    if name not in CLASSES:
        raise DataError(
            f"it holds a {name[:40]!r}; known are {', '.join(CLASSES)} (a newer lbg-recsys may know more)"
        )
    kind: Kind = _named(CLASSES[name])()
    return kind


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
