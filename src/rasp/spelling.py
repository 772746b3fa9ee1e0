"""A mistyped name and the names there are in, the likeliest one out."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is fewest typing slips away, if that is few enough.

    >>> closest("lenght", ["length", "indices"])
    'length'
    """
    if len(name) > 60:
        return None
    near = [
        (slips, candidate)
        for candidate in known
        if abs(len(candidate) - len(name)) <= (allowed := _allowed(name, candidate))
        and (slips := _slips(name.lower(), candidate.lower())) <= allowed
    ]
    return min(near)[1] if near else None


def _allowed(name: str, candidate: str) -> int:
    """How many slips still make a likely name: none where a letter or two is all there is."""
    shorter, longer = sorted((len(name), len(candidate)))
    return 0 if shorter < 3 else max(1, longer // 3)


def _slips(one: str, other: str) -> int:
    """Count insertions, deletions, substitutions and swaps of neighbours between two words."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, above, row = row, before, [i]
        for j, right in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                best = min(best, above[j - 2] + 1)
            row.append(best)
    return row[-1]
