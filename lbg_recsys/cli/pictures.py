"""Pictures of what the tables say: matplotlib, which is an extra, imported when something is drawn."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.algorithms import MODELS, taken_apart
from lbg_recsys.errors import DataError, MissingExtraError
from lbg_recsys.files import atomic_write

if TYPE_CHECKING:
    from lbg_recsys.evaluation.compare import Comparison
    from lbg_recsys.evaluation.forced import ForcedResult
    from lbg_recsys.ratings.questions.topics import Topic

FORMATS = ("png", "svg", "pdf")
_OURS, _OTHERS, _PAPER, _BELOW = "#2a6fbb", "#9aa5b1", "#d98c3f", "#c0504d"
# Topics in one picture.
_MOST_TOPICS = 6


def _looked_at(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Check before the work that the picture can be drawn."""
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
    help="Also draw the result: .png, .svg or .pdf (needs matplotlib).",
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
def _figure(path: str, rows: int, columns: int, *, width: float, height: float, **shared: str) -> Iterator[Any]:
    """Axes to draw on, (rows, columns), of which some may be ``shared``; saved and closed afterwards."""
    pyplot = _pyplot()
    size = (width, height)
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **shared)
    try:
        yield axes
        save_figure(figure, path)
    finally:
        pyplot.close(figure)


def save_figure(figure: Any, path: str) -> None:
    """Save a matplotlib figure in the format of the suffix; the file is replaced when the new one is complete."""
    with atomic_write(path) as stream:
        figure.savefig(stream, format=os.path.splitext(path)[1].lower().lstrip("."), dpi=120)


def draw_topics(topics: "Sequence[Topic]", titles: Mapping[Any, str], path: str) -> None:
    """A row for each of the largest topics: how often it rates its typical items, and its loved and hated items.

    All topics have the same axes, so that their bars can be compared.
    """
    shown = topics[:_MOST_TOPICS]
    most = max(len(topic.typical) + len(topic.loves) + len(topic.hates) for topic in shown)
    height = max(2.0, 0.18 * most + 0.7) * len(shown) + 0.6
    with _figure(path, len(shown), 2, width=11, height=height, sharex="col") as axes:
        for (left, right), topic in zip(axes, shown, strict=True):
            names = [_short(titles, one.item) for one in topic.typical]
            every = _bars(left, names, [one.probability_of_all for one in topic.typical], color=_OTHERS)
            own = _bars(left, names, [one.probability for one in topic.typical], 0.4, color=_OURS)
            left.set_title(f"Topic {topic.topic}, weight {topic.weight:.2f}: typical", fontsize=9, loc="left")
            extremes = [*topic.loves, *reversed(topic.hates)]
            difference = [one.difference for one in extremes]
            colours = [_OURS if value > 0 else _BELOW for value in difference]
            _bars(right, [_short(titles, one.item) for one in extremes], difference, color=colours)
            right.set_title("loved and hated", fontsize=9, loc="left")
            right.axvline(0.0, color="black", linewidth=0.6)
            left.set_xlabel("probability of being rated", fontsize=8)
            right.set_xlabel("difference from everybody's mean rating", fontsize=8)
            for axis in (left, right):
                axis.invert_yaxis()
                axis.set_ylabel("item", fontsize=8)
                axis.tick_params(labelbottom=True)
                axis.grid(axis="x", linewidth=0.4)
                axis.set_axisbelow(True)
        if shown[0].typical:
            names = ["by the topic", "by everybody"]
            axes[0, 0].figure.legend([own, every], names, fontsize=7, loc="outside upper left", ncols=2)
        if len(topics) > len(shown):
            rest = sum(topic.weight for topic in topics[_MOST_TOPICS:])
            title = f"The {len(shown)} largest of {len(topics)} topics; the others have a weight of {rest:.2f}"
            axes[0, 0].figure.suptitle(title, fontsize=10)


def draw_comparison(results: "Sequence[Comparison]", path: str) -> None:
    """A row for each algorithm and a column for each metric, a dot where an algorithm has it; ours are blue."""
    panels = {
        "rmse": "RMSE\nlower is better",
        "mae": "MAE\nlower is better",
        "log_score": "log score\nhigher is better",
        "coverage": "coverage of\nthe intervals",
        "ndcg": "NDCG@10 and its error\nhigher is better",
        "fit_seconds": "CPU seconds\nto fit",
    }
    shown = {name: label for name, label in panels.items() if any(getattr(r, name) is not None for r in results)}
    names = [result.algorithm for result in results]
    colours = [_OURS if taken_apart(name)[0] in MODELS else _OTHERS for name in names]
    errors = [None if result.lists is None else result.lists.ndcg_error for result in results]
    width, height = 1.6 + 2.0 * len(shown), 0.36 * len(results) + 1.0
    with _figure(path, 1, len(shown), width=width, height=height, sharey="row") as axes:
        for axis, (metric, label) in zip(axes[0], shown.items(), strict=True):
            values = [getattr(result, metric) for result in results]
            _dots(axis, names, values, colours, errors if metric == "ndcg" else ())
            axis.set_xlabel(label, fontsize=8)
        axes[0, 0].set_ylabel("algorithm", fontsize=8)


def draw_forced(results: "Sequence[ForcedResult]", paper: Sequence[Any], path: str) -> None:
    """MAE and MSE (the paper's "RMSE") with standard errors, the paper's rows below ours."""
    height = 0.36 * (len(results) + len(paper)) + 1.0
    with _figure(path, 1, 2, width=9, height=height, sharey="row") as axes:
        for axis, metric, title in zip(axes[0], ("mae", "mse"), ("MAE", "MSE (the paper's RMSE)"), strict=True):
            printed = [row.mae if metric == "mae" else row.rmse for row in paper]
            names = [result.algorithm for result in results] + [f"{row.name} (paper)" for row in paper]
            values = [getattr(result, metric) for result in results] + printed
            errors = [getattr(result, f"{metric}_error") for result in results] + [None] * len(paper)
            colours = [_OURS] * len(results) + [_PAPER] * len(paper)
            _dots(axis, names, values, colours, errors)
            axis.set_xlabel(f"{title}, lower is better", fontsize=8)
        axes[0, 0].set_ylabel("algorithm", fontsize=8)


def _bars(axis: Any, names: Sequence[str], values: Sequence[float], height: float = 0.8, **style: Any) -> Any:
    """Horizontal bars by position, because two items may have the same title."""
    drawn = axis.barh(range(len(names)), values, height, **style)
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(labelsize=7)
    return drawn


def _dots(
    axis: Any,
    names: Sequence[str],
    values: Sequence[float | None],
    colours: Sequence[str],
    errors: Sequence[float | None] = (),
) -> None:
    """A dot for each value, written beside it: bars from zero would hide differences in the second digit."""
    for row, (value, colour) in enumerate(zip(values, colours, strict=True)):
        if value is None:
            continue
        axis.errorbar(value, row, xerr=errors[row] if errors else None, fmt="o", color=colour, capsize=2)
        axis.annotate(f"{value:.3f}", (value, row), (0, 6), textcoords="offset points", ha="center", fontsize=7)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.8)
    axis.tick_params(labelsize=7)
    axis.locator_params(axis="x", nbins=4)
    axis.grid(axis="y", linewidth=0.4)
    axis.margins(x=0.25)


def _short(titles: Mapping[Any, str], item: Any, length: int = 32) -> str:
    name = " ".join(str(titles.get(item, item)).split()).replace("$", r"\$")  # a dollar sign begins a formula
    return name if len(name) <= length else name[: length - 1] + "…"
