"""The lines of a program in a dialect: each is written once, and named when it is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NewType

from rasp.base.atoms import Atom, show

Truth = NewType("Truth", int)
"""The number of a line that is true or false at each position."""


class Lines:
    """A program under construction: truths, and whatever else a dialect has."""

    letters: ClassVar[dict[str, str]] = {"letter": "P", "not": "P", "all": "P", "any": "P"}
    """For each kind of line, the letter that its name begins with."""

    def __init__(self) -> None:
        self._lines: list[tuple[Any, ...]] = []
        self._places: dict[tuple[Any, ...], int] = {}
        self.true = Truth(self._line("all"))
        self.false = Truth(self._line("any"))

    def _line(self, *line: Any) -> int:
        if line not in self._places:
            self._places[line] = len(self._lines)
            self._lines.append(line)
        return self._places[line]

    def letter(self, token: Atom) -> Truth:
        """Whether the token here is this one."""
        return Truth(self._line("letter", show(token)))

    def negated(self, truth: Truth) -> Truth:
        """Whether a truth does not hold."""
        if truth in (self.true, self.false):
            return self.false if truth == self.true else self.true
        kind, *parts = self._lines[truth]
        return parts[0] if kind == "not" else Truth(self._line("not", truth))

    def both(self, truths: Iterable[Truth]) -> Truth:
        """Whether all of several truths hold."""
        return self._joined("all", truths, self.false)

    def either(self, truths: Iterable[Truth]) -> Truth:
        """Whether any of several truths holds."""
        return self._joined("any", truths, self.true)

    def _joined(self, kind: str, truths: Iterable[Truth], final: Truth) -> Truth:
        parts: set[Truth] = set()
        for truth in truths:
            line = self._lines[truth]
            parts |= set(line[1:]) if line[0] == kind else {truth}
        if final in parts or any(self._opposite_is_in(part, parts) for part in parts):
            return final
        return parts.pop() if len(parts) == 1 else Truth(self._line(kind, *sorted(parts)))

    def _opposite_is_in(self, part: Truth, parts: set[Truth]) -> bool:
        line = self._lines[part]
        return line[0] == "not" and line[1] in parts

    def text(self, answers: Mapping[str, int]) -> str:
        """Write what these answers need; each answer is the line of its name."""
        names: dict[int, str] = {}
        counts = dict.fromkeys(self.letters.values(), 0)
        lines = []
        for place in self._needed(answers.values()):
            letter = self.letters[self._lines[place][0]]
            counts[letter] += 1
            names[place] = f"{letter}{counts[letter]}"
            lines.append(f"{names[place]}(i) := {self._body(place, names)}")
        lines += [f"{name}(i) := {names[line]}(i)" for name, line in answers.items()]
        return "\n".join(lines)

    def _needed(self, places: Iterable[int]) -> list[int]:
        """Every line that some lines need; a line comes after those it is made of."""
        needed: set[int] = set()
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place not in needed:
                needed.add(place)
                waiting += self._parts(place)
        return sorted(needed)

    def _parts(self, place: int) -> list[int]:
        """The lines that a line is made of."""
        kind, *rest = self._lines[place]
        return [] if kind == "letter" else rest

    def _body(self, place: int, names: Mapping[int, str]) -> str:
        match self._lines[place]:
            case ("letter", token):
                return f"{token}(i)"
            case ("not", inner):
                return f"not {names[inner]}(i)"
            case ("all", *parts):
                return " and ".join(f"{names[part]}(i)" for part in parts) or "true"
            case ("any", *parts):
                return " or ".join(f"{names[part]}(i)" for part in parts) or "false"
        raise AssertionError(f"no line {place}")
