"""What is read of a head's outputs in; which sums of them it moves, and what keys send, out."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from rasp.compiler.analysis.linear import Linear, content
from rasp.compiler.analysis.variables import (
    HeadOutput,
    PlannedHead,
    codes_of,
    default_code,
    mixture,
    number,
)
from rasp.compiler.planning.features import Features


def basis_of(head: PlannedHead, wanted: Iterable[Linear]) -> list[dict[HeadOutput, Fraction]]:
    """Independent sums of the head's outputs, in whole numbers of them, for all that is wanted."""
    basis: list[dict[HeadOutput, Fraction]] = []
    reduced: list[tuple[HeadOutput, dict[HeadOutput, Fraction]]] = []
    rows = {}
    for linear in wanted:
        row = {output: linear.parts[output] for output in head.outputs
               if output in linear.parts}  # fmt: skip
        if row:
            rows[frozenset(row.items())] = row
    for row in sorted(rows.values(), key=len):
        rest = dict(row)
        for pivot, known in reduced:
            if pivot in rest:
                factor = rest[pivot]
                rest = {each: rest.get(each, Fraction(0)) - factor * known.get(each, Fraction(0))
                        for each in {*rest, *known}}  # fmt: skip
                rest = {each: weight for each, weight in rest.items() if weight}
        if rest:
            pivot = next(iter(rest))
            reduced.append((pivot, {each: w / rest[pivot] for each, w in rest.items()}))
            unit = content(row.values())
            basis.append({each: weight / unit for each, weight in row.items()})
    return basis


def sent_value(features: Features, weights: dict[HeadOutput, Fraction], time: int) -> Linear:
    """What keys send: the weighted sum of the outputs' values, each less its default."""
    if len(weights) > 1 and all(output.codes is None for output in weights):
        mixed = features.analysis.of(mixture(weights))
        result = features.of_values(mixed, number, time)
    else:
        result = Linear()
        for output, weight in weights.items():
            if output.carrier is not None:
                result = result + features.code(output.carrier, time).times(weight)
                continue
            values = features.analysis.of(output.values)
            codes = output.codes or codes_of(values.atoms)
            result = result + features.of_values(values, codes.__getitem__, time).times(weight)
    defaults = (weight * default_code(output) for output, weight in weights.items())
    return result.plus(-sum(defaults, Fraction(0)))
