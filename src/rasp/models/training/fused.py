"""The model of `network` computed for speed: matrix products, and a kernel for all between them.

Forward and backward are written out, so that every gradient lands in its place in the stack's rows
and nothing is computed twice. The numbers are those of `network`, to rounding (TF32 on a GPU).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from rasp.models.training import kernels
from rasp.models.training.batch_shapes import SlotLayout
from rasp.models.training.network import NORM_EPSILON
from rasp.models.training.parameters import Parameters, Shape, sinusoids

TILES = (32, 64, 128)
WARPS = {32: 4, 64: 4, 128: 8}
CHUNKS = {32: 64, 64: 64, 128: 64}
"""Columns of a head that a program takes at a time."""
ROWS = 8
STRETCH = 32


@dataclass
class Saved:
    """What the backward pass of one layer needs of the forward pass."""

    stream: torch.Tensor
    attended: torch.Tensor
    mixed: torch.Tensor
    first_total: torch.Tensor
    first_moments: torch.Tensor
    middle: torch.Tensor
    hidden: torch.Tensor
    second_total: torch.Tensor
    second_moments: torch.Tensor
    cells: torch.Tensor | None


@dataclass
class FusedModel:
    """A stack of models on one layout; `counts` are the classes each model has. (models,)"""

    shape: Shape
    layout: SlotLayout
    parameters: Parameters
    counts: torch.Tensor
    trains: bool = True
    """Whether a backward pass follows; attention is kept for it."""
    saved: list[Saved] = field(default_factory=list)

    def __post_init__(self) -> None:
        device = self.counts.device
        self.models, self.size = len(self.counts), self.layout.size
        self.starts = torch.tensor(self.layout.starts, dtype=torch.int32, device=device)
        self.slots = torch.tensor(self.layout.slots, dtype=torch.int32, device=device)
        self.cell_starts = torch.tensor(self.layout.cell_starts, dtype=torch.int32, device=device)
        self.position_of = torch.tensor(self.layout.position_of, dtype=torch.int32, device=device)
        self.positions = sinusoids(max(self.layout.slots), self.shape.width).to(device)
        self.tiles = _tiles(self.layout)
        on_gpu = device.type == "cuda"
        self.streams = [new_stream() for _ in self.tiles[1:]] if on_gpu else []

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return logits, their bias left out: `loss` adds it. (models, size, classes)"""
        shape, own = self.shape, self.parameters
        stream = self._new(shape.width)
        kernels.embed[self._by_rows()](
            tokens, own["embedding"], self.positions, self.position_of, stream,
            self.size, own["embedding"].stride(0), WIDTH=shape.width, ROWS=ROWS,
        )  # fmt: skip
        self.saved = []
        for layer in range(shape.layers):
            self.saved.append(self._layer(layer, stream, lengths))
            stream = self._norm(self.saved[-1], f"{layer}.narrow_norm", first=False)
        self.last = stream
        return torch.bmm(stream, own["classify"])

    def loss(
        self, logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Turn logits into their gradient, in place; return losses and hits. (models, size) each"""
        loss, hits = (torch.empty(self.models, self.size, device=logits.device) for _ in range(2))
        bias = self.parameters["classify_bias"]
        kernels.classify[self._by_rows()](
            logits, bias, targets, weights, self.counts, loss, hits,
            self.size, self.shape.classes, bias.stride(0),
            COLUMNS=max(16, _power_of_two(self.shape.classes)), ROWS=ROWS,
        )  # fmt: skip
        return loss, hits

    def backward(
        self,
        d_logits: torch.Tensor,
        tokens: torch.Tensor,
        lengths: torch.Tensor,
        gradient: Parameters,
        d_cells: dict[int, torch.Tensor] | None = None,
    ) -> None:
        """Write the gradient of every parameter; `d_cells` is that of attention, by layer."""
        own = self.parameters
        torch.sum(d_logits, 1, out=gradient["classify_bias"])
        torch.bmm(self.last.mT, d_logits, out=gradient["classify"])
        d_stream = torch.bmm(d_logits, own["classify"].mT)
        for layer in reversed(range(self.shape.layers)):
            cells = (d_cells or {}).get(layer)
            d_stream = self._layer_backward(layer, d_stream, lengths, gradient, cells)
        every_token = torch.arange(self.shape.tokens, dtype=torch.int32, device=tokens.device)
        one_hot = (tokens[..., None] == every_token).float()
        torch.bmm(one_hot.mT, d_stream, out=gradient["embedding"])

    def _layer(self, layer: int, stream: torch.Tensor, lengths: torch.Tensor) -> Saved:
        own, shape = self.parameters, self.shape
        attended = torch.bmm(stream, own[f"{layer}.attend"])
        mixed = self._new(shape.width)
        cells = None
        if self.trains:
            cells = stream.new_empty(self.models, shape.heads, self.layout.cells)
        bias = own[f"{layer}.attend_bias"]
        self._attend(
            kernels.attend_forward, (attended, bias, mixed, mixed if cells is None else cells),
            lengths, bias.stride(0), KEEP=cells is not None,
        )  # fmt: skip
        first_total = torch.bmm(mixed, own[f"{layer}.join"])
        saved = Saved(
            stream, attended, mixed, first_total, self._new(2), stream,
            stream, stream, self._new(2), cells,
        )  # fmt: skip
        saved.middle = self._norm(saved, f"{layer}.join_norm", first=True)
        saved.hidden = torch.bmm(saved.middle, own[f"{layer}.widen"])
        widen_bias = own[f"{layer}.widen_bias"]
        kernels.relu_forward[self._by_rows()](
            saved.hidden, widen_bias, self.size, widen_bias.stride(0),
            WIDTH=shape.feed_forward, ROWS=ROWS,
        )  # fmt: skip
        saved.second_total = torch.bmm(saved.hidden, own[f"{layer}.narrow"])
        return saved

    def _norm(self, saved: Saved, name: str, first: bool) -> torch.Tensor:
        stream, total, moments = (
            (saved.stream, saved.first_total, saved.first_moments)
            if first
            else (saved.middle, saved.second_total, saved.second_moments)
        )
        norm, output = self.parameters[name], self._new(self.shape.width)
        kernels.add_norm_forward[self._by_rows()](
            stream, total, norm, output, moments, self.size, norm.stride(0), NORM_EPSILON,
            WIDTH=self.shape.width, ROWS=ROWS,
        )  # fmt: skip
        return output

    def _layer_backward(
        self,
        layer: int,
        d_output: torch.Tensor,
        lengths: torch.Tensor,
        gradient: Parameters,
        d_cells: torch.Tensor | None,
    ) -> torch.Tensor:
        own, saved = self.parameters, self.saved[layer]
        at = f"{layer}."
        total, moments = saved.second_total, saved.second_moments
        d_total = self._norm_backward(d_output, total, moments, at + "narrow_norm", gradient)
        torch.bmm(saved.hidden.mT, d_total, out=gradient[at + "narrow"])
        d_hidden = torch.bmm(d_total, own[at + "narrow"].mT)
        self._relu_backward(saved.hidden, d_hidden, gradient[at + "widen_bias"])
        torch.bmm(saved.middle.mT, d_hidden, out=gradient[at + "widen"])
        d_middle = torch.baddbmm(d_total, d_hidden, own[at + "widen"].mT, out=d_total)
        total, moments = saved.first_total, saved.first_moments
        d_total = self._norm_backward(d_middle, total, moments, at + "join_norm", gradient)
        torch.bmm(saved.mixed.mT, d_total, out=gradient[at + "join"])
        d_mixed = torch.bmm(d_total, own[at + "join"].mT)
        d_attended = self._attend_backward(layer, d_mixed, lengths, gradient, d_cells)
        torch.bmm(saved.stream.mT, d_attended, out=gradient[at + "attend"])
        return torch.baddbmm(d_total, d_attended, own[at + "attend"].mT, out=d_total)

    def _attend_backward(
        self,
        layer: int,
        d_mixed: torch.Tensor,
        lengths: torch.Tensor,
        gradient: Parameters,
        d_cells: torch.Tensor | None,
    ) -> torch.Tensor:
        saved, bias = self.saved[layer], self.parameters[f"{layer}.attend_bias"]
        assert saved.cells is not None
        d_attended = torch.empty_like(saved.attended)
        d_bias = d_mixed.new_empty(self.models, self.layout.batch, 3 * self.shape.width)
        given = d_mixed if d_cells is None else d_cells
        self._attend(
            kernels.attend_backward,
            (saved.attended, bias, saved.cells, d_mixed, given, d_attended, d_bias),
            lengths, bias.stride(0), SUPERVISED=d_cells is not None,
        )  # fmt: skip
        torch.sum(d_bias, 1, out=gradient[f"{layer}.attend_bias"])
        return d_attended

    def _attend(
        self, kernel: Any, tensors: tuple[torch.Tensor, ...], lengths: torch.Tensor,
        bias_stride: int, **option: bool,
    ) -> None:  # fmt: skip
        """Run an attention kernel on each stretch of slots that a size of tile fits."""
        head = self.shape.width // self.shape.heads
        for number, (tile, first, count) in enumerate(self.tiles):
            with _beside(self.streams[number - 1]) if number and self.streams else nullcontext():
                kernel[(self.models * count, self.shape.heads)](
                    *tensors, lengths, self.starts, self.slots, self.cell_starts,
                    first, count, self.layout.batch, self.size, self.layout.cells,
                    bias_stride, head**-0.5,
                    HEADS=self.shape.heads, HEAD=head, TILE=tile, CHUNK=min(head, CHUNKS[tile]),
                    num_warps=WARPS[tile], num_stages=1, **option,
                )  # fmt: skip
        for stream in self.streams:
            torch.cuda.current_stream().wait_stream(stream)

    def _norm_backward(
        self, d_output: torch.Tensor, total: torch.Tensor, moments: torch.Tensor,
        name: str, gradient: Parameters,
    ) -> torch.Tensor:  # fmt: skip
        norm, d_total = self.parameters[name], torch.empty_like(total)
        stretches = -(-self.size // STRETCH)
        sums = total.new_empty(self.models, stretches, 3, self.shape.width)
        kernels.add_norm_backward[(self.models, stretches)](
            d_output, total, moments, norm, d_total, sums, self.size, norm.stride(0),
            WIDTH=self.shape.width, ROWS=ROWS, STRETCH=STRETCH,
        )  # fmt: skip
        torch.sum(sums, 1, out=gradient[name])
        return d_total

    def _relu_backward(
        self, hidden: torch.Tensor, d_hidden: torch.Tensor, d_bias: torch.Tensor
    ) -> None:
        stretches = -(-self.size // STRETCH)
        sums = hidden.new_empty(self.models, stretches, self.shape.feed_forward)
        kernels.relu_backward[(self.models, stretches)](
            hidden, d_hidden, sums, self.size,
            WIDTH=self.shape.feed_forward, ROWS=ROWS, STRETCH=STRETCH,
        )  # fmt: skip
        torch.sum(sums, 1, out=d_bias)

    def _new(self, width: int) -> torch.Tensor:
        return torch.empty(self.models, self.size, width, device=self.counts.device)

    def _by_rows(self) -> tuple[int, int]:
        return (self.models, -(-self.size // ROWS))


def new_stream() -> torch.cuda.Stream:
    """Return a queue of work of its own on the GPU."""
    return torch.cuda.Stream()  # type: ignore[no-untyped-call,unused-ignore]


@contextmanager
def _beside(stream: torch.cuda.Stream) -> Iterator[None]:
    """Work in another stream, after all that was asked of this one."""
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        yield


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def _tiles(layout: SlotLayout) -> tuple[tuple[int, int, int], ...]:
    """Cut the slots into stretches by the smallest tile that holds them: tile, first, count."""
    fitting = [min(tile for tile in TILES if tile >= length) for length in layout.slots]
    return tuple(
        (tile, fitting.index(tile), fitting.count(tile))
        for tile in reversed(TILES)
        if tile in fitting
    )
