"""A selector in, a formula of comparisons out, with what the values of their sides decide.

A comparison becomes True or False where it is the same for all that its sides can hold, or compares
with itself what is the same at all positions. The rest are facts about formulas that look at keys
alone, or at the two indices alone, which other files build on.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.analysis.comparison_tables import comparison_table
from rasp.compiler.analysis.formulas import (
    Formula,
    as_s_op,
    as_table,
    comparisons,
    formula_of,
    sides,
)
from rasp.compiler.analysis.value_analysis import ValueAnalysis
from rasp.compiler.analysis.values import Values
from rasp.compiler.refusals import Refusal
from rasp.graph import (
    Const,
    Elementwise,
    Scorer,
    SelectBest,
    Selector,
    SOp,
    apply_operator,
    is_everywhere,
    selectors_in,
)
from rasp.graph.formulas import Comparison, every
from rasp.operators.comparisons import EQUAL

MOST_COMPARED = 100_000
"""The most pairs of a key and a query that are compared to see what is always so."""


class Selectors:
    """Selectors as formulas, and what these are where one side of them is fixed."""

    def __init__(self, values: ValueAnalysis) -> None:
        self.task, self.settings, self.values = values.task, values.settings, values
        self.index = values.index
        self._formulas: dict[Selector, tuple[Formula, Scorer | None]] = {}
        self._picks: dict[bool | Comparison[SOp], np.ndarray] = {}

    def formula(self, selector: Selector) -> tuple[Formula, Scorer | None]:
        """Split a selector into a formula and what its best picks are scored by."""
        if selector not in self._formulas:
            chosen = self.task.same_pick_as.get(selector, selector)
            self._formulas[selector] = self._split(chosen)
        return self._formulas[selector]

    def _split(self, selector: Selector) -> tuple[Formula, Scorer | None]:
        best: Scorer | None = None
        if isinstance(selector, SelectBest):
            best, selector = selector.scorer, selector.selector
        for part in selectors_in(selector):
            if isinstance(part, SelectBest):
                raise Refusal(
                    "select_best is inside another selector",
                    "let `aggregate` use the result of select_best directly",
                )
        return formula_of(selector, self._simplify), best

    def _simplify(self, literal: Comparison[SOp]) -> Formula:
        """Evaluate a comparison that is the same for all pairs; refuse one that always fails."""
        if self._is_of_one_value(literal):
            return bool(literal.outcomes & EQUAL)
        keys, queries = self.values.of(literal.keys).atoms, self.values.of(literal.queries).atoms
        sorts = [{isinstance(atom, str) for atom in atoms} for atoms in (keys, queries)]
        if literal.op not in ("==", "!=") and sorts[0] != sorts[1]:
            raise Refusal(
                "it compares strings with numbers, which the program itself cannot",
                "compare numbers with numbers or strings with strings",
            )
        if not keys or not queries or len(keys) * len(queries) > MOST_COMPARED:
            return literal
        if literal.keys is literal.queries and len(keys) > 1:
            return literal
        if max(map(len, sorts)) > 1:
            return literal
        truth = comparison_table(keys, queries, literal.op)
        return bool(truth[0, 0]) if (truth == truth[0, 0]).all() else literal

    def _is_of_one_value(self, literal: Comparison[SOp]) -> bool:
        """Whether a comparison is of an s-op with itself that is the same at all positions."""
        return literal.keys is literal.queries and is_everywhere(literal.keys, self._is_one_atom)

    def _is_one_atom(self, node: SOp) -> bool:
        try:
            return len(self.values.of(node).atoms) == 1
        except Refusal:
            return False

    def at_index(self, literal: Comparison[SOp], first: bool) -> Formula:
        """Decide a comparison of the key's index with a constant, at key 0 or at all others."""
        keys, queries = self.values.of(literal.keys), self.values.of(literal.queries)
        if keys.inputs != (self.index,) or len(queries.atoms) != 1:
            return literal
        atoms = keys.outcomes[:1] if first else keys.outcomes[1:]
        truths = {atom is not None and bool(apply_operator(literal.op, (atom, queries.atoms[0])))
                 for atom in atoms}  # fmt: skip
        return truths.pop() if len(truths) == 1 else literal

    def looks_at_keys_only(self, formula: Formula) -> bool:
        """Whether the queries of all comparisons are one constant."""
        return all(
            len(self.values.of(literal.queries).atoms) == 1 for literal in comparisons(formula)
        )

    def split_by_side(self, parts: Iterable[Formula]) -> tuple[list[Formula], list[Formula]]:
        """The parts that look at keys only, and the others."""
        on_keys: list[Formula] = []
        others: list[Formula] = []
        for part in parts:
            (on_keys if self.looks_at_keys_only(part) else others).append(part)
        return on_keys, others

    def at_the_key(self, parts: Iterable[Formula]) -> SOp:
        """Whether a key fulfils formulas that look at keys only, as a bool s-op."""
        return as_s_op(every(parts), lambda literal: Elementwise(
            literal.op, (literal.keys, Const(self.values.of(literal.queries).atoms[0]))
        ))  # fmt: skip

    def picks_by_index(self, formula: Formula) -> np.ndarray | None:
        """The selection, query by key, where it depends on the two indices alone."""
        if any(set(self.values.of(side).inputs) - {self.index} for side in sides(formula)):
            return None
        return as_table(formula, self._comparison_by_index)

    def _comparison_by_index(self, literal: bool | Comparison[SOp]) -> np.ndarray:
        if literal not in self._picks:
            size = self.settings.max_length
            if isinstance(literal, bool):
                self._picks[literal] = np.full((size, size), literal)
            else:
                keys, queries = self.values.of(literal.keys), self.values.of(literal.queries)
                columns = list(keys.outcomes) * (1 if keys.inputs else size)
                rows = list(queries.outcomes) * (1 if queries.inputs else size)
                self._picks[literal] = comparison_table(columns, rows, literal.op)
        return self._picks[literal]

    def value_at_first_only(self, values: Values) -> Atom | None:
        """The value at index 0 of an s-op that is 0 everywhere else and depends on nothing else."""
        if values.inputs != (self.index,) or values.outcomes[0] is None:
            if not values.inputs and self.settings.max_length == 1:
                return values.outcomes[0] or None
            return None
        if values.outcomes[0] == 0 or any(values.outcomes[1:]):
            return None
        return values.outcomes[0]
