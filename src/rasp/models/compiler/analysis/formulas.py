"""Selectors as formulas of comparisons of s-ops (see `graph.formulas`), and what they become:
a selector again, or where one side is constant, a bool s-op of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NoReturn, TypeAlias, TypeVar

from rasp.language.graph import (
    Const,
    Elementwise,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorOr,
    SOp,
    expression,
    formulas,
)
from rasp.language.graph.formulas import All, Comparison, Either, every, fold, some

Formula: TypeAlias = formulas.Formula[SOp]
Meaning = TypeVar("Meaning")


def formula_of(selector: Selector, simplify: Callable[[Comparison[SOp]], Formula]) -> Formula:
    """Write a selector (without select_best) as a formula; `simplify` knows what is constant."""
    return fold([selector], _Formulas(simplify))[selector]


@dataclass(frozen=True)
class _Formulas:
    """The algebra of formulas."""

    simplify: Callable[[Comparison[SOp]], Formula]

    def compare(self, keys: SOp, queries: SOp, outcomes: int) -> Formula:
        return self.simplify(Comparison(keys, queries, outcomes))

    def both(self, left: Formula, right: Formula) -> Formula:
        return every((left, right))

    def either(self, left: Formula, right: Formula) -> Formula:
        return some((left, right))

    def best(self, node: SelectBest, wanted: bool, picks: Formula, others: Formula) -> NoReturn:
        raise AssertionError(node)


def comparisons(formula: Formula) -> list[Comparison[SOp]]:
    """Every comparison in a formula."""
    return meaning_of(formula, lambda part: [] if isinstance(part, bool) else [part], add, add)


def sides(formula: Formula) -> list[SOp]:
    """Everything that a formula compares."""
    return [side for literal in comparisons(formula) for side in (literal.keys, literal.queries)]


def keys_and_queries(formula: Formula) -> tuple[list[SOp], list[SOp]]:
    """The different keys that a formula compares, and the queries."""
    literals = comparisons(formula)
    return (list(dict.fromkeys(literal.keys for literal in literals)),
            list(dict.fromkeys(literal.queries for literal in literals)))  # fmt: skip


def meaning_of(
    formula: Formula, leaf: Callable[[bool | Comparison[SOp]], Meaning],
    both: Callable[[Meaning, Meaning], Meaning], either: Callable[[Meaning, Meaning], Meaning],
) -> Meaning:  # fmt: skip
    """What a formula means, given the meaning of its comparisons, of `and` and of `or`."""
    if not isinstance(formula, (All, Either)):
        return leaf(formula)
    parts = [meaning_of(part, leaf, both, either) for part in in_stable_order(formula.parts)]
    return reduce(both if isinstance(formula, All) else either, parts)


def as_s_op(formula: Formula, comparison: Callable[[Comparison[SOp]], SOp]) -> SOp:
    """A formula for one key (or one query), as a bool s-op of the other side."""

    def leaf(part: bool | Comparison[SOp]) -> SOp:
        return Const(part) if isinstance(part, bool) else comparison(part)

    return meaning_of(formula, leaf, lambda left, right: Elementwise("and", (left, right)),
                  lambda left, right: Elementwise("or", (left, right)))  # fmt: skip


def as_selector(formula: Formula) -> Selector:
    """A formula as a selector of the program graph."""

    def leaf(part: bool | Comparison[SOp]) -> Selector:
        if isinstance(part, bool):
            return Select(Const(0), Const(0), "==" if part else "!=")
        return Select(part.keys, part.queries, part.op)

    return meaning_of(formula, leaf, SelectorAnd, SelectorOr)


def _stable(formula: Formula) -> str:
    """An order that does not depend on where objects lie in memory."""
    if isinstance(formula, Comparison):
        return f"{expression(formula.keys)} {formula.op} {expression(formula.queries)}"
    if isinstance(formula, (All, Either)):
        return f"{type(formula).__name__}({sorted(map(_stable, formula.parts))})"
    return str(formula)


def in_stable_order(formulas: Iterable[Formula]) -> list[Formula]:
    """Sort formulas by what they say, so that compiling twice gives the same weights."""
    return sorted(formulas, key=_stable)
