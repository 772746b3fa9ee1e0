"""Outputs in, a `Schedule` out: which layer and head computes each node.

The depth is forced by the longest chain of attentions; within it the schedule is free to
place an aggregate anywhere between its earliest and its latest layer. The paper places
everything as early as it can be (method "earliest"); we look for the least width, then the
fewest heads in all, and among those for the earliest placement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from rasp.base.errors import RaspTypeError, RaspValueError
from rasp.base.terminal_text import visibly
from rasp.insight.schedule.placing import Placed, place
from rasp.insight.schedule.problem import (
    Placement,
    Problem,
    problem_of,
    refuse_scorers,
    selector_of,
)
from rasp.insight.schedule.sublayer_order import (
    Order,
    earliest_layers,
    input_sources,
    layers_between,
)
from rasp.language.embedding.handles import Handle
from rasp.language.graph import Aggregate, Elementwise, Node, Program, Selector, SOp, in_order
from rasp.language.graph.nodes import node_of

MOST_COUNTS = 30

Outputs: TypeAlias = Node | Handle | Sequence[Node | Handle]


@dataclass(frozen=True)
class Head:
    """One attention head: a selector, and the aggregates that use what it picks.

    `selector` is the first aggregate's own; the others' have the same normal form. A selector
    that is itself an output has a head even where no aggregate uses it.

    >>> from rasp.language.graph import Const, Indices, Select, Tokens, expression
    >>> same = Select(Tokens(), Tokens(), "==")
    >>> several = [Aggregate(same, Const(1)), Aggregate(same, Indices())]
    >>> [head] = schedule(several).layer_list[0].heads
    >>> expression(head.selector), head.aggregates == tuple(several)
    ('select(tokens, tokens, ==)', True)
    """

    selector: Selector
    aggregates: tuple[Aggregate, ...]


@visibly
@dataclass(frozen=True)
class Layer:
    """The heads of one layer, then the elementwise work of its feed-forward, in order.

    >>> from rasp.language.graph import Const, Select, Tokens
    >>> found = Aggregate(Select(Tokens(), Tokens(), "=="), Const(1))
    >>> [layer] = schedule(Elementwise("-", (found, Const(1)))).layer_list
    >>> len(layer.heads), [work.op for work in layer.feed_forward]
    (1, ['-'])
    """

    heads: tuple[Head, ...]
    feed_forward: tuple[Elementwise, ...]

    def __repr__(self) -> str:
        return f"<Layer: {len(self.heads)} heads, {len(self.feed_forward)} elementwise>"


@visibly
@dataclass(frozen=True, repr=False)
class Schedule:
    """Which layer and head computes each node.

    >>> import rasp
    >>> found = rasp.schedule(rasp.programs.load("reverse"))
    >>> found.layers, found.width, found.heads, found.heads_per_layer
    (2, 1, 2, (1, 1))
    """

    outputs: tuple[Node, ...]
    layer_list: tuple[Layer, ...]
    layer_of: Mapping[Node, int]
    """Where each node is first there. A selector is made again in every head that uses it."""
    embedding: tuple[Elementwise, ...]
    """Functions of tokens alone, or of indices alone: rows of the embedding tables, free."""
    input_feed_forward: tuple[Elementwise, ...]
    """Work on tokens and indices together that must be done before the first attention.

    A plain transformer stack has no feed-forward there.
    """
    method: str
    """How the placement was found: `earliest`, `greedy` or `exact`."""
    exact: bool
    """True where this depth allows no smaller width, nor as small a one with fewer heads."""
    remark: str = ""
    """How the placement was found, in a sentence; why it may not be the best, where it may not."""

    @property
    def layers(self) -> int:
        """The depth: how many layers there are."""
        return len(self.layer_list)

    @property
    def heads_per_layer(self) -> tuple[int, ...]:
        return tuple(len(layer.heads) for layer in self.layer_list)

    @property
    def width(self) -> int:
        """The most heads in one layer."""
        return max(self.heads_per_layer, default=0)

    @property
    def heads(self) -> int:
        """How many heads there are in all layers together."""
        return sum(self.heads_per_layer)

    def __str__(self) -> str:
        if not self.layers:
            return "no layers: elementwise work on the embedding"
        layers = "1 layer" if self.layers == 1 else f"{self.layers} layers"
        return f"{layers}, heads per layer: {show_counts(self.heads_per_layer)}"

    def __repr__(self) -> str:
        return f"<Schedule: {self}>"


def show_counts(counts: Sequence[int]) -> str:
    """Write how many heads each layer has; where there are many layers, equal ones together.

    >>> show_counts((1, 2, 1)), show_counts((1,) * 99 + (2,))
    ('1 2 1', '1×99 2')
    """
    if len(counts) <= MOST_COUNTS:
        return " ".join(map(str, counts))
    runs = [(count, len(list(run))) for count, run in groupby(counts)]
    return " ".join(f"{count}×{times}" if times > 1 else str(count) for count, times in runs)


def output_nodes(outputs: Outputs) -> tuple[Node, ...]:
    """Return the nodes that a caller means: a node, a handle, or several of either."""
    several = outputs if isinstance(outputs, Sequence) else [outputs]
    nodes = tuple(node for node in map(node_of, several) if node is not None)
    if not nodes or len(nodes) < len(several):
        raise RaspTypeError(
            "layers and heads are those of s-ops and selectors, and this is neither",
            hint='give one, as in `rasp.run("…")["name"]`, or a list of several',
        )
    return nodes


def program_of(outputs: Outputs) -> Program:
    """Return what is known about names and places: handles bring it along, nodes do not."""
    several = outputs if isinstance(outputs, Sequence) else [outputs]
    return Program.joined(one.program for one in several if not isinstance(one, Node))


def schedule(outputs: Outputs, method: str = "auto", depth: int | None = None) -> Schedule:
    """Place everything the outputs need in layers and heads.

    `method` is `auto` (the best that can be had), `exact`, `greedy`, or `earliest`, which is
    the paper's. `depth` may allow more layers than are needed, to save width.

    >>> from rasp.language.graph import Aggregate, Const, Select, Tokens
    >>> schedule(Aggregate(Select(Tokens(), Tokens(), "=="), Const(1)))
    <Schedule: 1 layer, heads per layer: 1>
    """
    nodes = output_nodes(outputs)
    refuse_scorers(nodes)
    least = max(earliest_layers(nodes).values())
    if depth is not None and depth < least:
        raise RaspValueError(
            f"this needs {least} layers, so it cannot be scheduled in {depth}",
            hint=f"allow at least {least} layers",
        )
    order = Order.layered(least if depth is None else depth)
    return assemble(place(problem_of(nodes, order), method))


def front(outputs: Outputs) -> tuple[Schedule, ...]:
    """Return the trade-off between layers and heads, from the least depth to width 1.

    Each schedule is deeper and narrower than the one before it; no depth is listed that buys
    nothing.

    >>> from rasp.language.graph import Aggregate, Elementwise, Indices, Select, Tokens
    >>> first, second = (Aggregate(Select(s_op, s_op, "=="), Indices())
    ...                  for s_op in (Tokens(), Indices()))
    >>> [each.heads_per_layer for each in front(Elementwise("+", (first, second)))]
    [(2,), (1, 1)]
    """
    nodes = output_nodes(outputs)
    points = [schedule(nodes)]
    while points[-1].width > 1:
        points.append(_next_narrower(points[-1]))
    return tuple(points)


def _next_narrower(placed: Schedule) -> Schedule:
    """The schedule of least depth that is narrower; more layers never need more width."""
    width, low, step = placed.width, placed.layers, 1
    while (deeper := schedule(placed.outputs, depth=low + step)).width >= width:
        low, step = low + step, 2 * step
    high = low + step
    while low + 1 < high:
        middle = (low + high) // 2
        tried = schedule(placed.outputs, depth=middle)
        if tried.width < width:
            high, deeper = middle, tried
        else:
            low = middle
    return deeper


def assemble(placed: Placed) -> Schedule:
    """Fill in the elementwise work around placed attentions."""
    problem, placement = placed.problem, placed.placement
    depth = problem.order.slots
    order = in_order(problem.outputs)
    mixed = mixed_inputs(order)
    early = _needed_first(problem, placement, mixed)
    layer_of: dict[Node, int] = {}
    for node in order:
        ready = (layer_of[needed] + layers_between(node, needed) for needed in node.needs)
        layer_of[node] = max(ready, default=0)
        if node in mixed and node not in early:
            layer_of[node] = max(1, layer_of[node])
        if isinstance(node, Aggregate):
            layer_of[node] = placement[node]
    work: list[list[Elementwise]] = [[] for _ in range(depth + 1)]
    for node in order:
        if isinstance(node, Elementwise):
            work[layer_of[node]].append(node)
    heads = _heads(problem, placement)
    return Schedule(
        outputs=problem.outputs,
        layer_list=tuple(Layer(heads[layer], tuple(work[layer])) for layer in range(1, depth + 1)),
        layer_of=layer_of,
        embedding=tuple(node for node in work[0] if node not in mixed),
        input_feed_forward=tuple(node for node in work[0] if node in mixed),
        method=placed.method,
        exact=placed.exact,
        remark=placed.remark,
    )


def _heads(problem: Problem, placement: Placement) -> dict[int, tuple[Head, ...]]:
    together: dict[tuple[int, int], list[Node]] = {}
    for attention in problem.attentions:
        key = (placement[attention], problem.kind[attention])
        together.setdefault(key, []).append(attention)
    heads: dict[int, list[Head]] = {layer: [] for layer in range(1, problem.order.slots + 1)}
    for (layer, _), attentions in together.items():
        aggregates = tuple(
            attention for attention in attentions if isinstance(attention, Aggregate)
        )
        heads[layer].append(Head(selector_of(attentions[0]), aggregates))
    return {layer: tuple(own) for layer, own in heads.items()}


def mixed_inputs(order: Sequence[Node]) -> set[Node]:
    """Return the elementwise nodes that read tokens and indices, but nothing attention made."""
    return {node for node, read in input_sources(order).items() if len(read) == 2}


def _needed_first(problem: Problem, placement: Placement, mixed: set[Node]) -> set[Node]:
    """The mixed nodes that a head of the first layer reads (or an output, without any layer)."""
    first = [node for node, layer in placement.items() if layer == 1]
    stack: list[Node] = first if problem.order.slots else list(problem.outputs)
    needed: set[Node] = set()
    while stack:
        node = stack.pop()
        at_the_input = isinstance(node, SOp) and not isinstance(node, Aggregate)
        if node in needed or (at_the_input and node not in mixed):
            continue
        needed.add(node)
        stack.extend(node.needs)
    return needed & mixed
