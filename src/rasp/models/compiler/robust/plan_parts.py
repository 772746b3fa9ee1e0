"""What a plan is made of: rows that heads, hidden units and read-outs read, and what they write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from rasp.models.compiler.analysis.variables import HeadOutput, PlannedHead
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.heads.model_plan import OutputReads

UNIT = 2.0**-24


@dataclass(frozen=True, eq=False)
class MovedValue:
    """One value that a head moves: what keys send, what the sink sends, and where it goes."""

    outputs: Mapping[HeadOutput, Fraction]
    """The weighted sum of the head's outputs that it is; nothing for what the sink alone sends."""
    row: Row
    sink: float
    dim: int


@dataclass(frozen=True, eq=False)
class RobustHead:
    """What a head reads and writes; a score is the sum of products of two rows."""

    head: PlannedHead
    columns: list[tuple[Row, Row]]
    sink: float
    """The sink's score."""
    channels: list[MovedValue]

    @property
    def basis(self) -> list[Mapping[HeadOutput, Fraction]]:
        """Each value that it moves, as a weighted sum of its outputs."""
        return [channel.outputs for channel in self.channels]


@dataclass(frozen=True, eq=False)
class RobustOutput(OutputReads):
    """One output, and for each atom the row that is 1 where it is the answer."""

    rows: list[Row]
    """Or one row that reads the answer itself, a number."""


@dataclass(frozen=True, eq=False)
class Step:
    """Two hidden units that together rise from 0 to 1 at a threshold, and are flat elsewhere:
    `row` is y, and `out` what is added where it is above 0.
    """

    row: Row
    out: dict[int, float]
    most: float = 0.0
    """How far y is from 0, at most, where it is above; 0 where it reads no number."""
    cube: int = 0
    """Of a feature, which cube it is for: in others, it adds nothing."""

    @property
    def units(self) -> list[tuple[Row, Row]]:
        """What each unit reads, and what it adds."""
        factor = max(1.0, sqrt(self.row.largest)) if self.most else 1.0
        return [(sum_rows([self.row, Row({}, shift)]).times(1 / factor),
                 Row(self.out).times(sign * factor))
                for shift, sign in ((0.5, 1.0), (-0.5, -1.0))]  # fmt: skip


def rounding_of(steps: Iterable[Step]) -> float:
    """How far off the sum of steps may be, at most: each is rounded in the sum of all of a cube."""
    cubes: dict[int, list[float]] = {}
    for step in steps:
        cubes.setdefault(step.cube, []).append(step.most)
    return max((UNIT * len(most) * sum(most) for most in cubes.values()), default=0.0)
