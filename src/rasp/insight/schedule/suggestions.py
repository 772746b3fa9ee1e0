"""A program in, changes that would save a layer or a head out, each one tried.

A suggestion is made only where the changed graph has been built and scheduled, and comes out
smaller. Where the change must not alter any answer, the two are also compared on inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from rasp.base.terminal_text import visibly
from rasp.insight.equivalence.answering import Input, answers
from rasp.insight.equivalence.suitable_inputs import random_inputs, suitable_alphabets
from rasp.insight.schedule.naming import Naming
from rasp.insight.schedule.reasons import listed
from rasp.insight.schedule.schedule import Schedule, schedule
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SOp,
    in_order,
    rebuild,
)
from rasp.language.graph.idioms import FIRST_KEY, IS_FIRST, LENGTH, selector_of_width
from rasp.language.graph.normal import Form, normal_form
from rasp.language.graph.sum_form import Sum, linear

Change: TypeAlias = tuple[str, tuple[Node, ...]]
"""What to do, and the outputs once it is done."""

MOST_NODES = 600
MOST_SELECTORS = 40
FIRST_LOOK = 8
"""Inputs on which most selectors that differ are seen to."""
FEWEST_INPUTS = 100
"""Inputs on which selectors must have picked something, and the same, to be spoken of."""
LAST = SelectBest(Select(Const(1), Const(1), "=="), Score(Indices(), Const(1)))
LAST_POSITION: Sum = (frozenset([(LENGTH, Fraction(1))]), Fraction(-1))
UP_TO_HERE = Select(Indices(), Indices(), "<=")


@visibly
@dataclass(frozen=True)
class Suggestion:
    """A change, and the schedule that the changed program has."""

    advice: str
    outputs: tuple[Node, ...]
    schedule: Schedule

    def __str__(self) -> str:
        return f"{self.advice}: {self.schedule}"

    __repr__ = __str__


def suggestions(naming: Naming, placed: Schedule) -> tuple[Suggestion, ...]:
    """Return what would make a schedule smaller, the most saving first."""
    if len(placed.layer_of) > MOST_NODES or placed.heads < 2:
        return ()
    better = []
    for advice, outputs in _changes(naming):
        smaller = schedule(outputs)
        if size(smaller) < size(placed):
            better.append(Suggestion(advice, outputs, smaller))
    return tuple(sorted(better, key=lambda suggestion: size(suggestion.schedule)))


def size(placed: Schedule) -> tuple[int, int, int]:
    """Return what a schedule costs: layers, then width, then heads."""
    return placed.layers, placed.width, placed.heads


def _changes(naming: Naming) -> Iterator[Change]:
    yield from _with_a_bos(naming)
    trial = _inputs(naming.outputs)
    for change in (_last_by_select_best, _one_prefix_head, _same_picks):
        for advice, outputs in change(naming, trial):
            if _agree(naming.outputs, outputs, trial):
                yield advice, outputs


def _with_a_bos(naming: Naming) -> Iterator[Change]:
    """`selector_width` needs its second head only to count position 0 rightly."""
    widths = [selector_of_width(node) for node in in_order(naming.outputs) if isinstance(node, SOp)]
    second = [
        Aggregate(SelectorAnd(width[0], FIRST_KEY), IS_FIRST)
        for width in widths
        if width is not None and not width[1]
    ]
    if not second:
        return
    second.sort(key=lambda node: (naming.line(node), naming.purpose(node)))
    names = listed(list(dict.fromkeys(naming.quoted(node) for node in second)))
    changed = rebuild(naming.outputs, lambda old, _: Const(0) if old in second else None)
    yield (
        "if inputs begin with a BOS token, which is never counted, `assume_bos=True` in "
        f"`selector_width` saves the second head of {names}",
        changed,
    )


def _last_by_select_best(naming: Naming, _: Sequence[Input]) -> Iterator[Change]:
    """The last position is the one with the greatest index: no need to know `length`."""

    def change(old: Node, _: Node) -> Node | None:
        match old:
            case Select(Indices(), SOp() as queries, "==") if linear(queries) == LAST_POSITION:
                return LAST
        return None

    if any(change(node, node) for node in in_order(naming.outputs)):
        advice = "`select_best(select_all, score(indices, 1))` finds the last position without "
        yield advice + "`length`", rebuild(naming.outputs, change)


def _one_prefix_head(naming: Naming, _: Sequence[Input]) -> Iterator[Change]:
    """A mean over what lies before can be had from the mean that includes the position itself."""
    nodes = in_order(naming.outputs)
    before = Select(Indices(), Indices(), "<")
    both = {node.selector for node in nodes if isinstance(node, Aggregate)}
    if not both.issuperset([before, UP_TO_HERE]):
        return

    def change(old: Node, new: Node) -> Node | None:
        if not isinstance(new, Aggregate) or new.selector is not before:
            return None
        here, mean = Indices(), Aggregate(UP_TO_HERE, new.values)
        total = Elementwise("*", (Elementwise("+", (here, Const(1))), mean))
        others = Elementwise("-", (total, new.values))
        is_start = Elementwise("==", (here, Const(0)))
        divisor = Elementwise("if", (is_start, Const(1), here))
        spread = Elementwise("/", (others, divisor))
        return Elementwise("if", (is_start, Const(new.default), spread))

    yield (
        "the mean over `select(indices, indices, <)` is that over `<=` less the position's own "
        "value, by arithmetic",
        rebuild(naming.outputs, change),
    )


def _same_picks(naming: Naming, trial: Sequence[Input]) -> Iterator[Change]:
    """Selectors that picked the same pairs on every input tried can be written alike."""
    attentions = [node for node in in_order(naming.outputs) if isinstance(node, Aggregate)]
    different: dict[Form, Selector] = {}
    for attention in attentions:
        different.setdefault(normal_form(attention.selector), attention.selector)
    selectors = list(different.values())[:MOST_SELECTORS]
    short = [tokens for tokens in trial if 3 <= len(tokens) <= 5]
    for some in _alike(selectors, short[:: max(1, len(short) // FIRST_LOOK)]):
        for group in _alike(some, trial):
            outcomes = answers(group[:1], trial)
            telling = sum(isinstance(rows, list) and any(map(any, rows[0])) for rows in outcomes)
            if telling >= FEWEST_INPUTS:
                yield _written_alike(naming, group, len(trial))


def _alike(selectors: list[Selector], inputs: Sequence[Input]) -> list[list[Selector]]:
    """Those of the selectors that pick the same as another one, on every one of the inputs."""
    selections = [values for values in answers(selectors, inputs) if isinstance(values, list)]
    alike: dict[str, list[Selector]] = {}
    for number, selector in enumerate(selectors):
        alike.setdefault(repr([values[number] for values in selections]), []).append(selector)
    return [group for group in alike.values() if len(group) > 1]


def _written_alike(naming: Naming, group: list[Selector], tried: int) -> Change:
    forms = {normal_form(selector) for selector in group}

    def change(old: Node, new: Node) -> Node | None:
        if not isinstance(old, Aggregate) or normal_form(old.selector) not in forms:
            return None
        assert isinstance(new, Aggregate)
        return Aggregate(group[0], new.values, new.default)

    names = [f"`{naming.label(selector, 40)}`" for selector in group]
    shown = names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more"]
    advice = f"{listed(shown)} picked the same on {tried} inputs: written alike, they share a head"
    return advice, rebuild(naming.outputs, change)


def _inputs(outputs: Sequence[Node]) -> list[Input]:
    """Inputs that the outputs can be computed on, a few hundred where they can be found."""
    tried: list[Input] = []
    for alphabet in suitable_alphabets(outputs)[:2]:
        for length in (1, 2, 3):
            tried += product(alphabet[:5], repeat=length)
        for length in range(4, 15):
            tried += random_inputs(alphabet, length, 20, seed=1)
    pairs = zip(tried, answers(outputs, tried), strict=True)
    return [tokens for tokens, outcome in pairs if isinstance(outcome, list)]


def _agree(one: Sequence[Node], other: Sequence[Node], trial: Sequence[Input]) -> bool:
    return bool(trial) and answers(one, trial) == answers(other, trial)
