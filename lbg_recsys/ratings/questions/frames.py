"""Tables of lists and predictions: DataFrames that show themselves in notebooks. Imports pandas."""

from html import escape
from typing import Any

import pandas as pd

from lbg_recsys.columns import PROBABILITY
from lbg_recsys.ratings.questions.showing import more_html, small_bars_html

_SHOWN_ROWS = 20


class AnswerFrame(pd.DataFrame):
    """A DataFrame whose HTML has a picture of each distribution in place of the probabilities, and no index.

    >>> shown = AnswerFrame({"item": ["a<b"], "p_1": [0.25], "p_2": [0.75]})._repr_html_()
    >>> "a&lt;b" in shown, "p_1" in shown, "1: 25%, 2: 75%" in shown
    (True, False, True)
    """

    @property
    def _constructor(self) -> Any:
        return AnswerFrame  # the first rows of a table look like the table

    def to_frame(self) -> pd.DataFrame:
        """The same table as a plain DataFrame."""
        return pd.DataFrame(self)

    def _repr_html_(self) -> str:
        shown = pd.DataFrame(self.head(_SHOWN_ROWS))
        if not (shown.columns.is_unique and shown.columns.nlevels == 1):
            return str(pd.DataFrame(self).to_html())
        levels = [name for name in shown if str(name).startswith(PROBABILITY)]
        names = [str(name)[len(PROBABILITY) :] for name in levels]
        columns = {escape(str(name)): _texts(shown[name]) for name in shown if name not in levels}
        if levels:
            rows = shown[levels].to_numpy().tolist()
            columns["distribution"] = [small_bars_html(dict(zip(names, row, strict=True))) for row in rows]
        table = pd.DataFrame(columns, index=range(len(shown)), dtype=object)
        with pd.option_context("display.max_colwidth", None):  # a cut picture would be broken HTML
            return str(table.to_html(index=False, border=0, escape=False)) + more_html(len(self) - len(shown))


def _texts(column: "pd.Series[Any]") -> list[str]:
    """The cells of a column as texts that are safe in HTML; missing ones are empty, whole numbers have no digits."""
    values = [None if value is None or value is pd.NA or value != value else value for value in column.tolist()]
    digits = 3 if any(isinstance(value, float) and not value.is_integer() for value in values) else 0
    shown = (f"{value:.{digits}f}" if isinstance(value, float) else value for value in values)
    return ["" if value is None else escape(str(value)) for value in shown]
