"""A transformer as a table: embeddings, then steps on the residual stream, down to the logits.

`architecture_rows` makes a network of names and arrays. `forward` walks its steps over an
arithmetic, which says what numbers are: float32 (`single_precision`), or balls that hold the real
number (`enclosures`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from rasp.base.errors import RaspValueError
from rasp.models.proving.digits import Array
from rasp.models.proving.prefixes import Prefixes

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "tanh")
POOLS = ("sum", "mean")


@dataclass(frozen=True, eq=False)
class Affine:
    """x ↦ weight · x + bias; `low` is what the float64 `bias` leaves out of the real bias."""

    weight: Array  # (out, in)
    bias: Array
    low: Array | None = None


@dataclass(frozen=True, eq=False)
class AttentionHead:
    """One attention head; scores are query · key / √`squared`."""

    query: Affine
    key: Affine
    value: Affine
    out: Array  # (model, inner)
    squared: float = 1.0


@dataclass(frozen=True, eq=False)
class Attend:
    """Softmax attention; which positions a query sees is up to the network."""

    heads: tuple[AttentionHead, ...]
    bias: Array


@dataclass(frozen=True, eq=False)
class Normalise:
    """LayerNorm: (x − mean) / √(variance + epsilon), times gain, plus shift."""

    gain: Array
    shift: Array
    epsilon: float
    is_folded: bool = False
    """Whether gain and shift are in the next step's weights."""


@dataclass(frozen=True)
class Activate:
    """A function of each number: one of `ACTIVATIONS`."""

    kind: str


@dataclass(frozen=True)
class PoolPositions:
    """The positions' sum or mean: from here on there is one vector for each input."""

    kind: str


@dataclass(frozen=True)
class Residual:
    """x ↦ x + what the steps make of x."""

    steps: tuple[Step, ...]


Step: TypeAlias = Affine | Attend | Normalise | Activate | PoolPositions | Residual


@dataclass(frozen=True, eq=False)
class Network:
    """A model as its parts: everything that a forward pass needs to know."""

    tokens: Array  # (ids, model)
    positions: Array | None  # (places, model)
    steps: tuple[Step, ...]
    causal: bool
    shift: Array | None = None
    """What is added at every position, besides."""

    @property
    def longest(self) -> int | None:
        """The most positions of an input."""
        return None if self.positions is None else len(self.positions)

    @property
    def logits(self) -> int:
        last = self.steps[-1]
        assert isinstance(last, Affine)
        return len(last.bias)

    @property
    def widest(self) -> int:
        """The most numbers that a position has at once."""
        parts = [len(step.bias) for step in every_step(self.steps) if isinstance(step, Affine)]
        return max(int(self.tokens.shape[1]), *parts)


class Arithmetic(Protocol):
    """What numbers are, and how each step computes with them."""

    def embed(self, network: Network, layout: Prefixes) -> Any: ...
    def affine(self, x: Any, step: Affine) -> Any: ...
    def attend(self, x: Any, step: Attend, layout: Prefixes) -> Any: ...
    def normalise(self, x: Any, step: Normalise) -> Any: ...
    def activate(self, x: Any, step: Activate) -> Any: ...
    def pool(self, x: Any, step: PoolPositions, layout: Prefixes) -> Any: ...
    def add(self, x: Any, y: Any) -> Any: ...


def forward(network: Network, layout: Prefixes, arithmetic: Arithmetic) -> Any:
    """The logits of every node of a layout, or of every input where the network pools."""
    return _walk(network.steps, arithmetic.embed(network, layout), layout, arithmetic)


def _walk(steps: Sequence[Step], x: Any, layout: Prefixes, arithmetic: Arithmetic) -> Any:
    for step in steps:
        match step:
            case Affine():
                x = arithmetic.affine(x, step)
            case Attend():
                x = arithmetic.attend(x, step, layout)
            case Normalise():
                x = arithmetic.normalise(x, step)
            case Activate():
                x = arithmetic.activate(x, step)
            case PoolPositions():
                x = arithmetic.pool(x, step, layout)
            case Residual(inner):
                x = arithmetic.add(x, _walk(inner, x, layout, arithmetic))
    return x


def misfit(name: str, found: int, expected: int) -> RaspValueError:
    """What to say where arrays do not fit one another."""
    return RaspValueError(
        f"the weights `{name}` are for {found} numbers where {expected} are expected",
        hint="do the arrays belong to one model?",
    )


def check_widths(network: Network) -> Network:
    """Refuse a network whose steps do not fit one another."""
    _width_after(network.steps, network.tokens.shape[1])
    for name, table in (("positions", network.positions), ("segment", network.shift)):
        if table is not None and table.shape[-1] != network.tokens.shape[1]:
            raise misfit(f"of {name}", table.shape[-1], network.tokens.shape[1])
    return network


def _width_after(steps: Sequence[Step], width: int) -> int:
    for step in steps:
        match step:
            case Affine(weight):
                if weight.shape[1] != width:
                    raise misfit("of a linear map", weight.shape[1], width)
                width = len(weight)
            case Attend(heads):
                for head in heads:
                    for part in (head.query, head.key, head.value):
                        _width_after([part], width)
                    if head.out.shape != (width, len(head.value.bias)):
                        raise misfit("of a head's output", len(head.out), width)
            case Normalise(gain):
                if len(gain) != width:
                    raise misfit("of a LayerNorm", len(gain), width)
            case Residual(inner):
                if _width_after(inner, width) != width:
                    raise misfit("of a block", _width_after(inner, width), width)
    return width


def every_step(steps: Sequence[Step]) -> list[Step]:
    """All steps, those inside others too."""
    listed: list[Step] = []
    for step in steps:
        listed += every_step(step.steps) if isinstance(step, Residual) else [step]
    return listed
