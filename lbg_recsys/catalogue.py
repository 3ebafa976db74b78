"""Users and items that people name: by id, by title, or by an unmistakable part of a title."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from lbg_recsys.errors import DataError
from lbg_recsys.words import left_out

# As in ratings.ids, which is not imported: the command line loads this module for --help.
RawId = Any
IdIndex = Any

_INTEGER = re.compile(r"-?[1-9][0-9]*|0")
_YEAR = re.compile(r"\(\d{4}\)\s*$")
_WORD = re.compile(r"\w+")
_ARTICLES = {"the", "a", "an"}
# Items that a message names, and how alike a title must be to be one of them (`difflib`): misspelt, not another.
_NAMED, _ALIKE = 5, 0.75


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
    >>> found.trouble("Casablanca")
    "'Casablanca'"
    >>> films = SimpleNamespace(matrix=SimpleNamespace(items=IdIndex(["alien", "casablanca"])), titles={})
    >>> Catalogue(films).trouble("cassablanca")
    "'cassablanca' (nearest id: 'casablanca')"
    >>> titles = {8: "Star Wars", 9: "Alien (1979)"}
    >>> found = Catalogue(SimpleNamespace(matrix=SimpleNamespace(items=IdIndex(titles)), titles=titles))
    >>> found.find("Star Wars (1977)"), found.find("Alien (1980)")
    (8, None)
    >>> titles = {246: "Chasing Amy (1997)", 268: "Chasing Amy (1997)"}
    >>> found = Catalogue(SimpleNamespace(matrix=SimpleNamespace(items=IdIndex(titles)), titles=titles))
    >>> found.complaint("chasing amy (1997)")
    "'chasing amy (1997)': 2 items have this title: give the id, 246 or 268"
    >>> found.complaint("Amy").removeprefix("several items may be meant: ")
    "'Amy' is in 2 titles: 246 (Chasing Amy (1997)), 268 (Chasing Amy (1997)); give the id"
    """

    def __init__(self, model: Any) -> None:
        self._index: IdIndex = model.matrix.items
        self._featured: IdIndex = getattr(model, "items_with_features", ())  # with or without ratings
        self._titles: dict[RawId, str] = dict(model.titles)

    def find_any(self, given: Any) -> RawId | None:
        """The one item that is meant, or None; it may be the id of one that has features and no ratings."""
        featured = self._with_features(given)
        return self.find(given) if featured is None or featured in self._index else featured

    def find(self, given: Any) -> RawId | None:
        """The one item with ratings that is meant, or None."""
        if given in self._index:
            return given
        text = str(given).strip()
        known = as_known(self._index, text)
        if known is not None:
            return known
        meant = self._meant(text)
        return meant[0] if len(meant) == 1 else None

    def find_titled(self, given: Any) -> RawId | None:
        """The one item whose whole title is given, or None: a part of a title, or a number, may be an unknown id."""
        found = self._titled(given)
        return found[0] if len(found) == 1 else None

    def is_shared(self, given: Any) -> bool:
        """Whether several items have the whole title that is given, and only an id says which is meant."""
        return len(self._titled(given)) > 1

    def by_title(self, given: Iterable[Any], given_in: str) -> dict[Any, RawId]:
        """The items whose whole titles are given, by what was given; ``given_in`` is where, for the message.

        Raises
        ------
        DataError
            If several items have a title that is given.
        """
        asked = list(given)
        if shared := [one for one in asked if self.is_shared(one)]:
            more = f"; and {len(shared) - _NAMED:,} more such titles" if len(shared) > _NAMED else ""
            raise DataError(f"{given_in}: {'; '.join(map(self.complaint, shared[:_NAMED]))}{more}")
        return {one: item for one in asked if (item := self.find_titled(one)) is not None}

    def _titled(self, given: Any) -> list[RawId]:
        """The items whose whole title is given."""
        return self._by_title.get(given.strip().casefold(), []) if isinstance(given, str) else []

    def trouble(self, given: Any) -> str:
        """Why `find` found nothing, with what could be meant."""
        from difflib import get_close_matches

        text = str(given).strip()
        if self._with_features(given) is not None:
            return f"{text[:60]!r} (it has features and no ratings: only predict and explain take it)"
        if self.is_shared(text):
            *first, last = self._titled(text)
            named = ", ".join(map(str, first[:_NAMED])) + (", ..." if len(first) > _NAMED else "")
            return f"{text!r}: {len(first) + 1:,} items have this title: give the id, {named} or {last}"
        meant = self._meant(text)
        near = [self._titles[item] for item in meant]
        if len(meant) > 1:
            some = ", ".join(f"{item} ({self._titles[item]})" for item in meant[:4])
            return f"{text!r} is in {len(meant)} titles: {some}{', ...' if len(meant) > 4 else ''}"
        if not near:
            bare = {_bare(title): title for title in self._titles.values()}
            near = [bare[one] for one in get_close_matches(_bare(text), bare, n=1, cutoff=_ALIKE)]
        what = "title"
        if not self._titles and not _INTEGER.fullmatch(text):  # a number that is near another is no hint
            near = get_close_matches(text, [one for one in self._index if isinstance(one, str)], n=1, cutoff=_ALIKE)
            what = "id"
        return f"{text[:60]!r}" + (f" (nearest {what}: {near[0]!r})" if near else "")

    def complaint(self, given: Any) -> str:
        """The message about one item that `find` did not find."""
        if self.is_shared(str(given)):
            return self.trouble(given)
        if meant := self._meant(str(given).strip()):
            or_title = " or the whole title" if len({self._folded[item] for item in meant}) > 1 else ""
            return f"several items may be meant: {self.trouble(given)}; give the id{or_title}"
        remedy = "give the id or the title" if self._titles else "give an id: the model has no titles"
        return f"the model knows {len(self._index):,} items, and not {self.trouble(given)}: {remedy}"

    def find_all(self, given: Iterable[Any], given_in: str) -> tuple[dict[Any, RawId], str | None]:
        """The items that many texts and ids are, without those that are not understood, and a remark about these.

        ``given_in`` is where they were given, for the messages. The remark is None if all are understood.

        Raises
        ------
        DataError
            If none of them is understood.
        """
        asked = list(dict.fromkeys(given))
        found = {one: self.find(one) for one in asked}
        understood = {one: item for one, item in found.items() if item is not None}
        unknown = [one for one in asked if found[one] is None]
        taken = self._taken_for(understood)
        if not unknown:
            return understood, taken and f"{given_in}: {taken}"
        named = "; ".join(self.trouble(one) for one in unknown[:_NAMED])
        named += f"; and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        many = f"{len(asked):,} item{'s' * (len(asked) != 1)}"
        is_unrated = any(self._with_features(one) is not None for one in unknown)
        shared = [self.is_shared(str(one)) for one in unknown]
        if not understood and any(shared):
            none = "cannot tell which item is meant" if len(asked) == 1 else f"understands none of the {many}"
            raise DataError(f"{given_in}: the model {none}: {named}")
        if not understood:
            what = "ids or titles" if self._titles else "ids (the model has no titles)"
            one = "cannot tell which item is meant" if self._meant(str(asked[0])) else "does not know the item"
            none = one if len(asked) == 1 else f"knows none of the {many}"
            if is_unrated:
                none = "has no ratings of the item" if len(asked) == 1 else f"has no ratings of the {many}"
            raise DataError(f"{given_in}: the model {none}: {named}. Give {what}")
        if is_unrated:
            why = "unknown or without ratings"
        elif all(shared):
            why = "unclear"
        else:
            is_unclear = any(map(self._meant, map(str, unknown)))
            why = "unknown or unclear" if is_unclear else "unknown to the model"
        told = left_out(len(unknown), many, named, why)
        return understood, f"{given_in}: {told}{f'; {taken}' if taken else ''}"

    def _taken_for(self, understood: Mapping[Any, RawId]) -> str | None:
        """Which texts are only a part of the title that they are taken for, so that a mistake can be seen."""
        parts = [
            f"{one!r} is taken for {self._titles[item]!r}"
            for one, item in understood.items()
            if one != item
            and as_known(self._index, str(one).strip()) is None
            and item in self._titles
            and _words(_bare(str(one))) != _words(_bare(self._titles[item]))
        ]
        more = [f"and {len(parts) - _NAMED} more"] if len(parts) > _NAMED else []
        return "; ".join(parts[:_NAMED] + more) or None

    def _with_features(self, given: Any) -> RawId | None:
        """The id, among those of items with features, that is given."""
        return given if given in self._featured else as_known(self._featured, str(given).strip())

    def search(self, text: str, n: int) -> list[RawId]:
        """At most ``n`` items whose id or title contains a text, or all of its words; those that begin with it first.

        >>> from types import SimpleNamespace
        >>> from lbg_recsys.ratings.ids import IdIndex
        >>> titles = {7: "Empire Strikes Back, The (1980)", 8: "Star Wars (1977)", 9: "A Star (1979)"}
        >>> found = Catalogue(SimpleNamespace(matrix=SimpleNamespace(items=IdIndex(titles)), titles=titles))
        >>> found.search("star", 5), found.search("back empire", 5), found.search("7", 1)
        ([8, 9], [7], [7])
        >>> titles = {8: "Star Wars", 9: "Star Trek"}
        >>> found = Catalogue(SimpleNamespace(matrix=SimpleNamespace(items=IdIndex(titles)), titles=titles))
        >>> found.search("Star Wars (1977)", 5)
        [8]
        """
        wanted, words = text.casefold().strip(), set(_words(text))
        ranked: list[list[RawId]] = [[], [], [], []]
        for item in self._index:
            title = self._folded.get(item, str(item).casefold())
            if str(item).casefold() == wanted:
                ranked[0].append(item)
            elif title.startswith(wanted):
                ranked[1].append(item)
            elif wanted in title:
                ranked[2].append(item)
            elif words and words <= self._dated.words.get(item, frozenset()):
                ranked[3].append(item)
        return ([item for some in ranked for item in some] or self._meant(wanted))[:n]

    def _meant(self, text: str) -> list[RawId]:
        """The items that a text may be, of the surest kind of likeness that any title has."""
        wanted, words, dated = text.casefold(), _words(text), bool(_YEAR.search(text))
        if not words:
            return []
        # without its year "Matrix, The (1999)" is "The Matrix"; a year that was given must be the title's
        own = self._dated if dated else self._undated
        alike = self._by_title.get(wanted) or own.by_words.get(tuple(words))
        if dated and not alike:  # a title without a year is found by a text with one, too
            bare = own.by_words.get(tuple(_words(_YEAR.sub("", wanted))), [])
            alike = [item for item in bare if not _YEAR.search(self._folded[item])]
        every = frozenset(words)
        return alike or [item for item, title in self._folded.items() if wanted in title or every <= own.words[item]]

    @cached_property
    def _folded(self) -> dict[RawId, str]:
        return {item: title.casefold() for item, title in self._titles.items()}

    @cached_property
    def _by_title(self) -> dict[str, list[RawId]]:
        return _grouped(self._folded)

    @cached_property
    def _dated(self) -> "_Words":
        return _Words(self._folded)

    @cached_property
    def _undated(self) -> "_Words":
        return _Words({item: _YEAR.sub("", title) for item, title in self._folded.items()})


class _Words:
    """The words of each title, and the titles of each list of words: so that many titles are found quickly."""

    def __init__(self, titles: Mapping[RawId, str]) -> None:
        found = {item: tuple(_words(title)) for item, title in titles.items()}
        self.by_words = _grouped(found)
        self.words = {item: frozenset(words) for item, words in found.items()}


def _grouped(keys: Mapping[RawId, Any]) -> dict[Any, list[RawId]]:
    """The items of each key, in their order."""
    found: dict[Any, list[RawId]] = {}
    for item, key in keys.items():
        found.setdefault(key, []).append(item)
    return found


def title_of(model: Any, item: RawId) -> str:
    """What an item is called: its title, else its id."""
    return str(model.titles.get(item, item))


def with_titles(model: Any, facts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Facts about items, for machines: with the title beside the item; without, if the model has no titles.

    >>> from types import SimpleNamespace
    >>> with_titles(SimpleNamespace(titles={7: "Alien"}), [{"user": 1, "item": 7, "score": 0.5}, {"item": 8}])
    [{'user': 1, 'item': 7, 'title': 'Alien', 'score': 0.5}, {'item': 8, 'title': None}]
    >>> with_titles(SimpleNamespace(titles={}), [{"item": 8}])
    [{'item': 8}]
    """
    if not model.titles:
        return [dict(one) for one in facts]
    return [_titled(one, model.titles.get(one["item"])) for one in facts]


def _titled(facts: Mapping[str, Any], title: str | None) -> dict[str, Any]:
    titled: dict[str, Any] = {}
    for name, value in facts.items():
        titled |= {name: value, "title": title} if name == "item" else {name: value}
    return titled


def known_ids(index: IdIndex, column: Iterable[Any]) -> list[Any]:
    """Ids as a file has them, each in the type that the model knows it by: 7 and "7" are then the same.

    >>> from lbg_recsys.ratings.ids import IdIndex
    >>> known_ids(IdIndex(["7", "x"]), [7, 8]), known_ids(IdIndex([7]), ["7", "y"])
    (['7', 8], [7, 'y'])
    """
    raw_ids = column.tolist() if hasattr(column, "tolist") else list(column)
    translated = {}
    for raw_id in dict.fromkeys(raw_ids):
        known = raw_id if raw_id in index else as_known(index, str(raw_id))
        translated[raw_id] = raw_id if known is None else known
    return [translated[raw_id] for raw_id in raw_ids]


def as_known(index: IdIndex, text: str) -> RawId | None:
    """The known id that a text is, whether the model has it as a text or as a number."""
    if text in index:
        return text
    number = as_integer(text)
    return number if number in index else None


def as_integer(text: str) -> int | str:
    """The number that a text is, as readers of files take it."""
    return int(text) if _INTEGER.fullmatch(text) and len(text) < 4000 else text


def _bare(title: str) -> str:
    """A title without its year, articles and signs: what is compared with one that is misspelt."""
    words = _WORD.findall(_YEAR.sub("", title.casefold()))
    return " ".join(word for word in words if word not in _ARTICLES)


def _words(title: str) -> list[str]:
    """The words of a title in alphabetical order, without its articles."""
    words = _WORD.findall(title.casefold())
    return sorted(word for word in words if word not in _ARTICLES) or words
