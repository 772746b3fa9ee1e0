"""A program in, a certified model of the compact style out: attempts with ever more measures.

Most programs need no measures. Where the checker finds no margin left, the stream is made to round
what heads add, or conditions are counted; and where a read-out has none, what it needs is read off
its inputs, with no feed-forward in between. A model that cannot be certified is never handed out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from rasp.certificate import Verdict
from rasp.compiler.analysis.task import NONE, Measures
from rasp.compiler.assemble import certified
from rasp.compiler.emitting.emitter import Emitter
from rasp.compiler.emitting.next_token import check_outputs
from rasp.compiler.emitting.plan_claims import make_claims
from rasp.compiler.model.certificate import Certificate
from rasp.compiler.model.transformer import Transformer
from rasp.compiler.planning.plan import Plan, checked_nodes, make_plan
from rasp.compiler.refusals import Refusal, Refusals
from rasp.compiler.settings import Settings
from rasp.errors import RaspUnsupportedError
from rasp.graph import Elementwise, Node, Program, in_order

LARGEST = 1e30
"""The largest weight: float32 ends at 3.4e38, and weights are multiplied."""

SMALLER = "work with smaller numbers"


def compile_compact(nodes: Mapping[str, Node], settings: Settings, program: Program) -> Transformer:
    """Compile in the compact style, or say why that cannot be done."""
    if settings.extra_feed_forwards:
        try:  # blocks that are not needed are not spent
            return _Attempts(nodes, replace(settings, extra_feed_forwards=0), program).model()
        except RaspUnsupportedError:
            pass
    return _Attempts(nodes, settings, program).model()


class _Attempts:
    """All attempts to compile one program, and what came of the last."""

    def __init__(self, nodes: Mapping[str, Node], settings: Settings, program: Program) -> None:
        self.nodes, self.settings, self.program = nodes, settings, program
        self.place = Refusals(program, list(nodes.values())).origin(next(iter(nodes.values())))
        self.error: RaspUnsupportedError | None = None
        """Why the first attempt failed."""
        self.is_too_large = False
        """Whether there was no room for the weights of the last attempt."""
        self.at_readout = False
        """Whether it is a read-out that had no margin left in it."""
        self.at_the_end = False
        """Whether it could help to read outputs off what the last feed-forward reads."""

    def model(self) -> Transformer:
        """The model of the first attempt that can be certified."""
        for measures in self._measures():
            model = self._attempt(measures)
            if model is not None:
                return model
        assert self.error is not None
        raise self.error

    def _measures(self) -> Iterator[Measures]:
        """What to try next, in view of what came of the last attempt."""
        yield NONE
        looked_up, at_readout = self.is_too_large or self.at_the_end, self.at_readout
        if looked_up:
            yield Measures(looks_up=True)
            if self.is_too_large:
                return
        if at_readout and _has_conditions(self.nodes):
            yield Measures(counts_conditions=True)
        yield Measures(rounds=True)
        if self.at_readout:
            yield Measures(rounds=True, looks_up=True)
        if at_readout and not looked_up:
            yield Measures(looks_up=True)

    def _attempt(self, measures: Measures) -> Transformer | None:
        """Plan, write and certify."""
        self.is_too_large = self.at_readout = self.at_the_end = False
        try:
            plan = make_plan(self.nodes, self.settings, self.program, measures)
            if self.settings.next_token:
                check_outputs(plan, self.program)
            model, certificate, verdict = build(plan, self.program)
        except Refusal as refusal:
            self.is_too_large = True
            self._keep(f"this cannot be compiled exactly: {refusal.message}", refusal.hint)
            return None
        except RaspUnsupportedError as error:
            if self.error is not None:
                return None
            error.span = error.span or self.place
            raise
        if certificate.exact:
            return model
        if not certificate.refused and not certificate.runs:
            raise RaspUnsupportedError(
                f"this cannot be compiled: {certificate.reason}",
                self.place,
                "give an alphabet and a length for which the program has a value",
            )
        self._look_at(plan, certificate, verdict)
        return None

    def _look_at(self, plan: Plan, certificate: Certificate, verdict: Verdict) -> None:
        """Note why a model was refused."""
        failing = [name for name, _, margin in verdict.blocks if margin < 0]
        failing.append(certificate.reason.partition(":")[0])
        self.at_readout = failing[-1].startswith("read-out ")
        is_last = failing[0].startswith("read-out ") or failing[0] == f"feed-forward {plan.layers}"
        of_means = plan.layers and all(head.head.mode == "mean" for head in plan.heads[-1])
        is_made = all(output.is_made for output in plan.outputs)
        self.at_the_end = bool(is_last and of_means and is_made)
        nodes: list[Node] = [node for name, node in checked_nodes(plan) if name == failing[0]]
        self._keep(
            f"this cannot be compiled exactly in float32: {certificate.reason}",
            "use a smaller `max_length` or vocabulary, or round and compare averages earlier",
            [*nodes, *(output.node for output in plan.outputs)][0],
        )

    def _keep(self, message: str, hint: str | None, node: Node | None = None) -> None:
        """Keep the first error."""
        if self.error is None:
            place = self.place
            if node is not None:
                place = Refusals(self.program, list(self.nodes.values())).origin(node)
            self.error = RaspUnsupportedError(message, place, hint)


def _has_conditions(nodes: Mapping[str, Node]) -> bool:
    """Whether there is an `and` or an `or` whose conditions can be counted."""
    return any(isinstance(node, Elementwise) and node.op in ("and", "or")
               for node in in_order(list(nodes.values())))  # fmt: skip


def build(plan: Plan, program: Program) -> tuple[Transformer, Certificate, Verdict]:
    """Write a plan's weights, and certify the model."""
    too_large = Refusal("some of its numbers are too large for float32", SMALLER)
    try:
        emitter = Emitter(plan)
        weights = emitter.weights()
    except OverflowError:
        raise too_large from None
    if any(np.abs(array).max(initial=0.0) > LARGEST for array in weights.arrays().values()):
        raise too_large
    return certified(plan, weights, make_claims(plan, emitter), program)
