"""GRAPH -> LAYERS AND HEADS: what transformer a program needs, why, and what it fits into.

The files in the order data flows: `sublayer_order` is the paper's rule of the first layer for each
node, and the same for other orders of sublayers; `problem` says what may go where, `bounds` that
nothing smaller will do, `placing` asks `greedy` or `exact` for a placement, and `schedule` is the
answer. `reasons` finds what takes longest and puts it into words with `naming`, and `explain`
prints it all. `fitting` asks whether a program fits into an architecture, of which each demand is
one of the `demand_verdicts`: `patterns` are the pairs that attention may see, and prove that a
selection stays inside them, `counterexample` tries inputs over the alphabets that suit a program,
to show that it does not. `suggestions` are changes that save something, each tried.
"""

from rasp.insight.schedule.explain import Explanation, explain
from rasp.insight.schedule.fitting import Fit, fit
from rasp.insight.schedule.schedule import Head, Layer, Schedule, front, schedule
from rasp.insight.schedule.sublayer_order import earliest_layers

__all__ = [
    "Explanation",
    "Fit",
    "Head",
    "Layer",
    "Schedule",
    "earliest_layers",
    "explain",
    "fit",
    "front",
    "schedule",
]
