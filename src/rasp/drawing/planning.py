"""Outputs and an input in, the plan of a picture out.

The values come from the plain evaluator and the layers and heads from the schedule; this
module puts them together; `choice` says what is shown and what it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rasp.architecture.schedule import Head, Schedule, schedule
from rasp.atoms import Atom, read_input, show_input
from rasp.drawing.choice import read_by, shown_nodes, with_short_names
from rasp.drawing.glyphs import cut, in_title, kept_in_place, printable
from rasp.drawing.plan import (
    AggregateShown,
    Condition,
    Flow,
    HeadShown,
    LayerShown,
    Picks,
    SelectionShown,
    Strip,
)
from rasp.errors import RaspLimitError, RaspTypeError
from rasp.evaluator import EvaluationError, Values, evaluate_plain, pointing
from rasp.graph import (
    Aggregate,
    Const,
    Indices,
    Node,
    Program,
    Scorer,
    Select,
    SelectBest,
    Selector,
    SOp,
    Tokens,
    expression,
    in_order,
    score_terms,
    selectors_in,
)
from rasp.limits import DEFAULT_LIMITS, Limits
from rasp.source import Span

LONGEST_INPUT = 200
"""Tokens of an input that a picture can show."""
MOST_CELLS = 2_000_000
"""Cells of all selections together that one picture can hold."""
MOST_LINKS = 1_000_000
MOST_IN_TITLE = 12
EXPRESSION_DEPTH = 6
LONGEST_EXPRESSION = 400
LONGEST_LABEL = 60


@dataclass(frozen=True)
class _Context:
    """What every part of the planning reads: nothing here changes."""

    names: Mapping[Node, str]
    """The names people gave, and short ones for aggregates that have none."""
    origins: Mapping[Node, Span]
    tokens: tuple[Atom, ...]
    values: Values
    ids: Mapping[Node, str]
    """The shown s-ops, and the constants that heads read, in order."""

    def label(self, node: Node) -> str:
        name = self.names.get(node)
        return printable(name or cut(expression(node, self.names, 4), LONGEST_LABEL))

    def expression(self, node: Node) -> str:
        if isinstance(node, (Tokens, Indices)):
            return ""
        text = expression(node, self.names, EXPRESSION_DEPTH)
        return printable(cut(text, LONGEST_EXPRESSION))

    def shown(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        return tuple(self.ids[node] for node in nodes if node in self.ids)

    def place(self, node: Node) -> str:
        span = None if isinstance(node, (Tokens, Indices)) else self.origins.get(node)
        if span is None:
            return ""
        # a picture is given to others: the file's name, never the folders of its author
        name = re.split(r"[/\\\\]", span.source.name)[-1]
        return printable(f"{name}:{span.line}:{span.column}")


def plan_flow(
    outputs: Sequence[Node],
    given: object,
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
    values: Values | None = None,
) -> Flow:
    """Choose what a picture of the whole computation shows; `values` are known where given.

    >>> from rasp.graph import Aggregate, Select
    >>> plan = plan_flow([Aggregate(Select(Tokens(), Tokens(), "=="), Indices())], "aba")
    >>> [len(layer.heads) for layer in plan.layers]
    [1]
    """
    program = program or Program()
    _check_outputs(outputs)
    tokens = _tokens(outputs, given, limits)
    placed = schedule(outputs)
    context = _Context(
        names=with_short_names(program.names, placed),
        origins=program.origins,
        tokens=tokens,
        values=values or _evaluate(outputs, tokens, program, limits),
        ids=shown_nodes(outputs, placed, program),
    )
    heads = _head_ids(placed)
    names = ", ".join(context.label(output) for output in outputs)
    return Flow(
        title=f"{names} on {_input_in_title(tokens)}",
        tokens=tokens,
        strips=_strips(context, placed, heads),
        embedding=context.shown((Tokens(), Indices(), *placed.embedding)),
        input_feed_forward=context.shown(placed.input_feed_forward),
        layers=_layers(context, placed, heads),
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
    values = values or _evaluate([selector], tokens, program, limits)
    ids = {node: f"s{number}" for number, node in enumerate([Tokens(), *read_by(selector)])}
    everything = {Tokens(): list(tokens), **values}
    context = _Context(program.names, program.origins, tokens, everything, ids)
    head = _head(context, Head(selector, ()), "h")
    strips = {name: _strip(context, node, 0, (), None) for node, name in ids.items()}
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


def _evaluate(
    outputs: Sequence[Node], tokens: tuple[Atom, ...], program: Program, limits: Limits
) -> Values:
    try:
        return evaluate_plain(in_order(outputs), tokens, limits)
    except EvaluationError as failed:
        raise pointing(failed, program) from None


def _strips(context: _Context, placed: Schedule, heads: Mapping[Head, str]) -> dict[str, Strip]:
    computed_in: dict[Node, str] = {
        aggregate: name for head, name in heads.items() for aggregate in head.aggregates
    }
    nearest: dict[Node, dict[str, None]] = {}  # the shown strips a node is made from
    strips: dict[str, Strip] = {}
    links = 0
    for node in in_order([Tokens(), *context.ids]):
        needs: dict[str, None] = {}
        for needed in node.needs:
            needs.update(nearest[needed])
        nearest[node] = needs
        links += len(needs)
        if links > MOST_LINKS:
            raise RaspLimitError(
                "too much depends on too much here for one picture",
                hint="draw one part of the program, or give names to its parts",
            )
        if node in context.ids:
            name = context.ids[node]
            strips[name] = _strip(
                context, node, placed.layer_of.get(node, 0), tuple(needs), computed_in.get(node)
            )
            nearest[node] = {name: None}
    return strips


def _head_ids(placed: Schedule) -> dict[Head, str]:
    """Number the heads: `h2.1` is the first of layer 2."""
    return {
        head: f"h{layer_number}.{head_number}"
        for layer_number, layer in enumerate(placed.layer_list, 1)
        for head_number, head in enumerate(layer.heads, 1)
    }


def _layers(
    context: _Context, placed: Schedule, heads: Mapping[Head, str]
) -> tuple[LayerShown, ...]:
    return tuple(
        LayerShown(
            number,
            tuple(_head(context, head, heads[head]) for head in layer.heads),
            context.shown(layer.feed_forward),
        )
        for number, layer in enumerate(placed.layer_list, 1)
    )


def _strip(
    context: _Context, node: Node, layer: int, needs: tuple[str, ...], head: str | None
) -> Strip:
    values = tuple(context.values.get(node) or context.tokens)
    empty: tuple[int, ...] = ()
    if isinstance(node, Aggregate):
        rows = enumerate(context.values[node.selector])
        empty = tuple(position for position, row in rows if not any(row))
    return Strip(
        id=context.ids[node],
        label=in_title(node.value) if isinstance(node, Const) else context.label(node),
        is_named=node in context.names or isinstance(node, (Tokens, Indices)),
        expression=context.expression(node),
        values=values,
        layer=layer,
        needs=needs,
        head=head,
        is_constant=isinstance(node, Const),
        defaulted=empty,
        place=context.place(node),
    )


def _head(context: _Context, head: Head, name: str) -> HeadShown:
    conditions = tuple(_conditions(context, head.selector))
    constants = {node_id for node, node_id in context.ids.items() if isinstance(node, Const)}
    products = [product for condition in conditions for product in condition.products]
    keys = dict.fromkeys(keys for keys, _ in products)
    queries = dict.fromkeys(queries for _, queries in products)
    return HeadShown(
        id=name,
        label=printable(context.names.get(head.selector, "")),
        expression=context.expression(head.selector),
        keys=tuple(key for key in keys if key not in constants),
        queries=tuple(query for query in queries if query not in constants),
        conditions=conditions,
        picks=_picks(context.values[head.selector]),
        aggregates=tuple(
            AggregateShown(context.ids[one.values], context.ids[one], one.default)
            for one in head.aggregates
        ),
        place=context.place(head.selector),
    )


def _conditions(context: _Context, selector: Selector) -> list[Condition]:
    conditions: list[Condition] = []
    for part in selectors_in(selector):
        match part:
            case Select(keys, queries, op):
                picks = _picks(context.values[part])
                conditions.append(Condition(context.ids[keys], context.ids[queries], op, picks))
            case SelectBest(inner, scorer):
                first, *others = [(context.ids[term.keys], context.ids[term.queries])
                                  for term in score_terms(scorer)]  # fmt: skip
                conditions.append(
                    Condition(
                        *first,
                        "best",
                        _picks(context.values[part]),
                        tuple(tuple(row) for row in context.values[scorer]),
                        _picks(context.values[inner]),
                        tuple(others),
                    )
                )
    return conditions


def _picks(selection: list[list[bool]]) -> Picks:
    return tuple(tuple(row) for row in selection)


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
