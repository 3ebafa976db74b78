"""Words of messages: a few of many values, what is left out, the nearest name, an article; no control characters."""

import re
from collections.abc import Iterable, Sequence

# Ids and titles come from files: a control character could move the cursor, rename the window or hide what is there,
# and a bidirectional override could show a text in another order than its own.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def shown(values: Sequence[object], most: int = 8) -> str:
    """A few values for a message, cut so that the message stays short."""
    some = ", ".join(repr(value[:40] if isinstance(value, str) else value) for value in values[:most])
    return some + (", ..." if len(values) > most else "")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number of things in words.

    >>> counted(1, "rating"), counted(1200, "rating"), counted(2, "class", "classes")
    ('1 rating', '1,200 ratings', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def left_out(number: int, given: str, named: str, why: str) -> str:
    """The remark about those of what was given that are not used.

    >>> left_out(1, "3 items of a new user", "'x'", "unknown to the model")
    "1 of 3 items of a new user is unknown to the model and left out: 'x'"
    """
    return f"{number:,} of {given} {'is' if number == 1 else 'are'} {why} and left out: {named}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question whether the nearest known name is meant; empty if none is near.

    >>> did_you_mean("smple", ["sample", "ml-100k"])
    "did you mean 'sample'?"
    """
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def no_parameter(owner: str, name: str, known: Iterable[str]) -> str:
    """The message about a parameter that does not exist.

    >>> no_parameter("LBGModel", "n_topic", ["n_topics", "point"])
    "LBGModel has no parameter 'n_topic' (did you mean 'n_topics'?); it has n_topics, point"
    """
    meant = did_you_mean(name, known)
    return f"{owner} has no parameter {name!r}{meant and f' ({meant})'}; it has {', '.join(known)}"


def an(name: str) -> str:
    """The name of a class with its article.

    >>> an("float"), an("int"), an("LBGModel")
    ('a float', 'an int', 'an LBGModel')
    """
    vowels = ("A", "E", "I", "O", "a", "e", "i", "o", "LBG", "NMF", "SVD")
    return f"{'an' if name.startswith(vowels) else 'a'} {name}"


def class_of(thing: object) -> str:
    """The class of a thing with its article.

    >>> class_of("7"), class_of(7)
    ('a str', 'an int')
    """
    return an(type(thing).__name__)


def visible(text: str) -> str:
    """A text with its control characters as escapes, line breaks and tabs aside; a JSON text stays one.

    >>> print(visible("Alien\\x1b[2J"))
    Alien\\u001b[2J
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
