"""GRAPH -> LAYERS AND HEADS: what transformer a program needs, why, and what it fits into."""

from rasp.architecture.layers import earliest_layers
from rasp.architecture.schedule import Head, Layer, Schedule, front, schedule

__all__ = [
    "Head",
    "Layer",
    "Schedule",
    "earliest_layers",
    "front",
    "schedule",
]
