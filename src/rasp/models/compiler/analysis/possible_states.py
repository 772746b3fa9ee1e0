"""Combinations of states in, which of them can occur at one position out.

A BOS is at index 0 and only there, an index is below the length, outputs of one head move together,
a selector that picks nothing at an index gives its default there, and promises are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import numpy as np

from rasp.language.graph import SOp
from rasp.models.certificate.program.reach import Row, joint_sums
from rasp.models.compiler.analysis.joint_tables import BaseVariables, Grid, rows_of, states_of
from rasp.models.compiler.analysis.values import HeldValues, Joint
from rasp.models.compiler.analysis.variables import HeadOutput, PlannedHead, default_code, number
from rasp.models.compiler.compile_refusals import Refusal


class PossibleStates:
    """What can be together, given what s-ops hold and where selectors pick nothing."""

    def __init__(
        self, held: HeldValues, base: BaseVariables, joint: Callable[[Sequence[SOp]], Joint]
    ) -> None:
        self.base, self.settings, self._held, self._joint = base, base.settings, held, joint
        self.promised: list[SOp] = []
        """Conditions that are true at every position of every input."""
        self._table = cache(self._table_of)

    def of(self, grid: Grid) -> np.ndarray:
        """(combination,): whether some input has it."""
        possible = np.ones(states_of(grid), bool)
        for condition in self.promised:
            values = self._held.of(condition)
            if values.inputs and set(values.inputs) <= grid.keys():
                possible &= [outcome is True for (outcome,) in rows_of([values], grid)]
        if self.base.index in grid:
            possible &= self._is_possible_at(grid[self.base.index], grid)
        by_head: dict[PlannedHead, list[HeadOutput]] = {}
        for variable in grid:
            if isinstance(variable, HeadOutput):
                by_head.setdefault(variable.head, []).append(variable)
        for outputs in by_head.values():
            table = self._table(tuple(outputs)) if len(outputs) > 1 else None
            if table is not None:
                possible &= table[tuple(grid[output] for output in outputs)]
        return possible

    def _is_possible_at(self, index: np.ndarray, grid: Grid) -> np.ndarray:
        """(combination,): whether the token and what heads put out can be there at an index."""
        possible = np.ones(len(index), bool)
        if self.settings.bos is not None and self.base.token in grid:
            is_bos = grid[self.base.token] == len(self.settings.vocabulary) - 1
            possible &= is_bos == (index == 0)
        for variable, states in grid.items():
            if not isinstance(variable, HeadOutput):
                continue
            never = self._held.aggregates.never_picks(variable.head.formula)
            if never.any():
                default = default_code(variable)
                is_default = np.array([code == default for _, code in variable.states])
                possible &= ~never[index] | is_default[states]
            if variable.longest:
                possible &= index < np.array(variable.longest)[states]
        return possible

    def _table_of(self, outputs: tuple[HeadOutput, ...]) -> np.ndarray | None:
        """(state of each output): whether outputs of one head can be in these at once."""
        rows = self._rows(outputs)
        if rows is None:
            return None
        codes = [output.codes_of_states for output in outputs]
        return np.array([row in rows for row in product(*codes)]).reshape([*map(len, codes)])

    def _rows(self, outputs: Sequence[HeadOutput]) -> set[Row] | None:
        """Every row of codes that outputs of one head can have; None where that is not known."""
        head = outputs[0].head
        plain = all(output.carrier is None and output.codes is None for output in outputs)
        if not plain or head.family is not None or head.mode == "share":
            return None
        try:
            joint = self._joint([output.values for output in outputs])
        except Refusal:
            return None
        rows = {tuple(map(number, row)) for row in joint.rows if None not in row}
        if head.mode == "sum" or not head.picks_one:
            sums = joint_sums(rows, self.settings.max_length, by_count=head.mode == "mean")
            if sums is None:
                return None
            rows = set(sums)
        if head.may_be_empty:
            rows.add(tuple(number(output.default) for output in outputs))
        return rows
