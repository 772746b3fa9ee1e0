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

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate.claims import (
    INDEX,
    TOKEN,
    ClaimedCount,
    ClaimedNode,
    ClaimedOutput,
    ClaimedSum,
    Claims,
    HeadClaim,
    Inputs,
    Refused,
)
from rasp.models.checker.aggregated import Given, given_of, together
from rasp.models.checker.lookups import Lookup, Pick
from rasp.models.checker.node_parts import (
    aggregates_in,
    conditions_of,
    elementwise,
    ground_name,
    leaves,
)
from rasp.models.checker.relations import (
    LENGTH,
    Array,
    Column,
    Name,
    Relation,
    TooMuch,
    combined,
    free,
    function_of,
    typed,
)
from rasp.models.checker.unique_keys import is_single
from rasp.base.errors import RaspError
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    SOp,
    Tokens,
    TokensAs,
    apply_operator,
    in_order,
)
from rasp.base.limits import Clock, Limits

Table = tuple[Relation, Column]
T = TypeVar("T")


class Once(Generic[T]):
    """A function that is computed once for each argument, and refused where it needs itself: so
    every result rests on others that were complete before it."""

    def __init__(self, find: Callable[..., T]) -> None:
        self.find = find
        self.known: dict[tuple[Any, ...], T] = {}
        self.begun: set[tuple[Any, ...]] = set()

    def __call__(self, *asked: Any) -> T:
        if asked not in self.known:
            if asked in self.begun:
                raise Refused("claims tell of something by itself")
            self.begun.add(asked)
            self.known[asked] = self.find(*asked)
        return self.known[asked]


class ProgramFacts:
    """Relations of a program, over the variables that claims name."""

    def __init__(
        self, claims: Claims, inputs: Inputs, outputs: Sequence[Node], limits: Limits,
        plain: ProgramFacts | None = None,
    ) -> None:  # fmt: skip
        """`plain` are the same facts without the promise about inputs, by which that is read."""
        self.claims, self.inputs, self.limits, self.plain = claims, inputs, limits, plain
        self.own = {*in_order(outputs)}
        self.partial = False
        """Whether the program may fail somewhere."""
        self.evaluated: set[Node] = set()
        self.found_from: dict[Node, set[Name | None]] = {}
        """The outputs of heads that aggregates were found from."""
        self.clock = Clock(replace(limits, seconds=limits.check_seconds, spent=0.0))
        self.numbering: dict[Name, dict[object, int]] = plain.numbering if plain else {}
        self.atoms: dict[Name, list[Atom | None]] = plain.atoms if plain else {}
        """What the states of a variable are; `numbering` is the other way round."""
        self.loose: set[Name] = plain.loose if plain else set()
        """The variables of which numbers may be of several kinds."""
        self.numbers: dict[Given, Name] = plain.numbers if plain else {}
        self._places: dict[tuple[int, int], tuple[Relation, Relation, Array]] = {}
        self.told_by = Once(self._told_by)
        self.space_of, self.domain = Once(self._space), Once(self._domain)
        self.over, self.base_of = Once(self._over), Once(self._base_of)
        self.table, self.closure = Once(self._table), Once(self._closure)
        self.direct, self.fact = Once(self._direct), Once(self._fact)
        self.output_rows, self.always_picks = Once(self._output_rows), Once(self._always_picks)
        self.is_single = Once(lambda pick: is_single(self, pick))
        self.is_one_value = Once(self._is_one_value)
        self.conditions = (
            [] if inputs.where is None or plain is None else conditions_of(inputs.where)
        )

    def spend(self) -> None:
        """Refuse where the time is up."""
        if self.clock.is_over():
            raise TooMuch(
                "check_seconds", f"it takes more than {self.limits.check_seconds:g} seconds"
            )

    # -- variables --------------------------------------------------------------------------------

    def _base_of(self, name: Name) -> tuple[Name, ...]:
        """What sums and counts are made of; any other variable is itself."""
        if not 0 <= name < len(self.claims.variables):
            raise Refused("a variable that there is not")
        match self.claims.variables[name]:
            case ClaimedSum(_, parts):
                return self.base(part.variable for part in parts)
            case ClaimedCount(conditions):
                return tuple(dict.fromkeys(v for node in conditions for v in self.over(node)))
        return (name,)

    def base(self, names: Iterable[Name]) -> tuple[Name, ...]:
        """Variables, with what sums and counts are made of in their place."""
        return tuple(dict.fromkeys(part for name in names for part in self.base_of(name)))

    def _over(self, node: SOp) -> tuple[Name, ...]:
        """The variables that an s-op is claimed to be a function of."""
        match node:
            case Tokens() | TokensAs():
                return (TOKEN,)
            case Indices():
                return (INDEX,)
            case Const():
                return ()
        if node in self.claims.over:
            return self.base(self.claims.over[node])
        if isinstance(node, Elementwise):
            return tuple(dict.fromkeys(v for part in node.operands for v in self.over(part)))
        raise Refused("nothing is said of what an s-op depends on")

    def _closure(self, node: SOp) -> frozenset[Name]:
        """The variables that may have to do with an s-op."""
        found = {*self.over(node)}
        if isinstance(node, Elementwise):
            found.update(*(self.closure(part) for part in node.operands))
        found |= {place for place, claimed in enumerate(self.claims.variables)
                  if isinstance(claimed, ClaimedNode) and claimed.node is node}  # fmt: skip
        return frozenset(found)

    def node_of(self, name: Name) -> SOp | None:
        """The s-op that a variable is the value of."""
        claimed = self.claims.variables[name] if name >= 0 else None
        return claimed.node if isinstance(claimed, ClaimedNode) else None

    def head_of(self, name: Name) -> tuple[int, int] | None:
        """The head that gives a variable."""
        claimed = self.claims.variables[name] if name >= 0 else None
        return (claimed.layer, claimed.head) if isinstance(claimed, ClaimedOutput) else None

    def head(self, place: tuple[int, int]) -> HeadClaim:
        layer, number = place
        heads = self.claims.heads[layer - 1] if layer else self.claims.spare
        return heads[number]

    def given(self, name: Name) -> Given:
        """What a head gives: values added up, or averaged, over what it picks."""
        claimed = self.claims.variables[name]
        assert isinstance(claimed, ClaimedOutput)
        head = self.head((claimed.layer, claimed.head))
        output = head.outputs[claimed.output]
        if output.carrier is not None or head.mode not in ("mean", "sum") or head.family:
            raise Refused("a head of a kind that is not followed")
        pick = Pick(tuple(head.selectors), head.best, self.inputs.causal)
        return Given(pick, output.values, output.default, head.mode == "sum")

    def leaf(self, given: Given) -> Name:
        """The number of something aggregated that is no output of a head."""
        return self.numbers.setdefault(given, LENGTH - 1 - len(self.numbers))

    def state(self, name: Name, atom: Atom | None) -> int:
        """The state of a variable that an atom is: a new one for one that is new."""
        numbering = self.numbering.setdefault(name, {})
        if typed(atom) not in numbering:
            numbering[typed(atom)] = len(numbering)
            self.atoms.setdefault(name, []).append(atom)
        return numbering[typed(atom)]

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

    def variable(self, name: Name, space: Relation) -> Column:
        """A variable as a column."""
        return Column(self.domain(name), space.states(name), name in self.loose)

    # -- spaces -----------------------------------------------------------------------------------

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
            if self._estimate(wide) <= self.limits.check_rows // 4:
                break
        return self.kept(self._joined(wide)).onto(names)

    def _estimate(self, names: Sequence[Name]) -> int:
        """How many rows there can be, at most."""
        total = 1
        for name in names:
            total *= max(1, len(self.domain(name)))
        return total

    def _told_by(self, name: Name) -> frozenset[Name]:
        """What a head's queries, or an s-op, depend on; and what that does."""
        node, place = (self.node_of(name), self.head_of(name)) if name >= 0 else (None, None)
        found: set[Name] = set()
        if node is not None:
            found = {*self.over(node)}
        elif place is not None:
            sides = self.given(name).pick.sides
            found = {v for side in sides for v in self.over(side.queries)}
        return frozenset(found.union(*(self.told_by(other) for other in found)))

    def _ground(self, names: set[Name]) -> Relation:
        """A BOS is at index 0 and only there, and an index is below the length."""
        sizes = {name: len(self.domain(name)) for name in (TOKEN, INDEX, LENGTH) if name in names}
        whole = free(sizes, self.limits.check_rows)
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
            whole = whole.join(rows, self.limits.check_rows)
        for name in names:
            if self.node_of(name) is not None:
                inner = self.fact(name)
                kept = [part for part in inner.names if part in whole.names or part == name]
                whole = whole.join(inner.onto(kept), self.limits.check_rows)
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
        known = {part: whole.states(self.leaf(given_of(part))) for part in aggregates_in(condition)}
        column = self.plain._evaluated(condition, whole, known, {})
        return np.array([bool(atom) for atom in column.atoms], bool)[column.places]

    # -- heads ------------------------------------------------------------------------------------

    def _output_rows(
        self, outputs: tuple[Name, ...], context: tuple[Name, ...], by_length: bool
    ) -> Relation:
        """What outputs of one head can be, beside what its queries know."""
        return together(self, [(name, self.given(name)) for name in outputs], context, by_length)

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

    def column(self, node: SOp, space: Relation) -> Column:
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
                return self.space(()), Column([value], np.zeros(1, int))
            case Elementwise(_, operands):
                over = tuple(name for name in names if name in self.closure(node))
                if all(self.table(part, over) is not None for part in operands):
                    space = self.space(over)
                    columns = [self.column(part, space) for part in operands]
                    return space, self.applied(node, columns)
        return self._by_parts(node, names)

    def _named(self, node: SOp, name: Name, space: Relation) -> Column:
        column = self.variable(name, space)
        return self.applied(node, [column]) if isinstance(node, TokensAs) else column

    def applied(self, node: SOp, columns: Sequence[Column]) -> Column:
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
        for part in aggregates:
            self.found_from.setdefault(part, set()).update(outputs)
        known = {part: whole.states(self.leaf(given_of(part))) for part in aggregates}
        return function_of(inner, whole, self._evaluated(node, whole, known, stops))

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
        return whole.join(self.space(others | beside), self.limits.check_rows)

    def _evaluated(
        self, node: SOp, whole: Relation, known: dict[Aggregate, Array], stops: dict[SOp, Name]
    ) -> Column:
        """An s-op on rows of what it is made of."""
        columns: dict[Node, Column] = {}
        self.evaluated |= {*known}
        for leaf, states in known.items():
            name = self.leaf(given_of(leaf))
            columns[leaf] = Column(self.atoms[name], states, name in self.loose)
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
