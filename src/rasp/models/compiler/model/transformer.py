"""Weights in, a model out that is called like the program it was compiled from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rasp.base.atoms import Atom, read_input, to_python
from rasp.base.errors import RaspValueError
from rasp.base.terminal_text import visibly
from rasp.base.tracebacks import doors
from rasp.language.graph import Node
from rasp.language.graph.portable import graph_to_json
from rasp.models.certificate import Array, Claims, Readout, Weights
from rasp.models.compiler.model.describe import Description, Words, describe
from rasp.models.compiler.model.forward import QUIET, attend, chosen, feed_forward
from rasp.models.compiler.model.tensors import reading_model
from rasp.models.compiler.model.vocabulary_inputs import places_of
from rasp.models.compiler.settings import Settings

if TYPE_CHECKING:
    from rasp.models.compiler.model.certificate import Certificate

Note: TypeAlias = Callable[[str, Array], object]
"""What is done with an array of the forward pass, by its name."""


@visibly
@dataclass(frozen=True, eq=False)
class Trace:
    """Everything that happened on one input: the residual stream and the attention, by name."""

    residual: dict[str, Array]
    """`embedding`, `layer1.attention`, `layer1.feed_forward`, …: (position, dimension)."""
    attention: dict[str, Array]
    """`layer1.head1`, …: (query, key); the sink, where there is one, is first."""
    s_ops: dict[str, list[Any]]
    """Each numeric s-op that the residual stream holds, and the outputs as their atoms."""

    def __repr__(self) -> str:
        heads, s_ops = ", ".join(self.attention) or "none", ", ".join(self.s_ops) or "none"
        stream = ", ".join(self.residual)
        return f"<Trace: residual {stream}; attention {heads}; s_ops {s_ops}>"


@visibly
@doors
@dataclass(eq=False)
class Transformer:
    """A compiled program: call it with an input to get the program's answer.

    >>> import rasp
    >>> model = rasp.compile(rasp.length - 1, vocabulary="ab", max_length=5)
    >>> model("aba"), model.layers, model.heads_per_layer
    ([2, 2, 2], 1, (1,))
    """

    settings: Settings
    weights: Weights
    readouts: tuple[Readout, ...]
    claims: Claims
    """What the compiler says about the weights, for the checker."""
    words: Words
    """The program, in its author's words."""
    proof: Certificate | None = None
    """Its certificate; None while it is made, and where its weights were changed afterwards."""
    why_compact: str = field(default="", compare=False)
    """Why it is not robust, where that was tried."""

    @property
    def certificate(self) -> Certificate:
        """What the checker proved about it.

        >>> import rasp
        >>> rasp.compile(rasp.indices, alphabet="ab", max_length=5).certificate.statement
        'exact for all inputs up to length 5 over this vocabulary, in float32'
        """
        if self.proof is None:
            raise RaspValueError(
                "this model has no certificate: its weights were changed after it was certified",
                hint="the model that it was made from has one",
            )
        return self.proof

    @property
    def vocabulary(self) -> list[Any]:
        """The tokens that an input may have.

        >>> import rasp
        >>> rasp.compile(rasp.indices, alphabet="0..2", max_length=5).vocabulary
        [0, 1, 2]
        """
        return [to_python(token) for token in self.settings.vocabulary]

    @property
    def outputs(self) -> Mapping[str, Node]:
        """The s-ops that it computes, by name."""
        return self.words.outputs

    @property
    def graph(self) -> dict[str, Any]:
        """The program, as plain data."""
        return graph_to_json(self.words.outputs, self.words.names, self.words.lines)

    @cached_property
    @reading_model("a claim")  # what was read from a file may say anything
    def description(self) -> Description:
        """What every dimension, head and hidden unit is for."""
        vocabulary = self.settings.vocabulary
        return describe(self.weights, self.claims, self.words, vocabulary, self.readouts)

    @property
    def uses_sink(self) -> bool:
        """Whether a hidden token, the last one of the table, is put before the input."""
        return len(self.weights.tokens) > len(self.settings.vocabulary)

    @property
    def layers(self) -> int:
        return len(self.weights.heads) - self.extra_feed_forwards

    @property
    def extra_feed_forwards(self) -> int:
        """How many of the blocks are feed-forwards without heads, beside the layers."""
        return self.settings.extra_feed_forwards

    @property
    def heads_per_layer(self) -> tuple[int, ...]:
        """How many heads each block has: 0 in a feed-forward block."""
        return tuple(len(heads) for heads in self.weights.heads)

    @property
    def d_model(self) -> int:
        return int(self.weights.tokens.shape[1])

    @property
    def hidden_per_layer(self) -> tuple[int, ...]:
        """Hidden units of each feed-forward, from layer 1."""
        return tuple(int(block.bias.size) for block in self.weights.feed_forwards[1:])

    @property
    def input_feed_forward(self) -> int:
        """Hidden units before the first attention: 0 where no such feed-forward is needed."""
        return int(self.weights.feed_forwards[0].bias.size)

    @property
    def parameter_count(self) -> int:
        """Every number that is stored: the arrays, and the codes that a read-out looks up."""
        tables = sum(len(readout.codes) for readout in self.readouts)
        return self.weights.parameter_count + tables

    def __call__(self, given: object) -> Any:
        """Answer as the program does: a list of atoms, or a dict of them for several outputs."""
        ids = self.token_ids(given)
        answers = self.answers(ids[None])
        plain = {name: [to_python(atom) for atom in rows[0]] for name, rows in answers.items()}
        return next(iter(plain.values())) if len(plain) == 1 else plain

    def token_ids(self, given: object) -> Array:
        """Check an input and return its tokens' places in the vocabulary.

        >>> import rasp
        >>> rasp.compile(rasp.tokens, vocabulary="ab", max_length=5).token_ids("aba").tolist()
        [0, 1, 0]
        """
        return np.array(places_of(self.settings, read_input(given)))

    @np.errstate(**QUIET)
    def answers(self, ids: Array, dtype: type = np.float32) -> dict[str, list[list[Atom]]]:
        """Run a batch of inputs of one length; (batch, position) token ids.

        >>> import rasp
        >>> model = rasp.compile({"last": rasp.length - 1}, vocabulary="ab", max_length=5)
        >>> model.answers(np.array([[0, 1], [1, 1]]))
        {'last': [[1, 1], [1, 1]]}
        """
        return self._read_out(self.run(ids, dtype)[:, self.uses_sink :], dtype)

    def _read_out(self, residual: Array, dtype: type) -> dict[str, list[list[Atom]]]:
        """(batch, position, model) as the atoms of each output."""
        answers = {}
        for readout, weights in zip(self.readouts, self.weights.readouts, strict=True):
            scores = residual @ weights.weight.T.astype(dtype) + weights.bias.astype(dtype)
            answers[readout.name] = [[readout.atoms[place] for place in row]
                                     for row in chosen(readout, scores).tolist()]  # fmt: skip
        return answers

    def run(
        self, ids: Array, dtype: type = np.float32, note: Note = lambda name, array: None
    ) -> Array:
        """The residual stream after the last layer: (batch, [sink +] position, model).

        `note` gets the stream after each block, and what each head attends to, by name.

        >>> import rasp
        >>> model = rasp.compile(rasp.tokens, vocabulary="ab", max_length=5)
        >>> model.run(np.array([[0, 1, 0]])).shape == (1, 3, model.d_model)
        True
        """
        x = self.embedded(ids, dtype)
        allowed = np.tril(np.ones((x.shape[1], x.shape[1]), bool)) if self.settings.causal else None
        note("embedding", x)
        for layer, block in enumerate(self.weights.feed_forwards):
            if layer:
                added = np.zeros_like(x)
                for number, head in enumerate(self.weights.heads[layer - 1], 1):
                    attention, out = attend(x, head, allowed, dtype)
                    note(f"layer{layer}.head{number}", attention)
                    added = added + out
                x = x + added
                note(f"layer{layer}.attention", x)
            if block.bias.size:
                x = x + feed_forward(x, block, dtype)
                note(f"layer{layer}.feed_forward", x)
        return x

    def embedded(self, ids: Array, dtype: type) -> Array:
        """The residual stream before the first layer, which `run` begins with.

        >>> import rasp
        >>> model = rasp.compile(rasp.tokens, vocabulary="ab", max_length=5)
        >>> model.embedded(np.array([[0, 1, 0]]), np.float32).shape == (1, 3, model.d_model)
        True
        """
        tokens: Array = self.weights.tokens.astype(dtype)
        positions: Array = self.weights.positions.astype(dtype)
        x = tokens[ids] + positions[None, : ids.shape[1]]
        if self.uses_sink:
            sink = np.broadcast_to(tokens[-1], (len(ids), 1, self.d_model))
            x = np.concatenate([sink, x], axis=1)
        return np.asarray(x)

    @property
    def circuit(self) -> dict[str, Any]:
        """Heads, feed-forwards and outputs, and the dimensions through which each reads another."""
        return self.description.circuit

    def trace(self, given: object) -> Trace:
        """Run one input and keep the residual stream, the attention and the s-ops by name.

        >>> import rasp
        >>> first = rasp.aggregate(rasp.select(rasp.indices, 0, "=="), rasp.tokens)
        >>> model = rasp.compile({"first": first}, vocabulary="ab", max_length=5, sink=False)
        >>> trace = model.trace("ba")
        >>> trace.attention["layer1.head1"].round(2).tolist(), trace.s_ops["first"]
        ([[1.0, 0.0], [1.0, 0.0]], ['b', 'b'])
        """
        noted: dict[str, Array] = {}
        self.run(self.token_ids(given)[None], note=noted.__setitem__)
        attention = {name: array[0] for name, array in noted.items() if ".head" in name}
        residual = {name: array[0] for name, array in noted.items() if name not in attention}
        return Trace(residual, attention, self._s_ops(residual))

    def _s_ops(self, residual: dict[str, Array]) -> dict[str, list[Any]]:
        s_ops: dict[str, list[Any]] = {}
        for reader, words in zip(self.claims.readers, self.description.readers, strict=True):
            held = residual[reader.after][self.uses_sink :, list(reader.weights)]
            number = held @ list(reader.weights.values()) + reader.constant
            s_ops[words["s_op"]] = number.tolist()
        last = list(residual.values())[-1][None, self.uses_sink :]
        for name, rows in self._read_out(last, np.float32).items():
            s_ops[name] = [to_python(atom) for atom in rows[0]]
        return s_ops

    def save(self, folder: str | Path) -> None:
        """Write the weights and everything known about them into a folder.

        >>> import os, rasp, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rasp.compile(rasp.length - 1, vocabulary="ab", max_length=5).save(folder)
        ...     sorted(os.listdir(folder))
        ['model.json', 'weights.safetensors']
        """
        from rasp.models.compiler.model.store import save

        save(self, folder)

    def __repr__(self) -> str:
        before = " (+FF0)" if self.input_feed_forward else ""
        extra = self.extra_feed_forwards
        if extra:
            before += f", +{_counted(extra, 'feed-forward block')}"
        counts = [count for count in self.heads_per_layer if count or not extra]
        heads = " + ".join(map(str, counts)) or "0"
        return (
            f"<Transformer: {_counted(self.layers, 'layer')}{before}, "
            f"{heads} {'head' if heads == '1' else 'heads'}, d_model {self.d_model}, "
            f"{self.parameter_count} parameters{self._trust}>"
        )

    @property
    def _trust(self) -> str:
        """What its name says where nothing is proved of it."""
        known = "" if self.proof is None else self.proof.trust
        return f", {known}, not proved" if known in ("run", "tested") else ""


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
