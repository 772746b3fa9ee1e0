"""A program: the graph's outputs, the names people gave its nodes, and where each came from.

Nodes know none of this, so that equal computations stay one node whatever they are called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rasp.graph.nodes import Node
from rasp.source import Span


@dataclass(frozen=True)
class Program:
    """Outputs by name, plus what is known about the nodes: never needed to compute them.

    >>> import rasp
    >>> last = rasp.run("last = length - 1;")["last"]
    >>> last.program.names[last.node], last.program.origins[last.node].text
    ('last', 'length - 1')
    """

    outputs: Mapping[str, Node] = field(default_factory=dict)
    names: Mapping[Node, str] = field(default_factory=dict)
    """The name a person gave to a node; nodes inside expressions have none."""
    origins: Mapping[Node, Span] = field(default_factory=dict)
    """The expression that first made a node; nodes built from Python have none."""
