"""A plan in, words out: what every dimension, head and hidden unit is for, and the circuit.

The circuit is the ground truth that interpretability tools look for: which head or feed-forward
makes which s-op, and through which directions of the residual stream the next one reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rasp.compiler.attention import HeadPlan
from rasp.compiler.features import Group
from rasp.compiler.linear import Linear
from rasp.compiler.plan import Plan
from rasp.compiler.refusals import Refusals
from rasp.compiler.variables import NodeVariable, SumVariable, Variable
from rasp.compiler.weights import Emitter
from rasp.graph import Elementwise, Node, Program, SOp, expression, in_order


@dataclass(frozen=True)
class Description:
    """Labels by place, and the circuit as plain data."""

    dimensions: tuple[str, ...]
    heads: tuple[tuple[str, ...], ...]
    """For each layer from 1, a label for each head."""
    hidden: tuple[tuple[str, ...], ...]
    """For each feed-forward from the one before layer 1, a label for each hidden unit."""
    circuit: dict[str, Any] = field(default_factory=dict)
    readers: tuple[dict[str, Any], ...] = ()
    """For each s-op that can be read: after which block, with which weights and constant."""


def describe(plan: Plan, emitter: Emitter, program: Program) -> Description:
    """Describe a model's parts in the program's words."""
    words = _Words(program, [output.node for output in plan.outputs])
    sink = ("sink",) if plan.uses_sink else ()
    return Description(
        sink + tuple(plan.layout.labels),
        tuple(tuple(words.head(each) for each in layer) for layer in plan.heads),
        tuple(
            tuple(
                f"{words.group(group)} at {float(unit.position):g}"
                for group, _ in groups
                for unit in emitter.units[group]
            )
            for groups in plan.groups
        ),
        _circuit(plan, emitter, words),
        tuple(_readers(plan, emitter, words)),
    )


class _Words:
    """Names of nodes, with the source line where there is one."""

    def __init__(self, program: Program, outputs: Sequence[Node]) -> None:
        self.program = program
        self.places = Refusals(program, outputs)

    def node(self, node: Node | None) -> str:
        assert node is not None
        text = self.program.names.get(node) or expression(node, self.program.names)
        return text + self.places.line(node)

    def head(self, plan: HeadPlan) -> str:
        served = dict.fromkeys(self.node(output.known_by) for output in plan.head.outputs)
        return f"{plan.head.selector_text} -> {', '.join(served)}"

    def variable(self, variable: Variable) -> str:
        match variable:
            case SumVariable():
                outs = [each[1] for each in variable.linear.of("out")]
                return " and ".join(dict.fromkeys(self.node(out.known_by) for out in outs))
            case NodeVariable():
                return self.node(variable.node)
        known_by = getattr(variable, "known_by", None)
        if known_by is not None:
            return self.node(known_by)
        return "tokens" if "Token" in type(variable).__name__ else "indices"

    def group(self, group: Group) -> str:
        return ", ".join(self.variable(variable) for variable in group.inputs)


def _circuit(plan: Plan, emitter: Emitter, words: _Words) -> dict[str, Any]:
    """Nodes (heads, feed-forwards, outputs) and edges with the dimensions they go through."""
    nodes: list[dict[str, Any]] = [{"id": "embedding", "kind": "embedding"}]
    reads: list[tuple[str, str, Linear]] = []
    for layer, groups in enumerate(plan.groups):
        if layer:
            for number, head in enumerate(plan.heads[layer - 1], 1):
                name = f"layer{layer}.head{number}"
                served = [words.node(output.known_by) for output in head.head.outputs]
                nodes.append({"id": name, "kind": "head", "selector": head.head.selector_text,
                              "mode": head.head.mode, "s_ops": served})  # fmt: skip
                reads += [(name, "query", query) for query, _ in head.products]
                reads += [(name, "key", key) for _, key in head.products]
                reads += [(name, "value", value) for value in head.values]
        if groups:
            name = f"layer{layer}.feed_forward"
            inputs = [words.group(group) for group, _ in groups]
            nodes.append({"id": name, "kind": "feed-forward", "reads": inputs})
            reads += [(name, "input", ridge.z) for _, ridge in groups]
    for output in plan.outputs:
        nodes.append({"id": f"output.{output.name}", "kind": "output", "s_op": output.name})
        reads.append((f"output.{output.name}", "value", output.linear))
    return {"nodes": nodes, "edges": _edges(plan, emitter, reads)}


def _edges(
    plan: Plan, emitter: Emitter, reads: list[tuple[str, str, Linear]]
) -> list[dict[str, Any]]:
    """From each writer of a dimension to each of its readers, which come later: no one reads
    a dimension to which it adds.
    """
    writers = [_writers(plan, dimension) for dimension in plan.layout.dimensions]
    found: dict[tuple[str, str, str], set[int]] = {}
    for reader, role, linear in reads:
        for place in plan.layout.read(linear):
            for writer in writers[place]:
                found.setdefault((writer, reader, role), set()).add(place + emitter.offset)
    return [
        {"from": writer, "to": reader, "as": role, "dimensions": sorted(places)}
        for (writer, reader, role), places in found.items()
    ]


def _writers(plan: Plan, dimension: Linear) -> list[str]:
    heads = {output: f"layer{layer}.head{number}"
             for layer, each in enumerate(plan.heads, 1)
             for number, head in enumerate(each, 1)
             for output in head.head.outputs}  # fmt: skip
    found: dict[str, None] = {}
    for coordinate in dimension.parts:
        match coordinate[0]:
            case "out":
                found[heads[coordinate[1]]] = None
            case "ff":
                found[f"layer{coordinate[1].layer}.feed_forward"] = None
            case _:
                found["embedding"] = None
    return list(found)


def _readers(plan: Plan, emitter: Emitter, words: _Words) -> list[dict[str, Any]]:
    """How to read each numeric s-op that the residual stream happens to hold, where it is ready."""
    found = []
    nodes = in_order([output.node for output in plan.outputs])
    for node in nodes:
        if not isinstance(node, SOp) or (isinstance(node, Elementwise) and not node.operands):
            continue
        linear = plan.analysis.of(node).linear
        if linear is None or linear.is_constant or not plan.layout.can_read(linear):
            continue
        if node in plan.analysis.kept_as_sums:
            continue
        weights = plan.layout.read(linear)
        found.append({
            "s_op": words.node(node),
            "after": _ready(plan, weights),
            "weights": {str(place + emitter.offset): float(w) for place, w in weights.items()},
            "constant": emitter.constant(linear),
        })  # fmt: skip
    for output in plan.outputs:
        weights = plan.layout.read(output.linear)
        found.append({
            "s_op": output.name,
            "after": _ready(plan, weights),
            "weights": {str(place + emitter.offset): float(w) for place, w in weights.items()},
            "constant": emitter.constant(output.linear),
        })  # fmt: skip
    return found


def _ready(plan: Plan, weights: Mapping[int, Any]) -> str:
    """The block after which all of some dimensions are written."""
    last = 0
    for place in weights:
        for coordinate in plan.layout.dimensions[place].parts:
            if coordinate[0] == "out":
                last = max(last, 2 * coordinate[1].head.layer)
            elif coordinate[0] == "ff":
                last = max(last, 2 * coordinate[1].layer + 1)
    layer, is_feed_forward = divmod(last, 2)
    if is_feed_forward:
        return f"layer{layer}.feed_forward"
    return f"layer{layer}.attention" if layer else "embedding"
