"""Topics as a table for notebooks, terminals and DataFrames."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from html import escape
from typing import Any, overload

from lbg_recsys.words import visible

_WIDTH = 40  # letters of a document's name in a table: a name may be the text itself


@dataclass(frozen=True)
class Topic:
    """One topic of a topic model.

    Attributes
    ----------
    topic : int
        Its number, the column of ``predict_proba``.
    weight : float
        Its weight in the model, lam_s.
    n_documents : int
        Number of documents whose most probable topic it is.
    words : tuple of str
        The words that set it apart, the most distinctive first.
    examples : tuple
        Documents that stand for it, first the one with the highest posterior probability.

    Examples
    --------
    >>> from lbg_recsys.text import MixtureOfUnigrams
    >>> topic = MixtureOfUnigrams(2, random_state=0).fit([[3, 0], [2, 0], [0, 4]]).topics(["goal", "oven"])[0]
    >>> topic.n_documents, topic.words[0]
    (2, 'goal')
    """

    topic: int
    weight: float
    n_documents: int
    words: tuple[str, ...]
    examples: tuple[Any, ...]


class TopicTable(Sequence[Topic]):
    """The topics of a model, the heaviest first.

    A sequence of `Topic`; ``print`` and notebooks show a table, `to_frame` returns a pandas DataFrame.

    Parameters
    ----------
    topics : sequence of Topic
        The heaviest first.

    Examples
    --------
    >>> table = TopicTable([Topic(1, 0.6, 3, ("goal", "keeper"), (0, 2)), Topic(0, 0.4, 2, ("oven",), (1,))])
    >>> table
    topic  weight  n_documents  words        examples
        1    0.60            3  goal keeper  0, 2
        0    0.40            2  oven         1
    >>> table[0].words
    ('goal', 'keeper')
    """

    def __init__(self, topics: Iterable[Topic]) -> None:
        self._topics = tuple(topics)

    def __len__(self) -> int:
        return len(self._topics)

    @overload
    def __getitem__(self, index: int) -> Topic: ...
    @overload
    def __getitem__(self, index: slice) -> "TopicTable": ...
    def __getitem__(self, index: int | slice) -> "Topic | TopicTable":
        return TopicTable(self._topics[index]) if isinstance(index, slice) else self._topics[index]

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame.

        Returns
        -------
        DataFrame
            One row per topic, with the fields of `Topic` as columns and the number of the topic as index.

        Examples
        --------
        >>> TopicTable([Topic(1, 0.6, 3, ("goal", "keeper"), (0, 2))]).to_frame().loc[1, "words"]
        ('goal', 'keeper')
        """
        import pandas as pd

        columns = [field.name for field in fields(Topic)]
        return pd.DataFrame([asdict(topic) for topic in self], columns=columns).set_index("topic")

    def __repr__(self) -> str:
        header, *rows = self._cells()
        width = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        numeric = 3  # the leading columns, aligned to the right; not in the header, whose words set the width
        lines = [
            "  ".join(
                cell.rjust(wide) if place < numeric else cell.ljust(wide)
                for place, (cell, wide) in enumerate(zip(row, width, strict=True))
            ).rstrip()
            for row in (header, *rows)
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header, *rows = self._cells()
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self) -> list[list[str]]:
        """The header and the rows as text; a column of examples only where there are any."""
        with_examples = any(topic.examples for topic in self)
        header = [field.name for field in fields(Topic)][: None if with_examples else -1]
        rows = []
        for topic in self:
            cells = [
                str(topic.topic),
                f"{topic.weight:.2f}",
                f"{topic.n_documents:,}",
                visible(" ".join(topic.words)),
            ]
            rows.append(cells + ([", ".join(map(_short, topic.examples))] if with_examples else []))
        return [header, *rows]


def _short(name: Any) -> str:
    """The name of a document on one line."""
    line = visible(" ".join(str(name).split()))
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
