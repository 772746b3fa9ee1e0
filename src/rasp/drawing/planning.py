"""Outputs and an input in, the plan of a picture out.

The values come from the plain evaluator and the layers and heads from the schedule; this
module only chooses what is shown. Shown are the input, every aggregate, what heads read,
the outputs and whatever a person gave a name; everything else is folded into expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from rasp.architecture.schedule import Head, Schedule, schedule
from rasp.atoms import Atom, read_input, show_input
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
from rasp.evaluator.plain import EvaluationError, Values, evaluate
from rasp.graph import (
    Aggregate,
    Const,
    Indices,
    Node,
    Program,
    Score,
    Scorer,
    Select,
    SelectBest,
    Selector,
    SOp,
    Tokens,
    expression,
    in_order,
)
from rasp.limits import DEFAULT_LIMITS, Limits
from rasp.source import Span

LONGEST_INPUT = 200
"""Tokens of an input that a picture can show."""
MOST_CELLS = 2_000_000
"""Cells of all selections together that one picture can hold."""
MOST_STRIPS = 3_000
MOST_IN_TITLE = 12
EXPRESSION_DEPTH = 6
LONGEST_EXPRESSION = 400
LONGEST_LABEL = 60
LONGEST_UNNAMED = 26
"""Letters of an expression that can stand as its own name."""


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

    def place(self, node: Node) -> str:
        span = None if isinstance(node, (Tokens, Indices)) else self.origins.get(node)
        return printable(str(span)) if span else ""


def plan_flow(
    outputs: Sequence[Node],
    given: object,
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Flow:
    """Choose what a picture of the whole computation shows.

    >>> from rasp.graph import Aggregate, Select
    >>> plan = plan_flow([Aggregate(Select(Tokens(), Tokens(), "=="), Indices())], "aba")
    >>> [len(layer.heads) for layer in plan.layers]
    [1]
    """
    program = program or Program()
    for output in outputs:
        if not isinstance(output, SOp):
            raise RaspTypeError(
                "the flow ends in s-ops, but this is a "
                + ("scorer" if isinstance(output, Scorer) else "selector"),
                hint="draw a selector alone with `draw_selector`, or `rasp draw … --selector`",
            )
    tokens = _tokens(outputs, given, limits)
    placed = schedule(outputs)
    values = _evaluate(outputs, tokens, program, limits)
    context = _Context(
        names=_with_short_names(program.names, placed),
        origins=program.origins,
        tokens=tokens,
        values=values,
        ids=_shown(outputs, placed, program),
    )
    heads = {
        head: f"h{layer_number}.{head_number}"
        for layer_number, layer in enumerate(placed.layer_list, 1)
        for head_number, head in enumerate(layer.heads, 1)
    }
    strips = _strips(context, placed, heads)
    in_feed_forward = [set(layer.feed_forward) for layer in placed.layer_list]
    embedding = (Tokens(), Indices(), *placed.embedding)
    return Flow(
        title=f"{', '.join(context.label(output) for output in outputs)}"
        f" on {_input_in_title(tokens)}",
        tokens=tokens,
        strips=strips,
        embedding=tuple(context.ids[node] for node in embedding if node in context.ids),
        input_feed_forward=tuple(
            context.ids[node] for node in placed.input_feed_forward if node in context.ids
        ),
        layers=tuple(
            LayerShown(
                number,
                tuple(_head(context, head, heads[head]) for head in layer.heads),
                tuple(name for node, name in context.ids.items() if node in made),
            )
            for number, (layer, made) in enumerate(
                zip(placed.layer_list, in_feed_forward, strict=True), 1
            )
        ),
        outputs=tuple(context.ids[output] for output in outputs),
        note=_size_in_words(placed),
    )


def plan_selection(
    selector: Node,
    given: object,
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SelectionShown:
    """Choose what a picture of one selection alone shows."""
    program = program or Program()
    if isinstance(selector, Aggregate):
        selector = selector.selector
    if not isinstance(selector, Selector):
        raise RaspTypeError(
            "this has no selection of its own to draw",
            hint="give a selector, or an s-op made by `aggregate`",
        )
    tokens = _tokens([selector], given, limits)
    values = _evaluate([selector], tokens, program, limits)
    ids = {node: f"s{number}" for number, node in enumerate([Tokens(), *_read_by(selector)])}
    everything = {Tokens(): list(tokens), **values}
    context = _Context(program.names, program.origins, tokens, everything, ids)
    head = _head(context, Head(selector, ()), "h")
    strips = {name: _strip(context, node, 0, (), None) for node, name in ids.items()}
    title = f"{head.label or 'selection'} on {_input_in_title(tokens)}"
    return SelectionShown(title, tokens, strips, head)


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
        return evaluate(outputs, tokens, limits)
    except EvaluationError as failed:
        error = failed.error
        if failed.node in program.origins:
            error.located(program.origins[failed.node])
        else:
            error.message += f", in `{expression(failed.node, program.names, depth=4)}`"
        raise error from None


def _shown(outputs: Sequence[Node], placed: Schedule, program: Program) -> dict[Node, str]:
    """Number everything that gets a strip, in order."""
    wanted: set[Node] = {Tokens(), *outputs}
    for layer in placed.layer_list:
        for head in layer.heads:
            wanted.update(_read_by(head.selector))
            wanted.update(aggregate.values for aggregate in head.aggregates)
    shown: dict[Node, str] = {Tokens(): "s0"}
    for node in in_order(outputs):
        is_named = node in program.names and isinstance(node, SOp) and not isinstance(node, Const)
        if node in wanted or is_named or isinstance(node, (Aggregate, Indices)):
            shown.setdefault(node, f"s{len(shown)}")
    if len(shown) > MOST_STRIPS:
        raise RaspLimitError(
            f"{len(shown)} sequences are too many for one picture: at most {MOST_STRIPS} fit",
            hint="draw one part of the program",
        )
    return shown


def _with_short_names(names: Mapping[Node, str], placed: Schedule) -> dict[Node, str]:
    """Name what heads make (r1, r2, …) and the long things they read (x1, x2, …) if nobody did.

    So whatever uses them can be written shortly; the picture says what they stand for.
    """
    found = dict(names)
    taken = set(names.values())
    results = (name for name in map("r{}".format, count(1)) if name not in taken)
    others = (name for name in map("x{}".format, count(1)) if name not in taken)
    for layer in placed.layer_list:
        for head in layer.heads:
            values = (aggregate.values for aggregate in head.aggregates)
            for node in (*_read_by(head.selector), *values):
                is_unnamed = node not in found and node not in placed.outputs
                if is_unnamed and len(expression(node, found, 4)) > LONGEST_UNNAMED:
                    found[node] = next(others)
        for head in layer.heads:
            for node in head.aggregates:
                if node not in found and node not in placed.outputs:
                    found[node] = next(results)
    return found


def _read_by(selector: Selector) -> list[Node]:
    """List the keys and queries of every comparison in a selector, each once."""
    found: dict[Node, None] = {}
    for part in _parts(selector):
        match part:
            case Select(keys, queries) | Score(keys, queries):
                found[keys] = None
                found[queries] = None
    return list(found)


def _parts(selector: Selector) -> list[Node]:
    """List the selectors and scorers inside a selector, in order; s-ops are not entered."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(selector, False)]
    while stack:
        node, is_ready = stack.pop()
        if is_ready:
            order.append(node)
        elif node not in seen and not isinstance(node, SOp):
            seen.add(node)
            stack.append((node, True))
            stack.extend((needed, False) for needed in reversed(node.needs))
    return order


def _strips(context: _Context, placed: Schedule, heads: Mapping[Head, str]) -> dict[str, Strip]:
    computed_in: dict[Node, str] = {
        aggregate: name for head, name in heads.items() for aggregate in head.aggregates
    }
    nearest: dict[Node, dict[str, None]] = {}  # the shown strips a node is made from
    strips: dict[str, Strip] = {}
    for node in in_order([Tokens(), *context.ids]):
        needs: dict[str, None] = {}
        for needed in node.needs:
            needs.update(nearest[needed])
        nearest[node] = needs
        if node in context.ids:
            name = context.ids[node]
            strips[name] = _strip(
                context, node, placed.layer_of.get(node, 0), tuple(needs), computed_in.get(node)
            )
            nearest[node] = {name: None}
    return strips


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
    keys = dict.fromkeys(condition.keys for condition in conditions)
    queries = dict.fromkeys(condition.queries for condition in conditions)
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
    found: list[Condition] = []
    for part in _parts(selector):
        match part:
            case Select(keys, queries, op):
                picks = _picks(context.values[part])
                found.append(Condition(context.ids[keys], context.ids[queries], op, picks))
            case SelectBest(inner, Score(keys, queries) as scorer):
                found.append(
                    Condition(
                        context.ids[keys],
                        context.ids[queries],
                        "best",
                        _picks(context.values[part]),
                        tuple(tuple(row) for row in context.values[scorer]),
                        _picks(context.values[inner]),
                    )
                )
    return found


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
