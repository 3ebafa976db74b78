"""Pictures of what the tables say: matplotlib, which is an extra, imported when something is drawn."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.errors import DataError, MissingExtraError
from lbg_recsys.files import atomic_write

if TYPE_CHECKING:
    from lbg_recsys.evaluation.compare import Comparison
    from lbg_recsys.evaluation.forced import ForcedResult
    from lbg_recsys.ratings.questions.topics import Topic

FORMATS = ("png", "svg", "pdf")
_OURS, _OTHERS, _PAPER, _BELOW = "#2a6fbb", "#9aa5b1", "#d98c3f", "#c0504d"


def _looked_at(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Find out before the work is done that the picture could not be drawn after it."""
    if value is not None:
        if os.path.splitext(value)[1].lower().lstrip(".") not in FORMATS:
            raise click.BadParameter(f"{value} does not end in .png, .svg or .pdf")
        if not os.path.isdir(os.path.dirname(os.path.realpath(value))):
            raise DataError(f"{value} cannot be written: there is no such folder")
        _pyplot()
    return value


plot_option = click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(),
    callback=_looked_at,
    help="Draw it as well: .png, .svg or .pdf (needs matplotlib).",
)


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("drawing a picture", "matplotlib", "plot") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


@contextmanager
def _figure(path: str, rows: int, columns: int, *, width: float, height: float) -> Iterator[Any]:
    """Axes to draw on, (rows, columns); saved and closed afterwards."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained")
    try:
        yield axes
        save_figure(figure, path)
    finally:
        pyplot.close(figure)


def save_figure(figure: Any, path: str) -> None:
    """Save a matplotlib figure in the format that the suffix names; the old file or the new one, never half."""
    with atomic_write(path) as stream:
        figure.savefig(stream, format=os.path.splitext(path)[1].lower().lstrip("."), dpi=120)


def draw_topics(topics: "Sequence[Topic]", titles: Mapping[Any, str], path: str) -> None:
    """A row for each topic: how often it rates its typical items, and its loved and hated items against all."""
    most = max(len(topic.typical) + len(topic.loves) + len(topic.hates) for topic in topics)
    with _figure(path, len(topics), 2, width=11, height=max(2.0, 0.18 * most + 0.7) * len(topics)) as axes:
        for (left, right), topic in zip(axes, topics, strict=True):
            names = [_short(titles, one.item) for one in topic.typical]
            _bars(left, names, [one.probability_of_all for one in topic.typical], color=_OTHERS)
            _bars(left, names, [one.probability for one in topic.typical], 0.4, color=_OURS)
            left.set_title(f"Topic {topic.number} ({topic.weight:.0%} of users): typical", fontsize=9, loc="left")
            left.set_xlabel("probability of being rated (grey: by everybody)", fontsize=8)
            judged = [*topic.loves, *reversed(topic.hates)]
            difference = [one.rating - one.rating_of_all for one in judged]
            colours = [_OURS if value > 0 else _BELOW for value in difference]
            _bars(right, [_short(titles, one.item) for one in judged], difference, color=colours)
            right.set_title("loved and hated", fontsize=9, loc="left")
            right.set_xlabel("rating against the average", fontsize=8)
            for axis in (left, right):
                axis.invert_yaxis()


def draw_comparison(results: "Sequence[Comparison]", path: str) -> None:
    """A panel for each metric, a dot for each algorithm that has it."""
    panels = {
        "rmse": "RMSE, lower is better",
        "mae": "MAE, lower is better",
        "log_score": "log score, higher is better",
        "coverage": "coverage of the intervals",
        "ndcg": "NDCG@10, higher is better",
        "fit_seconds": "CPU seconds to fit",
    }
    shown = {name: title for name, title in panels.items() if any(getattr(r, name) is not None for r in results)}
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    with _figure(path, rows, columns, width=4 * columns, height=(0.3 * len(results) + 1.2) * rows) as axes:
        for axis in axes.flat[len(shown) :]:
            axis.set_visible(False)
        for axis, (metric, title) in zip(axes.flat, shown.items(), strict=False):
            having = [result for result in results if getattr(result, metric) is not None]
            values = [getattr(result, metric) for result in having]
            colours = [_OURS if result.log_score is not None else _OTHERS for result in having]
            _dots(axis, [result.name for result in having], values, colours)
            axis.set_title(title, fontsize=9, loc="left")


def draw_forced(results: "Sequence[ForcedResult]", paper: Sequence[Any], path: str) -> None:
    """MAE and MSE (the paper's "RMSE") with standard errors, the paper's rows below ours."""
    with _figure(path, 1, 2, width=10, height=0.35 * (len(results) + len(paper)) + 1.2) as axes:
        for axis, metric, title in zip(axes[0], ("mae", "mse"), ("MAE", "MSE (the paper's RMSE)"), strict=True):
            printed = [row.mae if metric == "mae" else row.rmse for row in paper]
            names = [result.name for result in results] + [f"{row.name} (paper)" for row in paper]
            values = [getattr(result, metric) for result in results] + printed
            errors = [getattr(result, f"{metric}_error") for result in results] + [None] * len(paper)
            colours = [_OURS] * len(results) + [_PAPER] * len(paper)
            _dots(axis, names, values, colours, errors)
            axis.set_title(f"{title}, lower is better", fontsize=9, loc="left")


def _bars(axis: Any, names: Sequence[str], values: Sequence[float], height: float = 0.8, **style: Any) -> Any:
    """Horizontal bars by position: two items may well have the same title."""
    drawn = axis.barh(range(len(names)), values, height, **style)
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(labelsize=7)
    return drawn


def _dots(
    axis: Any,
    names: Sequence[str],
    values: Sequence[float],
    colours: Sequence[str],
    errors: Sequence[float | None] = (),
) -> None:
    """A dot for each value, written beside it: bars from zero would hide differences in the second digit."""
    for row, (value, colour) in enumerate(zip(values, colours, strict=True)):
        axis.errorbar(value, row, xerr=errors[row] if errors else None, fmt="o", color=colour, capsize=2)
        axis.annotate(f"{value:.3f}", (value, row), (0, 6), textcoords="offset points", ha="center", fontsize=7)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.7)
    axis.tick_params(labelsize=7)
    axis.grid(axis="y", linewidth=0.4)
    axis.margins(x=0.15)


def _short(titles: Mapping[Any, str], item: Any, length: int = 32) -> str:
    name = " ".join(str(titles.get(item, item)).split()).replace("$", r"\$")  # a dollar would begin a formula
    return name if len(name) <= length else name[: length - 1] + "…"
