"""Inputs in, what a program generates out, spread over a Ray cluster: each answer once, in order.

A task is a pure function of a program, rules and some inputs, so a lost worker's share is simply
done again. An input that fails is generated again here, where the program's text is known and the
error can point at it. Needs the extra `cluster`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

from rasp import graph
from rasp.cluster import RETRIES, Cluster, connected, require_ray
from rasp.errors import RaspError
from rasp.frontend.handles import Handle
from rasp.generation.loop import Generation, Rules, outcomes_of, question_of
from rasp.graph import Node, in_order
from rasp.limits import Limits

WAITING = 4
"""Tasks for each processor that are sent out before an answer is waited for."""
Packed: TypeAlias = list[tuple[str, list[tuple[str, Any]]]]


def outcomes_on_cluster(
    handle: Handle, inputs: Iterable[Any], rules: Rules, cluster: Cluster
) -> Iterator[Generation | RaspError]:
    """Generate for many inputs on a cluster; an input that fails gives its error."""
    require_ray()
    question_of(handle, rules)  # what cannot generate is refused before anything is sent
    packed = packed_graph(handle.node)
    left = iter(inputs)
    with connected(cluster) as ray:
        task = ray.remote(num_cpus=cluster.cpus, max_retries=RETRIES)(generate_share)
        most = WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
        sent: deque[tuple[list[Any], Any]] = deque()
        while True:
            while len(sent) < most and (share := list(islice(left, cluster.together))):
                sent.append((share, task.remote(packed, handle.budgets, share, rules)))
            if not sent:
                return
            share, answer = sent.popleft()
            for given, generation in zip(share, ray.get(answer), strict=True):
                yield generation or next(outcomes_of(handle, [given], rules))


def generate_share(
    packed: Packed, limits: Limits, inputs: Sequence[Any], rules: Rules
) -> list[Generation | None]:
    """Generate for some inputs on a worker; None for one that fails."""
    handle = Handle(unpacked_graph(packed), limits=limits)
    return [
        None if isinstance(outcome, RaspError) else outcome
        for outcome in outcomes_of(handle, inputs, rules)
    ]


def packed_graph(output: Node) -> Packed:
    """Write a graph as a flat list, however deep it is: each node's kind, and its fields.

    >>> from rasp.graph import Const, Elementwise, Indices
    >>> packed_graph(Elementwise("+", (Indices(), Const(1))))[-1]
    ('Elementwise', [('is', '+'), ('nodes', [0, 1])])
    """
    order = in_order([output])
    number = {node: at for at, node in enumerate(order)}

    def field(value: Any) -> tuple[str, Any]:
        if isinstance(value, Node):
            return "node", number[value]
        if isinstance(value, tuple):
            return "nodes", [number[node] for node in value]
        return "is", value

    packed: Packed = []
    for node in order:
        names: tuple[str, ...] = type(node).__match_args__
        packed.append((type(node).__name__, [field(getattr(node, name)) for name in names]))
    return packed


def unpacked_graph(packed: Packed) -> Node:
    """Read a graph back.

    >>> from rasp.graph import Const, Elementwise, Indices
    >>> node = Elementwise("+", (Indices(), Const(1)))
    >>> unpacked_graph(packed_graph(node)) is node
    True
    """
    nodes: list[Node] = []
    for kind, fields in packed:
        values = [
            nodes[value] if what == "node"
            else tuple(nodes[at] for at in value) if what == "nodes"
            else value
            for what, value in fields
        ]  # fmt: skip
        nodes.append(getattr(graph, kind)(*values))
    return nodes[-1]
