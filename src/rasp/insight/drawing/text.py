"""A plan in, a picture in letters out, for terminals and logs.

The same parts in the same order as the drawn picture: keys along the top, queries down the
left, values along the bottom, results down the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rasp.base.atoms import Atom
from rasp.insight.drawing.glyphs import columns, cut, in_cells, kept_in_place
from rasp.insight.drawing.picture_plan import (
    Flow,
    HeadShown,
    HeatMap,
    HeatMaps,
    Plan,
    SelectionShown,
    Strip,
)

PICKED, NOT_PICKED = "█", "·"
SHADES = "·░▒▓█"
LONGEST_NAME = 32
WIDEST_CELL = 6


def text_of(plan: Plan) -> str:
    """Write a plan as lines of text."""
    match plan:
        case Flow():
            return "\n".join(_flow(plan)) + "\n"
        case SelectionShown():
            head = _head(plan.head, plan.strips, plan.tokens)
            return "\n".join([plan.title, "", *head]) + "\n"
        case HeatMaps():
            parts = [line for heat in plan.maps for line in (*_heat(heat), "")]
            return "\n".join([plan.title, "", *parts] if plan.title else parts)


def _flow(flow: Flow) -> list[str]:
    lines = [flow.title, flow.note]
    if flow.embedding:
        lines += ["", "input", *_sequences(flow, flow.embedding)]
    if flow.input_feed_forward:
        lines += [
            "",
            "feed-forward before the first attention (a plain transformer stack has none)",
        ]
        lines += _sequences(flow, flow.input_feed_forward)
    for layer in flow.layers:
        for at, head in enumerate(layer.heads, 1):
            which = f", head {at}" if len(layer.heads) > 1 else ""
            named = f"{head.label} = " if head.label else ""
            lines += ["", f"layer {layer.number}{which}: {named}{head.expression}"]
            lines += _head(head, flow.strips, flow.tokens)
        if layer.feed_forward:
            lines += ["", f"layer {layer.number}, feed-forward"]
            lines += _sequences(flow, layer.feed_forward)
    if flow.outputs:
        lines += ["", "output", *_sequences(flow, flow.outputs, explained=False)]
    return lines


def _sequences(flow: Flow, names: Sequence[str], explained: bool = True) -> list[str]:
    strips = [flow.strips[name] for name in names]
    width = _cell_width(strips)
    indent = max((columns(cut(strip.label, LONGEST_NAME)) for strip in strips), default=0)
    lines = []
    for strip in strips:
        line = f"  {_right(cut(strip.label, LONGEST_NAME), indent)}  {_row(strip.values, width)}"
        if explained and strip.expression and strip.expression != strip.label:
            line += f"  = {cut(strip.expression, 80)}"
        lines.append(line.rstrip())
    return lines


def _head(head: HeadShown, strips: Mapping[str, Strip], tokens: tuple[Atom, ...]) -> list[str]:
    plain = Strip("", "tokens", "", tokens, 0)
    keys = [strips[name] for name in head.keys] or [plain]
    queries = [strips[name] for name in head.queries] or [plain]
    values = [strips[name] for name in dict.fromkeys(one.values for one in head.aggregates)]
    results = [strips[one.result] for one in head.aggregates]
    width = _cell_width((*keys, *values))
    left = [_column(strip) for strip in queries]
    right = [_column(strip) for strip in results]
    asked = "  ".join(_right(cells[0], columns(cells[0])) for cells in left)
    names = (cut(strip.label, LONGEST_NAME) for strip in (*keys, *values))
    indent = max(map(columns, (asked, *names)))

    def along(strip: Strip, role: str) -> str:
        name, word = cut(strip.label, LONGEST_NAME), role if strip.id else ""
        return f"  {_right(name, indent)}  {_row(strip.values, width)}  {word}".rstrip()

    above = [along(strip, "keys") for strip in keys]
    below = [along(strip, "values") for strip in values]
    blank = " " * columns(_row(tokens, width))
    answers = "  ".join(cells[0] for cells in right)
    rows = [f"  {_right(asked, indent)}  {blank}  {answers}".rstrip()]
    for query, picks in enumerate(head.picks):
        asks = _right("  ".join(cells[query + 1] for cells in left), indent)
        marks = " ".join(_right(PICKED if picked else NOT_PICKED, width) for picked in picks)
        results_there = "  ".join(cells[query + 1] for cells in right)
        rows.append(f"  {asks}  {marks}  {results_there}".rstrip())
    return [*above, *rows, *below]


def _column(strip: Strip) -> list[str]:
    """A name and one cell for each position, all of the same width."""
    name = cut(strip.label, LONGEST_NAME)
    shown = [name, *in_cells(strip.values, 12)]
    width = max(map(columns, shown))
    return [_right(text, width) for text in shown]


def _heat(heat: HeatMap) -> list[str]:
    width = max([1, *(columns(cut(text, WIDEST_CELL)) for text in heat.columns)])
    indent = max([0, *(columns(cut(text, LONGEST_NAME)) for text in heat.rows)])
    head = " ".join(_right(cut(text, WIDEST_CELL), width) for text in heat.columns)
    lines = [heat.title] if heat.title else []
    lines.append(f"  {' ' * indent}  {head}")
    for name, weights in zip(heat.rows, heat.weights, strict=True):
        marks = " ".join(_right(_shade(weight), width) for weight in weights)
        lines.append(f"  {_right(cut(name, LONGEST_NAME), indent)}  {marks}")
    return lines


def _shade(weight: float) -> str:
    """A dot up to a sixteenth, then darker in four steps."""
    return SHADES[0] if weight <= 1 / 16 else SHADES[min(4, 1 + int(weight * 4))]


def _cell_width(strips: Iterable[Strip]) -> int:
    texts = (text for strip in strips for text in in_cells(strip.values, WIDEST_CELL))
    return max(map(columns, texts), default=1)


def _row(atoms: Sequence[Atom], width: int) -> str:
    return " ".join(_right(text, width) for text in in_cells(atoms, max(width, 1)))


def _right(text: str, width: int) -> str:
    return " " * (width - columns(text)) + kept_in_place(text)
