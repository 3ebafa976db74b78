"""Pictures of a fitted topic model (matplotlib, in the ``plot`` extra)."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lbg_recsys.errors import MissingExtraError
from lbg_recsys.text._topics import TopicModel
from lbg_recsys.text.mixture import LBGMixture


def plot_topics(
    model: TopicModel, feature_names: Any = None, *, n_words: int = 8, n_columns: int = 4, figure: Any = None
) -> Any:
    """One bar chart a topic: its ``n_words`` most probable words. Returns the matplotlib figure.

    ``figure`` is an empty figure or sub-figure to draw on; by default a new one.
    """
    check_is_fitted(model)
    weights = model._word_weights()
    k = len(weights)
    n_columns = min(n_columns, k)
    n_rows = -(-k // n_columns)
    if figure is None:
        figure = _pyplot().figure(figsize=(3.0 * n_columns, 0.5 + 0.25 * n_words * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for s, (panel, words) in enumerate(zip(panels, model.top_keywords(feature_names, n_words), strict=False)):
        height = np.sort(weights[s])[::-1][: len(words)]
        panel.barh(np.arange(len(words)), height)
        panel.set_yticks(np.arange(len(words)), words)
        panel.invert_yaxis()
        panel.set_title(f"topic {s} ({model.weights_[s]:.0%})", fontsize="medium")
    for panel in panels[k:]:
        panel.set_visible(False)
    return figure


def plot_keywords(model: LBGMixture, document: Any, feature_names: Any = None, *, axes: Any = None) -> Any:
    """The words of one document from the largest value to the smallest, its keywords set apart. Returns the axes.

    ``document`` is one row, (1, n_words), sparse or dense.
    """
    check_is_fitted(model)
    if document.shape[0] != 1:
        raise ValueError(f"document has {document.shape[0]} rows; pass one, as in X[[0]]")
    chosen = model.keywords(document).toarray()[0]
    values = np.asarray(document.toarray() if hasattr(document, "toarray") else document)[0]
    order = np.argsort(-values, kind="stable")[: np.count_nonzero(values)]
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", np.arange(len(values)))
    if axes is None:
        _, axes = _pyplot().subplots(figsize=(7.0, 0.6 + 0.2 * max(len(order), 1)), layout="constrained")
    for kind, mask, colour in (("keyword", chosen[order], "tab:blue"), ("other word", ~chosen[order], "lightgrey")):
        axes.barh(np.flatnonzero(mask), values[order][mask], color=colour, label=kind)
    axes.set_yticks(np.arange(len(order)), [str(feature_names[i]) for i in order])
    axes.invert_yaxis()
    axes.set_xlabel("value")
    axes.legend()
    return axes


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError("A picture of topics", "matplotlib", "plot") from error
    return pyplot
