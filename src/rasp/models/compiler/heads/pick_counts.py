"""Selectors in; how many keys a query picks, at least and at most, and whether they hold one value.

Every query picks a key where it picks itself (`x == x`, `x <= x`), picks index 0 whatever that
holds, does so by the two indices alone, or points at a position of the input
(`select(indices, q, ==)` with 0 <= q < length).

No query picks two keys where keys are compared by `==` with something that is different at each
position: a function of the index alone with no value twice, or a rank (how many keys a strict order
of all positions picks). The best key is one where scores are one product and differ for different
positions. Several keys hold one value where the selector compares that value by `==`, or keys that
tie have the same.

And a promise may tell: `selector_width(select(tokens, "+", ==)) == 1` says that
`select(tokens, "+", ==)` picks one key. The checker finds all this by rules of its own.
"""

from __future__ import annotations

from itertools import product
from math import inf

from rasp.language.graph import Indices, Score, Scorer, SOp
from rasp.language.graph.formulas import Comparison, conjuncts, rewritten
from rasp.models.certificate.program.orders import is_strict_order
from rasp.models.certificate.program.tables import operands_of
from rasp.models.compiler.analysis.formulas import Formula, comparisons, keys_and_queries
from rasp.models.compiler.analysis.joint_tables import grid_of, rows_of
from rasp.models.compiler.analysis.linear import Linear, index_is
from rasp.models.compiler.analysis.values import Values
from rasp.models.compiler.analysis.variables import (
    HeadOutput,
    SumVariable,
    mixture,
    number,
    summed_over,
)
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.heads.selectors import Selectors

NOTHING = 0.0, inf


class PickCounts:
    """How many keys selectors pick."""

    def __init__(self, selectors: Selectors) -> None:
        self.selectors, self.values, self.settings = selectors, selectors.values, selectors.settings
        self._promised_picks: dict[Formula, tuple[float, float]] = {}

    # -- at least one -----------------------------------------------------------------------------

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
        return self._promised(formula)[0] >= 1

    def _is_inside(self, queries: SOp) -> bool:
        """Whether an s-op is a whole number in [0, length), at every length: a function of the
        index and of what one head puts out, which tells the length.
        """
        values, index = self.values.of(queries), self.values.index
        linear = values.linear
        inputs = values.inputs if linear is None else self.values.variables_of(linear)
        outputs = [variable for variable in inputs if isinstance(variable, HeadOutput)]
        if len(outputs) != 1 or set(inputs) - {index, *outputs}:
            return False
        (output,) = outputs
        size, lengths = self.settings.max_length, output.longest
        if len(set(lengths)) < size:
            return False
        if linear is None:
            asked = [row[0] for row in rows_of([values], grid_of((index, output)))]
        else:
            at = (linear.constant + linear.parts.get(index_is(place), 0) for place in range(size))
            asked = [start + linear.parts[output] * code
                     for start, (_, code) in product(at, output.states)]  # fmt: skip
        cases = zip(asked, product(range(size), lengths), strict=True)
        return all(query in range(length) for query, (place, length) in cases if place < length)

    # -- at most one ------------------------------------------------------------------------------

    def at_most_one(self, formula: Formula, best: Scorer | None) -> bool:
        """Whether no query can pick two keys."""
        return (
            self.settings.max_length == 1
            or (best is not None and self._tells_apart(best, Indices()))
            or any(map(self._is_injective, _compared_by_equality(formula)))
            or self._promised(formula)[1] <= 1
        )

    def one_value(self, values: SOp, formula: Formula, best: Scorer | None) -> bool:
        """Whether all keys that a query picks hold the same value, however many they are."""
        return values in _compared_by_equality(formula) or (
            best is not None and self._tells_apart(best, values)
        )

    def _tells_apart(self, best: Scorer, values: SOp) -> bool:
        """Whether keys that tie, for some query, surely hold the same value: they are scored by one
        product, which no query makes 0.
        """
        match best:
            case Score(keys, queries):
                is_decided = keys is values or (
                    isinstance(values, Indices) and self._is_injective(keys)
                )
                return is_decided and all(self.values.of(queries).outcomes)
        return False

    def _is_injective(self, keys: SOp) -> bool:
        """Whether no two positions hold the same: the index decides it, or it is a rank."""
        values = self.values.of(keys)
        if values.inputs != (self.values.index,):
            return values.linear is not None and self._is_rank(values.linear)
        return len({*values.outcomes} - {None}) == len(values.outcomes)

    def _is_rank(self, linear: Linear) -> bool:
        """Whether a number tells how many keys a strict order of all positions picks."""
        formula = summed_over(linear)
        if formula is None:
            return False
        sent = self.values.of(mixture(linear.of(HeadOutput))).atoms
        return len(sent) == 1 and bool(sent[0]) and self._is_order(formula)

    def _is_order(self, formula: Formula) -> bool:
        """Whether of any two positions one comes before the other by a formula, in one order."""
        sides, _ = keys_and_queries(formula)
        sorts = [{isinstance(atom, str) for atom in self.values.of(side).atoms} for side in sides]
        are_same = all(part.keys is part.queries for part in comparisons(formula))
        if not are_same or any(len(sort) > 1 for sort in sorts):
            return False

        def holds(case: tuple[int, ...]) -> bool:
            outcome = dict(zip(sides, case, strict=True))
            truth = rewritten(formula, lambda part: bool(outcome[part.keys] & part.outcomes))
            return truth is True

        return is_strict_order(holds, [isinstance(side, Indices) for side in sides])

    # -- promises ---------------------------------------------------------------------------------

    def promise(self, where: SOp) -> None:
        """Take it that a bool s-op is true at every position of every input."""
        if self.values.of(where).kinds != {bool}:
            raise Refusal("a promise about inputs is a bool s-op", "compare with something")
        conditions = operands_of(where, "and")
        for condition in conditions:
            self.values.of(condition)
        self.values.joints.possible.promised += conditions

    def _promised(self, formula: Formula) -> tuple[float, float]:
        """The fewest and the most keys that a query picks, as far as promises tell."""
        promised = self.values.joints.possible.promised
        if promised and formula not in self._promised_picks:
            self._promised_picks[formula] = NOTHING  # until it is known
            bounds = [self._counted_picks(condition, formula) for condition in promised]
            least, most = zip(*bounds, strict=True)
            self._promised_picks[formula] = max(least), min(most)
        return self._promised_picks.get(formula, NOTHING)

    def _counted_picks(self, condition: SOp, formula: Formula) -> tuple[float, float]:
        """Compare what each key adds to the number of a condition with whether it is picked."""
        values, parts = self.values.of(condition), conjuncts(formula)
        linear = _number_of(values)
        kept = summed_over(linear)
        if kept is None or not set(conjuncts(kept)) <= set(parts):
            return NOTHING
        on_keys, others = self.selectors.split_by_side(
            part for part in parts if part not in conjuncts(kept)
        )
        sent, picked = mixture(linear.of(HeadOutput)), self.selectors.at_the_key(on_keys)
        rows = [(number(added), fits is True)
                for added, fits in self.values.joints.of([sent, picked]).rows
                if added is not None and fits is not None]  # fmt: skip
        states = zip(values.inputs[0].states, values.outcomes, strict=True)
        allowed = [float(code - linear.constant) for (_, code), fits in states if fits is True]
        at_least = all(added >= fits for added, fits in rows)
        at_most = all(added <= fits for added, fits in rows) and not others
        return (min(allowed) if allowed and at_most else 0.0,
                max(allowed) if allowed and at_least else inf)  # fmt: skip


def _is_reflexive(literal: Comparison[SOp]) -> bool:
    """Whether every position picks itself."""
    return literal.keys is literal.queries and literal.op in ("==", "<=", ">=")


def _compared_by_equality(formula: Formula) -> list[SOp]:
    """What keys hold that a query picks."""
    return [part.keys for part in conjuncts(formula)
            if isinstance(part, Comparison) and part.op == "=="]  # fmt: skip


def _number_of(values: Values) -> Linear:
    """The number that decides a condition; a constant where it is not one number of heads."""
    match values.inputs:
        case (SumVariable() | HeadOutput() as variable,):
            return variable.linear
    return Linear()
