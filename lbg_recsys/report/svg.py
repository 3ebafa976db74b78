"""Pictures as SVG inside a page.

They are made by hand and not by matplotlib: they take the colours of the page, its dark mode included, shrink to a
phone, keep their texts as texts, are a few kilobytes each, and no extra has to be installed for them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 480.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 66.0, 26.0, 12.0, 56.0
_MARKS = 22.0  # from the axis down to the numbers below it: clear of those beside it, in the large type of phones
_ROW, _NAMES = 26.0, 132.0
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
# Letters of a name beside a row: more would run into the picture.
_LETTERS = 20

Points = Sequence[tuple[float, float]]
# A name, a value and its error, if that is known.
Value = tuple[str, float, float | None]


@dataclass(frozen=True)
class Axis:
    """What an axis shows, from where to where, and its marks."""

    label: str
    low: float
    high: float
    marks: tuple[float, ...]
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value is, from 0 to 1."""
        low, high, value = (math.log10(max(one, 1e-300)) if self.log else one for one in (self.low, self.high, value))
        return (value - low) / (high - low)


def linear(label: str, low: float, high: float, n_marks: int = 5) -> Axis:
    """An axis with about ``n_marks`` marks at round numbers; it is at least as long as from ``low`` to ``high``.

    >>> linear("RMSE", 0.87, 1.02).marks
    (0.85, 0.9, 0.95, 1.0, 1.05)
    """
    width = high - low if high > low else max(abs(high), 1.0)
    unit = 10.0 ** math.floor(math.log10(width / n_marks))
    step = next(unit * one for one in _STEPS if unit * one * n_marks >= width * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(max(high, low + 1e-300) / step - 1e-9)
    marks = tuple(float(f"{step * place:.12g}") for place in range(first, max(last, first + 1) + 1))
    return Axis(label, marks[0], marks[-1], marks)


def around(label: str, *some: Sequence[Value]) -> Axis:
    """An axis for the values of one picture, or of several that are to be compared, with their errors."""
    ends = [value + sign * (error or 0.0) for values in some for _, value, error in values for sign in (-1, 1)]
    return linear(label, min(ends), max(ends))


def logarithmic(label: str, high: float) -> Axis:
    """An axis from 1 to the power of ten at or above ``high``."""
    powers = max(math.ceil(math.log10(max(high, 1.0)) - 1e-9), 1)
    return Axis(label, 1.0, 10.0**powers, tuple(10.0**power for power in range(powers + 1)), log=True)


# -- pictures --------------------------------------------------------------------------------------------------------


def curves(about: str, x: Axis, y: Axis, lines: Sequence[tuple[str, Points]], *, dots: bool = False) -> str:
    """Lines by their class (``ours``, ``other`` or ``ideal``), with a dot at every point of ours if asked for."""
    drawn = []
    for kind, points in lines:
        places = [_place(x, y, *point) for point in points]
        path = "M" + "L".join(f"{left:.1f} {top:.1f}" for left, top in places)
        drawn.append(f'<path class="line {kind}" d="{path}"/>')
        if dots and kind == "ours":
            drawn += [f'<circle class="dot" cx="{left:.1f}" cy="{top:.1f}" r="4"/>' for left, top in places]
    return _framed(about, x, y, drawn)


def columns(
    about: str, x_label: str, y: Axis, values: Sequence[tuple[str, float]], ideal: float | None = None
) -> str:
    """A column for each named value, and a line at the height that would be ideal."""
    width = (_WIDTH - _LEFT - _RIGHT) / max(len(values), 1)
    every = max(1, math.ceil(len(values) / 10))  # the names of ten columns fit
    drawn = []
    for place, (name, value) in enumerate(values):
        left, top = _LEFT + width * place, _top(y, value)
        drawn.append(
            f'<rect class="bar" x="{left + 0.1 * width:.1f}" y="{top:.1f}" width="{0.8 * width:.1f}" '
            f'height="{max(_top(y, y.low) - top, 0.0):.1f}"/>'
        )
        if place % every == 0:
            drawn.append(_text(left + width / 2, _HEIGHT - _BOTTOM + _MARKS, name, "middle"))
    if ideal is not None:
        line = f'x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_top(y, ideal):.1f}" y2="{_top(y, ideal):.1f}"'
        drawn.append(f'<line class="line ideal" {line}/>')
    return _framed(about, Axis(x_label, 0.0, 1.0, ()), y, drawn)


def rows(about: str, axis: Axis, values: Sequence[Value], ours: Sequence[str] = ()) -> str:
    """A dot for each named value, with its error if it has one; those of ``ours`` in the colour of the page.

    Dots and not bars: bars would have to begin at 0, and hide differences in the second digit.
    """
    height = _TOP + _ROW * len(values) + _BOTTOM

    def at(value: float) -> float:
        return _NAMES + axis.share(value) * (_WIDTH - _NAMES - 3 * _RIGHT)

    drawn = []
    for mark in axis.marks:
        drawn.append(
            f'<line class="grid" x1="{at(mark):.1f}" x2="{at(mark):.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>'
        )
        drawn.append(_text(at(mark), height - _BOTTOM + _MARKS, f"{mark:g}", "middle"))
    for place, (name, value, error) in enumerate(values):
        middle, kind = _TOP + _ROW * (place + 0.5), "ours" if name in ours else "other"
        short = name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"
        drawn.append(_text(_NAMES - 10, middle + 4, short, "end"))
        if error is not None:
            ends_at = f'x1="{at(value - error):.1f}" x2="{at(value + error):.1f}" y1="{middle}" y2="{middle}"'
            drawn.append(f'<line class="error {kind}" {ends_at}/>')
        drawn.append(f'<circle class="dot {kind}" cx="{at(value):.1f}" cy="{middle}" r="5"/>')
        drawn.append(_text(_WIDTH - 2, middle + 4, f"{value:.3f}", "end"))
    drawn.append(_text((_NAMES + _WIDTH - 3 * _RIGHT) / 2, height - 10, axis.label, "middle", "label"))
    return _svg(about, _WIDTH, height, drawn)


def small_columns(about: str, values: Sequence[float]) -> str:
    """A picture of a distribution as large as a word."""
    most, width = max([*values, 1e-300]), 84.0 / max(len(values), 1)
    drawn = [
        f'<rect class="bar" x="{place * width + 0.1 * width:.2f}" y="{26 - 24 * value / most:.2f}" '
        f'width="{0.8 * width:.2f}" height="{24 * value / most:.2f}"/>'
        for place, value in enumerate(values)
    ]
    return _svg(about, 84, 26, drawn, "small")


# -- parts -----------------------------------------------------------------------------------------------------------


def _place(x: Axis, y: Axis, across: float, up: float) -> tuple[float, float]:
    return _LEFT + x.share(across) * (_WIDTH - _LEFT - _RIGHT), _top(y, up)


def _top(y: Axis, value: float) -> float:
    return _TOP + (1.0 - y.share(value)) * (_HEIGHT - _TOP - _BOTTOM)


def _framed(about: str, x: Axis, y: Axis, drawn: Sequence[str]) -> str:
    """A drawing with its axes behind it."""
    behind = []
    for mark in y.marks:
        top = _top(y, mark)
        behind.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{top:.1f}" y2="{top:.1f}"/>')
        behind.append(_text(_LEFT - 8, top + 4, _number(mark), "end"))
    for mark in x.marks:
        behind.append(_text(_place(x, y, mark, y.low)[0], _HEIGHT - _BOTTOM + _MARKS, _number(mark), "middle"))
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    labels = [
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, x.label, "middle", "label"),
        f'<g transform="rotate(-90 13 {middle})">{_text(13, middle, y.label, "middle", "label")}</g>',
    ]
    return _svg(about, _WIDTH, _HEIGHT, [*behind, *drawn, *labels])


def _svg(about: str, width: float, height: float, drawn: Sequence[str], kind: str = "picture") -> str:
    return (
        f'<svg class="{kind}" role="img" aria-label="{escape(about)}" viewBox="0 0 {width:g} {height:g}">'
        + "".join(drawn)
        + "</svg>"
    )


def _text(left: float, top: float, text: str, anchor: str, kind: str = "mark") -> str:
    return f'<text class="{kind}" x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"
