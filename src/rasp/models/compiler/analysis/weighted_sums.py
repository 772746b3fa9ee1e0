"""Numeric s-ops that are weighted sums of variables: recognised, listed, compared by their sign.

Such an s-op is kept as a `Linear`, and costs no feed-forward. Its table runs over its one variable,
or over the numbers that the whole sum can be; what reads these, reads a narrower sum that says as
much (`narrowed`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from itertools import chain

from rasp.base.atoms import Atom
from rasp.language.graph import COMPARISONS, apply_operator
from rasp.language.operators import leaves_alone
from rasp.models.certificate import Refused
from rasp.models.certificate.program.reach import pair_sums, sums_after
from rasp.models.compiler.analysis.joint_states import MOST_STATES
from rasp.models.compiler.analysis.joint_tables import BaseVariables
from rasp.models.compiler.analysis.kinds import as_kinds
from rasp.models.compiler.analysis.linear import ZERO, Linear, content
from rasp.models.compiler.analysis.values import HeldValues, Values
from rasp.models.compiler.analysis.variables import (
    HeadOutput,
    SumVariable,
    Variable,
    distinct,
    linear_in,
    number,
)
from rasp.models.compiler.compile_refusals import Refusal

WIDE = 64
"""From so many times what the small steps come to on, a large step is made smaller."""


class WeightedSums:
    """The weighted sums of a program over the variables that there are so far."""

    def __init__(self, held: HeldValues, base: BaseVariables) -> None:
        self.settings, self._base, self._aggregates = base.settings, base, held.aggregates
        self.in_whole_units = held.task.works_stepwise
        """Whether multiples of one sum are functions of one variable, in whole units."""
        self._sums: dict[object, SumVariable] = {}

    def table(
        self, layer: int, inputs: tuple[Variable, ...], outcomes: Sequence[Atom | None]
    ) -> Values:
        """Wrap a table up; recognise it where it happens to be a weighted sum of its input."""
        atoms = distinct(outcomes)
        kinds = frozenset(type(atom) for atom in atoms)
        linear = None
        if atoms and str not in kinds:
            if len({Fraction(atom) for atom in atoms}) == 1:
                linear = Linear(Fraction(atoms[0]))
            elif len(inputs) == 1:
                numbers = [None if atom is None else Fraction(atom) for atom in outcomes]
                linear = linear_in(inputs[0], numbers, self.settings)
        return Values(inputs, outcomes, layer, kinds, linear)

    def values(self, linear: Linear, kinds: frozenset[type]) -> Values:
        """The values of a weighted sum: a table over its one input, or over their sum."""
        variables = self._base.variables_of(linear)
        if not variables:
            return Values((), as_kinds(linear.constant, kinds)[-1:], 0, kinds, linear)
        if len(variables) == 1:
            return self._of_one(linear, variables[0], kinds)
        if self.in_whole_units and len(kinds) == 1:
            return self._multiple(linear, kinds)
        total = self._total(linear, kinds)
        return Values((total,), [atom for atom, _ in total.states], total.layer, kinds, linear)

    def _total(self, linear: Linear, kinds: frozenset[type]) -> SumVariable:
        key = (linear.key, kinds)
        if key not in self._sums:
            variables = self._base.variables_of(linear)
            narrow, code_of = narrowed(linear, self._base)
            states = tuple(
                (atom, code_of(total)) for total in self._range_of(linear)
                for atom in as_kinds(total, kinds)
            )  # fmt: skip
            layer = max(variable.layer for variable in variables)
            inexact = any(variable.is_inexact for variable in variables)
            self._sums[key] = SumVariable(layer, states, inexact, narrow, linear)
        return self._sums[key]

    def _multiple(self, linear: Linear, kinds: frozenset[type]) -> Values:
        """A weighted sum as a function of the one in whole units that it is a multiple of."""
        unit = content(linear.parts.values())
        unit = -unit if next(iter(linear.parts.values())) < 0 else unit
        bare = linear.plus(-linear.constant).times(1 / unit)
        total = self._total(bare, frozenset({Fraction}))
        atoms = [as_kinds(linear.constant + unit * number(atom), kinds)[-1]
                 for atom, _ in total.states]  # fmt: skip
        return Values((total,), atoms, total.layer, kinds, linear)

    def _of_one(self, linear: Linear, variable: Variable, kinds: frozenset[type]) -> Values:
        codes = [linear.constant + term for term in self._base.terms(linear, variable)]
        atoms = [
            code if isinstance(atom, Fraction) and Fraction in kinds else as_kinds(code, kinds)[0]
            for code, (atom, _) in zip(codes, variable.states, strict=True)
        ]
        return Values((variable,), atoms, variable.layer, kinds, linear)

    def _range_of(self, linear: Linear) -> list[Fraction]:
        """Every number that a weighted sum can be."""
        hint = "use a smaller vocabulary or length, or round on the way"
        return list_numbers("it", hint, lambda: self._reach(linear))

    def _reach(self, linear: Linear) -> list[Fraction]:
        """The same, as long as that may take.

        A BOS is at index 0 and only there, and an index is below the length.
        """
        base = self._base
        tokens, indices = base.terms(linear, base.token), base.terms(linear, base.index)
        outputs = linear.of(HeadOutput)
        lengths = [output for output in outputs if output.codes_of_states == [*output.longest]]
        by_length = sum(map(outputs.pop, lengths), ZERO)
        if by_length:
            reach = pair_sums(tokens, sums_after(indices, by_length))
        elif self.settings.bos is not None:
            reach = [indices[0], *pair_sums(tokens[:-1], indices[1:])]
        else:
            reach = pair_sums(tokens, indices)
        reach = reduce(pair_sums, self._aggregates.ranges(outputs), reach)
        return sorted({linear.constant + number for number in reach})

    def comparison(self, op: str, operands: list[Values]) -> Values | None:
        """Compare weighted sums by the sign of their difference: one input instead of many."""
        if op not in COMPARISONS:
            return None
        lines = [operand.linear for operand in operands if operand.linear is not None]
        if len(lines) < 2 and op in ("==", "!="):
            lines = self._codes_alike(operands)
        if len(lines) < 2:
            return None
        difference = self.values(lines[0] - lines[1], frozenset({Fraction}))
        outcomes = [apply_operator(op, (number(atom), 0)) for atom in difference.outcomes]
        return self.table(difference.layer, difference.inputs, outcomes)

    def _codes_alike(self, operands: list[Values]) -> list[Linear]:
        """Codes of two s-ops, the same for equal strings: what heads have moved, or the token.

        Nothing where they differ.
        """
        codes: dict[Atom | None, Fraction] = {}
        for operand in operands:
            output = operand.inputs[0] if len(operand.inputs) == 1 else None
            if isinstance(output, HeadOutput) and output.carrier is None:
                if list(operand.outcomes) != [atom for atom, _ in output.states]:
                    return []
                if any(codes.setdefault(atom, code) != code for atom, code in output.states):
                    return []
            elif output is not self._base.token or None in operand.outcomes:
                return []
        for atom in (atom for operand in operands for atom in operand.atoms):
            codes.setdefault(atom, 1 + max(codes.values(), default=Fraction(0)))
        if len(set(codes.values())) < len(codes):
            return []
        lines = [
            linear_in(operand.inputs[0], list(map(codes.get, operand.outcomes)), self.settings)
            for operand in operands
        ]
        return [line for line in lines if line is not None]


def linear_of(op: str, operands: list[Values]) -> Linear | None:
    """What an operator makes of weighted sums, if that is one."""
    lines = [operand.linear for operand in operands if operand.linear is not None]
    if not lines or len(lines) < len(operands):
        return None
    first, second = lines[0], lines[-1]
    match op:
        case "+":
            return first + second
        case "-":
            return first - second
        case "negate":
            return first.times(-1)
        case "*" if first.is_constant:
            return second.times(first.constant)
        case "*" if second.is_constant:
            return first.times(second.constant)
        case "/" if second.is_constant and second.constant:
            return first.times(1 / second.constant)
    return first if len(operands) == 1 and leaves_alone(op, operands[0].atoms) else None


def narrowed(linear: Linear, base: BaseVariables) -> tuple[Linear, Callable[[Fraction], Fraction]]:
    """The narrower sum in whole units, and which number of it each number of the sum becomes.

    The paper's most-freq sorts by `freq - 20000 * is_duplicate`. Frequencies stay below 20, so
    there is nothing between the two kinds of numbers; but what reads the sum has its small steps
    blurred by the rounding of the large ones. `freq - 21 * is_duplicate` has the same order, and a
    function of the one is a function of the other: that is what work on such a sum reads. Cost:
    none, but for a dimension where the sum itself is read as well.

    Where all large parts are multiples of a unit that is more than the small ones reach, a number
    is one multiple and one small rest: both are known from it, and so is the narrower number.
    """
    numbers = {part: base.terms(linear, part) for part in base.variables_of(linear)}
    factors = dict.fromkeys(numbers, Fraction(1))
    steps: list[tuple[Fraction, Fraction, Fraction]] = []
    parts = sorted(numbers, key=lambda part: content(numbers[part]))
    for place in range(1, len(parts)):
        small, large = ([numbers[part] for part in side] for side in (parts[:place], parts[place:]))
        reach = sum((max(added) - min(added) for added in small), ZERO)
        least, unit = reach + content(chain(*small)), content(chain(*large))
        if least and unit > WIDE * least:
            factor = least / unit
            steps.append((linear.constant + sum(map(min, small)), unit, factor - 1))
            for part in parts[place:]:
                numbers[part] = [number * factor for number in numbers[part]]
                factors[part] *= factor

    if not steps:
        return linear, lambda number: number
    whole = content(chain(*numbers.values()))

    def narrow(number: Fraction) -> Fraction:
        for lowest, unit, change in steps:
            number += (number - lowest) // unit * unit * change
        return number / whole

    weights = {coordinate: weight * factors[base.variable_of(coordinate)] / whole
               for coordinate, weight in linear.parts.items()}  # fmt: skip
    return Linear(linear.constant / whole, weights), narrow


def list_numbers(what: str, hint: str, numbers: Callable[[], list[Fraction]]) -> list[Fraction]:
    """Every number that something can be; refused where these are too many."""
    size: int | str = "too many"
    with suppress(Refused):
        reach = numbers()
        size = len(reach)
        if size <= MOST_STATES:
            return reach
    raise Refusal(f"{what} can be one of {size} numbers, and the limit is {MOST_STATES}", hint)
