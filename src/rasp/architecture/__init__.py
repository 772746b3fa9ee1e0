"""GRAPH -> LAYERS AND HEADS: what transformer a program needs, why, and what it fits into."""

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
