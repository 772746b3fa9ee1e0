"""What a plan of either style has: the heads and outputs of a model, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

from rasp.base.atoms import Atom
from rasp.language.graph import Node, SOp
from rasp.models.certificate.weights.readout import MOST_ATOMS
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.analysis.values import Values
from rasp.models.compiler.analysis.variables import HeadOutput, PlannedHead
from rasp.models.compiler.compile_refusals import Refusal, Refusals
from rasp.models.compiler.heads.head_analysis import HeadAnalysis
from rasp.models.compiler.settings import Settings

Output = TypeVar("Output")


class HeadReads(Protocol):
    """What a head reads; each style adds how."""

    @property
    def head(self) -> PlannedHead:
        """The head."""

    @property
    def basis(self) -> Sequence[Mapping[HeadOutput, Fraction]]:
        """Each value that it moves, as a weighted sum of its outputs."""


@dataclass(frozen=True, eq=False)
class OutputReads:
    """One output of the program; each style adds how it is read."""

    name: str
    node: SOp
    atoms: list[tuple[Fraction, Atom]]
    """Which atom each number means."""


@dataclass(frozen=True, eq=False)
class ModelPlan:
    """Everything the weights must do, as far as both styles say it alike."""

    settings: Settings
    analysis: HeadAnalysis
    heads: Sequence[Sequence[HeadReads]]
    """The heads of each layer, from layer 1."""
    outputs: Sequence[OutputReads]

    @property
    def uses_sink(self) -> bool:
        """Whether a hidden token is put before the input."""
        heads = (plan.head for layer in self.heads for plan in layer)
        return self.settings.sink and any(head.needs_sink for head in heads)


def values_of_output(values: ValueAnalysis, node: SOp) -> Values:
    """What an output holds; refused where that is nothing, or more than a read-out tells apart."""
    held = values.of(node)
    if len(held.atoms) > MOST_ATOMS:
        raise Refusal(
            f"it can be one of {len(held.atoms)} atoms, and the limit of a read-out is "
            f"{MOST_ATOMS}", "use a smaller vocabulary or length",
        )  # fmt: skip
    if not held.atoms and not held.is_wide:
        why = next(iter(values.held.failures.values()), "it has no value")
        raise Refusal(f"the program fails on every input: {why}", "fix the program first")
    return held


def plan_outputs(
    outputs: Mapping[str, Node], refusals: Refusals, plan: Callable[[str, SOp], Output]
) -> list[Output]:
    """Plan each output, or raise every reason why some cannot be read."""
    planned = []
    for name, node in outputs.items():
        assert isinstance(node, SOp)
        with refusals.blaming(node):
            planned.append(plan(name, node))
    refusals.raise_all()
    return planned
