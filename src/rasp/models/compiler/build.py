"""`compile`: a program in, a certified transformer out, or an error with every reason why not.

The stages: read what the caller gives, plan, write the weights, certify. Without a style, the
model is robust where that can be done in some seconds, and else compact (see `compact`). A model
that cannot be certified is never handed out.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from rasp.base.errors import RaspTypeError, RaspUnsupportedError
from rasp.base.progress import Progress, ignore
from rasp.language.graph import Node, Program, SOp, expression
from rasp.language.graph.nodes import node_of
from rasp.models.compiler.assemble import assemble, assemble_and_certify
from rasp.models.compiler.compact import compile_compact
from rasp.models.compiler.compile_refusals import Refusals, TooLarge, UnprovedError
from rasp.models.compiler.emitting.next_token import check_next_token, check_outputs
from rasp.models.compiler.model.certificate import untried
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.model.vocabulary_inputs import is_name_of_another, refuse_empty_promise
from rasp.models.compiler.robust.arrays import RobustClaimant, Writer
from rasp.models.compiler.robust.numbers import drop_repeated
from rasp.models.compiler.robust.plan import RobustPlan, make_plan
from rasp.models.compiler.robust.steps import MOST_EFFORT
from rasp.models.compiler.settings import Settings, read_settings

Style: TypeAlias = Literal["auto", "robust", "compact"]
MOST_PARAMETERS = 100_000_000
"""The most weights that a model may have."""
MOST_ROBUST_EFFORT, MOST_BY_DEFAULT = 150_000_000, 10_000_000
"""How much a robust model may take, and one that nobody has asked for: see `RobustPlan.effort`."""

OR_TESTED = "or take a model that is tested, not proved: `tested=True`"
NOT_TESTED = "no weights could be written that are right on all inputs that were tried"
NOT_ROBUST = "this cannot be compiled in the robust style: "


def compile(
    outputs: Any,
    *,
    alphabet: object = None,
    max_length: int | None = None,
    bos: object = None,
    causal: bool = False,
    sink: bool = True,
    heads: Literal["paper", "split"] = "paper",
    program: Program | None = None,
    vocabulary: object = None,
    next_token: bool = False,
    where: Any = None,
    style: Style = "auto",
    extra_feed_forwards: int = 0,
    tested: bool = False,
    progress: Progress = ignore,
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
    heads, for s-ops that depend on too many values at once. A model is proved to be exact. With
    `tested`, you also get one that the checker cannot follow, if it is right on up to 1,000 random
    inputs, or on every input where these are few; its certificate and its name say so.
    `progress` is called with the share that is done, and what is being done.

    >>> import rasp
    >>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    >>> model = compile(hist, alphabet="abc", max_length=8)
    >>> model("abca")
    [2, 1, 1, 2]
    >>> model
    <Transformer: 1 layer, 1 head, d_model 11, ... parameters>
    >>> compile(hist, alphabet="abc", max_length=8, style="compact")
    <Transformer: 1 layer, 1 head, d_model 4, ... parameters>
    """
    if (alphabet is None) == (vocabulary is None):
        raise RaspTypeError(
            "`compile` needs one alphabet", hint='for example `alphabet="abc"` or `alphabet="0..9"`'
        )
    tokens = vocabulary if alphabet is None else alphabet
    settings = read_settings(
        tokens, max_length, bos, causal, sink, heads, style, extra_feed_forwards
    )
    nodes, named = read_outputs(outputs, program)
    if where is not None:
        settings, named = _with_promise(settings, where, named, nodes)
        refuse_empty_promise(settings)
    if next_token:
        settings = replace(settings, causal=True, next_token=True)
        check_next_token(list(nodes.values()), settings)
    settings = replace(settings, tested=tested)
    return compile_nodes(nodes, settings, named, progress)


def _robust_or_compact(
    nodes: Mapping[str, Node], settings: Settings, program: Program, progress: Progress
) -> Transformer:
    """A robust model; where there is none, a compact one that says why.

    A robust model that would only take too long is made after all where there is no compact one.
    """
    robust, compact = replace(settings, style="robust"), replace(settings, style="compact")
    try:
        return _robust(nodes, robust, program, progress, MOST_BY_DEFAULT)
    except RaspUnsupportedError as error:
        first = error
    try:
        model = compile_compact(nodes, compact, program, progress)
    except RaspUnsupportedError as error:
        if isinstance(first, _TooMuch):
            with suppress(RaspUnsupportedError):
                return _robust(nodes, robust, program, progress)
        if isinstance(first, UnprovedError) and not isinstance(error, UnprovedError):
            raise UnprovedError(error.message, error.span, error.hint) from None
        raise
    model.why_compact = first.message.removeprefix(NOT_ROBUST).replace(
        " cannot be compiled exactly", ""
    )
    return model


def _with_promise(
    settings: Settings, where: Any, program: Program, outputs: Mapping[str, Node]
) -> tuple[Settings, Program]:
    """The settings with a promise about inputs, and the program with its names.

    The promise goes by its name only where nothing else of the program does.
    """
    nodes, promised = read_outputs(where, None)
    (node,) = nodes.values() if len(nodes) == 1 else (None,)
    if not isinstance(node, SOp):
        raise RaspTypeError("`where` is one bool s-op", hint='for example `where=tokens != "x"`')
    name = promised.names.get(node) or program.names.get(node, "")
    if not name or is_name_of_another(name, node, outputs, program.names):
        name = expression(node, {}, depth=3)
    program = Program.joined([program, promised])
    return replace(settings, where=node, where_name=name), program


def compile_nodes(
    nodes: Mapping[str, Node], settings: Settings, program: Program, progress: Progress = ignore
) -> Transformer:
    """Compile in the style that the settings say, or point at an output at least.

    A model that is only tested is handed out where that was asked for, and there is no proof.
    """
    styles = {"auto": _robust_or_compact, "robust": _robust, "compact": compile_compact}
    compiled = styles[settings.style]
    try:
        return compiled(nodes, replace(settings, tested=False), program, progress)
    except RaspUnsupportedError as error:
        if settings.tested and isinstance(error, UnprovedError):
            with suppress(RaspUnsupportedError):
                return compiled(nodes, settings, program, progress)
        refusals = Refusals(program, list(nodes.values()))
        error.located(refusals.origin(refusals.outputs[0]))
        if isinstance(error, UnprovedError) and not settings.tested:
            error.hints = (*error.hints, OR_TESTED)
        elif settings.tested:
            error.hints = (*error.hints, NOT_TESTED)
        raise


def _robust(
    nodes: Mapping[str, Node], settings: Settings, program: Program, progress: Progress,
    most: int = MOST_ROBUST_EFFORT,
) -> Transformer:  # fmt: skip
    """Compile in the robust style, or say why that cannot be done."""
    if settings.extra_feed_forwards:
        with suppress(RaspUnsupportedError):  # blocks that are not needed are not spent
            fewer = replace(settings, extra_feed_forwards=0)
            return _robust(nodes, fewer, program, progress, most)
    try:
        progress(0.0, "planning")
        plan = make_plan(nodes, settings, program)
        if plan.parameters > MOST_PARAMETERS or (plan.effort > most and not settings.tested):
            raise _TooMuch(
                f"{NOT_ROBUST}it would have {plan.parameters:,} parameters, and take "
                f"{plan.effort // 1_000_000} seconds or more to check", hint=settings.smaller,
            )  # fmt: skip
        if settings.next_token:
            check_outputs(plan, program)
        return _certified(plan, program, progress, most)
    except OverflowError:
        too_large = TooLarge()
        raise RaspUnsupportedError(NOT_ROBUST + too_large.message, hint=too_large.hint) from None


def _certified(plan: RobustPlan, program: Program, progress: Progress, most: int) -> Transformer:
    """A plan's model; if it is not certified, it is written once more without repeated numbers."""
    is_checked = plan.effort <= most and all(
        feature.effort <= MOST_EFFORT for feature in plan.blocks.features.values()
    )
    while True:
        progress(0.3, "writing weights")
        weights = Writer(plan).weights()
        claims = RobustClaimant(plan, weights).all_claims()
        if is_checked:
            model, certificate = assemble_and_certify(plan, weights, claims, program, progress)
        else:
            model = assemble(plan, weights, replace(claims, readers=()), program)
            certificate = model.proof = untried(model, "to check it would take minutes")
        if certificate.trust != "none":
            return model
        if not drop_repeated(plan.blocks):  # fewer terms are rounded less
            raise UnprovedError(NOT_ROBUST + certificate.reason, hint=plan.settings.smaller)


class _TooMuch(UnprovedError):
    """A robust model would take minutes, or some seconds that nobody has asked for."""


def read_outputs(outputs: Any, program: Program | None) -> tuple[dict[str, Node], Program]:
    """What a caller means: a node, a handle, several of either, or a dict of them by name."""
    if isinstance(outputs, Mapping):
        named = dict(outputs)
    elif isinstance(outputs, (list, tuple)):
        named = {_name(output, program, f"output{place}"): output
                 for place, output in enumerate(outputs)}  # fmt: skip
    else:
        named = {_name(outputs, program, "output"): outputs}
    nodes: dict[str, Node] = {}
    for name, output in named.items():
        node = node_of(output)
        if node is None:
            raise RaspTypeError(
                "`compile` takes an s-op, a list of them, or a dict of them by name",
                hint='for example `rasp.run(text)["hist"]`',
            )
        nodes[str(name)] = node
    if not nodes:
        raise RaspTypeError("there is nothing to compile", hint="give at least one s-op")
    programs = (getattr(output, "program", Program()) for output in named.values())
    return nodes, program or Program.joined(programs)


def _name(output: Any, program: Program | None, otherwise: str) -> str:
    node = node_of(output)
    names = (program or getattr(output, "program", None) or Program()).names
    return otherwise if node is None else names.get(node, otherwise)
