"""A program in, the same program in B-RASP out, or the part of it that is not in B-RASP.

Hard attention looks at one position. So a head is in B-RASP where one position is all it needs:
the nearest one, the one at a fixed distance, the only one, or any one (does some key have this?).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rasp.base.atoms import Atom, is_atom
from rasp.insight.dialect.b_rasp import BRasp
from rasp.insight.dialect.named_lines import Truth
from rasp.insight.dialect.selector_rows import Case, Cases, NotInDialect, QueryRow
from rasp.insight.dialect.value_cases import Reader
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Score,
    Select,
    SelectBest,
    Selector,
    SOp,
    apply_operator,
)
from rasp.language.graph.idioms import LENGTH, selector_of_width
from rasp.language.graph.reach import index_distance
from rasp.language.graph.sum_form import linear
from rasp.language.operators import OPPOSITE, TURNED

MOST_DISTANCE = 40


@dataclass(frozen=True)
class Position:
    """A position: an index, counted from the start (`start`) or back from the end, plus more."""

    sign: int
    from_end: bool
    more: int
    """`sign · index + more`, or `sign · (index - length) + more`."""


@dataclass(frozen=True)
class Length:
    """The length of the input, plus a constant."""

    more: int = 0


@dataclass(frozen=True)
class Width:
    """How many keys are picked, of which only "is it any?" is known."""

    some: Truth


@dataclass(frozen=True)
class Mean:
    """A mean of numbers; of each, whether it is among them."""

    present: tuple[tuple[Fraction, Truth], ...]


class BRaspReader(Reader[BRasp]):
    """Reads a program as B-RASP.

    >>> import rasp
    >>> again = rasp.run("again = has_prev(tokens);")["again"]
    >>> reader = BRaspReader("a")
    >>> print(reader.program.text({"accept": reader.truth_of(again.node, False)}))
    P1(i) := true
    P2(i) := false
    P3(i) := "a"(i)
    P4(i) := rightmost j [j < i, P3(j)] P1(j) : P2(i)
    P5(i) := P3(i) and P4(i)
    accept(i) := P5(i)
    """

    def __init__(self, alphabet: Sequence[Atom]) -> None:
        super().__init__(BRasp(), alphabet)

    def index(self) -> Position:
        return Position(1, False, 0)

    def idiom(self, node: Elementwise, at_last: bool) -> Cases | None:
        if node is LENGTH:
            return ((self.program.true, Length()),)
        width = selector_of_width(node)
        if width is None or width[1]:
            return None
        return ((self.program.true, Width(self.some(width[0], self.program.true, at_last))),)

    def aggregate(self, node: Aggregate, at_last: bool) -> Iterable[Case]:
        values = self.cases(node.values)
        if not all(is_atom(content) for _, content in values):
            raise NotInDialect(node, "averages numbers")
        if isinstance(node.selector, SelectBest):
            return self._best(node, node.selector, values)
        if isinstance(node.selector, Select) and index_distance(node.selector) not in (None, 0):
            return self._at_distance(node, node.selector, values)
        return self.averaged(node, values, at_last)

    def mean(self, selector: Selector, values: Cases, at_last: bool) -> Mean:
        """Whether each value is among those picked is all that is known."""
        present = [(Fraction(content), self.some(selector, truth, at_last))
                   for truth, content in values]  # fmt: skip
        return Mean(tuple(sorted(present)))

    def some(self, selector: Selector, truth: Truth, at_last: bool) -> Truth:
        program = self.program
        return program.either(
            program.both([row.where, program.either(self._places(row, truth))])
            for row in self.rows(selector, at_last)
        )

    def _places(self, row: QueryRow, truth: Truth) -> list[Truth]:
        program = self.program
        return [
            program.some_before(program.both([row.earlier, truth])),
            program.both([row.here, truth]),
            program.some_after(program.both([row.later, truth])),
        ]

    def _best(self, node: Aggregate, best: SelectBest, values: Cases
              ) -> Iterable[Case]:  # fmt: skip
        """The first or the last position of those picked."""
        program = self.program
        side = self._side(best)
        yield program.negated(self.some(best.selector, program.true, False)), node.default
        for truth, content in values:
            yield (
                program.either(
                    program.both([row.where, self._found(row, side, truth)])
                    for row in self.rows(best.selector, False)
                ),
                content,
            )

    def _found(self, row: QueryRow, side: str, truth: Truth) -> Truth:
        """Whether the first (or last) position that is picked has a truth."""
        program = self.program
        order = ["<", "=", ">"] if side == "leftmost" else [">", "=", "<"]
        has_truth = program.false
        for mask in reversed(order):
            if mask == "=":
                here = program.both([row.here, truth])
                has_truth = program.either(
                    [here, program.both([program.negated(row.here), has_truth])]
                )
            else:
                where = row.earlier if mask == "<" else row.later
                has_truth = program.attend(side, mask, where, truth, has_truth)
        return has_truth

    def _side(self, best: SelectBest) -> str:
        match best.scorer:
            case Score(keys, Const(value)) if not isinstance(value, str):
                terms, _ = linear(keys)
                if value and [s_op for s_op, _ in terms] == [Indices()]:
                    factor = next(iter(terms))[1] * Fraction(value)
                    return "rightmost" if factor > 0 else "leftmost"
        raise NotInDialect(best, "keeps the best by a score that is not the position")

    def _at_distance(self, node: Aggregate, selector: Select, values: Cases
                     ) -> Iterable[Case]:  # fmt: skip
        """The position at a fixed distance is reached by so many steps to the next one."""
        distance = index_distance(selector)
        if selector.op != "==" or distance is None or abs(distance) > MOST_DISTANCE:
            yield from self.averaged(node, values, False)
            return
        yield self.program.negated(self._moved(self.program.true, distance)), node.default
        for truth, content in values:
            yield self._moved(truth, distance), content

    def _moved(self, truth: Truth, distance: int) -> Truth:
        """Whether the position at a distance exists and has a truth."""
        program = self.program
        for _ in range(abs(distance)):
            side, mask = ("rightmost", "<") if distance < 0 else ("leftmost", ">")
            truth = program.attend(side, mask, program.true, truth, program.false)
        return truth

    def arithmetic(self, node: Elementwise, contents: tuple[Any, ...]) -> Position | Length:
        """Arithmetic on places: a constant more or less, the same place from the other side."""
        if node.op not in ("+", "-", "negate", "plus"):
            raise NotInDialect(node, f"applies `{node.op}` to a position, a count or a mean")
        if node.op == "negate":
            contents = (0, contents[0])
        left, right = contents[0], contents[-1] if len(contents) > 1 else 0
        sign = 1 if node.op in ("+", "plus") else -1
        match left, right:
            case (Position(way, from_end, more), int()):
                return Position(way, from_end, more + sign * right)
            case (int(), Position(way, from_end, more)):
                return Position(sign * way, from_end, left + sign * more)
            case (Length(more), int()):
                return Length(more + sign * right)
            case (int(), Length(more)) if sign == 1:
                return Length(left + more)
            case (Length(ours), Position(1, False, theirs)) if sign == -1:
                return Position(-1, True, ours - theirs)
            case (Position(1, False, theirs), Length(ours)) if sign == -1:
                return Position(1, True, theirs - ours)
        raise NotInDialect(node, "computes with a position, a count or a mean")

    def compare(self, node: SOp, op: str, one: Any, other: Any) -> Truth:
        program = self.program
        if is_atom(one):
            return self.compare(node, TURNED[op], other, one)
        if isinstance(one, Position) and isinstance(other, Length):
            return self.compare(node, op, Position(one.sign, True, one.more - other.more), 0)
        if isinstance(one, Length) and isinstance(other, Position):
            return self.compare(node, TURNED[op], other, one)
        if not is_atom(other):
            raise NotInDialect(node, "compares two positions, counts or means")
        if isinstance(other, str):
            return program.true if op == "!=" else program.false
        match one:
            case Position():
                return self._compare_place(node, op, one, Fraction(other))
            case Width(some):
                return self._compare_width(node, op, some, Fraction(other))
            case Mean(present):
                return self._compare_mean(node, op, present, Fraction(other))
        raise NotInDialect(node, "compares the length with a number")

    def _compare_place(self, node: SOp, op: str, place: Position, number: Fraction) -> Truth:
        """Compare an index with a constant: is there a position so many steps before (after)?"""
        if number.denominator != 1:
            raise NotInDialect(node, "compares a position with a fraction")
        wanted = int(number - place.more) * place.sign  # index (less the length) op wanted
        op = op if place.sign > 0 else TURNED[op]
        if abs(wanted) > MOST_DISTANCE:
            raise NotInDialect(node, f"compares a position with more than {MOST_DISTANCE}")
        program = self.program

        def at_least(number: int) -> Truth:
            """Whether the index (less the length) is so large."""
            if place.from_end:  # index - length >= -k: no position k steps after
                return program.false if number >= 0 else program.negated(
                    self._moved(program.true, -number))  # fmt: skip
            return program.true if number <= 0 else self._moved(program.true, -number)

        return self.ordered(op, lambda: at_least(wanted), lambda: at_least(wanted + 1))

    def _compare_width(self, node: SOp, op: str, some: Truth, number: Fraction) -> Truth:
        """A width that is compared with 0, or with 1 in a way that asks for "any"."""
        few, many = (apply_operator(op, (count, number)) for count in (0, 10**9))
        if any(apply_operator(op, (count, number)) != many for count in range(1, 60)):
            raise NotInDialect(node, "counts further than to one")
        self.rewrites[node] = "asking whether a width is above zero looks for one position"
        if few == many:
            return self.program.true if few else self.program.false
        return some if many else self.program.negated(some)

    def _compare_mean(
        self, node: SOp, op: str, present: tuple[tuple[Fraction, Truth], ...], number: Fraction
    ) -> Truth:
        """A mean is its smallest number where no larger one is there, and so for the largest."""
        program = self.program
        lowest, highest = present[0][0], present[-1][0]
        more = program.either(truth for value, truth in present if value > lowest)
        less = program.either(truth for value, truth in present if value < highest)
        if not lowest < number < highest:
            self.rewrites[node] = (
                "comparing a mean with its least or greatest looks for one position"
            )
            is_above = {True: program.true, False: program.false}
            above = more if number == lowest else is_above[number < lowest]
            below = less if number == highest else is_above[number > highest]
            equal = program.negated(program.either([above, below]))
            truths = {">": above, "<": below, "==": equal}
            if op in truths:
                return truths[op]
            return program.negated(truths[OPPOSITE[op]])
        raise NotInDialect(node, "compares a mean with a number between its least and greatest")
