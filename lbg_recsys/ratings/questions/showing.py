"""How answers look: titles of items in them, tables, and HTML for notebooks."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.matrix import NEW_USER
from lbg_recsys.words import visible

if TYPE_CHECKING:
    import pandas as pd

A = TypeVar("A")

SHOWN = 8  # ratings or items that a printed explanation shows

_COLUMN = "display:inline-block;background:#0a6a5c;margin-right:1px;vertical-align:bottom"
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
    """What an item in an answer is called: its title, else its id, without control characters."""
    return visible(str(one.item if one.title is None else one.title))


def item_of(one: Any) -> str:
    """The id of an item in an answer, as Python writes it, and its title if it has one."""
    return repr(one.item) if one.title is None else f"{one.item!r} ({visible(one.title)})"


def pair_of(one: Any) -> str:
    """The user and the item of an explanation, as its first words."""
    who = "New user" if one.user == NEW_USER else f"User {visible(str(one.user))}"
    return f"{who}, item {name_of(one)}"


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
    shown = str(table.head(most).to_html(index=False, border=0, float_format="{:.3f}".format))
    return shown + more_html(len(table) - most)


def more_html(n: int) -> str:
    """A line below a table of which ``n`` rows are not shown."""
    return f"<p>and {n:,} more</p>" if n > 0 else ""


def small_bars_html(distribution: Mapping[str, float]) -> str:
    """A picture of a distribution as large as a word, with the numbers in its tooltip."""
    most = max(distribution.values(), default=1.0) or 1.0
    words = escape(", ".join(f"{level}: {share:.0%}" for level, share in distribution.items()), quote=True)
    width = max(0.15, min(0.55, 6.0 / max(len(distribution), 1)))
    bars = "".join(
        f'<span style="{_COLUMN};width:{width:.2f}em;height:{1.4 * share / most:.2f}em"></span>'
        for share in distribution.values()
    )
    return f'<span title="{words}" style="white-space:nowrap">{bars}</span>'


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


class ShownModel:
    """What a model shows of itself: its settings, what it was fitted to, titles, and how training went."""

    titles: Mapping[RawId, str]

    def __repr__(self) -> str:
        shown = super().__repr__()
        return f"<{shown}, fitted to {vars(self)['matrix'].size_in_words}>" if "matrix" in vars(self) else shown

    def to_frame(self) -> "pd.DataFrame":
        """A table of facts about the model: settings, data, and the training.

        Returns
        -------
        DataFrame
            Columns fact and value. A model that is not fitted has its settings only.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> facts = model.to_frame().set_index("fact")["value"]
        >>> facts["n_topics"], facts["n_users"], facts["n_ratings"]
        (1, 2, 3)
        """
        import pandas as pd

        facts = self.get_params() | self._facts()  # type: ignore[attr-defined]
        return pd.DataFrame({"fact": list(facts), "value": pd.Series(list(facts.values()), dtype=object)})

    def _repr_html_(self) -> str:
        shown = {name: f"{one:.3g}" if isinstance(one, float) else str(one) for name, one in self._facts().items()}
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(one)}</td></tr>" for name, one in shown.items())
        return heading_html(repr(self).strip("<>")) + (f"<table>{rows}</table>" if rows else "")

    def _facts(self) -> dict[str, Any]:
        """What is known once the model is fitted."""
        if "matrix" not in vars(self):
            return {}
        matrix = vars(self)["matrix"]
        facts = {"n_users": matrix.n_users, "n_items": matrix.n_items, "n_ratings": matrix.crowd.n_ratings}
        if self.titles:
            facts["n_titles"] = len(self.titles)
        if len(matrix.scale.levels) > 1:
            facts["scale"] = f"{matrix.scale.low:g} to {matrix.scale.high:g}, {len(matrix.scale.levels)} levels"
        for name in ("converged_", "n_iter_", "n_sweeps_", "monte_carlo_error_"):
            if (value := getattr(self, name, None)) is not None:
                facts[name] = value
        return facts
