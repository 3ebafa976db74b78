"""What every loader of texts returns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class LabelledTexts:
    """Texts with one class each.

    Attributes
    ----------
    data : list of str
        The texts.
    target : ndarray of int64
        Class of each text, as an index into ``target_names``.
    target_names : tuple of str
        Names of the classes.
    found_in : str
        Where the bytes came from, in words.

    Examples
    --------
    >>> import numpy as np
    >>> texts = LabelledTexts(["win a prize", "see you"], np.array([1, 0]), ("ham", "spam"), "an example")
    >>> texts, texts.target_names[texts.target[0]]
    (<LabelledTexts: 2 texts of 2 classes>, 'spam')
    """

    data: list[str]
    target: "np.ndarray"
    target_names: tuple[str, ...]
    found_in: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.data):,} texts of {len(self.target_names)} classes>"
