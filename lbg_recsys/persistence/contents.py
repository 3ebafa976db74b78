"""What is in a model file, found out without loading the model or importing its class."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lbg_recsys.persistence.container import open_container
from lbg_recsys.persistence.kind import TRAINING, kind_of


@dataclass(frozen=True)
class Contents:
    """What a model file says of itself.

    Attributes
    ----------
    model : str
        The name of the class.
    version, size : int
        The version of the format, and the bytes of the file.
    parameters : mapping
        The constructor's arguments.
    training : mapping
        How training went: the same names for every model, None for what a model does not have.
    section : str
        What ``about`` is about: ``"ratings"`` or ``"words"``.
    about : mapping
        Facts about them.
    versions : mapping
        The versions of the libraries that the file was written with.
    """

    model: str
    version: int
    size: int
    parameters: Mapping[str, Any]
    training: Mapping[str, Any]
    section: str
    about: Mapping[str, Any]
    versions: Mapping[str, str]


def of_training(facts: Mapping[str, Any]) -> dict[str, Any]:
    """How training went, in one shape for all models; those of too few sweeps are NaN, which is no fact.

    >>> of_training({"n_iter": 7, "lower_bound": float("nan")})["n_iter"]
    7
    """
    found = {name: facts.get(name) for name in TRAINING}
    return {name: fact if fact == fact else None for name, fact in found.items()}


def look_into(path: str | os.PathLike[str]) -> Contents:
    """Read the header of a model file and verify its checksum.

    Examples
    --------
    >>> import lbg_recsys, tempfile
    >>> model = lbg_recsys.LBGModel(n_topics=1).fit((["ann", "bob"], [7, 7], [5, 3]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     contents = look_into(lbg_recsys.save(model, f"{folder}/model.lbg"))
    >>> contents.model, contents.parameters["n_topics"], contents.about["n_users"]
    ('LBGModel', 1, 2)
    """
    with open_container(path) as file:
        kind = kind_of(file.header.get("class"))
        header = kind.checked(file.header)
        about = kind.about(header, file)
        training = kind.summary(header["facts"])
        return Contents(
            header["class"],
            file.version,
            file.size,
            header["parameters"],
            of_training(training),
            kind.section,
            about,
            header["versions"],
        )
