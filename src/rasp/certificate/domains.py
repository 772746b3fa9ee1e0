"""Rules for what heads put out and weighted sums of that: each with the reason why it is true."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from rasp.atoms import Atom
from rasp.certificate.claims import (
    INDEX,
    TOKEN,
    Claims,
    HeadClaim,
    HeadOutput,
    Inputs,
    Meaning,
    NodeVariable,
    OutputVariable,
    Refused,
)
from rasp.certificate.picks import Picks
from rasp.certificate.reach import Row, joint_sums, means, pair_sums, subset_sums, sums, whole_sums
from rasp.certificate.tables import (
    Array,
    Column,
    Linear,
    Space,
    column_of,
    combined,
    index_table,
    joint_places,
    token_table,
    typed,
)
from rasp.graph import Aggregate, Const, Elementwise, SelectorAnd, SelectorOr, SOp

if TYPE_CHECKING:
    from rasp.certificate.values import Domain


class Domains(ABC):
    """The part of `Values` that knows what attention can make."""

    claims: Claims
    inputs: Inputs
    picks: Picks
    _joint: dict[tuple[int, ...], Array | None]

    @abstractmethod
    def head(self, variable: int) -> HeadClaim: ...
    @abstractmethod
    def output(self, variable: int) -> HeadOutput: ...
    @abstractmethod
    def over(self, node: SOp) -> tuple[int, ...]: ...
    @abstractmethod
    def table(self, node: SOp) -> tuple[Space, Column]: ...
    @abstractmethod
    def domain(self, variable: int) -> Domain: ...
    @abstractmethod
    def space(self, variables: Sequence[int]) -> Space: ...
    @abstractmethod
    def column(self, node: SOp, space: Space) -> Column: ...
    @abstractmethod
    def linear_column(self, linear: Linear, space: Space) -> Column: ...
    @abstractmethod
    def whole(self, meaning: Meaning) -> Linear: ...

    # -- outputs ----------------------------------------------------------------------------------

    def states_of_output(self, variable: int) -> list[tuple[Atom, Fraction]]:
        """What a head can put out: an atom, and the number that stands for it."""
        head, output = self.head(variable), self.output(variable)
        if head.mode == "share":
            shares = [
                self.share(head, others)
                for others in range(int(head.outweighs), self.inputs.max_length)
            ]
            return [(number, number) for number in {*shares, Fraction(head.outweighs)}]
        if output.carrier is not None:
            return self._moved_counts(head, output)
        known = self.by_length(variable)
        if known is not None:
            return [*zip(known, map(Fraction, known), strict=True)]
        atoms = self.picks.atoms(output.values, None)
        if head.mode == "sum":
            return [(number, number) for number in self._sums_of(output.values, head)]
        found: list[Atom] = list(atoms)
        numbers = [Fraction(atom) for atom in atoms if not isinstance(atom, (bool, str))]
        if self.picks.picks_one_value(head, output):
            found += [] if self.picks.picks_one(head) else numbers
        elif numbers:
            found += means(numbers, self.inputs.max_length)
        if not head.never_empty:
            if output.default is None:
                raise Refused("a head may pick nothing, and no default is claimed")
            found.append(output.default)
        return [(atom, self.code(output, atom)) for atom in found]

    def share(self, head: HeadClaim, others: int) -> Fraction:
        """What position 0 gets of a head's attention, as many others being picked."""
        return head.weight / (head.weight + others)

    def numbers_of_shares(self, variables: Sequence[int]) -> dict[Fraction, tuple[bool, int]]:
        """What the shares of two heads add up to, and what that tells.

        That is whether position 0 is picked, and how many others. Both heads have one selector,
        which always picks something: where not position 0, another one.
        """
        first, second = (self.head(variable) for variable in variables)
        selectors = [[each.selector for each in head.conjuncts] for head in (first, second)]
        alike = selectors[0] == selectors[1] and first.weight == second.weight > 0
        if not alike or first.outweighs == second.outweighs:
            raise Refused("two heads that give shares do not belong together")
        found = {self.share(first, others): (False, others)
                 for others in range(1, self.inputs.max_length)}  # fmt: skip
        found |= {1 + self.share(first, others): (True, others)
                  for others in range(self.inputs.max_length)}  # fmt: skip
        return found

    def code(self, output: HeadOutput, atom: Atom) -> Fraction:
        """The number that stands for an atom."""
        if output.codes is not None:
            if atom not in output.codes:
                raise Refused("an atom has no number that stands for it")
            return output.codes[atom]
        if isinstance(atom, str):
            raise Refused("a string has no number that stands for it")
        return Fraction(atom)

    def default_code(self, output: HeadOutput) -> Fraction:
        """What values are counted from, so that a query that picks nothing gets 0 more."""
        return Fraction(0) if output.default is None else self.code(output, output.default)

    def _sums_of(self, values: SOp, head: HeadClaim) -> list[Fraction]:
        """Each position is picked once at most: where only index 0 holds more than 0, it adds that
        or nothing; where the index decides a value, no value is added twice; otherwise at most N
        values are added, at least one if none is ever empty.
        """
        space, column = self.table(values)
        if any(isinstance(atom, str) for atom in column.listed()):
            raise Refused("a sum of strings")
        numbers = [Fraction(atom) for atom in column.listed() if atom is not None]
        if not any(self.picks.atoms(values, False)):  # nothing but index 0 adds anything
            return sorted(
                {Fraction(0), *(Fraction(atom) for atom in self.picks.atoms(values, True))}
            )
        if space.variables == (INDEX,) and None not in column.listed():
            listed = [column.atoms[place] for place in column.places.tolist()]
            return subset_sums([Fraction(atom) for atom in listed if atom is not None])
        return sums(numbers, self.inputs.max_length, int(head.never_empty))

    def _moved_counts(self, head: HeadClaim, output: HeadOutput) -> list[tuple[Atom, Fraction]]:
        """A count in place of the values that it decides: picked once, or a bool, of which no two
        are; or a mean of counts, for who asks only whether something is above 0.
        """
        assert output.carrier is not None
        space = self.space((output.carrier,))
        column = self.column(output.values, space)
        if column.kinds:
            raise Refused("a count is moved for numbers of uncertain kind")
        atoms = [column.atoms[place] for place in column.places.tolist()]
        is_bool = all(isinstance(atom, bool) for atom in atoms)
        found: list[tuple[Atom, Fraction]] = [
            (atom, Fraction(count)) for count, atom in enumerate(atoms) if atom is not None
        ]
        if not is_bool and not self.picks.picks_one(head):
            counts = [Fraction(count) for count in range(len(atoms))]
            found = [(mean, mean) for mean in means(counts, self.inputs.max_length)]
        if not head.never_empty:
            if output.default is None:
                raise Refused("a head may pick nothing, and no default is claimed")
            found.append((output.default, self.default_code(output)))
        return found

    def by_length(self, variable: int) -> list[int | Fraction] | None:
        """What an output is at length 1, 2, …, where that decides it: the head picks every key,
        and the index decides what a key holds, so that it is the sum or the mean of the first so
        many. A mean of one number is that number itself.
        """
        if not isinstance(self.claims.variables[variable], OutputVariable):
            return None
        head, output = self.head(variable), self.output(variable)
        plain = output.codes is None and output.carrier is None and head.mode in ("sum", "mean")
        over = self.over(output.values)
        if head.conjuncts or head.best is not None or not plain or over not in ((), (INDEX,)):
            return None
        column = self.column(output.values, self.space((INDEX,)))
        atoms = [column.atoms[place] for place in column.places.tolist()]
        numbers = [Fraction(atom) for atom in atoms if isinstance(atom, (int, Fraction))]
        if len(numbers) < len(atoms) or any(isinstance(atom, bool) for atom in atoms):
            return None
        sums = list(accumulate(numbers))
        if head.mode == "sum":
            return [*sums]
        means = [total / count for count, total in enumerate(sums, 1)]
        return [atoms[0], *means[1:]]

    def longest(self, variable: int) -> Array | None:
        """(state,): the longest input on which an output is in a state, if the length decides it.

        Every index is below the length.
        """
        known = self.by_length(variable)
        if known is None:
            return None
        last = {typed(atom): length for length, atom in enumerate(known, 1)}
        return np.array([last[typed(atom)] for atom in self.domain(variable).atoms])

    def is_length(self, variable: int) -> bool:
        """Whether an output is how many positions there are: everything is picked, each adds 1."""
        if not isinstance(self.claims.variables[variable], OutputVariable):
            return False
        head, output = self.head(variable), self.output(variable)
        return (head.mode == "sum" and not head.conjuncts
                and set(self.picks.atoms(output.values, None)) == {1})  # fmt: skip

    # -- sums -------------------------------------------------------------------------------------

    def numbers_of_sum(self, linear: Linear) -> list[Fraction]:
        """Everything a weighted sum can be.

        The token and the index are free of each other, but for a BOS, which is at index 0 and
        only there (and is written as that). An index is below the length. Outputs of one head
        are sums over the same keys.
        """
        linear, length = self._with_one_length(linear)
        tokens, indices = token_table(linear, self.inputs), index_table(linear, self.inputs)
        reach: list[Fraction]
        if length is not None:
            weight, most = linear.parts["out", length], self.inputs.max_length
            below = {linear.constant + index + weight * count
                     for place, index in enumerate(indices)
                     for count in range(place + 1, most + 1)}  # fmt: skip
            reach = pair_sums(tokens, below)
        elif self.inputs.bos is not None:
            known = (
                {*pair_sums(tokens[:-1], indices[1:]), tokens[-1] + indices[0]}
                if indices[1:]
                else {tokens[-1] + indices[0]}
            )
            reach = [linear.constant + number for number in known]
        else:
            reach = pair_sums(tokens, [linear.constant + number for number in indices])
        by_head: dict[object, dict[int, Fraction]] = {}
        for (kind, variable), weight in linear.parts.items():
            if kind == "out" and variable != length:
                known_as = self.claims.variables[variable]
                assert isinstance(known_as, OutputVariable)
                place = (known_as.layer, known_as.head)
                family = frozenset({place, *self.head(variable).family})
                if self.head(variable).mode == "share":
                    family = frozenset({(known_as.layer, -1)})
                by_head.setdefault(family, {})[variable] = weight
        for outputs in by_head.values():
            reach = pair_sums(reach, self._numbers_of_outputs(outputs))
        return sorted(set(reach))

    def _with_one_length(self, linear: Linear) -> tuple[Linear, int | None]:
        lengths = [part for part in linear.parts if part[0] == "out" and self.is_length(part[1])]
        weight = sum((linear.parts[part] for part in lengths), Fraction(0))
        parts = {part: known for part, known in linear.parts.items() if part not in lengths}
        if not weight:
            return Linear(linear.constant, parts), None
        return Linear(linear.constant, {**parts, lengths[0]: weight}), lengths[0][1]

    def _numbers_of_outputs(self, weights: dict[int, Fraction]) -> list[Fraction]:
        """A weighted sum of sums over the same keys is the sum of their weighted values."""
        if len(weights) == 1:
            ((variable, weight),) = weights.items()
            numbers = self.domain(variable).numbers
            assert numbers is not None
            return sorted({weight * number for number in numbers})
        variables = list(weights)
        heads = [self.head(variable) for variable in variables]
        plain = all(
            self.output(v).codes is None and self.output(v).carrier is None for v in variables
        )
        modes = {head.mode for head in heads}
        if modes == {"share"} and len(weights) == 2 and set(weights.values()) == {1}:
            return sorted(self.numbers_of_shares(variables))
        if not plain or len(modes) > 1 or modes == {"share"}:
            return self._one_by_one(weights)
        mixed = {id(head): self._mixture({v: weights[v] for v in variables if self.head(v) is head})
                 for head in heads}  # fmt: skip
        try:
            atoms = [
                Fraction(atom) for node in mixed.values() for atom in self.picks.atoms(node, None)
            ]
        except Refused:
            return self._one_by_one(weights)
        most = self.inputs.max_length
        if modes == {"sum"}:
            if len(mixed) > 1:
                self.check_family(heads)
            if not any(any(self.picks.atoms(node, False)) for node in mixed.values()):
                firsts = [atom for node in mixed.values() for atom in self.picks.atoms(node, True)]
                return sorted({Fraction(0), *(Fraction(atom) for atom in firsts)})
            whole = all(self.over(node) == (INDEX,) for node in mixed.values())
            if len(mixed) == 1 and whole:
                return self._sums_of(next(iter(mixed.values())), heads[0])
            return sums(atoms, most, int(self._some_is_picked(heads)))
        if len({id(head) for head in heads}) > 1:  # means of different keys are no mean
            return self._one_by_one(weights)
        found = set(means(atoms, most))
        if not all(head.never_empty for head in heads):
            found.add(sum((weight * self.default_code(self.output(variable))
                           for variable, weight in weights.items()), Fraction(0)))  # fmt: skip
        return sorted(found)

    def _one_by_one(self, weights: dict[int, Fraction]) -> list[Fraction]:
        reach = [Fraction(0)]
        for variable, weight in weights.items():
            numbers = self.domain(variable).numbers
            assert numbers is not None
            reach = pair_sums(reach, [weight * number for number in numbers])
        return reach

    def _some_is_picked(self, heads: Sequence[HeadClaim]) -> bool:
        """Whether every query picks some key in one of the heads."""
        known = list({id(head): head for head in heads}.values())
        if len(known) == 1 or not all(head.conjuncts for head in known):
            return known[0].never_empty
        wholes = [reduce(SelectorAnd, [each.selector for each in head.conjuncts]) for head in known]
        return self.picks.never_empty([reduce(SelectorOr, wholes)])

    def check_family(self, heads: Sequence[HeadClaim]) -> None:
        """Heads that share out keys: no key is picked by two of them."""
        known = list({id(head): head for head in heads}.values())
        for place, one in enumerate(known):
            for other in known[place + 1 :]:
                sides = [
                    [conjunct.selector for conjunct in head.conjuncts] for head in (one, other)
                ]
                if not self.picks.are_disjoint(*sides):
                    raise Refused("heads that share out keys may pick one twice")

    def _mixture(self, weights: dict[int, Fraction]) -> SOp:
        """The weighted sum of the values of outputs of one head, as an s-op."""
        mixed: SOp | None = None
        for variable, weight in weights.items():
            values = self.output(variable).values
            scaled = values if weight == 1 else Elementwise("*", (values, Const(weight)))
            mixed = scaled if mixed is None else Elementwise("+", (mixed, scaled))
        assert mixed is not None
        return mixed

    # -- what goes together -----------------------------------------------------------------------

    def restricted(self, variables: tuple[int, ...], grid: Array) -> Array:
        """Leave out what no input has: a BOS elsewhere than at index 0; outputs of one head that
        do not go together; something picked at an index where nothing can be; an index from the
        length on.
        """
        fine = np.ones(grid.shape[1], bool)
        if self.inputs.bos is not None and {TOKEN, INDEX} <= set(variables):
            is_bos = grid[variables.index(TOKEN)] == len(self.inputs.vocabulary) - 1
            fine &= is_bos == (grid[variables.index(INDEX)] == 0)
        for outputs in self._by_head(variables):
            rows = [grid[variables.index(variable)] for variable in outputs]
            possible = self._together(outputs) if len(outputs) > 1 else None
            if possible is not None:
                sizes = [self.domain(variable).size for variable in outputs]
                known = np.zeros(int(np.prod(sizes)), bool)
                known[np.ravel_multi_index([*possible.T], sizes)] = True
                fine &= known[np.ravel_multi_index(rows, sizes)]
            if INDEX in variables:
                fine &= self._heard(outputs, rows, grid[variables.index(INDEX)])
                for variable, row in zip(outputs, rows, strict=True):
                    longest = self.longest(variable)
                    if longest is not None:
                        fine &= grid[variables.index(INDEX)] < longest[row]
        grid = np.asarray(grid[:, fine])
        for place, variable in enumerate(variables):
            others = variables[:place] + tuple({TOKEN, INDEX} & set(variables[place:]))
            grid = self._decided(variable, others, variables, grid)
            grid = self._following(variable, variables, grid)
        return grid

    def _following(self, variable: int, variables: tuple[int, ...], grid: Array) -> Array:
        """Leave out values of an s-op that it does not have with what else it is a function of."""
        known = self.claims.variables[variable]
        if not isinstance(known, NodeVariable) or known.node in self.claims.choices:
            return grid
        over = self.over(known.node)
        mine = [variable, *(other for other in over if other in variables)]
        if len(mine) == 1:
            return grid
        inner = self.space(over)
        sizes = [self.domain(other).size for other in mine]
        rows = [self.states_on(other, inner) for other in mine]
        fine = rows[0] >= 0
        occurs = np.zeros(int(np.prod(sizes)), bool)
        occurs[np.ravel_multi_index([row[fine] for row in rows], sizes)] = True
        places = np.ravel_multi_index([grid[variables.index(other)] for other in mine], sizes)
        return np.asarray(grid[:, occurs[places]])

    def _decided(
        self, variable: int, others: tuple[int, ...], variables: tuple[int, ...], grid: Array
    ) -> Array:
        """Leave out combinations in which a sum is not what the others make it.

        2·i - n and 2·i + 1 - n are two variables, but the one decides the other.
        """
        if not self.is_number(variable) or not others:
            return grid
        found = self._as_sum_of(variable, others)
        if found is None:
            return grid
        rest, weights = found
        total = Column([rest.constant], np.zeros(grid.shape[1], int))
        tables = {TOKEN: token_table(rest, self.inputs), INDEX: index_table(rest, self.inputs)}
        for other, weight in weights.items():
            numbers = self.domain(other).numbers
            assert numbers is not None
            tables[other] = [weight * number for number in numbers]
        for other, table in tables.items():
            if any(table):
                row = grid[variables.index(other)]
                total = combined("+", [total, column_of(table, row)], False)
        numbers = self.domain(variable).numbers
        assert numbers is not None
        own = column_of(numbers, grid[variables.index(variable)])
        equal = combined("==", [total, own], False)
        return np.asarray(grid[:, np.array([atom is True for atom in equal.atoms])[equal.places]])

    def _as_sum_of(
        self, variable: int, others: tuple[int, ...]
    ) -> tuple[Linear, dict[int, Fraction]] | None:
        """A number as a weighted sum of others, and of the token and the index if they are here."""
        free = {"tok"} if TOKEN in others else set()
        free |= {"idx"} if INDEX in others else set()
        rest = self.linear_of(variable)
        weights: dict[int, Fraction] = {}
        rows = [(other, self.linear_of(other), {other: Fraction(1)})
                for other in others if self.is_number(other)]  # fmt: skip
        while rows:  # eliminate one part after the other
            _, line, made = rows.pop()
            part = next((part for part in line.parts if part[0] not in free), None)
            if part is None:
                continue
            for place, (name, other, other_made) in enumerate(rows):
                factor = other.parts.get(part, Fraction(0)) / line.parts[part]
                if factor:
                    rows[place] = (
                        name,
                        other.plus(line, -factor),
                        _plus(other_made, made, -factor),
                    )
            factor = rest.parts.get(part, Fraction(0)) / line.parts[part]
            if factor:
                rest, weights = rest.plus(line, -factor), _plus(weights, made, factor)
        if any(part[0] not in free for part in rest.parts):
            return None
        return rest, weights

    def _heard(self, outputs: list[int], rows: list[Array], index: Array) -> Array:
        """Where a query's index lets it pick nothing, every output is its default, or 0."""
        head = self.head(outputs[0])
        fine = np.ones(len(index), bool)
        if head.mode == "share":
            return fine
        silent = self.picks.silent([conjunct.selector for conjunct in head.conjuncts])
        for variable, row in zip(outputs, rows, strict=True):
            default = self.default_code(self.output(variable))
            numbers = self.domain(variable).numbers
            assert numbers is not None
            gives = np.array([number == default for number in numbers])
            fine &= ~silent[index] | gives[row]
        return fine

    def _by_head(self, variables: Sequence[int]) -> list[list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for variable in variables:
            known = self.claims.variables[variable]
            if isinstance(known, OutputVariable):
                found.setdefault((known.layer, known.head), []).append(variable)
        return list(found.values())

    def listed_together(self, variables: tuple[int, ...]) -> Array | None:
        """Every combination of many outputs of one head, without trying all that there are not."""
        if len(self._by_head(variables)) != 1 or len(self._by_head(variables)[0]) < len(variables):
            return None
        possible = self._together([*variables])
        return None if possible is None else possible.T

    def _together(self, outputs: list[int]) -> Array | None:
        key = tuple(outputs)
        if key not in self._joint:
            self._joint[key] = self._find_together(outputs)
        return self._joint[key]

    def _find_together(self, outputs: list[int]) -> Array | None:
        """(row, output): the states that outputs of one head can be in at once.

        All of them are sums (or means) over the same keys, so what a key adds is a row.
        """
        head = self.head(outputs[0])
        known = [self.output(variable) for variable in outputs]
        plain = all(output.codes is None and output.carrier is None for output in known)
        if not plain or head.mode == "share":
            return None
        try:
            space = self.space([v for output in known for v in self.over(output.values)])
            columns = [self.column(output.values, space) for output in known]
        except Refused:
            return None
        _, places = joint_places([(column.places, len(column.atoms)) for column in columns])
        rows: set[Row] = set()
        for place in places:
            atoms = [column.atoms[at] for column, at in zip(columns, place, strict=True)]
            if None not in atoms:
                rows.add(tuple(Fraction(atom) for atom in atoms))  # type: ignore[arg-type]
        found: list[Row] | None
        if head.mode == "sum":
            return self._as_sums(outputs, rows)
        if self.picks.picks_one(head):
            found = list(rows)
        else:
            found = joint_sums(rows, self.inputs.max_length, by_count=True)
        if found is None:
            return None
        if not head.never_empty:
            found = [*found, tuple(self.default_code(output) for output in known)]
        return self._as_states(outputs, found)

    def _as_sums(self, outputs: list[int], rows: set[Row]) -> Array | None:
        """(row, output): the states of sums of such rows. Every number of a sum is one state."""
        sums = whole_sums(rows, self.inputs.max_length)
        if sums is None:
            return None
        whole, units = sums[0][:, 1:], sums[1]
        states = np.empty_like(whole)
        for place, (variable, unit) in enumerate(zip(outputs, units, strict=True)):
            numbers = [number * unit for number in self.domain(variable).numbers or ()]
            order = [at for _, at in sorted((number, at) for at, number in enumerate(numbers)
                                            if number.denominator == 1)]  # fmt: skip
            known = np.array([int(numbers[at]) for at in order])
            at = np.clip(np.searchsorted(known, whole[:, place]), 0, len(known) - 1)
            states[:, place] = np.where(known[at] == whole[:, place], np.array(order)[at], -1)
        return states[(states >= 0).all(axis=1)]

    def _as_states(self, outputs: list[int], rows: Sequence[Row]) -> Array:
        """Rows of numbers as rows of states: where several states have a number, each of them."""
        found: list[list[int]] = []
        places: list[dict[Fraction, list[int]]] = []
        for variable in outputs:
            known: dict[Fraction, list[int]] = {}
            numbers = self.domain(variable).numbers
            assert numbers is not None
            for at, number in enumerate(numbers):
                known.setdefault(number, []).append(at)
            places.append(known)
        for row in rows:
            states: list[list[int]] = [[]]
            for number, known in zip(row, places, strict=True):
                states = [[*state, at] for state in states for at in known.get(number, [])]
            found += states
        return np.array(found, int).reshape(-1, len(outputs))

    def _from_shares(self, node: Aggregate, meaning: Meaning, space: Space) -> Column:
        """A width's aggregate from whether position 0 is picked, and how many others are."""
        counts = self.numbers_of_shares(meaning.outputs)
        whole = self.linear_column(self.whole(meaning), space)
        (light,) = self.picks.atoms(node.values, True)
        values: list[Atom | None] = []
        for number in whole.atoms:
            picked, others = counts[Fraction(number)]  # type: ignore[arg-type]
            if meaning.constant:  # the aggregate that always picks position 0
                values.append(light if not others else Fraction(light) / (others + 1))
            else:
                values.append(light if picked else node.default)
        return column_of(values, whole.places)

    @abstractmethod
    def is_number(self, variable: int) -> bool: ...
    @abstractmethod
    def linear_of(self, variable: int) -> Linear: ...
    @abstractmethod
    def linear(self, node: SOp) -> Linear | None: ...
    @abstractmethod
    def states_on(self, variable: int, space: Space) -> Array: ...


def _plus(
    one: dict[int, Fraction], other: dict[int, Fraction], factor: Fraction
) -> dict[int, Fraction]:
    return {name: one.get(name, Fraction(0)) + factor * other.get(name, Fraction(0))
            for name in {*one, *other}}  # fmt: skip
