"""`compile`: a program in, a certified transformer out, or an error with every reason why not.

The stages: read what the caller gives, plan, write the weights, certify. Where the certificate
finds no margin left, the comparisons to blame are made more carefully and everything is tried
again, and in the end once more with each condition of an `and` or `or` worked out on its own; a
model that cannot be certified is never handed out.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np

from rasp.certificate import Claims, Verdict
from rasp.compiler.emitting.claims import Planned, make_claims
from rasp.compiler.emitting.next_token import check_next_token, check_outputs
from rasp.compiler.emitting.weights import Emitter, Weights
from rasp.compiler.model.certificate import certify, proved
from rasp.compiler.model.describe import Words, describe
from rasp.compiler.model.transformer import Readout, Transformer
from rasp.compiler.planning.plan import (
    CONDITIONS,
    ROUNDED,
    Plan,
    checked_nodes,
    make_plan,
    readout_key,
)
from rasp.compiler.refusals import Refusal, Refusals
from rasp.compiler.robust.plan import RobustPlan
from rasp.compiler.robust.plan import make_plan as make_robust_plan
from rasp.compiler.robust.style import emit
from rasp.compiler.settings import Settings, read_settings
from rasp.errors import RaspTypeError, RaspUnsupportedError, RaspValueError
from rasp.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Node,
    Program,
    SOp,
    expression,
    in_order,
)
from rasp.graph.nodes import node_of
from rasp.graph.portable import graph_to_json
from rasp.source import Span

MOST_ATTEMPTS = 8
MOST_EFFORT = 400_000_000
"""How much is done, in all, before no further attempt is made: a refusal should take no more than
some seconds. One is about ten nanoseconds."""
PAIR_EFFORT, STATE_EFFORT, CELL_EFFORT = 5, 8_000, 800
"""What a pair of a key and a query costs, a state of what a feed-forward reads, and each dimension
that it writes in that state."""
MOST_ROBUST_EFFORT, MOST_BY_DEFAULT = 150_000_000, 10_000_000
"""How much a robust model may take, and one that nobody has asked for: see `RobustPlan.effort`."""
MOST_CARE = 2
CLOSE = 1e-6
"""Scores that are off by less are exact, but for the checker's own rounding."""
LARGEST = 1e30
"""The largest weight: float32 ends at 3.4e38, and weights are multiplied."""


def compile(
    outputs: Any,
    *,
    alphabet: object = None,
    max_length: int,
    bos: object = None,
    causal: bool = False,
    sink: bool = True,
    heads: str = "paper",
    program: Program | None = None,
    vocabulary: object = None,
    next_token: bool = False,
    where: Any = None,
    style: str = "auto",
    extra_feed_forwards: int = 0,
) -> Transformer:
    """Compile an s-op to a transformer that answers as the program does, with a certificate.

    `outputs` is an s-op (a handle or a node), several of them, or a dict of them by name.
    `alphabet` (or `vocabulary`) holds every token an input may have: `"abc"`, `"0..9"`, a list.
    `max_length` is the length of the longest input. With `bos="§"`, inputs begin with that
    token. `causal` lets positions see only what came before; `sink=False` puts no hidden token
    before the input; `heads="split"` may spend one more head where that makes the model much
    smaller. `style="robust"` makes moderate weights that bear noise, `style="compact"` the
    smallest model, which does not; without a style the model is robust where that can be done, and
    else compact, and says why (`model.why_compact`).
    `next_token` makes a causal model that can generate: its outputs are tokens of the
    alphabet, or the empty string, which ends. `where` is a promise about inputs: a bool s-op
    that is true at every position of every input that the model will get. The model is exact on
    those, and refuses the others. `extra_feed_forwards` allows so many feed-forward blocks without
    heads, for s-ops that depend on too many values at once.

    >>> import rasp
    >>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    >>> model = compile(hist, alphabet="abc", max_length=8)
    >>> model("abca")
    [2, 1, 1, 2]
    >>> model
    <Transformer: 1 layer, 1 head, d_model 23, ... parameters>
    >>> compile(hist, alphabet="abc", max_length=8, style="compact")
    <Transformer: 1 layer, 1 head, d_model 4, ... parameters>
    """
    if (alphabet is None) == (vocabulary is None):
        raise RaspTypeError(
            "`compile` needs one alphabet", hint='for example `alphabet="abc"` or `alphabet="0..9"`'
        )
    given = vocabulary if alphabet is None else alphabet
    settings = read_settings(given, max_length, bos, causal, sink, heads, style)
    nodes, found = read_outputs(outputs, program)
    if extra_feed_forwards and style == "robust":
        raise RaspValueError(
            "the robust style has no extra feed-forward blocks",
            hint='compile with `style="compact"`, or without `extra_feed_forwards`',
        )
    settings = replace(settings, extra_feed_forwards=extra_feed_forwards)
    if where is not None:
        settings, found = _with_promise(settings, where, found)
    if next_token:
        settings = replace(settings, causal=True, next_token=True)
        check_next_token(list(nodes.values()), settings)
    return compile_nodes(nodes, settings, found)


def _robust_or_compact(
    nodes: Mapping[str, Node], settings: Settings, program: Program
) -> Transformer:
    """A robust model; where there is none, a compact one that says why."""
    reason, robust = "the robust style has no extra feed-forward blocks", None
    if not settings.extra_feed_forwards:
        robust = replace(settings, style="robust")
        try:
            return _robust(nodes, robust, program, MOST_BY_DEFAULT)
        except RaspUnsupportedError as error:
            robust = robust if isinstance(error, _TooMuch) else None
            reason = error.message.removeprefix("this cannot be compiled in the robust style: ")
            reason = reason.replace(" cannot be compiled exactly", "")
    try:
        model = compile_nodes(nodes, replace(settings, style="compact"), program)
    except RaspUnsupportedError:
        if robust is None:
            raise
        return _robust(nodes, robust, program)
    model.why_compact = reason
    return model


def _with_promise(settings: Settings, where: Any, program: Program) -> tuple[Settings, Program]:
    """The settings with a promise about inputs, and the program with its names."""
    known, promised = read_outputs(where, None)
    (node,) = known.values() if len(known) == 1 else (None,)
    if not isinstance(node, SOp):
        raise RaspTypeError("`where` is one bool s-op", hint='for example `where=tokens != "x"`')
    program = Program.joined([program, promised])
    name = program.names.get(node) or expression(node, {}, depth=3)
    return replace(settings, where=node, where_name=name), program


def compile_nodes(nodes: Mapping[str, Node], settings: Settings, program: Program) -> Transformer:
    """Compile in a style: a compact model has tables of several conditions, or else each condition
    on its own.
    """
    if settings.style == "auto":
        return _robust_or_compact(nodes, settings, program)
    if settings.style == "robust":
        return _robust(nodes, settings, program)
    if settings.extra_feed_forwards:
        try:  # blocks that are not needed are not spent
            return compile_nodes(nodes, replace(settings, extra_feed_forwards=0), program)
        except RaspUnsupportedError:
            pass
    effort = _Effort()
    try:
        return _attempts(nodes, settings, program, {}, effort)
    except _NoMargin as error:
        if effort.is_spent or not _has_conditions(nodes):
            raise _refused(error) from None
        try:
            return _attempts(nodes, settings, program, {CONDITIONS: 1}, effort)
        except RaspUnsupportedError:
            raise _refused(error) from None


def _has_conditions(nodes: Mapping[str, Node]) -> bool:
    """Whether there is an `and` or an `or` whose conditions can be counted."""
    return any(isinstance(node, Elementwise) and node.op in ("and", "or")
               for node in in_order(list(nodes.values())))  # fmt: skip


def _refused(error: _NoMargin) -> RaspUnsupportedError:
    """The same error, as one after which nothing else is tried."""
    return RaspUnsupportedError(error.message, error.span, error.hint)


def _robust(
    nodes: Mapping[str, Node], settings: Settings, program: Program,
    most: int = MOST_ROBUST_EFFORT,
) -> Transformer:  # fmt: skip
    """Compile in the robust style, or say why that cannot be done."""
    place = Refusals(program, list(nodes.values())).origin(next(iter(nodes.values())))
    plan = make_robust_plan(nodes, settings, program)
    if plan.effort > most:
        raise _too_much(plan, place)
    if settings.next_token:
        check_outputs(plan, program)
    weights, claims = emit(plan)
    model = assemble(plan, weights, claims, program)
    outputs = {each.name: each.node for each in plan.outputs}
    verdict = proved(model, outputs)
    if verdict.holds:
        _keep_readers(model, verdict.readers)
    certificate = model.certificate = certify(model, outputs, verdict)
    steep = certificate.robust.too_steep if certificate.robust else ""
    if reason := steep if certificate.exact else certificate.reason:
        raise RaspUnsupportedError(
            f"this cannot be compiled in the robust style: {reason}", place,
            'use a smaller `max_length` or vocabulary, or `style="compact"`',
        )  # fmt: skip
    return model


class _TooMuch(RaspUnsupportedError):
    """A robust model would take minutes, or some seconds that nobody has asked for."""


def _too_much(plan: RobustPlan, place: Span | None) -> _TooMuch:
    seconds = plan.effort // 1_000_000
    return _TooMuch(
        f"this cannot be compiled in the robust style: it would have {plan.parameters:,} "
        f"parameters, and take {seconds} seconds or more to check", place,
        'use a smaller `max_length` or vocabulary, or `style="compact"`',
    )  # fmt: skip


class _NoMargin(RaspUnsupportedError):
    """Float32 is not exact enough for what was planned."""


def _no_margin(plan: Plan, program: Program, reason: str) -> _NoMargin:
    """The error for a plan that leaves no margin, at an s-op of the first block that has none."""
    outputs: list[Node] = [output.node for output in plan.outputs]
    failing = [node for name, node in checked_nodes(plan) if reason.startswith(f"{name}:")]
    return _NoMargin(
        f"this cannot be compiled exactly in float32: {reason}",
        Refusals(program, outputs).origin([*failing, *outputs][0]),
        "use a smaller `max_length` or vocabulary, or round and compare averages earlier",
    )


def _attempts(
    nodes: Mapping[str, Node], settings: Settings, program: Program, care: dict[str, int],
    effort: _Effort,
) -> Transformer:  # fmt: skip
    """Plan, write and certify, with more care each time that there is no margin left."""
    place = Refusals(program, list(nodes.values())).origin(next(iter(nodes.values())))
    before, is_rounded = None, False
    direct = {readout_key(name): MOST_CARE for name in nodes}
    for _ in range(MOST_ATTEMPTS):
        try:
            plan = make_plan(nodes, settings, program, care)
            if settings.next_token:
                check_outputs(plan, program)
            model, verdict = build(plan, program)
        except Refusal as refusal:
            if direct.keys() <= care.keys():
                raise RaspUnsupportedError(
                    f"this cannot be compiled exactly: {refusal.message}", place, refusal.hint
                ) from None
            care |= direct  # what is too large to be made may still be read off its inputs
            continue
        except RaspUnsupportedError as error:
            error.span = error.span or place
            raise
        certificate = model.certificate
        assert certificate is not None
        if certificate.exact:
            return model
        if not certificate.refused and not certificate.runs:
            raise RaspUnsupportedError(
                f"this cannot be compiled: {certificate.reason}",
                place,
                "give an alphabet and a length for which the program has a value",
            )
        if not effort.allows_more(plan, model):
            raise _refused(_no_margin(plan, program, verdict.reason or certificate.reason))
        if not care and _is_at_the_end(plan, verdict):
            care |= direct
            continue
        if not (CONDITIONS in care or is_rounded):
            is_rounded = True
            rounded = _rounded(nodes, settings, program, effort)
            if rounded is not None:
                return rounded
        blamed = _first_off(verdict, plan, care)
        is_vain = care.get(CONDITIONS) and not plan.analysis.has_counts
        if is_vain or not blamed or verdict == before or effort.is_spent:
            break
        before = verdict
        care |= {each: care.get(each, 0) + 1 for each in blamed}
    raise _no_margin(plan, program, verdict.reason)


def _is_at_the_end(plan: Plan, verdict: Verdict) -> bool:
    """Whether nothing but the last feed-forward and read-outs leave no margin, of means (which
    cannot be rounded) that a read-out could look up instead.
    """
    last = (f"feed-forward {plan.layers}", *(readout_key(output.name) for output in plan.outputs))
    is_made = all(output.is_made for output in plan.outputs)
    of_means = plan.layers and all(head.head.mode == "mean" for head in plan.heads[-1])
    is_off = any(off > CLOSE for off in verdict.off.values())
    return bool(is_made and of_means) and not is_off and verdict.reason.startswith(last)


def _rounded(
    nodes: Mapping[str, Node], settings: Settings, program: Program, effort: _Effort
) -> Transformer | None:
    """A model whose residual stream rounds what heads add; None where that does not help."""
    compares = any(isinstance(node, Elementwise) and node.op in COMPARISONS
                   and {type(each) for each in node.operands} == {Aggregate, Const}
                   for node in in_order(list(nodes.values())))  # fmt: skip
    for rounded in (1, 2) if compares else (1,):
        model = _rounded_so(nodes, settings, program, {ROUNDED: rounded}, effort)
        if model is not None or effort.is_spent:
            return model
    return None


def _rounded_so(
    nodes: Mapping[str, Node], settings: Settings, program: Program, care: dict[str, int],
    effort: _Effort,
) -> Transformer | None:  # fmt: skip
    before = None
    for _ in range(MOST_ATTEMPTS):
        try:
            plan = make_plan(nodes, settings, program, care)
            model, verdict = build(plan, program)
        except (Refusal, RaspUnsupportedError):
            return None
        if model.certificate is not None and model.certificate.exact:
            return model
        blamed = _first_off(verdict, plan, care)
        is_vain = not blamed or verdict == before
        if not effort.allows_more(plan, model) or is_vain:
            return None
        before = verdict
        care |= {each: care.get(each, 0) + 1 for each in blamed}
    return None


class _Effort:
    """How much has been looked at so far, in all attempts to compile a program."""

    def __init__(self) -> None:
        self.spent = 0

    @property
    def is_spent(self) -> bool:
        return self.spent > MOST_EFFORT

    def allows_more(self, plan: Plan, model: Transformer) -> bool:
        """Add what there was to look at in a model, and say whether another may be tried."""
        pairs = sum(conjunct.pairs for heads in plan.heads for head in heads
                    for conjunct in head.conjuncts)  # fmt: skip
        self.spent += PAIR_EFFORT * pairs
        written = plan.layout.written_by_groups()
        for groups, block in zip(plan.groups, model.weights.feed_forwards, strict=True):
            for group, ridge in groups:
                each = STATE_EFFORT + CELL_EFFORT * written[group] + len(block.bias)
                self.spent += len(ridge.points) * each
        return not self.is_spent


def _first_off(verdict: Verdict, plan: Plan, care: Mapping[str, int]) -> list[str]:
    keys = [readout_key(output.name) for output in plan.outputs]
    return [key for key in keys
            if verdict.reason.startswith(key) and care.get(key, 0) < MOST_CARE]  # fmt: skip


def build(plan: Plan, program: Program) -> tuple[Transformer, Verdict]:
    """Write a plan's weights, describe them, and certify the model.

    The verdict says which comparisons may be to blame if the checker refuses it.
    """
    try:
        emitter = Emitter(plan)
        weights = emitter.weights()
    except OverflowError:
        raise _too_large() from None
    if any(np.abs(array).max(initial=0.0) > LARGEST for array in weights.arrays().values()):
        raise _too_large()
    model = assemble(plan, weights, make_claims(plan, emitter), program)
    outputs = {output.name: output.node for output in plan.outputs}
    verdict = proved(model, outputs)
    _keep_readers(model, verdict.readers)
    model.certificate = certify(model, outputs, verdict)
    return model, verdict


def _keep_readers(model: Transformer, proved_ones: Set[int]) -> None:
    """Leave out s-ops that the stream holds, but not clearly enough to be read from it."""
    kept = sorted(proved_ones)
    told, shown = model.claims.readers, model.description.readers
    model.claims = replace(model.claims, readers=tuple(told[place] for place in kept))
    model.description = replace(model.description, readers=tuple(shown[place] for place in kept))


def _too_large() -> Refusal:
    return Refusal("some of its numbers are too large for float32", "work with smaller numbers")


def assemble(plan: Planned, weights: Weights, claims: Claims, program: Program) -> Transformer:
    """A model from a plan and weights, not yet certified."""
    readouts = tuple(
        Readout(
            output.name,
            tuple(atom for _, atom in output.atoms),
            () if is_scored else tuple(float(code) for code, _ in output.atoms),
            is_scored,
        )
        for number, output in enumerate(plan.outputs)
        for is_scored in [len(weights.readouts[number].bias) == len(output.atoms)]
    )
    outputs = {output.name: output.node for output in plan.outputs}
    weights = weights.cast()
    mine = set(in_order(outputs.values()))
    lines = {node: span.line for node, span in program.origins.items() if node in mine}
    names = {node: name for node, name in program.names.items() if node in mine}
    description = describe(weights, claims, Words(outputs, names, lines))
    graph = graph_to_json(outputs, names, lines)
    return Transformer(plan.settings, weights, readouts, plan.uses_sink, description, claims,
                       graph, None)  # fmt: skip


def read_outputs(outputs: Any, program: Program | None) -> tuple[dict[str, Node], Program]:
    """What a caller means: a node, a handle, several of either, or a dict of them by name."""
    if isinstance(outputs, Mapping):
        named = dict(outputs)
    elif isinstance(outputs, (list, tuple)):
        named = {_name(each, program, f"output{place}"): each for place, each in enumerate(outputs)}
    else:
        named = {_name(outputs, program, "output"): outputs}
    nodes: dict[str, Node] = {}
    for name, each in named.items():
        node = node_of(each)
        if node is None:
            raise RaspTypeError(
                "`compile` takes an s-op, a list of them, or a dict of them by name",
                hint='for example `rasp.run(text)["hist"]`',
            )
        nodes[str(name)] = node
    if not nodes:
        raise RaspTypeError("there is nothing to compile", hint="give at least one s-op")
    programs = (getattr(each, "program", Program()) for each in named.values())
    return nodes, program or Program.joined(programs)


def _name(output: Any, program: Program | None, otherwise: str) -> str:
    node = node_of(output)
    known = program or getattr(output, "program", None) or Program()
    return otherwise if node is None else known.names.get(node, otherwise)
