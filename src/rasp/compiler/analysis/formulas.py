"""A selector in, a formula of comparisons out: `not` pushed inward, constants evaluated.

A formula is `True`, `False`, a `Literal`, or an `All`/`Any` of formulas; equal formulas are
equal Python values, whatever order the program wrote them in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import and_, or_
from typing import TypeAlias

from rasp.graph import (
    Const,
    Elementwise,
    Node,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    selectors_in,
)
from rasp.operators import OPPOSITE
from rasp.operators.comparisons import OUTCOMES, WITH_OUTCOMES


@dataclass(frozen=True)
class Literal:
    """`keys[j] op queries[i]`."""

    keys: SOp
    queries: SOp
    op: str


@dataclass(frozen=True)
class All:
    """True where every part is; there are at least two."""

    parts: frozenset[Formula]


@dataclass(frozen=True)
class Any:
    """True where some part is; there are at least two."""

    parts: frozenset[Formula]


Formula: TypeAlias = bool | Literal | All | Any


def formula_of(selector: Selector, simplify: Callable[[Literal], Formula]) -> Formula:
    """Write a selector (without select_best) as a formula; `simplify` knows what is constant."""
    known: dict[tuple[Node, bool], Formula] = {}
    for node in selectors_in(selector):
        for wanted in (True, False):
            match node:
                case Select(keys, queries, op):
                    literal = Literal(keys, queries, op if wanted else OPPOSITE[op])
                    known[node, wanted] = simplify(literal)
                case SelectorNot(inner):
                    known[node, wanted] = known[inner, not wanted]
                case SelectorAnd(left, right):
                    join = every if wanted else some
                    known[node, wanted] = join([known[left, wanted], known[right, wanted]])
                case SelectorOr(left, right):
                    join = some if wanted else every
                    known[node, wanted] = join([known[left, wanted], known[right, wanted]])
                case _:
                    raise AssertionError(node)
    return known[selector, True]


def every(parts: list[Formula]) -> Formula:
    """The conjunction, flattened."""
    flat: set[Formula] = set()
    for part in parts:
        if part is False:
            return False
        if part is not True:
            flat |= part.parts if isinstance(part, All) else {part}
    flat = _merged(flat, and_)
    return False if False in flat else _wrapped(flat, All, True)


def some(parts: list[Formula]) -> Formula:
    """The disjunction, flattened; a part that implies another one vanishes."""
    flat: set[Formula] = set()
    for part in parts:
        if part is True:
            return True
        if part is not False:
            flat |= part.parts if isinstance(part, Any) else {part}
    flat = _merged(flat, or_)
    if True in flat:
        return True
    covered = {
        part for part in flat
        if isinstance(part, All) and any(other in part.parts for other in flat)
    }  # fmt: skip
    return _wrapped(flat - covered, Any, False)


def _merged(parts: set[Formula], join: Callable[[int, int], int]) -> set[Formula]:
    """Write comparisons of the same keys and queries as one: `<` or `==` is `<=`."""
    outcomes: dict[tuple[SOp, SOp], int] = {}
    for part in parts:
        if isinstance(part, Literal):
            pair, holds = (part.keys, part.queries), OUTCOMES[part.op]
            outcomes[pair] = join(outcomes.get(pair, holds), holds)
    merged: set[Formula] = {part for part in parts if not isinstance(part, Literal)}
    for (keys, queries), holds in outcomes.items():
        op = WITH_OUTCOMES.get(holds)
        merged.add(bool(holds) if op is None else Literal(keys, queries, op))
    return merged


def _wrapped(flat: set[Formula], join: type[All] | type[Any], empty: bool) -> Formula:
    if not flat:
        return empty
    if len(flat) == 1:
        return next(iter(flat))
    return join(frozenset(flat))


def conjuncts(formula: Formula) -> list[Formula]:
    """The parts that must all hold."""
    if formula is True:
        return []
    return list(formula.parts) if isinstance(formula, All) else [formula]


def literals(formula: Formula) -> list[Literal]:
    """Every comparison in a formula."""
    if isinstance(formula, Literal):
        return [formula]
    if isinstance(formula, (All, Any)):
        return [each for part in in_stable_order(list(formula.parts)) for each in literals(part)]
    return []


def rewritten(formula: Formula, change: Callable[[Literal], Formula]) -> Formula:
    """Replace each comparison and simplify."""
    if isinstance(formula, Literal):
        return change(formula)
    if isinstance(formula, All):
        return every([rewritten(part, change) for part in formula.parts])
    if isinstance(formula, Any):
        return some([rewritten(part, change) for part in formula.parts])
    return formula


def at_the_key(formula: Formula, query_value: Callable[[Literal], Const]) -> SOp:
    """A formula whose queries are constant, as a bool s-op of the keys."""
    if isinstance(formula, bool):
        return Const(formula)
    if isinstance(formula, Literal):
        return Elementwise(formula.op, (formula.keys, query_value(formula)))
    parts = [at_the_key(part, query_value) for part in sorted(formula.parts, key=_stable)]
    joined = parts[0]
    for part in parts[1:]:
        joined = Elementwise("and" if isinstance(formula, All) else "or", (joined, part))
    return joined


def at_the_query(formula: Formula, key_value: Callable[[Literal], Const | None]) -> SOp | None:
    """A formula for one key, as a bool s-op of the queries; None where the key is not known."""
    if isinstance(formula, bool):
        return Const(formula)
    if isinstance(formula, Literal):
        key = key_value(formula)
        return None if key is None else Elementwise(formula.op, (key, formula.queries))
    joined: SOp | None = None
    for part in sorted(formula.parts, key=_stable):
        each = at_the_query(part, key_value)
        if each is None:
            return None
        op = "and" if isinstance(formula, All) else "or"
        joined = each if joined is None else Elementwise(op, (joined, each))
    return joined


def _stable(formula: Formula) -> str:
    """An order that does not depend on where objects lie in memory."""
    from rasp.graph import expression

    if isinstance(formula, Literal):
        return f"{expression(formula.keys)} {formula.op} {expression(formula.queries)}"
    if isinstance(formula, (All, Any)):
        return f"{type(formula).__name__}({sorted(map(_stable, formula.parts))})"
    return str(formula)


def in_stable_order(formulas: list[Formula]) -> list[Formula]:
    """Sort formulas by what they say, so that compiling twice gives the same weights."""
    return sorted(formulas, key=_stable)
