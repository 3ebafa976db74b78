"""Answers as plain dictionaries, for JSON: with titles where the model has them."""

from dataclasses import asdict
from typing import Any

from lbg_recsys.ratings.questions.predictions import level_names


def topic_facts(model: Any, topic: Any) -> dict[str, Any]:
    """A `Topic` as a dictionary."""
    facts = asdict(topic)
    facts = {"topic": facts.pop("number"), **facts}  # as in tables
    return facts | {kind: _in_order(model, facts[kind]) for kind in ("typical", "loves", "hates")}


def explanation_facts(model: Any, found: Any, n: int) -> dict[str, Any]:
    """An `Explanation`, `Influences` or `ChoiceExplanation` as a dictionary, with the strongest ``n`` reasons."""
    facts = asdict(found)
    only_choice = "because" in facts
    choice = facts if only_choice else facts["choice"]
    if choice is not None:
        choice["because"] = _in_order(model, choice["because"])
        if choice["score"] is None:
            del choice["score"]
    if not only_choice:
        names = level_names(found.distribution)
        facts["distribution"] = dict(zip(names, found.distribution.values(), strict=True))
        facts["evidence"] = _in_order(model, facts["evidence"])
    for part, name in ((choice, "because"), (facts, "evidence")):
        if part is not None and name in part:
            part[f"n_{name}"], part[name] = len(part[name]), part[name][:n]
    return facts


def _in_order(model: Any, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Facts about items with the title beside the item; without, if the model has no titles."""
    named = [{"item": one["item"], "title": one["title"], **one} for one in items]
    if not model.titles:
        for one in named:
            del one["title"]
    return named
