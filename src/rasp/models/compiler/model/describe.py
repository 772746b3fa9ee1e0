"""Checked claims and the arrays in, words out: what every part of a model is for, and the circuit.

The circuit is the ground truth that interpretability tools look for: through which dimensions of
the residual stream a head or feed-forward reads what another one has written. It is read off the
arrays: an edge is there where both weights are not 0, and nowhere else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np

from rasp.base.atoms import Atom, show
from rasp.language.graph import (
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
from rasp.language.graph.normal import normal_forms
from rasp.language.graph.walks import first_user
from rasp.models.certificate import Array, Readout, Weights
from rasp.models.certificate.claims import (
    INDEX,
    TOKEN,
    ClaimedNode,
    ClaimedOutput,
    ClaimedSum,
    Claims,
)
from rasp.models.compiler.analysis.times import EMBEDDING, layer_at, readout_time
from rasp.models.compiler.emitting.wiring import ModelPart, inner_parts, used

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
    labels, parts = _Labels(claims, words), list(_parts(weights, list(words.outputs)))
    nodes, read_for = zip(*map(labels.part, parts), strict=True)
    heads = (f"{node['selector']} -> {', '.join(dict.fromkeys(node['s_ops']))}"
             for node in nodes if node["kind"] == "head")  # fmt: skip
    return Description(
        _tell_apart(list(_dimensions(weights, len(vocabulary), parts, read_for)),
                    list(_states(weights, vocabulary, readouts))),
        tuple(tuple(islice(heads, len(layer))) for layer in weights.heads),
        tuple(tuple(labels.units(layer, block.bias)) for layer, block in
              enumerate(weights.feed_forwards)),
        {"nodes": list(nodes), "edges": _edges(parts)},
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
    weights: Weights, tokens: int, parts: Sequence[ModelPart], read_for: Sequence[Mapping[str, str]]
) -> Iterator[str]:
    """What the first reader of each dimension reads it for; the sink's own is called so."""
    written = [part.written for part in parts[1:]]
    others = used(np.vstack([weights.tokens[:tokens], weights.positions, *written]))
    is_sink = used(weights.tokens[tokens:]) & ~others
    reads = [(part.read[role], text) for part, told in zip(parts, read_for, strict=True)
             for role, text in told.items()]  # fmt: skip
    for place in range(len(others)):
        readers = (text for read, text in reads if read[place])
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
    """Each label with the state that its dimension is for, where no other with it is; else with
    its number among those of one label, which hold a code together.
    """
    count = Counter(zip(labels, states, strict=True))
    told = [f"{label}: {state}" if state and count[label, state] == 1 else label
            for label, state in zip(labels, states, strict=True)]  # fmt: skip
    alike, seen = Counter(told), Counter[str]()
    for place, label in enumerate(told):
        seen[label] += 1
        if alike[label] > 1 and label != "nothing":
            told[place] = f"{label} ({seen[label]} of {alike[label]})"
    return tuple(told)


class _Labels:
    """Names of a model's parts."""

    def __init__(self, claims: Claims, words: Words) -> None:
        self.claims, self.words = claims, words
        self.users = users(list(words.outputs.values()))
        self.served: dict[int, list[Aggregate]] = defaultdict(list)
        for node, meaning in claims.aggregates.items():
            for variable in meaning.outputs:
                self.served[variable].append(node)

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
        return list(dict.fromkeys(node for place in places for node in self.served[place]))

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

    def variable(self, place: int) -> str:
        if place in (TOKEN, INDEX):
            return "tokens" if place == TOKEN else "indices"
        match self.claims.variables[place]:
            case ClaimedNode(node):
                return self.node(node)
            case ClaimedOutput(layer, number):
                served = map(self.node, self.served[place])
                return " and ".join(served) or f"width of {self.selector(layer, number)}"
            case ClaimedSum(_, parts):
                outputs = [part.variable for part in parts if part.is_output]
                ground = sorted(part.variable for part in parts if not part.is_output)
                return " and ".join(dict.fromkeys(map(self.variable, [*outputs, *ground])))
        return "a count of conditions"

    def groups(self, layer: int) -> list[str]:
        """What each group of hidden units of a feed-forward reads."""
        return [", ".join(dict.fromkeys(map(self.variable, group.inputs)))
                for group in self.claims.groups[layer]]  # fmt: skip

    def units(self, layer: int, bias: Array) -> Iterator[str]:
        groups = zip(self.groups(layer), self.claims.groups[layer], strict=True)
        reads = (read for read, group in groups for _ in range(group.units))
        for read, threshold in zip(reads, np.abs(bias), strict=True):
            yield f"{read} at {threshold:g}"

    def part(self, part: ModelPart) -> tuple[dict[str, Any], dict[str, str]]:
        """A part as a node of the circuit, and what it reads a dimension for, by its roles."""
        layer, number = layer_at(part.time), part.head
        if number is not None:
            selector, served = self.selector(layer, number), self._served_by(layer, number)
            node = {"id": part.name, "kind": "head", "selector": selector,
                    "mode": self.claims.heads[layer - 1][number].mode,
                    "s_ops": [self.node(node) for node in served]}  # fmt: skip
            line = self._line(served[0].selector) if served else ""
            return node, {role: f"{role} of {selector}{line}" for role in part.read}
        if "input" in part.read:
            reads = self.groups(layer)
            told = f"input of feed-forward {layer}: {', '.join(dict.fromkeys(reads))}"
            return {"id": part.name, "kind": "feed-forward", "reads": reads}, {"input": told}
        if not part.read:
            return {"id": part.name, "kind": "embedding"}, {}
        name = part.name.removeprefix("output.")
        told = name + self._line(self.words.outputs[name])
        return {"id": part.name, "kind": "output", "s_op": name}, {"value": told}
