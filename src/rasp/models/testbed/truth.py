"""A model and the edges that its weights allow in, the edges that matter out, each with a witness.

An edge matters if, for some input, what it carries can be replaced by what it carries elsewhere so
that the answer changes; the input, the position and the replacement are its witness. Witnesses are
looked for among inputs of which half have answers that are rare: where nearly every answer is
`False`, random inputs show little. An edge that carries the same everywhere has no witness. The
circuit is complete if all other edges together can be replaced, at every position at once, and no
answer changes. An edge that never changes an answer alone but is needed beside others (two paths
for one thing) would make a circuit that is complete but not minimal; then the model says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch

from rasp.insight.equivalence.answering import Input, answers
from rasp.models.certificate import Array
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.model.vocabulary_inputs import by_length, random_inputs
from rasp.models.testbed.edges import POSITIONS, TOKENS, Edge
from rasp.models.testbed.patching import Activations, Elsewhere, Patchable, WrittenByPart

DRAWN = 8000
INPUTS = 160
"""How many of the drawn inputs are kept: half of them for their rare answers."""
MOST_IN_A_BATCH = 32
ROUNDS = 60
"""How often replacements are drawn for an edge before it is taken not to matter."""
SHARES = (1.0, 1.0, 0.5, 0.2)
"""Which share of an input's positions is replaced, from round to round."""
CONSTANT = 1e-4
"""What differs by less, relative to the largest number that might be read, is the same."""
RESAMPLED = 8
"""How often everything outside a circuit is replaced when it is checked."""


@dataclass(frozen=True)
class Witness:
    """An input, and for each position the input and position that a replacement is from."""

    tokens: Input
    others: tuple[Input, ...]
    places: tuple[int, ...]


@dataclass(frozen=True)
class Circuit:
    """The edges that matter, each with its witness; those without one are needed together."""

    witnesses: dict[Edge, Witness | None]

    @property
    def edges(self) -> list[Edge]:
        return list(self.witnesses)

    @property
    def minimal(self) -> bool:
        return all(witness is not None for witness in self.witnesses.values())


@dataclass(frozen=True, eq=False)
class EqualLengths:
    """Inputs of one length, run once."""

    inputs: list[Input]
    ids: Array
    written: WrittenByPart
    answers: Array
    rows: Array
    """Where its own positions are in the pool: (batch, position)."""


class Laboratory:
    """A model with inputs of all lengths and what its parts write on them."""

    def __init__(self, model: Transformer, seed: int = 0) -> None:
        self.model, self.patchable = model, Patchable(model)
        self.chooser = np.random.default_rng([seed, 23])
        inputs = telling_inputs(model, usable_inputs(model, DRAWN, seed))
        self.rows = [(tokens, place) for tokens in sorted(inputs, key=len)
                     for place in range(len(tokens))]  # fmt: skip
        with torch.no_grad():
            self.batches, first = [], 0
            for some in _batches(inputs):
                self.batches.append(self._batch(some, first))
                first += self.batches[-1].ids.size
            self.pool = Activations.of(self.patchable, [batch.ids for batch in self.batches])

    def _batch(self, inputs: list[Input], first: int = 0) -> EqualLengths:
        ids = np.stack([self.model.token_ids(list(tokens)) for tokens in inputs])
        written, logits = self.patchable.run(self.patchable.embedded(ids))
        rows = first + np.arange(ids.size).reshape(ids.shape)
        return EqualLengths(inputs, ids, written, self.patchable.answers(logits), rows)

    def changed(self, batch: EqualLengths, edges: Sequence[Edge], rows: Array) -> Array:
        """Which inputs of a batch answer otherwise with edges replaced; (batch, position) rows."""
        with torch.no_grad():
            elsewhere = Elsewhere.along(edges, self.pool.drawn(batch.written, rows))
            begin = {name: batch.written[name] for name in (TOKENS, POSITIONS)}
            _, logits = self.patchable.run(begin, elsewhere)
        differs = self.patchable.answers(logits) != batch.answers
        return np.asarray(differs.any(axis=(1, 2)))

    def drawn_rows(self, batch: EqualLengths, share: float = 1.0) -> Array:
        """Random rows for a share of the positions, and their own for the others."""
        drawn = self.chooser.integers(0, self.pool.size, size=batch.ids.shape)
        if share == 1.0:
            return drawn
        return np.where(self.chooser.random(batch.ids.shape) < share, drawn, batch.rows)

    def is_constant(self, edge: Edge) -> bool:
        """Whether what a part reads along an edge is the same at every position of every input."""
        written = self.pool.written[edge.source]
        weights = self.patchable.reads(edge.target, edge.role)
        if not weights.numel():
            return True
        read = written @ weights.T
        largest = written.norm(dim=1).max() * weights.norm(dim=1).max()
        return bool((read - read[:1]).abs().max() <= CONSTANT * largest)

    def witness(self, edge: Edge) -> Witness | None:
        """An input and replacements along one edge that change its answer, if one is found."""
        if self.is_constant(edge):
            return None
        order = self.chooser.permutation(len(self.batches))
        for number in range(ROUNDS):
            batch = self.batches[order[number % len(order)]]
            rows = self.drawn_rows(batch, SHARES[number % len(SHARES)])
            hit = np.flatnonzero(self.changed(batch, [edge], rows))
            if hit.size:
                return self._recorded(batch, int(hit[0]), rows)
        return None

    def _recorded(self, batch: EqualLengths, number: int, rows: Array) -> Witness:
        sources = [self.rows[row] for row in rows[number].tolist()]
        return Witness(batch.inputs[number], tuple(tokens for tokens, _ in sources),
                       tuple(place for _, place in sources))  # fmt: skip

    def holds(self, edge: Edge, witness: Witness) -> bool:
        """Whether the replacements of a witness change the answer of its input."""
        with torch.no_grad():
            batch = self._batch([witness.tokens])
            sinks = int(self.model.uses_sink)
            elsewhere = {name: array.clone() for name, array in batch.written.items()}
            for here, (tokens, place) in enumerate(
                zip(witness.others, witness.places, strict=True)
            ):
                other = self._batch([tokens]).written
                for name, array in other.items():
                    elsewhere[name][0, sinks + here] = array[0, sinks + place]
            begin = {name: batch.written[name] for name in (TOKENS, POSITIONS)}
            _, logits = self.patchable.run(begin, Elsewhere.along([edge], elsewhere))
        return bool((self.patchable.answers(logits) != batch.answers).any())

    def share_changed(self, edges: Sequence[Edge], rounds: int = RESAMPLED) -> float:
        """The share of inputs whose answer changes when edges are replaced."""
        wrong = tried = 0
        for _ in range(rounds):
            for batch in self.batches:
                changed = self.changed(batch, edges, self.drawn_rows(batch))
                wrong, tried = wrong + int(changed.sum()), tried + len(changed)
        return wrong / max(tried, 1)


def find_circuit(
    laboratory: Laboratory, allowed: Iterable[Edge], everything: Sequence[Edge]
) -> Circuit:
    """The edges of a model that matter, among those that its weights allow."""
    candidates = list(allowed)
    witnesses: dict[Edge, Witness | None] = {}
    for edge in candidates:
        witness = laboratory.witness(edge)
        if witness is not None:
            witnesses[edge] = witness
    outside = [edge for edge in everything if edge not in witnesses]
    doubtful = [edge for edge in candidates if edge not in witnesses]
    if doubtful and laboratory.share_changed(outside):  # some are needed together
        dropped = [edge for edge in outside if edge not in doubtful]
        for edge in doubtful:
            if laboratory.share_changed([*dropped, edge]):
                witnesses[edge] = None
            else:
                dropped.append(edge)
    return Circuit({edge: witnesses[edge] for edge in candidates if edge in witnesses})


def usable_inputs(model: Transformer, count: int, seed: int) -> list[Input]:
    """Random inputs on which the program has a value."""
    nodes = list(model.outputs.values())
    inputs = random_inputs(model.settings, Random(f"test bed {seed}"), count)
    outcomes = zip(inputs, answers(nodes, inputs), strict=True)
    return [tokens for tokens, outcome in outcomes if isinstance(outcome, list)]


def telling_inputs(model: Transformer, inputs: list[Input], count: int = INPUTS) -> list[Input]:
    """Some of the inputs: half of them at random, half for the rarest answers."""
    said = {tokens: row for same in _batches(inputs) for tokens, row in
            zip(same, _answers(model, same), strict=True)}  # fmt: skip
    seen = Counter(answer for row in said.values() for answer in row)
    rest = sorted(
        inputs[count // 2 :], key=lambda tokens: min(seen[answer] for answer in said[tokens])
    )
    return inputs[: count // 2] + rest[: count - count // 2]


def different_answers(model: Transformer, other: Transformer, inputs: list[Input]) -> int:
    """On how many inputs two models answer differently, in float32."""
    count = 0
    for same in _batches(inputs):
        ids = np.stack([model.token_ids(list(tokens)) for tokens in same])
        wanted, answered = model.answers(ids), other.answers(ids)
        count += sum(any(wanted[name][row] != answered[name][row] for name in wanted)
                     for row in range(len(ids)))  # fmt: skip
    return count


def _answers(model: Transformer, inputs: list[Input]) -> list[set[object]]:
    """The different answers of each input, each with its output; inputs of one length."""
    rows_of = model.answers(np.stack([model.token_ids(list(tokens)) for tokens in inputs]))
    return [{(name, atom) for name, rows in rows_of.items() for atom in rows[place]}
            for place in range(len(inputs))]  # fmt: skip


def _batches(inputs: list[Input]) -> Iterator[list[Input]]:
    return by_length(inputs, MOST_IN_A_BATCH)
