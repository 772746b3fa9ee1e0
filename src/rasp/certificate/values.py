"""Claims and the program in; what every variable can be, and every s-op as a function of them, out.

Nothing here looks at weights. The meaning of an s-op is the operator table's; the meaning of an
aggregate is `Meaning`, whose rules `aggregates` checks. A table may list combinations that no
input has: whatever holds for all of them holds for those that some input has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import lcm

import numpy as np

from rasp.atoms import Atom
from rasp.certificate.aggregates import check_ratio, is_width
from rasp.certificate.choices import choice_table
from rasp.certificate.claims import (
    INDEX,
    TOKEN,
    Claims,
    CountVariable,
    HeadClaim,
    HeadOutput,
    Inputs,
    Meaning,
    NodeVariable,
    OutputVariable,
    Refused,
    SumVariable,
)
from rasp.certificate.domains import Domains
from rasp.certificate.picks import Picks
from rasp.certificate.promise import Promise
from rasp.certificate.tables import (
    Array,
    Column,
    Linear,
    Space,
    column_of,
    combined,
    is_ground,
    joint_places,
    of_index,
    of_token,
    same,
    typed,
)
from rasp.graph import (
    COMPARISONS,
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

MOST_STATES = 4_000_000
ARITHMETIC = ("+", "-", "*", "%", "negate", "plus", "abs")
KEEPS = ("round", "int", "floor", "float", "plus", "indicator", "bool")
NUMBERS = (bool, int, Fraction)


@dataclass(frozen=True, eq=False)
class Domain:
    """The states of a variable: an atom each, and the number that stands for it."""

    atoms: list[Atom]
    numbers: list[Fraction] | None
    kinds: frozenset[type] = frozenset()
    """As in a column; then no two atoms are equal."""

    @property
    def size(self) -> int:
        return len(self.atoms)


class Values(Domains):
    """What s-ops hold, as far as claims say of which variables they are functions."""

    def __init__(
        self, claims: Claims, inputs: Inputs, outputs: Sequence[Node], believes: bool = True
    ) -> None:
        """`believes` that heads never pick nothing where that is claimed; else finds out."""
        self.claims, self.inputs, self.believes = claims, inputs, believes
        where = inputs.where
        self.plain = self if where is None else Values(
            claims, replace(inputs, where=None), [where], believes=False
        )  # fmt: skip
        """The same without the promise, for the promise itself."""
        self.program = set(in_order(outputs if where is None else [*outputs, where]))
        self.picks = Picks(self)
        self.promise = Promise(self, where)
        self._proved: dict[tuple[int, int], HeadClaim] = {}
        self.node_variables = {
            variable.node: place
            for place, variable in enumerate(claims.variables)
            if isinstance(variable, NodeVariable)
        }
        self._joint = {}
        self._domains: dict[int, Domain] = {}
        self._spaces: dict[tuple[int, ...], Space] = {}
        self._columns: dict[tuple[Node, tuple[int, ...]], Column | Refused] = {}
        self._linear: dict[Node, Linear | None] = {}
        self._choices: dict[Node, tuple[Space, Column]] = {}

    def head(self, variable: int) -> HeadClaim:
        known = self.claims.variables[variable]
        assert isinstance(known, OutputVariable)
        layer = self.claims.heads[known.layer - 1] if known.layer else self.claims.spare
        head, place = layer[known.head], (known.layer, known.head)
        if self.believes or not head.never_empty:
            return head
        if place not in self._proved:
            picked = [conjunct.selector for conjunct in head.conjuncts]
            self._proved[place] = replace(head, never_empty=self.picks.never_empty(picked))
        return self._proved[place]

    def output(self, variable: int) -> HeadOutput:
        known = self.claims.variables[variable]
        assert isinstance(known, OutputVariable)
        return self.head(variable).outputs[known.output]

    def over(self, node: Node) -> tuple[int, ...]:
        """What an s-op is claimed to be a function of."""
        match node:
            case Tokens() | TokensAs():
                return (TOKEN,)
            case Indices():
                return (INDEX,)
            case Const():
                return ()
        if node not in self.claims.over:
            raise Refused("nothing is said of what an s-op depends on")
        return self.claims.over[node]

    def table(self, node: SOp) -> tuple[Space, Column]:
        """An s-op over the variables that it is claimed to be a function of."""
        place = self.node_variables.get(node)
        if place is not None and node in self.claims.choices:
            if node not in self._choices:
                self._choices[node] = choice_table(self, node, place)
            return self._choices[node]
        space = self.space(self.over(node))
        return space, self.column(node, space)

    def domain(self, variable: int) -> Domain:
        """Everything a variable can be."""
        if variable not in self._domains:
            self._domains[variable] = self._find_domain(variable)
        return self._domains[variable]

    def _find_domain(self, variable: int) -> Domain:
        if variable == TOKEN:
            return Domain(list(self.inputs.vocabulary), None)
        if variable == INDEX:
            return Domain(list(range(self.inputs.max_length)), None)
        match self.claims.variables[variable]:
            case NodeVariable(node):
                return self._domain_of_node(node)
            case CountVariable(conditions):
                self._check_conditions(conditions)
                counts = list(range(len(conditions) + 1))
                return Domain([*counts], [Fraction(count) for count in counts])
            case SumVariable(constant, parts):
                numbers = self.numbers_of_sum(Linear(constant, parts))
                return Domain([*numbers], numbers)
        return self._domain_of_output(variable)

    def _domain_of_node(self, node: SOp) -> Domain:
        column = self.table(node)[1]
        atoms = [atom for atom in column.listed() if atom is not None]
        if not column.kinds:
            return Domain(atoms, None)
        known = {(isinstance(atom, str), atom): atom for atom in atoms}
        return Domain([*known.values()], None, column.kinds | set(map(type, atoms)))

    def _check_conditions(self, conditions: Sequence[SOp]) -> None:
        """What is counted is bools: `and` and `or` take every other atom for one, too."""
        for condition in conditions:
            atoms = self.table(condition)[1].listed()
            if not all(atom is None or isinstance(atom, bool) for atom in atoms):
                raise Refused("what is counted is not a condition")

    def _domain_of_output(self, variable: int) -> Domain:
        states = self.states_of_output(variable)
        unique = list(dict.fromkeys((typed(atom), code) for atom, code in states))
        return Domain([atom for (_, atom), _ in unique], [code for _, code in unique])  # type: ignore[misc]

    def space(self, variables: Sequence[int]) -> Space:
        """Every combination of states, less those that are certain not to occur."""
        key = tuple(dict.fromkeys(variables))
        if key not in self._spaces:
            sizes = [self.domain(variable).size for variable in key]
            if reduce(int.__mul__, sizes, 1) > MOST_STATES:
                grid = self.listed_together(key)
                if grid is None:
                    grid = self._grown(key, sizes)
            else:
                grid = np.indices(sizes).reshape(len(sizes), -1) if sizes else np.zeros((0, 1), int)
            space = Space(key, self.restricted(key, grid))
            self._check_ground(space)
            if self.promise.conditions:
                space = Space(key, self.promise.kept(space))
            self._spaces[key] = space
        return self._spaces[key]

    def _grown(self, key: tuple[int, ...], sizes: Sequence[int]) -> Array:
        """(variable, combination): what the first variables can be together, with all that the last
        one can be.
        """
        if len(key) > 2:
            known = self.space(key[:-1])
            if known.size * sizes[-1] <= MOST_STATES:
                last = np.tile(np.arange(sizes[-1]), known.size)
                return np.vstack([np.repeat(known.grid, sizes[-1], axis=1), last])
        raise Refused(f"a table would have {' × '.join(map(str, sizes))} entries")

    def _check_ground(self, space: Space) -> None:
        """Every token and every index is somewhere in some input, whatever else is the case there:
        claims by which one of them never is contradict each other. Only an s-op that fails may
        leave it out.
        """
        for variable in space.variables:
            known = self.claims.variables[variable]
            if isinstance(known, NodeVariable) and None in self.table(known.node)[1].listed():
                return
        for variable in {TOKEN, INDEX} & set(space.variables):
            if len(np.unique(_row(space, variable))) < self.domain(variable).size:
                raise Refused("claims contradict each other")

    # -- columns ----------------------------------------------------------------------------------

    def column(self, node: SOp, space: Space) -> Column:
        """An s-op over some variables; refused where it is not certain to be a function of them."""
        key = (node, space.variables)
        if key not in self._columns:
            try:
                self._columns[key] = self._column(node, space)
            except Refused as refused:
                self._columns[key] = refused
        found = self._columns[key]
        if isinstance(found, Refused):
            raise found
        return found

    def _column(self, node: SOp, space: Space) -> Column:
        variable = self.node_variables.get(node)
        if variable in space.variables:
            domain = self.domain(variable)
            return Column([*domain.atoms], _row(space, variable), domain.kinds)
        match node:
            case Const(value):
                return Column([value], np.zeros(space.size, int))
            case Tokens() if TOKEN in space.variables:
                return column_of(self.inputs.vocabulary, _row(space, TOKEN))
            case TokensAs(kind) if TOKEN in space.variables:
                column = column_of(self.inputs.vocabulary, _row(space, TOKEN))
                return combined(kind, [column], node in self.program)
            case Indices() if INDEX in space.variables:
                return column_of(range(self.inputs.max_length), _row(space, INDEX))
            case Aggregate() if node in self.claims.aggregates:
                return self._aggregate(node, self.claims.aggregates[node], space)
            case Elementwise():
                return self._elementwise(node, space)
        raise Refused("an s-op is not a function of what is claimed")

    def _elementwise(self, node: Elementwise, space: Space) -> Column:
        stand_in = self._of_stand_ins(node, space)
        if stand_in is not None:
            return stand_in
        try:
            columns = [self.column(operand, space) for operand in node.operands]
            return combined(node.op, columns, node in self.program)
        except Refused as refused:
            found = self._counted(node, space) or self._as_line(node, space)
            found = found or self._by_sign(node, space) or self._lifted(node, space)
            if found is None:
                raise refused
            return found

    def _aggregate(self, node: Aggregate, meaning: Meaning, space: Space) -> Column:
        match meaning.rule:
            case "never":
                return Column([node.default], np.zeros(space.size, int))
            case "mean":
                (variable,) = meaning.outputs
                atoms = [*self.domain(variable).atoms, None]
                states = self.states_on(variable, space)
                return Column(atoms, np.where(states < 0, len(atoms) - 1, states))
            case "count" | "pick":
                whole = self.linear_column(self.whole(meaning), space)
                light = self.picks.atoms(node.values, True)[0]
                assert not isinstance(light, str)
                values: list[Atom | None] = []
                for number in whole.atoms:
                    assert isinstance(number, Fraction)
                    if meaning.rule == "pick":
                        values.append(light if number else node.default)
                    else:
                        share = light if number == 1 else number and Fraction(light) / number
                        values.append(None if number < 1 else share)
                return column_of(values, whole.places)
            case "shares":
                return self._from_shares(node, meaning, space)
        raise Refused("a sum is used where the program has a mean")

    def whole(self, meaning: Meaning) -> Linear:
        """known + Σ outputs."""
        found = Linear(meaning.constant if meaning.rule != "shares" else Fraction(0))
        if meaning.known is not None:
            known = self.linear(meaning.known)
            if known is None:
                raise Refused("what a query knows by itself is not a weighted sum")
            found = found.plus(known, meaning.factor)
        for variable in meaning.outputs:
            found = found.plus(Linear(Fraction(0), {("out", variable): Fraction(1)}))
        return found

    def _of_stand_ins(self, node: Elementwise, space: Space) -> Column | None:
        """`a / b` and `a < b` of means over one selector, from their sums; and `width * mean`."""
        positive = self._positive(node, space)
        if positive is not None:
            return positive
        sums = [self.stand_in(operand) for operand in node.operands]
        if not any(sums):
            return None
        if node.op == "*":
            return self.linear_column(self.linear_or_refuse(node), space, self.kinds(node))
        check_ratio(self, node)
        lines = [
            known if known is not None else self.linear_or_refuse(operand)
            for known, operand in zip(sums, node.operands, strict=True)
        ]
        if node.op == "/":
            return combined("/", [self.linear_column(line, space) for line in lines], True)
        return self._compared(node.op, lines[0].plus(lines[1], Fraction(-1)), space)

    def _positive(self, node: Elementwise, space: Space) -> Column | None:
        """Whether a mean of numbers from 0 on is 0, from that of counts that are 0 with them."""
        mean = node.operands[0] if node.operands else None
        meaning = self.claims.aggregates.get(mean) if isinstance(mean, Aggregate) else None
        if meaning is None or meaning.rule != "positive":
            return None
        other = node.operands[1] if node.op in ("==", "!=", ">", "<=") else None
        if not isinstance(other, Const) or isinstance(other.value, str) or other.value != 0:
            raise Refused("of a mean of counts is asked more than whether it is 0")
        (variable,) = meaning.outputs
        states = self.states_on(variable, space)
        held = Column(
            [*self.domain(variable).atoms, None],
            np.where(states < 0, self.domain(variable).size, states),
        )
        return combined(node.op, [held, self.column(other, space)], False)

    def stand_in(self, node: SOp) -> Linear | None:
        """The sum that stands for an aggregate of which only that is known."""
        meaning = self.claims.aggregates.get(node) if isinstance(node, Aggregate) else None
        return self.whole(meaning) if meaning and meaning.rule in ("product", "ratio") else None

    def _counted(self, node: Elementwise, space: Space) -> Column | None:
        """An `and` or an `or` of conditions from how many of them hold."""
        for variable in space.variables:
            known = self.claims.variables[variable]
            if not isinstance(known, CountVariable) or node.op not in ("and", "or"):
                continue
            if set(_operands(node, node.op)) == set(known.conditions):
                least = 1 if node.op == "or" else len(known.conditions)
                holds = [count >= least for count in range(len(known.conditions) + 1)]
                return column_of(holds, _row(space, variable))
        return None

    def _as_line(self, node: Elementwise, space: Space) -> Column | None:
        linear = self.linear(node)
        if linear is None:
            return None
        try:
            return self.linear_column(linear, space, self.kinds(node))
        except Refused:
            return None

    def _by_sign(self, node: Elementwise, space: Space) -> Column | None:
        """A comparison of two weighted sums from their difference."""
        if node.op not in COMPARISONS:
            return None
        lines = [self.linear(operand) for operand in node.operands]
        if lines[0] is None or lines[1] is None:
            return None
        return self._compared(node.op, lines[0].plus(lines[1], Fraction(-1)), space)

    def _compared(self, op: str, difference: Linear, space: Space) -> Column | None:
        try:
            column = self.linear_column(difference, space)
        except Refused:
            return None
        return column_of([apply_operator(op, (atom, 0)) for atom in column.atoms], column.places)  # type: ignore[arg-type]

    def _lifted(self, node: Elementwise, space: Space) -> Column | None:
        """A function of a sum that is found over what the sum is made of, if the sum decides it."""
        grounds = []
        for variable in space.variables:
            known = self.claims.variables[variable]
            parts = known.parts if isinstance(known, SumVariable) else ()
            grounds += [is_ground(part) for part in parts] or [variable]
        if set(grounds) == set(space.variables):
            return None
        try:
            wide = self.space(grounds)
            column = self.column(node, wide)
            rows = [self.states_on(variable, wide) for variable in space.variables]
        except Refused:
            return None
        return self.projected(column, rows, space)

    def projected(self, column: Column, rows: Sequence[Array], space: Space) -> Column | None:
        """A column over other combinations, of which each is in a state of this space.

        Where the program fails in some of those that are in one state, the others say what it
        answers there.
        """
        sizes = [self.domain(variable).size for variable in space.variables]
        fine = np.all([row >= 0 for row in rows], axis=0)
        places = np.ravel_multi_index([row[fine] for row in rows], sizes)
        column = Column(column.atoms, column.places[fine], column.kinds)
        wanted = np.ravel_multi_index([*space.grid], sizes)
        _, pairs = joint_places([(places, int(np.prod(sizes))), (column.places, len(column.atoms))])
        known: dict[int, Atom | None] = {}
        kinds = set(column.kinds)
        for place, atom in pairs:
            value = column.atoms[atom]
            if value is None:
                continue
            if not same(known.setdefault(place, value), value):
                return None
            if type(known[place]) is not type(value):
                kinds |= {type(known[place]), type(value)}
        found = column_of([known.get(place) for place in wanted.tolist()], np.arange(space.size))
        return Column(found.atoms, found.places, frozenset(kinds))

    def linear_column(
        self, linear: Linear, space: Space, kinds: frozenset[type] = frozenset({Fraction})
    ) -> Column:
        """A weighted sum over some variables: a line in one of them, or all its parts are there."""
        for variable in space.variables:
            line = linear.line(self.linear_of(variable)) if self.is_number(variable) else None
            if line is not None:
                numbers = self.domain(variable).numbers
                assert numbers is not None
                atoms = [_as_atom(line[0] * number + line[1], kinds) for number in numbers]
                return _loosened(column_of(atoms, _row(space, variable)), kinds)
        whole, unit = self._added(linear, space)
        different, places = np.unique(whole, return_inverse=True)
        totals = [_as_atom(Fraction(int(number), unit), kinds) for number in different.tolist()]
        return _loosened(column_of(totals, places.reshape(-1)), kinds)

    def _added(self, linear: Linear, space: Space) -> tuple[Array, int]:
        """(combination,): a weighted sum in whole units, and how many of them make 1."""
        tables: dict[int, dict[int, Fraction]] = {}
        for part, weight in linear.parts.items():
            tables.setdefault(is_ground(part), {})[part[1]] = weight
        columns: list[tuple[int, list[Fraction]]] = []
        for variable, weights in tables.items():
            if variable not in space.variables:
                raise Refused("a weighted sum is not a function of what is claimed")
            numbers = self.domain(variable).numbers
            if variable in (TOKEN, INDEX):
                size = self.domain(variable).size
                columns.append(
                    (variable, [weights.get(place, Fraction(0)) for place in range(size)])
                )
            else:
                assert numbers is not None
                columns.append((variable, [weights[variable] * number for number in numbers]))
        unit = lcm(linear.constant.denominator,
                   *(number.denominator for _, table in columns for number in table))  # fmt: skip
        total = np.full(space.size, int(linear.constant * unit), object)
        most = abs(int(linear.constant * unit)) + sum(
            max(abs(int(number * unit)) for number in table) for _, table in columns
        )
        if most < 2**62:
            total = total.astype(np.int64)
        for variable, table in columns:
            whole = np.array([int(number * unit) for number in table], total.dtype)
            total = total + whole[_row(space, variable)]
        return total, unit

    def is_number(self, variable: int) -> bool:
        return isinstance(self.claims.variables[variable], (OutputVariable, SumVariable))

    def linear_of(self, variable: int) -> Linear:
        match self.claims.variables[variable]:
            case SumVariable(constant, parts):
                return Linear(constant, parts)
            case OutputVariable():
                return Linear(Fraction(0), {("out", variable): Fraction(1)})
        raise Refused("a variable is not a number")

    def numbers(self, variable: int) -> list[Fraction]:
        """The numbers that stand for the states of an output, a sum or a count."""
        numbers = self.domain(variable).numbers
        if numbers is None:
            raise Refused("a variable is not a number")
        return numbers

    def has(self, variable: int, space: Space) -> bool:
        """Whether a variable is certain to be a function of a space."""
        try:
            self.states_on(variable, space)
        except Refused:
            return False
        return True

    def states_on(self, variable: int, space: Space) -> Array:
        """(combination,): which state a variable is in; -1 where no input has the combination."""
        if variable in space.variables:
            return _row(space, variable)
        known = self.claims.variables[variable]
        domain = self.domain(variable)
        if domain.size == 1:
            return np.zeros(space.size, int)
        if isinstance(known, NodeVariable):
            column = self.column(known.node, space)
            states = np.array(_states_of(column, domain), int)
            return np.asarray(states[column.places])
        column = self.linear_column(self.linear_of(variable), space)
        assert domain.numbers is not None
        places = {number: at for at, number in enumerate(domain.numbers)}
        if len(places) < len(domain.numbers):  # a number would stand for several states
            raise Refused("two atoms have one code")
        states = np.array([places.get(Fraction(atom), -1) for atom in column.atoms], int)  # type: ignore[arg-type]
        return np.asarray(states[column.places])

    # -- weighted sums ----------------------------------------------------------------------------

    def linear(self, node: SOp) -> Linear | None:
        """An s-op as a weighted sum of tokens, indices and outputs, if it is one."""
        if node not in self._linear:
            self._linear[node] = None
            self._linear[node] = self._find_linear(node)
        return self._linear[node]

    def linear_or_refuse(self, node: SOp) -> Linear:
        found = self.linear(node)
        if found is None:
            raise Refused("an s-op is not a weighted sum")
        return found

    def _find_linear(self, node: SOp) -> Linear | None:
        found = None
        if isinstance(node, Elementwise):
            found = self._linear_by_operator(node)
        elif isinstance(node, Aggregate):
            meaning = self.claims.aggregates.get(node)
            if meaning and meaning.rule == "mean" and self.has_numbers(meaning.outputs[0]):
                return Linear(Fraction(0), {("out", meaning.outputs[0]): Fraction(1)})
        return found if found is not None else self._fitted(node)

    def _counts_one(self, meaning: Meaning) -> bool:
        """Whether nothing but index 0 is ever picked: a mean of one value is that value itself."""
        whole = self.whole(meaning)
        return whole.constant == 1 and all(
            kind == "out" and set(self.domain(place).numbers or [Fraction(1)]) == {0}
            for kind, place in whole.parts
        )

    def has_numbers(self, variable: int) -> bool:
        """Whether the atoms of an output are the numbers that stand for them."""
        output = self.output(variable)
        return output.codes is None and output.carrier is None

    def _linear_by_operator(self, node: Elementwise) -> Linear | None:
        for one, other in ((0, 1), (1, 0)):
            if node.op == "*" and len(node.operands) == 2:
                stand_in = self.stand_in(node.operands[one])
                if stand_in is None or stand_in.constant:  # a sum of the values, and no more
                    continue
                mean = node.operands[one]
                assert isinstance(mean, Aggregate)
                if is_width(self, node.operands[other], mean):
                    return stand_in
        if node.op == "/" and isinstance(node.operands[1], Aggregate):
            below, above = node.operands[1], self.linear(node.operands[0])
            meaning = self.claims.aggregates.get(below)
            if meaning and meaning.rule == "count" and above is not None and not above.parts:
                light = self.picks.atoms(below.values, True)[0]
                return self.whole(meaning).times(above.constant / Fraction(light))
        lines = [
            None if self.stand_in(operand) else self.linear(operand) for operand in node.operands
        ]
        known = [line for line in lines if line is not None]
        if len(known) < len(lines) or not known:
            return None
        match node.op:
            case "+":
                return known[0].plus(known[1])
            case "-":
                return known[0].plus(known[1], Fraction(-1))
            case "negate":
                return known[0].times(Fraction(-1))
            case "*" if not known[0].parts:
                return known[1].times(known[0].constant)
            case "*" if not known[1].parts:
                return known[0].times(known[1].constant)
            case "/" if not known[1].parts and known[1].constant:
                return known[0].times(1 / known[1].constant)
        if node.op in KEEPS and self._keeps(node.op, node.operands[0], known[0]):
            return known[0]
        return None

    def _keeps(self, op: str, operand: SOp, linear: Linear) -> bool:
        """Whether an operator changes no number that its operand can be."""
        try:
            space = self.space(self.over(operand))
            atoms = self.linear_column(linear, space).atoms
        except Refused:
            return False
        return all(atom is None or apply_operator(op, (atom,)) == atom for atom in atoms)

    def _fitted(self, node: SOp) -> Linear | None:
        """A function of one variable as a weighted sum, where it lies on a line."""
        try:
            space, column = self.table(node)
        except Refused:
            return None
        listed = [column.atoms[place] for place in column.places.tolist()]
        if any(isinstance(atom, str) for atom in listed):
            return None
        known = [
            Fraction(atom) for atom in listed if atom is not None and not isinstance(atom, str)
        ]
        if known and len(set(known)) == 1:
            return Linear(known[0])
        if len(space.variables) != 1 or not known:
            return None
        numbers = [known[0] if atom is None else Fraction(atom) for atom in listed]
        if space.variables == (TOKEN,):
            return of_token(numbers, self.inputs)
        if space.variables == (INDEX,):
            return of_index(numbers, self.inputs)
        (variable,) = space.variables
        if not self.is_number(variable):
            return None
        codes = self.domain(variable).numbers
        assert codes is not None
        return _line([(code, None if atom is None else Fraction(atom))
                      for code, atom in zip(codes, listed, strict=True)],
                     self.linear_of(variable))  # fmt: skip

    def kinds(self, node: SOp) -> frozenset[type]:
        """The kinds of number that an s-op can be, by its operator: these, or fewer."""
        match node:
            case Elementwise("/" | "float"):
                return frozenset({Fraction})
            case Elementwise("round" | "int" | "floor" | "indicator" | "//"):
                return frozenset({int})
            case Elementwise(op) if op in (*COMPARISONS, "not", "bool", "in"):
                return frozenset({bool})
            case Elementwise("if", (_, yes, no)):
                return self.kinds(yes) | self.kinds(no)
            case Elementwise("and" | "or"):
                return frozenset({bool})
            case Elementwise(op, operands) if op in ARITHMETIC:
                return _joined([self.kinds(operand) for operand in operands])
            case Elementwise():
                raise Refused("of what kind an s-op is, is not certain")
            case Tokens():
                return frozenset(map(type, self.inputs.vocabulary))
            case TokensAs(kind):
                return frozenset({{"int": int, "float": Fraction, "bool": bool}.get(kind, str)})
            case Const(value):
                return frozenset({type(value)})
            case Aggregate(_, values, default):
                meaning = self.claims.aggregates.get(node)
                if meaning is not None and meaning.rule == "mean":
                    return frozenset(map(type, self.domain(meaning.outputs[0]).atoms))
                if meaning is not None and meaning.rule == "pick":
                    return frozenset({type(self.picks.atoms(values, True)[0]), type(default)})
                if meaning is not None and meaning.rule == "count" and self._counts_one(meaning):
                    return frozenset({type(self.picks.atoms(values, True)[0])})
                return self.kinds(values) | {Fraction, type(default)}
        return frozenset({int})


def _joined(operands: list[frozenset[type]]) -> frozenset[type]:
    if any(kinds == {Fraction} for kinds in operands):
        return frozenset({Fraction})
    found: set[type] = set()
    for kinds in operands:
        found |= {int if kind is bool else kind for kind in kinds}
    return frozenset(found)


def _operands(node: SOp, op: str) -> list[SOp]:
    if not isinstance(node, Elementwise) or node.op != op:
        return [node]
    return [each for operand in node.operands for each in _operands(operand, op)]


def _row(space: Space, variable: int) -> Array:
    return np.asarray(space.grid[space.variables.index(variable)])


def _states_of(column: Column, domain: Domain) -> list[int]:
    """(atom,): the state in which an s-op has it; -1 where there is none. Equal numbers of
    different kinds are different states, unless the domain does not tell them apart.
    """
    alike: dict[tuple[bool, Atom | None], list[int]] = {}
    for state, known in enumerate(domain.atoms):
        alike.setdefault((isinstance(known, str), known), []).append(state)
    found = []
    for atom in column.atoms:
        equal = alike.get((isinstance(atom, str), atom), [])
        mine = [state for state in equal if typed(domain.atoms[state]) == typed(atom)]
        if len(equal) == 1 and domain.kinds:
            mine = equal
        elif equal and (not mine or (column.kinds and len(equal) > 1)):
            raise Refused("an int is told from an equal float, which are one number to a model")
        found.append(mine[0] if mine else -1)
    return found


def _loosened(column: Column, kinds: frozenset[type]) -> Column:
    return Column(column.atoms, column.places, kinds if len(kinds) > 1 else frozenset())


def _as_atom(number: Fraction, kinds: frozenset[type]) -> Atom:
    if kinds <= {bool} and number in (0, 1):
        return bool(number)
    if kinds != {Fraction} and number.denominator == 1:
        return int(number)
    return number


def _line(points: Sequence[tuple[Fraction, Fraction | None]], base: Linear) -> Linear | None:
    known: dict[Fraction, Fraction] = {}
    for code, number in points:
        if number is not None and known.setdefault(code, number) != number:
            return None
    if len(known) < 2:
        return None
    (first, low), (second, high), *_ = known.items()
    slope = (high - low) / (second - first)
    if any(low + slope * (code - first) != number for code, number in known.items()):
        return None
    return base.times(slope).plus(Linear(low - slope * first))
