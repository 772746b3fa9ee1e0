"""What an analysis is asked about: a program, where its heads are, and how it may be planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rasp.compiler.analysis.model_layers import Deadlines
from rasp.compiler.refusals import Refusals
from rasp.compiler.settings import Settings
from rasp.graph import Aggregate, Node


@dataclass(frozen=True, eq=False)
class Task:
    """A program to be analysed; everything here is known before the first s-op is looked at."""

    settings: Settings
    refusals: Refusals
    outputs: frozenset[Node]
    """What the program puts out, and what is promised of its inputs."""
    users: Mapping[Node, Sequence[Node]]
    layer_of: Mapping[Aggregate, int]
    """The layer of the model whose heads compute each aggregate."""
    siblings: Mapping[Aggregate, Sequence[Aggregate]]
    """The aggregates that one head of the schedule computes: their selectors pick the same."""
    deadlines: Deadlines
    is_careful: bool = False
    """Whether a plan leaves more room for rounding than most programs need: the residual stream
    rounds what heads add (see `rounded_sums`), what a feed-forward would have to make for an output
    is read off its inputs, and of conditions on what several heads add, it is counted how many
    hold."""

    @property
    def works_stepwise(self) -> bool:
        """Whether s-ops are rather made of what earlier blocks made than of many combinations."""
        return self.deadlines.most > 0
