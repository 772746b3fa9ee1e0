"""A function with many steps in, several with few steps each that add up to it out.

The hidden units of a step are on wherever their input is beyond it, and add large numbers that
cancel. In one dimension the rounding of all of them adds up, in whatever order they are added; in
dimensions of their own that only the read-out adds up, it stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from rasp.atoms import Atom
from rasp.compiler.analysis.joint_states import Values
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.tables import relevant
from rasp.compiler.analysis.variables import HeadOutput, SumVariable
from rasp.compiler.planning.features import Features

MOST_PARTS = 32
FEWEST = 8
"""A function of fewer changes is left as it is."""


def parts_of(
    features: Features, values: Values, code: Callable[[Atom], Fraction], time: int
) -> list[Linear]:
    """The parts of a function of one noisy input; none where it is better left as it is."""
    whole = [None if atom is None else code(atom) for atom in values.outcomes]
    inputs, table = relevant(values.inputs, whole)
    if values.linear is not None or len(inputs) != 1 or None in table:
        return []
    if not isinstance(inputs[0], (HeadOutput, SumVariable)):
        return []
    by_code = dict(zip((each for _, each in inputs[0].states), table, strict=True))
    return [
        features.stepped(
            values.layer, inputs, [part[each] for _, each in inputs[0].states], time,
            alone=f"part {number}",
        )
        for number, part in enumerate(_chunks(by_code))
    ]  # fmt: skip


def _chunks(by_code: Mapping[Fraction, Fraction | None]) -> list[dict[Fraction, Fraction]]:
    """Functions that add up to one: each follows it from some code to another one."""
    codes = sorted(by_code)
    levels = [by_code[code] or Fraction(0) for code in codes]
    changes = [place for place in range(1, len(levels)) if levels[place] != levels[place - 1]]
    if len(changes) < FEWEST:
        return []
    size = -(-len(changes) // MOST_PARTS)
    parts, start = [], 0
    for end in [*changes[size::size], len(levels)]:
        below = levels[start - 1] if start else Fraction(0)
        parts.append({code: levels[max(start - 1, min(place, end - 1), 0)] - below
                      for place, code in enumerate(codes)})  # fmt: skip
        start = end
    return parts
