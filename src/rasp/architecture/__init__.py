"""GRAPH -> LAYERS AND HEADS: what transformer a program needs, why, and what it fits into."""

from rasp.architecture.fit import Fit, fit
from rasp.architecture.layers import earliest_layers
from rasp.architecture.schedule import Head, Layer, Schedule, front, schedule

__all__ = [
    "Fit",
    "Head",
    "Layer",
    "Schedule",
    "earliest_layers",
    "fit",
    "front",
    "schedule",
]
