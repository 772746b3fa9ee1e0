"""The numbers that a feature depends on in, one weighted sum of them out that decides its value.

Numbers of one head are mixed as they are, whatever number of keys was picked (see `numbers`). Of
several heads each is a place on a line of its own: a mean is there as it is, and a count w as
w / (c + w). Both grow with what they are, so that x - y tells which of two counts is larger,
and x + ε y, for a small ε, tells both of them apart. Cost: none of its own; `steps` takes 2 hidden
units for each change of the value along the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import TypeAlias

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.compiler.analysis.variables import HeadOutput, PlannedHead, mixture, number
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.robust.blocks import StreamBlocks
from rasp.models.compiler.robust.numbers import (
    Mixture,
    note_fineness,
    outputs_row,
    sink_weight,
    unit_of,
)

EACH_FIRST = 'round or compare each of them first, or use `style="compact"`'
MOST_UNITS_OF_A_SUM = 2**60
FINE = 2.0**-40
"""Places of several heads are told apart to this."""
ALIKE = 0.99
"""Gaps that are this near to the largest are as good."""
RATIOS = tuple(1.25**-power for power in range(1, 32))
DIRECTIONS = (
    (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, -1.0),
    *((1.0, sign * ratio) for ratio in RATIOS for sign in (1, -1)),
    *((ratio, float(sign)) for ratio in RATIOS for sign in (1, -1)),
)  # fmt: skip
"""Mixture to try for the places of two heads."""
States: TypeAlias = Mapping[HeadOutput, Sequence[Fraction]]
"""(state,): for each number, its code in each joint state."""


@dataclass(frozen=True, eq=False)
class Line:
    """A weighted sum of numbers in each joint state, as whole numbers of a unit."""

    blocks: StreamBlocks
    weights: Mixture
    totals: np.ndarray  # (state,)
    unit: float
    head: PlannedHead | None = None
    """The head of all its numbers, where these are sums; None for means and for places."""
    row: Row | None = None
    """What reads it, where it is a sum of what is in blocks."""

    @property
    def divisors(self) -> tuple[float, float]:
        """What the stream holds it divided by, at least and at most (see `numbers`)."""
        if self.head is None:
            return 1.0, 1.0
        sink = float(sink_weight(self.blocks))
        return sink, sink + self.blocks.values.settings.max_length

    def divisor_at(self, total: float) -> tuple[float, float]:
        """The same where the sum is known, which tells something of how many keys were picked."""
        least, most = self.divisors
        if self.head is None:
            return least, most
        atoms = [abs(float(number(atom))) for atom in self._added]
        least += abs(total) / (max(atoms) or 1.0)
        return least, least if len(atoms) == 1 and atoms[0] else most

    @cached_property
    def _added(self) -> Sequence[Atom]:
        """What a picked key can add to it."""
        return self.blocks.values.of(mixture(self.weights)).atoms

    def row_above(self, threshold: float) -> Row:
        """A row that is above 0 where the sum is above a threshold: by as much, but divided."""
        if self.row is not None:
            return sum_rows([self.row, Row({}, -threshold)])
        if self.head is None:
            return outputs_row(self.blocks, self.weights, -threshold)
        row = outputs_row(self.blocks, self.weights, 0.0)
        share = self.blocks.share_dims[self.head]
        return sum_rows([row, Row({share: -threshold / self.divisors[0]})])

    def note_fineness(self, gap: float) -> None:
        """Note how fine its numbers have to be for two values `gap` apart."""
        if self.row is not None:
            return
        heads = {output.head for output in self.weights}
        if len(heads) != 1:
            note_fineness(self.blocks, self.weights, gap)
            return
        (head,) = heads
        most = sum(abs(float(weight)) * unit_of(self.blocks, output)
                   for output, weight in self.weights.items())  # fmt: skip
        if head.mode == "sum":
            values = self.blocks.values.of(mixture(self.weights)).atoms
            most = max(abs(float(number(atom))) for atom in values)
        self.blocks.note_fineness(head, most / gap)


def lines_of(blocks: StreamBlocks, states: States, asked: Sequence[Mixture]) -> list[Line]:
    """The sums to try, for numbers in some joint states; `asked` are the program's own."""
    heads = dict.fromkeys(output.head for output in states)
    if len(heads) < 2:
        candidates = (_line(blocks, weights, states) for weights in _mixtures(states, asked))
        return [line for line in candidates if line is not None]
    own = [_of_head(head, states, asked) for head in heads]
    places = [_places(blocks, weights, states) for weights in own]
    if len(heads) > 2 or not all(places):
        raise Refusal("it depends on averages or counts of several heads at once", EACH_FIRST)
    lines = []
    for parts in DIRECTIONS:
        totals = np.round(np.array(parts) @ np.array(places) / FINE).astype(np.int64)
        mixed = {output: weight * Fraction(part)
                 for weights, part in zip(own, parts, strict=True) if part
                 for output, weight in weights.items()}  # fmt: skip
        lines.append(Line(blocks, mixed, totals, FINE))
    return lines


def _of_head(head: PlannedHead, outputs: Iterable[HeadOutput], asked: Sequence[Mixture]) -> Mixture:
    """The one sum of a head's numbers that matters; nothing where there are several."""
    own = [output for output in outputs if output.head is head]
    inside = ({output: weights[output] for output in own if output in weights}
              for weights in [*_alone(own), *asked])  # fmt: skip
    return next((weights for weights in inside if len(weights) == len(own)), {})


def _alone(outputs: Iterable[HeadOutput]) -> list[Mixture]:
    return [{output: Fraction(1)} for output in outputs]


def _totals(weights: Mixture, states: States) -> list[Fraction]:
    """(state,): a weighted sum in every joint state."""
    terms = ([weight * code for code in states[output]] for output, weight in weights.items())
    return [sum(row, Fraction(0)) for row in zip(*terms, strict=True)]


def _places(blocks: StreamBlocks, weights: Mixture, states: States) -> list[float]:
    """(state,): the place of a sum of one head's numbers; empty for other s-ops."""
    totals, modes = _totals(weights, states), {output.head.mode for output in weights}
    if modes == {"mean"}:
        return list(map(float, totals))
    atoms = blocks.values.of(mixture(weights)).atoms
    if not weights or len(atoms) > 1:
        return []
    sink, counted = sink_weight(blocks), number(atoms[0])
    return [float(total / (sink + total / counted)) for total in totals]


def _line(blocks: StreamBlocks, weights: Mixture, states: States) -> Line | None:
    """A weighted sum as a line; None where it has too many digits."""
    totals = _totals(weights, states)
    whole = lcm(*(total.denominator for total in totals))
    units = [int(total * whole) for total in totals]
    if max(map(abs, units), default=0) >= MOST_UNITS_OF_A_SUM:
        return None
    adding = next((output.head for output in weights if output.head.mode == "sum"), None)
    return Line(blocks, weights, np.array(units, np.int64), 1 / whole, adding)


def _mixtures(states: States, asked: Sequence[Mixture]) -> Iterator[Mixture]:
    """What the program asks for, each number alone, and several of them as digits."""
    yield from asked
    alone = _alone(states)
    yield from alone
    inside = {output for weights in asked for output in weights}
    parts = [*asked, *(weights for weights in alone if not inside & set(weights))]
    for digits in (alone, parts):
        if len(digits) > 1:
            yield _as_digits(digits)
            yield _as_digits(digits[::-1])


def _as_digits(parts: Sequence[Mixture]) -> Mixture:
    """Sums as the digits of one number, the first of them the last digit."""
    digits: dict[HeadOutput, Fraction] = {}
    unit = Fraction(1)
    for weights in parts:
        spread, gaps = Fraction(0), []
        for output, weight in weights.items():
            codes = sorted(set(output.codes_of_states))
            spread += abs(weight) * (codes[-1] - codes[0])
            gaps += [abs(weight) * (high - low) for low, high in pairwise(codes)]
        gap = min(gaps, default=Fraction(1))
        for output, weight in weights.items():
            digits[output] = digits.get(output, Fraction(0)) + unit * weight / gap
        unit *= spread / gap + 1
    return digits


def deciding_line(
    lines: Sequence[Line], table: np.ndarray
) -> tuple[Line | None, np.ndarray, np.ndarray]:
    """The sum that decides a value best, its levels, and the value at each; (state,) values.

    That is the one with the largest gaps at its thresholds, and of those the one with the fewest
    thresholds: each is a step that is rounded.
    """
    there = table >= 0
    values = table[there]
    if (values == values[0]).all():
        return None, np.zeros(1, int), values[:1]
    candidates: list[tuple[float, int, tuple[Line, np.ndarray, np.ndarray]]] = []
    for line in lines:
        totals = line.totals[there]
        levels, firsts, where = np.unique(totals, return_index=True, return_inverse=True)
        places = values[firsts]
        if (places[where] != values).any():
            continue
        gaps = np.diff(levels)[np.diff(places) != 0]
        size = sum(abs(float(weight)) for weight in line.weights.values())
        gap = float(gaps.min()) * line.unit / (size or 1.0)
        candidates.append((gap, len(gaps), (line, levels, places)))
    if not candidates:
        raise Refusal(
            "it depends on several averages or counts of one head, in no single order", EACH_FIRST
        )
    widest = max(gap for gap, _, _ in candidates)
    *_, best = min(
        candidates,
        key=lambda candidate: (candidate[0] < ALIKE * widest, candidate[1], -candidate[0]),
    )
    return best
