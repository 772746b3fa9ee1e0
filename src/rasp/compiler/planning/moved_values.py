"""What is read of a head's outputs in; which sums of them it moves, and what keys send, out.

Keys send v - d for a value v and a default d, and the sink sends 0. So the head adds Σ p·v - d
where its attention p is on keys, and 0 where it is on the sink; readers add d to both, and get the
mean or the default. Outputs of one head that are only read in certain sums are moved as these sums.
Cost: 1 dimension of the head for each independent sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from rasp.compiler.analysis.linear import Linear, weighted_sum
from rasp.compiler.analysis.variables import (
    HeadOutput,
    PlannedHead,
    codes_of,
    default_code,
    mixture,
    number,
)
from rasp.compiler.planning.dimensions import Layout
from rasp.compiler.planning.features import Features


def basis_of(head: PlannedHead, wanted: Iterable[Linear]) -> list[dict[HeadOutput, Fraction]]:
    """Independent sums of the head's outputs, in whole numbers of them, for all that is wanted."""
    rows: dict[object, Linear] = {}
    for linear in wanted:
        row = {output: linear.parts[output] for output in head.outputs if output in linear.parts}
        if row:
            rows.setdefault(frozenset(row.items()), weighted_sum(row))
    basis = Layout()
    for linear in sorted(rows.values(), key=lambda linear: len(linear.parts)):
        basis.add(linear)
    return [dimension.of(HeadOutput) for dimension in basis.dimensions]


def sent_value(features: Features, weights: dict[HeadOutput, Fraction], time: int) -> Linear:
    """What keys send: the weighted sum of the outputs' values, each less its default."""
    if len(weights) > 1 and all(output.codes is None for output in weights):
        mixed = features.values.of(mixture(weights))
        result = features.of_values(mixed, number, time)
    else:
        result = Linear()
        for output, weight in weights.items():
            if output.carrier is not None:
                result = result + features.code(output.carrier, time).times(weight)
                continue
            values = features.values.of(output.values)
            codes = output.codes or codes_of(values.atoms)
            result = result + features.of_values(values, codes.__getitem__, time).times(weight)
    defaults = (weight * default_code(output) for output, weight in weights.items())
    return result.plus(-sum(defaults, Fraction(0)))
