"""A promise about inputs in, how many keys a selector picks out, where the promise says so.

`selector_width(select(tokens, "+", ==)) == 1` says that `select(tokens, "+", ==)` picks one key:
what is averaged over it is one value. The checker finds the same by rules of its own.
"""

from __future__ import annotations

from math import inf

from rasp.certificate.program.tables import operands_of
from rasp.compiler.analysis.formulas import Formula
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.values import Values
from rasp.compiler.analysis.variables import HeadOutput, SumVariable, mixture, number, summed_over
from rasp.compiler.heads.selectors import Selectors
from rasp.compiler.refusals import Refusal
from rasp.graph import SOp
from rasp.graph.formulas import conjuncts

NOTHING = 0.0, inf


class PromisedPicks:
    """How many keys selectors pick, as far as promises about inputs tell."""

    def __init__(self, selectors: Selectors) -> None:
        self.selectors, self.values = selectors, selectors.values
        self._promised_picks: dict[Formula, tuple[float, float]] = {}

    def promise(self, where: SOp) -> None:
        """Take it that a bool s-op is true at every position of every input."""
        if self.values.of(where).kinds != {bool}:
            raise Refusal("a promise about inputs is a bool s-op", "compare with something")
        conditions = operands_of(where, "and")
        for condition in conditions:
            self.values.of(condition)
        self.values.joints.possible.promised += conditions

    def of(self, formula: Formula) -> tuple[float, float]:
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


def _number_of(values: Values) -> Linear:
    """The number that decides a condition; a constant where it is not one number of heads."""
    match values.inputs:
        case (SumVariable() | HeadOutput() as variable,):
            return variable.linear
    return Linear()
