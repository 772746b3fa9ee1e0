"""Nodes with their values on an input in, the parts of a plan out: strips, heads, layers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rasp.base.atoms import Atom
from rasp.base.errors import RaspLimitError
from rasp.base.source import Span
from rasp.insight.drawing.glyphs import cut, in_title, printable
from rasp.insight.drawing.picture_plan import (
    AggregateShown,
    Condition,
    HeadShown,
    LayerShown,
    Picks,
    Strip,
)
from rasp.insight.schedule.schedule import Head, Schedule
from rasp.language.evaluator import Values
from rasp.language.graph import (
    Aggregate,
    Const,
    Indices,
    Node,
    Select,
    SelectBest,
    Selector,
    Tokens,
    expression,
    in_order,
    score_terms,
    selectors_in,
)

MOST_LINKS = 1_000_000
EXPRESSION_DEPTH = 6
LONGEST_EXPRESSION = 400
LONGEST_LABEL = 60


@dataclass(frozen=True)
class PlanContext:
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


def strips_of(
    context: PlanContext, placed: Schedule, heads: Mapping[Head, str]
) -> dict[str, Strip]:
    """The strips of everything that is shown, by their ids."""
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
            strips[name] = strip_of(
                context, node, placed.layer_of.get(node, 0), tuple(needs), computed_in.get(node)
            )
            nearest[node] = {name: None}
    return strips


def head_ids(placed: Schedule) -> dict[Head, str]:
    """Number the heads: `h2.1` is the first of layer 2."""
    return {
        head: f"h{layer_number}.{head_number}"
        for layer_number, layer in enumerate(placed.layer_list, 1)
        for head_number, head in enumerate(layer.heads, 1)
    }


def layers_of(
    context: PlanContext, placed: Schedule, heads: Mapping[Head, str]
) -> tuple[LayerShown, ...]:
    """The layers of a schedule, with their heads."""
    return tuple(
        LayerShown(
            number,
            tuple(head_of(context, head, heads[head]) for head in layer.heads),
            context.shown(layer.feed_forward),
        )
        for number, layer in enumerate(placed.layer_list, 1)
    )


def strip_of(
    context: PlanContext, node: Node, layer: int, needs: tuple[str, ...], head: str | None
) -> Strip:
    """One s-op with its values; `needs` are the strips, and `head` the head, that it comes from."""
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


def head_of(context: PlanContext, head: Head, name: str) -> HeadShown:
    """One head with what its selector compares and picks."""
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


def _conditions(context: PlanContext, selector: Selector) -> list[Condition]:
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
