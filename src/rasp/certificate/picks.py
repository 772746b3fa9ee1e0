"""Selectors in; what is certain about what they pick out, by looking at every case.

A comparison of a key's value with a query's has four outcomes: below, equal, above, or of another
kind. A selector is a formula over such outcomes, so two selectors are the same where they agree
in every case; the key at index 0 is looked at by itself. Which outcomes are possible follows from
the atoms that both sides can hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from rasp.atoms import Atom
from rasp.certificate.choices import ANY
from rasp.certificate.claims import INDEX, TOKEN, HeadClaim, HeadOutput, Refused
from rasp.certificate.tables import Array, joint_places, typed, variants_of
from rasp.graph import (
    Const,
    Elementwise,
    Indices,
    Node,
    Scorer,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    score_terms,
)

if TYPE_CHECKING:
    from rasp.certificate.values import Values

HOLDS = {"==": "=", "!=": "<>!", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
MOST_CASES = 100_000
MOST_PAIRS = 1_000_000
Side = object
"""What a side of a comparison is: an s-op, or an atom where it can hold no other."""
Case = dict[tuple[Side, Side], str]


class Picks:
    """Facts about selectors."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self._atoms: dict[tuple[Node, bool | None], list[Atom]] = {}
        self._sides: dict[tuple[Node, bool | None], Side] = {}

    # -- cases ------------------------------------------------------------------------------------

    def atoms(self, node: SOp, first: bool | None) -> list[Atom]:
        """What a node can hold at index 0, or elsewhere, or anywhere (None)."""
        if (node, first) not in self._atoms:
            self._atoms[node, first] = self._find_atoms(node, first)
        return self._atoms[node, first]

    def _find_atoms(self, node: SOp, first: bool | None) -> list[Atom]:
        space, column = self.values.table(node)
        places = column.places
        if first is not None and INDEX in space.variables:
            row = space.grid[space.variables.index(INDEX)]
            places = places[((row == 0) == first) | (row == ANY)]
        elif first is not None and TOKEN in space.variables and self.values.inputs.bos is not None:
            row = space.grid[space.variables.index(TOKEN)]
            is_bos = row == len(self.values.inputs.vocabulary) - 1
            places = places[(is_bos == first) | (row == ANY)]
        elif first is False and self.values.inputs.max_length == 1:
            places = places[:0]
        found = [column.atoms[place] for place in np.unique(places).tolist()]
        return [variant for atom in found if atom is not None
                for variant in variants_of(atom, column.kinds)]  # fmt: skip

    def side(self, node: SOp, first: bool | None) -> Side:
        if (node, first) not in self._sides:
            self._sides[node, first] = self._find_side(node, first)
        return self._sides[node, first]

    def _find_side(self, node: SOp, first: bool | None) -> Side:
        """The atom that a node holds, the weighted sum that it is, or itself."""
        known = self.atoms(node, first)
        if len({typed(atom)[1] for atom in known}) == 1:
            return typed(known[0])
        is_number = not any(isinstance(atom, str) for atom in known)
        linear = self.values.linear(node) if is_number else None
        return node if linear is None else (linear.constant, frozenset(linear.parts.items()))

    def outcomes(self, keys: SOp, queries: SOp, first: bool | None) -> str:
        left, right = self.atoms(keys, first), self.atoms(queries, None)
        if len(left) * len(right) > MOST_PAIRS:
            return "<=>!"
        if not left or not right:
            return ""
        found: set[str] = set()
        numbers: list[list[Any]]
        numbers = [[atom for atom in atoms if not isinstance(atom, str)] for atoms in (left, right)]
        texts: list[list[Any]]
        texts = [[atom for atom in atoms if isinstance(atom, str)] for atoms in (left, right)]
        for ones, others in (numbers, texts):
            if ones and others:
                if min(ones) < max(others):
                    found.add("<")
                if max(ones) > min(others):
                    found.add(">")
                if set(ones) & set(others):
                    found.add("=")
        if (numbers[0] and texts[1]) or (texts[0] and numbers[1]):
            found.add("!")
        return "".join(sorted(found))

    def cases(self, nodes: Sequence[Node], first: bool | None) -> Iterator[Case]:
        """Every case of the comparisons in some selectors."""
        allowed: dict[tuple[Side, Side], set[str]] = {}
        for keys, queries in _comparisons(nodes):
            pair = self.side(keys, first), self.side(queries, None)
            found = set(self.outcomes(keys, queries, first))
            allowed[pair] = allowed[pair] & found if pair in allowed else found
        total = 1
        for outcomes in allowed.values():
            total *= len(outcomes)
        if total > MOST_CASES:
            raise Refused("a selector has too many cases to be looked at")
        for outcome in product(*map(sorted, allowed.values())):
            yield dict(zip(allowed, outcome, strict=True))

    def holds(self, node: Node, case: Case, first: bool | None) -> bool:
        """Whether a selector holds in a case."""
        match node:
            case Select(keys, queries, op):
                return case[self.side(keys, first), self.side(queries, None)] in HOLDS[op]
            case SelectorAnd(left, right):
                return self.holds(left, case, first) and self.holds(right, case, first)
            case SelectorOr(left, right):
                return self.holds(left, case, first) or self.holds(right, case, first)
            case SelectorNot(inner):
                return not self.holds(inner, case, first)
        raise Refused("a selector is not made of comparisons")

    def as_selector(self, condition: SOp, at_key: bool) -> Selector:
        """A condition on keys alone, or queries alone, as a selector with the other side fixed."""
        match condition:
            case Const(bool() as value):
                return Select(Const(0), Const(0), "==" if value else "!=")
            case Elementwise(op, (left, right)) if op in HOLDS:
                fixed = right if at_key else left
                if len(self.atoms(fixed, None)) != 1:
                    raise Refused("a condition looks at more than keys alone, or queries alone")
                return Select(left, right, op)
            case Elementwise("and", (one, other)):
                return SelectorAnd(self.as_selector(one, at_key), self.as_selector(other, at_key))
            case Elementwise("or", (one, other)):
                return SelectorOr(self.as_selector(one, at_key), self.as_selector(other, at_key))
            case Elementwise("not", (one,)):
                return SelectorNot(self.as_selector(one, at_key))
        raise Refused("a condition is not made of comparisons")

    def weighed(self, node: SOp, base: SOp) -> list[tuple[Selector | None, SOp]]:
        """A value as the base, or 0, by conditions on its key: what must hold, and what it is then.

        The list has one entry where a value is not `x if condition else 0` or an indicator.
        """
        if node is base or isinstance(node, Const):
            return [(None, node)]
        match node:
            case Elementwise("indicator", (condition,)):
                return [(self.as_selector(condition, True), Const(1))]
            case Elementwise("if", (condition, inner, Const(0))):
                return [(self.as_selector(condition, True), inner), *self.weighed(inner, base)]
        raise Refused("a value of a sum is not the program's, nor that under a condition")

    def worth(self, node: SOp, base: SOp, case: Case, first: bool) -> object:
        """What a value is in a case: the base, or a number."""
        for condition, inner in self.weighed(node, base):
            if condition is not None and not self.holds(condition, case, first):
                return Fraction(0)
            node = inner
        if isinstance(node, Const) and not isinstance(node.value, str):
            return Fraction(node.value)
        return node

    # -- facts ------------------------------------------------------------------------------------

    def are_equal(self, one: Sequence[Selector], other: Sequence[Selector]) -> bool:
        """Whether two lists of selectors, each joined by `and`, pick the same keys."""
        tables = self.by_index(one), self.by_index(other)
        if tables[0] is not None and tables[1] is not None:
            return bool((tables[0] == tables[1]).all())
        nodes = [*one, *other]
        return all(
            all(self.holds(node, case, first) for node in one)
            == all(self.holds(node, case, first) for node in other)
            for first in (True, False)
            for case in self.cases(nodes, first)
        )

    def are_disjoint(self, one: Sequence[Selector], other: Sequence[Selector]) -> bool:
        """Whether no key is picked by both."""
        nodes = [*one, *other]
        return not any(
            all(self.holds(node, case, first) for node in nodes)
            for first in (True, False)
            for case in self.cases(nodes, first)
        )

    def by_index(self, selectors: Sequence[Node]) -> Array | None:
        """(query, key): the selection, where the indices alone decide it."""
        size = self.values.inputs.max_length
        found = np.ones((size, size), bool)
        for node in selectors:
            picks = self._by_index(node)
            if picks is None:
                return None
            found &= picks
        return found

    def _by_index(self, node: Node) -> Array | None:
        match node:
            case Select(keys, queries, op):
                columns = []
                for side in (keys, queries):
                    if set(self.values.over(side)) - {INDEX}:
                        return None
                    columns.append(self.values.column(side, self.values.space((INDEX,))))
                table = compared(columns[0].atoms, columns[1].atoms, op)
                return np.asarray(table[np.ix_(columns[1].places, columns[0].places)])
            case SelectorNot(inner):
                found = self._by_index(inner)
                return None if found is None else np.asarray(~found)
            case SelectorAnd(left, right) | SelectorOr(left, right):
                one, other = self._by_index(left), self._by_index(right)
                if one is None or other is None:
                    return None
                both = one & other if isinstance(node, SelectorAnd) else one | other
                return np.asarray(both)
        return None

    def silent(self, selectors: Sequence[Selector]) -> Array:
        """(index,): where a query picks nothing, since some condition on the indices fails."""
        found = np.zeros(self.values.inputs.max_length, bool)
        for node in selectors:
            picks = self._by_index(node)
            if picks is not None:
                found |= ~picks.any(axis=1)
        return found

    def is_causal(self, selectors: Sequence[Selector]) -> bool:
        """Whether no query picks a key after it: some condition on the indices excludes that."""
        for node in selectors:
            picks = self._by_index(node)
            if picks is not None and not np.triu(picks, 1).any():
                return True
        return False

    def never_empty(self, selectors: Sequence[Selector]) -> bool:
        """Whether every query picks some key: itself, index 0, one told by the indices, or one
        pointed at; or a promise says so.
        """
        return (
            self._picks_itself(selectors)
            or all(all(self.holds(node, case, True) for node in selectors)
                   for case in self.cases(selectors, True))
            or self._picks_by_index(selectors)
            or self.values.promise.bounds(selectors)[1] >= 1
            or (len(selectors) == 1 and self._points_inside(selectors[0]))
        )  # fmt: skip

    def _picks_itself(self, selectors: Sequence[Selector]) -> bool:
        """At the query's own position a comparison of an s-op with itself comes out equal."""
        own = {(self.side(keys, None), self.side(queries, None))
               for keys, queries in _comparisons(selectors) if keys is queries}  # fmt: skip
        return bool(own) and all(
            all(self.holds(node, case | dict.fromkeys(own, "="), None) for node in selectors)
            for case in self.cases(selectors, None)
        )

    def _picks_by_index(self, selectors: Sequence[Selector]) -> bool:
        picks = self.by_index(selectors)
        return picks is not None and bool(np.tril(picks).any(axis=1).all())

    def _points_inside(self, node: Node) -> bool:
        """`select(indices, q, ==)`, q a whole number from 0 to below the length, whatever it is.

        q is a function of the index plus a multiple of the length: looked at for every index and
        every length above it.
        """
        if not isinstance(node, Select) or not isinstance(node.keys, Indices) or node.op != "==":
            return False
        linear = self.values.linear(node.queries)
        if linear is None:
            return self._points_inside_by_table(node.queries)
        lengths = {part: weight for part, weight in linear.parts.items() if part[0] == "out"}
        if any(part[0] == "tok" for part in linear.parts):
            return False
        if not all(self.values.is_length(place) for _, place in lengths):
            return False
        weight = sum(lengths.values(), Fraction(0))
        size = self.values.inputs.max_length
        for place in range(size):
            base = linear.constant + linear.parts.get(("idx", place), Fraction(0))
            for length in {place + 1, min(place + 2, size), size}:  # it is linear in between
                query = base + weight * length
                if query.denominator != 1 or not 0 <= query < length:
                    return False
        return True

    def _points_inside_by_table(self, queries: SOp) -> bool:
        """The same, where the index and one output that the length decides tell the query."""
        space, column = self.values.table(queries)
        found = [(variable, known) for variable in space.variables if variable > INDEX
                 and (known := self.values.by_length(variable)) is not None]  # fmt: skip
        if len(found) != 1 or {*space.variables} - {INDEX, found[0][0]}:
            return False
        ((variable, known),) = found
        lengths: dict[object, list[int]] = {}
        for length, atom in enumerate(known, 1):
            lengths.setdefault(typed(atom), []).append(length)
        of_state = [lengths[typed(atom)] for atom in self.values.domain(variable).atoms]
        index = np.zeros(space.size, int)
        if INDEX in space.variables:
            index = space.grid[space.variables.index(INDEX)]
        states = space.grid[space.variables.index(variable)]
        for place, state, asked in zip(index.tolist(), states.tolist(), column.places.tolist(),
                                       strict=True):  # fmt: skip
            query = column.atoms[asked]
            if query is None or isinstance(query, str) or Fraction(query).denominator != 1:
                return False
            if any(length > place and not 0 <= query < length for length in of_state[state]):
                return False
        return True

    def is_injective(self, keys: SOp) -> bool:
        """Whether no two positions hold the same: a function of the index, all values different."""
        if self.values.over(keys) != (INDEX,):
            return False
        column = self.values.column(keys, self.values.space((INDEX,)))
        atoms = [column.atoms[place] for place in column.places.tolist()]
        return None not in atoms and len(set(atoms)) == len(atoms)

    def picks_one(self, head: HeadClaim) -> bool:
        """Whether no query picks two keys: their values, or their scores, are all different, or
        a promise says so.
        """
        if head.best is not None and self._tells_apart(head.best, Indices()):
            return True
        selectors = [conjunct.selector for conjunct in head.conjuncts]
        if any(isinstance(node, Select) and node.op == "==" and self.is_injective(node.keys)
               for node in selectors):  # fmt: skip
            return True
        most, _ = self.values.promise.bounds(selectors)
        return most is not None and most <= 1

    def _tells_apart(self, best: Scorer, values: SOp) -> bool:
        """Whether keys that tie, for some query, are sure to hold the same value."""
        terms = score_terms(best)
        if len(terms) == 1:
            (term,) = terms
            never_zero = all(self.atoms(term.queries, None))
            known = term.keys is values or (
                isinstance(values, Indices) and self.is_injective(term.keys)
            )
            return never_zero and known
        try:
            asked = self._together([term.queries for term in terms])
            sent = self._together([*(term.keys for term in terms), values])
        except Refused:
            return False
        if len(asked) * len(sent) > MOST_PAIRS:
            return False
        for query in asked:
            holders: dict[Fraction, Fraction] = {}
            for *sides, value in sent:
                score = sum(
                    (one * other for one, other in zip(sides, query, strict=True)), Fraction(0)
                )
                if holders.setdefault(score, value) != value:
                    return False
        return True

    def _together(self, nodes: Sequence[SOp]) -> list[tuple[Fraction, ...]]:
        """The numbers that several s-ops hold at once."""
        space = self.values.space(
            [variable for node in nodes for variable in self.values.over(node)]
        )
        columns = [self.values.column(node, space) for node in nodes]
        _, rows = joint_places([(column.places, len(column.atoms)) for column in columns])
        found = []
        for row in rows:
            atoms = [column.atoms[place] for column, place in zip(columns, row, strict=True)]
            if any(isinstance(atom, str) for atom in atoms):
                raise Refused("a score of strings")
            if None not in atoms:
                found.append(tuple(Fraction(atom) for atom in atoms))  # type: ignore[arg-type]
        return found

    def picks_one_value(self, head: HeadClaim, output: HeadOutput) -> bool:
        """Whether all that a query picks holds one value, or else the program fails.

        Bools and strings have no mean: several of them picked at once are an error.
        """
        atoms = self.atoms(output.values, None)
        numbers = {atom for atom in atoms if not isinstance(atom, (bool, str))}
        if self.picks_one(head) or (len(numbers) < 2 and len(numbers) < len(set(atoms))):
            return True
        if len(set(atoms)) < 2:
            return True
        if head.best is not None and self._tells_apart(head.best, output.values):
            return True
        return any(
            isinstance(node, Select) and node.op == "==" and node.keys is output.values
            for node in (conjunct.selector for conjunct in head.conjuncts)
        )


def compared(keys: Sequence[Atom | None], queries: Sequence[Atom | None], op: str) -> Array:
    """(query, key): a comparison of every key with every query; None matches nothing.

    >>> compared([1, 2], [2], "<").tolist()
    [[True, False]]
    """
    order = sorted(
        {(isinstance(atom, str), atom) for atom in (*keys, *queries) if atom is not None}
    )
    rank = {key: place for place, key in enumerate(order)}
    left, right = (np.array([-1 if atom is None else rank[isinstance(atom, str), atom]
                             for atom in atoms], int) for atoms in (keys, queries))  # fmt: skip
    one, other = left[None, :], right[:, None]
    found = {"==": one == other, "!=": one != other, "<": one < other,
             "<=": one <= other, ">": one > other, ">=": one >= other}[op]  # fmt: skip
    return np.asarray(found & (one >= 0) & (other >= 0))


def _comparisons(nodes: Sequence[Node]) -> Iterator[tuple[SOp, SOp]]:
    """The sides of every comparison in some selectors."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Select):
            yield node.keys, node.queries
        else:
            waiting += node.needs
