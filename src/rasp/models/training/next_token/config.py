"""One decoder's training as data: everything that decides its result, frozen, with name and id."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from rasp.base.errors import RaspValueError

RECIPE = 1
"""Counts changes of the trainer that change results."""


@dataclass(frozen=True)
class DecoderRun:
    """One run, all of it: what is learnt, by what, and how.

    >>> DecoderRun("parity", seed=1).name
    'parity/3x4/learned/seed1'
    """

    task: str
    seed: int = 0
    positions: str = "learned"
    """`learned` (with random offsets in training) or `none`."""
    layers: int = 3
    heads: int = 4
    width: int = 128
    steps: int = 6_000
    batch: int = 64
    rate: float = 1e-3
    train: int = 20_000
    """Different sequences to learn from."""
    test: int = 1_000
    """Inputs of each range of lengths to be tested on."""

    def __post_init__(self) -> None:
        if self.positions not in ("learned", "none"):
            raise RaspValueError(
                f"positions are `learned` or `none`, not `{self.positions}`",
                hint="learned ones begin at a random offset",
            )

    @property
    def name(self) -> str:
        return f"{self.task}/{self.layers}x{self.heads}/{self.positions}/seed{self.seed}"

    @property
    def id(self) -> str:
        """A hash of everything that decides the result."""
        text = json.dumps(asdict(self) | {"recipe": RECIPE}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def stack_key(self) -> tuple[Any, ...]:
        """Runs with equal keys train together."""
        return (self.positions, self.layers, self.heads, self.width, self.steps, self.batch,
                self.train, self.test)  # fmt: skip
