"""Aggregates in, head outputs out: which head computes each, as a mean or as a sum.

The layer of an aggregate is that of the schedule (`architecture.schedule`). In a layer there is one
head for each mode, formula and scorer, and it puts out what all aggregates with these ask for
(`_head`). The mode is "sum" where `disguised_sums` finds one, "share" for a width without a sink
(`width_shares`), and "mean" otherwise. So there is one head for each selector of the schedule, but
for a selector with sums and means, `heads="split"`, and sums whose conditions on keys move into
their values, so that selectors share a head. What no one reads gets no weights (`planning.plan`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate

from rasp.base.atoms import Atom
from rasp.language.graph import Aggregate, Const, Elementwise, Node, Scorer, SOp, in_order
from rasp.models.certificate.claims import Meaning
from rasp.models.compiler.analysis.formulas import Formula, sides
from rasp.models.compiler.analysis.linear import Linear, total
from rasp.models.compiler.analysis.rounding import can_be_rounded
from rasp.models.compiler.analysis.task import Task
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.analysis.values import Values
from rasp.models.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    PlannedHead,
    codes_of,
    distinct,
    head_codes,
    number,
    typed,
)
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.heads.disguised_sums import Sum, SumShapes
from rasp.models.compiler.heads.head_ranges import HeadRanges
from rasp.models.compiler.heads.pick_counts import PickCounts
from rasp.models.compiler.heads.scorers import scored_by
from rasp.models.compiler.heads.selectors import Selectors
from rasp.models.compiler.heads.width_shares import Computed, WidthShares, share_of

NUMBERS = frozenset({int, Fraction})


class HeadAnalysis:
    """What s-ops hold, and the heads that this takes: it adds to `heads` as it meets aggregates."""

    def __init__(self, task: Task) -> None:
        self.task, self.settings = task, task.settings
        self.values = ValueAnalysis(task, self)
        self.selectors = Selectors(self.values)
        self.never_picks = self.selectors.never_picks
        self.picks = PickCounts(self.selectors)
        self._ranges = HeadRanges(self.picks)
        self.ranges = self._ranges.of
        self._sums = SumShapes(self.picks)
        self.heads: list[PlannedHead] = []
        self.meanings: dict[Aggregate, Computed] = {}
        """How each aggregate follows from what heads put out, as the checker is told."""
        self._widths = WidthShares(self.picks, self.heads, self.meanings)
        self.products: dict[Node, Linear] = {}
        """The sums that products of an aggregate and its width are."""

    def of(self, node: Aggregate) -> Values:
        """What an aggregate holds."""
        self._sums.busy.add(node)
        try:
            return self._aggregate(node)
        finally:
            self._sums.busy.discard(node)

    def _aggregate(self, node: Aggregate) -> Values:
        values = self.values.of(node.values)
        formula, best = self.selectors.formula(node)
        if formula is False:
            self.meanings[node] = Meaning("never", ()), ()
            return self.values.sums.table(0, (), [node.default])
        compared = [*sides(formula), *scored_by(best)]
        if not values.atoms or not all(self.values.of(side).atoms for side in compared):
            return Values((), [None], 0, frozenset())
        shapes = self._sums.sum_shapes(self.task.siblings[node])
        if len(values.inputs) == 1 and isinstance(values.inputs[0], CountVariable):
            return self._move_count(node, values, values.inputs[0])
        if shapes is not None:
            return self._sum(node, shapes[node])
        return self._widths.of(node) or self._mean(node, values)

    def _mean(self, node: Aggregate, values: Values) -> Values:
        """What a head picks for an aggregate, or the mean of it."""
        picked, is_unique, longest = self._picked(node, values)
        head = self._head(node, "mean", *self.selectors.formula(node))
        default = node.default if head.may_be_empty else None
        atoms = distinct([*picked, default])
        codes, are_names = head_codes(atoms, is_unique, default)
        head.picks_one |= not _numbers_in(values)
        head.needs_uniform |= not is_unique and len(set(codes_of(values.atoms).values())) > 1
        states = tuple((atom, codes[atom]) for atom in atoms)
        output = HeadOutput(
            head.layer, states, self._is_inexact(codes.values()), head, node.values, default,
            codes if are_names else None, is_unique, known_by=node, longest=longest,
        )  # fmt: skip
        head.outputs.append(output)
        self.meanings[node] = Meaning("mean", ()), [output]
        if len(atoms) == 1:
            return self.values.sums.table(0, (), atoms)
        return self.values.sums.table(head.layer, (output,), atoms)

    def _is_inexact(self, codes: Iterable[Fraction]) -> bool:
        """Whether what a head adds stays off by rounding."""
        return not (self.task.is_careful and can_be_rounded(codes, self.settings.max_length))

    def _picked(
        self, node: Aggregate, values: Values
    ) -> tuple[Sequence[Atom], bool, tuple[int, ...]]:
        """What an aggregate gives where it picks something; whether that is always one value; and
        where the length decides it, the longest input for each different atom.
        """
        formula, best = self.selectors.formula(node)
        if self.picks.at_most_one(formula, best) or _has_one_number(values):
            return values.atoms, True, ()
        fractions = [Fraction(atom) for atom in _numbers_in(values)]
        if len(values.atoms) == 1 or self.picks.one_value(node.values, formula, best):
            return [*values.atoms, *fractions], True, ()
        is_whole = formula is True and best is None
        if is_whole and values.inputs == (self.values.index,) and None not in values.outcomes:
            picked = _by_length(values.outcomes)
            lengths = {typed(atom): length for length, atom in enumerate(picked, 1)}
            return picked, False, tuple(lengths.values())
        return [*values.atoms, *self._ranges.means_of(fractions)], False, ()

    def _move_count(self, node: Aggregate, values: Values, carrier: CountVariable) -> Values:
        """Move a count in place of what it stands for, where that says as much."""
        head = self._head(node, "mean", *self.selectors.formula(node))
        default = node.default if head.may_be_empty else None
        moves_one = values.kinds == {bool} or self.picks.at_most_one(head.formula, head.best)
        if not moves_one and not (_counts_up(values) and self._is_compared_with_zero(node)):
            raise Refusal(
                "its values depend on too many combinations to be worked out at once",
                self.settings.way_out,
            )
        head.picks_one |= moves_one
        head.needs_uniform |= not moves_one
        counts = carrier.codes_of_states
        states = list(zip(values.outcomes, counts, strict=True))
        if not moves_one:
            states = [(code, code) for code in self._ranges.means_of(counts)]
        codes: dict[Atom, Fraction] = {}
        if default is not None:
            codes[default] = Fraction(-1) if moves_one or default != 0 else Fraction(0)
            states = [(default, codes[default]), *states]
        possible = tuple((atom, code) for atom, code in states if atom is not None)
        output = HeadOutput(
            head.layer, possible, True, head, node.values, default, codes, carrier=carrier,
            known_by=node,
        )  # fmt: skip
        head.outputs.append(output)
        self.meanings[node] = Meaning("mean" if moves_one else "positive", ()), [output]
        outcomes = [atom for atom, _ in possible]
        return Values((output,), outcomes, head.layer, frozenset(map(type, outcomes)))

    def _is_compared_with_zero(self, node: Aggregate) -> bool:
        """Whether the program only ever asks if an aggregate of numbers from 0 on is 0."""
        users = self.task.users[node]
        return node not in self.task.outputs and all(_asks_if_zero(user, node) for user in users)

    def _sum(self, node: Aggregate, shape: Sum) -> Values:
        meaning, linear = shape.meaning, Linear(shape.meaning.constant)
        if meaning.own is not None and (bos := self.values.of(meaning.own).linear) is not None:
            linear = linear + bos.times(meaning.factor)
        outputs = [self._sum_output(node, *part, shape) for part in shape.parts]
        linear = total([linear, *(output.linear for output in outputs)])
        told = [output for output in outputs if self.values.of(output.values).atoms != [0]]
        self.meanings[node] = meaning, told
        first_value = shape.first_value
        if first_value is None:
            if meaning.rule == "product":
                self.products |= dict.fromkeys(self.task.users[node], linear)
            return self.values.sums.values(linear, NUMBERS)
        table = self.values.sums.values(linear, frozenset({Fraction}))
        outcomes: list[Atom | None]
        if meaning.rule == "pick":
            outcomes = [first_value if atom else node.default for atom in table.outcomes]
        else:
            counts = [number(atom) for atom in table.outcomes]
            outcomes = [None if count < 1 else share_of(first_value, count) for count in counts]
        return self.values.sums.table(table.layer, table.inputs, outcomes)

    def _sum_output(self, node: Aggregate, formula: Formula, values: SOp, shape: Sum) -> HeadOutput:
        if self.task.works_stepwise:
            self.task.deadlines.adopt(node.selector, in_order([values]))
        sent = self.values.of(values)
        head = self._head(node, "sum", formula, None)
        head.family = shape.formula if len(shape.parts) > 1 else None
        if all(output.values is not values for output in head.outputs):
            if shape.meaning.rule == "pick":
                sums = sorted({Fraction(0), *(Fraction(atom) for atom in sent.atoms)})
            else:
                sums = self._ranges.sums_of([sent], formula)
            states, is_inexact = tuple((code, code) for code in sums), self._is_inexact(sums)
            longest = tuple(map(int, sums)) if formula is True and sent.atoms == [1] else ()
            head.outputs.append(HeadOutput(head.layer, states, is_inexact, head, values, None,
                               known_by=node, longest=longest))  # fmt: skip
        return next(output for output in head.outputs if output.values is values)

    def _head(
        self, node: Aggregate, mode: str, formula: Formula, best: Scorer | None
    ) -> PlannedHead:
        """The head of a layer with this mode, formula and scorer."""
        layer = self.task.layer_of[node]
        for head in self.heads:
            if (head.layer, head.mode, head.formula, head.best) == (layer, mode, formula, best):
                return head
        head = PlannedHead(layer, mode, formula, best, needs_uniform=mode == "sum",
                           refusal=self.selectors.unseen(node))  # fmt: skip
        if mode == "mean":
            head.picks_one = self.picks.at_most_one(formula, best)
            head.may_be_empty = not self.picks.is_never_empty(formula)
        if head.may_be_empty and not self.settings.sink:
            head.refusal = Refusal(
                "its selector may pick nothing, and without a sink softmax cannot tell that "
                "from picking everything",
                "compile with `sink=True`, or let the selector always pick something",
            )
        self.heads.append(head)
        return head


def _numbers_in(values: Values) -> list[int | Fraction]:
    """What can be averaged."""
    return [atom for atom in values.atoms if not isinstance(atom, (bool, str))]


def _has_one_number(values: Values) -> bool:
    """Whether several keys hold one value because means of anything else would fail."""
    numbers = _numbers_in(values)
    if len(numbers) == len(values.atoms):
        return False
    is_one = len(set(numbers)) < 2
    if not is_one and str in values.kinds:
        raise Refusal(
            "its values are strings as well as numbers, and several may be picked at once",
            "aggregate numbers alone or strings alone, or pick one key at a time",
        )
    return is_one


def _by_length(values: Sequence[Atom | None]) -> list[Atom]:
    """The means of the first one, two, … of some numbers."""
    sums = accumulate(map(number, values))
    means: list[Atom] = [total / count for count, total in enumerate(sums, 1)]
    return [values[0] or 0, *means[1:]]


def _asks_if_zero(user: Node, node: Aggregate) -> bool:
    """Whether a number from 0 on is only compared with 0."""
    match user:
        case Elementwise("==" | "!=" | ">" | "<=", (asked, Const(value))):
            return asked is node and value == 0
    return False


def _counts_up(values: Values) -> bool:
    """Whether values are 0 where the count they depend on is, and numbers above 0 elsewhere."""
    first, *others = values.outcomes
    is_known = None not in others and values.kinds <= NUMBERS
    return is_known and first == 0 and all(number(atom) > 0 for atom in others)
