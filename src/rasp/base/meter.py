"""Limits in, what a run has used of them out: time, steps of work, bytes of values.

A step is one expression, or so many bytes of a value that is made, copied, compared or shown; so
work inside one expression counts as well. Whoever works in a loop tells its meter, which looks at
the clock now and then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from sys import getsizeof
from typing import Any, TypeVar

from rasp.base.errors import RaspLimitError
from rasp.base.limits import Clock, Limits

STEPS_PER_LOOK = 64
"""Steps between two looks at the clock."""
BYTES_PER_STEP = 512
"""Bytes of a value that cost as much as one expression."""

Item = TypeVar("Item")


class Meter(Clock):
    """What a run has used so far, and how much it may.

    >>> meter = Meter(Limits(steps=10))
    >>> meter.made("a" * 5000)
    >>> meter.steps
    9
    """

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.limits = limits
        self.steps = 0
        self.bytes = 0
        """Of the values alive, or (while a text runs) of those made so far."""
        self.next_look = min(STEPS_PER_LOOK, limits.steps)
        """Whoever counts steps on its own calls `look` when they are more than this."""

    def fresh(self, limits: Limits | None = None) -> Meter:
        """Return a meter that has used nothing yet but the same time."""
        meter = Meter(limits or self.limits)
        meter.end = self.end
        return meter

    def step(self, steps: int = 1) -> None:
        """Count steps."""
        self.steps += steps
        if self.steps > self.next_look:
            self.look()

    def is_spent(self) -> bool:
        """Tell whether nothing more can run: the steps, the time or the memory are used up."""
        is_full = self.steps > self.limits.steps or self.bytes > self.limits.memory
        return is_full or self.is_over()

    def look(self) -> None:
        """Raise where the steps are used up, or the time."""
        if self.steps > self.limits.steps:
            raise RaspLimitError(
                f"the program takes more than {self.limits.steps} steps",
                hint="is a loop or a recursion longer than it should be?",
            )
        self.next_look = min(self.steps + STEPS_PER_LOOK, self.limits.steps)
        self.check()

    def made(self, value: Any) -> None:
        """Count a value that was made or copied while a text runs, unless it is small."""
        kind = type(value)
        if (kind is int and value.bit_length() < 8 * BYTES_PER_STEP) or kind is bool:
            return  # by far the most frequent
        size = size_of(value)
        if size >= BYTES_PER_STEP:
            self.hold(size)
            self.step(size // BYTES_PER_STEP)

    def touched(self, items: int) -> None:
        """Count items of a list that were looked at."""
        self.step(8 * items // BYTES_PER_STEP)

    def hold(self, size: int) -> None:
        """Count bytes of a value that lives from now on."""
        self.bytes += size
        if self.bytes > self.limits.memory:
            raise self.too_large(0)

    def release(self, size: int) -> None:
        """Count bytes of a value that is dropped."""
        self.bytes -= size

    def afford(self, size: int) -> None:
        """Raise where a value of so many bytes, yet to be made, would be too many."""
        if self.bytes + size > self.limits.memory:
            raise self.too_large(size)

    def too_large(self, more: int) -> RaspLimitError:
        """What to say where values need more memory than they may."""
        return RaspLimitError(
            f"its values need {_written(self.bytes + more)} of memory or more, which is over the "
            f"limit of {_written(self.limits.memory)}",
            hint="give a shorter input, or make lists, strings and numbers smaller",
        )

    def watched(self, items: Iterable[Item], every: int = 256) -> Iterator[Item]:
        """Pass items on, and look at the clock every so many of them.

        >>> list(Meter(Limits()).watched("abc"))
        ['a', 'b', 'c']
        """
        left = every
        for item in items:
            left -= 1
            if not left:
                left = every
                self.check()
            yield item


def _written(size: int) -> str:
    """A number of bytes as people say it."""
    return f"{size / 10**6:,.0f} MB" if size >= 10**7 else f"{size:,} bytes"


def size_of_atoms(atoms: list[Any]) -> int:
    """Bytes of a list of atoms; one that is in it several times counts once.

    >>> size_of_atoms(["a" * 1000] * 1000) < size_of_atoms([str(n) * 1000 for n in range(10)])
    True
    """
    distinct = dict(zip(map(id, atoms), atoms, strict=True)).values()
    size = getsizeof(atoms) + sum(map(getsizeof, distinct))
    if any(type(atom) is Fraction for atom in distinct):
        size += sum(size_of(atom) for atom in distinct)
    return size


def size_of(value: Any) -> int:
    """Bytes of a value, without those of the items of a list.

    >>> size_of([0] * 1000) // 8 in range(1000, 1100)
    True
    """
    if isinstance(value, Fraction):
        return getsizeof(value.numerator) + getsizeof(value.denominator)
    return getsizeof(value)
