"""What is provably true of a selector: never empty, causal, empty at an index, or of the BOS.

It is never empty where a query picks itself (`x == x`, `x <= x`), picks index 0 whatever that
holds, does so by the two indices alone, points at a position of the input (`select(indices, q, ==)`
with 0 <= q < length), or where a promise says so. It is causal, or empty at an index, by the table
of the two indices alone.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from rasp.compiler.analysis.formulas import Formula, as_s_op, comparisons
from rasp.compiler.analysis.joint_tables import grid_of
from rasp.compiler.analysis.linear import TokenIs, index_is
from rasp.compiler.analysis.values import Values
from rasp.compiler.analysis.variables import HeadOutput
from rasp.compiler.heads.promised_picks import PromisedPicks
from rasp.compiler.heads.selectors import Selectors
from rasp.compiler.refusals import Refusal
from rasp.graph import Aggregate, Const, Elementwise, Indices, SOp
from rasp.graph.formulas import All, Comparison, Either, conjuncts, rewritten


class SelectorFacts:
    """What is provably true of selectors."""

    def __init__(self, selectors: Selectors, promises: PromisedPicks) -> None:
        self.selectors, self.values, self.settings = selectors, selectors.values, selectors.settings
        self.promises, self.token, self.index = promises, self.values.token, self.values.index
        self.never_picks = cache(self._never_picks)
        """(index,): whether a query there picks nothing, whatever the input is."""

    def is_never_empty(self, formula: Formula) -> bool:
        """Whether every query provably picks some key."""
        if rewritten(formula, _is_reflexive) is True or self.selectors.at_key_0(formula) is True:
            return True
        picks = self.selectors.picks_by_index(formula)
        if picks is not None:
            return all(picks[place, : place + 1].any() for place in range(len(picks)))
        match formula:
            case Comparison(Indices(), queries) if formula.op == "==" and self._is_inside(queries):
                return True
        return self.promises.of(formula)[0] >= 1

    def _is_inside(self, queries: SOp) -> bool:
        """Whether an s-op is a whole number in [0, length), at every length."""
        values = self.values.of(queries)
        linear = values.linear
        if linear is None:
            return self._is_inside_by_table(values)
        outs = linear.of(HeadOutput)
        if linear.of(TokenIs) or len(outs) > 1 or not all(output.is_length for output in outs):
            return False
        weight = next(iter(outs.values()), Fraction(0))
        size = self.settings.max_length
        for place in range(size):
            base = linear.constant + linear.parts.get(index_is(place), 0)
            for length in {place + 1, min(place + 2, size), size}:  # it is linear in between
                query = base + weight * length
                if query.denominator != 1 or not 0 <= query < length:
                    return False
        return True

    def _is_inside_by_table(self, values: Values) -> bool:
        """The same where the length is known by its inverse, which index 0 gets of a mean."""
        outputs = [variable for variable in values.inputs if isinstance(variable, HeadOutput)]
        if len(outputs) != 1 or set(values.inputs) - {self.index, *outputs}:
            return False
        (output,) = outputs
        at_first = self.values.of(output.values)
        is_inverse = output.head.formula is True and at_first.inputs == (self.index,)
        if not is_inverse or any(at_first.outcomes[1:]) or not at_first.outcomes[0]:
            return False
        first = Fraction(at_first.outcomes[0])
        grid = grid_of(values.inputs)
        states, indices = grid[output], grid.get(self.index, np.zeros_like(grid[output]))
        rows = zip(values.outcomes, states.tolist(), indices.tolist(), strict=True)
        for query, state, index in rows:
            code = output.states[state][1]
            length = first / code if code else Fraction(0)
            if length.denominator == 1 and index < length:
                inside = isinstance(query, (int, Fraction)) and 0 <= query < length
                if not inside or Fraction(query or 0).denominator != 1:
                    return False
        return True

    def picks_bos(self, formula: Formula) -> SOp | None:
        """1 where a query picks the BOS, else 0; None where that takes attention to know.

        Only for selectors that always pick something, so that no count falls below 0 without it.
        """
        if self.settings.bos is None or self.settings.max_length == 1:
            return None
        if isinstance(formula, bool) or not self.is_never_empty(formula):
            return None
        truths = {literal: self._at_bos(literal) for literal in comparisons(formula)}
        at_bos = {literal: truth for literal, truth in truths.items() if truth is not None}
        if len(at_bos) < len(truths):
            return None
        indicator = Elementwise("indicator", (as_s_op(formula, at_bos.__getitem__),))
        try:
            values = self.values.of(indicator)
        except Refusal:
            return None
        return indicator if values.linear is not None and values.layer == 0 else None

    def _at_bos(self, literal: Comparison[SOp]) -> SOp | None:
        """A comparison with what the keys hold at the BOS, where the embedding alone decides it."""
        values = self.values.of(literal.keys)
        if values.inputs == (self.token,):
            atom = values.outcomes[-1]
        elif values.inputs in ((), (self.index,)):
            atom = values.outcomes[0]
        else:
            return None
        return None if atom is None else Elementwise(literal.op, (Const(atom), literal.queries))

    def _never_picks(self, formula: Formula) -> np.ndarray:
        never = np.zeros(self.settings.max_length, bool)
        for part in conjuncts(formula):
            picks = self.selectors.picks_by_index(part)
            if picks is not None:
                never |= ~picks.any(axis=1)
        return never

    def _is_causal(self, formula: Formula) -> bool:
        """Whether no query picks a later key: each part of an `or`, and some part of an `and`."""
        if isinstance(formula, Either):
            return all(map(self._is_causal, formula.parts))
        if isinstance(formula, All) and any(map(self._is_causal, formula.parts)):
            return True
        picks = self.selectors.picks_by_index(formula)
        return picks is not None and not np.triu(picks, 1).any()

    def unseen(self, node: Aggregate) -> Refusal | None:
        """Why a causal model cannot have a head for an aggregate."""
        formula, _ = self.selectors.formula(node)
        if not self.settings.causal or self._is_causal(formula):
            return None
        otherwise = (", and write `indices + 1` for `length`" if self.settings.next_token
                     else ", or compile with `causal=False`")  # fmt: skip
        return Refusal(
            f"its selector `{self.values.task.refusals.text(node.selector)}` may pick "
            "keys after the query, which a causal model cannot see",
            f"add `and select(indices, indices, <=)`{otherwise}",
        )


def _is_reflexive(literal: Comparison[SOp]) -> bool:
    """Whether every position picks itself."""
    return literal.keys is literal.queries and literal.op in ("==", "<=", ">=")
