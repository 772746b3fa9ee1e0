"""Rows of weights that read something from the residual stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rasp.models.certificate import Array


@dataclass(frozen=True, eq=False)
class Row:
    """`constant + Σ weight · dimension`."""

    weights: Mapping[int, float] = field(default_factory=dict)
    constant: float = 0.0

    def times(self, factor: float) -> Row:
        return Row({dim: factor * weight for dim, weight in self.weights.items()},
                   factor * self.constant)  # fmt: skip

    @property
    def largest(self) -> float:
        """The largest weight."""
        return max(map(abs, self.weights.values()), default=0.0)


def stack_rows(rows: Sequence[Row], size: int) -> tuple[Array, Array]:
    """Rows as the weights and biases of a linear map of a stream of some size."""
    weights, biases = np.zeros((len(rows), size)), np.array([row.constant for row in rows])
    for place, row in enumerate(rows):
        for dim, weight in row.weights.items():
            weights[place, dim] = weight
    return weights, biases


def sum_rows(rows: Iterable[Row]) -> Row:
    """The sum of rows; weights that cancel are dropped.

    >>> sum_rows([Row({1: 2.0}, 1.0), Row({1: -2.0, 2: 1.0})])
    Row(weights={2: 1.0}, constant=1.0)
    """
    weights: dict[int, float] = {}
    constant = 0.0
    for row in rows:
        constant += row.constant
        for dim, weight in row.weights.items():
            weights[dim] = weights.get(dim, 0.0) + weight
    return Row({dim: weight for dim, weight in weights.items() if weight}, constant)
