"""Answers as plain dictionaries, for JSON: with titles where the model has them."""

from dataclasses import asdict
from typing import Any

from lbg_recsys.catalogue import with_titles
from lbg_recsys.ratings.questions.predictions import level_names


def topic_facts(model: Any, topic: Any) -> dict[str, Any]:
    """A `Topic` as a dictionary."""
    facts = asdict(topic)
    return facts | {kind: _in_order(model, facts[kind]) for kind in ("typical", "loves", "hates")}


def explanation_facts(model: Any, found: Any, n: int) -> dict[str, Any]:
    """An `Explanation`, `Influences` or `ChoiceExplanation` as a dictionary, with the strongest ``n`` of each kind.

    All have the same keys; what a model does not explain is None, or an empty list. How many there are of a kind is
    beside it: ``n_evidence`` beside ``evidence``.
    """
    facts = asdict(found)
    choice = facts if "because" in facts else facts["choice"]
    facts |= {"choice": choice and _choice_facts(model, choice, n)}
    if "distribution" in facts:
        names = level_names(found.distribution)
        facts["distribution"] = dict(zip(names, found.distribution.values(), strict=True))
        evidence = [one | {"total": why.total} for one, why in zip(facts["evidence"], found.evidence, strict=True)]
        facts["evidence"] = _in_order(model, evidence)
    for kind in ("evidence", "topics", "features"):
        every = facts.get(kind, ())
        facts |= {kind: list(every[:n]), f"n_{kind}": len(every)}
    return _in_order(model, [{name: facts.get(name) for name in _KEYS}])[0]


# Of an explanation, whatever the model.
_KEYS = (
    *("user", "item", "prediction", "expected_rating", "distribution", "score", "choice"),
    *("from_average", "from_item", "from_user", "from_taste"),
    *("topic", "against", "log_odds", "from_prior", "from_silence"),
    *(name for kind in ("evidence", "topics", "features") for name in (kind, f"n_{kind}")),
)


def _choice_facts(model: Any, facts: dict[str, Any], n: int) -> dict[str, Any]:
    because = _in_order(model, facts["because"])
    parts = {name: facts[name] for name in ("choice_score", "from_popularity")}
    return parts | {"because": because[:n], "n_because": len(because)}


def _in_order(model: Any, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Facts about items with the title beside the item; without, if the model has no titles."""
    facts = [{name: value for name, value in one.items() if name != "title"} for one in items]
    return with_titles(model, facts)
