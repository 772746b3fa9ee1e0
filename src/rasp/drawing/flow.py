"""A plan in, one SVG picture out: layers from top to bottom, the heads of each side by side."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rasp.drawing.glyphs import cut
from rasp.drawing.head import LINE, NAME_FONT, SMALL_FONT, head_block
from rasp.drawing.plan import Flow, LayerShown, SelectionShown, Strip
from rasp.drawing.strips import cell_for, strip_row
from rasp.drawing.svg import (
    Block,
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
MARGIN = 16.0
PAD = 12.0
BETWEEN = 30.0
"""Between one box of the flow and the next: room for an arrow."""
LONGEST_NAME = 34
LONGEST_TITLE = 100
LONGEST_EXPRESSION = 64


def flow_block(flow: Flow) -> Block:
    """Draw the whole flow."""
    boxes = [("input", _strips_box(flow, flow.embedding, "plain"))]
    if flow.input_feed_forward:
        heading = "feed-forward before the first attention (a plain transformer stack has none)"
        boxes.append((heading, _strips_box(flow, flow.input_feed_forward, "plain")))
    boxes += [(f"layer {layer.number}", _layer_box(flow, layer)) for layer in flow.layers]
    boxes.append(("output", _strips_box(flow, flow.outputs, "output")))
    width = max(max(box.width, text_width(heading, NAME_FONT)) for heading, box in boxes)
    frames = [framed(_headed(heading, box, width), "box", PAD) for heading, box in boxes]
    width += 2 * PAD
    parts, y = [], 0.0
    for at, frame in enumerate(frames):
        parts.append(moved(frame, 0, y))
        y += frame.height
        if at + 1 < len(frames):
            parts.append(_arrow(width / 2, y + 3, y + BETWEEN - 3))
            y += BETWEEN
    return below([heading_block(flow.title, flow.note), Block(width, y, "".join(parts))], 12)


def selection_block(plan: SelectionShown) -> Block:
    """Draw one selection alone."""
    head = head_block(plan.head, "", plan.strips, plan.tokens)
    return below([heading_block(plan.title), framed(head, "box", PAD)], 12)


def heading_block(title: str, note: str = "") -> Block:
    """Write a title, and a note below it."""
    shown = cut(title, LONGEST_TITLE)
    parts = label(0, 15, shown, "heading")
    width = text_width(shown, HEADING_FONT)
    if note:
        parts += label(0, 34, note, "soft")
        width = max(width, text_width(note, NAME_FONT))
    return Block(width, 40 if note else 20, parts)


def _arrow(x: float, start: float, end: float) -> str:
    shaft = element("path", d=f"M{number(x)} {number(start)}V{number(end - 7)}", class_="arrow")
    tip = f"M{number(x - 6)} {number(end - 8)}h12L{number(x)} {number(end)}z"
    return shaft + element("path", d=tip, class_="tip")


def _headed(heading: str, block: Block, width: float) -> Block:
    """Put a heading at the left over a block in the middle."""
    words = Block(width, LINE, label(0, 12, heading, "soft strong"))
    return below([words, block], 4, centred=True)


def _layer_box(flow: Flow, layer: LayerShown) -> Block:
    several = len(layer.heads) > 1
    heads = [
        head_block(head, f"head {at}" if several else "head", flow.strips, flow.tokens)
        for at, head in enumerate(layer.heads, 1)
    ]
    tallest = max((head.height for head in heads), default=0) + 2 * PAD
    parts = [beside([framed(head, "inner", PAD, height=tallest) for head in heads], 14)]
    if layer.feed_forward:
        made = _strips_box(flow, layer.feed_forward, "plain")
        words = label(0, 11, "feed-forward", "soft small")
        parts.append(framed(below([Block(80, LINE, words), made], 2), "inner", PAD))
    return below(parts, 12, centred=True)


def _strips_box(flow: Flow, names: Sequence[str], role: str) -> Block:
    """Draw sequences one below the other: name, cells, and what each is computed from."""
    strips = [flow.strips[name] for name in names]
    cell = cell_for(len(flow.tokens), (atom for strip in strips for atom in strip.values))
    labels = [cut(strip.label, LONGEST_NAME) for strip in strips]
    indent = max((text_width(text, NAME_FONT) for text in labels), default=0) + 8
    rows = []
    for strip, text in zip(strips, labels, strict=True):
        row = strip_row(strip, cell, role)
        middle = cell.height / 2 + 4
        weight = "end strong" if strip.is_named else "end"
        body = label(indent - 8, middle, text, weight, strip.expression)
        body += moved(row, indent, 0)
        width = indent + row.width
        shown = _expression(strip)
        if shown and role != "output":
            body += label(width + 8, middle, shown, "soft small", strip.expression)
            width += 8 + text_width(shown, SMALL_FONT)
        made = None if role == "output" else strip.id
        rows.append(Block(width, cell.height, element("g", body, data_of=strip.id, data_made=made)))
    return below(rows, 5)


def _expression(strip: Strip) -> str:
    if not strip.expression or strip.expression == strip.label:
        return ""
    return cut(f"= {strip.expression}", LONGEST_EXPRESSION)


def document(block: Block, style: str, title: str, role: str = "img") -> str:
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
