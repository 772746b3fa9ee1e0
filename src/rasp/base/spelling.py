"""A mistyped name and the names there are in, the likeliest one out."""

from __future__ import annotations

from collections.abc import Iterable

LIKELY = 0.65
"""How alike a likely name is: two letters of three, four of six."""


def closest(name: str, names: Iterable[str]) -> str | None:
    """Return the known name that is most like another one, if it is like enough.

    >>> closest("lenght", ["length", "indices"])
    'length'
    """
    if not 3 <= len(name) <= 60:
        return None
    from difflib import get_close_matches  # slow to import, and only mistakes come here

    likely = {candidate.lower(): candidate for candidate in names if len(candidate) >= 3}
    matches = get_close_matches(name.lower(), likely, 1, LIKELY)
    return likely[matches[0]] if matches else None


def did_you_mean(name: str, names: Iterable[str], otherwise: str, before: str = "") -> str:
    """Return a hint: the likeliest of the names, after some words, or else another hint.

    >>> did_you_mean("lenght", ["length"], "define it first")
    'did you mean `length`?'
    """
    close = closest(name, names)
    return f"did you mean `{before}{close}`?" if close else otherwise
