"""A stack in, the way to compute with it out: fused kernels on a GPU where they fit, else plain."""

from __future__ import annotations

from rasp.models.training.batch_shapes import SlotLayout
from rasp.models.training.parameters import Shape
from rasp.models.training.plain_engine import PlainEngine
from rasp.models.training.stack import Engine, Stack

LARGEST_TILE = 128
MOST_CLASSES = 1024


def can_fuse(shape: Shape, layout: SlotLayout) -> bool:
    """Tell whether the kernels fit: sizes that are powers of two, and short enough slots."""
    head = shape.width // shape.heads
    powers = all(size & (size - 1) == 0 for size in (shape.width, shape.feed_forward, head))
    fits = max(layout.slots) <= LARGEST_TILE and head >= 16
    return powers and fits and shape.classes <= MOST_CLASSES


def make_engine(stack: Stack) -> Engine:
    """Choose how to compute with a stack."""
    if stack.device.startswith("cuda") and can_fuse(stack.shape, stack.pools["train"].layout):
        from rasp.models.training.fused_engine import FusedEngine

        return FusedEngine(stack)
    return PlainEngine(stack)
