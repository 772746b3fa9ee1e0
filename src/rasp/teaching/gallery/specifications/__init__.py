"""One module a family: the specification of each of its programs, and the inputs it is for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from rasp.teaching.gallery.catalogue import Entry

FAMILIES = (
    "paper",
    "brackets",
    "logic",
    "neighbours",
    "rearranging",
    "order",
    "counting",
    "runs",
    "sets",
    "languages",
    "induction",
    "modular",
    "numerals",
    "strings",
    "packing",
)
"""The families' modules, in the order in which the gallery shows them."""


@cache
def every_entry() -> tuple[Entry, ...]:
    """Return the entries of all families, in order."""
    modules = (
        import_module(f"rasp.teaching.gallery.specifications.{family}") for family in FAMILIES
    )
    return tuple(entry for module in modules for entry in module.ENTRIES)
