"""Selectors as formulas of comparisons of s-ops (see `rasp.graph.formulas`), and what they become.

A formula whose queries (or keys) are constant is a bool s-op of its keys (or queries).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from rasp.graph import (
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
from rasp.graph.formulas import All, Comparison, Either, every, fold, some

Formula: TypeAlias = formulas.Formula[SOp]


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
    if isinstance(formula, Comparison):
        return [formula]
    if isinstance(formula, (All, Either)):
        return [one for part in in_stable_order(list(formula.parts)) for one in comparisons(part)]
    return []


def at_the_key(formula: Formula, query_value: Callable[[Comparison[SOp]], Const]) -> SOp:
    """A formula whose queries are constant, as a bool s-op of the keys."""
    if isinstance(formula, bool):
        return Const(formula)
    if isinstance(formula, Comparison):
        return Elementwise(formula.op, (formula.keys, query_value(formula)))
    parts = [at_the_key(part, query_value) for part in sorted(formula.parts, key=_stable)]
    joined = parts[0]
    for part in parts[1:]:
        joined = Elementwise("and" if isinstance(formula, All) else "or", (joined, part))
    return joined


def at_the_query(
    formula: Formula, key_value: Callable[[Comparison[SOp]], Const | None]
) -> SOp | None:
    """A formula for one key, as a bool s-op of the queries; None where the key is not known."""
    if isinstance(formula, bool):
        return Const(formula)
    if isinstance(formula, Comparison):
        key = key_value(formula)
        return None if key is None else Elementwise(formula.op, (key, formula.queries))
    joined: SOp | None = None
    for part in sorted(formula.parts, key=_stable):
        truth = at_the_query(part, key_value)
        if truth is None:
            return None
        op = "and" if isinstance(formula, All) else "or"
        joined = truth if joined is None else Elementwise(op, (joined, truth))
    return joined


def _stable(formula: Formula) -> str:
    """An order that does not depend on where objects lie in memory."""
    if isinstance(formula, Comparison):
        return f"{expression(formula.keys)} {formula.op} {expression(formula.queries)}"
    if isinstance(formula, (All, Either)):
        return f"{type(formula).__name__}({sorted(map(_stable, formula.parts))})"
    return str(formula)


def in_stable_order(formulas: list[Formula]) -> list[Formula]:
    """Sort formulas by what they say, so that compiling twice gives the same weights."""
    return sorted(formulas, key=_stable)


def as_selector(formula: Formula) -> Selector:
    """A formula as a selector of the program graph."""
    if isinstance(formula, bool):
        return Select(Const(0), Const(0), "==" if formula else "!=")
    if isinstance(formula, Comparison):
        return Select(formula.keys, formula.queries, formula.op)
    first, *others = [as_selector(part) for part in in_stable_order(list(formula.parts))]
    join = SelectorAnd if isinstance(formula, All) else SelectorOr
    for other in others:
        first = join(first, other)
    return first
