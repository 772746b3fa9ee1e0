"""Checked claims and the arrays in, words out: what every part of a model is for, and the circuit.

The circuit is the ground truth that interpretability tools look for: through which dimensions of
the residual stream a head or feed-forward reads what another one has written. It is read off the
arrays: an edge is there where both weights are not 0, and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from rasp.atoms import Atom, show
from rasp.certificate import Array, Readout, Weights
from rasp.certificate.claims import INDEX, TOKEN, ClaimedNode, ClaimedOutput, ClaimedSum, Claims
from rasp.compiler.analysis.times import EMBEDDING, readout_time
from rasp.compiler.model.wiring import ModelPart, feed_forward_name, head_name, inner_parts, used
from rasp.graph import (
    Aggregate,
    Const,
    Node,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    expression,
    users,
)
from rasp.graph.normal import normal_forms
from rasp.graph.walks import first_user

MOST_TOKENS_NAMED = 3
SELECT_ALL = Select(Const(1), Const(1), "==")


@dataclass(frozen=True)
class Description:
    """Labels by place, and the circuit as plain data."""

    dimensions: tuple[str, ...]
    heads: tuple[tuple[str, ...], ...]
    """For each layer from 1, a label for each head."""
    hidden: tuple[tuple[str, ...], ...]
    """For each feed-forward from the one before layer 1, a label for each hidden unit."""
    circuit: dict[str, Any]
    readers: tuple[dict[str, Any], ...]
    """For each s-op that can be read: after which block, with which weights and constant."""


@dataclass(frozen=True)
class Words:
    """The program's own words: names of nodes, and the lines they come from."""

    outputs: Mapping[str, Node]
    names: Mapping[Node, str]
    lines: Mapping[Node, int]


def describe(
    weights: Weights, claims: Claims, words: Words, vocabulary: Sequence[Atom],
    readouts: Sequence[Readout],
) -> Description:  # fmt: skip
    """Describe a model's parts in the program's words."""
    labels, tokens = _Labels(claims, words), len(vocabulary)
    parts = list(_parts(weights, list(words.outputs)))
    return Description(
        _tell_apart(list(_dimensions(weights, tokens, parts, labels)),
                    list(_states(weights, vocabulary, readouts))),
        tuple(tuple(labels.head(layer, number) for number in range(len(heads)))
              for layer, heads in enumerate(weights.heads, 1)),
        tuple(tuple(labels.units(layer, block.bias)) for layer, block in
              enumerate(weights.feed_forwards)),
        {"nodes": labels.nodes(), "edges": _edges(parts)},
        tuple({"s_op": labels.node(reader.node), "after": reader.after,
               "weights": {str(dim): weight for dim, weight in reader.weights.items()},
               "constant": reader.constant} for reader in claims.readers),
    )  # fmt: skip


def _parts(weights: Weights, outputs: Sequence[str]) -> Iterator[ModelPart]:
    """The embedding, heads, feed-forwards and outputs."""
    yield ModelPart(
        "embedding", EMBEDDING, used(np.vstack([weights.tokens, weights.positions])), {}
    )
    yield from inner_parts(weights)
    end, nothing = readout_time(len(weights.heads)), np.zeros(weights.tokens.shape[1], bool)
    for name, readout in zip(outputs, weights.readouts, strict=True):
        yield ModelPart(f"output.{name}", end, nothing, {"value": used(readout.weight)})


def _edges(parts: Sequence[ModelPart]) -> list[dict[str, Any]]:
    """From each writer of a dimension to each later reader of it; heads come first."""
    writers = sorted(parts, key=lambda part: part.name.endswith("feed_forward"))
    return [
        {"from": writer.name, "to": reader.name, "as": role, "dimensions": dims.tolist()}
        for reader in parts
        for role, read in reader.read.items()
        for writer in writers
        if reader.follows(writer) and (dims := np.flatnonzero(read & writer.written)).size
    ]


def _dimensions(
    weights: Weights, tokens: int, parts: Sequence[ModelPart], labels: _Labels
) -> Iterator[str]:
    """What the first reader of each dimension reads it for; the sink's own is called so."""
    written = [part.written for part in parts[1:]]
    others = used(np.vstack([weights.tokens[:tokens], weights.positions, *written]))
    is_sink = used(weights.tokens[tokens:]) & ~others
    reads = [(part.name, role, read) for part in parts for role, read in part.read.items()]
    for place in range(len(others)):
        readers = (labels.read(name, role) for name, role, read in reads if read[place])
        yield "sink" if is_sink[place] else next(readers, "nothing")


def _states(
    weights: Weights, vocabulary: Sequence[Atom], readouts: Sequence[Readout]
) -> Iterator[str]:
    """For each dimension what it is about, such as `tokens == "a"`, or an answer; "" for many.

    It is read off the arrays: the one row of the embedding that is not 0 there, or the one answer
    that scores by it. What heads or feed-forwards write to is about more than a token or an index.
    """
    tokens, positions = weights.tokens[: len(vocabulary)], weights.positions
    written = sum((part.written for part in inner_parts(weights)), np.zeros(tokens.shape[1], bool))
    for dim in range(tokens.shape[1]):
        by_token, by_index = tokens[:, dim], positions[:, dim]
        named, index = _alike(by_token), _alike(by_index)
        if not (written[dim] or by_token.any() or by_index.any()):
            yield ""  # no position holds anything there, whatever reads it
        elif 0 < len(named) <= MOST_TOKENS_NAMED and not (written[dim] or by_index.any()):
            yield " or ".join(f"tokens == {show(vocabulary[token])}" for token in named)
        elif len(index) == 1 and not (written[dim] or by_token.any()):
            yield f"indices == {index[0]}"
        else:
            yield _answer_of(weights, readouts, dim)


def _answer_of(weights: Weights, readouts: Sequence[Readout], dim: int) -> str:
    """The one answer, of the first output that reads a dimension, that scores higher by it."""
    for readout, arrays in zip(readouts, weights.readouts, strict=True):
        scores = arrays.weight[:, dim]
        if scores.any():
            higher = _alike(scores - scores.min()) if readout.scored else []
            return show(readout.atoms[higher[0]]) if len(higher) == 1 else ""
    return ""


def _alike(column: Array) -> list[int]:
    """Where a column is not 0, if it is the same everywhere there; else nothing."""
    places = np.flatnonzero(column)
    return places.tolist() if len(set(column[places].tolist())) == 1 else []


def _tell_apart(labels: Sequence[str], states: Sequence[str]) -> tuple[str, ...]:
    """Each label with the state that its dimension is for, where no other with it is."""
    count = Counter(zip(labels, states, strict=True))
    return tuple(f"{label}: {state}" if state and count[label, state] == 1 else label
                 for label, state in zip(labels, states, strict=True))  # fmt: skip


class _Labels:
    """Names of a model's parts."""

    def __init__(self, claims: Claims, words: Words) -> None:
        self.claims, self.words = claims, words
        self.users = users(list(words.outputs.values()))
        self.served: dict[int, list[Aggregate]] = {}
        for node, meaning in claims.aggregates.items():
            for variable in meaning.outputs:
                self.served.setdefault(variable, []).append(node)

    def node(self, node: Node) -> str:
        return self._text(node) + self._line(node)

    def _text(self, node: Node) -> str:
        return self.words.names.get(node) or expression(node, self.words.names, depth=3)

    def _line(self, node: Node) -> str:
        """Where a node comes from; for one made by the library, where the library was used."""
        user = first_user(node, self.users, self.words.lines)
        return "" if user is None else f" (line {self.words.lines[user]})"

    def _served_by(self, layer: int, number: int) -> list[Aggregate]:
        places = [place for place, variable in enumerate(self.claims.variables)
                  if isinstance(variable, ClaimedOutput)
                  and (variable.layer, variable.head) == (layer, number)]  # fmt: skip
        return list(dict.fromkeys(node for place in places for node in self.served.get(place, [])))

    def selector(self, layer: int, number: int) -> str:
        """Whom a head attends to, as an aggregate's selector says it if that picks the same.

        A width's aggregates also pick index 0, and heads may share out the keys of one selector;
        a head with shares of index 0 attends to just what an aggregate picks.
        """
        claim, served = self.claims.heads[layer - 1][number], self._served_by(layer, number)
        own = [node.selector for node in served]
        if not own or claim.mode == "share":
            return self._text(own[0]) if own else "nothing"
        picks: Selector = reduce(SelectorAnd, claim.selectors or [SELECT_ALL])
        if claim.best is not None:
            picks = SelectBest(picks, claim.best)
        forms = normal_forms([picks, *own])
        return self._text(next((node for node in own if forms[node] == forms[picks]), picks))

    def head(self, layer: int, number: int) -> str:
        served = dict.fromkeys(self.node(node) for node in self._served_by(layer, number))
        return f"{self.selector(layer, number)} -> {', '.join(served)}"

    def variable(self, place: int) -> str:
        if place in (TOKEN, INDEX):
            return "tokens" if place == TOKEN else "indices"
        match self.claims.variables[place]:
            case ClaimedNode(node):
                return self.node(node)
            case ClaimedOutput():
                return self.output(place)
            case ClaimedSum(_, parts):
                inner = [self.output(part.variable) for part in parts if part.is_output]
                inner += ["tokens"] * any(part.variable == TOKEN for part in parts)
                inner += ["indices"] * any(part.variable == INDEX for part in parts)
                return " and ".join(dict.fromkeys(inner))
        return "a count of conditions"

    def output(self, place: int) -> str:
        """The variable at a place, which is what a head puts out."""
        variable = self.claims.variables[place]
        if not isinstance(variable, ClaimedOutput):
            raise ValueError("no output of a head")
        served = [self.node(node) for node in self.served.get(place, [])]
        return " and ".join(served) or f"width of {self.selector(variable.layer, variable.head)}"

    def groups(self, layer: int) -> list[str]:
        """What each group of hidden units of a feed-forward reads."""
        return [", ".join(dict.fromkeys(map(self.variable, group.inputs)))
                for group in self.claims.groups[layer]]  # fmt: skip

    def units(self, layer: int, bias: Array) -> Iterator[str]:
        start = 0
        for read, group in zip(self.groups(layer), self.claims.groups[layer], strict=True):
            for place in range(start, start + group.units):
                yield f"{read} at {abs(bias[place]):g}"
            start += group.units

    def read(self, reader: str, role: str) -> str:
        """What a reader reads a dimension for."""
        kind, _, rest = reader.partition(".")
        if kind == "output":
            return rest + self._line(self.words.outputs[rest])
        layer = int(kind.removeprefix("layer"))
        if rest == "feed_forward":
            read = ", ".join(dict.fromkeys(self.groups(layer)))
            return f"input of feed-forward {layer}: {read}"
        number = int(rest.removeprefix("head")) - 1
        served = self._served_by(layer, number)
        line = self._line(served[0].selector) if served else ""
        return f"{role} of {self.selector(layer, number)}{line}"

    def nodes(self) -> list[dict[str, Any]]:
        """The embedding, heads, feed-forwards and outputs."""
        nodes: list[dict[str, Any]] = [{"id": "embedding", "kind": "embedding"}]
        for layer, groups in enumerate(self.claims.groups):
            for number, claim in enumerate(self.claims.heads[layer - 1] if layer else ()):
                nodes.append({
                    "id": head_name(layer, number + 1), "kind": "head",
                    "selector": self.selector(layer, number), "mode": claim.mode,
                    "s_ops": [self.node(node) for node in self._served_by(layer, number)],
                })  # fmt: skip
            if any(group.units for group in groups):
                nodes.append({"id": feed_forward_name(layer), "kind": "feed-forward",
                              "reads": self.groups(layer)})  # fmt: skip
        return nodes + [{"id": f"output.{name}", "kind": "output", "s_op": name}
                        for name in self.words.outputs]  # fmt: skip
