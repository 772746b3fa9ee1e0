"""An order of nodes in, what is no longer needed after each of them out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from rasp.base.meter import Meter
from rasp.language.evaluator.fast.conjunctions import Best
from rasp.language.evaluator.fast.key_plan import plan_sums
from rasp.language.graph import (
    Aggregate,
    Elementwise,
    Node,
    Score,
    Select,
    SelectBest,
    Selector,
    compared_in,
    score_terms,
    selectors_in,
)


def last_uses(order: Sequence[Node], outputs: Sequence[Node], meter: Meter) -> list[list[Hashable]]:
    """For each node in order, the columns, selectors and terms last used there."""
    last: dict[Hashable, int] = {}
    for at, node in enumerate(order):
        last.update(dict.fromkeys(_used(node, meter), at))
    for output in outputs:
        for kept in (output, *(_read(output) if isinstance(output, Selector) else output.needs)):
            last.pop(kept, None)
    expired: list[list[Hashable]] = [[] for _ in order]
    for key, at in last.items():
        expired[at].append(key)
    return expired


def _used(node: Node, meter: Meter) -> Iterator[Hashable]:
    meter.check()
    match node:
        case Elementwise() | Select() | Score():
            yield from node.needs
        case SelectBest(selector, scorer):
            for score in score_terms(scorer):
                yield from score.needs
            yield from _read(selector)
        case Aggregate(selector, values):
            yield values
            yield from _read(selector)
            meter.check()  # a selector can be most of the graph
            for term in plan_sums(selector).terms:
                yield from (term, term.meeting)


def _read(selector: Selector) -> Iterator[Hashable]:
    """What making a selector's rows looks at, and the selector itself."""
    yield selector
    for pair in compared_in(selector):
        yield from pair
    for node in selectors_in(selector):
        if isinstance(node, SelectBest):
            yield Best(node.selector, node.scorer)
