"""Weights in, the edges that they allow out; and an edge's name in the formats that tools read.

An edge leads from what writes to the residual stream (the tokens, the positions, a head, a
feed-forward) to what reads it: the queries, keys or values of a head, a feed-forward, the output.
Weights allow an edge where some dimension is written by the one and read by the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rasp.models.certificate import Weights
from rasp.models.compiler.analysis.times import EMBEDDING, readout_time
from rasp.models.compiler.emitting.wiring import ROLES, ModelPart, inner_parts, used

TOKENS, POSITIONS, OUTPUT = "tokens", "positions", "output"


class Edge(NamedTuple):
    """From a writer to a reader; the role is `input` for what is not a head."""

    source: str
    target: str
    role: str

    def __str__(self) -> str:
        role = f" as {self.role}" if self.role in ROLES else ""
        return f"{self.source} -> {self.target}{role}"


def all_edges(weights: Weights) -> list[Edge]:
    """Every edge between parts of a model, whether its weights allow it or not."""
    return [edge for edge, _ in _edges(weights)]


def _edges(weights: Weights) -> Iterator[tuple[Edge, bool]]:
    """Every edge, and whether it runs through some dimension."""
    parts = list(_parts(weights))
    for target in parts:
        for role, read in target.read.items():
            for source in filter(target.follows, parts):
                used_by_both = read & source.written
                yield Edge(source.name, target.name, role), bool(used_by_both.any())


def allowed_edges(weights: Weights) -> list[Edge]:
    """The edges that run through some dimension, and on to the output."""
    carrying = [edge for edge, is_used in _edges(weights) if is_used]
    reached = {OUTPUT}
    for edge in reversed(carrying):
        if edge.target in reached:
            reached.add(edge.source)
    return [edge for edge in carrying if edge.target in reached]


def _parts(weights: Weights) -> Iterator[ModelPart]:
    yield ModelPart(TOKENS, EMBEDDING, used(weights.tokens), {})
    yield ModelPart(POSITIONS, EMBEDDING, used(weights.positions), {})
    yield from inner_parts(weights)
    read = used(np.concatenate([readout.weight for readout in weights.readouts]))
    end = readout_time(len(weights.heads))
    yield ModelPart(OUTPUT, end, np.zeros_like(read), {"input": read})


class Names:
    """Names of parts in a stack of equal blocks, as exports have it.

    A feed-forward before the first attention becomes a block of its own, so that layer 1 is
    block 1 then and block 0 otherwise.
    """

    def __init__(self, weights: Weights) -> None:
        first = bool(weights.feed_forwards[0].bias.size) or not weights.heads
        self.shift = 0 if first else 1
        self.blocks = len(weights.heads) + first

    def _place(self, part: str) -> tuple[int, int | None]:
        """The block of a part, and the number of a head in it, both from 0."""
        layer, _, rest = part.removeprefix("layer").partition(".")
        block = int(layer) - self.shift
        return block, int(rest.removeprefix("head")) - 1 if rest.startswith("head") else None

    def node(self, part: str) -> str:
        """A node of an attribution graph: `input`, `a0.h1`, `m0`, `logits`."""
        if part in (TOKENS, POSITIONS):
            return "input"
        if part == OUTPUT:
            return "logits"
        block, head = self._place(part)
        return f"m{block}" if head is None else f"a{block}.h{head}"

    def edge(self, edge: Edge) -> str:
        """An edge of an attribution graph: `m0->a1.h0<q>`."""
        role = f"<{edge.role[0]}>" if edge.role in ROLES else ""
        return f"{self.node(edge.source)}->{self.node(edge.target)}{role}"

    def hook(self, part: str) -> str:
        """The hook whose activation a part is."""
        if part in (TOKENS, POSITIONS):
            return "hook_embed" if part == TOKENS else "hook_pos_embed"
        if part == OUTPUT:
            return f"blocks.{self.blocks - 1}.hook_resid_post"
        block, head = self._place(part)
        if head is None:
            return f"blocks.{block}.hook_mlp_out"
        return f"blocks.{block}.attn.hook_result[{head}]"


def hook_pairs(names: Names, edges: Iterable[Edge]) -> list[list[str]]:
    """A circuit as pairs of hook names, without the roles of heads' inputs."""
    pairs = ((names.hook(edge.source), names.hook(edge.target)) for edge in edges)
    return [list(pair) for pair in dict.fromkeys(pairs)]


def attribution_graph(weights: Weights, circuit: Iterable[Edge]) -> dict[str, Any]:
    """A circuit as the JSON that graphs of edge attribution are read from.

    Every block has as many heads there as the largest has; tokens and positions are one input.
    """
    names = Names(weights)
    heads = max([1, *map(len, weights.heads)])
    inside = {names.edge(edge) for edge in circuit}
    ends = {part for name in inside for part in name.split("<")[0].split("->")}
    nodes = ["input"]
    for block in range(names.blocks):
        nodes += [f"a{block}.h{head}" for head in range(heads)] + [f"m{block}"]
    edges = {}
    for place, target in enumerate([*nodes[1:], "logits"], 1):
        attention = target.startswith("a")
        beside = target.partition("h")[0]
        for source in nodes[:place]:
            if attention and source.startswith(beside):
                continue
            for role in ("<q>", "<k>", "<v>") if attention else ("",):
                name = f"{source}->{target}{role}"
                edges[name] = {"score": float(name in inside), "in_graph": name in inside}
    return {
        "cfg": {"n_layers": names.blocks, "n_heads": heads, "parallel_attn_mlp": False,
                "d_model": int(weights.tokens.shape[1])},
        "nodes": {node: {"in_graph": node in ends} for node in [*nodes, "logits"]},
        "edges": edges,
    }  # fmt: skip
