"""What variables can be together: relations of a program, each true of every input in question.

They come from what tokens and indices are (`ground`), what heads give (`together`), the values of
s-ops, a promise (`kept`), and joins. Each rests on relations that are complete already.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from time import monotonic

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import SOp
from rasp.models.certificate.claims import INDEX, TOKEN, Claims, Inputs, Refused
from rasp.models.checker.aggregated import given_of, together
from rasp.models.checker.claimed_variables import ClaimedVariables, Once
from rasp.models.checker.node_parts import aggregates_in, conditions_of
from rasp.models.checker.relations import (
    LENGTH,
    Array,
    CheckBudget,
    ColumnOfAtoms,
    Name,
    Relation,
    TooMuch,
    free,
)
from rasp.models.checker.unique_keys import is_single


class ProgramSpaces(ClaimedVariables, ABC):
    """All that variables can be together, or more."""

    def __init__(
        self, claims: Claims, inputs: Inputs, budget: CheckBudget,
        plain: ProgramSpaces | None = None,
    ) -> None:  # fmt: skip
        """`plain` are the same without the promise about inputs, by which that is read."""
        super().__init__(claims, inputs, plain)
        self.budget, self.plain, self.end = budget, plain, monotonic() + budget.seconds
        self.partial = False
        """Whether the program may fail somewhere."""
        where = None if plain is None else inputs.where
        self.conditions = [] if where is None else conditions_of(where)
        self._places: dict[tuple[int, int], tuple[Relation, Relation, Array]] = {}
        self.space_of, self.domain = Once(self._space), Once(self._domain)
        self.fact, self.output_rows = Once(self._fact), Once(self._output_rows)
        self.is_single: Once[bool] = Once(lambda pick: is_single(self, pick))

    @abstractmethod
    def column(self, node: SOp, space: Relation) -> ColumnOfAtoms:
        """An s-op on a relation; refused where it is not a function of the variables."""

    @abstractmethod
    def evaluated_on(
        self, node: SOp, whole: Relation, known: dict[SOp, Array], stops: dict[SOp, Name]
    ) -> ColumnOfAtoms:
        """An s-op on rows of what it is made of."""

    @abstractmethod
    def is_own(self, name: Name) -> bool:
        """Whether the program itself averages what a head does: it fails where there is no mean."""

    def spend(self) -> None:
        """Refuse where the time is up."""
        if monotonic() > self.end:
            raise TooMuch("seconds", f"it takes more than {self.budget.seconds:g} seconds")

    def _domain(self, name: Name) -> list[Atom | None]:
        """The atoms of a variable's states."""
        if name == TOKEN:
            return list(self.inputs.vocabulary)
        if name in (INDEX, LENGTH):
            return list(range(self.inputs.max_length))
        if self.node_of(name) is not None:
            self.fact(name)
        elif self.head_of(name) is not None:
            self.output_rows((name,), (), False)
        else:
            raise Refused("a variable has no states of its own")
        return self.atoms.setdefault(name, [])

    def variable(self, name: Name, space: Relation) -> ColumnOfAtoms:
        """A variable as a column."""
        return ColumnOfAtoms(self.domain(name), space.states(name), name in self.loose)

    def space(self, names: Iterable[Name]) -> Relation:
        """All that some variables can be together, or more."""
        self.spend()
        return self.space_of(tuple(sorted({*names})))

    def _space(self, names: tuple[Name, ...]) -> Relation:
        """What several variables depend on is looked at beside them, as far as there is room."""
        told = [self.told_by(name) for name in names]
        shared = {other for one in told for other in one
                  if sum(other in mine for mine in told) > 1 or other in names}  # fmt: skip
        near = [other for one in told for other in one if other in shared]
        linked = [other for one in told for other in one if shared & {other, *self.told_by(other)}]
        longer = [LENGTH] if INDEX in (*names, *linked) or len(names) > 1 else []
        for more in ([*linked, *longer], [*near, *longer], longer, []):
            wide = tuple(dict.fromkeys((*names, *more)))
            if self._estimate(wide) <= self.budget.rows // 4:
                break
        return self.kept(self._joined(wide)).onto(names)

    def _estimate(self, names: Sequence[Name]) -> int:
        """How many rows there can be, at most."""
        total = 1
        for name in names:
            total *= max(1, len(self.domain(name)))
        return total

    def _ground(self, names: set[Name]) -> Relation:
        """A BOS is at index 0 and only there, and an index is below the length."""
        sizes = {name: len(self.domain(name)) for name in (TOKEN, INDEX, LENGTH) if name in names}
        whole = free(sizes, self.budget.rows)
        fine = np.ones(len(whole), bool)
        if self.inputs.bos is not None and {TOKEN, INDEX} <= names:
            is_bos = whole.states(TOKEN) == len(self.inputs.vocabulary) - 1
            fine &= is_bos == (whole.states(INDEX) == 0)
        if {INDEX, LENGTH} <= names:
            fine &= whole.states(INDEX) <= whole.states(LENGTH)
        return whole.where(fine)

    def _joined(self, names: tuple[Name, ...]) -> Relation:
        """Ground variables, the outputs of each head together, and values of s-ops."""
        whole = self._ground({*names})
        heads: dict[tuple[int, int], list[Name]] = {}
        for name in names:
            if (place := self.head_of(name)) is not None:
                heads.setdefault(place, []).append(name)
        for _, outputs in sorted(heads.items()):
            context = tuple(sorted({*names} - {*outputs, LENGTH}))
            rows = self.output_rows(tuple(outputs), context, LENGTH in names)
            whole = whole.join(rows, self.budget.rows)
        for name in names:
            if self.node_of(name) is not None:
                inner = self.fact(name)
                kept = [part for part in inner.names if part in whole.names or part == name]
                whole = whole.join(inner.onto(kept), self.budget.rows)
        return whole

    def _fact(self, name: Name) -> Relation:
        """The value of an s-op beside what it is a function of."""
        node = self.node_of(name)
        assert node is not None
        space = self.space(self.over(node))
        column = self.column(node, space)
        states = np.array([-1 if atom is None else self.state(name, atom)
                           for atom in column.atoms], int)[column.places]  # fmt: skip
        self.loose |= {name} if column.loose else set()
        rows = np.hstack([space.rows, states[:, None]])
        return Relation((*space.names, name), rows[states >= 0])

    def places(self, space: Relation, inner: Relation) -> Array:
        """(row,): which row of a relation of some of its variables each row is; -1 for none."""
        key = id(space), id(inner)
        if key not in self._places:
            self._places[key] = space, inner, space.places(inner)
        return self._places[key][2]

    def with_values(self, nodes: Iterable[SOp], space: Relation) -> Relation:
        """The rows in which the program has values: the others are of no input in question."""
        fine = np.ones(len(space), bool)
        for node in dict.fromkeys(nodes):
            fine &= self.column(node, space).there
        return space.where(fine)

    def kept(self, space: Relation) -> Relation:
        """The rows in which a promise holds, as far as they tell. It is read by facts that do not
        rest on it."""
        fine = np.ones(len(space), bool)
        for condition in self.conditions:
            assert self.plain is not None
            if {*self.plain.over(condition)} <= {*space.names}:
                column = self.plain.column(condition, space)
                fine &= np.array([bool(atom) for atom in column.atoms], bool)[column.places]
        return space.where(fine)

    def holds(self, condition: SOp, whole: Relation) -> Array:
        """(row,): whether a condition on aggregates, and on tokens and indices, is true there."""
        assert self.plain is not None
        known: dict[SOp, Array] = {}
        for part in aggregates_in(condition):
            known[part] = whole.states(self.leaf(given_of(part)))
        column = self.plain.evaluated_on(condition, whole, known, {})
        true = np.array([bool(atom) for atom in column.atoms], bool)
        return np.asarray(true[column.places])

    def _output_rows(
        self, outputs: tuple[Name, ...], context: tuple[Name, ...], by_length: bool
    ) -> Relation:
        """What outputs of one head can be, beside what its queries know."""
        return together(self, [(name, self.given(name)) for name in outputs], context, by_length)
