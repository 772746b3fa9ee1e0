"""Outputs in, a `Schedule` out: which layer and head computes each node.

The depth is forced by the longest chain of attentions; within it the schedule is free to
place an aggregate anywhere between its earliest and its latest layer. The paper places
everything as early as it can be (method "earliest"); we look for the least width, then the
fewest heads in all, and among those for the earliest placement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from rasp.architecture.layers import layers_between
from rasp.architecture.problem import (
    Placement,
    Problem,
    earliest_placement,
    problem_of,
    selector_of,
)
from rasp.errors import RaspValueError
from rasp.graph import (
    Aggregate,
    Elementwise,
    Indices,
    Node,
    Program,
    Selector,
    SOp,
    Tokens,
    in_order,
)

METHODS = ("auto", "exact", "greedy", "earliest")


@runtime_checkable
class HasNode(Protocol):
    """What a front door hands out: a node, and the program it belongs to."""

    @property
    def node(self) -> Node: ...

    @property
    def program(self) -> Program: ...


Outputs: TypeAlias = Node | HasNode | Sequence[Node] | Sequence[HasNode]


@dataclass(frozen=True)
class Head:
    """One attention head: a selector, and the aggregates that use what it picks.

    `selector` is the first aggregate's own; the others' have the same normal form. A selector
    that is itself an output has a head even where no aggregate uses it.
    """

    selector: Selector
    aggregates: tuple[Aggregate, ...]


@dataclass(frozen=True)
class Layer:
    """The heads of one layer, then the elementwise work of its feed-forward, in order."""

    heads: tuple[Head, ...]
    feed_forward: tuple[Elementwise, ...]


@dataclass(frozen=True)
class Schedule:
    """Which layer and head computes each node."""

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
    """How the placement was found, in words."""
    exact: bool
    """True where this depth allows no smaller width, nor as small a one with fewer heads."""

    @property
    def layers(self) -> int:
        return len(self.layer_list)

    @property
    def heads_per_layer(self) -> tuple[int, ...]:
        return tuple(len(layer.heads) for layer in self.layer_list)

    @property
    def width(self) -> int:
        return max(self.heads_per_layer, default=0)

    @property
    def heads(self) -> int:
        """How many heads there are in all layers together."""
        return sum(self.heads_per_layer)


def output_nodes(outputs: Outputs) -> tuple[Node, ...]:
    """Return the nodes that a caller means: a node, a handle, or several of either."""
    several = outputs if isinstance(outputs, Sequence) else [outputs]
    return tuple(one if isinstance(one, Node) else one.node for one in several)


def schedule(outputs: Outputs, method: str = "auto", depth: int | None = None) -> Schedule:
    """Place everything the outputs need in layers and heads.

    >>> from rasp.graph import Aggregate, Const, Select, Tokens
    >>> schedule([Aggregate(Select(Tokens(), Tokens(), "=="), Const(1))]).heads_per_layer
    (1,)
    """
    if method not in METHODS:
        raise RaspValueError(
            f"there is no scheduling method {method!r}",
            hint="use " + ", ".join(METHODS),
        )
    problem = problem_of(output_nodes(outputs), depth)
    return _assemble(problem, earliest_placement(problem), "as early as possible", False)


def _assemble(problem: Problem, placement: Placement, method: str, exact: bool) -> Schedule:
    """Fill in the elementwise work around placed attentions."""
    order = in_order(problem.outputs)
    mixed = _mixed(order)
    early = _needed_first(problem, placement, mixed)
    layer_of: dict[Node, int] = {}
    for node in order:
        ready = (layer_of[needed] + layers_between(node, needed) for needed in node.needs)
        layer_of[node] = max(ready, default=0)
        if node in mixed and node not in early:
            layer_of[node] = max(1, layer_of[node])
        if isinstance(node, Aggregate):
            layer_of[node] = placement[node]
    work: list[list[Elementwise]] = [[] for _ in range(problem.depth + 1)]
    for node in order:
        if isinstance(node, Elementwise):
            work[layer_of[node]].append(node)
    heads = _heads(problem, placement)
    return Schedule(
        outputs=problem.outputs,
        layer_list=tuple(
            Layer(heads[layer], tuple(work[layer])) for layer in range(1, problem.depth + 1)
        ),
        layer_of=layer_of,
        embedding=tuple(node for node in work[0] if node not in mixed),
        input_feed_forward=tuple(node for node in work[0] if node in mixed),
        method=method,
        exact=exact,
    )


def _heads(problem: Problem, placement: Placement) -> dict[int, tuple[Head, ...]]:
    together: dict[tuple[int, int], list[Node]] = {}
    for attention in problem.attentions:
        key = (placement[attention], problem.kind[attention])
        together.setdefault(key, []).append(attention)
    heads: dict[int, list[Head]] = {layer: [] for layer in range(1, problem.depth + 1)}
    for (layer, _), attentions in together.items():
        aggregates = tuple(each for each in attentions if isinstance(each, Aggregate))
        heads[layer].append(Head(selector_of(attentions[0]), aggregates))
    return {layer: tuple(found) for layer, found in heads.items()}


def _mixed(order: list[Node]) -> set[Node]:
    """The elementwise nodes that read tokens and indices, but nothing that attention made."""
    reads: dict[Node, frozenset[str]] = {}
    mixed: set[Node] = set()
    for node in order:
        match node:
            case Tokens():
                reads[node] = frozenset(["tokens"])
            case Indices():
                reads[node] = frozenset(["indices"])
            case Elementwise(operands=operands):
                reads[node] = frozenset().union(*(reads[operand] for operand in operands))
                if reads[node] == {"tokens", "indices"}:
                    mixed.add(node)
            case _:
                reads[node] = frozenset(["attention"] if node.needs else [])
    return mixed


def _needed_first(problem: Problem, placement: Placement, mixed: set[Node]) -> set[Node]:
    """The mixed nodes that a head of the first layer reads (or an output, where none has heads)."""
    first = [node for node, layer in placement.items() if layer == 1]
    stack: list[Node] = list(first) if problem.depth else list(problem.outputs)
    needed: set[Node] = set()
    while stack:
        node = stack.pop()
        at_the_input = isinstance(node, SOp) and not isinstance(node, Aggregate)
        if node in needed or (at_the_input and node not in mixed):
            continue
        needed.add(node)
        stack.extend(node.needs)
    return needed & mixed
