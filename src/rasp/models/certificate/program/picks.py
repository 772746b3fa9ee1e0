"""Selectors in; what is certain about what they pick out: by looking at every case, or at every
pair of indices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import (
    Aggregate,
    Indices,
    Node,
    Scorer,
    Select,
    Selector,
    SOp,
    is_everywhere,
    score_terms,
)
from rasp.models.certificate.claims import INDEX, TOKEN, HeadClaim, HeadOutputClaim, Refused
from rasp.models.certificate.program.cases import Cases, compared, comparisons, holds
from rasp.models.certificate.program.choices import ANY
from rasp.models.certificate.program.outputs import by_length
from rasp.models.certificate.program.ranks import is_rank
from rasp.models.certificate.program.tables import (
    Array,
    occurring,
    places_among,
    typed,
    variants_of,
)

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues

MOST_COMPARED = 20_000_000_000
"""How many pairs of indices are compared, for all selectors together: beyond that, indices decide
nothing.
"""

Side = object
"""What a side of a comparison is: an s-op, or an atom where it can hold no other."""


class Picks:
    """Facts about selectors."""

    def __init__(self, values: ProvedValues) -> None:
        self.values = values
        self._compared = 0
        self.atoms: Callable[[SOp, bool | None], list[Atom]] = cache(self._find_atoms)
        """What a node can hold at index 0, or elsewhere, or anywhere (None)."""
        self.side: Callable[[SOp, bool | None], Side] = cache(self._find_side)
        """The atom that it holds there, the weighted sum that it is, or itself."""
        self._is_everywhere = cache(lambda node: is_everywhere(node, self._is_one_atom))

    # -- cases ------------------------------------------------------------------------------------

    def _find_atoms(self, node: SOp, first: bool | None) -> list[Atom]:
        space, column = self.values.table(node)
        places = column.places
        if first is not None and INDEX in space.variables:
            row = space.row(INDEX)
            places = places[((row == 0) == first) | (row == ANY)]
        elif first is not None and TOKEN in space.variables and self.values.inputs.bos is not None:
            row = space.row(TOKEN)
            is_bos = row == len(self.values.inputs.vocabulary) - 1
            places = places[(is_bos == first) | (row == ANY)]
        elif first is False and self.values.inputs.max_length == 1:
            places = places[:0]
        atoms = [column.atoms[place] for place in occurring(places).tolist()]
        return [variant for atom in atoms for variant in variants_of(atom, column.kinds)]

    def _find_side(self, node: SOp, first: bool | None) -> Side:
        atoms = self.atoms(node, first)
        if len({typed(atom)[1] for atom in atoms}) == 1:
            return typed(atoms[0])
        is_number = not any(isinstance(atom, str) for atom in atoms)
        linear = self.values.linear(node) if is_number else None
        return node if linear is None else (linear.constant, frozenset(linear.parts.items()))

    def is_of_one_value(self, node: Select) -> bool:
        """Whether an s-op is compared with itself that is the same at all positions: a key's value
        and a query's are one value then, whatever it is.
        """
        return node.keys is node.queries and self._is_everywhere(node.keys)

    def _is_one_atom(self, node: SOp) -> bool:
        try:
            return len({*map(typed, self.atoms(node, None))}) == 1
        except Refused:
            return False

    # -- facts ------------------------------------------------------------------------------------

    def cases(self, nodes: Sequence[Selector]) -> Iterator[Cases]:
        """Every case of some selectors: of a key at index 0, and of others."""
        yield from (Cases(self, nodes, first) for first in (True, False))

    def are_equal(self, one: Sequence[Selector], other: Sequence[Selector]) -> bool:
        """Whether two lists of selectors, each joined by `and`, pick the same keys."""
        tables = self.by_index(one), self.by_index(other)
        if tables[0] is not None and tables[1] is not None:
            return bool((tables[0] == tables[1]).all())
        return all((cases.holds(*one) == cases.holds(*other)).all()
                   for cases in self.cases([*one, *other]))  # fmt: skip

    def are_disjoint(self, one: Sequence[Selector], other: Sequence[Selector]) -> bool:
        """Whether no key is picked by both."""
        both = [*one, *other]
        return not any(cases.holds(*both).any() for cases in self.cases(both))

    def by_index(self, selectors: Sequence[Selector]) -> Array | None:
        """(query, key): the selection, where the indices alone decide it."""
        selection = np.ones((self.values.inputs.max_length,) * 2, bool)
        try:
            for node in selectors:
                selection &= holds(node, self._compared_by_index)
        except Refused:
            return None
        return selection

    def _compared_by_index(self, node: Select) -> Array:
        atoms = []
        for side in (node.keys, node.queries):
            if set(self.values.over(side)) - {INDEX}:
                raise Refused("a comparison looks at more than the indices")
            atoms.append(self.values.by_state(side, INDEX))
        self._compared += self.values.inputs.max_length**2
        if self._compared > MOST_COMPARED:
            raise Refused("there are too many pairs of indices to compare")
        return compared(atoms[0], atoms[1], node.op)

    def _by_index_alone(self, selectors: Sequence[Selector]) -> Iterator[Array]:
        """The selections of those that the indices decide."""
        for node in selectors:
            selection = self.by_index([node])
            if selection is not None:
                yield selection

    def never_picks(self, selectors: Sequence[Selector]) -> Array:
        """(index,): where a query picks nothing, since some condition on the indices fails."""
        never = np.zeros(self.values.inputs.max_length, bool)
        for selection in self._by_index_alone(selectors):
            never |= ~selection.any(axis=1)
        return never

    def is_causal(self, selectors: Sequence[Selector]) -> bool:
        """Whether no query picks a key after it: some condition on the indices excludes that."""
        return any(not np.triu(picks, 1).any() for picks in self._by_index_alone(selectors))

    def never_empty(self, selectors: Sequence[Selector]) -> bool:
        """Whether every query picks some key: itself, index 0, one told by the indices, or one
        pointed at; or a promise says so.
        """
        return (
            self._picks_itself(selectors)
            or bool(Cases(self, selectors, True).holds(*selectors).all())
            or self._picks_by_index(selectors)
            or self.values.promise.bounds(selectors)[1] >= 1
            or (len(selectors) == 1 and self._points_inside(selectors[0]))
        )

    def _picks_itself(self, selectors: Sequence[Selector]) -> bool:
        """At the query's own position a comparison of an s-op with itself comes out equal."""
        own = [node for node in comparisons(selectors) if node.keys is node.queries]
        cases = Cases(self, selectors, None, at_itself=True)
        return bool(own) and cases.count > 0 and bool(cases.holds(*selectors).all())

    def _picks_by_index(self, selectors: Sequence[Selector]) -> bool:
        picks = self.by_index(selectors)
        return picks is not None and bool(np.tril(picks).any(axis=1).all())

    def _points_inside(self, node: Node) -> bool:
        """`select(indices, q, ==)`, q a whole number from 0 to below the length, whatever it is.

        q is a function of the index and of outputs that the length decides: looked at for every
        index and every length above it.
        """
        if not isinstance(node, Select) or not isinstance(node.keys, Indices) or node.op != "==":
            return False
        values, most = self.values, self.values.inputs.max_length
        grounds = values.grounds(values.over(node.queries)) - {INDEX}
        decided = {ground: totals for ground in sorted(grounds)
                   if (totals := by_length(values, ground)) is not None}  # fmt: skip
        if len(decided) < len(grounds):
            return False
        try:
            space = values.space((INDEX, *decided))
            column = values.column(node.queries, space)
        except Refused:
            return False
        index, last = np.triu_indices(most)  # every index, with each one that may be the last
        rows = [index]
        for ground, totals in decided.items():
            states = {typed(atom): state for state, atom in enumerate(values.domain(ground).atoms)}
            rows.append(np.array([states[typed(atom)] for atom in totals])[last])
        places = places_among(rows, space.grid, values.sizes(space.variables))
        indices = {*range(most)}
        numbers = [int(atom) if atom in indices else -1 for atom in column.atoms]  # type: ignore[arg-type]
        query = np.array(numbers)[column.places[places[places >= 0]]]  # elsewhere no input is
        last = last[places >= 0]
        return bool(((query >= 0) & (query <= last)).all())

    def is_injective(self, keys: SOp) -> bool:
        """Whether no two positions hold the same: a function of the index, all values different; or
        a rank in a strict order of the positions (see `orders`).
        """
        if self.values.over(keys) != (INDEX,):
            return is_rank(self.values, keys)
        column = self.values.column(keys, self.values.space((INDEX,)))
        atoms = column.in_order()
        return None not in atoms and len(set(atoms)) == len(atoms)

    def picks_one(self, head: HeadClaim) -> bool:
        """Whether no query picks two keys: there is one alone, or their values, or their scores,
        are all different, or a promise says so.
        """
        if self.values.inputs.max_length == 1:
            return True
        if head.best is not None and self._tells_apart(head.best, Indices()):
            return True
        selectors = head.selectors
        if any(isinstance(node, Select) and node.op == "==" and self.is_injective(node.keys)
               for node in selectors):  # fmt: skip
            return True
        most, _ = self.values.promise.bounds(selectors)
        return most is not None and most <= 1

    def _tells_apart(self, best: Scorer, values: SOp) -> bool:
        """Whether keys that tie, for some query, are sure to hold the same value: they are scored
        by one product, and no query makes that 0.
        """
        if len(score_terms(best)) != 1:
            return False
        (term,) = score_terms(best)
        is_decided = term.keys is values or (
            isinstance(values, Indices) and self.is_injective(term.keys)
        )
        return is_decided and all(self.atoms(term.queries, None))

    def picks_one_value(self, head: HeadClaim, output: HeadOutputClaim) -> bool:
        """Whether all that a query picks sends one number, or else the program fails.

        Keys that hold one value may send different counts in its place.
        """
        atoms = self.atoms(output.values, None)
        if self.picks_one(head):
            return True
        if output.carrier is not None:
            return all(isinstance(atom, bool) for atom in atoms) and self.fails_for_several(
                head, output
            )
        if len(set(atoms)) < 2:
            return True
        if head.best is not None and self._tells_apart(head.best, output.values):
            return True
        if any(isinstance(node, Select) and node.op == "==" and node.keys is output.values
               for node in head.selectors):  # fmt: skip
            return True
        numbers = {atom for atom in atoms if not isinstance(atom, (bool, str))}
        is_mixed = len(numbers) < len(set(atoms))
        return len(numbers) < 2 and is_mixed and self.fails_for_several(head, output)

    def fails_for_several(self, head: HeadClaim, output: HeadOutputClaim) -> bool:
        """Whether the program fails where several bools or strings are picked, which have no mean:
        an aggregate of its own averages what this head does.
        """
        return any(self.averaging(head, output))

    def averaging(self, head: HeadClaim, output: HeadOutputClaim) -> Iterator[Aggregate]:
        """The program's aggregates that are said to average what a head does."""
        mine = head.selectors, head.best, output.values
        for node, meaning in self.values.claims.aggregates.items():
            if meaning.rule in ("mean", "positive"):
                other = self.values.claims.head_of(meaning.outputs[0])
                if (other.selectors, other.best, node.values) == mine:
                    yield node
