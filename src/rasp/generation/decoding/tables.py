"""Codes in, codes out: a function of a few small domains as a table that fills as it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rasp.generation.decoding.domains import Array, Domain, NotPlanned

DENSE_BITS = 14
"""Keys below 2^14 have a place each in an array; others are looked up by search."""
KEY_BITS = 62
FEW = 8
"""Up to so many keys, Python's own dict is faster than numpy's search."""


class Memo:
    """A function of one whole number, computed once for each that occurs.

    >>> square = Memo(lambda key: key * key)
    >>> square.look_up(np.array([[3, 4, 3]]), bits=10).tolist()
    [[9, 16, 9]]
    """

    def __init__(self, compute: Callable[[int], int]) -> None:
        self.compute = compute
        self.known: dict[int, int] = {}
        self._dense = np.full(0, -1)
        self._sorted: tuple[Array, Array] | None = None
        self._about: object = None
        self._alone: dict[int, Array] = {}

    def is_about(self, what: object) -> None:
        """Forget everything where keys have another meaning than before."""
        if what != self._about:
            self.forget()
            self._about = what

    def look_up(self, keys: Array, bits: int) -> Array:
        """The function at every key; all keys are at least 0 and below 2^bits."""
        if bits <= DENSE_BITS:
            return self._look_up_dense(keys, bits)
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
        self._dense, self._sorted = np.full(0, -1), None

    def _look_up_dense(self, keys: Array, bits: int) -> Array:
        if len(self._dense) < 1 << bits:
            self._dense = np.full(1 << bits, -1)
            for key, value in self.known.items():
                if key < len(self._dense):
                    self._dense[key] = value
        values = self._dense.take(keys)
        if values.min(initial=0) < 0:
            for key in set(keys[values < 0].tolist()):
                self._dense[key] = self.value(key)
            values = self._dense.take(keys)
        return values

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
        self.domains = domains
        self.compute = compute
        self._memo = Memo(lambda key: self.compute(self._split(key)))
        self._bits = [0] * len(domains)
        self._shifts = [0] * len(domains)
        self._total = 0
        self._sizes = [(domain, 0) for domain in domains]

    def look_up(self, codes: Sequence[Array]) -> Array:
        """The function at every position; the arrays are broadcast."""
        for domain, most in self._sizes:
            if len(domain.atoms) > most:
                self._widen()
                break
        if all(code.size == 1 for code in codes):
            key = 0
            for code, shift in zip(codes, self._shifts, strict=True):
                key |= code.item() << shift
            return self._memo.look_up_one(key)
        keys = codes[0]
        for code, shift in zip(codes[1:], self._shifts[1:], strict=True):
            keys = keys | (code << shift)
        return self._memo.look_up(keys, self._total)

    @property
    def learnt(self) -> int:
        """How many results are remembered."""
        return len(self._memo.known)

    def _widen(self) -> None:
        known = [(self._split(key), value) for key, value in self._memo.known.items()]
        self._bits = [_bits(domain) for domain in self.domains]
        self._shifts = [sum(self._bits[:at]) for at in range(len(self._bits))]
        self._total = sum(self._bits)
        if self._total > KEY_BITS:
            raise NotPlanned
        self._sizes = [
            (domain, 1 << bits) for domain, bits in zip(self.domains, self._bits, strict=True)
        ]
        self._memo.forget()
        for codes, value in known:
            key = sum(code << shift for code, shift in zip(codes, self._shifts, strict=True))
            self._memo.known[key] = value

    def _split(self, key: int) -> list[int]:
        return [
            (key >> shift) & ((1 << bits) - 1)
            for shift, bits in zip(self._shifts, self._bits, strict=True)
        ]


def _bits(domain: Domain) -> int:
    return max(1, len(domain.atoms).bit_length())
