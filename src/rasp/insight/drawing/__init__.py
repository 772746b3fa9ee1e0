"""-> PICTURES: the flow of a computation, one selection, or any attention, drawn on an input.

The files in the order data flows: `pictures` is what people call and `drawing` what they get;
`choice` says what a picture shows, `planning` makes a `picture_plan` of it out of `parts`.
`picture_sizes` is the size of a page, `theme` its colours, `svg` the shapes and `glyphs` the texts
that all pictures are made of; `strips` are rows of cells, `head` one head (`small_blocks`: a small
one), `heat` a heat map; `arranging` puts these into columns and `flow` into layers. `text` is the
same in letters, `html` an interactive page, `portable_picture` plain data for a browser, `raster` a
PNG or PDF.
"""

from rasp.insight.drawing.drawing import Drawing
from rasp.insight.drawing.picture_plan import Plan
from rasp.insight.drawing.pictures import draw, draw_selector, heat_map, heat_maps
from rasp.insight.drawing.planning import plan_flow, plan_selection
from rasp.insight.drawing.portable_picture import as_dict

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
