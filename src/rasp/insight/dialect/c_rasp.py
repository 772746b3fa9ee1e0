"""A program in C-RASP, line by line.

C-RASP (Yang and Chiang, *Counting Like Transformers*, 2024) has two kinds of sequences. Truths:
is the letter an `a`, not, and, or, and linear comparisons of counts. Counts: how many positions
up to this one have a truth, sums of counts, and a choice by a truth. There are no positions
beyond the count of all positions so far, and nothing looks ahead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import ClassVar, NewType

from rasp.insight.dialect.named_lines import Lines, Truth

CountLine = NewType("CountLine", int)
"""The number of a line that is a count at each position."""


@dataclass(frozen=True)
class CountSum:
    """Counts with factors, and a constant."""

    terms: tuple[tuple[CountLine, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    def plus(self, other: CountSum, factor: Fraction = Fraction(1)) -> CountSum:
        """Add another sum, times a factor.

        >>> constant(2).plus(constant(3), Fraction(-1)).constant
        Fraction(-1, 1)
        """
        terms = dict(self.terms)
        for term, times in other.terms:
            terms[term] = terms.get(term, Fraction(0)) + factor * times
        kept = tuple(sorted((term, times) for term, times in terms.items() if times))
        return CountSum(kept, self.constant + factor * other.constant)

    def times(self, factor: Fraction) -> CountSum:
        """The sum times a number.

        >>> constant(2).times(Fraction(1, 2)).constant
        Fraction(1, 1)
        """
        return CountSum().plus(self, factor)

    @property
    def is_whole(self) -> bool:
        """Whether all factors are whole numbers, so that the sum is one."""
        return all(number.denominator == 1 for number in self._numbers)

    @property
    def _numbers(self) -> list[Fraction]:
        return [self.constant, *(times for _, times in self.terms)]

    def in_whole_numbers(self) -> CountSum:
        """The sum times the smallest number that makes every factor whole.

        >>> constant(Fraction(1, 2)).in_whole_numbers().constant
        Fraction(1, 1)
        """
        return self.times(Fraction(lcm(*(number.denominator for number in self._numbers))))


def constant(number: Fraction | int) -> CountSum:
    """A sum that is the same everywhere."""
    return CountSum(constant=Fraction(number))


class CRasp(Lines):
    """A program in C-RASP under construction: every line is written once.

    >>> program = CRasp()
    >>> some_a = program.negated(program.at_most_zero(program.up_to_here(program.letter("a"))))
    >>> print(program.text({"some_a": some_a}))
    P1(i) := "a"(i)
    C1(i) := #[j <= i] P1(j)
    P2(i) := C1(i) <= 0
    P3(i) := not P2(i)
    some_a(i) := P3(i)
    """

    letters: ClassVar[dict[str, str]] = Lines.letters | {
        "at most zero": "P",
        "count": "C",
        "choice": "C",
        "sum": "C",
    }

    def __init__(self) -> None:
        super().__init__()
        self.position = self._single(CountLine(self._line("count", self.true)))
        """How many positions there are up to this one: the index plus 1."""

    @staticmethod
    def _single(term: CountLine) -> CountSum:
        return CountSum(((term, Fraction(1)),))

    def summed(self, total: CountSum) -> CountLine:
        """A line of its own for a sum of counts."""
        return CountLine(self._line("sum", total))

    def at_most_zero(self, total: CountSum) -> Truth:
        """Whether a sum of counts is at most zero."""
        if not total.terms:
            return self.true if total.constant <= 0 else self.false
        if self._is_above_zero(total):
            return self.false
        return Truth(self._line("at most zero", total.in_whole_numbers()))

    def _is_above_zero(self, total: CountSum) -> bool:
        """Whether a sum is above zero whatever is counted: no count is below 0, and i is not 0."""
        ((position, _),) = self.position.terms
        least = total.constant + sum(times for term, times in total.terms if term == position)
        return least > 0 and all(times > 0 and self.is_count(term) for term, times in total.terms)

    def is_zero(self, total: CountSum) -> Truth:
        """Whether a sum of counts is zero."""
        return self.both([self.at_most_zero(total), self.at_most_zero(total.times(Fraction(-1)))])

    def up_to_here(self, truth: Truth) -> CountSum:
        """How many positions up to this one have a truth."""
        return (
            CountSum()
            if truth == self.false
            else self._single(CountLine(self._line("count", truth)))
        )

    def before(self, truth: Truth) -> CountSum:
        """How many positions before this one have a truth."""
        return self.up_to_here(truth).plus(self.chosen(truth, constant(1)), Fraction(-1))

    def chosen(self, truth: Truth, total: CountSum) -> CountSum:
        """A sum where a truth holds, and 0 elsewhere."""
        if truth == self.true or not (total.terms or total.constant):
            return total
        if truth == self.false:
            return CountSum()
        scale = Fraction(lcm(*(number.denominator for number in total._numbers)))
        term = CountLine(self._line("choice", truth, total.times(scale)))
        return self._single(term).times(1 / scale)

    def is_count(self, term: CountLine) -> bool:
        """Whether a term counts positions, so that it is never below zero."""
        return bool(self._lines[term][0] == "count")

    def _parts(self, place: int) -> list[int]:
        lines: list[int] = []
        for part in super()._parts(place):
            lines += [term for term, _ in part.terms] if isinstance(part, CountSum) else [part]
        return lines

    def _body(self, place: int, names: Mapping[int, str]) -> str:
        match self._lines[place]:
            case ("count", truth):
                return f"#[j <= i] {names[truth]}(j)"
            case ("choice", truth, total):
                return f"if {names[truth]}(i) then {_sum_text(total, names)} else 0"
            case ("sum", total):
                return _sum_text(total, names)
            case ("at most zero", total):
                return _comparison_text(total, names)
        return super()._body(place, names)


def _comparison_text(total: CountSum, names: Mapping[int, str]) -> str:
    """Positive factors on the left, negative ones on the right."""
    left = tuple((term, times) for term, times in total.terms if times > 0)
    right = tuple((term, -times) for term, times in total.terms if times < 0)
    more = max(total.constant, Fraction(0))
    return (
        f"{_sum_text(CountSum(left, more), names)} <= "
        f"{_sum_text(CountSum(right, more - total.constant), names)}"
    )


def _sum_text(total: CountSum, names: Mapping[int, str]) -> str:
    words = [
        f"{names[term]}(i)" if times == 1 else f"{times} {names[term]}(i)"
        for term, times in total.terms
    ]
    if total.constant or not words:
        words.append(str(total.constant))
    return " + ".join(words).replace("+ -", "- ")
