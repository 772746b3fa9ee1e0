"""Codes in, codes out: a function of a few small domains as a table that fills as it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rasp.insight.generation.decoding.domains import Array, GrowingDomain

KEY_BITS = 62
AFTER_ALL = np.array([2**63 - 1])
"""A key that is larger than any other: there is always one at or after what is looked for."""


class Memo:
    """A function of one whole number, computed once for each that occurs.

    >>> square = Memo(lambda key: key * key)
    >>> square.look_up(np.array([[3, 4, 3]])).tolist()
    [[9, 16, 9]]
    """

    def __init__(self, compute: Callable[[int], int]) -> None:
        self.compute = compute
        self._about: object = None
        self._known: dict[int, int] = {}
        self._alone: dict[int, Array] = {}
        self._keys: Array = AFTER_ALL
        self._values: Array = np.zeros(1, np.int64)

    def is_about(self, what: object) -> None:
        """Forget everything where keys have another meaning than before."""
        if what != self._about:
            self._known, self._alone, self._about = {}, {}, what
            self._keys, self._values = AFTER_ALL, np.zeros(1, np.int64)

    def look_up(self, keys: Array) -> Array:
        """The function at every key."""
        places = self._keys.searchsorted(keys)
        missing = self._keys[places] != keys
        if missing.any():
            new = list(set(keys[missing].tolist()))
            longer = np.concatenate([self._keys, new])
            order = longer.argsort()
            values = np.concatenate([self._values, list(map(self._value, new))])
            self._keys, self._values = longer[order], values[order]
            places = self._keys.searchsorted(keys)
        return self._values[places]

    def look_up_one(self, key: int) -> Array:
        """The function at one key, as an array that nobody changes. (1, 1)"""
        value = self._alone.get(key)
        if value is None:
            value = self._alone[key] = np.array([[self._value(key)]])
        return value

    def _value(self, key: int) -> int:
        if key not in self._known:
            self._known[key] = self.compute(key)
        return self._known[key]

    def __len__(self) -> int:
        return len(self._known)


class DomainTable:
    """A function of several domains' codes: they are written side by side into one number."""

    def __init__(
        self, domains: Sequence[GrowingDomain], compute: Callable[[list[int]], int]
    ) -> None:
        self._memo = Memo(lambda key: compute(self._split(key)))
        self._bits = KEY_BITS // max(1, len(domains))
        self._shifts = [self._bits * number for number in range(len(domains))]
        for domain in domains:
            domain.most = min(domain.most, 1 << self._bits)

    def look_up(self, codes: Sequence[Array]) -> Array:
        """The function at every position; the arrays are broadcast."""
        key = 0
        for code, shift in zip(codes, self._shifts, strict=True):
            if code.size > 1:
                break
            key |= code.item() << shift
        else:
            return self._memo.look_up_one(key)
        keys = codes[0]
        for code, shift in zip(codes[1:], self._shifts[1:], strict=True):
            keys = keys | (code << shift)
        return self._memo.look_up(keys)

    @property
    def learnt(self) -> int:
        """How many results are remembered."""
        return len(self._memo)

    def _split(self, key: int) -> list[int]:
        return [(key >> shift) & ((1 << self._bits) - 1) for shift in self._shifts]
