"""Variables: the things that elementwise work at one position can depend on.

The token, the index, what a head put out, a weighted sum of these, or a value that an earlier
feed-forward computed. Each has finitely many states: an atom, and the number that stands for
it in the residual stream (its code).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import ClassVar, TypeAlias

from rasp.base.atoms import Atom
from rasp.language.graph import Const, Node, Scorer, SOp
from rasp.language.graph.formulas import conjuncts
from rasp.models.certificate.program import sums
from rasp.models.compiler.analysis.formulas import Formula, in_stable_order
from rasp.models.compiler.analysis.linear import ZERO, Coordinate, Linear, of_ground
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.settings import Settings

LARGEST = 1 << 20
"""The largest code, in differences of codes."""
FAR = 16
"""How many times their own range a default is away from values that it is far away from."""
State: TypeAlias = tuple[Atom, Fraction]


@dataclass(frozen=True, eq=False, repr=False)
class Variable:
    """Something with finitely many states, known after the attention of layer `layer`."""

    layer: int
    states: tuple[State, ...]
    is_inexact: bool
    """Whether rounding can move its code: what averages make, and what is made from that."""

    @property
    def codes_of_states(self) -> list[Fraction]:
        return [code for _, code in self.states]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of layer {self.layer}: {len(self.states)} states>"


@dataclass(frozen=True, eq=False, repr=False)
class GroundVariable(Variable):
    """The token, whose codes are its places in the vocabulary, or the index."""

    ground: int
    """`TOKEN` or `INDEX`."""


@dataclass(frozen=True, eq=False, repr=False)
class CountVariable(Variable):
    """How many of several conditions hold: stands in for their `and` or `or`.

    Each condition is a term of its own, so that they need not be looked at jointly; what the
    count says is told apart only after it has been moved, or in the next feed-forward.
    """

    conditions: tuple[SOp, ...]


@dataclass(frozen=True, eq=False, repr=False)
class HeadOutput(Variable, Coordinate):
    """What one head puts out for one values s-op."""

    order: ClassVar[int] = 2
    head: PlannedHead
    values: SOp
    default: Atom | None
    """What a query that picks nothing gets; None where that cannot happen, or for sums."""
    codes: dict[Atom, Fraction] | None = None
    """Codes of the values where they are not numbers."""
    is_of_one_value: bool = False
    """Whether it is one of the values as it is, or the default, however many keys are picked."""
    carrier: CountVariable | None = None
    """The count that is moved in place of the values it stands for."""
    known_by: SOp = field(kw_only=True)
    """The s-op of the program that this is, or that needs it."""
    longest: tuple[int, ...] = ()
    """For each state, the longest input that has it, where the length decides it."""

    @property
    def linear(self) -> Linear:
        """Its code, as a weighted sum of nothing else."""
        return Linear(ZERO, {self: Fraction(1)})


@dataclass(frozen=True, eq=False, repr=False)
class SumVariable(Variable):
    """A weighted sum of other variables."""

    linear: Linear
    """Its code: the sum itself, or a narrower one that says as much (see `weighted_sums`)."""
    whole: Linear
    """The sum itself, which is its atom."""


@dataclass(frozen=True, eq=False, repr=False)
class NodeVariable(Variable):
    """The value of an s-op that the feed-forward of an earlier layer computes."""

    node: SOp


@dataclass(eq=False, repr=False)
class PlannedHead:
    """One attention head: whom it attends to, and how its outputs come out of the softmax.

    mode "mean": the weights of the picked keys add up to 1. mode "sum": the sink has a weight that
    is known, so that the output tells the sum over the picked keys (see `planning.attention` and
    `robust.numbers`, which choose different weights).
    mode "share": what position 0 gets, which weighs as much as many picked keys (see
    `width_shares`).
    """

    layer: int
    mode: str
    formula: Formula
    best: Scorer | None = None
    """The scorer of a `select_best`."""
    may_be_empty: bool = False
    """Whether a query of a mean may pick nothing: then the sink gets the weight."""
    needs_uniform: bool = False
    """Whether all picked keys must weigh the same: a sum, or a mean of different values."""
    picks_one: bool = False
    """Whether no query picks two keys (or the program fails): then the weight is exactly 1."""
    family: Formula | None = None
    """Where several heads share out one selector's keys: that selector."""
    outweighs: bool = False
    """Whether position 0 gets its weight where it is not picked, and all there is where it is."""
    refusal: Refusal | None = None
    """Why no model can have this head; where nothing reads it, none needs to."""
    outputs: list[HeadOutput] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<{self.mode} head of layer {self.layer}: {len(self.outputs)} outputs>"

    @property
    def needs_sink(self) -> bool:
        return self.mode == "sum" or self.may_be_empty

    @property
    def conjuncts(self) -> list[Formula]:
        """The conditions that add up to its scores; a share has one, so that other keys tie."""
        return [self.formula] if self.mode == "share" else in_stable_order(conjuncts(self.formula))

    @property
    def known_by(self) -> SOp:
        """An s-op that it is there for."""
        return self.outputs[0].known_by

    def check(self) -> None:
        """Raise that it cannot be made, where something reads it."""
        if self.refusal is not None:
            raise self.refusal


def linear_in(
    variable: Variable, table: Sequence[Fraction | None], settings: Settings
) -> Linear | None:
    """A function of one variable as a `Linear`, if it is one; of token and index all are."""
    match variable:
        case GroundVariable(ground=ground):
            somewhere = next(value for value in table if value is not None)
            filled = [somewhere if value is None else value for value in table]
            return of_ground(ground, filled, settings)
        case HeadOutput() | SumVariable():
            line = line_through(variable.linear, variable.codes_of_states, table)
            if line is None and isinstance(variable, SumVariable):
                numbers = [number(atom) for atom, _ in variable.states]
                line = line_through(variable.whole, numbers, table)
            return line
    return None


def line_through(
    linear: Linear, numbers: Sequence[Fraction], table: Sequence[Fraction | None]
) -> Linear | None:
    """The line through (number, value) for each state, if there is one, as a function of `linear`,
    which is that number.
    """
    points = [(at, value) for at, value in zip(numbers, table, strict=True) if value is not None]
    other_point = next((point for point in points if point[0] != points[0][0]), None)
    if other_point is None:
        return None
    (first, low), (second, high) = points[0], other_point
    slope = (high - low) / (second - first)
    if any(low + slope * (at - first) != value for at, value in points):
        return None
    return linear.times(slope).plus(low - slope * first)


def codes_of(atoms: Iterable[Atom], averaged: bool = False) -> dict[Atom, Fraction]:
    """Give each atom a number: numbers stand for themselves, strings are counted in order.

    Atoms that are equal (1, 1.0, True) get the same number. Beside strings, numbers are counted
    as well, below 0; where they are `averaged`, they stand for themselves, and the strings come
    before them.
    """
    listed = list(atoms)
    if not any(isinstance(atom, str) for atom in listed):
        return {atom: Fraction(atom) for atom in listed}
    strings = sorted({atom for atom in listed if isinstance(atom, str)})
    codes: dict[Atom, Fraction] = {text: Fraction(place) for place, text in enumerate(strings)}
    numbers = sorted({Fraction(atom) for atom in listed if not isinstance(atom, str)})
    if averaged:
        below = floor(numbers[0]) - len(strings)
        return {text: code + below for text, code in codes.items()} | {n: n for n in numbers}
    return codes | {number: Fraction(-1 - place) for place, number in enumerate(numbers)}


def head_codes(
    atoms: Sequence[Atom], is_unique: bool, default: Atom | None = None
) -> tuple[dict[Atom, Fraction], bool]:
    """Numbers for what a head puts out, and whether they are names, not the atoms' own numbers.

    A default that is far away from all else is given a number beside it, as a string is.
    """
    codes = codes_of(atoms, averaged=not is_unique)
    if is_unique and is_spread(codes.values()):  # too far apart to be added, but only one is picked
        by_size = sorted(codes, key=codes.__getitem__)
        return {atom: Fraction(place) for place, atom in enumerate(by_size)}, True
    others = [code for atom, code in codes.items() if atom != default]
    if default is not None and others and not isinstance(default, str):
        low, high = min(others), max(others)
        away = max(low - codes[default], codes[default] - high)
        if away > FAR * max(high - low, Fraction(1)):
            return codes | {default: Fraction(floor(low) - 1)}, True
    return codes, any(isinstance(atom, str) for atom in atoms)


def is_spread(codes: Iterable[Fraction]) -> bool:
    """Whether codes are too large for float32, or for their differences to be told in it."""
    ordered = sorted(set(codes))
    gaps = [high - low for low, high in pairwise(ordered)]
    gap = min([*gaps, Fraction(LARGEST)])
    return bool(ordered) and max(map(abs, ordered)) > LARGEST * gap


def is_binary(codes: Iterable[Fraction]) -> bool:
    """Whether float32 holds codes exactly, as far as their denominators go."""
    return all(code.denominator & (code.denominator - 1) == 0 for code in codes)


def default_code(output: HeadOutput) -> Fraction:
    """The number that stands for the default: heads move what the values exceed it by."""
    if output.default is None:
        return Fraction(0)
    return (output.codes or codes_of([output.default]))[output.default]


def default_of(weights: Mapping[HeadOutput, Fraction]) -> Fraction:
    """The weighted sum of what several outputs of one head are by default."""
    return sum((weight * default_code(output) for output, weight in weights.items()), ZERO)


def number(atom: Atom | None) -> Fraction:
    """An atom that is known to be a number, as one."""
    assert atom is not None and not isinstance(atom, str)
    return Fraction(atom)


def typed(atom: Atom) -> tuple[type, Atom]:
    """A key that tells 1 from True and from 1.0."""
    return type(atom), atom


def distinct(atoms: Iterable[Atom | None]) -> list[Atom]:
    """The different atoms, kinds told apart, in order of appearance."""
    return list({typed(atom): atom for atom in atoms if atom is not None}.values())


def s_op_of(inputs: Iterable[Variable]) -> Node | None:
    """An s-op that something with these inputs depends on, for a message that names a place."""
    for variable in inputs:
        match variable:
            case NodeVariable(node=node) | HeadOutput(known_by=node):
                return node
            case SumVariable(linear=linear):
                return s_op_of(linear.of(HeadOutput))
    return None


def summed_over(linear: Linear) -> Formula | None:
    """The selector over whose picks a weighted sum adds up; None where it is of anything else."""
    heads = {(output.head.mode, output.head.formula) for output in linear.of(HeadOutput)}
    if len(heads) != 1 or len(linear.of(HeadOutput)) < len(linear.parts):
        return None
    ((mode, formula),) = heads
    return formula if mode == "sum" else None


def mixture(weights: Mapping[HeadOutput, Fraction]) -> SOp:
    """The weighted sum of the values of several outputs of one head, as an s-op."""
    terms = [(output.values, weight) for output, weight in weights.items()]
    return sums.mixture(terms) if terms else Const(0)
