"""A selector in, a formula of comparisons out: the algebra of selectors that every reader shares.

`not` goes inward until it meets a comparison, where it is the other outcomes; what is left are
comparisons, `and` and `or`. `fold` does that for whoever brings the meaning of these three, and
a `Formula` is the result in words: `True`, `False`, a `Comparison`, or an `All` or `Either` of
formulas. In it, `and` and `or` forget their order, repetition and nesting, comparisons of the same
keys and queries are one (`<` or `==` is `<=`), and a part that says nothing new vanishes: so
formulas that are equal Python values pick the same pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from rasp.language.graph.nodes import (
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
)
from rasp.language.operators.comparisons import ANY, OUTCOMES, WITH_OUTCOMES

Side = TypeVar("Side", bound=Hashable)
Meaning = TypeVar("Meaning")
MOST_JOINED = 64
"""Parts of one `and` or `or` that are looked at together; a larger one counts as a whole."""


class Algebra(Protocol[Meaning]):
    """What comparisons, `and` and `or` mean to a reader of selectors."""

    def compare(self, keys: SOp, queries: SOp, outcomes: int) -> Meaning:
        """A key is picked where it compares with the query as one of the outcomes."""

    def both(self, left: Meaning, right: Meaning) -> Meaning:
        """`and`."""

    def either(self, left: Meaning, right: Meaning) -> Meaning:
        """`or`."""

    def best(self, node: SelectBest, wanted: bool, picks: Meaning, others: Meaning) -> Meaning:
        """What `select_best` keeps of `picks`, or where not `wanted`, all that it does not."""


def fold(selectors: Iterable[Selector], algebra: Algebra[Meaning]) -> dict[Selector, Meaning]:
    """Give each selector its meaning in an algebra; parts that are shared are looked at once."""
    selectors = list(selectors)
    meanings: dict[tuple[Selector, bool], Meaning] = {}
    for selector in selectors:
        stack = [(selector, True)]
        while stack:
            part = stack[-1]
            missing = [inner for inner in _parts(*part) if inner not in meanings]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            meanings[part] = _meaning(*part, meanings, algebra)
    return {selector: meanings[selector, True] for selector in selectors}


def _parts(selector: Selector, wanted: bool) -> list[tuple[Selector, bool]]:
    """The selectors inside one, each with whether it is meant as it is or negated."""
    match selector:
        case SelectorNot(inner):
            return [(inner, not wanted)]
        case SelectorAnd(left, right) | SelectorOr(left, right):
            return [(left, wanted), (right, wanted)]
        case SelectBest(inner):
            return [(inner, True), (inner, False)]
    return []


def _meaning(
    selector: Selector,
    wanted: bool,
    meanings: dict[tuple[Selector, bool], Meaning],
    algebra: Algebra[Meaning],
) -> Meaning:
    inner = [meanings[part] for part in _parts(selector, wanted)]
    match selector:
        case Select(keys, queries, op):
            return algebra.compare(keys, queries, OUTCOMES[op] if wanted else ANY ^ OUTCOMES[op])
        case SelectorNot():
            return inner[0]
        case SelectorAnd() | SelectorOr():
            is_and = isinstance(selector, SelectorAnd) == wanted
            return algebra.both(*inner) if is_and else algebra.either(*inner)
        case SelectBest():
            return algebra.best(selector, wanted, *inner)
    raise AssertionError(f"no meaning for {type(selector).__name__}")


@dataclass(frozen=True)
class Comparison(Generic[Side]):
    """`keys[j]` compares with `queries[i]` as one of some outcomes, neither none nor all."""

    keys: Side
    queries: Side
    outcomes: int

    @property
    def op(self) -> str:
        """The comparison as programs write it."""
        return WITH_OUTCOMES[self.outcomes]


@dataclass(frozen=True)
class All(Generic[Side]):
    """True where every part is; there are at least two."""

    parts: frozenset[Formula[Side]]


@dataclass(frozen=True)
class Either(Generic[Side]):
    """True where some part is; there are at least two."""

    parts: frozenset[Formula[Side]]


Formula: TypeAlias = bool | Comparison[Side] | All[Side] | Either[Side]


def compared(keys: Side, queries: Side, outcomes: int) -> Formula[Side]:
    """A comparison, or what is sure of it."""
    return Comparison(keys, queries, outcomes) if 0 < outcomes < ANY else outcomes == ANY


def every(parts: Iterable[Formula[Side]]) -> Formula[Side]:
    """The conjunction, in its simplest form."""
    return _joined(parts, is_and=True)


def some(parts: Iterable[Formula[Side]]) -> Formula[Side]:
    """The disjunction, in its simplest form."""
    return _joined(parts, is_and=False)


def _joined(parts: Iterable[Formula[Side]], is_and: bool) -> Formula[Side]:
    same, other = (All, Either) if is_and else (Either, All)
    outcomes: dict[tuple[Side, Side], int] = {}
    joined: set[Formula[Side]] = set()
    for part in parts:
        is_flat = isinstance(part, same) and len(part.parts) <= MOST_JOINED
        for member in part.parts if is_flat else (part,):  # type: ignore[union-attr]
            if isinstance(member, Comparison):
                sides = member.keys, member.queries
                before = outcomes.get(sides, member.outcomes)
                outcomes[sides] = before & member.outcomes if is_and else before | member.outcomes
            else:
                joined.add(member)
    joined |= {compared(*sides, holds) for sides, holds in outcomes.items()}
    joined.discard(is_and)
    if (not is_and) in joined:
        return not is_and
    joined = {part for part in joined
              if not (isinstance(part, other) and not joined.isdisjoint(part.parts))}  # fmt: skip
    if len(joined) > 1:
        return same(frozenset(joined))
    return next(iter(joined), is_and)


def conjuncts(formula: Formula[Side]) -> list[Formula[Side]]:
    """The parts that must all hold."""
    if formula is True:
        return []
    return list(formula.parts) if isinstance(formula, All) else [formula]


def rewritten(
    formula: Formula[Side], change: Callable[[Comparison[Side]], Formula[Side]]
) -> Formula[Side]:
    """Replace each comparison and simplify."""
    if isinstance(formula, Comparison):
        return change(formula)
    if isinstance(formula, (All, Either)):
        parts = [rewritten(part, change) for part in formula.parts]
        return _joined(parts, isinstance(formula, All))
    return formula
