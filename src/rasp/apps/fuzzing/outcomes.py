"""How a judge ends: it returns where all agree, and raises one of these where not."""

from __future__ import annotations


class Disagreement(Exception):
    """Two that must agree do not."""


class NothingToCompare(Exception):
    """There is nothing to compare: the program has no value, or a back end refuses it."""
