"""Answers as plain dictionaries, for JSON: with titles where the model has them."""

from dataclasses import asdict
from typing import Any

import numpy as np

from lbg_recsys.catalogue import Catalogue, with_titles
from lbg_recsys.ratings.questions.predictions import level_names


def topic_facts(model: Any, topic: Any) -> dict[str, Any]:
    """A `Topic` as a dictionary."""
    facts = asdict(topic)
    return facts | {kind: _in_order(model, facts[kind]) for kind in ("typical", "loves", "hates")}


def item_facts(model: Any, catalogue: Catalogue, text: str, n: int) -> list[dict[str, Any]]:
    """At most ``n`` items with a text in their id or title, those rated most often first; of all without a text."""
    index, crowd = model.matrix.items, model.matrix.crowd
    counts, means = crowd.per_item, crowd.means
    found = catalogue.search(text, len(index)) if text else list(index)
    places = index.codes(found)
    if text not in map(str, found):  # the item of an id comes first
        places = places[np.argsort(-counts[places], kind="stable")]
    is_rated = hasattr(model, "distribution_of") or len(model.matrix.scale.levels) > 1
    facts = []
    for place in places[:n].tolist():
        one = {"item": index.raw(place), "n_ratings": int(counts[place])}
        facts.append(one | ({"mean_rating": float(means[place])} if is_rated else {}))
    return with_titles(model, facts)


def explanation_facts(model: Any, found: Any, n: int) -> dict[str, Any]:
    """An `Explanation`, `Influences` or `ChoiceExplanation` as a dictionary, with the strongest ``n`` of each kind.

    All have the same keys; what a model does not explain is None, or an empty list. How many there are of a kind is
    beside it: ``n_evidence`` beside ``evidence``.
    """
    facts = asdict(found) | {"seen": found.seen}
    choice = facts if "because" in facts else facts["choice"]
    facts |= {"choice": choice and _choice_facts(model, choice, n)}
    if "distribution" in facts:
        names = level_names(found.distribution)
        facts["distribution"] = dict(zip(names, found.distribution.values(), strict=True))
        evidence = zip(facts["evidence"], found.evidence, strict=True)
        facts["evidence"] = _in_order(model, [one | {found.quantity: why.both} for one, why in evidence])
    for kind in ("evidence", "topics", "features"):
        every = facts.get(kind, ())
        facts |= {kind: list(every[:n]), f"n_{kind}": len(every)}
    return _in_order(model, [{name: facts.get(name) for name in _KEYS}])[0]


# Of an explanation, whatever the model.
_KEYS = (
    *("user", "item", "seen", "prediction", "expected_rating", "distribution", "score", "choice"),
    *("from_average", "from_item", "from_user", "from_taste"),
    *("topic", "against", "log_odds", "from_prior", "from_silence", "from_being_rated"),
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
