"""Pictures of a fitted topic model (matplotlib, in the ``plot`` extra)."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lbg_recsys.errors import MissingExtraError
from lbg_recsys.text._topics import TextTopicModel
from lbg_recsys.text.mixture import LBGMixture

_LETTERS = 24  # of a word beside its bar


def plot_topics(
    model: TextTopicModel,
    feature_names: Any = None,
    *,
    n_words: int = 8,
    n_columns: int = 4,
    max_topics: int = 12,
    figure: Any = None,
) -> Any:
    """Draw one bar chart for each of the largest topics, with the words that distinguish it.

    A bar is the probability of the word in the topic, the line across it the word's average over all topics. All
    panels share one axis, so that bars of different topics can be compared.

    Parameters
    ----------
    model : LBGMixture, MixtureOfUnigrams or PLSI
        A fitted model.
    feature_names : array-like of str, default=None
        The words in the order of the columns; by default the names seen in ``fit``.
    n_words : int, default=8
        Words per topic, ranked as in ``top_keywords``.
    n_columns : int, default=4
        Panels per row.
    max_topics : int, default=12
        The most panels; the title says if there are more topics.
    figure : matplotlib figure or sub-figure, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from lbg_recsys.text import MixtureOfUnigrams
    >>> model = MixtureOfUnigrams(2, random_state=0).fit([[3, 0], [2, 0], [0, 4]])
    >>> figure = plot_topics(model, ["goal", "oven"], figure=Figure(layout="constrained"))
    >>> len(figure.axes)
    2
    """
    check_is_fitted(model)
    weights = model._word_weights()
    overall = model.weights_ @ weights
    largest = np.sort(np.argsort(-model.weights_, kind="stable")[:max_topics])
    k = len(largest)
    n_columns = min(n_columns, k)
    n_rows = -(-k // n_columns)
    if figure is None:
        figure = _pyplot().figure(figsize=(3.0 * n_columns, 0.8 + 0.25 * n_words * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True).ravel()
    order, words = model._leading_words(n_words), model.top_keywords(feature_names, n_words)
    for s, panel in zip(largest, panels[:k], strict=True):
        places = np.arange(len(words[s]))
        panel.barh(places, weights[s, order[s]], label="in the topic")
        panel.vlines(overall[order[s]], places - 0.4, places + 0.4, colors="black", label="average of all topics")
        panel.set_yticks(places, map(_label, words[s]))
        panel.invert_yaxis()
        panel.set_title(f"topic {s} ({model.weights_[s]:.0%})", fontsize="medium")
    for panel in panels[k:]:
        panel.set_visible(False)
    for panel in panels[max(k - n_columns, 0) : k]:
        panel.tick_params(labelbottom=True)  # the lowest panel of each column, also above an empty place
    figure.supxlabel(
        "keyword probability" if isinstance(model, LBGMixture) else "word probability", fontsize="medium"
    )
    figure.supylabel("word", fontsize="medium")
    if k < len(weights):
        figure.suptitle(f"The {k} largest of {len(weights)} topics", fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2, fontsize="small")
    return figure


def plot_keywords(
    model: LBGMixture, document: Any, feature_names: Any = None, *, n_words: int = 80, axes: Any = None
) -> Any:
    """Draw the words of one document from the largest value to the smallest, with its keywords in colour.

    Parameters
    ----------
    model : LBGMixture
        A fitted mixture.
    document : {array, sparse matrix} of shape (1, n_words)
        One document.
    feature_names : array-like of str, default=None
        The words in the order of the columns; by default the names seen in ``fit``.
    n_words : int, default=80
        The most words to show, the largest values first.
    axes : matplotlib axes, default=None
        Where to draw; by default axes of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If ``document`` has more than one row, or none.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> documents = np.array([[3.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 4.0]])
    >>> model = LBGMixture(2, prior_p=0.1, random_state=0).fit(documents)
    >>> axes = plot_keywords(model, documents[[0]], ["goal", "the", "oven"], axes=Figure().subplots())
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['goal', 'the']
    """
    check_is_fitted(model)
    if document.shape[0] != 1:
        raise ValueError(f"document has {document.shape[0]} rows; pass one, as in X[[0]]")
    chosen = model.keywords(document).toarray()[0]
    values = np.asarray(document.toarray() if hasattr(document, "toarray") else document)[0]
    found = np.count_nonzero(values)
    order = np.argsort(-values, kind="stable")[: min(found, n_words)]
    names = model._word_names(feature_names)
    if axes is None:
        _, axes = _pyplot().subplots(figsize=(7.0, 0.6 + 0.2 * max(len(order), 1)), layout="constrained")
    for kind, mask, colour in (("keyword", chosen[order], "tab:blue"), ("other word", ~chosen[order], "lightgrey")):
        if mask.any():  # a kind without bars would appear in the legend with another colour
            axes.barh(np.flatnonzero(mask), values[order][mask], color=colour, label=kind)
    axes.set_yticks(np.arange(len(order)), [_label(names[i]) for i in order])
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xlabel("value in the document" if found <= n_words else f"value; {n_words} of {found:,} words")
    axes.set_ylabel("word")
    if len(order):
        axes.legend()
    return axes


def _label(word: Any) -> str:
    """A word as the label of its bar: long words are cut, and dollar signs, which begin formulas, are escaped."""
    text = " ".join(str(word).split())
    return (text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…").replace("$", r"\$")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError("A picture of topics", "matplotlib", "plot") from error
    return pyplot
