"""-> PICTURES: the flow of a computation, one selection, or any attention, drawn on an input."""

from rasp.drawing.drawing import Drawing, draw, draw_selector, heat_map, heat_maps
from rasp.drawing.plan import Plan
from rasp.drawing.planning import plan_flow, plan_selection
from rasp.drawing.portable import as_dict

__all__ = [
    "Drawing",
    "Plan",
    "as_dict",
    "draw",
    "draw_selector",
    "heat_map",
    "heat_maps",
    "plan_flow",
    "plan_selection",
]
