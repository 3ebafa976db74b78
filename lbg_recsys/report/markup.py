"""HTML of texts, tables and figures. All that comes from data goes through `text`."""

from collections.abc import Sequence
from html import escape
from typing import Any


def text(value: object) -> str:
    """A text as HTML: nothing in it is markup, and letters that do not show (controls, directions) are escapes.

    >>> text("<b>5 & 7</b>\\u202e")
    '&lt;b&gt;5 &amp; 7&lt;/b&gt;\\\\u202e'
    """
    words = " ".join(str(value).split())
    return escape("".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in words))


def paragraph(*sentences: str) -> str:
    """Sentences that are texts, as one paragraph."""
    return f"<p>{text(' '.join(sentences))}</p>"


def note(sentence: str) -> str:
    """A sentence on what is left out."""
    return f'<p class="note">{text(sentence)}</p>'


def table(caption: str, headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table whose first column names the rows; a wide one scrolls by itself."""
    head = "".join(f'<th scope="col">{text(one)}</th>' for one in headers)
    body = "".join(
        f'<tr><th scope="row">{text(first)}</th>' + "".join(f"<td>{_cell(one)}</td>" for one in rest) + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def figure(picture: str, caption: str) -> str:
    """A picture with a sentence below it."""
    return f"<figure>{picture}<figcaption>{text(caption)}</figcaption></figure>"


def side_by_side(*figures: str) -> str:
    """Figures beside each other, or below each other on a narrow screen."""
    return f'<div class="figures">{"".join(figures)}</div>'


def section(key: str, title: str, *parts: str) -> str:
    """A section that the contents can lead to."""
    inside = "".join(parts)
    return (
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{text(title)}</h2>{inside}</section>'
    )


def _cell(value: Any) -> str:
    if value is None or value != value:  # NaN
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else text(value)
