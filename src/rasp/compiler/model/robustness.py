"""What is proved of a model of the robust style beside its answers, and what it has to keep to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rasp.certificate import at_most
from rasp.compiler.model.forms import write

RADII = (1e-7, 1e-6, 1e-5, 5e-5, 2e-4, 5e-4, 0.001, 0.002)
"""Noise radii to try, of the stream's root mean square."""
MOST_WEIGHT, MOST_GRADIENT = 1000.0, 10_000.0


@dataclass(frozen=True)
class Robustness:
    """Weights, gradients, noise and precisions of a model of the robust style.

    >>> import rasp
    >>> same = rasp.select(rasp.tokens, rasp.tokens, "==")
    >>> model = rasp.compile(rasp.selector_width(same), alphabet="ab", max_length=5, style="robust")
    >>> robust = model.certificate.robust
    >>> robust.largest_weight < 100, robust.largest_gradient < 100, robust.noise_radius >= 1e-4
    (True, True, True)
    >>> "TF32" in robust.precisions
    True
    """

    largest_weight: float
    largest_gradient: float
    """Of any score of a read-out by the embedded input, on any input: its length, at most."""
    noise_radius: float
    """After the embedding and after every block, each number of the residual stream may move by so
    much of the stream's root mean square there, and every answer stays the same."""
    precisions: tuple[str, ...] = ("float32",)
    """In which arithmetic every answer is proved right: "float32", "TF32", "bfloat16"."""

    @property
    def too_steep(self) -> str:
        """Why a model is not robust; nothing where it is."""
        for what, size, limit in (
            ("a weight would be", self.largest_weight, MOST_WEIGHT),
            ("a gradient could be", self.largest_gradient, MOST_GRADIENT),
        ):
            if size > limit:
                return f"{what} {size:.0f}, and the limit is {limit:.0f}"
        if self.noise_radius:
            return ""
        return f"noise of {RADII[0]:g} of the stream's RMS may be too much"

    def __str__(self) -> str:
        others = " and ".join(self.precisions[1:])
        return (
            f"no weight above {at_most(self.largest_weight, 3)}, no gradient above "
            f"{at_most(self.largest_gradient, 3)}; no answer is changed by noise of up to "
            f"{self.noise_radius:g} of the stream's RMS" + (f", nor in {others}" if others else "")
        )

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return dict(write(Robustness, self, {}))


def largest_radius(holds: Callable[[float], bool]) -> float:
    """The largest of a few radii for which something holds, or 0; the smaller, the easier.

    >>> largest_radius(lambda radius: radius < 0.0007)
    0.0005
    """
    return (0.0, *RADII)[bisect_left(RADII, True, key=lambda radius: not holds(radius))]
