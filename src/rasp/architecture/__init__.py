"""GRAPH -> LAYERS AND HEADS: what transformer a program needs, why, and what it fits into.

The files in the order data flows: `layers` is the paper's rule of the first layer for each node,
and `order` the same for other orders of sublayers; `problem` says what may go where, `bounds` that
nothing smaller will do, `placing` asks `greedy` or `exact` for a placement, and `schedule` is the
answer. `chain` finds what takes longest, `reasons` puts it into words with `naming`, and `explain`
prints it all. `fit` asks whether a program fits into an architecture, of which each demand is one
of the `verdicts`: `patterns` are the pairs that attention may see, `reach` proves that a selection
stays inside them, `counterexample` tries inputs over the `alphabets` that suit a program, to show
that it does not. `suggestions` are changes that save something, each tried.
"""

from rasp.architecture.explain import Explanation, explain
from rasp.architecture.fit import Fit, fit
from rasp.architecture.layers import earliest_layers
from rasp.architecture.schedule import Head, Layer, Schedule, front, schedule

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
