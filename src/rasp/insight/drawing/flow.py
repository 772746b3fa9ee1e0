"""A plan in, one SVG picture out: layers from top to bottom, the heads of each side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rasp.insight.drawing.arranging import PAD, Box, best_for, in_columns, narrowest_under
from rasp.insight.drawing.glyphs import cut
from rasp.insight.drawing.head import LINE, NAME_FONT, SMALL_FONT, head_block
from rasp.insight.drawing.picture_plan import (
    Flow,
    HeatMaps,
    LayerShown,
    Plan,
    SelectionShown,
    Strip,
)
from rasp.insight.drawing.picture_sizes import MARGIN, PLAIN, PageLayout, read_width, room_for
from rasp.insight.drawing.small_blocks import compact_head, window_for
from rasp.insight.drawing.strips import cell_for, strip_row
from rasp.insight.drawing.svg import (
    Fragment,
    below,
    beside,
    element,
    framed,
    label,
    moved,
    number,
    text_width,
)

HEADING_FONT = 16.0
LONGEST_NAME = 34
LONGEST_TITLE = 100
LONGEST_EXPRESSION = 64
LONGEST_COMPACT_EXPRESSION = 40


def flow_block(flow: Flow, layout: PageLayout = PLAIN) -> Fragment:
    """Draw the whole flow."""
    heading = heading_block(flow.title, flow.note)
    most = max((len(layer.heads) for layer in flow.layers), default=1)
    room = room_for(layout)
    if room is None and layout.width is None:
        return below([heading, in_columns(_boxes(flow, most, layout.compact), 1)], 12)
    ways = [_boxes(flow, per_row, layout.compact) for per_row in sorted({1, min(2, most), most})]
    if room is not None:
        return best_for(room, heading, ways)
    return narrowest_under(read_width(layout.width or 0) - 2 * MARGIN, heading, ways)


def _boxes(flow: Flow, per_row: int, compact: bool) -> list[Box]:
    """Draw the parts of a flow, with so many heads beside one another."""
    boxes = []
    if flow.embedding:
        boxes.append(Box("input", _strips_box(flow, flow.embedding, "plain", compact)))
    if flow.input_feed_forward:
        heading = "feed-forward before the first attention (a plain transformer stack has none)"
        inside = _strips_box(flow, flow.input_feed_forward, "plain", compact)
        boxes.append(Box(heading, inside))
    boxes += [
        Box(f"layer {layer.number}", _layer_box(flow, layer, per_row, compact))
        for layer in flow.layers
    ]
    if flow.outputs:
        boxes.append(Box("output", _strips_box(flow, flow.outputs, "output", compact)))
    return boxes


def selection_block(plan: SelectionShown, layout: PageLayout = PLAIN) -> Fragment:
    """Draw one selection alone."""
    make = compact_head if layout.compact else head_block
    head = make(plan.head, "", plan.strips, plan.tokens)
    return below([heading_block(plan.title), framed(head, "box", PAD)], 12)


def smallest_letters(plan: Plan, layout: PageLayout) -> float:
    """Return the height of the smallest letters that a reader must read, before any scaling."""
    if isinstance(plan, HeatMaps):
        return SMALL_FONT
    length = len(plan.tokens)
    window = window_for(length) if layout.compact else range(length)
    return min(SMALL_FONT, cell_for(len(window), ()).font)


def heading_block(title: str, note: str = "") -> Fragment:
    """Write a title, and a note below it."""
    shown = cut(title, LONGEST_TITLE)
    parts = label(0, 15, shown, "heading")
    width = text_width(shown, HEADING_FONT)
    if note:
        parts += label(0, 34, note, "soft")
        width = max(width, text_width(note, NAME_FONT))
    return Fragment(width, 40 if note else 20, parts)


def _layer_box(flow: Flow, layer: LayerShown, per_row: int, compact: bool) -> Fragment:
    several = len(layer.heads) > 1
    make = compact_head if compact else head_block
    heads = [
        make(head, f"head {at}" if several else "head", flow.strips, flow.tokens)
        for at, head in enumerate(layer.heads, 1)
    ]
    parts = [_heads_row(heads[at : at + per_row]) for at in range(0, len(heads), per_row)]
    if layer.feed_forward:
        strips = _strips_box(flow, layer.feed_forward, "plain", compact)
        words = label(0, 11, "feed-forward", "soft small")
        parts.append(framed(below([Fragment(80, LINE, words), strips], 2), "inner", PAD))
    return below(parts, 12, centred=True)


def _heads_row(heads: Sequence[Fragment]) -> Fragment:
    tallest = max(head.height for head in heads) + 2 * PAD
    return beside([framed(head, "inner", PAD, height=tallest) for head in heads], 14)


def _strips_box(flow: Flow, names: Sequence[str], role: str, compact: bool) -> Fragment:
    """Draw sequences one below the other: name, cells, and what each is computed from."""
    strips = [flow.strips[name] for name in names]
    window = window_for(len(flow.tokens)) if compact else range(len(flow.tokens))
    longest = LONGEST_COMPACT_EXPRESSION if compact else LONGEST_EXPRESSION
    cell = cell_for(len(window), strips)
    labels = [cut(strip.label, LONGEST_NAME) for strip in strips]
    indent = max((text_width(text, NAME_FONT) for text in labels), default=0) + 8
    rows = []
    for strip, text in zip(strips, labels, strict=True):
        row = strip_row(strip, cell, role, window)
        middle = cell.height / 2 + 4
        weight = "end strong" if strip.is_named else "end"
        body = label(indent - 8, middle, text, weight, strip.expression)
        body += moved(row, indent, 0)
        width = indent + row.width
        shown = _expression(strip, longest)
        if shown and role != "output":
            body += label(width + 8, middle, shown, "soft small", strip.expression)
            width += 8 + text_width(shown, SMALL_FONT)
        own_id = None if role == "output" else strip.id
        rows.append(
            Fragment(width, cell.height, element("g", body, data_of=strip.id, data_made=own_id))
        )
    return below(rows, 5)


def _expression(strip: Strip, longest: int) -> str:
    if not strip.expression or strip.expression == strip.label:
        return ""
    return cut(f"= {strip.expression}", longest)


def document(block: Fragment, style: str, title: str, role: str = "img") -> str:
    """Wrap a block as a whole SVG document."""
    width, height = block.width + 2 * MARGIN, block.height + 2 * MARGIN
    paper = element("rect", width=width, height=height, class_="paper")
    inside = f"<title>{escape(title, quote=False)}</title>"
    inside += f"<style>{escape(style, quote=False)}</style>" if style else ""
    size = f"{number(width)} {number(height)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" '
        f'height="{number(height)}" viewBox="0 0 {size}" role="{role}">'
        f"{inside}{paper}{moved(block, MARGIN, MARGIN)}</svg>\n"
    )
