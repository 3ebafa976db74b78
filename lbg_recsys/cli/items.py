"""Items that people name on the command line: by id, by title, or by an unmistakable part of a title."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from lbg_recsys.cli.common import WIDTH, counted
from lbg_recsys.errors import DataError

if TYPE_CHECKING:
    from lbg_recsys.ratings.ids import IdIndex, RawId

_INTEGER = re.compile(r"-?[1-9][0-9]*|0")
_YEAR = re.compile(r"\(\d{4}\)\s*$")
_WORD = re.compile(r"\w+")
_ARTICLES = {"the", "a", "an"}
# Items that a message names.
_NAMED = 5


class Catalogue:
    """The items of a model, found by what people write.

    >>> from types import SimpleNamespace
    >>> from lbg_recsys.ratings.ids import IdIndex
    >>> titles = {7: "Empire Strikes Back, The (1980)", 8: "Star Wars (1977)", 9: "Star Trek (1979)"}
    >>> found = Catalogue(SimpleNamespace(matrix=SimpleNamespace(items=IdIndex(titles)), titles=titles))
    >>> found.find("7"), found.find("the empire strikes back"), found.find("wars"), found.find("star")
    (7, 7, 8, None)
    >>> found.trouble("star")
    "'star' is in 2 titles: 8 (Star Wars (1977)), 9 (Star Trek (1979))"
    >>> found.trouble("Star Warts (1977)")
    "'Star Warts (1977)' (nearest title: 'Star Wars (1977)')"
    """

    def __init__(self, model: Any) -> None:
        self._index: IdIndex = model.matrix.items
        self._titles: dict[RawId, str] = dict(model.titles)

    def find(self, given: Any) -> "RawId | None":
        """The one item that is meant, or None."""
        if given in self._index:
            return given
        text = str(given).strip()
        known = as_known(self._index, text)
        if known is not None:
            return known
        meant = self._meant(text)
        return meant[0] if len(meant) == 1 else None

    def trouble(self, given: Any) -> str:
        """Why `find` found nothing, with what could be meant."""
        from difflib import get_close_matches

        text = str(given).strip()
        meant = self._meant(text)
        if meant:
            some = ", ".join(f"{item} ({self._titles[item]})" for item in meant[:4])
            return f"{text!r} is in {len(meant)} titles: {some}{', ...' if len(meant) > 4 else ''}"
        folded = {title.casefold(): title for title in self._titles.values()}
        near = get_close_matches(text.casefold(), folded, n=1, cutoff=0.5)
        return f"{text[:60]!r}" + (f" (nearest title: {folded[near[0]]!r})" if near else "")

    def find_all(self, given: Iterable[Any], place: str, quiet: bool) -> dict[Any, "RawId"]:
        """What each of many is, those left out that are not understood; a remark counts and names them.

        Raises
        ------
        DataError
            If none of them is understood.
        """
        asked = list(dict.fromkeys(given))
        found = {one: self.find(one) for one in asked}
        understood = {one: item for one, item in found.items() if item is not None}
        unknown = [one for one in asked if found[one] is None]
        if not unknown:
            return understood
        named = "; ".join(self.trouble(one) for one in unknown[:_NAMED])
        named += f"; and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        what = "ids or titles" if self._titles else "ids (the model has no titles)"
        if not understood:
            raise DataError(
                f"{place}: the model knows none of the {counted(len(asked), 'item')}: {named}. Give {what}"
            )
        if not quiet:
            told = f"{place}: {len(unknown)} of {counted(len(asked), 'item')} are unknown to the model and left out"
            click.echo(click.wrap_text(f"Note: {told}: {named}", WIDTH), err=True)
        return understood

    def _meant(self, text: str) -> "list[RawId]":
        """The items that a text may be, of the surest kind of likeness that any title has."""
        wanted, words, dated = text.casefold(), _words(text), bool(_YEAR.search(text))
        if not words:
            return []
        alike = [item for item, title in self._folded.items() if title == wanted]
        # without its year "Matrix, The (1999)" is "The Matrix"; a year that was given must be the title's
        own = {item: _words(title if dated else _YEAR.sub("", title)) for item, title in self._folded.items()}
        alike = alike or [item for item, others in own.items() if others == words]
        return alike or [
            item for item, title in self._folded.items() if wanted in title or set(words) <= set(own[item])
        ]

    @cached_property
    def _folded(self) -> "dict[RawId, str]":
        return {item: title.casefold() for item, title in self._titles.items()}


def as_known(index: "IdIndex", text: str) -> "RawId | None":
    """The known id that a text is, whether the model has it as a text or as a number."""
    if text in index:
        return text
    number = as_integer(text)
    return number if number in index else None


def as_integer(text: str) -> "int | str":
    """The number that a text is, as readers of files take it."""
    return int(text) if _INTEGER.fullmatch(text) and len(text) < 4000 else text


def _words(title: str) -> list[str]:
    """The words of a title in alphabetical order, without its articles."""
    words = _WORD.findall(title.casefold())
    return sorted(word for word in words if word not in _ARTICLES) or words
