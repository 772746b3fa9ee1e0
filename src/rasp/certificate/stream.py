"""The residual stream: what every dimension holds, as a sum over its sources, and how wrong it is.

At each position the stream is a sum: the token's row, the index's row, each head's outputs times
a direction, and for each group of hidden units a row by the state it is in. `read` multiplies
matrices out over these sources, in float64, where products of two float32 are exact. It proves
of what a reading is a function by trying every combination: what else a dimension holds must
cancel, and what does not cancel counts as error.

Rounding: numbers that are multiples of one power of two (their grain) and stay below 2^24 of it
are added in float32 without rounding, in any order. However else n numbers are added, each of the
sums on the way is at most the sum of all sizes, so the error is at most (n - 1) · 2^-24 of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rasp.certificate.choices import is_gate
from rasp.certificate.claims import (
    INDEX,
    TOKEN,
    CountVariable,
    NodeVariable,
    Refused,
    SumVariable,
)
from rasp.certificate.tables import Array, Space, base_line, is_ground
from rasp.certificate.values import Values

UNIT = 2.0**-24
"""The largest relative error of one operation in float32."""
SLACK = 1.01
"""For products of small errors, and for the rounding of the bounds themselves."""
EXACT = 2.0**24
DOUBLE = 2.0**-46
"""A generous relative error of what is computed here in float64."""
SMALL = 2.0**-20
"""What is left of a part, once a claimed sum has its share of it, that is a rounding error."""
MOST_CELLS = 40_000_000


@dataclass(frozen=True, eq=False)
class Parts:
    """Of some readings, over some combinations (combination, reading): four numbers each."""

    value: Array
    """Not a number where no input has the combination."""
    error: Array
    mass: Array
    """The sum of the sizes of all that is added up."""
    count: Array
    """How many numbers other than 0 that is."""

    @property
    def four(self) -> tuple[Array, Array, Array, Array]:
        return self.value, self.error, self.mass, self.count

    def plus(self, other: Parts) -> Parts:
        return Parts(self.value + other.value, self.error + other.error,
                     self.mass + other.mass, self.count + other.count)  # fmt: skip

    def at(self, places: Array) -> Parts:
        return Parts(self.value[places], self.error[places], self.mass[places], self.count[places])


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of some readings that is a function of these variables alone."""

    space: Space
    parts: Parts


@dataclass(frozen=True, eq=False)
class Reading:
    """Linear functions of the stream: a constant plus functions of different variables."""

    base: Parts  # (1, reading)
    pieces: list[Piece]
    grain: Array  # (reading,)
    powers: Array  # (reading,): whether all weights are powers of two
    most: Array  # (reading,): the largest sum of sizes, by the sizes of the dimensions
    terms: Array  # (reading,): how many dimensions are read

    def on(self, values: Values, space: Space) -> Parts:
        """The whole over a space that has all its variables."""
        total = Parts(*(np.repeat(part, space.size, axis=0) for part in (
            self.base.value, self.base.error, self.base.mass, self.base.count)))  # fmt: skip
        for piece in self.pieces:
            total = total.plus(piece.parts.at(located(values, piece.space, space)))
        return self.within(total)

    def within(self, parts: Parts) -> Parts:
        """The same, with no more mass and numbers than the dimensions that are read have."""
        return Parts(parts.value, parts.error, np.minimum(parts.mass, self.most),
                     np.minimum(parts.count, self.terms))  # fmt: skip

    def rounding(self, parts: Parts, bias: Array, sign: Array | float = 1.0) -> Array:
        """How far off float32 can be where it adds up a reading, times a sign, and a bias.

        Whatever the order, no sum on the way is beyond all that is positive, or all that is
        negative: with m for the sum of sizes and v for the whole, beyond (m + |v|) / 2.
        """
        mass = parts.mass + np.abs(bias)
        count = parts.count + (bias != 0)
        grain = np.where(bias != 0, np.minimum(self.grain, grains(bias)), self.grain)
        most = (mass + np.fmin(np.abs(sign * parts.value + bias) + parts.error, mass)) / 2
        exact = (most <= EXACT * grain) & (grain > 0)
        sums = most * np.maximum(count - 1, 0) + mass * ~self.powers
        return np.asarray(np.where(exact, 0.0, SLACK * UNIT * sums) + DOUBLE * mass * ~exact)


@dataclass(frozen=True, eq=False)
class Group:
    """What some hidden units add, by the state of their inputs."""

    space: Space
    points: Array  # (combination,)
    dims: Array
    table: Array  # (point, dimension)
    error: Array  # (point, dimension)


@dataclass(frozen=True, eq=False)
class Term:
    """One source's part of some readings."""

    variables: tuple[int, ...]
    space: Space
    parts: Parts


class Stream:
    """The sources of the residual stream, at every position but the sink's."""

    def __init__(self, values: Values, tokens: Array, positions: Array) -> None:
        self.values, self.tokens, self.positions = values, tokens, positions
        size = tokens.shape[1]
        self.constant = np.zeros(size)
        self.outputs: dict[int, Array] = {}
        self.groups: list[Group] = []
        both = tokens[:, None] + positions[None]
        rounded = tokens.astype(np.float32)[:, None] + positions.astype(np.float32)[None]
        self.error: Array = np.abs(rounded.astype(np.float64) - both).max(axis=(0, 1))
        self.low: Array = both.min(axis=(0, 1))
        self.high: Array = both.max(axis=(0, 1))
        """Between what each dimension is, errors aside."""
        self.stray: Array = self.error
        """How far beyond that it may be."""
        self.grain = np.array([
            0.0 if wrong else grain_of(np.append(some, others))
            for wrong, some, others in zip(self.error, tokens.T, positions.T, strict=True)
        ])  # fmt: skip
        """A power of two of which a dimension holds exact multiples; 0 where there is none."""
        self.gradient = np.ones(size)
        """How much each dimension can change with the embedded input: the length of the gradient,
        at most, at any input of the statement."""

    # -- writing ----------------------------------------------------------------------------------

    @property
    def size(self) -> Array:
        """The largest size of each dimension."""
        return np.asarray(np.maximum(-self.low, self.high) + self.stray)

    def add(
        self, error: Array, up: Array, down: Array, ends: tuple[Array, Array], count: Array,
        grain: Array, alone: Array,
    ) -> None:  # fmt: skip
        """A block adds `count` numbers to each dimension, this far off.

        All that is positive of them comes to `up` at most, all that is negative to `down`, so that
        no sum on the way is beyond these; their sum is between `ends`. Where something is `alone`
        in a dimension, its error knows of the rounding already.
        """
        touched = up + down > 0
        held = self.size > 0
        both = np.where(held, np.minimum(self.grain, grain), grain)
        most = np.maximum(np.maximum(self.high, 0) + up, np.maximum(-self.low, 0) + down)
        exact = (both > 0) & (most <= EXACT * both)
        sums = (most + self.stray) * np.maximum(count - ~held, 0)
        rounding = np.where(exact | alone & ~held, 0.0, SLACK * UNIT * sums)
        self.error = self.error + np.where(touched, error + rounding, 0.0)
        fine = exact & (error == 0)
        self.grain = np.where(touched, np.where(fine, both, 0.0), self.grain)
        self.low, self.high = self.low + ends[0], self.high + ends[1]
        self.stray = self.stray + np.where(touched, error + rounding, 0.0)

    def disturb(self, radius: float) -> None:
        """Let every dimension move by `radius` times the root mean square of the stream here."""
        if radius:
            moved = radius * self.largest_rms()
            self.error, self.stray = self.error + moved, self.stray + moved
            self.grain = np.zeros_like(self.grain)

    def largest_rms(self) -> float:
        """The root mean square of the dimensions, at most.

        The stream is a sum of sources, so its squared length is the sum of their products: each is
        at most the largest over all states of the two, and 0 for those that share no dimension.
        """
        sources = [(np.arange(len(self.error)), table)
                   for table in (self.tokens, self.positions, self.constant[None])]  # fmt: skip
        sources += [(np.arange(len(self.error)), np.outer(self._numbers(variable), direction))
                    for variable, direction in self.outputs.items()]  # fmt: skip
        sources += [(group.dims, group.table) for group in self.groups]
        tables = []
        for dims, table in sources:
            used = table.any(axis=0)
            tables.append((dims[used], table[:, used]))
        square = 0.0
        for place, (dims, table) in enumerate(tables):
            square += float((table**2).sum(axis=1).max(initial=0.0))
            for others, other in tables[:place]:
                shared, mine, its = np.intersect1d(dims, others, return_indices=True)
                if len(shared):
                    most = np.abs(table[:, mine]).max(axis=0) @ np.abs(other[:, its]).max(axis=0)
                    square += 2 * float(most)
        wrong = np.linalg.norm(self.error) + sum(
            np.linalg.norm(group.error.max(axis=0, initial=0.0)) for group in self.groups
        )
        return float((np.sqrt(square) + wrong) / np.sqrt(len(self.error)))

    # -- reading ----------------------------------------------------------------------------------

    def read(self, rows: Array, variables: Sequence[int]) -> Reading:
        """Multiply rows (reading, dimension) out; they must be functions of these variables."""
        wanted = self._without_counts(variables)
        constant, terms = self._terms(rows, wanted)
        for parts in (constant, *(term.parts for term in terms)):
            if not all(np.isfinite(part).all() for part in parts.four):
                raise Refused("a number is too large to be looked at, or an error is")
        clusters = self._clusters(terms, wanted)
        pieces = []
        base = constant
        for cluster, members in clusters:
            if cluster:
                pieces.append(self._piece(cluster, members))
            else:
                for member in members:
                    base = base.plus(_constant_part(member.parts))
        used = rows != 0
        grain = np.where(used, grains(rows) * self.grain, np.inf).min(axis=1, initial=2.0**20)
        powers = (~used | (np.frexp(np.abs(rows))[0] == 0.5)).all(axis=1)
        most, terms = np.abs(rows) @ self.size, (used & (self.size > 0)).sum(axis=1)
        return self._with_counts(Reading(base, pieces, grain, powers, most, terms), variables)

    def largest(self, rows: Array) -> tuple[Array, Array]:
        """(reading,): the least and the largest that rows can be, whatever the position."""
        low = high = self.constant @ rows.T
        tables = [self.tokens @ rows.T, self.positions @ rows.T]
        for variable, direction in self.outputs.items():
            tables.append(np.outer(self._numbers(variable), direction @ rows.T))
        tables += [group.table @ rows[:, group.dims].T for group in self.groups]
        for table in tables:
            low, high = low + table.min(axis=0), high + table.max(axis=0)
        error = np.abs(rows) @ self.error + self._group_errors(rows)
        return low - error, high + error

    def _group_errors(self, rows: Array) -> Array:
        total = np.zeros(len(rows))
        for group in self.groups:
            total += (group.error @ np.abs(rows[:, group.dims]).T).max(axis=0, initial=0.0)
        return total

    def _numbers(self, variable: int) -> Array:
        numbers = self.values.domain(variable).numbers
        assert numbers is not None
        return np.array([float(number) for number in numbers])

    def _terms(self, rows: Array, variables: tuple[int, ...]) -> tuple[Parts, list[Term]]:
        """The constant and every source's part; outputs are put together to the sums claimed."""
        size, used = np.abs(rows), rows != 0
        tokens, indices = self.tokens @ rows.T, self.positions @ rows.T
        first = base_line(self.values.inputs)
        constant = tokens[0] + indices[first] + self.constant @ rows.T
        by_token, by_index = tokens - tokens[0], indices - indices[first]
        if self.values.inputs.bos is not None:  # it is at index 0: the one tells the other
            known = self._inside(variables)
            if TOKEN in known and INDEX not in known:
                by_token[-1] += by_index[0]
                by_index[0] = 0.0
            else:
                by_index[0] += by_token[-1]
                by_token[-1] = 0.0
        nothing = np.zeros((1, len(rows)))
        base = Parts(
            constant[None],
            (size @ self.error)[None],
            (size @ np.abs(self.constant))[None],
            (used @ (self.constant != 0).astype(float))[None],
        )
        terms = []
        for variable, table, source in ((TOKEN, by_token, self.tokens),
                                        (INDEX, by_index, self.positions)):  # fmt: skip
            parts = Parts(table, np.zeros_like(table), np.abs(source) @ size.T,
                          (source != 0).astype(float) @ used.T.astype(float))  # fmt: skip
            terms.append(Term((variable,), self.values.space((variable,)), parts))
        for group in self.groups:
            inner = rows[:, group.dims]
            if inner.any():
                parts = Parts(
                    group.table @ inner.T,
                    group.error @ np.abs(inner).T,
                    np.abs(group.table) @ np.abs(inner).T,
                    (group.table != 0).astype(float) @ (inner != 0).T.astype(float),
                )
                terms.append(Term(group.space.variables, group.space, parts.at(group.points)))
        factors = {variable: direction @ rows.T for variable, direction in self.outputs.items()}
        base = base.plus(Parts(nothing, *(sum((self._of_output(variable, size, used)[part]
                                               for variable in self.outputs), nothing)
                                          for part in range(3))))  # fmt: skip
        scales = {variable: np.abs(direction) @ size.T
                  for variable, direction in self.outputs.items()}  # fmt: skip
        constant_left, noise, terms = self._by_sums(factors, scales, terms, variables)
        return base.plus(Parts(constant_left, noise, nothing, nothing)), terms

    def _of_output(self, variable: int, size: Array, used: Array) -> tuple[Array, Array, Array]:
        """The error, mass and count that an output brings, at most."""
        direction = self.outputs[variable]
        most = np.abs(self._numbers(variable)).max(initial=0.0)
        mass = (size @ np.abs(direction)) * most
        return np.zeros((1, len(size))), mass[None], (used @ (direction != 0).astype(float))[None]

    def _by_sums(
        self, factors: dict[int, Array], scales: dict[int, Array], terms: list[Term],
        variables: tuple[int, ...],
    ) -> tuple[Array, Array, list[Term]]:  # fmt: skip
        """Write outputs (and tables of the token and the index) as multiples of claimed sums.

        What is left of an output by rounding here counts as error.
        """
        count = terms[0].parts.value.shape[1]
        sums = {variable: self.values.linear_of(variable) for variable in variables
                if isinstance(self.values.claims.variables[variable], SumVariable)}  # fmt: skip
        tables = {("tok", place): row for place, row in enumerate(terms[0].parts.value)}
        tables |= {("idx", place): row for place, row in enumerate(terms[1].parts.value)}
        tables |= {("out", variable): factor for variable, factor in factors.items()}
        constant = np.zeros((1, count))
        found = terms[2:]
        if sums:
            explained = {inner for variable in variables for inner in self._closure(variable)
                         if variable not in sums}  # fmt: skip
            parts = list(dict.fromkeys(part for known in sums.values() for part in known.parts))
            free = [part for part in parts if is_ground(part) not in explained] or parts
            matrix = np.array([[float(known.parts.get(part, 0)) for known in sums.values()]
                               for part in free])  # fmt: skip
            wanted = np.array([tables.get(part, np.zeros(count)) for part in free])
            weights = np.linalg.lstsq(matrix, wanted, rcond=None)[0]  # (sum, reading)
            near = np.round(weights * 2.0**20) / 2.0**20  # any weights will do: what is left counts
            weights = np.where(np.abs(near - weights) <= DOUBLE * np.abs(weights), near, weights)
            for (variable, known), weight in zip(sums.items(), weights, strict=True):
                for part, share in known.parts.items():
                    tables[part] = tables.get(part, np.zeros(count)) - float(share) * weight
                constant = constant - float(known.constant) * weight
                found.append(self._term(variable, np.outer(self._numbers(variable), weight)))
        noise = np.zeros((1, count))
        for kind, variable in (("tok", TOKEN), ("idx", INDEX)):
            size = self.values.domain(variable).size
            table = np.array([tables[kind, place] for place in range(size)])
            old = terms[variable].parts
            small = np.abs(table) <= SMALL * np.abs(table - old.value)
            noise += np.where(small, np.abs(table), 0.0).max(axis=0)
            held = Parts(np.where(small, 0.0, table), old.error, old.mass, old.count)
            found.append(Term((variable,), self.values.space((variable,)), held))
        for (kind, variable), factor in tables.items():
            if kind == "out":
                small = np.abs(factor) <= SMALL * np.abs(factor - factors.get(variable, 0.0))
                small |= np.abs(factor) <= DOUBLE * scales.get(variable, np.zeros(count))
                numbers = self._numbers(variable)
                noise += np.where(small, np.abs(factor), 0.0) * np.abs(numbers).max(initial=0.0)
                if not small.all():
                    found.append(
                        self._term(variable, np.outer(numbers, np.where(small, 0, factor)))
                    )
        return constant, noise, found

    def _term(self, variable: int, value: Array) -> Term:
        nothing = np.zeros_like(value)
        space = self.values.space((variable,))
        parts = Parts(value, nothing, nothing, nothing).at(space.grid[0])
        return Term((variable,), space, parts)

    # -- functions of what is claimed ------------------------------------------------------------

    def _closure(self, variable: int) -> set[int]:
        """A variable, and all that it is made of."""
        known = self.values.claims.variables[variable]
        found = {variable}
        inner: Sequence[int] = ()
        if isinstance(known, SumVariable):
            inner = [is_ground(part) for part in known.parts]
        elif isinstance(known, NodeVariable):
            inner = self.values.over(known.node)
        for each in inner:
            found |= self._closure(each)
        return found

    def _inside(self, variables: Sequence[int]) -> set[int]:
        return set().union(*(self._closure(variable) for variable in variables))

    def _clusters(
        self, terms: list[Term], variables: tuple[int, ...]
    ) -> list[tuple[tuple[int, ...], list[Term]]]:
        """Variables that some term connects, with these terms; what is constant is by itself."""
        groups: list[tuple[set[int], list[Term]]] = [({variable}, []) for variable in variables]
        loose: list[Term] = []
        for term in terms:
            touched = self._touched(term, variables)
            if (
                touched
                and self.values.inputs.bos is not None
                and term.variables in ((TOKEN,), (INDEX,))
            ):
                touched |= {v for v in variables if self._closure(v) & {TOKEN, INDEX}}
            mine = [group for group in groups if group[0] & touched]
            if not mine:
                loose.append(term)
                continue
            joined = (set().union(*(group[0] for group in mine)),
                      [term, *(each for group in mine for each in group[1])])  # fmt: skip
            groups = [group for group in groups if group not in mine] + [joined]
        found = [(tuple(v for v in variables if v in names), members) for names, members in groups]
        return [((), loose), *((names, members) for names, members in found if members)]

    def _touched(self, term: Term, variables: tuple[int, ...]) -> set[int]:
        """The claimed variables that a term is to be a function of; none where it is constant,
        but for something as small as what is rounded here.
        """
        direct = {variable for variable in term.variables if variable in variables}
        if direct == set(term.variables):
            return direct
        for variable in variables:
            if self._is_of_choice(term, variable):
                return {variable}
        spread, mass = _spread(term.parts.value), term.parts.mass.max(initial=0.0)
        if spread <= DOUBLE * mass and not term.parts.error.any():
            return set()
        inner = set().union(*(self._closure(variable) for variable in term.variables))
        touched = direct | {v for v in variables if self._closure(v) & inner}
        for variable in touched if len(touched) > 1 else ():
            if self._decides(variable, term):
                return {variable}
        return touched

    def _is_of_choice(self, term: Term, variable: int) -> bool:
        """Whether a term speaks of the leaves of a choice, and of which of them it is."""
        known = self.values.claims.variables[variable]
        if not isinstance(known, NodeVariable) or known.node not in self.values.claims.choices:
            return False
        over = self.values.over(known.node)
        which, _ = self.values.claims.choices[known.node]
        for each in term.variables:
            inner = self.values.claims.variables[each]
            gates = isinstance(inner, NodeVariable) and is_gate(inner.node, which)
            if each not in over and not gates:
                return False
        return True

    def _decides(self, variable: int, term: Term) -> bool:
        """Whether a term is a function of one s-op, by itself."""
        known = self.values.claims.variables[variable]
        if not isinstance(known, NodeVariable) or known.node in self.values.claims.choices:
            return False
        if not set(term.variables) <= set(self.values.over(known.node)):
            return False
        try:
            onto = self.values.states_on(variable, term.space)
        except Refused:
            return False
        parts = projected(term.parts, onto, self.values.domain(variable).size)
        exact = projected(
            Parts(term.parts.value, *np.zeros((3, *term.parts.value.shape))), onto,
            self.values.domain(variable).size,
        )  # fmt: skip
        return bool(exact.error.max(initial=0.0) <= DOUBLE * parts.mass.max(initial=0.0))

    def _piece(self, cluster: tuple[int, ...], terms: list[Term]) -> Piece:
        """Add terms up over a cluster of variables, or over what these are made of."""
        space = self._common_space(cluster, terms)
        fine = np.ones(space.size, bool)
        located_terms = []
        is_open = len(set(space.variables)) < len(space.variables)
        for term in terms:
            parts = self._with_open(term, space) if is_open else term.parts
            places = np.arange(space.size) if is_open else located(self.values, term.space, space)
            fine &= (places >= 0) & ~np.isnan(parts.value).any(axis=1) if is_open else places >= 0
            located_terms.append((parts, places))
        kept = np.flatnonzero(fine)
        count = terms[0].parts.value.shape[1]
        if len(kept) * count > MOST_CELLS:
            raise Refused("a table is too large to be looked at")
        total = Parts(*np.zeros((4, len(kept), count)))
        for parts, places in located_terms:
            total = total.plus(parts.at(places[kept]))
        target = self.values.space(cluster)
        if space is target and len(kept) == space.size:
            return Piece(space, total)
        onto = located(self.values, target, space)[kept]
        return Piece(target, projected(total, onto, target.size))

    def _with_open(self, term: Term, space: Space) -> Parts:
        """A term over cases of a choice: of what is left open, all that it can be counts."""
        rows = np.array([self.values.states_on(variable, space) for variable in term.variables])
        rows = rows.reshape(len(term.variables), space.size)
        found = np.zeros((4, space.size, term.parts.value.shape[1]))
        patterns, which = np.unique(rows >= 0, axis=1, return_inverse=True)
        for number, known in enumerate(patterns.T):
            sizes = [
                self.values.domain(variable).size
                for variable, is_known in zip(term.variables, known, strict=True)
                if is_known
            ]
            mine = np.flatnonzero(which.reshape(-1) == number)
            onto, at = np.zeros(term.space.size, int), np.zeros(len(mine), int)
            if sizes:
                onto = np.ravel_multi_index([*term.space.grid[known]], sizes)
                at = np.ravel_multi_index([*rows[known][:, mine]], sizes)
            parts = projected(term.parts, onto, int(np.prod(sizes)))
            for place, part in enumerate(parts.at(at).four):
                found[place, mine] = part
        return Parts(*found)

    def _common_space(self, cluster: tuple[int, ...], terms: list[Term]) -> Space:
        """A space over which every term is a function: sums and s-ops are taken apart as needed."""
        variables = list(cluster)
        match self.values.claims.variables[cluster[0]], len(cluster):
            case NodeVariable(node), 1 if node in self.values.claims.choices:
                return self.values.table(node)[0]
        while True:
            space = self.values.space(variables)
            missing = [variable for term in terms for variable in term.variables
                       if not self._is_there(variable, space)]  # fmt: skip
            if not missing:
                return space
            wanted = set().union(*(self._closure(variable) for variable in missing))
            opened: list[int] = []
            for variable in variables:
                known = self.values.claims.variables[variable]
                if isinstance(known, NodeVariable) and self._closure(variable) & wanted:
                    opened += self.values.over(known.node)
                elif isinstance(known, SumVariable) and self._closure(variable) & wanted:
                    opened += [is_ground(part) for part in known.parts]
                else:
                    opened.append(variable)
            opened = list(dict.fromkeys(opened))
            if opened == variables:
                raise Refused("a reading depends on more than is claimed")
            variables = opened

    def _is_there(self, variable: int, space: Space) -> bool:
        try:
            self.values.states_on(variable, space)
        except Refused:
            return False
        return True

    # -- counts -----------------------------------------------------------------------------------

    def _without_counts(self, variables: Sequence[int]) -> tuple[int, ...]:
        """Claimed variables, with the conditions themselves in place of how many hold."""
        found: list[int] = []
        for variable in variables:
            known = self.values.claims.variables[variable]
            if isinstance(known, CountVariable):
                found += [self.values.node_variables[node] for node in known.conditions
                          if node in self.values.node_variables]  # fmt: skip
            else:
                found.append(variable)
        return tuple(dict.fromkeys(found))

    def _with_counts(self, reading: Reading, variables: Sequence[int]) -> Reading:
        """Conditions that all add the same where they hold, as a multiple of how many hold."""
        for variable in variables:
            known = self.values.claims.variables[variable]
            if isinstance(known, CountVariable):
                reading = self._with_count(reading, variable, known)
        return reading

    def _with_count(self, reading: Reading, variable: int, known: CountVariable) -> Reading:
        members = {self.values.node_variables.get(node) for node in known.conditions}
        mine = [piece for piece in reading.pieces if set(piece.space.variables) & members]
        if not mine:  # it is the same, however many hold
            return reading
        others = [piece for piece in reading.pieces if piece not in mine]
        parts_of = []
        for piece in mine:
            if not set(piece.space.variables) <= members:
                raise Refused("conditions that are counted are read with something else")
            held = np.zeros(piece.space.size, int)
            for row, inner in zip(piece.space.grid, piece.space.variables, strict=True):
                atoms = self.values.domain(inner).atoms
                held += np.array([atom is True for atom in atoms])[row]
            held[np.isnan(piece.parts.value).any(axis=1)] = -1
            parts_of.append(projected(piece.parts, held, len(piece.space.variables) + 1))
        if sum(len(piece.space.variables) for piece in mine) != len(known.conditions):
            raise Refused("some condition that is counted is not read")
        slope = np.median(
            [_slope(parts) for parts in parts_of if _slope(parts) is not None], axis=0
        )
        slope = np.nan_to_num(slope)
        base = reading.base
        for parts in parts_of:
            counts = np.arange(len(parts.value))[:, None]
            there = np.flatnonzero(~np.isnan(parts.value).any(axis=1))
            if len(there):
                level = (parts.value - counts * slope)[there]
                base = base.plus(
                    _constant_part(Parts(level, *(part[there] for part in parts.four[1:])))
                )
        count = np.outer(np.arange(len(known.conditions) + 1), slope)
        nothing = np.zeros_like(count)
        piece = Piece(self.values.space((variable,)), Parts(count, nothing, nothing, nothing))
        return replace(reading, base=base, pieces=[*others, piece])


def _slope(parts: Parts) -> Array | None:
    """What one more condition adds; None where only one count occurs."""
    there = np.flatnonzero(~np.isnan(parts.value).any(axis=1))
    if len(there) < 2:
        return None
    first, last = there[0], there[-1]
    return np.asarray((parts.value[last] - parts.value[first]) / (last - first))


def located(values: Values, inner: Space, outer: Space) -> Array:
    """(combination of the outer space,): its place in the inner one; -1 where it is not there."""
    if inner is outer:
        return np.arange(outer.size)
    if not inner.variables:
        return np.zeros(outer.size, int)
    sizes = [values.domain(variable).size for variable in inner.variables]
    rows = [values.states_on(variable, outer) for variable in inner.variables]
    fine = np.all([row >= 0 for row in rows], axis=0)
    known = np.full(int(np.prod(sizes)), -1)
    known[np.ravel_multi_index([*inner.grid], sizes)] = np.arange(inner.size)
    found = np.full(outer.size, -1)
    found[fine] = known[np.ravel_multi_index([row[fine] for row in rows], sizes)]
    return found


def projected(parts: Parts, onto: Array, size: int) -> Parts:
    """The middle of all that lands on one place; how far that is from the ends is an error."""
    fine = onto >= 0
    count = parts.value.shape[1]
    low, high = np.full((size, count), np.inf), np.full((size, count), -np.inf)
    np.minimum.at(low, onto[fine], parts.value[fine])
    np.maximum.at(high, onto[fine], parts.value[fine])
    most = []
    for array in (parts.error, parts.mass, parts.count):
        found = np.zeros((size, count))
        np.maximum.at(found, onto[fine], array[fine])
        most.append(found)
    empty = low > high  # no input is in this state
    low[empty] = high[empty] = 0.0
    value = np.where(empty, np.nan, (low + high) / 2)
    return Parts(value, most[0] + (high - low) / 2, most[1], most[2])


def _spread(value: Array) -> float:
    return float(np.ptp(value, axis=0).max(initial=0.0)) if len(value) else 0.0


def _constant_part(parts: Parts) -> Parts:
    """A term that should be constant: how far it is not counts as error."""
    if not len(parts.value):
        return Parts(*np.zeros((4, 1, parts.value.shape[1])))
    low, high = parts.value.min(axis=0), parts.value.max(axis=0)
    return Parts(((low + high) / 2)[None], (parts.error.max(axis=0) + (high - low) / 2)[None],
                 parts.mass.max(axis=0)[None], parts.count.max(axis=0)[None])  # fmt: skip


def grain_of(numbers: Array) -> float:
    """The largest power of two that divides all numbers; 0 where there is none above 2^-40."""
    return float(grains(numbers).min(initial=2.0**20))


def grains(numbers: Array) -> Array:
    """The same for each number alone; for 0, which is a multiple of everything, 2^20."""
    fraction, exponent = np.frexp(numbers)
    whole = (fraction * 2.0**53).astype(np.int64)  # the number is this times 2^(exponent - 53)
    found = np.ldexp((whole & -whole).astype(float), exponent - 53)
    found = np.where(found < 2.0**-40, 0.0, np.minimum(found, 2.0**20))
    return np.asarray(np.where(numbers == 0, 2.0**20, found))
