"""What variables can be together, and every s-op as a function of them: relations of a program.

A variable is a token, an index, the length, what a head gives to a query, or the value of an s-op.
Claims name them; what they are is said by the program's own nodes, so that nothing that claims say
can make a relation false. Relations come from five rules: what tokens and indices are (`ground`),
an operator applied to rows (`table`), what sums over keys can be (`together`), a promise (`kept`),
and joins. Each rests on relations that are complete already: `Once` refuses what would need itself.

Rows on which the program has no value are left out, since no input in question is there. Where
nothing was left out, and every node was looked at, the program has a value on every input: see
`is_total`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Node,
    SOp,
    TokensAs,
    apply_operator,
    in_order,
)
from rasp.models.certificate.claims import INDEX, TOKEN, Claims, Inputs, Refused
from rasp.models.checker.aggregated import Given, given_of, together
from rasp.models.checker.claimed_variables import Once
from rasp.models.checker.lookups import Lookup, Pick
from rasp.models.checker.node_parts import elementwise, ground_name, leaves
from rasp.models.checker.program_spaces import ProgramSpaces
from rasp.models.checker.relations import (
    Array,
    CheckBudget,
    ColumnOfAtoms,
    Name,
    Relation,
    combined,
    function_of,
    typed,
)

Table = tuple[Relation, ColumnOfAtoms]


class ProgramFacts(ProgramSpaces):
    """Relations of a program, and its s-ops on them."""

    def __init__(
        self, claims: Claims, inputs: Inputs, outputs: Sequence[Node], budget: CheckBudget,
        plain: ProgramFacts | None = None,
    ) -> None:  # fmt: skip
        super().__init__(claims, inputs, budget, plain)
        self.own = {*in_order(outputs)}
        self.evaluated: set[Node] = set()
        self.table, self.direct = Once(self._table), Once(self._direct)
        self.always_picks, self.is_one_value = Once(self._always_picks), Once(self._is_one_value)

    # -- heads ------------------------------------------------------------------------------------

    def _always_picks(self, pick: Pick) -> bool:
        """Whether every query picks some key."""
        count = Given(pick, Const(1), None, True)
        rows = together(self, [(self.leaf(count), count)], (), False)
        atoms = self.atoms.get(self.leaf(count), [])
        return all(atoms[state] != 0 for state in rows.rows[:, 0].tolist())

    def _is_one_value(self, pick: Pick, values: SOp) -> bool:
        """Whether all that a query picks is one value: the square of the sum is then as many times
        the sum of squares as there are picks, and else it is less. Of strings and bools, a query
        picks one alone (see `together`).
        """
        atoms = self.column(values, self.space(self.over(values))).listed()
        if any(isinstance(atom, (str, bool)) for atom in atoms) or len({*atoms}) < 2:
            return True
        wanted = [Given(pick, node, None, True)
                  for node in (Const(1), values, Elementwise("*", (values, values)))]  # fmt: skip
        rows = together(self, [(self.leaf(given), given) for given in wanted], (), False)
        held = [self.atoms[name] for name in rows.names]
        sums = ([Fraction(atoms[at] or 0) for atoms, at in zip(held, row, strict=True)]
                for row in rows.rows.tolist())  # fmt: skip
        return all(count * squares == total**2 for count, total, squares in sums)

    def is_own(self, name: Name) -> bool:
        """Whether the program itself averages what a head does: it fails where there is no mean."""
        return any(node in self.own and meaning.outputs == (name,) and self.direct(node) == name
                   for node, meaning in self.claims.aggregates.items())  # fmt: skip

    def picks_alike(self, one: Pick, other: Pick) -> bool:
        """Whether two picks have the same keys, always."""
        if one.best is not other.best:
            return False
        plain = replace(one, best=None), replace(other, best=None)
        if plain[0] == plain[1]:
            return True
        lookup = Lookup(self, plain).different()
        return bool((lookup.picked(plain[0]) == lookup.picked(plain[1])).all())

    def _direct(self, node: Aggregate) -> Name | None:
        """The output that an aggregate is: the same values, by the same picks."""
        meaning = self.claims.aggregates.get(node)
        if meaning is None or meaning.rule != "mean" or len(meaning.outputs) != 1:
            return None
        (name,) = meaning.outputs
        if self.head_of(name) is None:
            raise Refused("an aggregate is said to be no output of a head")
        mine, theirs = given_of(node), self.given(name)
        if theirs.is_sum or theirs.values is not mine.values:
            return None
        if not self.picks_alike(mine.pick, theirs.pick):
            raise Refused("a head's selector is not that of the aggregate")
        if typed(mine.default) != typed(theirs.default) and not self.always_picks(mine.pick):
            raise Refused("a head's default is not that of the aggregate")
        return name

    # -- s-ops ------------------------------------------------------------------------------------

    def column(self, node: SOp, space: Relation) -> ColumnOfAtoms:
        """An s-op on a relation; refused where it is not a function of the variables."""
        found = self.table(node, tuple(name for name in space.names if name >= 0))
        if found is None:
            raise Refused("an s-op is not a function of what is claimed")
        inner, column = found
        return column.at(self.places(space, inner))

    def _table(self, node: SOp, names: tuple[Name, ...]) -> Table | None:
        """An s-op by its operator, where these variables decide the operands; else by all that it
        is made of, together."""
        self.evaluated.add(node)
        name = next((name for name in names if self.node_of(name) is node), None)
        name = ground_name(node) if name is None else name
        if name is None and isinstance(node, Aggregate):
            name = self.direct(node)
        if name is not None and name in names:
            space = self.space((name,))
            return space, self._named(node, name, space)
        match node:
            case Const(value):
                return self.space(()), ColumnOfAtoms([value], np.zeros(1, int))
            case Elementwise(_, operands):
                over = tuple(name for name in names if name in self.closure(node))
                if all(self.table(part, over) is not None for part in operands):
                    space = self.space(over)
                    columns = [self.column(part, space) for part in operands]
                    return space, self.applied(node, columns)
        return self._by_parts(node, names)

    def _named(self, node: SOp, name: Name, space: Relation) -> ColumnOfAtoms:
        column = self.variable(name, space)
        return self.applied(node, [column]) if isinstance(node, TokensAs) else column

    def applied(self, node: SOp, columns: Sequence[ColumnOfAtoms]) -> ColumnOfAtoms:
        """The operator of an s-op, on rows of its operands. Only the program itself may fail."""
        op = node.kind if isinstance(node, TokensAs) else getattr(node, "op", "")

        def apply(*atoms: Atom | None) -> Atom | None:
            if None in atoms:
                return None
            try:
                return apply_operator(op, atoms)  # type: ignore[arg-type]
            except RaspError:
                self.fails(node)
                return None

        column = combined(apply, columns)
        self.partial |= len({isinstance(atom, str) for atom in column.listed()}) > 1
        return column

    def fails(self, node: Node) -> None:
        """Note that a node may have no value; claims may speak of others, but these must not."""
        if node not in self.own:
            raise Refused("a helper of the claims fails")
        self.partial = True

    def _by_parts(self, node: SOp, names: tuple[Name, ...]) -> Table | None:
        """An s-op from all that it is made of, if what is asked decides it.

        Aggregates that no output of a head is are found together with the sums of heads that they
        are claimed to go by, over the same keys.
        """
        inner = tuple(name for name in names if name in self.closure(node))
        stops = {part: name for name in names if (part := self.node_of(name)) is not None}
        stops.pop(node, None)
        aggregates, others, outputs = [], set[Name](), set[Name]()
        for part in leaves(node, stops):
            output = self.direct(part) if isinstance(part, Aggregate) else None
            if output is not None:
                others.add(output)
            elif isinstance(part, Aggregate):
                aggregates.append(part)
                meaning = self.claims.aggregates.get(part)
                outputs |= {*(meaning.outputs if meaning else ())} & {*inner}
            else:
                others |= {stops[part]} if part in stops else {*self.over(part)}
        if not aggregates and others <= {*names}:
            return None
        whole = self._parts_together(aggregates, outputs, {*inner} | others)
        known: dict[SOp, Array] = {}
        for part in aggregates:
            known[part] = whole.states(self.leaf(given_of(part)))
        return function_of(inner, whole, self.evaluated_on(node, whole, known, stops))

    def _parts_together(
        self, aggregates: Sequence[Aggregate], outputs: set[Name], others: set[Name]
    ) -> Relation:
        """Aggregates beside outputs of heads, and all else that is asked."""
        if not aggregates:
            return self.space(others)
        named = [(self.leaf(given_of(part)), given_of(part)) for part in aggregates]
        named += [(name, self.given(name)) for name in sorted(outputs)]
        ground = others & {TOKEN, INDEX}
        told = {
            v for _, given in named for side in given.pick.sides for v in self.over(side.queries)
        }
        whole = together(self, named, (*(others - outputs), *told), False, (*ground,))
        if others <= {*whole.names}:
            return whole
        beside = {name for name in whole.names if name in told}
        return whole.join(self.space(others | beside), self.budget.rows)

    def evaluated_on(
        self, node: SOp, whole: Relation, known: dict[SOp, Array], stops: dict[SOp, Name]
    ) -> ColumnOfAtoms:
        """An s-op on rows of what it is made of."""
        columns: dict[Node, ColumnOfAtoms] = {}
        self.evaluated |= {*known}
        for leaf, states in known.items():
            assert isinstance(leaf, Aggregate)
            name = self.leaf(given_of(leaf))
            columns[leaf] = ColumnOfAtoms(self.atoms[name], states, name in self.loose)
        plain = Relation(tuple(name for name in whole.names if name >= 0),
                         whole.columns([name for name in whole.names if name >= 0]))  # fmt: skip
        for part in elementwise(node, {*stops, *known}):
            if part in columns:
                continue
            self.evaluated.add(part)
            if isinstance(part, Elementwise) and part not in stops:
                columns[part] = self.applied(part, [columns[inner] for inner in part.operands])
            else:
                columns[part] = self.column(part, plain)
        return columns[node]

    # -- failures ---------------------------------------------------------------------------------

    def is_total(self) -> bool:
        """Whether the program has a value on every input in question.

        Let nothing have been left out because something fails, and let every node have been looked
        at. Take any input, and go through all results in the order in which they were completed.
        Each of them rests on earlier ones, which are true of the input, and leaves out no row. So
        it is true of it as well, and says that its node has a value at every position.
        """
        s_ops = {node for node in self.own if isinstance(node, SOp)}
        return not self.partial and s_ops <= self.evaluated
