"""Arrays, a program and claims in; a verdict out: the model answers as the program does, or why
that is not certain.

Theorem. If `check` raises nothing, then on every input of 1 to N tokens of the vocabulary (that
begins with the BOS, if there is one; and keeps the promise, if there is one) on which the program
has a value, the forward pass over these arrays in float32, with sums in any order and exp and
division right to one part in 2^21, reads out the program's answer at every position.

Proof, by walking through the model. `Stream` says what the residual stream holds at a position, as
a function of variables, up to an error: at first by the embedding's own arrays. A head's scores
are tried on every pair of states (`scores`), so that softmax gives the mean or sum that the claim
says, up to an error (`attention`). Hidden units are run in every state (`feed_forward`). That an
aggregate is what heads have put out is checked by cases (`aggregates`), that other s-ops follow
from them by the operator table (`values`), and a read-out's answer is compared with the program's
in every state (`readout`). Every table is over all states that an input can have, or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from rasp.language.graph import Aggregate, Node, SOp, in_order
from rasp.models.certificate.claims import (
    INDEX,
    TOKEN,
    ClaimedOutput,
    ClaimedSum,
    Claims,
    Findings,
    Inputs,
    Refused,
)
from rasp.models.certificate.program.aggregates import check_aggregate
from rasp.models.certificate.program.head_claims import check_head
from rasp.models.certificate.program.tables import Array, typed
from rasp.models.certificate.program.total import has_always_a_value
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.program.well_founded import is_well_founded
from rasp.models.certificate.weights.arrays import Weights, read_weights
from rasp.models.certificate.weights.attention import attend
from rasp.models.certificate.weights.channels import Channel
from rasp.models.certificate.weights.feed_forward import feed_forward
from rasp.models.certificate.weights.precision import FLOAT32, Precision
from rasp.models.certificate.weights.readout import Readout, is_read, read_out
from rasp.models.certificate.weights.sink import Sink, check_sink_units, pass_sink
from rasp.models.certificate.weights.stream import Stream
from rasp.models.certificate.weights.writing import write

MOST_LAYERS = 10_000
"""Layers may be empty: then no array bounds how many a file can speak of."""

NONSENSE = (
    LookupError, TypeError, ValueError, ArithmeticError, AssertionError, AttributeError,
    RecursionError, MemoryError,
)  # fmt: skip
"""What claims that nobody would make end in: a variable that is its own part, say."""


@dataclass(frozen=True)
class Verdict:
    """What a check found."""

    holds: bool
    reason: str
    """The first claim that does not hold, and why."""
    blocks: tuple[tuple[str, str, float], ...]
    """Of each block: its name, what was checked, and by how much it holds (0: nothing to tell)."""
    total: bool = False
    """Whether the program has a value on every input."""
    readers: frozenset[int] = frozenset()
    """Which of the claims' readers read what they say; a model answers without them."""
    wider: bool = False
    """Whether some number is of several kinds (1 and 1.0), and its answer of the widest."""
    gradient: float = 0.0
    """The largest gradient of a score by the embedded input, on any input of the statement."""
    lengths: tuple[float, ...] = ()
    """How long (√Σ number²) the stream is, at most, wherever there was noise: of it, one length is
    that of positions, and the next, where there is a sink, that of the sink."""


def check(
    arrays: Mapping[str, Array],
    outputs: Mapping[str, Node],
    inputs: Inputs,
    readouts: Sequence[Readout],
    claims: Claims,
    noise: float = 0.0,
    precision: Precision = FLOAT32,
) -> Verdict:
    """Check a model; nothing that the claims say is believed.

    With `noise`, for a forward pass in which each number of the residual stream is moved, after
    the embedding and after every block, by up to `noise` times the stream's root mean square.
    With another `precision`, for one that rounds as it says.
    """
    notes = Findings()
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            total = _check(arrays, outputs, inputs, readouts, claims, notes, noise, precision)
    except Refused as refused:
        where = f"{refused.where}: " if refused.where else ""
        return Verdict(False, where + refused.why, tuple(notes.blocks))
    except NONSENSE as error:
        reason = f"the claims make no sense ({type(error).__name__})"
        return Verdict(False, reason, tuple(notes.blocks))
    readers = frozenset(notes.readers)
    return Verdict(True, "", tuple(notes.blocks), total, readers, notes.wider,
                   notes.gradient, tuple(notes.lengths))  # fmt: skip


def _check(
    arrays: Mapping[str, Array], outputs: Mapping[str, Node], inputs: Inputs,
    readouts: Sequence[Readout], claims: Claims, notes: Findings, noise: float,
    precision: Precision,
) -> bool:  # fmt: skip
    heads = [len(layer) for layer in claims.heads]
    if len(claims.groups) != len(heads) + 1 or not readouts or len(heads) > MOST_LAYERS:
        raise Refused("the claims are about another model")
    _check_inputs(inputs)
    _check_sums(claims, inputs)
    weights = read_weights(precision.arrays(arrays), heads, len(readouts))
    has_sink = len(weights.tokens) > len(inputs.vocabulary)
    if not weights.fit(len(inputs.vocabulary) + has_sink, inputs.max_length):
        raise Refused("arrays do not fit together")
    names = [readout.name for readout in readouts]
    if names != list(outputs) or len(claims.outputs) != len(names):
        raise Refused("the outputs are not those of the program")
    values = ProvedValues(claims, inputs, list(outputs.values()))
    _check_order(values, list(outputs.values()))
    _check_meanings(values, list(outputs.values()))
    stream, sink = _embedded(values, weights, precision)
    _after("embedding", stream, sink, noise, notes)
    for layer, block in enumerate(weights.feed_forwards):
        if layer:
            _layer(stream, sink, claims, weights, layer, notes)
            _after(f"layer{layer}.attention", stream, sink, noise, notes)
        name = f"feed-forward {layer}"
        if sink is not None and layer < len(heads):  # nothing looks at it after the last
            check_sink_units(sink.rounded(), block.inside, block.bias, name)
        feed_forward(stream, block, claims.groups[layer], name, notes)
        if block.bias.size:
            _after(f"layer{layer}.feed_forward", stream, sink, noise, notes)
    for readout, array, over in zip(readouts, weights.readouts, claims.outputs, strict=True):
        node = outputs[readout.name]
        assert isinstance(node, SOp)
        with _at(f"read-out {readout.name}"):
            read_out(stream.rounded(), node, readout, array, over, notes)
    if notes.unsure and precision.is_float32 and not noise:  # labels are of the model as it is
        raise Refused("a head does not attend to what it is said to", notes.unsure[0])
    return has_always_a_value(values, list(outputs.values()))


def _check_inputs(inputs: Inputs) -> None:
    """Every token is in the vocabulary once, and a BOS is the last: so it is known by its place."""
    tokens = inputs.vocabulary
    if not tokens or len({*tokens}) < len(tokens):
        raise Refused("a vocabulary holds every token once")
    if inputs.bos is not None and typed(inputs.bos) != typed(tokens[-1]):
        raise Refused("the BOS is not the last token of the vocabulary")


def _check_sums(claims: Claims, inputs: Inputs) -> None:
    """The parts of weighted sums are tokens, indices and outputs that there are: index -1 would be
    none where all that a sum can be is listed, and the last one in a table.
    """
    outputs = [place for place, variable in enumerate(claims.variables)
               if isinstance(variable, ClaimedOutput)]  # fmt: skip
    states = {TOKEN: range(len(inputs.vocabulary)), INDEX: range(inputs.max_length)}
    sums = [variable for variable in claims.variables if isinstance(variable, ClaimedSum)]
    for part in (part for claimed in sums for part in claimed.parts):
        of_ground = part.state in states.get(part.variable, ())
        if not (part.variable in outputs if part.is_output else of_ground):
            raise Refused("a weighted sum is of something that there is not")
    if any(min(vars(claims.variables[place]).values()) < 0 for place in outputs):
        raise Refused("an output of a head goes by two names")


def _after(block: str, stream: Stream, sink: Sink | None, noise: float, notes: Findings) -> None:
    """Move everything by so much of what there is, and note which s-ops can be read after a block
    as is claimed.
    """
    for row in (stream,) if sink is None else (stream, sink):
        row.check_size()
        if noise:
            notes.lengths.append(row.length())
            row.disturb(noise * row.length() / np.sqrt(len(row.error)))
    if not stream.precision.is_float32:
        return  # readers are for people, who have time for float32
    for place, reader in enumerate(stream.values.claims.readers):
        if reader.after == block and is_read(stream, reader):
            notes.readers.add(place)


def _check_order(values: ProvedValues, outputs: list[Node]) -> None:
    """Nothing that is checked rests on itself; nor what a promise is read by, which differs."""
    where = values.inputs.where
    nodes = [*outputs, where] if where else outputs
    if not all(is_well_founded(proved, nodes) for proved in {values, values.plain}):
        raise Refused("claims tell of something by itself")


def _check_meanings(values: ProvedValues, outputs: Sequence[Node]) -> None:
    """Labels and circuit are made of what aggregates and readers are said to be: each of them is
    one of the program's, and each aggregate is checked.
    """
    named = {*values.claims.aggregates, *(reader.node for reader in values.claims.readers)}
    if not named <= values.program:
        raise Refused("the claims are about an s-op that the program does not have")
    for head in values.claims.spare:  # no arrays make these: only what they claim can be checked
        check_head(values, head)
    for layer, heads in enumerate(values.claims.heads, 1):
        for number, head in enumerate(heads, 1):
            with _at(_name(layer, number)):
                check_head(values, head)
    where = values.inputs.where
    for proved, nodes in ((values, outputs), (values.plain, [where] if where else [])):
        for node in in_order(nodes):
            if isinstance(node, Aggregate) and node in values.claims.aggregates:
                check_aggregate(proved, node, values.claims.aggregates[node])


def _embedded(
    values: ProvedValues, weights: Weights, precision: Precision
) -> tuple[Stream, Sink | None]:
    count = len(values.inputs.vocabulary)
    stream = Stream(values, weights.tokens[:count], weights.positions, precision)
    if len(weights.tokens) == count:
        return stream, None
    return stream, Sink(weights.tokens[-1], np.zeros(weights.tokens.shape[1]), precision)


def _layer(
    stream: Stream, sink: Sink | None, claims: Claims, weights: Weights, layer: int, notes: Findings
) -> None:
    """All heads of a layer read the same stream, and then add to it."""
    seen, seen_sink = stream.rounded(), sink and sink.rounded()
    moved: list[Channel] = []
    for number, (claim, head) in enumerate(
        zip(claims.heads[layer - 1], weights.heads[layer - 1], strict=True)
    ):
        name = _name(layer, number + 1)
        if len(claim.channels) != len(head.value_bias) or len(claim.values) != len(claim.channels):
            raise Refused("a head moves more values than are claimed, or fewer", name)
        variables = [_variable(claims, layer, number, place) for place in range(len(claim.outputs))]
        with _at(name):
            moved += attend(seen, seen_sink, claim, head, variables, name, notes)
    if sink is not None:
        pass_sink(seen, sink, weights.heads[layer - 1])
    write(stream, moved, weights.heads[layer - 1])


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say where a claim does not hold, if that is not known better."""
    try:
        yield
    except Refused as refused:
        raise Refused(refused.why, refused.where or place) from None


def _name(layer: int, number: int) -> str:
    return f"layer {layer}, head {number}"


def _variable(claims: Claims, layer: int, head: int, output: int) -> int:
    wanted = ClaimedOutput(layer, head, output)
    places = [place for place, variable in enumerate(claims.variables) if variable == wanted]
    if len(places) != 1:
        raise Refused("an output of a head has no variable, or several")
    return places[0]
