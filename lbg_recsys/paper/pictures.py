"""The paper's two figures, drawn from the measured lines; matplotlib is optional."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.errors import MissingExtraError
from lbg_recsys.files import atomic_write
from lbg_recsys.paper.summary import PAPER, Line

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_all(folder: Path, results: Mapping[str, Sequence[Line]]) -> dict[str, Path]:
    """Draw what can be drawn, as PNG and SVG; the PNG's path by experiment."""
    pictures = {}
    for name, draw in _DRAWN.items():
        if name in results:
            figure = draw(results[name])
            for suffix in ("svg", "png"):
                path = folder / f"{name}.{suffix}"
                with atomic_write(path) as stream:
                    # no date in the file: the same figures give the same bytes
                    figure.savefig(
                        stream, format=suffix, dpi=150, metadata={"Date": None} if suffix == "svg" else None
                    )
            pictures[name] = path
    return pictures


def _new_figure(columns: int) -> tuple["Figure", list[Any]]:
    try:
        from matplotlib import rcParams
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("drawing the figures", "matplotlib", "plot") from error
    rcParams["svg.hashsalt"] = "lbg-recsys"
    figure = Figure(figsize=(4.6 * columns, 3.8), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, columns)))


def _svm_curves(lines: Sequence[Line]) -> "Figure":
    """Accuracy by share of training data, a panel per pair of classes, with a band of one standard deviation."""
    figure, axes = _new_figure(2)
    rows = [line.row for line in lines]
    for axis, (pair, title) in zip(axes, _PAIRS.items(), strict=True):
        for line in lines:
            points = sorted((int(key.split("@")[1]), key) for key in line.mean if key.startswith(f"{pair}@"))
            share = [percent for percent, _ in points]
            mean = np.array([line.mean[key] for _, key in points])
            spread = np.array([line.deviation.get(key, 0.0) for _, key in points])
            name = line.row if rows.count(line.row) == 1 else f"{line.row}, {line.setting}"
            (curve,) = axis.plot(share, mean, marker="o", label=name)
            axis.fill_between(share, mean - spread, mean + spread, alpha=0.15, color=curve.get_color())
        axis.set(title=title, xlabel="training data (%)", ylabel="accuracy")
        axis.grid(alpha=0.3)
    axes[0].legend()
    return figure


_PAIRS = {"a": "misc.forsale / rec.sport.baseball", "b": "comp.graphics / comp.os.ms-windows.misc"}


def _confusion_tables(lines: Sequence[Line]) -> "Figure":
    """Ham and spam, true and predicted, one table per model."""
    chosen = [line for line in lines if line.setting != PAPER]
    figure, axes = _new_figure(len(chosen))
    for axis, line in zip(axes, chosen, strict=True):
        ham, spam = line.mean["ham_called_spam"], line.mean["spam_called_ham"]
        table = np.array([[1.0 - ham, ham], [spam, 1.0 - spam]])
        axis.imshow(table, cmap="Blues", vmin=0.0, vmax=1.0)
        for row in range(2):
            for column in range(2):
                shade = "white" if table[row, column] > 0.5 else "black"
                axis.text(column, row, f"{table[row, column]:.1%}", ha="center", va="center", color=shade)
        axis.set(title=f"{line.row}\n{line.setting}", xlabel="called", ylabel="true")
        axis.set_xticks([0, 1], ["ham", "spam"])
        axis.set_yticks([0, 1], ["ham", "spam"])
    return figure


_DRAWN: Mapping[str, Callable[[Sequence[Line]], "Figure"]] = {"figure1": _svm_curves, "figure2": _confusion_tables}
