"""The shapes that answers of specifications often have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rasp.teaching.gallery.catalogue import Specification

BLANK = "_"


def everywhere(value: Any, tokens: Sequence[Any]) -> list[Any]:
    """The same answer at every position.

    >>> everywhere(True, "abc")
    [True, True, True]
    """
    return [value] * len(tokens)


def whole(question: Callable[[str], Any]) -> Specification:
    """Ask once of the whole text; the answer is the same at every position.

    >>> whole(str.isdigit)(["4", "x"])
    [False, False]
    """
    return lambda tokens: everywhere(question("".join(tokens)), tokens)


def padded(items: list[Any], tokens: Sequence[Any]) -> list[Any]:
    """These items first, then blanks up to the input's length.

    >>> padded(["a"], "abc")
    ['a', '_', '_']
    """
    return items + [BLANK] * (len(tokens) - len(items))
