"""The README's picture: RMSE and log score of the models that learned something of taste."""

import io

from benchmarks.names import shown
from benchmarks.tables import accuracy_rows, beyond_biases


def accuracy_picture(found):
    """The PNG's bytes."""
    from matplotlib.figure import Figure

    rows = {name: row["random"] for name, row in beyond_biases(accuracy_rows(found)).items()}
    figure = Figure(figsize=(9, 0.34 * len(rows) + 1.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    names = list(rows)[::-1]
    colours = ["#c0392b" if "LBG" in name else "#8795ab" for name in names]
    for axis, key, label in (
        (left, "rmse", "RMSE (to the left is better)"),
        (right, "log_score", "log score (to the right is better)"),
    ):
        # dots, not bars: the axes do not begin at zero
        for place, name in enumerate(names):
            value = rows[name][key]
            if value is not None:
                axis.plot(value, place, "o", color=colours[place])
                axis.annotate(
                    f"{value:.4f}", (value, place), (6, 0), textcoords="offset points", va="center", fontsize=8
                )
        axis.set_xlabel(label)
        axis.grid(axis="y", alpha=0.3)
        axis.margins(x=0.35)
    left.set_yticks(range(len(names)), [shown(name) for name in names])
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=130, metadata={"Software": None})
    return stream.getvalue()
