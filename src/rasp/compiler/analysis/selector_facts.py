"""What is provably true of a selector: empty, unique, causal, or known from the indices alone."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

import numpy as np

from rasp.atoms import Atom
from rasp.certificate.program.orders import is_strict_order
from rasp.compiler.analysis.comparison_tables import compared
from rasp.compiler.analysis.formulas import Formula, at_the_query, comparisons, formula_of
from rasp.compiler.analysis.joint_states import Values
from rasp.compiler.analysis.joint_tables import grid_of
from rasp.compiler.analysis.linear import Linear, TokenIs, index_is
from rasp.compiler.analysis.task import Task
from rasp.compiler.analysis.values import ValueAnalysis
from rasp.compiler.analysis.variables import (
    HeadOutput,
    IndexVariable,
    Variable,
    default_code,
    mixture,
    typed,
)
from rasp.compiler.refusals import Refusal
from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Score,
    Scorer,
    SelectBest,
    Selector,
    SOp,
    apply_operator,
    is_everywhere,
    score_terms,
    selectors_in,
)
from rasp.graph.formulas import All, Comparison, Either, conjuncts, rewritten
from rasp.operators.comparisons import EQUAL

MOST_COMPARED = 100_000
REFLEXIVE = ("==", "<=", ">=")


class SelectorFacts(ValueAnalysis):
    """Value analysis that also knows things about selectors."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._formulas: dict[Selector, tuple[Formula, Scorer | None]] = {}
        self._picks: dict[Comparison[SOp], np.ndarray] = {}
        self._silent: dict[Formula, np.ndarray] = {}
        self._promised_picks: dict[Formula, tuple[float, float]] = {}

    def selector(self, selector: Selector) -> tuple[Formula, Scorer | None]:
        """Split a selector into a formula and what its best picks are scored by."""
        if selector not in self._formulas:
            chosen = self.task.alike.get(selector, selector)
            self._formulas[selector] = self._split_selector(chosen)
        return self._formulas[selector]

    def _split_selector(self, selector: Selector) -> tuple[Formula, Scorer | None]:
        best: Scorer | None = None
        if isinstance(selector, SelectBest):
            best, selector = selector.scorer, selector.selector
        for part in selectors_in(selector):
            if isinstance(part, SelectBest):
                raise Refusal(
                    "select_best is inside another selector",
                    "let `aggregate` use the result of select_best directly",
                )
        return formula_of(selector, self._simplified), best

    def _simplified(self, literal: Comparison[SOp]) -> Formula:
        """Evaluate a comparison that is the same for all pairs; refuse one that always fails."""
        if self._is_of_one_value(literal):
            return bool(literal.outcomes & EQUAL)
        keys, queries = self.of(literal.keys).atoms, self.of(literal.queries).atoms
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
        truth = compared(keys, queries, literal.op)
        return bool(truth[0, 0]) if (truth == truth[0, 0]).all() else literal

    def _is_of_one_value(self, literal: Comparison[SOp]) -> bool:
        """Whether a comparison is of an s-op with itself that is the same at all positions."""
        return literal.keys is literal.queries and is_everywhere(literal.keys, self._is_one_atom)

    def _is_one_atom(self, node: SOp) -> bool:
        try:
            return len(self.of(node).atoms) == 1
        except Refusal:
            return False

    def _at_index(self, literal: Comparison[SOp], first: bool) -> Formula:
        """Decide a comparison of the key's index with a constant, at key 0 or at all others."""
        keys, queries = self.of(literal.keys), self.of(literal.queries)
        if keys.inputs != (self.index,) or len(queries.atoms) != 1:
            return literal
        atoms = keys.outcomes[:1] if first else keys.outcomes[1:]
        truths = {atom is not None and bool(apply_operator(literal.op, (atom, queries.atoms[0])))
                 for atom in atoms}  # fmt: skip
        return truths.pop() if len(truths) == 1 else literal

    def _looks_at_keys_only(self, formula: Formula) -> bool:
        return all(len(self.of(literal.queries).atoms) == 1 for literal in comparisons(formula))

    def _query_value(self, literal: Comparison[SOp]) -> Const:
        return Const(self.of(literal.queries).atoms[0])

    def picks_by_index(self, formula: Formula) -> np.ndarray | None:
        """The selection, query by key, where it depends on the two indices alone."""
        size = self.settings.max_length
        if isinstance(formula, bool):
            return np.full((size, size), formula)
        if isinstance(formula, Comparison):
            keys, queries = self.of(formula.keys), self.of(formula.queries)
            if any(set(side.inputs) - {self.index} for side in (keys, queries)):
                return None
            columns = list(keys.outcomes) * (size if not keys.inputs else 1)
            rows = list(queries.outcomes) * (size if not queries.inputs else 1)
            if formula not in self._picks:
                self._picks[formula] = compared(columns, rows, formula.op)
            return self._picks[formula]
        parts = [self.picks_by_index(part) for part in formula.parts]
        arrays = [part for part in parts if part is not None]
        if len(arrays) < len(parts):
            return None
        return np.asarray(
            np.all(arrays, axis=0) if isinstance(formula, All) else np.any(arrays, axis=0)
        )

    def is_never_empty(self, formula: Formula) -> bool:
        """Whether every query provably picks some key."""
        if formula is True or self._is_reflexive(formula):
            return True
        if rewritten(formula, lambda literal: self._at_index(literal, True)) is True:
            return True
        picks = self.picks_by_index(formula)
        if picks is not None:
            return all(picks[place, : place + 1].any() for place in range(len(picks)))
        if isinstance(formula, Comparison) and self._points_inside(formula):
            return True
        return self.promised_picks(formula)[0] >= 1

    @abstractmethod
    def promised_picks(self, formula: Formula) -> tuple[float, float]:
        """The fewest and the most keys that a query picks, as far as promises tell."""

    def _is_reflexive(self, formula: Formula) -> bool:
        if isinstance(formula, Comparison):
            return formula.keys is formula.queries and formula.op in REFLEXIVE
        if isinstance(formula, All):
            return all(map(self._is_reflexive, formula.parts))
        return isinstance(formula, Either) and any(map(self._is_reflexive, formula.parts))

    def _points_inside(self, literal: Comparison[SOp]) -> bool:
        """`select(indices, q, ==)` where q is a whole number in [0, length), at every length."""
        values = self.of(literal.queries)
        linear = values.linear
        if not isinstance(literal.keys, Indices) or literal.op != "==":
            return False
        if linear is None:
            return self._points_inside_by_table(values)
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

    def _points_inside_by_table(self, values: Values) -> bool:
        """The same where the length is known by its inverse, which index 0 gets of a mean."""
        outputs = [one for one in values.inputs if isinstance(one, HeadOutput)]
        if len(outputs) != 1 or set(values.inputs) - {self.index, *outputs}:
            return False
        (output,) = outputs
        light = self.of(output.values)
        is_inverse = output.head.formula is True and light.inputs == (self.index,)
        if not is_inverse or any(light.outcomes[1:]) or not light.outcomes[0]:
            return False
        first = Fraction(light.outcomes[0])
        grid = grid_of(values.inputs)
        for place, query in enumerate(values.outcomes):
            states = dict(zip(values.inputs, grid[:, place].tolist(), strict=True))
            code = output.states[states[output]][1]
            length = first / code if code else Fraction(0)
            if length.denominator == 1 and states.get(self.index, 0) < length:
                inside = isinstance(query, (int, Fraction)) and 0 <= query < length
                if not inside or Fraction(query or 0).denominator != 1:
                    return False
        return True

    def picks_bos(self, formula: Formula) -> Linear | None:
        """1 where a query picks the BOS, else 0; None where that takes attention to know.

        Only for selectors that always pick something, so that no count falls below 0 without it.
        """
        if self.settings.bos is None or self.settings.max_length == 1:
            return None
        if isinstance(formula, bool) or not self.is_never_empty(formula):
            return None
        picked = at_the_query(formula, self._at_bos)
        if picked is None:
            return None
        try:
            values = self.of(Elementwise("indicator", (picked,)))
        except Refusal:
            return None
        return values.linear if values.layer == 0 else None

    def _at_bos(self, literal: Comparison[SOp]) -> Const | None:
        """What the keys of a comparison hold at the BOS, where the embedding alone decides it."""
        values = self.of(literal.keys)
        if values.inputs == (self.token,):
            atom = values.outcomes[-1]
        elif values.inputs in ((), (self.index,)):
            atom = values.outcomes[0]
        else:
            return None
        return None if atom is None else Const(atom)

    def _reachable(
        self, inputs: tuple[Variable, ...], grid: np.ndarray, rows: list[tuple[Atom | None, ...]]
    ) -> list[tuple[Atom | None, ...]]:
        """Blank also what a head cannot give at an index where its selector never picks, and
        lengths that an index is beyond.
        """
        rows = super()._reachable(inputs, grid, rows)
        for variable in inputs:
            if isinstance(variable, HeadOutput) and self.index in inputs:
                silent = self._never_picks(variable.head.formula)
                index, state = grid[inputs.index(self.index)], grid[inputs.index(variable)]
                fine = np.ones(len(index), bool)
                if silent.any():
                    default = default_code(variable)
                    gives = np.array([code == default for _, code in variable.states])
                    fine = ~silent[index] | gives[state]
                if variable.longest:
                    fine &= index < np.array(variable.longest)[state]
                if not fine.all():
                    blank = (None,) * len(rows[0])
                    rows = [row if each else blank
                            for row, each in zip(rows, fine.tolist(), strict=True)]  # fmt: skip
        return rows

    def _never_picks(self, formula: Formula) -> np.ndarray:
        """(index,): whether a query there picks nothing, whatever the input is."""
        if formula not in self._silent:
            parts = [self.picks_by_index(part) for part in conjuncts(formula)]
            silent = [~part.any(axis=1) for part in parts if part is not None]
            never = np.zeros(self.settings.max_length, bool)
            self._silent[formula] = np.any([never, *silent], axis=0)
        return self._silent[formula]

    def picks_at_most_one(self, formula: Formula, best: Scorer | None) -> bool:
        """Whether no query can pick two keys."""
        if self.settings.max_length == 1:
            return True
        if best is not None and self._tells_apart(best, Indices()):
            return True
        if any(isinstance(part, Comparison) and part.op == "==" and self._is_injective(part.keys)
               for part in conjuncts(formula)):  # fmt: skip
            return True
        return self.promised_picks(formula)[1] <= 1

    def picks_one_value(self, values: SOp, formula: Formula, best: Scorer | None) -> bool:
        """Whether all keys that a query picks hold the same value, however many they are."""
        if best is not None and self._tells_apart(best, values):
            return True
        return any(
            isinstance(part, Comparison) and part.op == "==" and part.keys is values
            for part in conjuncts(formula)
        )

    def _tells_apart(self, best: Scorer, values: SOp) -> bool:
        """Whether keys that tie, for some query, surely hold the same value."""
        match best:
            case Score(keys, queries) if keys is values:
                return all(self.of(queries).outcomes)
            case Score(keys, queries) if isinstance(values, Indices):
                return self._is_injective(keys) and all(self.of(queries).outcomes)
            case Score():
                return False
        terms = score_terms(best)
        asked = self.numbers_together([term.queries for term in terms])
        sent = self.numbers_together([*(term.keys for term in terms), values])
        if len(asked) * len(sent) > MOST_COMPARED:
            return False
        for query in asked:
            holders: dict[Fraction, Fraction] = {}
            for *sides, value in sent:
                score = sum((a * b for a, b in zip(sides, query, strict=True)), Fraction(0))
                if holders.setdefault(score, value) != value:
                    return False
        return True

    def _is_injective(self, keys: SOp) -> bool:
        """Whether no two positions hold the same: the index decides it, or it is a rank."""
        values = self.of(keys)
        if len(values.inputs) != 1 or not isinstance(values.inputs[0], IndexVariable):
            return self._is_rank(values.linear)
        return len({typed(atom)[1] for atom in values.outcomes if atom is not None}) == len(
            values.outcomes
        )

    def _is_rank(self, linear: Linear | None) -> bool:
        """Whether a number tells how many keys a strict order of all positions picks."""
        outs = {} if linear is None else linear.of(HeadOutput)
        heads = {output.head for output in outs}
        if linear is None or len(heads) != 1 or len(outs) < len(linear.parts):
            return False
        (head,) = heads
        if head.mode != "sum" or any(output.carrier is not None for output in outs):
            return False
        sent = self.of(mixture(outs)).atoms
        return len(sent) == 1 and bool(sent[0]) and self._is_order(head.formula)

    def _is_order(self, formula: Formula) -> bool:
        """Whether of any two positions one comes before the other by a formula, in one order."""
        parts = comparisons(formula)
        sides = list(dict.fromkeys(one.keys for one in parts))
        if any(one.keys is not one.queries for one in parts):
            return False
        if any(len({isinstance(atom, str) for atom in self.of(side).atoms}) > 1 for side in sides):
            return False

        def holds(case: tuple[int, ...]) -> bool:
            outcome = dict(zip(sides, case, strict=True))
            return rewritten(formula, lambda one: bool(outcome[one.keys] & one.outcomes)) is True

        return is_strict_order(holds, [isinstance(side, Indices) for side in sides])

    def _is_causal(self, formula: Formula) -> bool:
        """Whether no query picks a later key: each part of an `or`, and some part of an `and`."""
        if isinstance(formula, Either):
            return all(map(self._is_causal, formula.parts))
        if isinstance(formula, All) and any(map(self._is_causal, formula.parts)):
            return True
        picks = self.picks_by_index(formula)
        return picks is not None and not np.triu(picks, 1).any()

    def _unseen(self, node: Aggregate) -> Refusal | None:
        """Why a causal model cannot have a head for an aggregate."""
        formula, _ = self.selector(node.selector)
        if not self.settings.causal or self._is_causal(formula):
            return None
        otherwise = (
            ", and write `indices + 1` for `length`"
            if self.settings.next_token
            else ", or compile with `causal=False`"
        )
        return Refusal(
            f"its selector `{self.refusals.text(node.selector)}` may pick "
            "keys after the query, which a causal model cannot see",
            f"add `and select(indices, indices, <=)`{otherwise}",
        )
