"""S-ops, selectors or matrices of attention in, drawings out: what people call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rasp.base.errors import RaspTypeError
from rasp.base.limits import DEFAULT_LIMITS, Limits, tightest
from rasp.insight.drawing.drawing import Drawing
from rasp.insight.drawing.glyphs import printable
from rasp.insight.drawing.heat import plan_heat_map
from rasp.insight.drawing.picture_plan import HeatMap, HeatMaps
from rasp.insight.drawing.planning import plan_flow, plan_selection
from rasp.insight.schedule.schedule import Outputs, output_nodes, program_of
from rasp.language.graph import Node, Program, Selector
from rasp.language.graph.nodes import node_of


def draw(
    outputs: Outputs,
    given: object,
    program: Program | None = None,
    theme: str = "auto",
    limits: Limits | None = None,
) -> Drawing:
    """Draw how s-ops are computed on an input, layer by layer; a selector alone as its selection.

    >>> from rasp.language.graph import Aggregate, Select, Tokens, Indices
    >>> draw(Aggregate(Select(Tokens(), Tokens(), "=="), Indices()), "aba")
    <Drawing: aggregate(select(tokens, tokens, ==), indices) on "aba" (print it ...)>
    """
    nodes = _nodes(outputs)
    program = program or program_of(outputs)
    limits = limits or _limits_of(outputs)
    if len(nodes) == 1 and isinstance(nodes[0], Selector):
        return Drawing(plan_selection(nodes[0], given, program, limits), theme)
    return Drawing(plan_flow(nodes, given, program, limits), theme)


def draw_selector(
    selector: Outputs,
    given: object,
    program: Program | None = None,
    theme: str = "auto",
    limits: Limits | None = None,
) -> Drawing:
    """Draw one selection alone: a selector's own, or that of the aggregate which makes an s-op.

    >>> from rasp.language.graph import Select, Tokens
    >>> print(draw_selector(Select(Tokens(), Tokens(), "=="), "aba"))
    selection on "aba"
    <BLANKLINE>
      tokens  a b a  keys
      tokens
           a  █ · █
           b  · █ ·
           a  █ · █
    <BLANKLINE>
    """
    node = _nodes(selector)[0]
    program = program or program_of(selector)
    limits = limits or _limits_of(selector)
    return Drawing(plan_selection(node, given, program, limits), theme)


def heat_map(
    matrix: Any,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    title: str = "",
    theme: str = "auto",
) -> Drawing:
    """Draw numbers from 0 to 1, `matrix[query][key]`, such as the attention of one head.

    >>> heat_map([[1, 0], [0.5, 0.5]], "ab", "ab", "head 1")
    <Drawing: head 1 (print it ...)>
    """
    plan = plan_heat_map(matrix, row_labels, column_labels)
    return Drawing(HeatMaps(printable(title), (plan,)), theme)


def heat_maps(
    matrices: Sequence[Any],
    labels: Sequence[object],
    titles: Sequence[str] = (),
    title: str = "",
    theme: str = "auto",
    columns: Sequence[int] = (),
) -> Drawing:
    """Draw several attention patterns on one input side by side, each under its own title.

    With `columns`, so many of them are drawn one above the other, column by column.

    >>> heat_maps([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], "ab", ["head 1", "head 2"], "layer 1")
    <Drawing: layer 1 (print it ...)>
    """
    names = [*titles, *[""] * (len(matrices) - len(titles))]
    maps: tuple[HeatMap, ...] = tuple(
        plan_heat_map(matrix, labels, labels, name)
        for matrix, name in zip(matrices, names, strict=True)
    )
    return Drawing(HeatMaps(printable(title), maps, tuple(columns)), theme)


def _nodes(outputs: Outputs) -> tuple[Node, ...]:
    several = outputs if isinstance(outputs, Sequence) else [outputs]
    if not several or None in map(node_of, several):
        raise RaspTypeError(
            "there is no s-op or selector here to draw",
            hint='draw what a program made, such as `rasp.run(text)["hist"]`',
        )
    return output_nodes(outputs)


def _limits_of(outputs: Outputs) -> Limits:
    several = outputs if isinstance(outputs, Sequence) else [outputs]
    set_for_one = (getattr(output, "limits", None) for output in several)
    return tightest(set_for_one) or DEFAULT_LIMITS
