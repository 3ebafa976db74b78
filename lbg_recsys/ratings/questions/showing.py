"""How answers look: titles of items in them, tables, and HTML for notebooks."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from lbg_recsys.ratings.ids import RawId

if TYPE_CHECKING:
    import pandas as pd

A = TypeVar("A")

_BAR = "display:inline-block;height:.7em;background:#0a6a5c;border-radius:2px;vertical-align:middle"


def titled(answer: A, titles: Mapping[RawId, str]) -> A:
    """An answer in which every item has its title, wherever ``titles`` has one."""
    if not titles:
        return answer
    if isinstance(answer, tuple):
        return type(answer)(titled(one, titles) for one in answer)
    if not is_dataclass(answer) or isinstance(answer, type):
        return answer
    parts: dict[str, Any] = {}
    for field in fields(answer):
        value = getattr(answer, field.name)
        if field.name == "title":
            parts["title"] = titles.get(answer.item)  # type: ignore[attr-defined]
        elif isinstance(value, tuple) or is_dataclass(value):
            parts[field.name] = titled(value, titles)
    return replace(answer, **parts)


def name_of(one: Any) -> str:
    """What an item in an answer is called: its title, else its id."""
    return str(one.item) if one.title is None else str(one.title)


def frame_of(rows: Iterable[Any], **more: Iterable[Any]) -> "pd.DataFrame":
    """A table of dataclasses, a column per field; no title where none is known."""
    import pandas as pd

    facts = [asdict(one) for one in rows]
    titles = [one.pop("title", None) for one in facts]
    table = pd.DataFrame(facts)
    for place, (name, values) in enumerate(more.items()):
        table.insert(place, name, list(values))
    if any(title is not None for title in titles):  # object: a missing title stays None
        table.insert(list(table.columns).index("item") + 1, "title", pd.Series(titles, dtype=object))
    return table


def table_html(table: "pd.DataFrame", most: int = 12) -> str:
    """The first rows of a table as HTML."""
    rest = f"<p>and {len(table) - most} more</p>" if len(table) > most else ""
    return str(table.head(most).to_html(index=False, border=0, float_format="{:.3f}".format)) + rest


def distribution_html(distribution: Mapping[float, float]) -> str:
    """A bar per level."""
    most = max(distribution.values(), default=1.0) or 1.0
    rows = "".join(
        f"<tr><td>{level:g}</td><td style='text-align:left'>"
        f"<span style='{_BAR};width:{9 * share / most:.2f}em'></span> {share:.0%}</td></tr>"
        for level, share in distribution.items()
    )
    return f"<table>{rows}</table>"


def heading_html(text: str) -> str:
    """A line above a table."""
    return f"<p><b>{escape(text)}</b></p>"


def model_html(model: Any) -> str:
    """A model: its settings that are not defaults, what it was fitted to, titles, and how training went."""
    shown = [heading_html(repr(model).strip("<>"))]
    facts = {"titles": f"{len(model.titles):,} items have one"} if model.titles else {}
    if "matrix" in vars(model):
        scale = model.matrix.scale
        if len(scale.levels) > 1:
            facts["scale"] = f"{scale.lower:g} to {scale.upper:g}, {len(scale.levels)} levels"
        for name in ("converged_", "n_iter_", "n_sweeps_", "rhat_median_"):
            if (value := getattr(model, name, None)) is not None:
                facts[name] = f"{value:.3g}" if isinstance(value, float) else str(value)
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
    return "".join(shown) + (f"<table>{rows}</table>" if rows else "")
