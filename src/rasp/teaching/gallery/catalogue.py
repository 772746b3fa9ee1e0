"""What the gallery knows of a program besides its text: what it should answer, and on what.

The specification is plain Python written from the program's description, never from its code:
the two must agree on every input that `inputs` describes. The rest of an entry (summary,
example, heads) is read from the program's own file, where people look for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from rasp.base.atoms import from_python
from rasp.base.source import Source
from rasp.teaching.gallery.expectations import Expectations, read_expectations
from rasp.teaching.gallery.gallery_files import read_program
from rasp.teaching.gallery.gallery_inputs import InputMaker

Specification: TypeAlias = Callable[[Sequence[Any]], list[Any]]


IGNORED: Final = None
"""In a specification's answer, a position where the program may give anything: that of a BOS."""


@dataclass(frozen=True)
class Entry:
    """One program of the gallery. Its output s-op has the program's name."""

    family: str
    name: str
    specification: Specification
    inputs: InputMaker

    def wanted(self, tokens: Sequence[Any]) -> list[Any]:
        """What the program should answer, in atoms; `IGNORED` where any answer will do."""
        answer = self.specification(list(tokens))
        return [IGNORED if atom is IGNORED else from_python(atom) for atom in answer]

    @cached_property
    def source(self) -> Source:
        """The program text."""
        return read_program(self.name)

    @cached_property
    def expectations(self) -> Expectations:
        """What the program's file says of it: the summary, and the `#>` lines."""
        return read_expectations(self.source)

    @property
    def summary(self) -> str:
        """What the program computes, in one line: the first line of its file."""
        return self.expectations.summary

    @property
    def example(self) -> str | list[Any]:
        """An input that shows what the program does: the first one in its file."""
        return self.expectations.example

    @property
    def heads_per_layer(self) -> tuple[int, ...]:
        """The heads in each layer, as the file states them."""
        return self.expectations.heads[self.name]

    @property
    def layers(self) -> int:
        """How many layers the program takes."""
        return len(self.heads_per_layer)

    def __repr__(self) -> str:
        return f"<Entry {self.name}: {self.summary}>"
