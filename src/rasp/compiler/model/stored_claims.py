"""Claims as plain data, and back; whatever does not fit is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from rasp.certificate.claims import (
    Claims,
    Conjunct,
    CountVariable,
    GroupClaim,
    HeadClaim,
    HeadOutput,
    Meaning,
    NodeVariable,
    OutputVariable,
    ReaderClaim,
    SumVariable,
    Variable,
)
from rasp.graph import Aggregate, Node, Scorer, Selector, SOp, in_order
from rasp.graph.portable import atom_from_json, atom_to_json, broken, graph_from_json, graph_to_json


def claims_to_json(claims: Claims) -> dict[str, Any]:
    """Claims as plain data; s-ops and selectors are places in a list of nodes."""
    return _Writer(claims).data()


class _Writer:
    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        order = in_order(dict.fromkeys(_nodes(claims)))
        self.places = {node: place for place, node in enumerate(order)}
        self.graph = graph_to_json({str(place): node for place, node in enumerate(order)}, {})

    def data(self) -> dict[str, Any]:
        claims = self.claims
        return {
            "nodes": self.graph["nodes"],
            "variables": [self.variable(variable) for variable in claims.variables],
            "over": [[self.places[node], list(over)] for node, over in claims.over.items()],
            "aggregates": [
                [self.places[node], meaning.rule, list(meaning.outputs), str(meaning.constant),
                 self.place(meaning.known), str(meaning.factor)]
                for node, meaning in claims.aggregates.items()
            ],
            "heads": [[self.head(head) for head in layer] for layer in claims.heads],
            "groups": [[[group.units, list(group.inputs),
                         *([] if group.over is None else [list(group.over)])] for group in layer]
                       for layer in claims.groups],
            "outputs": [list(over) for over in claims.outputs],
            "spare": [self.head(head) for head in claims.spare],
            "choices": [
                [self.places[node], self.places[which], [self.places[leaf] for leaf in leaves]]
                for node, (which, leaves) in claims.choices.items()
            ],
            "readers": [
                {"s_op": self.places[reader.node], "after": reader.after,
                 "weights": {str(dim): weight for dim, weight in reader.weights.items()},
                 "constant": reader.constant}
                for reader in claims.readers
            ],
        }  # fmt: skip

    def place(self, node: Node | None) -> int | None:
        return None if node is None else self.places[node]

    def variable(self, variable: Variable) -> list[Any] | None:
        match variable:
            case OutputVariable(layer, head, output):
                return ["output", layer, head, output]
            case SumVariable(constant, parts):
                return [
                    "sum",
                    str(constant),
                    [[*part, str(weight)] for part, weight in parts.items()],
                ]
            case NodeVariable(node):
                return ["node", self.places[node]]
            case CountVariable(conditions):
                return ["count", [self.places[node] for node in conditions]]
        return None

    def head(self, head: HeadClaim) -> dict[str, Any]:
        return {
            "mode": head.mode,
            "conjuncts": [[self.places[part.selector], list(part.queries), list(part.keys)]
                          for part in head.conjuncts],
            "outputs": [
                {"values": self.places[output.values],
                 "codes": None if output.codes is None else
                 [[atom_to_json(atom), str(code)] for atom, code in output.codes.items()],
                 "default": None if output.default is None else atom_to_json(output.default),
                 "carrier": output.carrier} | ({"block": True} if output.is_block else {})
                for output in head.outputs
            ],
            "channels": [[[place, str(weight)] for place, weight in channel.items()]
                         for channel in head.channels],
            "values": [list(over) for over in head.values],
            "best": self.place(head.best),
            "best_queries": list(head.best_queries),
            "best_keys": list(head.best_keys),
            "never_empty": head.never_empty,
            "family": [list(place) for place in head.family],
            "weight": str(head.weight),
            "outweighs": head.outweighs,
            "stand_ins": list(head.stand_ins),
        }  # fmt: skip


def _nodes(claims: Claims) -> Iterable[Node]:
    """Every node that claims speak of."""
    yield from claims.over
    yield from claims.aggregates
    yield from (meaning.known for meaning in claims.aggregates.values() if meaning.known)
    yield from (reader.node for reader in claims.readers)
    for node, (which, leaves) in claims.choices.items():
        yield from (node, which, *leaves)
    for variable in claims.variables:
        if isinstance(variable, NodeVariable):
            yield variable.node
        elif isinstance(variable, CountVariable):
            yield from variable.conditions
    for head in (*(head for layer in claims.heads for head in layer), *claims.spare):
        yield from (conjunct.selector for conjunct in head.conjuncts)
        yield from (output.values for output in head.outputs)
        if head.best is not None:
            yield head.best


def claims_from_json(data: Any) -> Claims:
    """Read claims back."""
    try:
        return _Reader(data).claims()
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise broken("a claim") from error


class _Reader:
    def __init__(self, data: Any) -> None:
        self.data = data
        outputs = {str(place): place for place in range(len(data["nodes"]))}
        found, _ = graph_from_json({"nodes": data["nodes"], "outputs": outputs})
        self.nodes = [found[str(place)] for place in range(len(data["nodes"]))]
        self.count = len(data["variables"])

    def claims(self) -> Claims:
        data = self.data
        return Claims(
            tuple(self.variable(entry) for entry in data["variables"]),
            {self.node(place): self.numbers(over) for place, over in data["over"]},
            {self.aggregate(place): Meaning(str(rule), self.numbers(outputs), Fraction(constant),
                                            None if known is None else self.s_op(known),
                                            Fraction(factor))
             for place, rule, outputs, constant, known, factor in data["aggregates"]},
            tuple(tuple(map(self.head, layer)) for layer in data["heads"]),
            tuple(tuple(self.group(*entry) for entry in layer) for layer in data["groups"]),
            tuple(map(self.numbers, data["outputs"])),
            tuple(map(self.head, data["spare"])),
            {self.s_op(node): (self.s_op(which), tuple(map(self.s_op, leaves)))
             for node, which, leaves in data.get("choices", [])},
            tuple(map(self.reader, data["readers"])),
        )  # fmt: skip

    def group(self, units: Any, inputs: Any, over: Any = None) -> GroupClaim:
        return GroupClaim(_whole(units), self.numbers(inputs),
                          None if over is None else self.numbers(over))  # fmt: skip

    def node(self, place: Any) -> Node:
        return self.nodes[_whole(place)]

    def s_op(self, place: Any) -> SOp:
        node = self.node(place)
        if not isinstance(node, SOp):
            raise broken("a claim")
        return node

    def selector(self, place: Any) -> Selector:
        node = self.node(place)
        if not isinstance(node, Selector):
            raise broken("a claim")
        return node

    def aggregate(self, place: Any) -> Aggregate:
        node = self.node(place)
        if not isinstance(node, Aggregate):
            raise broken("a claim")
        return node

    def number(self, entry: Any) -> int:
        if not _whole(entry) < self.count:
            raise broken("a claim")
        return _whole(entry)

    def numbers(self, entries: Any) -> tuple[int, ...]:
        return tuple(map(self.number, entries))

    def variable(self, entry: Any) -> Variable:
        match entry:
            case ["output", layer, head, output]:
                return OutputVariable(_whole(layer), _whole(head), _whole(output))
            case ["sum", constant, parts]:
                return SumVariable(Fraction(constant), {
                    (_kind(kind), self.number(place) if kind == "out" else _whole(place)):
                    Fraction(weight) for kind, place, weight in parts})  # fmt: skip
            case ["node", place]:
                return NodeVariable(self.s_op(place))
            case ["count", places]:
                return CountVariable(tuple(map(self.s_op, places)))
            case None:
                return None
        raise broken("a claim")

    def head(self, entry: Mapping[str, Any]) -> HeadClaim:
        best = None if entry["best"] is None else self.node(entry["best"])
        if best is not None and not isinstance(best, Scorer):
            raise broken("a claim")
        return HeadClaim(
            str(entry["mode"]),
            tuple(Conjunct(self.selector(place), self.numbers(queries), self.numbers(keys))
                  for place, queries, keys in entry["conjuncts"]),
            tuple(map(self.output, entry["outputs"])),
            tuple({_whole(place): Fraction(weight) for place, weight in channel}
                  for channel in entry["channels"]),
            tuple(map(self.numbers, entry["values"])),
            best,
            self.numbers(entry["best_queries"]),
            self.numbers(entry["best_keys"]),
            entry["never_empty"] is True,
            tuple((_whole(layer), _whole(head)) for layer, head in entry["family"]),
            Fraction(entry["weight"]),
            entry["outweighs"] is True,
            tuple(map(_whole, entry["stand_ins"])),
        )  # fmt: skip

    def output(self, entry: Mapping[str, Any]) -> HeadOutput:
        codes = entry["codes"]
        return HeadOutput(
            self.s_op(entry["values"]),
            None
            if codes is None
            else {atom_from_json(atom): Fraction(code) for atom, code in codes},
            None if entry["default"] is None else atom_from_json(entry["default"]),
            None if entry["carrier"] is None else self.number(entry["carrier"]),
            entry.get("block") is True,
        )

    def reader(self, entry: Mapping[str, Any]) -> ReaderClaim:
        weights = {_whole(int(dim)): float(weight) for dim, weight in entry["weights"].items()}
        return ReaderClaim(self.s_op(entry["s_op"]), str(entry["after"]), weights,
                           float(entry["constant"]))  # fmt: skip


def _whole(entry: Any) -> int:
    if isinstance(entry, bool) or not isinstance(entry, int) or entry < 0:
        raise broken("a claim")
    return entry


def _kind(entry: Any) -> str:
    if entry not in ("tok", "idx", "out"):
        raise broken("a claim")
    return str(entry)
