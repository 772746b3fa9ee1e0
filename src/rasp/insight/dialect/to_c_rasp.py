"""A program in, the same program in C-RASP out, or the part of it that is not in C-RASP.

Counts are what C-RASP has and what a head gives when it averages: a mean is a sum over a count,
so comparing it with a number compares two sums of counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rasp.base.atoms import Atom, is_atom
from rasp.insight.dialect.c_rasp import CountSum, CRasp, constant
from rasp.insight.dialect.named_lines import Truth
from rasp.insight.dialect.selector_rows import Case, Cases, LooksAhead, NotInDialect, QueryRow
from rasp.insight.dialect.value_cases import Reader
from rasp.language.graph import Aggregate, Elementwise, Selector, SOp
from rasp.language.graph.idioms import LENGTH, selector_of_width
from rasp.language.graph.reach import looks_back

ONE = constant(1)


@dataclass(frozen=True)
class Quotient:
    """A sum of counts over another one that is above zero."""

    over: CountSum
    under: CountSum = ONE


class CRaspReader(Reader[CRasp]):
    """Reads a program as C-RASP.

    >>> import rasp
    >>> more = rasp.run('more = frac_prevs(tokens, "a") > 0.5;')["more"]
    >>> reader = CRaspReader("ab")
    >>> print(reader.program.text({"accept": reader.truth_of(more.node, False)}))
    P1(i) := true
    C1(i) := #[j <= i] P1(j)
    P2(i) := "a"(i)
    C2(i) := #[j <= i] P2(j)
    P3(i) := 2 C2(i) <= C1(i)
    P4(i) := not P3(i)
    accept(i) := P4(i)
    """

    def __init__(self, alphabet: Sequence[Atom]) -> None:
        super().__init__(CRasp(), alphabet)

    def index(self) -> Quotient:
        return Quotient(self.program.position.plus(ONE, Fraction(-1)))

    def idiom(self, node: Elementwise, at_last: bool) -> Cases | None:
        """A width is a count, and so is the length for the last position."""
        if node is LENGTH:
            if not at_last:
                raise NotInDialect(node, "looks at later positions")
            return ((self.program.true, Quotient(self.program.position)),)
        width = selector_of_width(node)
        if width is None:
            return None
        selector, leaves_out_first = width
        total = self._counted(selector, self.program.true, at_last)
        if leaves_out_first:
            is_first = self.program.is_zero(self.program.position.plus(ONE, Fraction(-1)))
            total = total.plus(self._counted(selector, is_first, at_last), Fraction(-1))
        return ((self.program.true, Quotient(total)),)

    def aggregate(self, node: Aggregate, at_last: bool) -> Iterable[Case]:
        values = self.cases(node.values)
        if not all(is_atom(content) for _, content in values):
            raise NotInDialect(node, "averages numbers that are themselves counted")
        return self.averaged(node, values, at_last)

    def some(self, selector: Selector, truth: Truth, at_last: bool) -> Truth:
        count = self._counted(selector, truth, at_last)
        return self.program.negated(self.program.at_most_zero(count))

    def mean(self, selector: Selector, values: Cases, at_last: bool) -> Quotient:
        over = CountSum()
        for truth, content in values:
            over = over.plus(self._counted(selector, truth, at_last), Fraction(content))
        return Quotient(over, self._counted(selector, self.program.true, at_last))

    def _counted(self, selector: Selector, truth: Truth, at_last: bool) -> CountSum:
        """How many of the keys that a query picks have a truth."""
        total = CountSum()
        for row in self.rows(selector, at_last):
            total = total.plus(self.program.chosen(row.where, self._count(row, truth)))
            looks_ahead = self.program.both([row.later, truth]) != self.program.false
            if looks_ahead and not at_last and not looks_back(selector):
                raise LooksAhead("looks at later positions")
        return total

    def _count(self, row: QueryRow, truth: Truth) -> CountSum:
        earlier = self.program.both([row.earlier, truth])
        here = self.program.both([row.here, truth])
        if earlier == here:
            return self.program.up_to_here(earlier)
        return self.program.before(earlier).plus(self.program.chosen(here, ONE))

    def _number(self, node: SOp, content: Any) -> Quotient:
        if isinstance(content, Quotient):
            return content
        if isinstance(content, str):
            raise NotInDialect(node, "mixes strings and counts")
        return Quotient(constant(Fraction(content)))

    def compare(self, node: SOp, op: str, one: Any, other: Any) -> Truth:
        program = self.program
        if isinstance(one, str) or isinstance(other, str):
            return program.true if op == "!=" else program.false
        left, right = self._number(node, one), self._number(node, other)
        if left.under == right.under:
            apart = left.over.plus(right.over, Fraction(-1))
        else:
            apart = self._product(node, left.over, right.under).plus(
                self._product(node, right.over, left.under), Fraction(-1)
            )
            self.rewrites[node] = "comparing a mean with a number compares counts"
        return self.ordered(
            op,
            at_least=lambda: program.at_most_zero(apart.times(Fraction(-1))),
            above=lambda: program.negated(program.at_most_zero(apart)),
        )

    def _product(self, node: SOp, one: CountSum, other: CountSum) -> CountSum:
        if one.terms and other.terms:
            raise NotInDialect(node, "multiplies counts, or compares fractions of counts")
        return one.times(other.constant) if one.terms else other.times(one.constant)

    def arithmetic(self, node: Elementwise, contents: tuple[Any, ...]) -> Quotient:
        match node.op, [self._number(node, content) for content in contents]:
            case "plus" | "float", [inner]:
                return inner
            case "negate", [inner]:
                return Quotient(inner.over.times(Fraction(-1)), inner.under)
            case "round" | "int", [Quotient(over, under)] if under == ONE and over.is_whole:
                return Quotient(over)
            case "+" | "-", [left, right]:
                return self._added(node, left, right, Fraction(1 if node.op == "+" else -1))
            case "*", [left, right]:
                return self._multiplied(node, left, right)
            case "/", [left, right]:
                return self._divided(node, left, right)
        raise NotInDialect(node, f"applies `{node.op}` to a count")

    def _added(self, node: Elementwise, left: Quotient, right: Quotient, sign: Fraction
               ) -> Quotient:  # fmt: skip
        if left.under == right.under:
            return Quotient(left.over.plus(right.over, sign), left.under)
        over = self._product(node, left.over, right.under).plus(
            self._product(node, right.over, left.under), sign
        )
        return Quotient(over, self._product(node, left.under, right.under))

    def _multiplied(self, node: Elementwise, left: Quotient, right: Quotient) -> Quotient:
        for one, other in ((left, right), (right, left)):
            if one.under == ONE and one.over == other.under:  # a count times a mean over it
                return Quotient(other.over)
        return Quotient(self._product(node, left.over, right.over),
                        self._product(node, left.under, right.under))  # fmt: skip

    def _divided(self, node: Elementwise, left: Quotient, right: Quotient) -> Quotient:
        if not right.over.terms:
            if not right.over.constant:
                raise NotInDialect(node, "divides by zero")
            factor = 1 / right.over.constant
            return Quotient(self._product(node, left.over, right.under).times(factor), left.under)
        if left.under == right.under == ONE and self._is_positive(right.over):
            return Quotient(left.over, right.over)
        raise NotInDialect(node, "divides by a count")

    def _is_positive(self, total: CountSum) -> bool:
        """Whether a divisor is above zero wherever it is not zero, where there is no value."""
        return total.constant >= 0 and all(
            times > 0 and self.program.is_count(term) for term, times in total.terms
        )
