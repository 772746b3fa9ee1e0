"""An output in; what is read for it, and which atom each number means, out.

An atom with code k scores 2·k·x - k², where x is what is read: the highest score is that of the
code nearest to x. Numbers are their own codes, others are counted. Cost: 1 dimension for x, and
what a feed-forward takes to make it (see `features`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from rasp.atoms import Atom
from rasp.compiler.analysis.kinds import atoms_by_code
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.values import Values
from rasp.compiler.analysis.variables import CountVariable, is_spread
from rasp.compiler.heads.model_plan import OutputReads, values_of_output
from rasp.compiler.planning.features import Features
from rasp.compiler.planning.wide_outputs import read_inputs, wide_code
from rasp.compiler.refusals import Refusal
from rasp.graph import SOp

MOST_NUMBERED = 4096
"""The most numbers far apart that are read as their places in order of size."""


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
    counted = _threshold(values)
    is_made = values.inputs and values.linear is None and counted is None
    if is_made and features.values.task.is_careful:
        with suppress(Refusal):
            return OutputPlan(name, node, *read_inputs(values, features, time))
    codes = _codes(features.values.joints.codes_of(values.atoms))
    atom_of = atoms_by_code(values.atoms, codes)
    if counted is not None:
        return OutputPlan(name, node, counted, features.code(values.inputs[0], time))
    linear = features.of_values(values, codes.__getitem__, time)
    return OutputPlan(name, node, sorted(atom_of.items()), linear)


def _codes(codes: dict[Atom, Fraction]) -> dict[Atom, Fraction]:
    """What stands for each atom: of numbers far apart, their places in order of size."""
    if len(codes) > MOST_NUMBERED or not is_spread(codes.values()):
        return codes
    places = {code: Fraction(place) for place, code in enumerate(sorted(set(codes.values())))}
    return {atom: places[code] for atom, code in codes.items()}


def _threshold(values: Values) -> list[tuple[Fraction, Atom]] | None:
    """The codes to tell apart where an output only asks whether a count has got so far.

    Whatever lies beyond them is nearest to the right one all the same.
    """
    if len(values.inputs) != 1 or not isinstance(values.inputs[0], CountVariable):
        return None
    steps = [place for place in range(1, len(values.outcomes))
             if values.outcomes[place - 1] != values.outcomes[place]]  # fmt: skip
    if len(steps) != 1:
        return None
    codes = [code for _, code in values.inputs[0].states]
    ends = [(codes[place], values.outcomes[place]) for place in (steps[0] - 1, steps[0])]
    return [(code, atom) for code, atom in ends if atom is not None]
