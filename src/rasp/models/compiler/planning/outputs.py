"""An output in; what is read for it, and which atom each number means, out.

An atom with code k scores 2·k·x - k², where x is what is read: the highest score is that of the
code nearest to x. Numbers are their own codes, others are counted. Cost: 1 dimension for x, and
what a feed-forward takes to make it (see `features`).

An answer that depends on several exact sums at once may be one of tens of thousands. It takes no
feed-forward to tell them apart: the sums themselves, as digits of one number, are its code, and
a read-out says what each code means (`wide_code`). Of codes that follow each other and stand for
the same answer, the first and the last are enough. The same is done for fewer answers where float32
has no room for a feed-forward that makes them (`read_inputs`).

Such a code is Σ dᵢ·wᵢ, where wᵢ is the product of the sizes of the digits before, so that no two
rows of digits have one code. Cost: 1 dimension for each digit, no hidden units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import lcm, prod
from operator import mul
from typing import TypeAlias

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import Elementwise, SOp
from rasp.models.certificate.program.reach import MOST_ROWS, whole_sums
from rasp.models.compiler.analysis.joint_tables import Grid, places_in
from rasp.models.compiler.analysis.kinds import atoms_by_code
from rasp.models.compiler.analysis.linear import Linear, total
from rasp.models.compiler.analysis.tables import NumberedTable
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.analysis.values import Values
from rasp.models.compiler.analysis.variables import CountVariable, HeadOutput, is_spread, number
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.heads.model_plan import OutputReads, values_of_output
from rasp.models.compiler.planning.features import Features
from rasp.models.compiler.planning.mixed_radix import numbers_of, place_values

MOST_NUMBERED = 4096
"""The most numbers far apart that are read as their places in order of size."""
LARGEST = 1 << 22
"""The largest code: float32 holds whole numbers up to 2^24."""
FEW = 4
"""Up to so many answers, a digit says what the only reader makes of a sum, not the sum."""
MOST_READ = 60_000
"""The most combinations of inputs that a read-out tells apart."""
Meanings: TypeAlias = list[tuple[Fraction, Atom]]
"""Which atom each number means, in the order of the numbers."""
Code: TypeAlias = tuple[Meanings, Linear, tuple[Linear, ...]]
"""What each value of a number means that tells the answers apart, that number, and its digits."""


@dataclass(frozen=True, eq=False)
class OutputPlan(OutputReads):
    """One output, and the number that is read for it."""

    linear: Linear
    digits: tuple[Linear, ...] = ()
    """Where the number to be read is put together only as it is read: what it is made of."""


def plan_output(name: str, node: SOp, features: Features, time: int) -> OutputPlan:
    """Plan what is read at `time` for an output; in a careful plan, nothing is made for it."""
    values = values_of_output(features.values, node)
    if values.is_wide:
        return OutputPlan(name, node, *wide_code(node, features, time))
    codes = _codes(features.values.joints.codes_of(values.atoms))
    atom_of = atoms_by_code(values.atoms, codes)
    counted = _threshold(values)
    if counted is not None:
        return OutputPlan(name, node, counted, features.code(values.inputs[0], time))
    is_made = values.inputs and values.linear is None
    if is_made and features.values.task.is_careful:
        with suppress(Refusal):
            return OutputPlan(name, node, *read_inputs(values, codes, atom_of, features, time))
    linear = features.of_values(values, codes.__getitem__, time)
    return OutputPlan(name, node, sorted(atom_of.items()), linear)


def _codes(codes: dict[Atom, Fraction]) -> dict[Atom, Fraction]:
    """What stands for each atom: of numbers far apart, their places in order of size."""
    if len(codes) > MOST_NUMBERED or not is_spread(codes.values()):
        return codes
    places = {code: Fraction(place) for place, code in enumerate(sorted(set(codes.values())))}
    return {atom: places[code] for atom, code in codes.items()}


def _threshold(values: Values) -> Meanings | None:
    """The codes to tell apart where an output only asks whether a count has got so far.

    Whatever lies beyond them is nearest to the right one all the same.
    """
    if len(values.inputs) != 1 or not isinstance(values.inputs[0], CountVariable):
        return None
    steps = [place for place in range(1, len(values.outcomes))
             if values.outcomes[place - 1] != values.outcomes[place]]  # fmt: skip
    if len(steps) != 1:
        return None
    codes = values.inputs[0].codes_of_states
    ends = [(codes[place], values.outcomes[place]) for place in (steps[0] - 1, steps[0])]
    return [(code, atom) for code, atom in ends if atom is not None]


def read_inputs(
    values: Values, codes: Mapping[Atom, Fraction], atom_of: Mapping[Fraction, Atom],
    features: Features, time: int,
) -> Code:  # fmt: skip
    """The inputs of an output as the digits of one number, instead of what is made of them."""
    table = [None if atom is None else codes[atom] for atom in values.outcomes]
    grid = NumberedTable.of(values.inputs, table).relevant()
    if values.choice is not None or grid.places.size > MOST_READ:
        raise _too_many(grid.places.size)
    digits = [variable.codes_of_states for variable in grid.inputs]
    weights = place_values(digits, range(len(digits)))
    numbers, unit = numbers_of(digits, weights)
    meaning = {number: atom_of[code] for number, code in zip(numbers, grid.table, strict=True)
               if code is not None}  # fmt: skip
    meanings = [(Fraction(number, unit), atom) for number, atom in sorted(meaning.items())]
    return _code([features.code(variable, time) for variable in grid.inputs], weights, meanings)


@dataclass(frozen=True, eq=False)
class Digit:
    """One digit of the code: a sum, or what the program makes of it where that says less."""

    output: HeadOutput
    places: np.ndarray  # (state of the sum,)
    linear: Linear

    @property
    def size(self) -> int:
        return int(self.places.max()) + 1


def wide_code(node: SOp, features: Features, time: int) -> Code:
    """Choose the digits of an output, and list every code that it can have."""
    analysis = features.values
    inputs = [output for output in analysis.of(node).inputs if isinstance(output, HeadOutput)]
    digits = [_digit(node, output, features, time) for output in inputs]
    digits.sort(key=lambda digit: digit.size == len(digit.places), reverse=True)
    sizes = [digit.size for digit in digits]
    if prod(sizes) > LARGEST:
        raise _too_many(prod(sizes))
    rows = reachable_rows(analysis, [digit.output for digit in digits])
    weights = list(accumulate(sizes[:-1], mul, initial=1))
    places = [digit.places[column] for digit, column in zip(digits, rows.T, strict=True)]
    codes = np.array(weights) @ places
    different, first = np.unique(codes, return_index=True)
    states: Grid = {digit.output: rows[first, place] for place, digit in enumerate(digits)}
    atoms = _evaluate(analysis, node, states)
    meanings = [(Fraction(code), atom) for code, atom in zip(different.tolist(), atoms, strict=True)
                if atom is not None]  # fmt: skip
    return _code([digit.linear for digit in digits], weights, meanings)


def _digit(node: SOp, output: HeadOutput, features: Features, time: int) -> Digit:
    """A sum as a digit; or the few things that the only reader of it can say."""
    codes = output.codes_of_states
    readers = list(dict.fromkeys(_readers(features.values, node, output)))
    if len(readers) == 1:
        values = features.values.of(readers[0])
        atoms = values.atoms
        if values.inputs == (output,) and len(atoms) <= FEW < len(codes):
            place = {atom: at for at, atom in enumerate(atoms)}
            linear = features.of_values(values, lambda atom: Fraction(place[atom]), time)
            places = [0 if atom is None else place[atom] for atom in values.outcomes]
            return Digit(output, np.array(places), linear)
    unit = lcm(*(code.denominator for code in codes))
    places = [int((code - min(codes)) * unit) for code in codes]
    linear = Linear(Fraction(0), {output: Fraction(unit)}).plus(-min(codes) * unit)
    return Digit(output, np.array(places), linear)


def _readers(analysis: ValueAnalysis, node: SOp, output: HeadOutput) -> list[SOp]:
    """The nodes below a wide one that are not wide themselves and depend on a sum."""
    values = analysis.of(node)
    if output not in values.inputs:
        return []
    if not values.is_wide:
        return [node]
    return [reader for operand in node.needs if isinstance(operand, SOp)
            for reader in _readers(analysis, operand, output)]  # fmt: skip


def reachable_rows(analysis: ValueAnalysis, outputs: Sequence[HeadOutput]) -> np.ndarray:
    """(row, output): every combination of states that sums of one head can have together."""
    joint = analysis.joints.of([output.values for output in outputs])
    vectors = {tuple(map(number, row)) for row in joint.rows if None not in row}
    listed = whole_sums(vectors, analysis.settings.max_length)
    if listed is None:
        raise _too_many(MOST_ROWS)
    rows, units = listed[0][:, 1:], listed[1]
    columns = []
    for place, (output, unit) in enumerate(zip(outputs, units, strict=True)):
        state = {int(code * unit): at for at, (_, code) in enumerate(output.states)}
        columns.append([state.get(row_sum, -1) for row_sum in rows[:, place].tolist()])
    states = np.array(columns).T
    return states[(states >= 0).all(axis=1)]


def _evaluate(analysis: ValueAnalysis, node: SOp, states: Grid) -> list[Atom | None]:
    """What a node holds in each combination of states."""

    @cache
    def column(node: SOp) -> list[Atom | None]:
        values = analysis.of(node)
        if values.is_wide and isinstance(node, Elementwise):
            rows = zip(*map(column, node.operands), strict=True)
            return [analysis.held.outcome(node, node.op, row) for row in rows]
        return [values.outcomes[place] for place in places_in(values.inputs, states).tolist()]

    return column(node)


def _code(digits: Sequence[Linear], weights: Sequence[Fraction | int], meanings: Meanings) -> Code:
    """A number of these digits, without the meanings inside a run that stands for one atom."""
    last = len(meanings) - 1
    ends = [meaning for place, meaning in enumerate(meanings)
            if place in (0, last) or meanings[place - 1][1] != meaning[1]
            or meanings[place + 1][1] != meaning[1]]  # fmt: skip
    linear = total(digit.times(weight) for digit, weight in zip(digits, weights, strict=True))
    return ends, linear, tuple(digits)


def _too_many(size: int) -> Refusal:
    return Refusal(
        f"it depends on {size} combinations of sums, and the limit is {LARGEST}",
        "use a smaller vocabulary or length",
    )
