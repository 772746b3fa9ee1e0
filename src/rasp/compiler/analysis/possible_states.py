"""Combinations of states in, which of them can occur at one position out.

A BOS is at index 0 and only there, an index is below the length, outputs of one head move together,
a selector that picks nothing at an index gives its default there, and promises are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from rasp.certificate.program.reach import Row, joint_sums
from rasp.compiler.analysis.formulas import Formula
from rasp.compiler.analysis.joint_tables import BaseVariables, rows_of
from rasp.compiler.analysis.values import HeldValues, Joint
from rasp.compiler.analysis.variables import (
    HeadOutput,
    PlannedHead,
    Variable,
    default_code,
    number,
)
from rasp.compiler.refusals import Refusal
from rasp.graph import SOp

JointOf: TypeAlias = Callable[[Sequence[SOp]], Joint]
NeverPicks: TypeAlias = Callable[[Formula], np.ndarray]
"""(index,): whether a query there picks nothing, whatever the input is."""


class PossibleStates:
    """What can be together, given what s-ops hold and where selectors pick nothing."""

    def __init__(
        self, base: BaseVariables, held: HeldValues, joint: JointOf, never_picks: NeverPicks
    ) -> None:
        self.base, self.settings = base, base.settings
        self._held, self._joint, self._never_picks = held, joint, never_picks
        self.promised: list[SOp] = []
        """Conditions that are true at every position of every input."""
        self._rows: dict[tuple[HeadOutput, ...], set[Row] | None] = {}
        self._together: dict[tuple[HeadOutput, ...], np.ndarray | None] = {}

    def of(self, inputs: tuple[Variable, ...], grid: np.ndarray) -> np.ndarray:
        """(combination,): whether some input has it."""
        possible = np.ones(grid.shape[1], bool)
        for condition in self.promised:
            values = self._held.of(condition)
            if values.inputs and set(values.inputs) <= set(inputs):
                kept = rows_of([values.view], inputs, grid)
                possible &= np.array([outcome is True for (outcome,) in kept])
        state = dict(zip(inputs, grid, strict=True))
        index = state.get(self.base.index)
        if index is not None:
            possible &= self._is_possible_at(index, state)
        by_head: dict[PlannedHead, list[HeadOutput]] = {}
        for variable in inputs:
            if isinstance(variable, HeadOutput):
                by_head.setdefault(variable.head, []).append(variable)
        for outputs in by_head.values():
            together = self._states_of(tuple(outputs)) if len(outputs) > 1 else None
            if together is not None:
                possible &= together[tuple(state[output] for output in outputs)]
        return possible

    def _is_possible_at(self, index: np.ndarray, state: dict[Variable, np.ndarray]) -> np.ndarray:
        """(combination,): whether the token and what heads put out can be there at an index."""
        possible = np.ones(len(index), bool)
        if self.settings.bos is not None and self.base.token in state:
            is_bos = state[self.base.token] == len(self.settings.vocabulary) - 1
            possible &= is_bos == (index == 0)
        for variable, places in state.items():
            if not isinstance(variable, HeadOutput):
                continue
            never = self._never_picks(variable.head.formula)
            if never.any():
                default = default_code(variable)
                is_default = np.array([code == default for _, code in variable.states])
                possible &= ~never[index] | is_default[places]
            if variable.longest:
                possible &= index < np.array(variable.longest)[places]
        return possible

    def _states_of(self, outputs: tuple[HeadOutput, ...]) -> np.ndarray | None:
        """(state of each output): whether outputs of one head can be in these at once; None where
        that is not known.
        """
        if outputs not in self._together:
            rows = self.rows(outputs)
            self._together[outputs] = None if rows is None else _as_table(rows, outputs)
        return self._together[outputs]

    def rows(self, outputs: tuple[HeadOutput, ...]) -> set[Row] | None:
        """Every row of codes that outputs of one head can have; None where that is not known."""
        if outputs not in self._rows:
            self._rows[outputs] = self._find_rows(outputs)
        return self._rows[outputs]

    def _find_rows(self, outputs: tuple[HeadOutput, ...]) -> set[Row] | None:
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


def _as_table(rows: set[Row], outputs: tuple[HeadOutput, ...]) -> np.ndarray:
    """(state of each output): whether their codes are one of the rows."""
    codes = [[code for _, code in output.states] for output in outputs]
    numbers = [{code: place for place, code in enumerate(dict.fromkeys(some))} for some in codes]
    found = np.zeros([len(places) for places in numbers], bool)
    for row in rows:
        places = [known.get(code) for code, known in zip(row, numbers, strict=True)]
        if None not in places:
            found[tuple(places)] = True
    return found[np.ix_(*([known[code] for code in some]
                          for some, known in zip(codes, numbers, strict=True)))]  # fmt: skip
