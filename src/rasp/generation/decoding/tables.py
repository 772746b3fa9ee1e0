"""Codes in, codes out: a function of a few small domains as a table that fills as it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rasp.generation.decoding.domains import Array, Domain

KEY_BITS = 62
FEW = 8
"""Up to so many keys, Python's own dict is faster than numpy's search."""


class Memo:
    """A function of one whole number, computed once for each that occurs.

    >>> square = Memo(lambda key: key * key)
    >>> square.look_up(np.array([[3, 4, 3]])).tolist()
    [[9, 16, 9]]
    """

    def __init__(self, compute: Callable[[int], int]) -> None:
        self.compute = compute
        self.known: dict[int, int] = {}
        self._sorted: tuple[Array, Array] | None = None
        self._about: object = None
        self._alone: dict[int, Array] = {}

    def is_about(self, what: object) -> None:
        """Forget everything where keys have another meaning than before."""
        if what != self._about:
            self.forget()
            self._about = what

    def look_up(self, keys: Array) -> Array:
        """The function at every key."""
        if keys.size <= FEW:
            values = [self.value(key) for key in keys.ravel().tolist()]
            return np.array(values, np.int64).reshape(keys.shape)
        return self._search(keys)

    def look_up_one(self, key: int) -> Array:
        """The function at one key, as an array that nobody changes. (1, 1)"""
        found = self._alone.get(key)
        if found is None:
            found = self._alone[key] = np.array([[self.value(key)]])
        return found

    def forget(self) -> None:
        """Start again, where keys have changed their meaning."""
        self.known.clear()
        self._alone.clear()
        self._sorted = None

    def _search(self, keys: Array) -> Array:
        if self._sorted is None or len(self._sorted[0]) != len(self.known):
            self._sorted = self._sort()
        known, values = self._sorted
        if len(known):
            places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            missing = known[places] != keys
            if not missing.any():
                return values[places]
            keys_to_fill = keys[missing]
        else:
            keys_to_fill = keys
        for key in set(keys_to_fill.ravel().tolist()):
            self.value(key)
        return self._search(keys)

    def _sort(self) -> tuple[Array, Array]:
        known = np.fromiter(self.known, np.int64, len(self.known))
        values = np.fromiter(self.known.values(), np.int64, len(self.known))
        order = np.argsort(known)
        return known[order], values[order]

    def value(self, key: int) -> int:
        """The function at one key."""
        value = self.known.get(key)
        if value is None:
            value = self.known[key] = self.compute(key)
        return value


class Table:
    """A function of several domains' codes: they are written side by side into one number."""

    def __init__(self, domains: Sequence[Domain], compute: Callable[[list[int]], int]) -> None:
        self._memo = Memo(lambda key: compute(self._split(key)))
        self._bits = KEY_BITS // max(1, len(domains))
        self._shifts = [self._bits * number for number in range(len(domains))]
        for domain in domains:
            domain.most = min(domain.most, 1 << self._bits)

    def look_up(self, codes: Sequence[Array]) -> Array:
        """The function at every position; the arrays are broadcast."""
        if all(code.size == 1 for code in codes):
            key = 0
            for code, shift in zip(codes, self._shifts, strict=True):
                key |= code.item() << shift
            return self._memo.look_up_one(key)
        keys = codes[0]
        for code, shift in zip(codes[1:], self._shifts[1:], strict=True):
            keys = keys | (code << shift)
        return self._memo.look_up(keys)

    @property
    def learnt(self) -> int:
        """How many results are remembered."""
        return len(self._memo.known)

    def _split(self, key: int) -> list[int]:
        return [(key >> shift) & ((1 << self._bits) - 1) for shift in self._shifts]
