"""A selector in, a formula of comparisons out, with what the values of their sides decide.

A comparison becomes True or False where it is the same for all that its sides can hold, or compares
with itself what is the same at all positions. The rest are facts about formulas that look at keys
alone, or at the two indices alone (a selector is causal, or empty at an index, by their table),
which other files build on.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cache

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Scorer,
    Select,
    SelectBest,
    SOp,
    apply_operator,
    is_everywhere,
    selectors_in,
)
from rasp.language.graph.formulas import All, Comparison, Either, conjuncts, every, rewritten
from rasp.language.operators.comparisons import EQUAL
from rasp.models.certificate.program.cases import compared, holds
from rasp.models.compiler.analysis.formulas import (
    Formula,
    as_s_op,
    as_selector,
    formula_of,
    keys_and_queries,
    sides,
)
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.analysis.values import Values
from rasp.models.compiler.compile_refusals import Refusal

MOST_COMPARED = 100_000
"""The most pairs of a key and a query that are compared to see what is always so."""


class Selectors:
    """Selectors as formulas, and what these are where one side of them is fixed."""

    def __init__(self, values: ValueAnalysis) -> None:
        self.task, self.settings, self.values = values.task, values.settings, values
        self.index = values.index
        self.formula = cache(self._formula)
        """The selector of an aggregate as a formula, and what its best picks are scored by."""
        self._picks = cache(self._comparison_by_index)
        self.never_picks = cache(self._never_picks)
        """(index,): whether a query there picks nothing, whatever the input is."""

    def _formula(self, node: Aggregate) -> tuple[Formula, Scorer | None]:
        selector = self.task.siblings[node][0].selector
        best: Scorer | None = None
        if isinstance(selector, SelectBest):
            best, selector = selector.scorer, selector.selector
        if any(isinstance(part, SelectBest) for part in selectors_in(selector)):
            raise Refusal(
                "select_best is inside another selector",
                "let `aggregate` use the result of select_best directly",
            )
        return formula_of(selector, self._simplify), best

    def _simplify(self, literal: Comparison[SOp]) -> Formula:
        """Evaluate a comparison that is the same for all pairs; refuse one that always fails."""
        is_same = literal.keys is literal.queries
        if is_same and is_everywhere(literal.keys, self._is_one_atom):
            return bool(literal.outcomes & EQUAL)
        keys, queries = self.values.of(literal.keys).atoms, self.values.of(literal.queries).atoms
        sorts = [{isinstance(atom, str) for atom in atoms} for atoms in (keys, queries)]
        if literal.op not in ("==", "!=") and sorts[0] != sorts[1]:
            raise Refusal(
                "it compares strings with numbers, which the program itself cannot",
                "compare numbers with numbers or strings with strings",
            )
        is_small = 0 < len(keys) * len(queries) <= MOST_COMPARED
        if not is_small or (is_same and len(keys) > 1) or max(map(len, sorts)) > 1:
            return literal
        truth = compared(keys, queries, literal.op)
        return bool(truth[0, 0]) if (truth == truth[0, 0]).all() else literal

    def _is_one_atom(self, node: SOp) -> bool:
        with suppress(Refusal):
            return len(self.values.of(node).atoms) == 1
        return False

    def at_key_0(self, formula: Formula) -> Formula:
        """What a formula says of key 0: the key's index decides what is compared with it."""
        return rewritten(formula, lambda literal: self._at_keys(literal, slice(0, 1)))

    def at_other_keys(self, formula: Formula) -> Formula:
        """What a formula says of all keys but key 0, as far as that is the same for all of them."""
        return rewritten(formula, lambda literal: self._at_keys(literal, slice(1, None)))

    def _at_keys(self, literal: Comparison[SOp], places: slice) -> Formula:
        """Decide a comparison of the key's index with a constant, at some keys."""
        keys, queries = self.values.of(literal.keys), self.values.of(literal.queries)
        if keys.inputs != (self.index,) or len(queries.atoms) != 1:
            return literal
        truths = {atom is not None and bool(apply_operator(literal.op, (atom, queries.atoms[0])))
                  for atom in keys.outcomes[places]}  # fmt: skip
        return truths.pop() if len(truths) == 1 else literal

    def split_by_side(self, parts: Iterable[Formula]) -> tuple[list[Formula], list[Formula]]:
        """The parts that look at keys only, since they compare with constants, and the others."""
        sides: tuple[list[Formula], list[Formula]] = [], []
        for part in parts:
            _, queries = keys_and_queries(part)
            is_varied = any(len(self.values.of(query).atoms) != 1 for query in queries)
            sides[is_varied].append(part)
        return sides

    def at_the_key(self, parts: Iterable[Formula]) -> SOp:
        """Whether a key fulfils formulas that look at keys only, as a bool s-op."""
        return as_s_op(every(parts), lambda literal: Elementwise(
            literal.op, (literal.keys, Const(self.values.of(literal.queries).atoms[0]))
        ))  # fmt: skip

    def picks_by_index(self, formula: Formula) -> np.ndarray | None:
        """The selection, query by key, where it depends on the two indices alone."""
        if any(set(self.values.of(side).inputs) - {self.index} for side in sides(formula)):
            return None
        picks: np.ndarray = holds(as_selector(formula), self._picks)
        return picks

    def _comparison_by_index(self, literal: Select) -> np.ndarray:
        size = self.settings.max_length
        keys, queries = self.values.of(literal.keys), self.values.of(literal.queries)
        columns = [*keys.outcomes] * (1 if keys.inputs else size)
        rows = [*queries.outcomes] * (1 if queries.inputs else size)
        return compared(columns, rows, literal.op)

    def value_at_first_only(self, values: Values) -> Atom | None:
        """The value at index 0 of an s-op that is 0 everywhere else and depends on nothing else."""
        is_alone = not values.inputs and self.settings.max_length == 1
        if not (is_alone or values.inputs == (self.index,)) or any(values.outcomes[1:]):
            return None
        return values.outcomes[0] or None

    def _never_picks(self, formula: Formula) -> np.ndarray:
        never = np.zeros(self.settings.max_length, bool)
        for part in conjuncts(formula):
            picks = self.picks_by_index(part)
            if picks is not None:
                never |= ~picks.any(axis=1)
        return never

    def _is_causal(self, formula: Formula) -> bool:
        """Whether no query picks a later key: each part of an `or`, and some part of an `and`."""
        if isinstance(formula, Either):
            return all(map(self._is_causal, formula.parts))
        if isinstance(formula, All) and any(map(self._is_causal, formula.parts)):
            return True
        picks = self.picks_by_index(formula)
        return picks is not None and not np.triu(picks, 1).any()

    def unseen(self, node: Aggregate) -> Refusal | None:
        """Why a causal model cannot have a head for an aggregate."""
        formula, _ = self.formula(node)
        if not self.settings.causal or self._is_causal(formula):
            return None
        otherwise = (", and write `indices + 1` for `length`" if self.settings.next_token
                     else ", or compile with `causal=False`")  # fmt: skip
        return Refusal(
            f"its selector `{self.task.refusals.text(node.selector)}` may pick "
            "keys after the query, which a causal model cannot see",
            f"add `and select(indices, indices, <=)`{otherwise}",
        )
