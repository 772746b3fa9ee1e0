"""Outputs and an input in, the plan of a picture out.

The values come from the plain evaluator and the layers and heads from the schedule; this
module puts them together; `choice` says what is shown and what it is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from rasp.base.atoms import Atom, read_input, show_input
from rasp.base.errors import RaspLimitError, RaspTypeError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.insight.drawing.choice import read_by, shown_nodes, with_short_names
from rasp.insight.drawing.glyphs import cut, in_title, kept_in_place, printable
from rasp.insight.drawing.parts import (
    PlanContext,
    head_ids,
    head_of,
    layers_of,
    strip_of,
    strips_of,
)
from rasp.insight.drawing.picture_plan import (
    Flow,
    SelectionShown,
)
from rasp.insight.schedule.schedule import Head, Schedule, schedule
from rasp.language.evaluator import Values, every_value
from rasp.language.graph import (
    Aggregate,
    Indices,
    Node,
    Program,
    Scorer,
    Selector,
    SOp,
    Tokens,
    in_order,
)

LONGEST_INPUT = 200
"""Tokens of an input that a picture can show."""
MOST_CELLS = 2_000_000
"""Cells of all selections together that one picture can hold."""
MOST_IN_TITLE = 12


def plan_flow(
    outputs: Sequence[Node],
    given: object,
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
    values: Values | None = None,
) -> Flow:
    """Choose what a picture of the whole computation shows; `values` are known where given.

    >>> from rasp.language.graph import Aggregate, Select
    >>> plan = plan_flow([Aggregate(Select(Tokens(), Tokens(), "=="), Indices())], "aba")
    >>> [len(layer.heads) for layer in plan.layers]
    [1]
    """
    program = program or Program()
    _check_outputs(outputs)
    tokens = _tokens(outputs, given, limits)
    placed = schedule(outputs)
    context = PlanContext(
        names=with_short_names(program.names, placed),
        origins=program.origins,
        tokens=tokens,
        values=values or every_value(outputs, tokens, program, limits),
        ids=shown_nodes(outputs, placed, program),
    )
    heads = head_ids(placed)
    names = ", ".join(context.label(output) for output in outputs)
    return Flow(
        title=f"{names} on {_input_in_title(tokens)}",
        tokens=tokens,
        strips=strips_of(context, placed, heads),
        embedding=context.shown((Tokens(), Indices(), *placed.embedding)),
        input_feed_forward=context.shown(placed.input_feed_forward),
        layers=layers_of(context, placed, heads),
        outputs=context.shown(outputs),
        note=_size_in_words(placed),
    )


def plan_selection(
    selector: Node,
    given: object,
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
    values: Values | None = None,
) -> SelectionShown:
    """Choose what a picture of one selection alone shows; `values` are known where given.

    >>> from rasp.language.graph import Select
    >>> plan_selection(Select(Tokens(), Tokens(), "=="), "aba").head.picks[0]
    (True, False, True)
    """
    program = program or Program()
    if isinstance(selector, Aggregate):
        selector = selector.selector
    if not isinstance(selector, Selector):
        raise RaspTypeError(
            "this has no selection of its own to draw",
            hint="give a selector, or an s-op made by `aggregate`",
        )
    tokens = _tokens([selector], given, limits)
    values = values or every_value([selector], tokens, program, limits)
    ids = {node: f"s{number}" for number, node in enumerate([Tokens(), *read_by(selector)])}
    everything = {Tokens(): list(tokens), **values}
    context = PlanContext(program.names, program.origins, tokens, everything, ids)
    head = head_of(context, Head(selector, ()), "h")
    strips = {name: strip_of(context, node, 0, (), None) for node, name in ids.items()}
    title = f"{head.label or 'selection'} on {_input_in_title(tokens)}"
    return SelectionShown(title, tokens, strips, head)


def _check_outputs(outputs: Sequence[Node]) -> None:
    for output in outputs:
        if not isinstance(output, SOp):
            raise RaspTypeError(
                "the flow ends in s-ops, but this is a "
                + ("scorer" if isinstance(output, Scorer) else "selector"),
                hint="draw a selector alone with `draw_selector`, or `rasp draw … --selector`",
            )


def _tokens(outputs: Sequence[Node], given: object, limits: Limits) -> tuple[Atom, ...]:
    """Read the input; refuse early what no picture can hold."""
    tokens = read_input(given, limits)
    length = len(tokens)
    if length > LONGEST_INPUT:
        raise RaspLimitError(
            f"an input of {length} tokens is too long to draw: at most {LONGEST_INPUT} fit",
            hint="draw a shorter input that shows the same; the values are there at any length",
        )
    tables = sum(not isinstance(node, SOp) for node in in_order(outputs))
    most = min(MOST_CELLS, limits.dense_cells)
    if tables * length * length > most:
        raise RaspLimitError(
            f"{tables} selections of {length} × {length} cells are over the limit of {most} cells",
            hint="draw a shorter input, or one part of the program",
        )
    return tokens


def _input_in_title(tokens: tuple[Atom, ...]) -> str:
    if all(isinstance(token, str) and len(token) == 1 for token in tokens):
        return printable(show_input(tokens))
    shown = ", ".join(kept_in_place(cut(in_title(token), 24)) for token in tokens[:MOST_IN_TITLE])
    return f"[{shown}{', …' if len(tokens) > MOST_IN_TITLE else ''}]"


def _size_in_words(placed: Schedule) -> str:
    layers = placed.layers
    if not layers:
        return "no attention: the embedding and one feed-forward do it"
    counts = placed.heads_per_layer
    heads = f"{counts[0]} head" + ("s" if counts[0] != 1 else "")
    if layers == 1:
        return f"1 layer, {heads}"
    if len(set(counts)) == 1:
        return f"{layers} layers, {heads} in each"
    return f"{layers} layers, heads per layer: {' '.join(map(str, counts))}"
