"""A model run edge by edge: a part reads what others wrote, here or somewhere else.

The residual stream is the sum of all that was written to it. So what a part reads along one edge
can be replaced without touching any other: its input is the stream, less what the source wrote
here, plus what the source wrote elsewhere. *Elsewhere* is any position of any input: each
position's activation is replaced by one that the same part has at a random position of another.
That changes tokens, indices and lengths alike. The sink keeps its own.

Numbers are float64: a circuit is about the weights, not about the order of adding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rasp.models.certificate import (
    Array,
    FeedForwardWeights,
    HeadWeights,
    Readout,
    ReadoutWeights,
    Weights,
)
from rasp.models.compiler.emitting.wiring import ROLES, feed_forward_name, head_name
from rasp.models.compiler.model.forward import chosen, logit_places
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.testbed.edges import OUTPUT, POSITIONS, TOKENS, Edge

WrittenByPart = dict[str, Tensor]
"""What each part wrote: (batch, [sink +] position, model)."""


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Edges to be patched, and what their sources wrote elsewhere."""

    edges: Mapping[tuple[str, str], Sequence[str]]
    """The sources, by target and role."""
    written: WrittenByPart

    @staticmethod
    def along(edges: Sequence[Edge], written: WrittenByPart) -> Elsewhere:
        sources: dict[tuple[str, str], list[str]] = {}
        for edge in edges:
            sources.setdefault((edge.target, edge.role), []).append(edge.source)
        return Elsewhere(sources, written)


class _Stream:
    """The residual stream, as parts read it and write to it."""

    def __init__(
        self,
        begin: WrittenByPart,
        elsewhere: Elsewhere | None,
        keep: dict[tuple[str, str], Tensor] | None,
    ) -> None:
        self.written = dict(begin)
        self._total = begin[TOKENS] + begin[POSITIONS]
        self._elsewhere, self._keep = elsewhere, keep

    def read(self, target: str, role: str) -> Tensor:
        read = self._total
        if self._elsewhere is not None:
            for source in self._elsewhere.edges.get((target, role), ()):
                read = read + (self._elsewhere.written[source] - self.written[source])
        if self._keep is not None:
            read = read.clone()
            if read.requires_grad:
                read.retain_grad()
            self._keep[target, role] = read
        return read

    def write(self, parts: WrittenByPart) -> None:
        """Add what parts have written that read the same stream."""
        for name, part in parts.items():
            self.written[name] = part
            self._total = self._total + part


class Patchable:
    """A model whose parts can be given something else to read."""

    def __init__(
        self, model: Transformer, dtype: torch.dtype = torch.float64, device: str = "cpu"
    ) -> None:
        self.model, self.device = model, device

        def tensor(array: Array) -> Tensor:
            return torch.tensor(np.asarray(array), dtype=dtype, device=device)

        weights = model.weights
        self.tokens, self.positions = tensor(weights.tokens), tensor(weights.positions)
        self.heads = [[{name: tensor(array) for name, array in vars(head).items()}
                       for head in layer] for layer in weights.heads]  # fmt: skip
        self.blocks = [{name: tensor(array) for name, array in vars(block).items()}
                       for block in weights.feed_forwards]  # fmt: skip
        self.readouts = [(tensor(readout.weight), tensor(readout.bias))
                         for readout in weights.readouts]  # fmt: skip

    def parameters(self) -> list[Tensor]:
        """Every tensor, in the order of use."""
        parts = [part for layer in self.heads for part in layer] + self.blocks
        return [self.tokens, self.positions, *(array for part in parts for array in part.values()),
                *(array for pair in self.readouts for array in pair)]  # fmt: skip

    def weights(self) -> Weights:
        """The tensors as arrays, as float32 holds them."""

        def array(tensor: Tensor) -> Array:
            return tensor.detach().cpu().numpy().astype(np.float64)

        return Weights(
            array(self.tokens), array(self.positions),
            [[HeadWeights(*map(array, head.values())) for head in layer] for layer in self.heads],
            [FeedForwardWeights(*map(array, block.values())) for block in self.blocks],
            [ReadoutWeights(array(weight), array(bias)) for weight, bias in self.readouts],
        ).cast()  # fmt: skip

    def reads(self, target: str, role: str) -> Tensor:
        """The weights through which a part reads the stream: (…, model)."""
        if target == OUTPUT:
            return torch.cat([weight for weight, _ in self.readouts])
        for layer, block in enumerate(self.blocks):
            if target == feed_forward_name(layer):
                return block["inside"]
            for number, head in enumerate(self.heads[layer - 1] if layer else [], 1):
                if target == head_name(layer, number):
                    return head[role]
        raise KeyError(target)

    def embedded(self, ids: Array) -> WrittenByPart:
        """What tokens and positions write, with the sink before them."""
        batch, length = ids.shape
        tokens = self.tokens[torch.as_tensor(ids, device=self.device)]
        positions = self.positions[:length].expand(batch, length, -1)
        if self.model.uses_sink:
            sink = self.tokens[-1].expand(batch, 1, -1)
            tokens = torch.cat([sink, tokens], 1)
            positions = torch.cat([torch.zeros_like(sink), positions], 1)
        return {TOKENS: tokens, POSITIONS: positions}

    def run(
        self,
        begin: WrittenByPart,
        elsewhere: Elsewhere | None = None,
        keep: dict[tuple[str, str], Tensor] | None = None,
    ) -> tuple[WrittenByPart, Tensor]:
        """What every part writes, and the logits; `keep` gets what each part reads.

        What is kept takes part in gradients, one tensor for each target and role.
        """
        stream = _Stream(begin, elsewhere, keep)
        for layer, block in enumerate(self.blocks):
            heads = self.heads[layer - 1] if layer else []
            named = {head_name(layer, number): head for number, head in enumerate(heads, 1)}
            stream.write({
                name: self._attend(head, *(stream.read(name, role) for role in ROLES))
                for name, head in named.items()
            })  # fmt: skip
            if len(block["bias"]):
                name = feed_forward_name(layer)
                hidden = torch.relu(stream.read(name, "input") @ block["inside"].T + block["bias"])
                stream.write({name: hidden @ block["out"].T})
        last = stream.read(OUTPUT, "input")
        logits = [last @ weight.T + bias for weight, bias in self.readouts]
        return stream.written, torch.cat(logits, -1)

    def _attend(self, head: dict[str, Tensor], query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        queries = query @ head["query"].T + head["query_bias"]
        keys = key @ head["key"].T + head["key_bias"]
        values = value @ head["value"].T + head["value_bias"]
        scores = queries @ keys.transpose(1, 2)
        if self.model.settings.causal:
            length = scores.shape[-1]
            later = torch.ones(length, length, dtype=torch.bool, device=self.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        return torch.softmax(scores, -1) @ values @ head["out"].T

    def outputs(self, logits: Tensor) -> Iterator[tuple[Readout, Tensor]]:
        """Each output with its logits: (batch, position, atom or 1), the sink left out."""
        for readout, there in logit_places(self.model.readouts):
            yield readout, logits[:, int(self.model.uses_sink) :, there]

    def answers(self, logits: Tensor) -> Array:
        """(batch, position, output): the place of each answer among its output's atoms."""
        columns = []
        for readout, scores in self.outputs(logits):
            columns.append(chosen(readout, scores.detach().cpu().numpy()))
        return np.stack(columns, axis=-1)

    def loss(self, logits: Tensor, answers: Array) -> Tensor:
        """How far logits are from answers, summed over inputs, positions and outputs."""
        loss = torch.zeros((), dtype=logits.dtype, device=self.device)
        for place, (readout, scores) in enumerate(self.outputs(logits)):
            wanted = torch.as_tensor(answers[..., place], device=self.device)
            if readout.scored:
                loss = loss - torch.log_softmax(scores, -1).gather(-1, wanted[..., None]).sum()
            else:
                codes = torch.tensor(readout.codes, dtype=logits.dtype, device=self.device)
                gap = torch.diff(codes).min() if len(codes) > 1 else 1.0
                loss = loss + (((scores[..., 0] - codes[wanted]) / gap) ** 2).sum()
        return loss


@dataclass(frozen=True, eq=False)
class Activations:
    """What every part wrote at many positions of many inputs: (row, model)."""

    written: WrittenByPart

    @staticmethod
    def of(model: Patchable, batches: Sequence[Array]) -> Activations:
        rows: dict[str, list[Tensor]] = {}
        for ids in batches:
            written, _ = model.run(model.embedded(ids))
            for name, array in written.items():
                rows.setdefault(name, []).append(array[:, model.model.uses_sink :].flatten(0, 1))
        return Activations({name: torch.cat(parts) for name, parts in rows.items()})

    @property
    def size(self) -> int:
        return len(self.written[TOKENS])

    def drawn(self, here: WrittenByPart, rows: Array) -> WrittenByPart:
        """For each position one of the rows; the sink keeps its own; (batch, position) rows."""
        places = torch.as_tensor(rows)
        sinks = here[TOKENS].shape[1] - rows.shape[1]
        return {name: torch.cat([here[name][:, :sinks], held[places]], 1)
                for name, held in self.written.items()}  # fmt: skip
