"""Arrays, a program and claims in; a verdict out: whether the model answers as the program does.

Theorem. If `ModelCheck` finds nothing to refuse, then on every input of 1 to N tokens of the
vocabulary (that begins with the BOS, if there is one; and keeps the promise, if there is one) on
which the program has a value, the forward pass over these arrays in float32 reads out the program's
answer at every position. Sums may be added up in any order, and a softmax may be fused: see
`float_errors`.

Proof, by walking through the model. At each step, every slot holds what it says, in every row of
its relation, up to its error (`slots`); and every relation is true of the input (`program_facts`).
The embedding's slots are its own arrays. A head's scores are looked at in every pair of rows
(`head_scores`), so that softmax gives what `head_outputs` says. Hidden units are run in every row
(`hidden_units`), and the sink's row is followed (`sink_row`). So are the read-outs' scores, whose
lead is more than their error (`answers`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

import numpy as np

from rasp.language.graph import Node, SOp
from rasp.models.certificate.check import MOST_LAYERS, NONSENSE, Verdict
from rasp.models.certificate.claims import (
    INDEX,
    TOKEN,
    ClaimedOutput,
    Claims,
    HeadClaim,
    Inputs,
    Refused,
)
from rasp.models.certificate.weights.arrays import HeadWeights, Weights, read_weights
from rasp.models.certificate.weights.precision import FLOAT32, Precision
from rasp.models.certificate.weights.readout import Readout
from rasp.models.checker.answers import is_read, margin_of
from rasp.models.checker.head_outputs import HeadWalk, Moved
from rasp.models.checker.head_scores import FAR, ScoreGaps
from rasp.models.checker.hidden_units import feed_forward
from rasp.models.checker.program_facts import ProgramFacts
from rasp.models.checker.relations import (
    DEFAULT_BUDGET,
    Array,
    CheckBudget,
    Name,
    typed,
)
from rasp.models.checker.sink_row import SinkRow
from rasp.models.checker.slots import SlotStream

DEEP = 50_000
"""How deep Python may go: as deep as a program is nested."""


class ModelCheck:
    """A model, its program and its claims, of which nothing is believed.

    Relations of the program are looked for once. Each statement about the arrays (float32, noise, a
    coarser precision) is a walk of its own, which only looks at numbers.
    """

    def __init__(
        self, arrays: Mapping[str, Array], outputs: Mapping[str, Node], inputs: Inputs,
        readouts: Sequence[Readout], claims: Claims, budget: CheckBudget = DEFAULT_BUDGET,
    ) -> None:  # fmt: skip
        self.arrays, self.outputs, self.inputs = arrays, outputs, inputs
        self.readouts, self.claims, self.budget = readouts, claims, budget

    @cached_property
    def facts(self) -> ProgramFacts:
        return facts_of(self.claims, self.inputs, self.outputs, self.readouts, self.budget)

    def verdict(self, noise: float = 0.0, precision: Precision = FLOAT32) -> Verdict:
        """Check the model. With `noise`, for a forward pass in which each number of the residual
        stream is moved, after the embedding and after every block, by up to `noise` times the
        stream's root mean square. With another `precision`, for one that rounds as it says.
        """
        blocks: list[tuple[str, str, float]] = []
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"), _deep():
                walk = Walk(self.facts, self.arrays, self.outputs, self.readouts, blocks, noise,
                            precision)  # fmt: skip
                walk.run()
                total = self.facts.is_total()
        except Refused as refused:
            where = f"{refused.where}: " if refused.where else ""
            return Verdict(False, where + refused.why, tuple(blocks))
        except NONSENSE as error:
            reason = f"the claims make no sense ({type(error).__name__})"
            return Verdict(False, reason, tuple(blocks))
        return Verdict(True, "", tuple(blocks), total, frozenset(walk.readers), walk.wider,
                       walk.gradient, tuple(walk.lengths))  # fmt: skip


def check_model(
    arrays: Mapping[str, Array], outputs: Mapping[str, Node], inputs: Inputs,
    readouts: Sequence[Readout], claims: Claims, budget: CheckBudget = DEFAULT_BUDGET,
) -> Verdict:  # fmt: skip
    """Check a model in float32."""
    return ModelCheck(arrays, outputs, inputs, readouts, claims, budget).verdict()


def facts_of(
    claims: Claims, inputs: Inputs, outputs: Mapping[str, Node], readouts: Sequence[Readout],
    budget: CheckBudget,
) -> ProgramFacts:  # fmt: skip
    """The relations of a program, none of them looked for yet."""
    heads = [len(layer) for layer in claims.heads]
    if len(claims.groups) != len(heads) + 1 or not readouts or len(heads) > MOST_LAYERS:
        raise Refused("the claims are about another model")
    if [readout.name for readout in readouts] != [*outputs] or len(claims.outputs) != len(outputs):
        raise Refused("the outputs are not those of the program")
    tokens = inputs.vocabulary
    if not tokens or len({*tokens}) < len(tokens) or inputs.max_length < 1:
        raise Refused("a vocabulary holds every token once")
    if inputs.bos is not None and typed(inputs.bos) != typed(tokens[-1]):
        raise Refused("the BOS is not the last token of the vocabulary")
    _check_variables(claims)
    nodes = [*outputs.values(), *([] if inputs.where is None else [inputs.where])]
    plain = None if inputs.where is None else ProgramFacts(claims, inputs, nodes, budget)
    return ProgramFacts(claims, inputs, nodes, budget, plain)


def _check_variables(claims: Claims) -> None:
    """The first variables are token and index, and no output of a head goes by two names."""
    first, second, *others = claims.variables
    given = [variable for variable in others if isinstance(variable, ClaimedOutput)]
    if (first, second) != (None, None) or None in others or len({*given}) < len(given):
        raise Refused("a variable is nothing, or goes by two names")
    if any(min(one.layer, one.head, one.output) < 0 for one in given):
        raise Refused("an output of a head that there is not")


class Walk:
    """From the embedding to the answers."""

    def __init__(
        self, facts: ProgramFacts, arrays: Mapping[str, Array], outputs: Mapping[str, Node],
        readouts: Sequence[Readout], blocks: list[tuple[str, str, float]], noise: float,
        precision: Precision,
    ) -> None:  # fmt: skip
        self.facts, self.claims, self.outputs = facts, facts.claims, outputs
        self.readouts, self.blocks, self.noise = readouts, blocks, noise
        heads = [len(layer) for layer in self.claims.heads]
        self.weights: Weights = read_weights(precision.arrays(arrays), heads, len(readouts))
        count = len(facts.inputs.vocabulary)
        has_sink = len(self.weights.tokens) > count
        if not self.weights.fit(count + has_sink, facts.inputs.max_length):
            raise Refused("arrays do not fit together")
        size = self.weights.tokens.shape[1]
        self.stream = SlotStream(facts, size, noise, precision)
        self.sink = (SinkRow(self.weights.tokens[count], np.zeros(size), precision)
                     if has_sink else None)  # fmt: skip
        self.readers: set[int] = set()
        self.wider, self.gradient = False, 0.0
        self.lengths: list[float] = []
        """How long the stream is, at most, wherever there is noise; and the sink's row of it."""

    def run(self) -> None:
        self._embed()
        for layer, block in enumerate(self.weights.feed_forwards):
            if layer:
                self._layer(layer)
                self._after(f"layer{layer}.attention")
            with _at(f"feed-forward {layer}"):
                if self.sink is not None and layer < len(self.claims.heads):
                    self.sink.check_units(block)
                for added in feed_forward(self.stream, block, self.claims.groups[layer]):
                    self.stream.add(added.dims, added.space, added.value, added.off, added.slope)
            if block.bias.size:
                self.blocks.append(
                    (f"feed-forward {layer}", f"{len(block.bias)} hidden units", 0.0)
                )
                self._after(f"layer{layer}.feed_forward")
        for place in range(len(self.readouts)):
            self._read_out(place)
        self._check_labels()

    def _check_labels(self) -> None:
        """What labels say is of this program: an aggregate that is said to be an output is that,
        and any other is said to go by outputs of heads."""
        facts = self.facts
        named = {*self.claims.aggregates, *(reader.node for reader in self.claims.readers)}
        if not named <= facts.own:
            raise Refused("the claims are about an s-op that the program does not have")
        for node, meaning in self.claims.aggregates.items():
            is_output = meaning.rule == "mean" and len(meaning.outputs) == 1
            if (is_output and facts.direct(node) is None) or not all(
                facts.head_of(name) for name in meaning.outputs
            ):
                raise Refused("an aggregate is not what it is said to be")

    def _embed(self) -> None:
        tokens = self.weights.tokens[: len(self.facts.inputs.vocabulary)]
        for name, table in ((TOKEN, tokens), (INDEX, self.weights.positions)):
            dims, space = np.flatnonzero(table.any(axis=0)), self.facts.space((name,))
            held = table[space.states(name)][:, dims]
            self.stream.add(dims, space, held, np.zeros_like(held), np.zeros(len(dims)))
        self._after("embedding")

    def _after(self, block: str) -> None:
        """Move everything by the noise, and note which s-ops can be read after a block."""
        self.facts.spend()
        length = self.stream.disturb()
        self.lengths += [length] if self.noise else []
        if self.sink is not None:
            self.lengths += [self.sink.length] if self.noise else []
            self.sink = self.sink.disturbed(self.noise)
        if self.noise or not self.stream.precision.is_float32:
            return  # readers are for people, who have time for float32
        for place, reader in enumerate(self.claims.readers):
            if reader.after == block and is_read(self.stream, reader):
                self.readers.add(place)

    def _layer(self, layer: int) -> None:
        """All heads of a layer read the same stream, and then add to it."""
        moved: list[tuple[HeadWeights, list[Moved], Array]] = []
        leaks, largest = [], []
        heads = self.weights.heads[layer - 1]
        for number, (claim, head) in enumerate(
            zip(self.claims.heads[layer - 1], heads, strict=True)
        ):
            with _at(f"layer {layer}, head {number + 1}"):
                variables = self._variables(layer, number)
                walk = HeadWalk(self.stream, self.sink, claim, head, variables)
                channels = walk.channels()
                moved.append((head, channels, self._slope(walk, channels)))
                leaks.append(walk.gaps.leak)
                largest.append(self.stream.largest(head.value, head.value_bias))
                self._describe(f"layer {layer}, head {number + 1}", claim, walk.gaps)
        for head, channels, slopes in moved:
            for at, channel in enumerate(channels):
                self._write(channel, head.out[:, at], slopes[at])
        if self.sink is not None:
            self.sink = self.sink.after(heads, leaks, largest)

    def _describe(self, name: str, claim: HeadClaim, gaps: ScoreGaps) -> None:
        """Note how far apart a head's scores are. One that may attend to something else than is
        claimed is wrong even if nothing needs it, since labels tell what is claimed."""
        room = min(gaps.depth, gaps.above_sink[0] if claim.mode == "mean" else FAR)
        margin = room - 2 * gaps.error
        if claim.conjuncts or claim.best is not None:
            detail = f"{claim.mode}; scores {room:.3g} apart"
        else:
            detail, margin = f"{claim.mode}; looks everywhere", 1 - gaps.spread - 2 * gaps.error
        self.blocks.append((name, detail, margin))
        if not margin > 0 and not self.noise and self.stream.precision.is_float32:
            raise Refused("a head does not attend to what it is said to")

    def _write(self, channel: Moved, direction: Array, slope: float) -> None:
        """What a channel adds: a direction, times its number. Each product is rounded."""
        dims = np.flatnonzero(direction)
        held, wrong = self.stream.precision.ends(channel.value, channel.off)
        value = np.outer(held, direction[dims])
        off = np.outer(wrong, np.abs(direction[dims]))
        off = off + 2.0**-23 * (np.abs(value) + off) + 2.0**-120
        self.stream.add(dims, channel.space, value, off, np.abs(direction[dims]) * slope)

    def _slope(self, walk: HeadWalk, channels: Sequence[Moved]) -> Array:
        """(channel,): the gradient of what a head moves, with respect to the embedded input.

        What comes out is Σ a v, where the a add up to 1. As the values v change, it changes by no
        more than one of them does; as the scores s change, by Σ a ds (v - what comes out).
        """
        stream, head = self.stream, walk.head
        away = np.array([channel.spread for channel in channels])
        by_query = _steepest(stream, head.key, head.key_bias, head.query)
        by_key = _steepest(stream, head.query, head.query_bias, head.key)
        slope = stream.steepness(head.value)
        if self.sink is None:
            return np.asarray(slope + away * (by_query + by_key))
        by_query = max(by_query, _steep(stream, self.sink, head.key, head.key_bias, head.query))
        by_sink = _steep(stream, self.sink, head.query, head.query_bias, head.key)
        sent = np.abs(self.sink.read(head.value, head.value_bias)[0])
        leaked = 2 * walk.gaps.leak * (sent + stream.largest(head.value, head.value_bias))
        steep = np.maximum(away * (by_query + by_key), 2 * leaked * (by_query + by_sink))
        return np.asarray(slope + steep)

    def _variables(self, layer: int, head: int) -> dict[int, Name]:
        return {claimed.output: name for name, claimed in enumerate(self.claims.variables)
                if isinstance(claimed, ClaimedOutput)
                and (claimed.layer, claimed.head) == (layer, head)}  # fmt: skip

    def _read_out(self, place: int) -> None:
        readout, arrays = self.readouts[place], self.weights.readouts[place]
        node = self.outputs[readout.name]
        with _at(f"read-out {readout.name}"):
            if not isinstance(node, SOp):
                raise Refused("an output is not an s-op")
            names = self.facts.base(self.claims.outputs[place])
            margin, rows, wider = margin_of(self.stream, node, readout, arrays, names)
            self.blocks.append((f"read-out {readout.name}",
                                f"{len(readout.atoms)} atoms, {rows} states", margin))  # fmt: skip
            self.wider |= wider
            steepest = float(self.stream.steepness(arrays.weight).max(initial=0.0))
            self.gradient = max(self.gradient, steepest)
            if not margin > 0:
                raise Refused(f"the answer is not certain: no margin is left ({margin:.3g})")


def _steepest(stream: SlotStream, one: Array, bias: Array, other: Array) -> float:
    """The largest gradient of a score by what one side reads, whatever the other side is."""
    slots = stream.touched(one)
    tables = [slot.value @ one[:, slot.dims].T for slot in slots]
    steep = stream.steepness(other)
    off = [float((slot.off @ np.abs(one[:, slot.dims]).T).max(axis=0, initial=0.0) @ steep)
           for slot in slots]  # fmt: skip
    if len(tables) != 1:
        tables.append(np.zeros((1, len(one))))
    tables[-1] = tables[-1] + bias
    found = (float(stream.steepness(table @ other).max(initial=0.0)) for table in tables)
    return sum(found) + sum(off)


def _steep(stream: SlotStream, sink: SinkRow, one: Array, bias: Array, other: Array) -> float:
    """The same where the sink is that other side."""
    number, off = sink.read(one, bias)
    return float(stream.steepness((number @ other)[None])[0] + off @ stream.steepness(other))


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say where something is refused."""
    try:
        yield
    except Refused as refused:
        refused.where = refused.where or place
        raise


@contextmanager
def _deep() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
