"""Schedules of random programs: better methods are never worse, and nothing is read too early."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rasp.insight.schedule import schedule
from rasp.insight.schedule.schedule import Schedule
from rasp.language.evaluator import plain
from rasp.language.graph import Aggregate, Node, Score, Scorer, Select, SOp, expression, in_order
from strategies import examples
from strategies.programs import Case, cases

MOST_FOR_EXACT = 60
"""Aggregates for which the integer program is tried; it is slow, so only in some cases."""


@pytest.mark.slow
@given(cases(), st.integers(0, 3))
@examples(100)
def test_schedules_of_random_programs_keep_their_promises(case: Case, turn: int) -> None:
    outputs = [node for node in case.outputs.values() if not isinstance(node, Scorer)]
    assume(outputs)
    schedules = [schedule(outputs, how) for how in ("earliest", "greedy", "auto")]
    small = sum(isinstance(node, Aggregate) for node in in_order(outputs)) <= MOST_FOR_EXACT
    if small and turn == 0 and find_spec("scipy"):
        schedules.append(schedule(outputs, "exact"))
    runs = _values_of(outputs, case)
    for placed in schedules:
        _check_order(placed)
        for values in runs:
            _check_heads(placed, values)
    assert {placed.layers for placed in schedules} == {_longest_chain(outputs)}
    for worse, better in pairwise(schedules):
        assert (better.width, better.heads) <= (worse.width, worse.heads)


def _longest_chain(outputs: list[Node]) -> int:
    """How many attentions follow one another, by the paper's rule."""
    depth: dict[Node, int] = {}
    for node in in_order(outputs):
        ready = max((depth[needed] for needed in node.needs), default=0)
        match node:
            case Select() | Score():
                depth[node] = ready + 1
            case Aggregate(selector, values):
                depth[node] = max(depth[selector], depth[values] + 1)
            case _:
                depth[node] = ready
    return max(depth.values())


def _check_order(placed: Schedule) -> None:
    written: set[Node] = {node for node in in_order(placed.outputs) if not node.needs}
    for work in (placed.embedding, placed.input_feed_forward):
        for node in work:
            _must_be(written.issuperset(node.needs), node, "is too early", placed)
            written.add(node)
    for layer in placed.layer_list:
        aggregates = [aggregate for head in layer.heads for aggregate in head.aggregates]
        for head in layer.heads:
            _must_be(written.issuperset(_read_by(head.selector)), head.selector, "is early", placed)
        for aggregate in aggregates:
            reads = {*_read_by(aggregate.selector), aggregate.values}
            _must_be(written.issuperset(reads), aggregate, "comes before what it needs", placed)
        written.update(aggregates)
        for node in layer.feed_forward:
            _must_be(written.issuperset(node.needs), node, "is too early", placed)
            written.add(node)
    for needed in in_order(placed.outputs):
        if isinstance(needed, SOp):
            _must_be(needed in written, needed, "has no place", placed)


def _values_of(outputs: list[Node], case: Case) -> list[Mapping[Node, Any]]:
    """What everything comes to on the first inputs, where the program does not fail."""
    runs: list[Mapping[Node, Any]] = []
    for tokens in case.inputs[:2]:
        with suppress(plain.EvaluationError):
            runs.append(plain.evaluate(in_order(outputs), tokens))
    return runs


def _check_heads(placed: Schedule, values: Mapping[Node, Any]) -> None:
    """Aggregates that share a head pick the same."""
    for layer in placed.layer_list:
        for head in layer.heads:
            for aggregate in head.aggregates:
                same = values[aggregate.selector] == values[head.selector]
                _must_be(same, aggregate, "shares a head that picks otherwise", placed)


def _read_by(part: Node) -> set[Node]:
    """The s-ops that a selector compares or scores."""
    if isinstance(part, SOp):
        return {part}
    return {s_op for needed in part.needs for s_op in _read_by(needed)}


def _must_be(holds: bool, node: Node, what: str, placed: Schedule) -> None:
    assert holds, f"{placed.method} {placed}: `{expression(node)}` {what}"
