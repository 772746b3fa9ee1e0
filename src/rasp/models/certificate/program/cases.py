"""Selectors in; every case that a pair of a query and a key can be in, out.

A comparison of a key's value with a query's has four outcomes: below, equal, above, or of another
kind. A selector is a formula over such outcomes, so two selectors are the same where they agree
in every case; the key at index 0 is looked at by itself. Which outcomes are possible follows from
the atoms that both sides can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import (
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
from rasp.language.operators import COMPARE
from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.orders import ABOVE, BELOW, EQUAL
from rasp.models.certificate.program.tables import Array

if TYPE_CHECKING:
    from rasp.models.certificate.program.picks import Picks

APART = 8
HOLDS = {
    "==": EQUAL, "!=": BELOW | ABOVE | APART, "<": BELOW, "<=": BELOW | EQUAL, ">": ABOVE,
    ">=": ABOVE | EQUAL,
}  # fmt: skip
MOST_CASES = 100_000
MOST_PAIRS = 1_000_000


def holds(node: Selector, comparison: Callable[[Select], Any]) -> Any:
    """Whether a selector holds, given that of each of its comparisons: a bool, or an array."""
    truth: dict[Node, Any] = {}
    for part in selectors_in(node):
        match part:
            case Select():
                truth[part] = comparison(part)
            case SelectorNot(inner):
                truth[part] = truth[inner] ^ True
            case SelectorAnd(left, right):
                truth[part] = truth[left] & truth[right]
            case SelectorOr(left, right):
                truth[part] = truth[left] | truth[right]
            case _:
                raise Refused("a selector is not made of comparisons")
    return truth[node]


def comparisons(nodes: Sequence[Selector]) -> list[Select]:
    """Every comparison in some selectors, once."""
    parts = dict.fromkeys(part for node in nodes for part in selectors_in(node))
    return [part for part in parts if isinstance(part, Select)]


def compared(keys: Sequence[Atom | None], queries: Sequence[Atom | None], op: str) -> Array:
    """(query, key): a comparison of every key with every query; None matches nothing, and a string
    is neither below nor above a number.

    >>> compared([1, 2, ""], [2], "<").tolist()
    [[True, False, False]]
    """
    order = sorted(
        {(isinstance(atom, str), atom) for atom in (*keys, *queries) if atom is not None}
    )
    rank = {key: place for place, key in enumerate(order)}
    left, right = (np.array([-1 if atom is None else rank[isinstance(atom, str), atom]
                             for atom in atoms], int) for atoms in (keys, queries))  # fmt: skip
    one, other = left[None, :], right[:, None]
    table = COMPARE[op](one, other)
    texts = len([is_text for is_text, _ in order if not is_text])
    if op not in ("==", "!=") and 0 < texts < len(order):
        table = table & ((one < texts) == (other < texts))
    return np.asarray(table & (one >= 0) & (other >= 0))


def outcomes(keys: Sequence[Atom], queries: Sequence[Atom]) -> int:
    """What a comparison of one of these with one of those can come to."""
    if len(keys) * len(queries) > MOST_PAIRS:
        return BELOW | EQUAL | ABOVE | APART
    possible = 0
    for is_text in (False, True):
        ones: list[Any] = [atom for atom in keys if isinstance(atom, str) == is_text]
        others: list[Any] = [atom for atom in queries if isinstance(atom, str) == is_text]
        if ones and others:
            possible |= BELOW * (min(ones) < max(others)) | ABOVE * (max(ones) > min(others))
            possible |= EQUAL * bool(set(ones) & set(others))
        if ones and len(others) < len(queries):
            possible |= APART
    return possible


class Cases:
    """All cases of the comparisons in some selectors, with keys at index 0, elsewhere, or both."""

    def __init__(
        self, picks: Picks, nodes: Sequence[Selector], first: bool | None, at_itself: bool = False
    ) -> None:
        """`at_itself`: the key is the query, so that an s-op is equal to itself."""
        self.picks, self.first = picks, first
        allowed: dict[object, int] = {}
        for node in comparisons(nodes):
            if picks.is_of_one_value(node) or (at_itself and node.keys is node.queries):
                possible = EQUAL
            else:
                possible = outcomes(picks.atoms(node.keys, first), picks.atoms(node.queries, None))
            allowed[self._pair(node)] = allowed.get(self._pair(node), 15) & possible
        lists = [[bit for bit in (BELOW, EQUAL, ABOVE, APART) if bit & bits]
                 for bits in allowed.values()]  # fmt: skip
        sizes = [len(bits) for bits in lists]
        self.count = int(np.prod(sizes, dtype=object)) if sizes else 1
        if self.count > MOST_CASES:
            raise Refused("a selector has too many cases to check")
        grid = np.indices(sizes).reshape(len(sizes), self.count)
        self.outcome = {pair: np.array(bits, int)[row]
                        for pair, bits, row in zip(allowed, lists, grid, strict=True)}  # fmt: skip

    def _pair(self, node: Select) -> tuple[object, object]:
        if self.picks.is_of_one_value(node):
            return node.keys, node.queries
        return self.picks.side(node.keys, self.first), self.picks.side(node.queries, None)

    def holds(self, *nodes: Selector) -> Array:
        """(case,): whether all of some selectors hold."""
        truth = np.ones(self.count, bool)
        for node in nodes:
            truth &= holds(node, lambda one: self.outcome[self._pair(one)] & HOLDS[one.op] > 0)
        return truth


def as_selector(picks: Picks, condition: SOp, at_key: bool) -> Selector:
    """A condition on keys alone, or queries alone, as a selector with the other side fixed."""

    @cache  # a part may be shared many times
    def of(part: SOp) -> Selector:
        match part:
            case Const(bool() as value):
                return Select(Const(0), Const(0), "==" if value else "!=")
            case Elementwise(op, (left, right)) if op in HOLDS:
                if len(picks.atoms(right if at_key else left, None)) != 1:
                    raise Refused("a condition looks at more than keys alone, or queries alone")
                return Select(left, right, op)
            case Elementwise("and", (one, other)):
                return SelectorAnd(of(one), of(other))
            case Elementwise("or", (one, other)):
                return SelectorOr(of(one), of(other))
            case Elementwise("not", (one,)):
                return SelectorNot(of(one))
        raise Refused("a condition is not made of comparisons")

    return of(condition)


def weighed(picks: Picks, node: SOp, base: SOp) -> tuple[list[Selector], Fraction]:
    """A value as a multiple of the base where its key meets some conditions, and 0 elsewhere.

    A base that is a constant counts as that number, any other as 1.
    """
    conditions = []
    while node is not base and not isinstance(node, Const):
        match node:
            case Elementwise("indicator", (condition,)):
                node = Const(1)
            case Elementwise("if", (condition, inner, Const(0))):
                node = inner
            case _:
                raise Refused("a value of a sum is not the program's, nor that under a condition")
        conditions.append(as_selector(picks, condition, at_key=True))
    if not isinstance(node, Const):
        return conditions, Fraction(1)
    if isinstance(node.value, str) or (node.value and not isinstance(base, Const)):
        raise Refused("a sum counts something else than keys")
    return conditions, Fraction(node.value)
