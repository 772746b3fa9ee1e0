"""What an analysis is asked about: a program, the layers of its model, and how it may be planned.

A feed-forward computes functions of few values at a time. Where an s-op depends on too many, what
it is made of is computed first, and it follows in the feed-forward of the next layer: for nothing,
where nobody reads it until then; else in a layer of its own, which has a feed-forward and no heads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from rasp.insight.schedule.schedule import Schedule
from rasp.language.graph import Aggregate, Node, in_order
from rasp.models.compiler.compile_refusals import Refusal, Refusals
from rasp.models.compiler.settings import Settings


class NeedsFeedForward(Exception):
    """An s-op that is read too early: one more feed-forward after some layer would help."""

    def __init__(self, node: Node, after: int, refusal: Refusal) -> None:
        super().__init__(after)
        self.node, self.after, self.refusal = node, after, refusal

    def refuse(self, refusals: Refusals, most: int) -> None:
        """Raise the reason why the s-op needs a feed-forward, which it must not have."""
        hint = self.refusal.hint
        if most:
            hint = f"allow more feed-forward blocks, `extra_feed_forwards={most + 1}`; or {hint}"
        refusals.add(self.node, Refusal(self.refusal.message, hint))
        refusals.raise_all()


@dataclass(frozen=True)
class Deadlines:
    """The layers of a model, and until which of them each s-op of a program must be there."""

    schedule: Schedule
    last: dict[Node, float] = field(default_factory=dict)
    """In layers of the schedule; a promise is never read."""
    extra: list[int] = field(default_factory=list)
    """For each layer without heads, the layer of the schedule that it follows."""
    most: int = 0
    """How many layers without heads there may be."""

    @property
    def layers(self) -> int:
        """How many layers the model has."""
        return self.schedule.layers + len(self.extra)

    def place(self, layer: int) -> int:
        """Where a layer of the schedule is in the model."""
        return layer + sum(after < layer for after in self.extra)

    def allow(self, node: Node, layer: int, refusal: Refusal) -> bool:
        """Whether an s-op may be computed in the feed-forward of a layer of the model.

        What has no deadline was made by the compiler, for a head of its own: it cannot wait.
        """
        last = self.last.get(node)
        if last is None or last == inf:
            return last == inf
        end = self.schedule.layers
        while layer >= self.place(int(last) + 1):
            if last < end or len(self.extra) == self.most:
                raise NeedsFeedForward(node, int(last), refusal)
            # One after the last layer changes nothing that is known already: no new attempt.
            self.extra.append(end)
        return True

    def adopt(self, node: Node, helpers: Iterable[Node]) -> None:
        """Helpers of an s-op must be there when it is."""
        if node in self.last:
            for helper in helpers:
                self.last.setdefault(helper, self.last[node])

    @classmethod
    def of(
        cls, outputs: Sequence[Node], settings: Settings, placed: Schedule, extra: list[int]
    ) -> Deadlines:
        """Heads read what they need before their layer, and outputs after the last."""
        promised = [] if settings.where is None else [settings.where]
        last: dict[Node, float] = dict.fromkeys(promised, inf)
        last |= dict.fromkeys(outputs, placed.layers)
        for node in reversed(in_order([*promised, *outputs])):
            for needed in node.needs:
                until = last[node]
                if isinstance(node, Aggregate):
                    until = placed.layer_of[node] - 1 if node in placed.layer_of else inf
                last[needed] = min(until, last.get(needed, inf))
        return cls(placed, last, extra, settings.extra_feed_forwards)


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
    rounds what heads add (see `dimensions`), what a feed-forward would have to make for an output
    is read off its inputs, and of conditions on what several heads add, it is counted how many
    hold."""

    @property
    def works_stepwise(self) -> bool:
        """Whether s-ops are rather made of what earlier blocks made than of many combinations."""
        return self.deadlines.most > 0
