"""Answers as plain dictionaries, for JSON: with titles where the model has them."""

from dataclasses import asdict
from typing import Any

from lbg_recsys.ratings.catalogue import with_titles


def topic_facts(model: Any, topic: Any) -> dict[str, Any]:
    """A `Topic` as a dictionary."""
    facts = asdict(topic)
    return facts | {kind: with_titles(model, facts[kind]) for kind in ("typical", "loves", "hates")}


def explanation_facts(model: Any, found: Any) -> dict[str, Any]:
    """An `Explanation`, `Influences` or `ChoiceExplanation` as a dictionary."""
    from lbg_recsys.ratings.questions.predictions import level_names

    facts = asdict(found) | {"title": model.titles.get(found.item)}
    only_choice = "because" in facts
    choice = facts if only_choice else facts["choice"]
    if choice is not None:
        choice["because"] = with_titles(model, choice["because"])
    if not only_choice:
        names = level_names(found.distribution)
        facts["distribution"] = dict(zip(names, found.distribution.values(), strict=True))
        facts["evidence"] = with_titles(model, facts["evidence"])
    return facts
