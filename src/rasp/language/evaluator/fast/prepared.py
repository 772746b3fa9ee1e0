"""A graph in, what is known of it before it has seen an input out: made once, for every batch.

Programs are called again and again, a generating one at every step. The order of the nodes, the
columns of constants, operators with their constants in place and the results of those that go
from atom to atom are all kept from one call to the next.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache

from rasp.base.meter import Meter
from rasp.language.evaluator.fast.columns import Column, constant
from rasp.language.evaluator.fast.conjunctions import Best
from rasp.language.evaluator.fast.elementwise import Application
from rasp.language.evaluator.fast.key_plan import plan_sums
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Node,
    Score,
    Select,
    SelectBest,
    Selector,
    SOp,
    compared_in,
    in_order,
    score_terms,
    selectors_in,
)

PROGRAMS = 32
"""Programs that are kept prepared."""


class Prepared:
    """The nodes to compute, in order, and what does not depend on the inputs."""

    def __init__(self, outputs: tuple[Node, ...]) -> None:
        self.outputs = outputs
        order = in_order(outputs)
        self.order = [node for node in order if not isinstance(node, Const)]
        self.constants: dict[SOp | Best, Column] = {
            node: constant(node.value) for node in order if isinstance(node, Const)
        }
        self.applications = {
            node: Application(node, self.constants)
            for node in self.order
            if isinstance(node, Elementwise)
        }
        self._expired: list[list[Hashable]] | None = None

    def expired(self, meter: Meter) -> list[list[Hashable]]:
        """For each node in order, what is last used there."""
        if self._expired is None:
            self._expired = last_uses(self.order, self.outputs, meter)
        return self._expired


@lru_cache(maxsize=PROGRAMS)
def prepare(outputs: tuple[Node, ...]) -> Prepared:
    """Prepare a graph for any number of batches.

    >>> from rasp.language.graph import Indices, Tokens
    >>> prepare((Indices(),)) is prepare((Indices(),))
    True
    """
    return Prepared(outputs)


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
