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

    How many there are of a kind is beside it: ``n_evidence`` beside ``evidence``.
    """
    facts = asdict(found)
    if "because" in facts:
        return _choice_facts(model, facts, n)
    (facts,) = _in_order(model, [facts])
    if facts["choice"] is not None:
        facts["choice"] = _choice_facts(model, facts["choice"], n)
    names = level_names(found.distribution)
    facts["distribution"] = dict(zip(names, found.distribution.values(), strict=True))
    evidence = [one | {"total": why.total} for one, why in zip(facts["evidence"], found.evidence, strict=True)]
    facts["evidence"] = _in_order(model, evidence)
    for kind in ("evidence", "topics", "features"):
        if kind in facts:
            facts |= {kind: facts[kind][:n], f"n_{kind}": len(facts[kind])}
    return facts


def _choice_facts(model: Any, facts: dict[str, Any], n: int) -> dict[str, Any]:
    (facts,) = _in_order(model, [facts])
    because = _in_order(model, facts["because"])
    if facts["score"] is None:
        del facts["score"]  # it stands beside the choice score that is a part of it
    return facts | {"because": because[:n], "n_because": len(because)}


def _in_order(model: Any, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Facts about items with the title beside the item; without, if the model has no titles."""
    facts = [{name: value for name, value in one.items() if name != "title"} for one in items]
    return with_titles(model, facts)
